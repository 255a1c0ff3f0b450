"""What every Keras layer inherits from its backend."""

from typing import Any

from tapeflow._src.core.tracked import Tracked


class TapeflowLayer(Tracked):
    """What a checkpoint needs that is restored before a layer is built: the rest Keras's own `Layer` has."""

    def _served_by_default(self, named: bool = False) -> Any:
        """What `tf.saved_model.save` serves, or what is exported by the names of inputs, if it is a model."""
        from tapeflow._src.keras.backend.export import served_by_default

        return served_by_default(self, named)
