"""`tf.debugging.experimental.enable_dump_debug_info`: files that tell what every op gave, and where it was called.

As the search for NaN (`check_numerics.py`) it is a recorder, which sees every operation of its thread. The files are
ours: lines of JSON, one for each operation, and one file that says how they were made.
"""

from __future__ import annotations

import json
import os
import re
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._src.autodiff.backprop import Call
from tapeflow._src.autodiff.explain.journal import Place, here
from tapeflow._src.core.carried import carried
from tapeflow._src.core.context import pop_recorder, push_recorder, recorders
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.remote import to_host
from tapeflow._src.core.system.files import replacing
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.core.versions import __version__


def _curt(array: np.ndarray) -> dict[str, Any]:
    return {"has_inf_or_nan": bool(_is_number(array) and not np.isfinite(array).all())}


def _concise(array: np.ndarray) -> dict[str, Any]:
    if not _is_number(array):
        return {"elements": array.size}
    real = np.real(array)
    return {
        "elements": array.size,
        "negative_infinities": int(np.isneginf(real).sum()),
        "positive_infinities": int(np.isposinf(real).sum()),
        "nans": int(np.isnan(array).sum()),
    }


def _full(array: np.ndarray) -> dict[str, Any]:
    said = {"rank": array.ndim, **_concise(array)}
    if _is_number(array):
        finite = np.real(array)[np.isfinite(array)]
        said["negative"] = int((finite < 0).sum())
        said["zeros"] = int((finite == 0).sum())
        said["positive"] = int((finite > 0).sum())
    return said


def _shape(array: np.ndarray) -> dict[str, Any]:
    return {"rank": array.ndim, "elements": array.size, "shape": list(array.shape)}


def _values(array: np.ndarray) -> dict[str, Any]:
    if array.dtype.kind in "Oc":  # strings and complex numbers, as texts
        array = np.array([str(each) for each in array.ravel()]).reshape(array.shape)
    elif array.dtype.kind not in "biufU":  # numbers that Python does not know
        array = array.astype(np.float32)
    return {"shape": list(array.shape), "values": array.tolist()}


_MODES: dict[str, Callable[[np.ndarray], dict[str, Any]] | None] = {
    "NO_TENSOR": None,
    "CURT_HEALTH": _curt,
    "CONCISE_HEALTH": _concise,
    "FULL_HEALTH": _full,
    "SHAPE": _shape,
    "FULL_TENSOR": _values,
}
_NOWHERE = ("UNSPECIFIED", "FULL_NUMERICS", "REDUCE_INF_NAN_THREE_SLOTS")
"""Modes that TensorFlow's debugger has names for, and that no version of it writes."""


def _is_number(array: np.ndarray) -> bool:
    """Whether there may be NaN in it: floats and complex numbers. Floats of a few bits are of NumPy's kind V."""
    return array.dtype.kind in "fcV"


class DebugEventsWriter:
    """What writes the files, and the recorder that sees what is to be written."""

    def __init__(
        self, root: str, mode: str, size: int, op_regex: str | None, takes: Callable[[DType], bool]
    ) -> None:
        self.dump_root = root
        self.mode = mode
        self.size = size
        self.op_regex = op_regex
        self._wanted = None if op_regex is None else re.compile(op_regex)
        self._takes = takes
        self._is_unlimited = size <= 0
        self._events: deque[str] = deque(maxlen=size if size > 0 else None)
        self._count = 0
        stem = os.path.join(root, f"tapeflow_events.{time.time_ns()}.{socket.gethostname()}")
        self._path = f"{stem}.execution.jsonl"
        with replacing(f"{stem}.metadata.json") as file:
            said = {"tapeflow": __version__, "tensor_debug_mode": mode, "op_regex": op_regex}
            file.write(json.dumps({**said, "circular_buffer_size": size}).encode())

    def FlushNonExecutionFiles(self) -> None:
        """Does nothing: what is no operation has been written at the beginning."""

    def FlushExecutionFiles(self) -> None:
        """Writes what is waiting: the latest operations."""
        text = "".join(self._events)
        self._events.clear()
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(text)

    def Close(self) -> None:
        """Writes what is waiting, and takes note of nothing more."""
        self.FlushExecutionFiles()
        if self in recorders():
            pop_recorder(self)

    # What a recorder is asked.

    substitutes = False

    def record(self, primitive: Any, inputs: Any, output: Any, attrs: Any) -> None:
        """Takes note of an operation."""
        self._note(primitive.name, output if isinstance(output, tuple) else (output,), here())

    def record_call(self, call: Call) -> None:
        """Takes note of a computation with its own pullback."""
        self._note(call.name, call.outputs, here())

    def look(self, node: Any, inputs: Any, outputs: Any, donated: bool) -> None:
        """Takes note of a node of a traced function."""
        line = node.line
        place = None if line is None else Place(line.file, line.number)
        self._note(node.primitive.name, outputs, place)

    def read(self, variable: Variable, value: Tensor) -> Tensor:
        """Reading a variable is no operation."""
        return value

    def follows(self, identity: int) -> bool:
        """It needs no pullbacks."""
        return False

    def note(self, event: str, subject: Any, **details: Any) -> None:
        """Only operations are written."""

    def _note(self, name: str, outputs: Sequence[Tensor], place: Place | None) -> None:
        if self._wanted is not None and not self._wanted.match(name):
            return
        summary = _MODES[self.mode]
        tensors = []
        for output in outputs:
            if not self._takes(output.dtype):
                continue
            array = to_host(output)._array
            if not isinstance(array, np.ndarray | np.generic):
                return  # the function is being traced
            said = {} if summary is None else summary(np.asarray(array))
            tensors.append({"dtype": output.dtype.name, **said})
        if not tensors:
            return
        self._count += 1
        event = {"number": self._count, "op": name, "outputs": tensors}
        if place is not None:
            event |= {"file": place.file, "line": place.line}
        self._events.append(json.dumps(event) + "\n")
        if self._is_unlimited:
            self.FlushExecutionFiles()


class _State(threading.local):
    writer: DebugEventsWriter | None = None


_state = carried(_State())


@export("debugging.experimental.enable_dump_debug_info")
def enable_dump_debug_info(
    dump_root: Any,
    tensor_debug_mode: str = "NO_TENSOR",
    circular_buffer_size: int = 1000,
    op_regex: str | None = None,
    tensor_dtypes: Any = None,
) -> DebugEventsWriter:
    """Makes every op of this thread leave a line in a file: its name, the line that called it, and its results' health.

    >>> import json, pathlib, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> writer = tf.debugging.experimental.enable_dump_debug_info(folder, "CONCISE_HEALTH")
    >>> y = tf.math.log(tf.constant([0.0, 1.0, -1.0]))
    >>> tf.debugging.experimental.disable_dump_debug_info()
    >>> (path,) = pathlib.Path(folder).glob("*.execution.jsonl")
    >>> event = json.loads(path.read_text())
    >>> event["op"], event["outputs"][0]["negative_infinities"], event["outputs"][0]["nans"]
    ('log', 1, 1)

    The files are of tapeflow's own format, lines of JSON. Functions run op by op meanwhile, which is slow.

    Args:
      dump_root: the folder, which is made if it is not there.
      tensor_debug_mode: what is written of tensors: nothing (`NO_TENSOR`), whether there is a NaN or an infinity
        (`CURT_HEALTH`), how many there are (`CONCISE_HEALTH`), and how many zeros and numbers of both signs
        (`FULL_HEALTH`), shapes (`SHAPE`), or all values (`FULL_TENSOR`).
      circular_buffer_size: how many of the latest ops are kept until they are written, by the writer's
        `FlushExecutionFiles` or in the end; 0 or less writes all of them at once.
      op_regex: a regular expression; only ops are written whose names it matches from their beginning.
      tensor_dtypes: a list of dtypes, or a function from a dtype to a bool: only tensors of these are written.
    """
    if not dump_root:
        raise ValueError("enable_dump_debug_info: Empty or None dump root")
    root = os.fspath(dump_root)
    if tensor_debug_mode in _NOWHERE:
        raise NotImplementedError(
            f"enable_dump_debug_info: there is no tensor_debug_mode {tensor_debug_mode}, nor is it in TensorFlow. "
            f"There are: {list(_MODES)}"
        )
    if tensor_debug_mode not in _MODES:
        raise ValueError(
            f"Invalid value in tensor_debug_mode ({tensor_debug_mode!r}). Valid options are: {list(_MODES)}"
        )
    if not isinstance(circular_buffer_size, int):
        raise TypeError(
            f"enable_dump_debug_info: circular_buffer_size must be an int, got {shown(circular_buffer_size)}"
        )
    try:
        re.compile(op_regex or "")
    except (re.error, TypeError) as error:
        raise ValueError(
            f"enable_dump_debug_info: op_regex must be a regular expression, got {shown(op_regex)} ({error})"
        ) from None
    takes = _filter(tensor_dtypes)
    old = _state.writer
    if old is not None:
        if old in recorders():
            there = old.mode, old.size, old.op_regex
            if there != (tensor_debug_mode, circular_buffer_size, op_regex):
                raise ValueError(
                    f"enable_dump_debug_info: {old.dump_root} is being written to with tensor_debug_mode={old.mode!r}, "
                    f"circular_buffer_size={old.size} and op_regex={old.op_regex!r}. "
                    "Call disable_dump_debug_info first."
                )
            if old.dump_root == root:
                return old
        old.Close()
    os.makedirs(root, exist_ok=True)
    writer = DebugEventsWriter(root, tensor_debug_mode, circular_buffer_size, op_regex, takes)
    _state.writer = writer
    push_recorder(writer)
    return writer


@export("debugging.experimental.disable_dump_debug_info")
def disable_dump_debug_info() -> None:
    """Ends what `tf.debugging.experimental.enable_dump_debug_info` began, in this thread, and writes what is waiting.

    >>> tf.debugging.experimental.disable_dump_debug_info()
    """
    if _state.writer is not None:
        _state.writer.Close()
        _state.writer = None


def _filter(tensor_dtypes: Any) -> Callable[[DType], bool]:
    """Which dtypes are wanted."""
    if tensor_dtypes is None:
        return lambda dtype: True
    if isinstance(tensor_dtypes, (list, tuple)):
        return {as_dtype(each) for each in tensor_dtypes}.__contains__
    if callable(tensor_dtypes):
        wanted: Callable[[DType], Any] = tensor_dtypes
        return lambda dtype: bool(wanted(dtype))
    raise ValueError(
        "If specified, tensor_dtypes is expected to be a list, a tuple, or a callable that takes a DType argument and "
        f"returns a boolean, but received {tensor_dtypes}"
    )
