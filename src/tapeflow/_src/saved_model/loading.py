"""`tf.saved_model.load`: objects that were saved, with functions that run without their code."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import string
from tapeflow._src.core.export import export
from tapeflow._src.core.module import Module
from tapeflow._src.core.system.files import newer
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.saved_model.assets import Asset, is_inside
from tapeflow._src.saved_model.damage import Damage, index, sound
from tapeflow._src.saved_model.functions import LoadedFunction
from tapeflow._src.saved_model.objects import LoadedModule, SignatureMap
from tapeflow._src.saved_model.options import ASSETS_DIRECTORY, SAVED_MODEL_FILENAME_PB, SERVING
from tapeflow._src.saved_model.rehearsal import rehearse
from tapeflow._src.saved_model.saving import FILE, VERSION
from tapeflow._src.train import tensor_file


@export("saved_model.contains_saved_model")
def contains_saved_model(export_dir: Any) -> bool:
    """Whether there is a saved model in a folder.

    >>> import tempfile
    >>> tf.saved_model.contains_saved_model(tempfile.mkdtemp())
    False
    """
    folder = os.fspath(export_dir)
    return any(
        os.path.isfile(os.path.join(folder, name)) for name in (FILE, SAVED_MODEL_FILENAME_PB)
    )


@export("saved_model.load")
def load(export_dir: Any, tags: Any = None, options: Any = None) -> Any:
    """Loads what `tf.saved_model.save` has saved, here or in TensorFlow.

    The functions run without the Python code that they were traced from, on every executor, and can be differentiated.
    They take the kinds of arguments that they were traced for.

    >>> import tempfile
    >>> model = tf.Module()
    >>> model.w = tf.Variable(3.0)
    >>> model.f = tf.function(lambda x: model.w * x)
    >>> model.f(tf.constant(1.0)).numpy()
    np.float32(3.0)
    >>> folder = tempfile.mkdtemp()
    >>> tf.saved_model.save(model, folder)
    >>> loaded = tf.saved_model.load(folder)
    >>> with tf.GradientTape() as tape:
    ...     y = loaded.f(tf.constant(5.0))
    >>> tape.gradient(y, loaded.w).numpy()
    np.float32(5.0)

    Args:
      export_dir: the folder.
      tags: of the graph to load, where TensorFlow has saved several.
      options: accepted.

    Raises:
      OSError: if there is no saved model.
      DataLossError: if its file was truncated or altered.
    """
    folder = os.fspath(export_dir)
    path = os.path.join(folder, FILE)
    if newer(path, os.path.join(folder, SAVED_MODEL_FILENAME_PB)) != path:
        from tapeflow._src.saved_model import tensorflow_models

        return tensorflow_models.load(folder, tags)
    if not os.path.isfile(path):
        raise OSError(f"SavedModel file does not exist at: {path}, nor {SAVED_MODEL_FILENAME_PB}.")
    if tags is not None and SERVING not in ([tags] if isinstance(tags, str) else tags):
        raise ValueError(
            f"tf.saved_model.load: there is no graph with the tags {tags!r}. There is one with {[SERVING]}."
        )
    file = tensor_file.opened(path)
    file.instead = "tf.saved_model.save again"
    try:
        data = json.loads(file.texts["saved_model"])
        version = data["version"]
    except (KeyError, ValueError, TypeError, RecursionError):
        file.refuse("it has tensors, but is not a saved model")
    if version != VERSION:
        file.refuse(
            f"it is a saved model of version {str(version)[:20]!r}, and this tapeflow reads {VERSION}"
        )
    with sound(file):
        return _Loader(file, data, folder).root()


class _Loader:
    def __init__(self, file: tensor_file.TensorFile, data: dict[str, Any], folder: str) -> None:
        self._file = file
        self._data = data
        # By the names of constants, the paths of files that came along with the model.
        self._arrays: dict[str, np.ndarray] = {
            name: _path(folder, file_name) for name, file_name in data.get("assets", {}).items()
        }
        for name in self._arrays:
            entry = file.entries[name]
            if entry.dtype is not string or entry.shape:
                raise Damage(f"the path of an asset is {name!r}, which is no string")
        self._variables = [self._variable(i, said) for i, said in enumerate(data["variables"])]
        # Functions are made of graphs that were found to work.
        self._arguments = rehearse(data["graphs"], self._variables, file.entries, self._read)

    def root(self) -> Any:
        """The object, with everything inside it."""
        root = self._objects()[0]
        signatures = {name: self._function(said) for name, said in self._data["signatures"].items()}
        if isinstance(root, Module):
            there = {id(v) for v in root.variables}
            others = [v for v in self._variables if id(v) not in there]
            if others:  # variables that only functions know
                root._other_variables = others
            object.__setattr__(root, "signatures", SignatureMap(signatures))
        return root

    def _variable(self, number: int, said: dict[str, Any]) -> Variable:
        name, trainable = said["name"], said["trainable"]
        if not isinstance(name, str) or not isinstance(trainable, bool):
            raise Damage(f"variable {number} is called {str(name)[:100]!r}")
        value = Tensor(self._file.read(f"variables/{number}"))
        return Variable(value, trainable=trainable, name=name, shape=said["shape"])

    def _read(self, name: str) -> np.ndarray:
        """An array of the model: the same one each time, so that constants are shared."""
        if name not in self._arrays:
            array = self._file.read(name)
            scalar = not array.ndim and array.dtype.kind != "O"  # a string alone is no array
            self._arrays[name] = array[()] if scalar else array
        return self._arrays[name]

    def _objects(self) -> list[Any]:
        """All objects. They are made first and filled then, because one may contain another that contains it."""
        said = self._data["objects"]
        made = [self._empty(each) for each in said]
        for number, each in enumerate(said):
            if each["kind"] == "tuple":
                made[number] = self._tuple(number, made, ())
        for whole, each in zip(made, said, strict=True):
            kind = each["kind"]
            if kind in ("variable", "tuple", "asset"):
                continue
            parts = {k: made[index(i, len(made), "an object")] for k, i in each["children"].items()}
            if kind == "list":
                whole += _in_order(parts)
            elif kind == "dict":
                whole.update(parts)
            else:
                for name, function in each.get("functions", {}).items():
                    parts[name] = self._function(function)
                if "_expecting" in parts:  # where objects keep what a checkpoint has for them
                    raise Damage("an object has an attribute called '_expecting'")
                vars(whole).update(parts)
        return made

    def _empty(self, said: dict[str, Any]) -> Any:
        kind = said["kind"]
        if kind == "variable":
            return self._variables[index(said["number"], len(self._variables), "a variable")]
        if kind == "asset":
            if said["path"] not in self._data.get("assets", {}):
                raise Damage(f"an asset has no file: {str(said['path'])[:100]!r}")
            return Asset(Tensor(self._read(said["path"])))
        return _EMPTY[kind]()

    def _tuple(self, number: int, made: list[Any], around: tuple[int, ...]) -> tuple[Any, ...]:
        if isinstance(made[number], tuple):
            return made[number]
        if number in around or len(around) > 100:
            raise Damage("a tuple contains itself, or is nested too deeply")
        parts = {}
        for name, inner in self._data["objects"][number]["children"].items():
            index(inner, len(made), "an object")
            if self._data["objects"][inner]["kind"] == "tuple":
                made[inner] = self._tuple(inner, made, (*around, number))
            parts[name] = made[inner]
        return tuple(_in_order(parts))

    def _function(self, said: dict[str, Any]) -> LoadedFunction:
        graphs = self._data["graphs"]
        function = LoadedFunction(said, graphs, self._variables, self._read, self._file)
        function.check(self._arguments)
        return function


_EMPTY: dict[str, Callable[[], Any]] = {
    "list": list,
    "dict": dict,
    "tuple": list,  # until its elements are known
    "object": LoadedModule,
}


def _path(folder: str, name: Any) -> np.ndarray:
    if not is_inside(name):
        raise Damage(f"an asset is outside of the folder: {str(name)[:100]!r}")
    found = np.empty((), object)
    found[()] = os.fsencode(os.path.join(folder, ASSETS_DIRECTORY, name))
    return found


def _in_order(parts: dict[str, Any]) -> list[Any]:
    return [parts[name] for name in sorted(parts, key=int)]
