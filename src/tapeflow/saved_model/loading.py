"""`tf.saved_model.load`: objects that were saved, with functions that run without their code."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tapeflow.core.module import Module
from tapeflow.core.tensor import Tensor
from tapeflow.core.variable import Variable
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.saved_model.functions import LoadedFunction
from tapeflow.saved_model.saving import FILE, VERSION
from tapeflow.train import tensor_file


class SignatureMap(Mapping[str, ConcreteFunction]):
    """The signatures of a loaded model by name."""

    def __init__(self, functions: dict[str, LoadedFunction]) -> None:
        self._functions = functions

    def __getitem__(self, name: str) -> ConcreteFunction:
        return self._functions[name].get_concrete_function()

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def __repr__(self) -> str:
        return f"_SignatureMap({dict(self)})"


class LoadedModule(Module):
    """An object from a saved model: its variables, its parts, and its functions as attributes."""

    signatures: SignatureMap

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function that was the object's `__call__`."""
        function = vars(self).get("__call__")
        if function is None:
            names = [name for name, x in vars(self).items() if isinstance(x, LoadedFunction)]
            raise TypeError(
                "The loaded object cannot be called: its class had no tf.function named __call__. It has "
                f"{', '.join(names) or 'no functions'}."
            )
        return function(*args, **kwargs)


def contains_saved_model(export_dir: Any) -> bool:
    """Whether there is a saved model in a folder.

    >>> import tempfile
    >>> tf.saved_model.contains_saved_model(tempfile.mkdtemp())
    False
    """
    return os.path.isfile(os.path.join(os.fspath(export_dir), FILE))


def load(export_dir: Any, tags: Any = None, options: Any = None) -> Any:
    """Loads what `tf.saved_model.save` has saved.

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
      tags: accepted.
      options: accepted.

    Raises:
      OSError: if there is no saved model.
      DataLossError: if its file was truncated or altered.
    """
    folder = os.fspath(export_dir)
    path = os.path.join(folder, FILE)
    if not os.path.isfile(path):
        hint = ""
        if os.path.exists(os.path.join(folder, "saved_model.pb")):
            hint = " There is one in TensorFlow's own format, which tapeflow does not read."
        raise OSError(f"SavedModel file does not exist at: {path}.{hint}")
    file = tensor_file.opened(path)
    try:
        data = json.loads(file.texts["saved_model"])
        version = data["version"]
    except (KeyError, ValueError, TypeError, RecursionError):
        file.refuse("it has tensors, but is not a saved model")
    if version != VERSION:
        file.refuse(
            f"it is a saved model of version {version!r}, and this tapeflow reads {VERSION}"
        )
    return _Loader(file, data).root()


class _Loader:
    def __init__(self, file: tensor_file.TensorFile, data: dict[str, Any]) -> None:
        self._file = file
        self._data = data
        self._arrays: dict[str, np.ndarray] = {}
        self._variables = [
            Variable(
                Tensor(file.read(f"variables/{i}")),
                trainable=said["trainable"],
                name=said["name"],
                shape=said["shape"],
            )
            for i, said in enumerate(data["variables"])
        ]
        self._made: dict[int, Any] = {}

    def root(self) -> Any:
        """The object, with everything inside it."""
        root = self._object(0)
        for name, said in self._data["signatures"].items():
            self._signatures[name] = self._function(said)
        if isinstance(root, Module):
            there = {id(v) for v in root.variables}
            others = [v for v in self._variables if id(v) not in there]
            if others:  # variables that only functions know
                root._other_variables = others
            object.__setattr__(root, "signatures", SignatureMap(self._signatures))
        return root

    def _read(self, name: str) -> np.ndarray:
        """An array of the model: the same one each time, so that constants are shared."""
        if name not in self._arrays:
            array = self._file.read(name)
            self._arrays[name] = array if array.ndim else array[()]
        return self._arrays[name]

    _signatures: dict[str, LoadedFunction]

    def _object(self, number: int) -> Any:
        if number == 0:
            self._signatures = {}
        if number in self._made:
            return self._made[number]
        said = self._data["objects"][number]
        kind = said["kind"]
        if kind == "variable":
            self._made[number] = self._variables[said["number"]]
            return self._made[number]
        made: Any = {"list": list, "dict": dict, "tuple": list}.get(kind, LoadedModule)()
        self._made[number] = made  # before its parts are made: one of them may contain it
        parts = {name: self._object(inner) for name, inner in said["children"].items()}
        if kind in ("list", "tuple"):
            made += [parts[name] for name in sorted(parts, key=int)]
            if kind == "tuple":
                made = self._made[number] = tuple(made)
        elif kind == "dict":
            made.update(parts)
        else:
            for name, part in parts.items():
                object.__setattr__(made, name, part)
            for name, function in said.get("functions", {}).items():
                object.__setattr__(made, name, self._function(function))
        return made

    def _function(self, said: dict[str, Any]) -> LoadedFunction:
        return LoadedFunction(said, self._data["graphs"], self._variables, self._read)
