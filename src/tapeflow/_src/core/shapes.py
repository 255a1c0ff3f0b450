"""Static shapes: `tf.TensorShape`, where any dimension, or all of them, may be unknown."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias, cast, overload

from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.sizes.extremes import broadcast

__all__ = ["Dims", "TensorShape", "broadcast_shapes", "broadcast_static_shape"]

Dims: TypeAlias = tuple[int | None, ...]
"""The sizes of a shape of known rank; `None` where a size is unknown."""

_HIGHEST_RANK = 254  # as in TensorFlow


@export("TensorShape")
class TensorShape:
    """The shape of a tensor, as far as it is known.

    A shape is fully known (`TensorShape([2, 3])`), known but for some dimensions
    (`TensorShape([None, 3])`), or not known at all (`TensorShape(None)`). It behaves as a sequence
    of its dimensions and equals the tuple or list of them.

    >>> import tapeflow as tf
    >>> shape = tf.TensorShape([2, None])
    >>> shape
    TensorShape([2, None])
    >>> shape[0], shape[1:], shape.rank, shape == (2, None)
    (2, TensorShape([None]), 2, True)
    >>> shape.merge_with([None, 3])
    TensorShape([2, 3])

    Args:
        dims: an iterable of sizes with `None` for an unknown one, a single size for a shape of
            rank 1, another shape, or `None` if even the rank is unknown.

    Raises:
        TypeError: if a size is not an integer or `None`.
        ValueError: if a size is negative.
    """

    __slots__ = ("_dims",)

    _dims: Dims | None

    def __init__(self, dims: TensorShape | Iterable[Any] | int | None) -> None:
        if dims is None:
            self._dims = None
            return
        if isinstance(dims, TensorShape):
            self._dims = dims._dims
            return
        try:
            # Not `list(dims)`, which takes memory for as many as an object claims to have.
            sizes = [size for size in dims]  # noqa: C416  # pyright: ignore[reportGeneralTypeIssues]
        except TypeError:  # a single number, perhaps as a scalar array or tensor
            sizes = [dims]
        self._dims = tuple([_as_dim(size, dims) for size in sizes])

    @classmethod
    def _of(cls, dims: Dims | None) -> TensorShape:
        """Wraps a tuple that is known to hold only Python ints and `None`, without a check."""
        self = object.__new__(cls)
        self._dims = dims
        return self

    # What is known

    @property
    def rank(self) -> int | None:
        """The number of dimensions, or `None` if unknown."""
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self) -> int | None:
        """The number of dimensions, or `None` if unknown: another name for `rank`."""
        return None if self._dims is None else len(self._dims)

    @property
    def dims(self) -> list[int | None] | None:
        """The sizes as a list, or `None` if the rank is unknown."""
        return None if self._dims is None else list(self._dims)

    def as_list(self) -> list[int | None]:
        """The sizes as a list, `None` for each unknown one.

        >>> import tapeflow as tf
        >>> tf.TensorShape([2, None]).as_list()
        [2, None]

        Raises:
            ValueError: if the rank is unknown.
        """
        return list(self._known("list the dimensions"))

    def num_elements(self) -> int | None:
        """The number of elements of such a tensor, or `None` if unknown.

        >>> import tapeflow as tf
        >>> tf.TensorShape([2, 3]).num_elements()
        6
        """
        dims = self._dims
        if dims is None or None in dims:
            return None
        return math.prod(cast(tuple[int, ...], dims))

    def is_fully_defined(self) -> bool:
        """Whether the rank and every size are known."""
        return self._dims is not None and None not in self._dims

    def assert_is_fully_defined(self) -> None:
        """Raises `ValueError` unless the rank and every size are known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined.")

    # As a sequence

    def __len__(self) -> int:
        return len(self._known("take the length"))

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        from tapeflow._src.core.convert import convert_to_tensor  # which is above this layer

        if self._dims is None or None in self._dims:
            raise ValueError(f"Cannot convert a partially known TensorShape {self} to a Tensor.")
        return convert_to_tensor(list(self._dims), "int32" if dtype is None else dtype)

    def __iter__(self) -> Iterator[int | None]:
        return iter(self._known("iterate over the dimensions"))

    def __bool__(self) -> bool:
        """Whether the rank is known: the shape of a scalar is true."""
        return self._dims is not None

    @overload
    def __getitem__(self, key: int) -> Any: ...
    @overload
    def __getitem__(self, key: slice) -> TensorShape: ...
    def __getitem__(self, key: int | slice) -> Any:
        dims = self._dims
        if dims is None:
            return self._unknown_slice(key) if isinstance(key, slice) else None
        if isinstance(key, slice):
            return TensorShape._of(dims[key])
        try:
            return dims[key]
        except IndexError:
            raise IndexError(f"Shape {self} has no dimension {key}") from None

    def _unknown_slice(self, key: slice) -> TensorShape:
        """The part that `key` selects of an unknown shape: of known rank if both its ends are."""
        start = 0 if key.start is None else key.start
        stop = key.stop
        if key.step not in (None, 1):
            raise ValueError(f"A shape of unknown rank cannot be sliced with step {key.step}.")
        if stop is None or start < 0 or stop < 0:
            return TensorShape._of(None)
        return TensorShape._of((None,) * max(stop - start, 0))

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return _as_shape(other).concatenate(self)

    def concatenate(self, other: Any) -> TensorShape:
        """The dimensions of this shape followed by those of `other`.

        >>> import tapeflow as tf
        >>> tf.TensorShape([2]) + [3]
        TensorShape([2, 3])
        """
        first, second = self._dims, _as_shape(other)._dims
        return TensorShape._of(None if first is None or second is None else first + second)

    # Comparing

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TensorShape):
            return self._dims == other._dims
        if isinstance(other, tuple):
            return self._dims == other
        try:
            return self._dims == TensorShape(other)._dims  # pyright: ignore[reportArgumentType]
        except (TypeError, ValueError):  # not a shape at all
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether one tensor could have both shapes: they agree wherever both are known.

        >>> import tapeflow as tf
        >>> tf.TensorShape([None, 3]).is_compatible_with([2, 3])
        True
        """
        first, second = self._dims, _as_shape(other)._dims
        if first is None or second is None or first == second:
            return True
        return len(first) == len(second) and all(
            a == b or a is None or b is None for a, b in zip(first, second, strict=True)
        )

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises `ValueError` if no tensor could have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {_as_shape(other)} are incompatible.")

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every tensor of this shape also fits `other`.

        >>> import tapeflow as tf
        >>> tf.TensorShape([2]).is_subtype_of(tf.TensorShape([None]))
        True
        """
        if not isinstance(other, TensorShape):
            return False
        first, second = self._dims, other._dims
        if second is None or first == second:
            return True
        if first is None or len(first) != len(second):
            return False
        return all(b is None or a == b for a, b in zip(first, second, strict=True))

    def merge_with(self, other: Any) -> TensorShape:
        """What is known of a tensor that has both shapes.

        Raises:
            ValueError: if the shapes contradict each other.
        """
        other = _as_shape(other)
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are not compatible.")
        first, second = self._dims, other._dims
        if first is None:
            return other
        if second is None:
            return self
        return TensorShape._of(
            tuple([b if a is None else a for a, b in zip(first, second, strict=True)])
        )

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """The narrowest shape that fits tensors of either shape.

        >>> import tapeflow as tf
        >>> tf.TensorShape([2, 3]).most_specific_compatible_shape([2, 4])
        TensorShape([2, None])
        """
        first, second = self._dims, _as_shape(other)._dims
        if first is None or second is None or len(first) != len(second):
            return TensorShape._of(None)
        return TensorShape._of(
            tuple([a if a == b else None for a, b in zip(first, second, strict=True)])
        )

    def most_specific_common_supertype(self, others: Sequence[TensorShape]) -> TensorShape | None:
        """The narrowest shape that fits tensors of this shape and of each of `others`."""
        shape = self
        for other in others:
            if not isinstance(other, TensorShape):
                return None
            shape = shape.most_specific_compatible_shape(other)
        return shape

    # Rank

    def with_rank(self, rank: int) -> TensorShape:
        """This shape, known to have `rank` dimensions.

        >>> import tapeflow as tf
        >>> tf.TensorShape(None).with_rank(2)
        TensorShape([None, None])

        Raises:
            ValueError: if it has another rank.
        """
        if self._dims is None:
            if not 0 <= _as_rank(rank) <= _HIGHEST_RANK:
                raise ValueError(f"A rank must be in [0, {_HIGHEST_RANK}], got {rank}.")
            return TensorShape._of((None,) * _as_rank(rank))
        self.assert_has_rank(rank)
        return self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape, or `ValueError` if it has fewer than `rank` dimensions."""
        if self._dims is not None and len(self._dims) < _as_rank(rank):
            raise ValueError(f"Shape {self} must have rank at least {shown(rank)}.")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """This shape, or `ValueError` if it has more than `rank` dimensions."""
        if self._dims is not None and len(self._dims) > _as_rank(rank):
            raise ValueError(f"Shape {self} must have rank at most {shown(rank)}.")
        return self

    def assert_has_rank(self, rank: int) -> None:
        """Raises `ValueError` if the rank is known and is not `rank`."""
        if self._dims is not None and len(self._dims) != _as_rank(rank):
            raise ValueError(f"Shape {self} must have rank {shown(rank)}.")

    def assert_same_rank(self, other: Any) -> None:
        """Raises `ValueError` if both ranks are known and differ."""
        other = _as_shape(other)
        if None not in (self.rank, other.rank) and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank.")

    # Printing, copying

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else list(self._dims)})"

    def __str__(self) -> str:
        return "<unknown>" if self._dims is None else str(self._dims)

    def __reduce__(self) -> tuple[Any, tuple[Dims | None]]:
        return TensorShape, (self._dims,)

    def _known(self, action: str) -> Dims:
        if self._dims is None:
            raise ValueError(f"Cannot {action} of a shape of unknown rank.")
        return self._dims


def _as_shape(value: Any) -> TensorShape:
    return value if value.__class__ is TensorShape else TensorShape(value)


def _as_rank(value: Any) -> int:
    try:
        return int(operator.index(value))
    except TypeError:
        raise TypeError(f"A rank must be an integer, got {shown(value)}.") from None


def _as_dim(value: Any, dims: Any) -> int | None:
    if value is None:
        return None
    try:
        size = int(operator.index(value))
    except TypeError:
        raise TypeError(
            f"A dimension must be an integer or None, but {shown(value)} in the shape {shown(dims)} has type "
            f"{type(value).__name__}. Shapes are written like 10, [1, 10] or [None, 10]."
        ) from None
    if size < 0:
        raise ValueError(
            f"A dimension must be >= 0, but the shape {shown(dims)} contains {size}. "
            "Write None for a dimension that is not known."
        )
    return size


def broadcast_shapes(a: Dims, b: Dims) -> Dims:
    """The shape of an elementwise op on operands of shapes `a` and `b`.

    A size is `None` in the result where it depends on one that is unknown.

    >>> broadcast_shapes((2, 1), (3,))
    (2, 3)
    >>> broadcast_shapes((None, 3), (1, 1))
    (None, 3)

    Raises:
        ValueError: if no such operands can be broadcast together.
    """
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    extra = len(longer) - len(shorter)
    result = list(longer)
    for axis, size in enumerate(shorter, extra):
        other = longer[axis]
        if is_dynamic(size) or is_dynamic(other):
            result[axis] = broadcast(other, size)
            continue
        if size == other or size == 1:
            continue
        if other == 1:
            result[axis] = size
        elif size is None or other is None:
            known = other if size is None else size
            # An unknown size next to a larger one must be 1 or equal to it. Next to 0 or another
            # unknown one the result stays unknown, as TensorFlow has it.
            result[axis] = known if known else None
        else:
            raise ValueError(
                f"Shapes {a} and {b} cannot be broadcast together: their sizes {longer[axis]} and "
                f"{size} at dimension {axis - len(longer)} differ and neither is 1."
            )
    return tuple(result)


@export("broadcast_static_shape")
def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The static shape of an elementwise op on operands of the two shapes.

    >>> import tapeflow as tf
    >>> tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([3]))
    TensorShape([2, 3])

    Raises:
        ValueError: if no such operands can be broadcast together.
    """
    a, b = _as_shape(shape_x)._dims, _as_shape(shape_y)._dims
    return TensorShape._of(None if a is None or b is None else broadcast_shapes(a, b))
