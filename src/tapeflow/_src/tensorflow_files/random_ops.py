"""How random numbers are written as TensorFlow's ops.

What draws from the stream of an op is an op with seeds, which has a stream of its own; what draws from a state that
follows from a seed, or from a generator, is an op without a state of its own, and gives the same numbers.
"""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.dtypes import uint64
from tapeflow._src.graph.graph import Node
from tapeflow._src.tensorflow_files.graph_writing import CannotWrite, FunctionWriter, Ref
from tapeflow._src.tensorflow_files.primitive_ops import row

_PHILOX = 1


class _Stream(Ref):
    """The state of an op's own stream, which TensorFlow's op keeps to itself."""

    __slots__ = ("seeds", "used")

    def __init__(self, seeds: tuple[int, int] | None) -> None:
        super().__init__("", uint64)
        self.seeds = {} if seeds is None else {"seed": seeds[0], "seed2": seeds[1]}
        self.used = False

    def take(self) -> dict[str, int]:
        """The seeds of the op that draws from it."""
        if self.used:
            raise CannotWrite("numbers that are drawn once more from the same state")
        self.used = True
        return self.seeds


@row("random_next_state")
def _next_state(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    return _Stream(node.attrs["seeds"])


@row("random_stateless")
def _stateless(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    key, counter = w.op("StatelessRandomGetKeyCounter", *x)
    return w.op("ConcatV2", [counter, key], 0)


@row("random_generator_state")
def _generator_state(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    if node.inputs[0].shape != (3,):
        raise CannotWrite("a generator of another algorithm than Philox")
    return w.op("Bitcast", *x, type=uint64)


def _drawn(
    w: FunctionWriter, state: Ref, ops: tuple[str, str], shape: Ref, *rest: Ref, **attrs: Any
) -> Ref:
    """Numbers by the op with a stream, or the one that takes a state."""
    if isinstance(state, _Stream):
        return w.op(ops[0], shape, *rest, **attrs, **state.take())
    counter = w.op("StridedSlice", state, [0], [2], [1])
    key = w.op("StridedSlice", state, [2], [3], [1])
    return w.op(ops[1], shape, key, counter, _PHILOX, *rest, **attrs)


_FLOATS = {
    "random_uniform": ("RandomUniform", "StatelessRandomUniformV2"),
    "random_normal": ("RandomStandardNormal", "StatelessRandomNormalV2"),
    "random_truncated_normal": ("TruncatedNormal", "StatelessTruncatedNormalV2"),
}


@row(*_FLOATS)
def _floats(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    shape = w.sizes(node.attrs["shape"])
    return _drawn(w, x[0], _FLOATS[node.primitive.name], shape, dtype=node.attrs["dtype"])


@row("random_keep")
def _keep(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    shape, dtype = w.sizes(node.attrs["shape"]), node.attrs["dtype"]
    unit = _drawn(w, x[0], _FLOATS["random_uniform"], shape, dtype=dtype)
    rate = x[1] if x[1].dtype is dtype else w.op("Cast", x[1], DstT=dtype)
    return w.op("GreaterEqual", unit, rate)


@row("random_integers")
def _integers(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    dtype = node.attrs["dtype"]
    bounds = [b if b.dtype is dtype else w.op("Cast", b, DstT=dtype) for b in x[1:]]
    ops = ("RandomUniformInt", "StatelessRandomUniformIntV2")
    return _drawn(w, x[0], ops, w.sizes(node.attrs["shape"]), *bounds)


def _streams_only(state: Ref) -> dict[str, int]:
    if not isinstance(state, _Stream):
        raise CannotWrite("from a state that is given")
    return state.take()


@row("random_shuffle")
def _shuffle(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("RandomShuffle", x[1], **_streams_only(x[0]))


@row("random_categorical")
def _categorical(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    attrs = node.attrs
    seeds = _streams_only(x[0])
    return w.op(
        "Multinomial", x[1], w.size(attrs["num_samples"]), output_dtype=attrs["dtype"], **seeds
    )
