"""Traced functions as data, and `tf.function`s made from data."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import Composed, is_expandable, spec_of
from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.log import logger
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.sizes.extremes import hint_of
from tapeflow._src.core.sizes.guards import Guard, assume
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.function.concrete import ConcreteFunction
from tapeflow._src.function.function import Function
from tapeflow._src.function.signature import (
    SpecKey,
    TensorKey,
    composed,
    flattened,
    form_of,
    key_of,
    keys_of,
)
from tapeflow._src.function.tracing.symbols import TracingError
from tapeflow._src.graph.graph import Value
from tapeflow._src.saved_model.damage import UNTOLD, Damage, index, sound
from tapeflow._src.saved_model.encoding import (
    Arrays,
    CannotEncode,
    decoded,
    decoded_size,
    encoded,
    encoded_size,
)
from tapeflow._src.saved_model.graphs import graph_data
from tapeflow._src.saved_model.replay import Read, replay, results


class Functions:
    """The graphs of a model that is being saved, each once.

    Args:
      arrays: where constants go.
      variable: gives a variable its number.
    """

    def __init__(self, arrays: Arrays, variable: Callable[[Variable], int]) -> None:
        self.arrays = arrays
        self.variable = variable
        self.graphs: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._alive: list[ConcreteFunction] = []

    def graph(self, concrete: ConcreteFunction) -> int:
        """The number of the graph of a traced function."""
        if id(concrete) not in self._numbers:
            graph_function = concrete._graph_function
            data = graph_data(graph_function.graph, self.arrays)
            data["variables"] = [self.variable(v) for v in graph_function.variables]
            data["captured"] = [self.arrays.add(x._array) for x in graph_function.captured]
            self._numbers[id(concrete)] = len(self.graphs)
            self._alive.append(concrete)
            self.graphs.append(data)
        return self._numbers[id(concrete)]

    def function(self, name: str, function: Function) -> dict[str, Any]:
        """A `tf.function` as data: its parameters, and its traces."""
        traces = []
        for concrete in function._traces:
            traces += self.traces(name, concrete)
        parameters = []
        for p in function.signature.parameters.parameters.values():
            try:
                default = None if p.default is p.empty else [encoded(p.default, self.arrays)]
            except CannotEncode:
                default = None
            parameters.append([p.name, p.kind.name, default])
        return {"name": function.name, "parameters": parameters, "traces": traces}

    def traces(self, name: str, concrete: ConcreteFunction) -> list[dict[str, Any]]:
        """A trace as data, and those that were made for sizes it does not hold for."""
        found = [self.trace(name, each) for each in (concrete, *concrete._variants)]
        return [data for data in found if data is not None]

    def trace(self, name: str, concrete: ConcreteFunction) -> dict[str, Any] | None:
        """One trace as data: what it takes and returns, and its graph. None if it cannot be saved."""
        try:
            taken = encoded(concrete.structured_input_signature, self.arrays)
        except CannotEncode as error:
            logger.warning(
                "A trace of %s is left out of the saved model: among its arguments is %s. Arguments have to be "
                "tensors, numbers, texts, and structures of them.",
                name,
                error,
            )
            return None
        given = encoded(concrete._outputs(list(range(len(concrete.outputs)))), self.arrays)
        return {
            "takes": taken,
            "gives": given,
            "graph": self.graph(concrete),
            "order": None,
            "guards": guards_data(concrete),
        }

    def signature(self, name: str, concrete: ConcreteFunction) -> dict[str, Any]:
        """A trace as a signature: it takes tensors by name and returns a dictionary of tensors."""
        names = [spec.name or f"args_{i}" for i, spec in enumerate(concrete.inputs)]
        if len(set(names)) != len(names) or concrete._variable_positions:
            raise ValueError(
                f"tf.saved_model.save: the signature {name!r} must take tensors with different names, got "
                f"{concrete.structured_input_signature}. Give each tf.TensorSpec a name."
            )
        outputs = concrete._outputs(list(range(len(concrete.outputs))))
        if not isinstance(outputs, dict):
            outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
            outputs = {f"output_{i}": x for i, x in enumerate(outputs)}
        for key, value in outputs.items():
            if not isinstance(key, str) or not isinstance(value, int):
                raise ValueError(
                    f"tf.saved_model.save: got {key!r} and a structure in the output of the function used to generate "
                    f"the signature {name!r}. Outputs for functions used as signatures must be a single Tensor, a "
                    "sequence of Tensors, or a dictionary from string to Tensor."
                )
        specs = {
            n: TensorSpec(spec.shape, spec.dtype, n)
            for n, spec in zip(names, concrete.inputs, strict=True)
        }
        ordered = sorted(names)
        takes: Any = ((), {n: specs[n] for n in ordered})
        kind = "KEYWORD_ONLY"
        if len(names) == 1:
            takes, kind = ((specs[names[0]],), {}), "POSITIONAL_OR_KEYWORD"
        traces = [
            {
                "takes": encoded(takes, self.arrays),
                "gives": encoded(outputs, self.arrays),
                "graph": self.graph(each),
                "order": [ordered.index(n) for n in names],
                "guards": guards_data(each),
            }
            for each in (concrete, *concrete._variants)
        ]
        parameters = [[n, kind, None] for n in names]
        return {"name": f"signature_wrapper_{name}", "parameters": parameters, "traces": traces}


def guards_data(concrete: ConcreteFunction) -> list[Any]:
    """The answers about sizes that a trace relies on, as data. Sizes are those of its arguments by number."""
    places = {x.value: i for i, x in enumerate(concrete._graph_function.arguments)}
    return [
        [guard.comparison, *[_size_data(x, places) for x in guard[1:3]], guard.answer]
        for guard in concrete._guards
    ]


def _size_data(size: Any, places: dict[Value, int]) -> Any:
    return encoded_size(size, places.__getitem__) if is_dynamic(size) else [[size]]


# Loading.


class _Trace:
    """A trace that was saved."""

    def __init__(self, data: dict[str, Any], read: Read) -> None:
        self.takes: tuple[Any, Any] = decoded(data["takes"], read)
        self.gives = decoded(data["gives"], read)
        self.graph: int = data["graph"]
        self.order: list[int] | None = data["order"]
        self._guards: list[Any] = data.get("guards", [])
        leaves = flattened(self.takes)
        self.key = (form_of(self.takes), *keys_of(leaves))

    def check(self, arguments: Sequence[TensorSpec], outputs: int) -> None:
        """Whether it takes what its graph takes, and returns what that gives. Damage if not."""
        args, kwargs = self.takes
        if not isinstance(args, tuple) or not isinstance(kwargs, dict):
            raise Damage(f"a trace takes {str(self.takes)[:100]}")
        specs = [x for x in flattened(self.takes) if isinstance(x, TensorSpec)]
        if self.order is not None:
            if sorted(self.order) != list(range(len(specs))):
                raise Damage(f"a trace takes its arguments in the order {str(self.order)[:100]}")
            specs = [specs[i] for i in self.order]
        if len(specs) != len(arguments) or not all(map(_is_part, specs, arguments)):
            raise Damage(f"a trace takes {specs}, and its graph {arguments}")
        _filled(self.gives, range(outputs))

    def covers(self, key: Any) -> bool:
        """Whether it is for such arguments."""
        return len(key) == len(self.key) and all(
            mine.covers(theirs) if type(mine) in (TensorKey, SpecKey) else mine == theirs
            for mine, theirs in zip(self.key, key, strict=True)
        )

    def ordered(self, leaves: Sequence[Any]) -> list[Tensor]:
        """The tensors among its arguments, in the order of its graph."""
        tensors = [x for x in leaves if isinstance(x, Tensor)]
        return tensors if self.order is None else [tensors[i] for i in self.order]

    def failing(self, tensors: Sequence[Tensor]) -> Guard | None:
        """The first of the answers about sizes it relies on that is another one for these tensors."""
        named = dict(enumerate(tensors))
        for comparison, a, b, answer in self._guards:
            guard = Guard(comparison, decoded_size(a, named), decoded_size(b, named), answer)
            if not assume(guard):
                return guard
        return None


class LoadedFunction(Function):
    """A `tf.function` without Python code: it has the traces that were saved, and there can be no others.

    Args:
      data: what `Functions.function` has made.
      graphs: the graphs of the model.
      variables: its variables.
      read: gives arrays by name.
      file: that of the model, for telling that it is damaged.
    """

    def __init__(
        self,
        data: dict[str, Any],
        graphs: list[Any],
        variables: Sequence[Variable],
        read: Read,
        file: Any,
    ) -> None:
        self._saved = [_Trace(trace, read) for trace in data["traces"]]
        self._graphs = graphs
        self._held = variables
        self._read = read
        self._file = file

        def run(*args: Any, **kwargs: Any) -> Any:
            return self._replayed(args, kwargs)

        run.__name__ = run.__qualname__ = str(data["name"])
        run.__signature__ = inspect.Signature(  # pyright: ignore[reportFunctionMemberAccess]
            [
                inspect.Parameter(
                    name,
                    _KINDS[kind],
                    default=inspect.Parameter.empty
                    if default is None
                    else decoded(default[0], read),
                )
                for name, kind, default in data["parameters"]
            ]
        )
        super().__init__(run, autograph=False)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self  # an attribute, and not a method

    def check(self, arguments: Sequence[Sequence[TensorSpec]]) -> None:
        """Whether the traces fit their graphs, of which `arguments` tells what they take. Damage if not."""
        for trace in self._saved:
            graph = self._graphs[index(trace.graph, len(arguments), "the graph of a trace")]
            trace.check(arguments[trace.graph], len(graph["outputs"]))

    @property
    def saved_signatures(self) -> list[tuple[Any, Any]]:
        """For each trace, the arguments it takes."""
        return [trace.takes for trace in self._saved]

    def trace_all(self) -> None:
        """Makes all traces, so that they can be saved again."""
        for args, kwargs in self.saved_signatures:
            self.get_concrete_function(*args, **kwargs)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for arguments of this kind. Without arguments, for the only kind there is."""
        if not args and not kwargs and len({trace.key for trace in self._saved}) == 1:
            args, kwargs = self._saved[0].takes
        return super().get_concrete_function(*args, **kwargs)

    def _found(self, args: Any, kwargs: Any) -> tuple[ConcreteFunction, list[Any]]:
        args, kwargs = self._as_tensors(*self.signature.bound(args, kwargs))
        return super()._found(args, kwargs)

    def _as_tensors(self, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Arguments with a tensor where a trace takes one, as for an input signature."""
        for trace in self._saved:
            try:
                return _fitted(trace.takes, (args, kwargs))
            except (ValueError, TypeError):
                continue
        return args, kwargs

    def _traces_for(self, key: Any) -> list[_Trace]:
        found = [trace for trace in self._saved if trace.covers(key)]
        if found:
            return found
        if not self._saved:
            raise ValueError(
                f"The function {self.name!r} had no trace when the model was saved, so that nothing is known of what "
                "it does. Call it before saving, or give it an input_signature."
            )
        options = "\n".join(
            f"  {i}. {_signature_text(trace.takes)}" for i, trace in enumerate(self._saved, 1)
        )
        raise ValueError(
            f"Could not find matching concrete function to call loaded from the SavedModel: {self.name!r} was saved "
            f"for these arguments:\n{options}\nGot: {key[1:]}. Without its Python code it cannot be traced for "
            "others: call it with such arguments before saving, or use a tf.TensorSpec with None for sizes that vary."
        )

    def _widened(self, key: Any) -> Any:
        return self._traces_for(key)[0].key

    def _fitting(self, key: Any, leaves: Sequence[Any]) -> _Trace:
        """The trace for such arguments whose guards hold for their sizes."""
        failed: list[Guard] = []
        for trace in self._traces_for(key):
            guard = trace.failing(trace.ordered(leaves))
            if guard is None:
                return trace
            failed.append(guard)
        tensors = [x for x in leaves if isinstance(x, Tensor)]
        shapes = [str([hint_of(d) for d in x._array.shape]) for x in tensors]
        raise TracingError(
            None,
            None,
            f"The function {self.name!r} was saved for sizes with {' or '.join(map(str, failed))} (n0_1 is dimension 1 "
            f"of argument 0, and so on), and got {', '.join(shapes)}. Without its Python code it cannot be traced for "
            "others: call it with such sizes before saving, so that there is a trace for them.",
        )

    def _replayed(self, args: Any, kwargs: Any) -> Any:
        """What the function does when it is traced: it calls the primitives of the graph."""
        leaves = flattened((args, kwargs))
        if context.tracer is None:  # functions are run eagerly
            concrete, leaves = self._found(args, kwargs)
            return concrete.call_leaves(leaves)
        trace = self._fitting((form_of((args, kwargs)), *keys_of(leaves)), leaves)
        data = self._graphs[trace.graph]
        tensors = trace.ordered(leaves)
        held = [self._held[number] for number in data["variables"]]
        constants = [Tensor(self._read(name)) for name in data["captured"]]
        with sound(self._file, UNTOLD):
            values = replay(data, [*tensors, *[v._read() for v in held], *constants], self._read)
        by_input = dict(zip([n for n, _, _ in data["inputs"]][len(tensors) :], held, strict=False))
        for number, new in data["assigned"]:
            by_input[number].assign(values[new])
        return _filled(trace.gives, results(data, values))


_KINDS = {
    kind.name: kind
    for kind in (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.VAR_POSITIONAL,
        inspect.Parameter.KEYWORD_ONLY,
        inspect.Parameter.VAR_KEYWORD,
    )
}


def _filled(structure: Any, tensors: Sequence[Any]) -> Any:
    """The structure of a result, with tensors in the place of their numbers."""
    if structure is None:
        return None
    return nest.map_structure(lambda i: None if i is None else _leaf(i, tensors), structure)


def _leaf(place: Any, tensors: Sequence[Any]) -> Any:
    if isinstance(place, Composed):
        parts = [_leaf(i, tensors) for i in place.numbers]
        return composed(place.spec, parts)
    if not isinstance(place, IndexedSlices):
        return tensors[index(place, len(tensors), "an output")]
    parts = (place._values, place._indices, place._dense_shape)
    return IndexedSlices(*[None if i is None else _leaf(i, tensors) for i in parts])


def _is_part(spec: TensorSpec, of: TensorSpec) -> bool:
    """Whether every tensor of a spec is one of another."""
    return spec.dtype is of.dtype and (
        spec.shape.rank is None
        or (
            spec.shape.rank == of.shape.rank
            and all(a == b or b is None for a, b in zip(spec.shape, of.shape, strict=True))
        )
    )


def _fitted(wanted: Any, value: Any) -> Any:
    """Arguments as a trace takes them. ValueError or TypeError if it does not."""
    if is_expandable(wanted):
        if not is_expandable(value) or not spec_of(value).is_subtype_of(wanted):
            raise ValueError
        return value
    if isinstance(wanted, TensorSpec):
        if not isinstance(value, TensorSpec):
            value = convert_to_tensor(value, dtype_hint=wanted.dtype)
        if not wanted.is_compatible_with(value):
            raise ValueError
        return value
    if isinstance(wanted, dict) and isinstance(value, dict) and wanted.keys() == value.keys():
        return {key: _fitted(part, value[key]) for key, part in wanted.items()}
    if isinstance(wanted, (list, tuple)) and isinstance(value, (list, tuple)):
        parts = [_fitted(a, b) for a, b in zip(wanted, value, strict=True)]
        return type(wanted)(*parts) if hasattr(wanted, "_fields") else type(wanted)(parts)
    if nest.is_nested(wanted) or key_of(wanted) != key_of(value):
        raise ValueError
    return value


def _signature_text(takes: tuple[Any, Any]) -> str:
    args, kwargs = takes
    return ", ".join([*map(repr, args), *[f"{k}={v!r}" for k, v in kwargs.items()]]) or "nothing"
