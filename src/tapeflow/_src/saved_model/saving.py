"""`tf.saved_model.save`: objects with their variables and traced functions, in a form that runs without their code."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from typing import Any

from tapeflow._src.core.export import export
from tapeflow._src.core.module import Module
from tapeflow._src.core.system.files import remove_leftovers
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.core.versions import __version__
from tapeflow._src.function.concrete import ConcreteFunction
from tapeflow._src.function.function import Function
from tapeflow._src.function.unknown_ranks import RankFreeFunction
from tapeflow._src.saved_model import assets
from tapeflow._src.saved_model.encoding import Arrays
from tapeflow._src.saved_model.functions import Functions
from tapeflow._src.saved_model.options import FILE, SAVED_MODEL_FILENAME_PB
from tapeflow._src.saved_model.restored import RestoredFunction
from tapeflow._src.train import tensor_file
from tapeflow._src.train.formats import SAFETENSORS, TENSORFLOW
from tapeflow._src.train.object_graph import is_tracked, variable_of, walk
from tapeflow._src.train.saving import snapshot

DEFAULT = "serving_default"
VERSION = 2


@export("saved_model.save")
def save(obj: Any, export_dir: Any, signatures: Any = None, options: Any = None) -> None:
    """Saves an object with its variables and its `tf.function`s, to be loaded without its Python code.

    The functions are saved as they were traced: for the input signatures they have, and the kinds of arguments they
    were called with. Nothing in the file is ever executed as code.

    >>> import tempfile
    >>> class Scale(tf.Module):
    ...     def __init__(self):
    ...         self.factor = tf.Variable(2.0)
    ...     @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    ...     def __call__(self, x):
    ...         return self.factor * x
    >>> folder = tempfile.mkdtemp()
    >>> tf.saved_model.save(Scale(), folder)
    >>> loaded = tf.saved_model.load(folder)
    >>> loaded(tf.constant([1.0, 2.0, 3.0])).numpy()
    array([2., 4., 6.], dtype=float32)
    >>> loaded.signatures["serving_default"](x=tf.constant([1.0]))["output_0"].numpy()
    array([2.], dtype=float32)

    Args:
      obj: a `tf.Module`, or another object with variables.
      export_dir: the folder, which is made if it is not there.
      signatures: what to serve: a function with an input signature or a concrete one, or a dictionary of these by name.
        By default the only function of the object that has an input signature, or the call of a Keras model.
      options: among them the format of the files.
    """
    if not is_tracked(obj) or isinstance(obj, Variable):
        raise ValueError(
            "tf.saved_model.save: expected an object with variables or functions such as a tf.Module, got "
            f"{obj!r}."
        )
    if getattr(options, "format", SAFETENSORS) == TENSORFLOW:
        _save_for_tensorflow(obj, os.fspath(export_dir), signatures)
        return
    variables: dict[int, int] = {}
    held: list[Variable] = []

    def number(variable: Variable) -> int:
        variable = variable._whole  # of copies for replicas, one is saved
        if id(variable) not in variables:
            variables[id(variable)] = len(held)
            held.append(variable)
        return variables[id(variable)]

    arrays = Arrays()
    custom_gradients = getattr(options, "experimental_custom_gradients", True)
    functions = Functions(arrays, number, custom_gradients)
    found = list(walk(obj))
    owned = [_functions_of(each.value) for each, _ in found]
    signed = _served(obj, signatures, owned[0])
    held_files = [each.value for each, _ in found if isinstance(each.value, assets.Asset)]
    files = assets.named(held_files)
    objects = [
        _object(each.value, children, own, functions, number)
        for (each, children), own in zip(found, owned, strict=True)
    ]
    served: dict[str, Any] = {}
    for name, concrete in signed.items():
        # What was not asked for is left out where it is not possible.
        with contextlib.suppress(ValueError) if signatures is None else contextlib.nullcontext():
            served[name] = functions.signature(name, _for_each_rank(concrete))
    description = {
        "version": VERSION,
        "tapeflow": __version__,
        "objects": objects,
        "signatures": served,
        "graphs": functions.graphs,
        "variables": [_variable(v) for v in held],
    }
    if files:  # and which constants of the graphs are their paths
        description["assets"] = {
            arrays.add(each._path._array): _file_name(each, files) for each in held_files
        }
        assets.copy(files, os.fspath(export_dir))
    tensors = {f"variables/{i}": snapshot(v)._array for i, v in enumerate(held)}
    path = os.path.join(os.fspath(export_dir), FILE)
    remove_leftovers(path)
    tensor_file.write(path, {**tensors, **arrays.named}, {"saved_model": json.dumps(description)})
    # TensorFlow would go on reading the model that was here before.
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(os.fspath(export_dir), SAVED_MODEL_FILENAME_PB))


def _save_for_tensorflow(obj: Any, folder: str, signatures: Any) -> None:
    from tapeflow._src.saved_model import tensorflow_saving

    owned = [_functions_of(each.value) for each, _ in walk(obj)]
    signed = _of_known_rank(_served(obj, signatures, owned[0]), signatures)
    tensorflow_saving.save(obj, folder, owned, signed, strict=signatures is not None)
    # Where the folder was written to as it is: a model in the other format would be read in the place of this one.
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(folder, FILE))


def export_concrete(
    functions: ConcreteFunction | Mapping[str, ConcreteFunction],
    export_dir: Any,
    signatures: Mapping[str, ConcreteFunction] | None = None,
) -> None:
    """Saves traced functions by themselves, with the variables that they use.

    Loaded, they are attributes of these names; a single one is `serve`, and the default signature.
    """
    named = {"serve": functions} if isinstance(functions, ConcreteFunction) else dict(functions)
    if signatures is None:
        signatures = {DEFAULT: next(iter(named.values()))} if len(named) == 1 else {}
    root = Module(name="exported")
    for name, concrete in named.items():
        setattr(root, name, concrete)
    unique = {id(v): v for concrete in named.values() for v in concrete.variables}
    root._variables = list(unique.values())
    save(root, export_dir, signatures)


def _functions_of(obj: Any) -> dict[str, Any]:
    """The `tf.function`s of an object: its attributes, and methods of its class."""
    if isinstance(obj, (list, tuple, dict)) or variable_of(obj) is not None:
        return {}
    kinds = (Function, ConcreteFunction)
    names = [
        name for kind in type(obj).__mro__ for name, x in vars(kind).items() if isinstance(x, kinds)
    ]
    names += [name for name, x in getattr(obj, "__dict__", {}).items() if isinstance(x, kinds)]
    found = {name: getattr(obj, name) for name in dict.fromkeys(names)}
    for function in found.values():
        if isinstance(function, RestoredFunction):
            _ = function.concrete_functions  # all of them, also those that nobody has called
        elif isinstance(function, Function):
            if function.input_signature is not None:
                function.get_concrete_function()
            for structure in function._unknown_ranks.values():
                RankFreeFunction(function, structure).trace_ranks()
    return found


def _served(obj: Any, given: Any, own: dict[str, Any]) -> dict[str, ConcreteFunction]:
    """The traced functions to serve, by name."""
    signed = _signatures(given, own)
    if given is None and not signed and hasattr(obj, "_served_by_default"):  # a Keras model
        concrete = obj._served_by_default()
        signed = {} if concrete is None else {DEFAULT: concrete}
    return signed


def _for_each_rank(concrete: Any) -> list[ConcreteFunction]:
    """The traces that a signature has: one, unless its tensors may be of any rank."""
    return concrete.trace_ranks() if isinstance(concrete, RankFreeFunction) else [concrete]


def _of_known_rank(signed: dict[str, Any], given: Any) -> dict[str, ConcreteFunction]:
    """The signatures for TensorFlow's format, where each is one trace."""
    for name, function in signed.items():
        if given is not None and isinstance(function, RankFreeFunction):
            raise ValueError(
                f"tf.saved_model.save: the signature {name!r} takes a tensor of unknown rank, got "
                f"{function.structured_input_signature}. In TensorFlow's format, say the rank: "
                "tf.TensorSpec([None, None], dtype)."
            )
    return {n: f for n, f in signed.items() if isinstance(f, ConcreteFunction)}


def _signatures(given: Any, own: dict[str, Any]) -> dict[str, ConcreteFunction]:
    if given is None:
        signed = [
            f for f in own.values() if isinstance(f, Function) and f.input_signature is not None
        ]
        return {DEFAULT: signed[0].get_concrete_function()} if len(signed) == 1 else {}
    if not isinstance(given, Mapping):
        given = {DEFAULT: given}
    found = {}
    for name, function in given.items():
        if isinstance(function, Function) and (
            function.input_signature is not None or isinstance(function, RestoredFunction)
        ):
            function = function.get_concrete_function()
        if not isinstance(function, (ConcreteFunction, RankFreeFunction)):
            raise ValueError(
                f"Expected a TensorFlow function for which to generate a signature, but got {function!r}. Only "
                "`tf.functions` with an input signature or concrete functions can be used as a signature: pass "
                "f.get_concrete_function(tf.TensorSpec(...))."
            )
        found[str(name)] = function
    return found


def _object(
    value: Any, children: dict[str, int], own: dict[str, Any], functions: Functions, number: Any
) -> dict[str, Any]:
    variable = variable_of(value)
    if variable is not None:
        return {"kind": "variable", "number": number(variable)}
    if isinstance(value, assets.Asset):
        return {"kind": "asset", "path": functions.arrays.add(value._path._array)}
    kind = next(
        (k for k in ("list", "tuple", "dict") if isinstance(value, _CONTAINERS[k])), "object"
    )
    data: dict[str, Any] = {"kind": kind, "children": children}
    if own:
        data["functions"] = {
            name: functions.function(name, f)
            if isinstance(f, Function)
            else _single(name, f, functions)
            for name, f in own.items()
        }
    return data


def _file_name(asset: assets.Asset, files: Mapping[str, str]) -> str:
    return next(name for name, path in files.items() if path == assets.source(asset))


_CONTAINERS = {"list": list, "tuple": tuple, "dict": dict}


def _single(name: str, concrete: ConcreteFunction, functions: Functions) -> dict[str, Any]:
    parameters = [
        [p.name, p.kind.name, None] for p in concrete._signature.parameters.parameters.values()
    ]
    return {
        "name": concrete.name,
        "parameters": parameters,
        "traces": functions.traces(name, concrete),
    }


def _variable(variable: Variable) -> dict[str, Any]:
    dims = variable.shape._dims
    return {
        "name": variable._name,
        "trainable": variable.trainable,
        "shape": None if dims is None else list(dims),
    }
