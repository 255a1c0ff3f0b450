"""Where elements come from: tensors, ranges, Python generators, random numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes, nest
from tapeflow._src.core.composites.composite import CompositeTensor, is_expandable
from tapeflow._src.core.convert import convert_to_tensor, to_array
from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.errors import invalid, shown
from tapeflow._src.core.placement.remote import to_host
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.data.runtime.node import INFINITE, UNKNOWN, Node, Randomness, Run, integer
from tapeflow._src.data.runtime.rows import ArrayTable, RangeTable, Row, Rows, Table
from tapeflow._src.data.specs import (
    NOTHING,
    NoneTensorSpec,
    batchable_leaves,
    box,
    boxed,
    for_pipeline,
    leaves,
    map_spec,
    spec_of,
    tensor_leaves,
)
from tapeflow._src.primitives.random.philox import WordStream


class Tensors(Node):
    """One element: a structure of tensors."""

    name = "_TensorDataset"

    def __init__(self, tensors: Any) -> None:
        structure = for_pipeline(tensors)
        self.tensors = _tensors("from_tensors", structure)
        self.spec = spec_of(structure)

    def cardinality(self) -> int:
        """One."""
        return 1

    def table(self) -> Table | None:
        """One row."""
        if any(x.symbolic for x in nest.flatten(self.tensors, expand_composites=True)):
            return None
        arrays = [
            np.asarray(x._array)[None] if isinstance(x, Tensor) else boxed([x])
            for x in self.tensors
        ]
        return _table(self.spec, arrays)


class Slices(Node):
    """The slices of tensors along their first dimension."""

    name = "_TensorSliceDataset"

    def __init__(self, tensors: Any) -> None:
        structure = for_pipeline(tensors)
        self.tensors = _tensors("from_tensor_slices", structure)
        size = None
        for x in self.tensors:
            if isinstance(x, CompositeTensor):
                batchable_leaves("from_tensor_slices", x._type_spec)
            dims = sizes_of(x)
            if not dims:
                raise ValueError(
                    "Unbatching a tensor is only supported for rank >= 1: Dataset.from_tensor_slices got a scalar. "
                    "Use from_tensors for a single element."
                )
            if size is not None and dims[0] is not None and size != dims[0]:
                raise ValueError(
                    f"Dimensions {size} and {dims[0]} are not compatible: all tensors of from_tensor_slices must have "
                    f"the same first dimension. Their shapes are {[str(x.shape) for x in self.tensors]}."
                )
            size = dims[0] if dims[0] is not None else size
        self.spec = nest.map_structure(lambda spec: spec._unbatch(), spec_of(structure))

    def cardinality(self) -> int:
        """The first dimension, if it is known."""
        size = sizes_of(self.tensors[0])[0]
        return UNKNOWN if size is None else size

    def table(self) -> Table | None:
        """Views of the tensors, if they have values."""
        if any(x.symbolic for x in nest.flatten(self.tensors, expand_composites=True)):
            return None
        arrays = [
            x._array if isinstance(x, Tensor) else boxed(x._type_spec._rows(x))
            for x in self.tensors
        ]
        return _table(self.spec, arrays)


def _tensors(op: str, structure: Any) -> tuple[Any, ...]:
    """All of a structure but `None`."""
    found = tuple(x for x in nest.flatten(structure) if x is not None)
    if not found:
        raise ValueError(f"Dataset.{op}: `tensors` has no tensor in it, got {shown(structure)}")
    return found


def _table(spec: Any, arrays: Sequence[np.ndarray]) -> Table:
    """A table of arrays, with nothing in the place of each `None`."""
    rest, nothing = iter(arrays), np.broadcast_to(NOTHING, arrays[0].shape[:1])
    flat = nest.flatten(spec)
    return ArrayTable([nothing if isinstance(s, NoneTensorSpec) else next(rest) for s in flat])


def sizes_of(x: Any) -> list[Any]:
    """The static sizes of a tensor, or of the first component of a composite one."""
    shape = getattr(x, "shape", None)
    if shape is None:
        shape = nest.flatten(x, expand_composites=True)[0].shape
    return shape.as_list()


class Listed(Node):
    """Rows that are there already: a window."""

    name = "_VariantDataset"

    def __init__(self, rows: Sequence[Row], spec: Any) -> None:
        self._rows = rows
        self.spec = spec

    def cardinality(self) -> int:
        """How many there are."""
        return len(self._rows)

    def rows(self, run: Run) -> Rows:
        """One by one."""
        return IteratorRows(iter(self._rows))


class Range(Node):
    """Numbers at equal distances."""

    name = "_RangeDataset"

    def __init__(self, args: Sequence[Any], output_type: Any) -> None:
        if not 1 <= len(args) <= 3:
            raise ValueError(
                f"Dataset.range takes stop, or start, stop and step: 1 to 3 arguments, got {len(args)}."
            )
        names = ("stop",) if len(args) == 1 else ("start", "stop", "step")
        given = dict(
            zip(
                names,
                (integer("range", n, x) for n, x in zip(names, args, strict=False)),
                strict=False,
            )
        )
        zero, one = convert_to_tensor(0), convert_to_tensor(1)
        self.tensors = (given.get("start", zero), given["stop"], given.get("step", one))
        if self.number(2) == 0:
            raise invalid("Dataset.range: step must be a non-zero integer")
        self.dtype = as_dtype(output_type)
        if self.dtype is dtypes.string:
            raise invalid("Dataset.range: output_type must be a dtype of numbers, got string")
        self.spec = TensorSpec((), self.dtype)

    def cardinality(self) -> int:
        """How many numbers there are, if they are known."""
        return UNKNOWN if self.table() is None else super().cardinality()

    def table(self) -> Table | None:
        """The numbers by arithmetic."""
        if None in map(self.number, range(3)):
            return None
        start, stop, step = map(self.known, range(3))
        return RangeTable(start, step, len(range(start, stop, step)), self.dtype.np_dtype)


class IteratorRows(Rows):
    """The rows of a Python iterator."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self._rows = rows

    def __next__(self) -> Row:
        return next(self._rows)


class Generated(Node):
    """What a Python generator yields."""

    name = "_FlatMapDataset"

    def __init__(self, generator: Any, spec: Any, args: Any) -> None:
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        self.generator: Callable[..., Any] = generator
        self.spec = spec
        self.tensors = () if args is None else tuple(convert_to_tensor(x) for x in args)
        for leaf in leaves(spec):
            if not is_expandable(leaf):
                tensor_leaves("from_generator", leaf)

    def rows(self, run: Run) -> Rows:
        """Calls the generator function: each pass has a generator of its own."""
        values = self.generator(*[x.numpy() for x in self.tensors])
        return GeneratorRows(iter(values), self.spec)


def signature(output_types: Any, output_shapes: Any, output_signature: Any) -> Any:
    """The spec of a generator, from one of TensorFlow's two ways to tell it."""
    if output_types is not None and output_signature is not None:
        raise TypeError(
            "The `output_types` argument can not be used together with the `output_signature` argument."
        )
    if output_shapes is not None and output_signature is not None:
        raise TypeError(
            "The `output_shapes` argument can not be used together with the `output_signature` argument."
        )
    if output_signature is not None:
        for leaf in nest.flatten(output_signature):
            if not isinstance(leaf, TensorSpec) and not is_expandable(leaf):
                raise TypeError(
                    f"`output_signature` must contain objects that are subclass of `tf.TypeSpec` but found "
                    f"{type(leaf)} which is not."
                )
        return output_signature
    if output_types is None:
        raise TypeError(
            "To specify the output signature you need to provide either the `output_signature` argument or the "
            "`output_types` argument."
        )
    types = nest.map_structure(as_dtype, output_types)
    if output_shapes is None:
        return map_spec(lambda t: TensorSpec(None, t), types)
    flat = nest.flatten(types)
    shapes = _shapes_like(types, output_shapes)
    return nest.pack_sequence_as(
        types, [TensorSpec(s, t) for s, t in zip(shapes, flat, strict=True)]
    )


def _shapes_like(types: Any, shapes: Any) -> list[TensorShape]:
    """Shapes in the places of dtypes: a shape is a list or tuple itself, so the dtypes tell where it begins."""
    if not nest.is_nested(types):
        return [TensorShape(shapes)]
    if isinstance(types, Mapping):
        return [s for key in sorted(types) for s in _shapes_like(types[key], shapes[key])]
    if len(types) != len(shapes):
        raise TypeError(f"`output_shapes` {shapes} does not have the structure of `output_types`.")
    return [s for t, shape in zip(types, shapes, strict=True) for s in _shapes_like(t, shape)]


class GeneratorRows(Rows):
    """What a generator yields, as arrays of the dtypes and shapes that were promised."""

    def __init__(self, values: Iterator[Any], spec: Any) -> None:
        self._values = values
        self._spec = spec
        self._leaves: list[TensorSpec] = leaves(spec)
        self._flat = _flattener(spec)

    def __next__(self) -> Row:
        value = next(self._values)
        flat = self._flat(value)
        if flat is None:
            raise invalid(
                "TypeError: `generator` yielded an element that did not match the expected structure. The expected "
                f"structure was {self._spec}, but the yielded element was {shown(value)}."
            )
        return tuple([_array(x, s) for x, s in zip(flat, self._leaves, strict=True)])


def _flattener(spec: Any) -> Callable[[Any], Sequence[Any] | None]:
    """A function from values to the leaves of a structure, or None where they do not fit into it."""
    if not nest.is_nested(spec):
        return lambda value: (value,)
    if isinstance(spec, tuple) and not any(map(nest.is_nested, spec)):
        count = len(spec)
        return lambda value: (
            value if isinstance(value, (tuple, list)) and len(value) == count else None
        )
    return lambda value: _flat_like(spec, value)


def _flat_like(spec: Any, value: Any) -> list[Any] | None:
    if not nest.is_nested(spec):
        return [value]
    if isinstance(spec, Mapping):
        if not isinstance(value, Mapping) or value.keys() != spec.keys():
            return None
        pairs = [(spec[key], value[key]) for key in sorted(spec)]
    else:
        if not isinstance(value, (tuple, list)) or len(value) != len(spec):
            return None
        pairs = list(zip(spec, value, strict=True))
    found: list[Any] = []
    for s, v in pairs:
        part = _flat_like(s, v)
        if part is None:
            return None
        found += part
    return found


def _array(value: Any, spec: Any) -> Any:
    if is_expandable(spec):
        if not spec.is_compatible_with(value):
            raise invalid(
                f"TypeError: `generator` yielded {shown(value)} where an element like {spec} was expected."
            )
        return box(value)
    dtype = spec.dtype
    try:
        if isinstance(value, Tensor):
            array = to_host(value)._array
            if array.dtype != dtype.np_dtype:
                array = array.astype(dtype.np_dtype)
        elif dtype is dtypes.string:
            array = to_array(value, dtype)
        else:
            array = np.array(value, dtype.np_dtype)  # a copy: the generator may use its array again
    except (TypeError, ValueError, OverflowError) as error:
        raise invalid(
            "TypeError: `generator` yielded an element that could not be converted to the expected type. The expected "
            f"type was {dtype.name}, but the yielded element was {shown(value)}."
        ) from error
    dims = spec.shape._dims
    if dims is not None and array.shape != dims and not spec.shape.is_compatible_with(array.shape):
        raise invalid(
            f"TypeError: `generator` yielded an element of shape {array.shape} where an element of shape {spec.shape} "
            "was expected."
        )
    return array


class RandomNumbers(Node):
    """Random integers without end."""

    name = "_RandomDataset"
    spec = TensorSpec((), dtypes.int64)

    def __init__(self, seed: Any, anew: bool) -> None:
        self.randomness = Randomness(seed, anew)

    def cardinality(self) -> int:
        """Infinite."""
        return INFINITE

    def rows(self, run: Run) -> Rows:
        """Numbers of 32 bits, as in TensorFlow."""
        assert self.randomness is not None
        return RandomRows(run.words(self.randomness))


class RandomRows(Rows):
    """Random integers."""

    def __init__(self, words: WordStream) -> None:
        self._words = words

    def __next__(self) -> Row:
        return (np.int64(self._words.one()),)

    def chunk(self, n: int) -> list[Any]:
        """Many at once."""
        return [self._words.take(n).astype(np.int64)]
