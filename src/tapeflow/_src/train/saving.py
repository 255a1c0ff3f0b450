"""Writing a checkpoint, and reading what kind of objects one holds."""

from __future__ import annotations

import contextlib
import json
import os
from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core.context import context, no_recorders
from tapeflow._src.core.errors import InvalidArgumentError, NotFoundError
from tapeflow._src.core.system.files import remove_leftovers
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.tensorflow_files import bundle, bundle_writing, objects
from tapeflow._src.tensorflow_files.bundle import OBJECT_GRAPH_KEY, Bundle
from tapeflow._src.tensorflow_files.messages import Damage
from tapeflow._src.train import formats, tensor_file
from tapeflow._src.train.formats import SAFETENSORS, TENSORFLOW
from tapeflow._src.train.iterator_state import arrays_of
from tapeflow._src.train.object_graph import (
    ITERATOR,
    PYTHON,
    TABLE,
    TABLE_PARTS,
    VARIABLE,
    Found,
    children,
    is_iterator,
    key_of,
    path_text,
    tensorflow_children,
    variable_of,
    walk,
)
from tapeflow._src.train.parts import Together, is_in_parts, is_of_several_processes
from tapeflow._src.train.python_state import PythonState, serialized
from tapeflow._src.train.sharding import divided
from tapeflow._src.train.tensor_file import SUFFIX


class Node(NamedTuple):
    """An object in a checkpoint."""

    children: dict[str, int]
    values: dict[str, str]  # kinds of value, and the names of the tensors
    path: tuple[str, ...]

    @property
    def text(self) -> str:
        """How it was reached."""
        return path_text(self.path)


def write(
    prefix: str,
    root: Any,
    more: dict[str, Any],
    file_format: str = SAFETENSORS,
    callback: Any = None,
) -> Together | None:
    """Saves what can be reached from an object. Gives the save of all processes that this is a part of, if it is.

    Args:
      prefix: of the files.
      root: the object.
      more: further objects, by name.
      file_format: TensorFlow's, or tapeflow's own.
      callback: who divides tensors among files, for the former.
    """
    if context.tracer is not None:
        raise NotImplementedError(
            "A checkpoint cannot be saved inside tf.function, where variables have no values. Call save() outside."
        )
    tensors: dict[str, np.ndarray] = {}
    in_parts: dict[str, Any] = {}
    shared = False
    nodes: list[Node] = []
    names: list[str] = []
    for_tensorflow = file_format == TENSORFLOW
    for found, named in walk(root, more, tensorflow_children if for_tensorflow else children):
        values: dict[str, str] = {}
        variable = variable_of(found.value)
        if variable is not None:
            values[VARIABLE] = key_of(found.path, VARIABLE)
            value = snapshot(variable)
            shared = shared or is_of_several_processes(value)
            if is_in_parts(value):
                in_parts[values[VARIABLE]] = value._buffer  # type: ignore[attr-defined]
            else:
                array = np.asarray(value._array)
                counts = for_tensorflow and found.path[-1:] in _COUNTERS
                tensors[values[VARIABLE]] = array.astype(np.int64) if counts else array
        elif is_iterator(found.value):
            if for_tensorflow:
                key = key_of(found.path, TABLE)
                parts = _parts_for_tensorflow(found)
                tensors |= {key + ending: part for ending, part in parts.items()}
                if parts:
                    values[TABLE] = key
            else:
                values[ITERATOR] = key_of(found.path, ITERATOR)
                tensors |= arrays_of(values[ITERATOR], found.value._checkpoint_state())
        elif isinstance(found.value, PythonState):
            values[PYTHON] = key_of(found.path, PYTHON)
            text = tensors[values[PYTHON]] = np.empty((), object)
            text[()] = serialized(found.value)
        nodes.append(Node(named, values, found.path))
        names.append("" if variable is None else variable.name.removesuffix(":0"))
    if for_tensorflow:
        if shared:
            raise ValueError(
                f"The checkpoint {prefix} is saved by several processes, which TensorFlow's format is not written by."
            )
        _write_for_tensorflow(prefix, tensors, nodes, names, callback)
        return None
    graph = json.dumps([[n.children, n.values, n.path] for n in _with_values(nodes)])
    if not shared:
        remove_leftovers(_family(prefix))
        tensor_file.write(prefix + SUFFIX, tensors, {"objects": graph})
        formats.replace_tensorflows(prefix)
        return None
    together = Together(prefix, in_parts)
    if together.writes:
        remove_leftovers(_family(prefix))
    texts = {"objects": graph, **together.write_parts()}
    together.commit(lambda: tensor_file.write(prefix + SUFFIX, tensors, texts))
    if together.writes:
        formats.replace_tensorflows(prefix)
    return together


def _parts_for_tensorflow(found: Found) -> dict[str, np.ndarray]:
    """The arrays of a table that TensorFlow reads; none if it is not to be saved."""
    exported = getattr(found.value, "_exported_for_tensorflow", None)
    if exported is None:
        raise ValueError(
            f"A checkpoint in TensorFlow's format cannot hold the dataset iterator at {path_text(found.path)}: "
            "save it in a checkpoint of its own, without format='tensorflow'."
        )
    arrays = exported(path_text(found.path))
    return {} if arrays is None else dict(zip(TABLE_PARTS, arrays, strict=True))


# What Keras's optimizers count steps with has another dtype in TensorFlow.
_COUNTERS = (("_iterations",), ("step_counter",))


def _write_for_tensorflow(
    prefix: str,
    tensors: dict[str, np.ndarray],
    nodes: list[Node],
    names: list[str],
    callback: Any,
) -> None:
    graph = np.empty((), object)
    graph[()] = objects.encoded([objects.Object(*node) for node in nodes], names)
    everything = {**tensors, OBJECT_GRAPH_KEY: graph}
    if callback is None:
        bundle_writing.write(prefix, everything)
    else:
        bundle_writing.write_files(prefix, divided(callback, everything))
    with contextlib.suppress(
        FileNotFoundError
    ):  # of the same name: it would be read in the place of this
        os.unlink(prefix + SUFFIX)


def snapshot(variable: Variable) -> Tensor:
    """What a variable holds at this moment, read once: training may go on in another thread while it is written."""
    with no_recorders():
        return variable.value()


def _family(prefix: str) -> str:
    """What the names of all checkpoints with this one's name begin with: `ckpt-` for `ckpt-7`."""
    stem, dash, number = prefix.rpartition("-")
    return stem + dash if number.isdigit() else prefix


def _with_values(nodes: list[Node]) -> list[Node]:
    """Leaves out the objects that have no value and lead to none. The first one stays."""
    parents: dict[int, list[int]] = {}
    for number, node in enumerate(nodes):
        for inner in node.children.values():
            parents.setdefault(inner, []).append(number)
    wanted = {0, *(i for i, node in enumerate(nodes) if node.values)}
    waiting = list(wanted)
    while waiting:
        for parent in parents.get(waiting.pop(), ()):
            if parent not in wanted:
                wanted.add(parent)
                waiting.append(parent)
    numbers = {old: new for new, old in enumerate(sorted(wanted))}
    return [
        Node(
            {k: numbers[i] for k, i in node.children.items() if i in wanted}, node.values, node.path
        )
        for number, node in enumerate(nodes)
        if number in wanted
    ]


def prefix_of(path: Any) -> str:
    """The prefix that a user means: the file's own name does as well."""
    return os.fspath(path).removesuffix(SUFFIX).removesuffix(bundle.SUFFIX)


def opened(prefix: str) -> tuple[formats.File, list[Node]]:
    """A checkpoint's file, checked, and its objects."""
    file = opened_file(prefix)
    if isinstance(file, Bundle):
        return file, _nodes_of_tensorflow(file)
    try:
        nodes = [Node(dict(c), dict(v), tuple(p)) for c, v, p in json.loads(file.texts["objects"])]
        sound = _is_sound(nodes, file)
    except (KeyError, ValueError, TypeError, RecursionError):
        nodes, sound = [], False
    if not sound:
        file.refuse(
            "it does not say which objects it holds: it has tensors, but is not a checkpoint"
        )
    return file, nodes


def opened_file(prefix: str) -> formats.File:
    """A checkpoint's file, checked."""
    try:
        return formats.opened(prefix)
    except NotFoundError:
        raise NotFoundError(
            None, None, f"There is no checkpoint {prefix}: {_advice(prefix)}"
        ) from None


def _nodes_of_tensorflow(file: Bundle) -> list[Node]:
    if OBJECT_GRAPH_KEY not in file.entries:
        raise InvalidArgumentError(
            None,
            None,
            f"The checkpoint {file.prefix} has tensors by the names of variables, and no objects: it was written by a "
            "Saver of TensorFlow 1. Read its values with tf.train.load_variable, and assign them.",
        )
    try:
        said: Any = file.read(OBJECT_GRAPH_KEY)
        nodes = [Node(*each) for each in objects.decoded(said[()])]
    except (Damage, TypeError, IndexError) as error:
        file.refuse(f"it does not say which objects it holds: {error}")
    if not _is_sound(nodes, file):
        file.refuse("it names tensors that it does not have")
    return nodes


def _is_sound(nodes: list[Node], file: formats.File) -> bool:
    """Whether everything that the objects refer to is there."""
    return bool(nodes) and all(
        all(
            isinstance(number, int) and 0 <= number < len(nodes)
            for number in node.children.values()
        )
        and all(_is_there(key, file) for key in node.values.values())
        and all(isinstance(name, str) for name in (*node.children, *node.path))
        for node in nodes
    )


def _is_there(key: str, file: formats.File) -> bool:
    """Whether there is a tensor of this name. TensorFlow has several that begin with it for tables and iterators."""
    if key in file.entries:
        return True
    return isinstance(file, Bundle) and any(name.startswith(key) for name in file.entries)


def _advice(prefix: str) -> str:
    """What may be meant."""
    if os.path.isdir(prefix):
        return f"this is a folder. tf.train.latest_checkpoint({prefix!r}) gives the newest checkpoint in it."
    folder = os.path.dirname(prefix) or "."
    if not os.path.isdir(folder):
        return f"there is no folder {folder}."
    stem = os.path.basename(prefix)
    names = map(os.path.basename, formats.prefixes_in(folder))
    near = sorted(name for name in names if name.startswith(stem))
    if near:
        return (
            f"there is {', '.join(near[:5])} in that folder. The number at the end may be missing."
        )
    return f"there is no file {prefix}{SUFFIX}."
