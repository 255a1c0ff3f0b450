"""`tf.print`."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core import nest
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import string
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.effects.run_time import at_run_time

_EDGE = 3  # elements shown at both ends of a dimension


@export("print")
@functools.partial(at_run_time, always=True)
def print_(
    *inputs: Any,
    output_stream: Any = None,
    end: str = "\n",
    sep: str = " ",
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Prints tensors, texts and structures of them.

    >>> import sys
    >>> tf.print("loss:", tf.constant(0.25), tf.range(10), output_stream=sys.stdout)
    loss: 0.25 [0 1 2 ... 7 8 9]

    Args:
      *inputs: what to print.
      output_stream: `sys.stderr` by default; `sys.stdout`, another stream, a function that takes a text (such as one
        of a logger), or `"file://path"`, to whose end the text is added.
      end: what comes last.
      sep: what comes between the inputs.
      summarize: how many elements to show at both ends of each dimension; 3 by default, -1 for all.
      name: accepted for compatibility.
    """
    if summarize is not None and not isinstance(summarize, int):
        raise TypeError(f"tf.print: summarize must be an int, got {shown(summarize)}")
    for argument, text in (("sep", sep), ("end", end)):
        if not isinstance(text, str):
            raise TypeError(f"tf.print: {argument} must be a str, got {shown(text)}")
    write = _writer(sys.stderr if output_stream is None else output_stream)
    edge = _EDGE if summarize is None else summarize
    if len(inputs) == 1 and isinstance(inputs[0], Tensor) and _is_text(inputs[0]):
        text = inputs[0].numpy().decode(errors="surrogateescape")  # as it is
    else:
        text = sep.join(_text(x, edge) for x in inputs)
    # What is no UTF-8 cannot be written to a stream.
    write(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace") + end)


def _is_text(x: Tensor) -> bool:
    return x.dtype is string and x.shape.rank == 0


def tensor_text(value: Any, summarize: int = _EDGE) -> str:
    """A tensor as `tf.print` shows it.

    >>> tensor_text(tf.constant([1.0, 2.5]))
    '[1 2.5]'
    """
    tensor = convert_to_tensor(value)
    array = np.asarray(tensor._array)
    return _array_text(array, sys.maxsize if summarize < 0 else summarize, _formatter(tensor), 0)


def _text(value: Any, edge: int) -> str:
    if isinstance(value, str):
        return value
    if _is_tensor(value):
        return _tensor_text(value, edge)
    shown: list[str] = []

    def mark(leaf: Any) -> Any:
        if not _is_tensor(leaf):
            return leaf
        shown.append(_tensor_text(leaf, edge))
        return _Mark()

    import pprint  # few programs print structures

    if not nest.is_nested(value):
        return pprint.pformat(value)
    pieces = pprint.pformat(nest.map_structure(mark, value), sort_dicts=True).split(_MARK)
    return "".join(a + b for a, b in zip(pieces, [*shown, ""], strict=True))


_MARK = "\x00\x01"


class _Mark:
    """Stands for a tensor while Python formats the structure around it."""

    def __repr__(self) -> str:
        return _MARK


def _is_tensor(value: Any) -> bool:
    return (
        isinstance(value, Tensor) or hasattr(value, "__tf_tensor__") or hasattr(value, "_printed")
    ) and not isinstance(value, TensorShape)


def _tensor_text(value: Any, edge: int) -> str:
    """A tensor, or a composite one that has a way of its own to be shown."""
    return value._printed(edge) if hasattr(value, "_printed") else tensor_text(value, edge)


def _array_text(array: np.ndarray, edge: int, text: Callable[[Any], str], depth: int) -> str:
    if not array.ndim:
        return text(array[()])
    between = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * (depth + 1)
    n = len(array)
    shortened = n > 2 * edge
    shown = [*range(edge), *range(n - edge, n)] if shortened else range(n)
    rows = [_array_text(array[i, ...], edge, text, depth + 1) for i in shown]
    if shortened:
        rows.insert(edge, "...")
    return f"[{between.join(rows)}]"


def _formatter(tensor: Tensor) -> Callable[[Any], str]:
    dtype = tensor.dtype
    if dtype.is_floating:
        # Six digits if they are enough to tell the number from all others, and else nine.
        single = dtype.size <= 4
        return lambda x: _float_text(float(x), np.float32 if single else np.float64)
    if dtype.is_complex:
        part = np.float32 if dtype.size == 8 else np.float64
        return lambda x: f"({_float_text(float(x.real), part)},{_float_text(float(x.imag), part)})"
    if dtype.is_bool:
        return lambda x: "1" if x else "0"
    if dtype.is_integer:
        return lambda x: str(int(x))
    return _quoted


_ESCAPES = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\"}
_ESCAPES |= {code: f"\\{code:03o}" for code in (*range(32), 127) if code not in _ESCAPES}


def _quoted(x: Any) -> str:
    text = x.decode(errors="surrogateescape") if isinstance(x, bytes) else str(x)
    return f'"{text.translate(_ESCAPES)}"'


def _float_text(x: float, kind: Any) -> str:
    short, full = (6, 9) if kind is np.float32 else (15, 17)
    text = f"{x:.{short}g}"
    return text if x != x or kind(float(text)) == kind(x) else f"{x:.{full}g}"


def _writer(stream: Any) -> Callable[[str], Any]:
    if hasattr(stream, "write"):
        return stream.write
    if callable(stream):
        return stream
    if isinstance(stream, str) and stream.startswith("file://"):
        return lambda text: _append(stream.removeprefix("file://"), text)
    raise ValueError(
        f"tf.print: output_stream must be sys.stdout, sys.stderr, another stream, a function of a text, or "
        f"'file://<path>', got {shown(stream)}"
    )


def _append(path: str, text: str) -> None:
    from tapeflow._src.core.system.files import translating_os_errors  # few print to files

    with translating_os_errors(path), open(path, "a", encoding="utf-8") as file:
        file.write(text)
