"""Where ops that only Python can run were, before other layers needed them."""

from tapeflow._src.ops.effects.host import bytes_array, each, on_host

__all__ = ["bytes_array", "each", "on_host"]
