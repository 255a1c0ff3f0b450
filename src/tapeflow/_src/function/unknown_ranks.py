"""`get_concrete_function` for tensors of unknown rank: a trace for each rank, which is made when a call has it."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tapeflow._src.core import nest
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.spec import TensorSpec, TypeSpec
from tapeflow._src.function import description
from tapeflow._src.function.tracing.late_ranks import UnknownRankError

if TYPE_CHECKING:
    from tapeflow._src.function.concrete import ConcreteFunction
    from tapeflow._src.function.function import Function
    from tapeflow._src.graph.graph import Graph

_TRIED = (2, 1, 3, 0, 4)  # ranks, to find out what a function returns for two of them


def has_unknown_rank(structure: Any) -> bool:
    """Whether a tensor among the arguments is of unknown rank, and there is none yet."""
    return any(_is_unknown(part) for leaf in nest.flatten(structure) for part in _parts(leaf))


def _is_unknown(leaf: Any) -> bool:
    return isinstance(leaf, TensorSpec) and leaf.shape.rank is None


def _parts(leaf: Any) -> list[Any]:
    """The specs of the tensors that a spec of a composite tensor holds. Others are a part themselves."""
    if not isinstance(leaf, TypeSpec) or not leaf._expands:
        return [leaf]
    return [part for each in nest.flatten(leaf._component_specs) for part in _parts(each)]


def _with_ranks(spec: Any, rank_of: Iterator[int]) -> Any:
    """A spec in which the tensors of unknown rank have the ranks that are given, one after another."""
    if _is_unknown(spec):
        return TensorSpec([None] * next(rank_of), spec.dtype, spec.name)
    if isinstance(spec, TensorSpec) or not has_unknown_rank(spec):
        return spec
    parts = nest.map_structure(lambda part: _with_ranks(part, rank_of), spec._serialize())
    return spec._deserialize(parts)


class RankFreeFunction:
    """A traced function for tensors of any rank.

    >>> f = tf.function(lambda x: tf.reduce_sum(x) * 2.0)
    >>> twice = f.get_concrete_function(tf.TensorSpec(None, tf.float32))
    >>> twice.structured_outputs
    TensorSpec(shape=(), dtype=tf.float32, name=None)
    >>> twice(tf.constant([1.0, 2.0])).numpy(), twice(tf.constant([[1.0]])).numpy()
    (np.float32(6.0), np.float32(2.0))

    What it returns is found out by tracing it for two ranks: shapes in which they differ are unknown.

    Args:
      function: what is traced.
      structure: its arguments, positional ones and keywords.
    """

    def __init__(self, function: Function, structure: tuple[Any, Any]) -> None:
        self._function = function
        self._structure = structure
        self.name = function.name
        self._outputs: Any = None
        self._example: ConcreteFunction | None = None
        self.variables = self.trainable_variables = ()
        found: list[ConcreteFunction] = []
        mistake: Exception | None = None
        for rank in _TRIED:
            try:
                found.append(self._trace(lambda leaf, rank=rank: rank))
            except UnknownRankError:
                return  # a rank inside of it is known when it is called
            except Exception as error:
                mistake = mistake or error
            if len(found) == 2:
                break
        if mistake is not None and not found:
            raise mistake
        results = [trace.structured_outputs for trace in found]
        self._outputs = nest.map_structure(_common, results[0], results[-1])
        self._example = found[0]
        self.variables = found[0].variables
        self.trainable_variables = found[0].trainable_variables

    def _trace(self, rank_of: Any) -> ConcreteFunction:
        """The trace for the ranks that a function gives for the first tensor of unknown rank, the second, and so on."""
        ranks = map(rank_of, itertools.count())
        args, kwargs = nest.map_structure(lambda leaf: _with_ranks(leaf, ranks), self._structure)
        return self._function._trace_for(args, kwargs)

    def trace_ranks(self) -> list[ConcreteFunction]:
        """Makes the traces for small ranks that it can be traced for, so that they can be saved."""
        found = []
        for rank in _TRIED:
            with contextlib.suppress(Exception):  # it does not take such a rank
                found.append(self._trace(lambda leaf, rank=rank: rank))
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results, by the trace for such ranks."""
        if self._outputs is None:
            return self._function(*args, **kwargs)
        given = nest.flatten(self._function._signature.bound(*self._completed(args, kwargs)))
        ranks = [rank for x, leaf in self._pairs(given) for rank in _ranks(x, leaf)]
        return self._trace(ranks.__getitem__)(*args, **kwargs)

    def _completed(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a call with the Python values that were left out: they are part of the trace."""
        parameters = self._function._signature.parameters
        try:
            bound = parameters.bind_partial(*args, **kwargs)
        except TypeError:
            return args, kwargs
        traced = parameters.bind(*self._structure[0], **self._structure[1]).arguments
        bound.arguments = {
            name: bound.arguments.get(name, value)
            for name, value in traced.items()
            if name in bound.arguments
            or not any(isinstance(leaf, TensorSpec) for leaf in nest.flatten(value))
        }
        return bound.args, bound.kwargs

    def _pairs(self, given: list[Any]) -> Any:
        return zip(given, nest.flatten(self._structure), strict=True)

    @property
    def structured_input_signature(self) -> Any:
        """The arguments, with a `tf.TensorSpec` for each tensor."""
        return self._structure

    @property
    def inputs(self) -> list[TensorSpec]:
        """The tensors it takes."""
        return [leaf for leaf in nest.flatten(self._structure) if isinstance(leaf, TensorSpec)]

    @property
    def structured_outputs(self) -> Any:
        """What it returns, with a `tf.TensorSpec` for each tensor."""
        self._known()
        return self._outputs

    def _known(self) -> ConcreteFunction:
        """The trace for one rank."""
        if self._example is None:
            raise UnknownRankError(
                f"What {self.name} returns is known only when it is called: it depends on a rank inside of it that "
                "nobody has said, such as that of a result of tf.py_function. Say it: Tout=tf.TensorSpec(shape, "
                "dtype), or x.set_shape(shape)."
            )
        return self._example

    @property
    def graph(self) -> Graph:
        """The graph of the trace for one rank."""
        return self._known().graph

    @property
    def outputs(self) -> list[TensorSpec]:
        """The tensors it returns."""
        return nest.flatten(self.structured_outputs)

    @property
    def output_shapes(self) -> Any:
        """The shapes of what it returns."""
        return nest.map_structure(lambda x: x.shape, self.structured_outputs)

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of what it returns."""
        return nest.map_structure(lambda x: x.dtype, self.structured_outputs)

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.name}{self._structure} at {id(self):#x}>"

    def __str__(self) -> str:
        if self._outputs is None:
            return repr(self)
        described = description.traced_type(
            self._function._signature, self._structure, self.structured_outputs
        )
        return f"ConcreteFunction {description.long(described, self.variables)}"


def _ranks(value: Any, spec: Any) -> list[int]:
    """The ranks of those tensors in a value that are of unknown rank in its spec."""
    if _is_unknown(spec):
        return [convert_to_tensor(value).ndim]
    if isinstance(spec, TensorSpec) or not has_unknown_rank(spec):
        return []
    inside = nest.flatten(spec._to_components(value))
    pairs = zip(inside, nest.flatten(spec._component_specs), strict=True)
    return [rank for x, each in pairs for rank in _ranks(x, each)]


def with_ranks_unknown(structures: list[Any]) -> Any:
    """One structure of specs for several, in which what differs in rank is of unknown rank."""
    first, *others = structures
    for other in others:
        first = nest.map_structure(_common, first, other)
    return first


def _common(one: Any, other: Any) -> Any:
    """What is known of a result for any rank, from those for two."""
    if not isinstance(one, TensorSpec):
        common = isinstance(one, TypeSpec) and one.most_specific_common_supertype([other])
        return common or one
    mine, theirs = one.shape, other.shape
    if mine.rank != theirs.rank:
        return TensorSpec(None, one.dtype, one.name)
    sizes = [a if a == b else None for a, b in zip(mine.as_list(), theirs.as_list(), strict=True)]
    return TensorSpec(TensorShape(sizes), one.dtype, one.name)
