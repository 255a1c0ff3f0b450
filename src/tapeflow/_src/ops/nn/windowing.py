"""Reading the arguments of convolutions and poolings: what TensorFlow writes in many ways, in one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tapeflow._src.core.errors import UnimplementedError, shown
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import ints
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.nn.windows import Pairs, Sizes, same_padding
from tapeflow._src.primitives.rules import invalid

CHANNELS_LAST = {1: "NWC", 2: "NHWC", 3: "NDHWC"}
CHANNELS_FIRST = {1: "NCW", 2: "NCHW", 3: "NCDHW"}


class Layout(NamedTuple):
    """Where the channels of an input with `rank` spatial dimensions are."""

    rank: int
    channels_first: bool

    @property
    def spatial(self) -> slice:
        """The spatial entries among one for each dimension."""
        return slice(2, self.rank + 2) if self.channels_first else slice(1, self.rank + 1)

    def to_last(self, x: Tensor) -> Tensor:
        """`x` with its channels at the end."""
        if not self.channels_first:
            return x
        return moving.transpose(x, perm=(0, *range(2, self.rank + 2), 1))

    def back(self, x: Tensor) -> Tensor:
        """A channels-last `x` in the user's layout."""
        if not self.channels_first:
            return x
        return moving.transpose(x, perm=(0, self.rank + 1, *range(1, self.rank + 1)))

    def shape_to_last(self, shape: Sizes) -> Sizes:
        """The channels-last form of a full shape."""
        return (shape[0], *shape[2:], shape[1]) if self.channels_first else shape


def layout(
    op: str, data_format: str | None, rank: int, error: Callable[[str], Exception] = invalid
) -> Layout:
    """Reads `data_format`, which must be one of the two for this rank."""
    last, first = CHANNELS_LAST[rank], CHANNELS_FIRST[rank]
    if data_format is None or data_format in (last, first):
        return Layout(rank, data_format == first)
    raise error(
        f"{op}: `data_format` must be {shown(last)} or {shown(first)}, got {shown(data_format)}"
    )


def spatial(op: str, argument: str, value: Any, where: Layout) -> Sizes:
    """One number for all spatial dimensions, one for each, or one for each dimension of the input."""
    rank = where.rank
    if value is None:
        return (1,) * rank
    found = ints(op, argument, value, scalar=True)
    if len(found) == 1:
        found = found * rank
    elif len(found) == rank + 2:
        inner = where.spatial
        if any(n != 1 for n in (*found[: inner.start], *found[inner.stop :])):
            raise UnimplementedError(
                None,
                None,
                f"{op}: {argument} in the batch and channel dimensions must be 1, got {list(found)}",
            )
        found = found[inner]
    elif len(found) != rank:
        raise ValueError(
            f"{op}: {argument} should be of length 1, {rank} or {rank + 2} but was {len(found)}: "
            f"{list(found)}"
        )
    if any(n < 1 for n in found):
        raise invalid(f"{op}: {argument} must be positive, got {list(found)}")
    return found


def padding_pairs(
    op: str,
    padding: Any,
    where: Layout,
    size: Sizes,
    window: Sizes,
    strides: Sizes,
    dilations: Sizes,
    *,
    explicit: bool = True,
) -> Pairs:
    """`"SAME"`, `"VALID"` or a list of pairs for all dimensions, as a pair for each spatial one."""
    if isinstance(padding, str):
        if padding == "VALID":
            return ((0, 0),) * where.rank
        if padding == "SAME":
            dimensions = zip(size, window, strides, dilations, strict=True)
            return tuple([same_padding(*dimension) for dimension in dimensions])
        raise invalid(
            f'{op}: padding must be "SAME", "VALID" or a list of pairs, got {shown(padding)}'
            if explicit
            else f'{op}: padding must be "SAME" or "VALID", got {shown(padding)}'
        )
    if not explicit:
        raise TypeError(f'{op}: padding must be "SAME" or "VALID", got {shown(padding)}')
    return _explicit(op, padding, where)


def _explicit(op: str, padding: Any, where: Layout) -> Pairs:
    if not isinstance(padding, Sequence) or len(padding) != where.rank + 2:
        raise ValueError(
            f"{op}: explicit padding must be a list of {where.rank + 2} pairs, one for each dimension "
            f"of the input, got {shown(padding)}"
        )
    pairs = [ints(op, "padding", pair) for pair in padding]
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError(f"{op}: explicit padding must have pairs of numbers, got {shown(padding)}")
    inner = where.spatial
    outer = [*pairs[: inner.start], *pairs[inner.stop :]]
    if any(map(any, outer)):
        raise invalid(
            f"{op}: padding of the batch and channel dimensions must be 0, got {shown(padding)}"
        )
    if any(n < 0 for pair in pairs for n in pair):
        raise invalid(f"{op}: explicit padding must not be negative, got {shown(padding)}")
    return tuple([(pair[0], pair[1]) for pair in pairs[inner]])
