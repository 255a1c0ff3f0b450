"""The dtypes in which each two operands meet in the modes "safe" and "all", as a table.

`python -m tests.numpy.recorded.promotions > tests/numpy/recorded/promotions.txt` records TensorFlow's, where that is
installed. A star is a weak dtype, an exclamation mark a promotion that "safe" refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SHORT = {
    "bool": "b",
    **{f"uint{n}": f"u{n}" for n in (8, 16, 32, 64)},
    **{f"int{n}": f"i{n}" for n in (8, 16, 32, 64)},
    "bfloat16": "bf",
    **{f"float{n}": f"f{n}" for n in (16, 32, 64)},
    **{f"complex{n}": f"c{n}" for n in (64, 128)},
}
WEAK = ("int32", "int64", "float32", "float64", "complex128")
KINDS = [*((name, False) for name in SHORT), *((name, True) for name in WEAK)]


def table(tf: Any, weak_of: Callable[[Any], Any]) -> str:
    """The table of a library, whose weak tensors are made by a function."""
    np = tf.experimental.numpy
    found = {}
    for mode in ("all", "safe"):
        np.experimental_enable_numpy_behavior(dtype_conversion_mode=mode)
        for a in KINDS:
            for b in KINDS:
                found[mode, a, b] = _met(tf, np, *(_made(tf, weak_of, kind) for kind in (a, b)))
    lines = [["", *(_text(kind) for kind in KINDS)]]
    for a in KINDS:
        lines.append([_text(a)])
        for b in KINDS:
            of_all, of_safe = found["all", a, b], found["safe", a, b]
            assert of_safe in (of_all, "refused"), (a, b, of_all, of_safe)
            lines[-1].append(of_all + "!" * (of_safe == "refused"))
    return "".join("".join(word.ljust(7) for word in line).rstrip() + "\n" for line in lines)


def _text(kind: tuple[str, bool]) -> str:
    return SHORT[kind[0]] + "*" * kind[1]


def _made(tf: Any, weak_of: Callable[[Any], Any], kind: tuple[str, bool]) -> Any:
    x = tf.cast(tf.ones([1], tf.int8), kind[0])
    return weak_of(x) if kind[1] else x


def _met(tf: Any, np: Any, x: Any, y: Any) -> str:
    """The dtype of the sum, which must be one however it is asked for. Bools have none."""
    if x.dtype == tf.bool and y.dtype == tf.bool:
        return SHORT[np.result_type(x, y).name]
    sums = (lambda: tf.add(x, y), lambda: x + y, lambda: y - x, lambda: tf.multiply(y, x))
    found = set()
    for each in sums:
        try:
            result = each()
        except TypeError:
            found.add("refused")
        else:
            found.add(_text((result.dtype.name, "weak=True" in repr(result))))
    (answer,) = found
    assert answer == "refused" or answer[-1:] == "*" or answer == SHORT[np.result_type(x, y).name]
    return answer


if __name__ == "__main__":
    import tensorflow  # pyright: ignore[reportMissingImports, reportMissingModuleSource]
    from tensorflow.python.framework.weak_tensor import (  # pyright: ignore[reportMissingImports]
        WeakTensor,
    )

    print(table(tensorflow, WeakTensor.from_tensor), end="")
