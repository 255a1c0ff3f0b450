"""Loading SavedModels that TensorFlow wrote: `saved_model.pb`, and a checkpoint with the values of the variables.

The objects of the file become objects here, and its functions `tf.function`s that run its graphs
(`tensorflow_files/running.py`).
"""

from __future__ import annotations

import inspect
import os
from collections import deque
from collections.abc import Sequence
from typing import Any

from tapeflow._src.core.convert import constant
from tapeflow._src.core.errors import DataLossError, UnimplementedError
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.system.files import checked_path, translating_os_errors
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.saved_model.assets import Asset, is_inside
from tapeflow._src.saved_model.damage import UNTOLD
from tapeflow._src.saved_model.objects import LoadedModule, SignatureMap
from tapeflow._src.saved_model.options import ASSETS_DIRECTORY, SAVED_MODEL_FILENAME_PB
from tapeflow._src.saved_model.restored import RestoredFunction, SavedTrace
from tapeflow._src.tensorflow_files import objects, special_ops, structures
from tapeflow._src.tensorflow_files.bundle import OBJECT_GRAPH_KEY, Bundle
from tapeflow._src.tensorflow_files.graph_schemas import SAVED_MODEL
from tapeflow._src.tensorflow_files.graphs import Library, attribute
from tapeflow._src.tensorflow_files.messages import Damage, Record
from tapeflow._src.tensorflow_files.running import Runner

_LARGEST = 2**31  # bytes, as many as a message may have
_WRONG = (Damage, *UNTOLD)


class TensorFlowObject(LoadedModule):
    """An object from a SavedModel of TensorFlow's: what it contains are its attributes."""

    @property
    def variables(self) -> Any:
        """Its attribute of this name, if it has one, or all variables inside."""
        return vars(self).get("variables", super().variables)

    @property
    def trainable_variables(self) -> Any:
        """The same of those that are trained."""
        return vars(self).get("trainable_variables", super().trainable_variables)

    @property
    def non_trainable_variables(self) -> Any:
        """The same of the others."""
        return vars(self).get("non_trainable_variables", super().non_trainable_variables)


def load(folder: str, tags: Any = None) -> Any:
    """Loads a SavedModel that TensorFlow wrote.

    Args:
      folder: of the model.
      tags: of the graph to load; by default the only one.

    Raises:
      DataLossError: if it is damaged.
    """
    path = os.path.join(folder, SAVED_MODEL_FILENAME_PB)
    with translating_os_errors(path), open(checked_path(path), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > _LARGEST:
            raise _refused(path, f"it has {size} bytes, more than any such file")
        data = file.read()
    try:
        graph = _chosen(SAVED_MODEL.decoded(data).meta_graphs, tags)
        return _Loader(folder, graph).root()
    except _WRONG as error:
        raise _refused(path, _reason(error)) from error


def _refused(path: str, reason: str) -> DataLossError:
    return DataLossError(
        None,
        None,
        f"{path} cannot be used: {reason[:500]}. Copy the folder again if it was copied, or export the model again.",
    )


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, Damage) else f"{type(error).__name__}: {error}"


def _chosen(graphs: Sequence[Record], tags: Any) -> Record:
    if not graphs:
        raise Damage("it holds no graph")
    if tags is None:
        if len(graphs) > 1:
            told = [sorted(g.meta_info_def.tags) for g in graphs]
            raise ValueError(
                f"tf.saved_model.load: there are several graphs, with the tags {told}. Give the tags of one."
            )
        return graphs[0]
    wanted = {tags} if isinstance(tags, str) else set(tags)
    for graph in graphs:
        if set(graph.meta_info_def.tags) == wanted:
            return graph
    raise ValueError(
        f"tf.saved_model.load: there is no graph with the tags {sorted(wanted)}. There is one with "
        f"{sorted(graphs[0].meta_info_def.tags)}."
    )


class _Loader:
    def __init__(self, folder: str, graph: Record) -> None:
        self._folder = folder
        self._path = os.path.join(folder, SAVED_MODEL_FILENAME_PB)
        self._graph = graph
        self._objects = graph.object_graph_def.nodes
        self._concrete = graph.object_graph_def.concrete_functions
        if not self._objects:
            raise UnimplementedError(
                None,
                None,
                f"{self._path} was written by TensorFlow 1, without objects. Load it there, and save it with "
                "tf.saved_model.save.",
            )
        library = graph.graph_def.library.function
        self._library = Library(library)
        self._runner = Runner(self._library, folder)
        self._constants = {n.name: n for n in graph.graph_def.node if n.op == "Const"}
        self._made: dict[int, Any] = {}

    def root(self) -> Any:
        """The object that was saved, with everything inside."""
        for node in self._objects:
            for child in node.children:
                if not 0 <= child.node_id < len(self._objects):
                    raise Damage("an object contains one that is not there")
        self._library.check(n for n in self._concrete if n in self._library)
        values = self._values()
        for number, node in enumerate(self._objects):
            if "variable" in node:
                self._made[number] = _variable(number, node.variable, values)
        for number in range(len(self._objects)):
            self._object(number, ())
        for number, node in enumerate(self._objects):
            self._fill(number, node)
        return self._made[0]

    # The values of variables.

    def _values(self) -> dict[int, Any]:
        """By the number of the object what gives the value of a variable.

        The checkpoint has objects of its own, with other numbers: the two are matched by the names of their children.
        """
        prefix = os.path.join(self._folder, "variables", "variables")
        if not any("variable" in node for node in self._objects):
            return {}
        bundle = Bundle(prefix)
        if OBJECT_GRAPH_KEY not in bundle.entries:
            raise Damage("its checkpoint has no objects")
        graph: Any = bundle.read(OBJECT_GRAPH_KEY)
        saved = objects.decoded(graph[()])
        found: dict[int, Any] = {}
        seen: set[tuple[int, int]] = {(0, 0)}
        waiting = deque(seen)
        while waiting:
            here, there = waiting.popleft()
            key = saved[there].values.get("VARIABLE_VALUE")
            if key is not None and here not in found:
                found[here] = (bundle, key)
            for child in self._objects[here].children:
                inner = saved[there].children.get(child.local_name)
                if inner is not None and (child.node_id, inner) not in seen:
                    seen.add((child.node_id, inner))
                    waiting.append((child.node_id, inner))
        return found

    # Objects.

    def _object(self, number: int, around: tuple[int, ...]) -> Any:
        """An object. What it contains is put in later, because one may contain another that contains it."""
        if number in self._made:
            return self._made[number]
        if number in around or len(around) > 100:
            raise Damage("an object is inside of itself, or nested too deeply")
        node = self._objects[number]
        kind = node.user_object.identifier if "user_object" in node else ""
        if kind == "trackable_tuple_wrapper":
            inside = sorted(node.children, key=lambda c: _place(c.local_name))
            made: Any = tuple([self._object(c.node_id, (*around, number)) for c in inside])
        elif "function" in node:
            made = self._function(node.function)
        elif "bare_concrete_function" in node:
            made = self._signature(node.bare_concrete_function)
        elif "constant" in node:
            made = self._constant(node.constant.operation)
        elif "asset" in node:
            made = self._asset(node.asset.asset_file_def_index)
        elif "resource" in node:
            made = special_ops.Resource()
        else:
            made = _CONTAINERS.get(kind, TensorFlowObject)()
        self._made[number] = made
        return made

    def _fill(self, number: int, node: Record) -> None:
        made = self._made[number]
        inside = {c.local_name: self._made[c.node_id] for c in node.children}
        if type(made) is list:
            made += [inside[name] for name in sorted(inside, key=_place)]
        elif type(made) is dict:
            made.update(inside)
        elif isinstance(made, special_ops.Resource):
            self._create(made, inside)
        elif isinstance(made, TensorFlowObject):
            if node.user_object.identifier == "signature_map":
                return
            signatures = [c.node_id for c in node.children if c.local_name == "signatures"]
            if signatures:
                inside["signatures"] = self._signatures(signatures[0])
            vars(made).update({k: v for k, v in inside.items() if k != "_expecting"})
        if isinstance(made, LoadedModule) and not number and "signatures" not in inside:
            vars(made)["signatures"] = SignatureMap({})

    def _signatures(self, number: int) -> SignatureMap:
        named = {c.local_name: self._made[c.node_id] for c in self._objects[number].children}
        return SignatureMap({k: v for k, v in named.items() if isinstance(v, RestoredFunction)})

    def _constant(self, name: str) -> Tensor:
        if name not in self._constants or "value" not in self._constants[name].attr:
            raise Damage(f"there is no constant {name!r}")
        return constant(attribute(self._constants[name].attr["value"]))

    def _asset(self, number: int) -> Asset:
        files = self._graph.asset_file_def
        if not 0 <= number < len(files):
            raise Damage("it names an asset that is not there")
        name = files[number].filename
        if not is_inside(name):
            raise Damage(f"an asset is outside of the folder: {name!r}")
        return Asset(os.path.join(self._folder, ASSETS_DIRECTORY, name))

    def _create(self, resource: special_ops.Resource, inside: dict[str, Any]) -> None:
        """Has a table made and filled, by the functions that it was saved with."""
        create, initialize = inside.get("_create_resource"), inside.get("_initialize")
        if not isinstance(create, GraphOfTensorFlow) or not create.saved_signatures:
            return
        resource.create = create.run_first
        if isinstance(initialize, GraphOfTensorFlow) and initialize.saved_signatures:
            resource.initialize = initialize.run_first

    # Functions.

    def _trace(self, name: str) -> SavedTrace:
        if name not in self._concrete:
            raise Damage(f"it does not say what the function {name!r} takes")
        said = self._concrete[name]
        takes = structures.decoded(said.canonicalized_input_signature)
        gives = _numbered(structures.decoded(said.output_signature))
        if (
            not isinstance(takes, tuple)
            or len(takes) != 2
            or not isinstance(takes[0], tuple)
            or not isinstance(takes[1], dict)
        ):
            raise Damage(f"the function {name!r} takes {str(takes)[:100]}")
        if any(not 0 <= n < len(self._objects) for n in said.bound_inputs):
            raise Damage(f"the function {name!r} uses an object that is not there")
        return SavedTrace(takes, gives, (name, tuple(said.bound_inputs)))

    def _function(self, said: Record) -> GraphOfTensorFlow:
        names = said.concrete_functions
        spec = structures.decoded(said.function_spec.fullargspec)
        traces, refused = [], None
        for name in names:
            try:
                traces.append(self._trace(name))
            except UnimplementedError as error:
                refused = error
        if refused is not None and not traces:
            traces.append(refused)
        name = names[0] if names else "function"
        parameters = _parameters(spec, said.function_spec.is_method)
        return GraphOfTensorFlow(_short(name), parameters, traces, self)

    def _signature(self, said: Record) -> GraphOfTensorFlow:
        name = said.concrete_function_name
        trace = self._trace(name)
        args, kwargs = trace.takes
        names = [*said.argument_keywords]
        if not args and set(names) == set(kwargs):  # of one argument the name is not needed
            parameters = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in names]
            if len(names) == 1:
                trace = SavedTrace(((kwargs[names[0]],), {}), trace.gives, trace.graph)
                kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
                parameters = [inspect.Parameter(names[0], kind)]
        else:
            kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
            parameters = [inspect.Parameter(n, kind) for n in names]
        return GraphOfTensorFlow(_short(name), parameters, [trace], self)

    def run(self, graph: tuple[str, tuple[int, ...]], tensors: Sequence[Tensor]) -> list[Any]:
        """The outputs of a function's graph, for tensors and for what it has captured."""
        name, bound = graph
        captured = []
        for number in bound:
            value = self._made[number]
            if isinstance(value, Asset):
                value = value.asset_path
            captured.append(value.made() if isinstance(value, special_ops.Resource) else value)
        try:
            return self._runner.call(name, [*tensors, *captured])
        except _WRONG as error:
            raise _refused(self._path, _reason(error)) from error


class GraphOfTensorFlow(RestoredFunction):
    """A function of a SavedModel of TensorFlow's."""

    def __init__(
        self,
        name: str,
        parameters: Sequence[inspect.Parameter],
        traces: Sequence[Any],
        loader: _Loader,
    ) -> None:
        refused = [t for t in traces if isinstance(t, UnimplementedError)]
        self._refusal = refused[0] if refused else None
        self._loader = loader
        super().__init__(name, parameters, [t for t in traces if isinstance(t, SavedTrace)])

    def _found(self, args: Any, kwargs: Any, named: bool = False) -> Any:
        if self._refusal is not None:
            raise self._refusal
        return super()._found(args, kwargs, named)

    def _run(self, trace: SavedTrace, tensors: list[Tensor]) -> Sequence[Tensor]:
        return self._loader.run(trace.graph, tensors)

    def run_first(self, *inputs: Any) -> list[Any]:
        """The outputs of the first trace, as they are: they may be no tensors."""
        return self._loader.run(self._saved[0].graph, inputs)


_CONTAINERS: dict[str, Any] = {
    "trackable_list_wrapper": list,
    "trackable_dict_wrapper": dict,
}


def _variable(number: int, said: Record, values: dict[int, Any]) -> Variable:
    if number not in values:
        raise Damage(f"the variable {said.name!r} has no value")
    bundle, key = values[number]
    entry = bundle.entries.get(key)
    spec = TensorSpec(structures.shape_of(said.shape), structures.dtype_of(said.dtype))
    if entry is None or entry.dtype is not spec.dtype:
        raise Damage(f"the variable {said.name!r} has a value of another dtype")
    if not spec.shape.is_compatible_with(entry.shape):
        raise Damage(f"the variable {said.name!r} has a value of shape {list(entry.shape)}")
    value = Tensor(bundle.read(key))
    return Variable(value, trainable=said.trainable, name=said.name or None, shape=spec.shape)


def _place(name: str) -> int:
    if not name.isdecimal() or len(name) > 9:
        raise Damage(f"an element of a list is called {name[:50]!r}")
    return int(name)


def _short(name: str) -> str:
    """The name of a Python function: the graph's begins with what it is for, and ends with a number."""
    inner = name.removeprefix("__inference_").rstrip("0123456789").rstrip("_")
    return inner or name


def _numbered(structure: Any) -> Any:
    """A structure with the numbers of its tensors in their places."""
    count = 0

    def number(value: Any) -> Any:
        nonlocal count
        if isinstance(value, (TensorSpec, structures.HandleSpec)):
            count += 1
            return count - 1
        if isinstance(value, dict):
            return {key: number(value[key]) for key in sorted(value)}
        if isinstance(value, (list, tuple)):
            parts = [number(each) for each in value]
            return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        if value is None:
            return None
        raise Damage(f"a function returns {str(value)[:100]}")

    return number(structure)


def _parameters(spec: Any, is_method: bool) -> list[inspect.Parameter]:
    """The parameters of the Python function that a graph was made of."""
    if spec is None:
        return [
            inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL),
            inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD),
        ]
    names, defaults = list(spec.args or ()), list(spec.defaults or ())
    kinds = inspect.Parameter
    with_defaults = dict(zip(reversed(names), reversed(defaults), strict=False))
    found = [
        kinds(n, kinds.POSITIONAL_OR_KEYWORD, default=with_defaults.get(n, kinds.empty))
        for n in names
    ]
    if is_method and found:
        found = found[1:]
    if spec.varargs:
        found.append(kinds(spec.varargs, kinds.VAR_POSITIONAL))
    for name in spec.kwonlyargs or ():
        default = (spec.kwonlydefaults or {}).get(name, kinds.empty)
        found.append(kinds(name, kinds.KEYWORD_ONLY, default=default))
    if spec.varkw:
        found.append(kinds(spec.varkw, kinds.VAR_KEYWORD))
    return found
