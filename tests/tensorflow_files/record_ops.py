"""Writes down what ops take and give, as TensorFlow describes them.

    python -m tests.tensorflow_files.record_ops

What is written is the part of `tensorflow_files/descriptions.py` between its quotes, for the ops that are named there.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[2] / "src/tapeflow/_src/tensorflow_files/descriptions.py"


def line(op: Any, dtype: Any) -> str:
    """One op: what it takes, what it gives, and its attributes with their defaults."""

    def argument(a: Any) -> str:
        count = a.number_attr or a.type_list_attr
        name = f"{a.name}*{count}" if count else a.name
        if a.type_list_attr:
            return name
        return f"{name}:{a.type_attr or f'@{dtype(a.type).name}'}"

    takes = " ".join(map(argument, op.input_arg))
    gives = " ".join(map(argument, op.output_arg))
    attrs = " ".join(_attribute(a, dtype) for a in op.attr)
    return f"{op.name}: {takes} > {gives} | {attrs}".replace("  ", " ").rstrip()


def _attribute(attr: Any, dtype: Any) -> str:
    if not attr.HasField("default_value"):
        return attr.name
    value = attr.default_value
    kind = value.WhichOneof("value")
    if kind == "type":
        return f"{attr.name}=@{dtype(value.type).name}"
    if kind == "list":
        values = [*value.list.i, *value.list.f, *value.list.b]
        values += [s.decode() for s in value.list.s]
        return f"{attr.name}={json.dumps(values, separators=(',', ':'))}"
    if kind not in ("s", "i", "f", "b"):
        return attr.name
    plain = getattr(value, kind)
    plain = plain.decode() if kind == "s" else plain
    return f"{attr.name}={json.dumps(plain, separators=(',', ':'))}"


def main() -> None:
    """Writes the table anew."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf  # pyright: ignore[reportMissingImports, reportMissingModuleSource]
    from tensorflow.python.framework import op_def_registry  # pyright: ignore

    text = FILE.read_text()
    begin, end = text.index('"""\n', text.index("_TABLE")) + 4, text.rindex('"""')
    names = re.findall(r"^(\w+)", text[begin:end], re.MULTILINE)
    lines = []
    for name in sorted(set(names)):
        op = op_def_registry.get(name)
        if op is None:
            raise SystemExit(f"there is no op {name}")
        lines.append(line(op, tf.as_dtype))
    FILE.write_text(text[:begin] + "\n".join(lines) + "\n" + text[end:])


if __name__ == "__main__":
    main()
