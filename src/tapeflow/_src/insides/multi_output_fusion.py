"""An option of XLA that jax has no way to give for one program: it is added to the options that jax makes up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tapeflow._src.insides.fallback import slower


def _field(number: int, content: bytes) -> bytes:
    """A field of a protocol buffer."""
    tag = number << 3 | 2
    start = bytes([tag]) if tag < 128 else bytes([tag & 127 | 128, tag >> 7])
    return start + bytes([len(content)]) + content


_OPTION = _field(1, b"xla_cpu_use_multi_output_fusion") + _field(2, b"")
_ADDED = _field(3, _field(3, _field(500, _OPTION)))  # build options, debug options, extra options

_SLOWER = "programs are made as jax makes them, and updates of variables read memory more often"
_asked = threading.local()
_able: bool | None = None


def with_multi_output_fusion(program: Callable[..., Any]) -> Callable[..., Any]:
    """A program of jax that is compiled, when it is, to make all its results in one loop."""

    def run(*arrays: Any) -> Any:
        _asked.now = True
        try:
            return program(*arrays)
        finally:
            _asked.now = False

    return run


def is_available() -> bool:
    """Whether this version of jax makes up its options where we look for them, and XLA then makes one loop.

    It is found out with a program that asks for it: an array and an average of it, as an optimizer keeps them. Versions
    of XLA that make two loops of it copy what is overwritten, and take several times as long as for the program as it
    was.
    """
    global _able
    if _able is None:
        try:
            _able = _listen() and _makes_one_loop()
        except Exception as error:  # another version, in whatever way it differs
            slower(
                f"jax makes up its options otherwise than expected ({type(error).__name__})",
                _SLOWER,
            )
            _able = False
    return _able


def _makes_one_loop() -> bool:
    import jax
    import jax.numpy as jnp

    def program(array: Any, average: Any, gradient: Any) -> Any:
        apart = jax.lax.optimization_barrier
        _, kept, g = apart((array, average, gradient))
        average, gradient = apart((average, gradient))
        return array - 0.1 * (0.9 * kept + g), 0.9 * average + gradient

    shape = jax.ShapeDtypeStruct((1024,), jnp.float32)
    function = jax.jit(program).lower(shape, shape, shape)
    text = with_multi_output_fusion(function.compile)().as_text()
    if text.count(" fusion(") == 1:
        return True
    slower("XLA makes a loop for each array, whatever it is told", _SLOWER)
    return False


def _listen() -> bool:
    from jax._src import compiler

    original = compiler.get_compile_options

    def get_compile_options(*args: Any, **kwargs: Any) -> Any:
        options = original(*args, **kwargs)
        if not getattr(_asked, "now", False):
            return options
        return type(options).ParseFromString(options.SerializeAsString() + _ADDED)

    options = original(num_replicas=1, num_partitions=1)
    type(options).ParseFromString(options.SerializeAsString() + _ADDED)
    compiler.get_compile_options = get_compile_options
    return True
