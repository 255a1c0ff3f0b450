"""What every Keras layer inherits from its backend."""


class TapeflowLayer:
    """Nothing more than what Keras's own `Layer` has is needed."""
