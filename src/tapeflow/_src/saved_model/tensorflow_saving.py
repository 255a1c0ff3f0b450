"""Saving a model as a SavedModel that TensorFlow loads.

The objects, with their functions and signatures, are in `saved_model.pb`, the values of the variables in a checkpoint
beside it. Besides the objects there is a graph as older programs and servers want it: a node for each variable, for
each input of a signature, for its call, and for restoring.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import string
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.system.files import replacing
from tapeflow._src.core.system.folders import replacing_folder
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.io.tensor_proto import tensor_proto
from tapeflow._src.saved_model import assets
from tapeflow._src.saved_model.options import (
    FILE,
    PREDICT_METHOD_NAME,
    SAVED_MODEL_FILENAME_PB,
    SERVING,
    VARIABLES_DIRECTORY,
    VARIABLES_FILENAME,
)
from tapeflow._src.saved_model.tensorflow_functions import FunctionsOfTensorFlow, Signature
from tapeflow._src.tensorflow_files import bundle_writing, objects, structures
from tapeflow._src.tensorflow_files.bundle import OBJECT_GRAPH_KEY
from tapeflow._src.tensorflow_files.graph_schemas import SAVED_MODEL
from tapeflow._src.tensorflow_files.graph_writing import (
    RESOURCE,
    function_attribute,
    shape_attribute,
    types_attribute,
)
from tapeflow._src.train.object_graph import VARIABLE, key_of, variable_of, walk
from tapeflow._src.train.saving import snapshot

_PARTS = (SAVED_MODEL_FILENAME_PB, VARIABLES_DIRECTORY, "fingerprint.pb", "assets", FILE)
_VERSION = {"producer": 1, "min_consumer": 1}
_PRODUCER = 1395  # the version of graphs of TensorFlow 2.11, which later ones read
_CONTAINERS = {
    list: "trackable_list_wrapper",
    tuple: "trackable_tuple_wrapper",
    dict: "trackable_dict_wrapper",
}
_LISTS = {
    "variables": (True, False),
    "trainable_variables": (True,),
    "non_trainable_variables": (False,),
}


class _Objects:
    """The objects of a SavedModel, as the fields of messages."""

    def __init__(self, root: Any) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.paths: list[tuple[str, ...]] = []
        self.variables: dict[
            int, tuple[int, Variable]
        ] = {}  # by identity: the number of its object
        self.values: list[Any] = []
        self.assets: dict[int, assets.Asset] = {}  # by the numbers of their objects
        for found, named in walk(root):
            self.values.append(found.value)
            variable = variable_of(found.value)
            if isinstance(found.value, assets.Asset):
                index = len(self.assets)
                self.assets[found.number] = found.value
                fields: dict[str, Any] = {"asset": {"asset_file_def_index": index}}
            else:
                fields = _variable(variable) if variable is not None else _user_object(found.value)
            self.nodes.append({"children": [_reference(k, n) for k, n in named.items()], **fields})
            self.paths.append(found.path)
            if variable is not None:
                self.variables[id(variable._whole)] = (found.number, variable._whole)
        self._others: int | None = None

    def add(self, owner: int, name: str, fields: dict[str, Any]) -> int:
        """Adds an object inside of another. Gives its number."""
        number = len(self.nodes)
        self.nodes.append({"children": [], **fields})
        self.paths.append((*self.paths[owner], name))
        self.nodes[owner]["children"].append(_reference(name, number))
        return number

    def of_variable(self, variable: Variable) -> int:
        """The number of a variable. One that only functions know becomes part of a list."""
        variable = variable._whole
        if id(variable) not in self.variables:
            if self._others is None:
                fields = {"user_object": {"identifier": _CONTAINERS[list], "version": _VERSION}}
                self._others = self.add(0, "_other_variables", fields)
            place = str(len(self.nodes[self._others]["children"]))
            number = self.add(self._others, place, _variable(variable))
            self.variables[id(variable)] = (number, variable)
        return self.variables[id(variable)][0]

    def add_lists(self) -> None:
        """Gives the first object lists of its variables, by which what is loaded can be trained, as Keras does."""
        there = {child["local_name"] for child in self.nodes[0]["children"]}
        for name, wanted in _LISTS.items():
            if name not in there:
                fields = {"user_object": {"identifier": _CONTAINERS[list], "version": _VERSION}}
                place = self.add(0, name, fields)
                held = [n for n, v in self.variables.values() if v.trainable in wanted]
                children = [_reference(str(i), n) for i, n in enumerate(held)]
                self.nodes[place]["children"] = children

    def write_values(self, prefix: str) -> None:
        """Writes the values of all variables as a checkpoint with the same objects."""
        held = dict(self.variables.values())
        tensors: dict[str, Any] = {}
        saved, names = [], []
        for number, (node, path) in enumerate(zip(self.nodes, self.paths, strict=True)):
            values = {}
            if number in held:
                values[VARIABLE] = key_of(path, VARIABLE)
                tensors[values[VARIABLE]] = snapshot(held[number])._array
            inside = {child["local_name"]: child["node_id"] or 0 for child in node["children"]}
            saved.append(objects.Object(inside, values, path))
            names.append(held[number]._name if number in held else "")
        graph = np.empty((), object)
        graph[()] = objects.encoded(saved, names)
        bundle_writing.write(prefix, {**tensors, OBJECT_GRAPH_KEY: graph})


def _reference(name: str, number: int) -> dict[str, Any]:
    return {"node_id": number or None, "local_name": name}


def _user_object(value: Any) -> dict[str, Any]:
    kinds = [name for kind, name in _CONTAINERS.items() if isinstance(value, kind)]
    identifier = kinds[0] if kinds else "_generic_user_object"
    return {"user_object": {"identifier": identifier, "version": _VERSION}}


def _variable(variable: Variable) -> dict[str, Any]:
    said = {
        "dtype": variable.dtype.as_datatype_enum,
        "shape": structures.shape_message(variable.shape),
        "trainable": variable.trainable,
        "name": variable._name,
    }
    return {"variable": said}


def save(
    root: Any,
    folder: str,
    owned: Sequence[Mapping[str, Any]],
    signed: Mapping[str, Any],
    strict: bool,
) -> None:
    """Saves objects.

    Args:
      root: what to save.
      folder: where to.
      owned: for each object, in the order in which they are found, its functions by name.
      signed: traced functions to serve, by name.
      strict: whether a signature that cannot be served is an error.
    """
    found = _Objects(root)
    paths = {id(asset._path): number for number, asset in found.assets.items()}
    functions = FunctionsOfTensorFlow(found.of_variable, paths)
    files = assets.named(list(found.assets.values()))
    names = {path: name for name, path in files.items()}
    for number, own in enumerate(owned):
        for name, function in own.items():
            found.add(number, name, {"function": functions.function(name, function)})
    signatures: dict[str, Signature] = {}
    for name, concrete in signed.items():
        with contextlib.nullcontext() if strict else contextlib.suppress(ValueError):
            signatures[name] = functions.signature(name, concrete)
    fields = {"user_object": {"identifier": "signature_map", "version": _VERSION}}
    place = found.add(0, "signatures", fields)
    for name, signature in signatures.items():
        bare = {
            "concrete_function_name": signature.function,
            "argument_keywords": list(signature.inputs),
            "allowed_positional_arguments": 1 if len(signature.inputs) == 1 else None,
        }
        found.add(place, name, {"bare_concrete_function": bare})
    found.add_lists()
    graph = _Graph(found, signatures)
    meta_graph = {
        "meta_info_def": {"tags": [SERVING], "tensorflow_version": "2.21.0"},
        "graph_def": {
            "node": graph.nodes,
            "library": {"function": functions.library},
            "versions": {"producer": _PRODUCER},
        },
        "saver_def": {
            "filename_tensor_name": "saver_filename:0",
            "save_tensor_name": "save_done:0",
            "restore_op_name": "restore_all",
            "version": 2,
        },
        "signature_def": graph.signatures,
        "asset_file_def": [
            {"tensor_info": {"name": f"{node}:0", "dtype": 7}, "filename": names[path]}
            for node, path in graph.assets.values()
        ],
        "object_graph_def": {"nodes": found.nodes, "concrete_functions": functions.concrete},
    }
    data = SAVED_MODEL.encoded({"saved_model_schema_version": 1, "meta_graphs": [meta_graph]})
    with replacing_folder(folder, _PARTS, SAVED_MODEL_FILENAME_PB) as new:
        assets.copy(files, new)
        found.write_values(os.path.join(new, VARIABLES_DIRECTORY, VARIABLES_FILENAME))
        with replacing(os.path.join(new, SAVED_MODEL_FILENAME_PB)) as file:
            file.write(data)


class _Graph:
    """The graph of a model, outside of its functions."""

    def __init__(self, found: _Objects, signatures: Mapping[str, Signature]) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.signatures: dict[str, dict[str, Any]] = {}
        self._handles: dict[int, str] = {}
        self._dtypes: list[int] = []
        self._keys: list[str] = []
        for number, variable in sorted(found.variables.values(), key=lambda pair: pair[0]):
            name = f"variable_{number}"
            attrs = {
                "dtype": {"type": variable.dtype.as_datatype_enum},
                "shape": shape_attribute(variable.shape),
                "shared_name": {"s": name.encode()},
            }
            self._node(name, "VarHandleOp", [], attrs)
            self._handles[number] = name
            self._dtypes.append(variable.dtype.as_datatype_enum)
            self._keys.append(key_of(found.paths[number], VARIABLE))
        self.assets: dict[int, tuple[str, str]] = {}  # of each its node, and the path
        for number, asset in found.assets.items():
            name, path = f"asset_path_{number}", assets.source(asset)
            value = {"tensor": tensor_proto(np.array(path.encode(), object))}
            self._node(name, "Const", [], {"dtype": {"type": 7}, "value": value})
            self.assets[number] = (name, path)
        for name, signature in signatures.items():
            self.signatures[name] = self._served(name, signature)
        self._saver()

    def _node(self, name: str, op: str, inputs: list[str], attrs: dict[str, Any]) -> None:
        self.nodes.append({"name": name, "op": op, "input": inputs, "attr": attrs})

    def _served(self, name: str, signature: Signature) -> dict[str, Any]:
        call = f"call_{name}"
        inputs = []
        for key, spec in signature.inputs.items():
            inputs.append(f"{name}_{key}")
            dtype = {"type": spec.dtype.as_datatype_enum}
            attrs = {"dtype": dtype, "shape": shape_attribute(spec.shape)}
            self._node(inputs[-1], "Placeholder", [], attrs)
        kinds = [spec.dtype for spec in signature.inputs.values()]
        attrs = {
            "f": function_attribute(signature.function),
            "Tin": types_attribute(
                [*kinds, *[string if n in self.assets else RESOURCE for n in signature.variables]]
            ),
            "Tout": types_attribute([spec.dtype for spec in signature.outputs.values()]),
        }
        nodes = {**self._handles, **{number: node for number, (node, _) in self.assets.items()}}
        handles = [nodes[number] for number in signature.variables]
        self._node(call, "StatefulPartitionedCall", [*inputs, *handles], attrs)
        pairs = zip(signature.inputs.items(), inputs, strict=True)
        return {
            "inputs": {key: _tensor_info(f"{node}:0", spec) for (key, spec), node in pairs},
            "outputs": {
                key: _tensor_info(f"{call}:{i}", spec)
                for i, (key, spec) in enumerate(signature.outputs.items())
            },
            "method_name": PREDICT_METHOD_NAME,
        }

    def _saver(self) -> None:
        """Nodes that restore the variables, and save them."""
        text = {"type": 7}
        self._node("saver_filename", "Placeholder", [], {"dtype": text, "shape": {"shape": {}}})
        for name, values in (("saver_names", self._keys), ("saver_slices", [""] * len(self._keys))):
            array = np.array([value.encode() for value in values], object)
            self._node(name, "Const", [], {"dtype": text, "value": {"tensor": tensor_proto(array)}})
        taken = ["saver_filename", "saver_names", "saver_slices"]
        dtypes = {"dtypes": {"list": {"type": self._dtypes}}}
        assigned, read = [], []
        if self._keys:
            self._node("restored", "RestoreV2", taken, dtypes)
        for i, (handle, dtype) in enumerate(zip(self._handles.values(), self._dtypes, strict=True)):
            attrs = {"dtype": {"type": dtype}}
            self._node(f"{handle}/assign", "AssignVariableOp", [handle, f"restored:{i}"], attrs)
            self._node(f"{handle}/read", "ReadVariableOp", [handle], attrs)
            assigned.append(f"^{handle}/assign")
            read.append(f"{handle}/read")
        self._node("restore_all", "NoOp", assigned, {})
        if self._keys:
            self._node("saved", "SaveV2", [*taken, *read], dtypes)
        after = ["saver_filename", *(["^saved"] if self._keys else [])]
        self._node("save_done", "Identity", after, {"T": text})


def _tensor_info(name: str, spec: TensorSpec) -> dict[str, Any]:
    return {
        "name": name,
        "dtype": spec.dtype.as_datatype_enum,
        "tensor_shape": structures.shape_message(spec.shape),
    }
