"""What every Keras layer inherits from its backend."""

from tapeflow._src.core.tracked import Tracked


class TapeflowLayer(Tracked):
    """What a checkpoint needs that is restored before a layer is built: the rest Keras's own `Layer` has."""
