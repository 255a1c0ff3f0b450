"""Writes the parameters of TensorFlow's public functions and classes to `signatures.json`.

Run by hand, where TensorFlow is installed, after a new release of it:

    python tests/conformance/record_signatures.py
"""

from __future__ import annotations

import inspect
import json
import os
from pathlib import Path
from types import ModuleType
from typing import Any

PATH = Path(__file__).with_name("signatures.json")
NAMESPACES = [
    *("autodiff", "autograph", "bitwise", "config", "debugging", "dtypes", "errors", "image", "io"),
    *("linalg", "math", "nest", "nn", "random", "random.experimental", "sets", "signal", "strings"),
    *("test", "summary", "summary.experimental", "io.gfile", "sysconfig"),
    *("config.experimental", "config.optimizer", "config.threading", "profiler.experimental"),
]
CLASSES = ["Tensor", "Variable", "GradientTape", "Module", "IndexedSlices", "TensorShape"]
CLASSES += ["TensorSpec", "DType"]
# TensorFlow's own trees of modules, which are reachable as attributes and are no public names.
PRIVATE = ("python", "core", "compiler", "tools", "keras", "compat")


def parameters(value: Any) -> list[str] | None:
    """The parameters of a function or class as they are written, if it tells them."""
    try:
        found = inspect.signature(value.__init__ if inspect.isclass(value) else value).parameters
    except (TypeError, ValueError):
        return None
    return [
        _text(parameter) for parameter in found.values() if parameter.name not in ("self", "cls")
    ]


def _text(parameter: inspect.Parameter) -> str:
    """`axis=None`, `*args`; a default that is not a plain value is `...`."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    text = stars.get(parameter.kind, "") + parameter.name
    if parameter.default is parameter.empty:
        return text
    if parameter.name == "name":  # it names a node of a graph, and there is none
        return "name=None"
    plain = parameter.default is None or type(parameter.default) in (bool, int, float, str)
    return f"{text}={parameter.default!r}" if plain else f"{text}=..."


def collect(tf: Any) -> dict[str, list[str]]:
    """The parameters of everything public in `tf`, by dotted name."""
    spaces = {"tf": tf} | {f"tf.{name}": _space(tf, name) for name in NAMESPACES}
    spaces |= {f"tf.{name}": getattr(tf, name) for name in CLASSES}
    signatures = {}
    for place, space in spaces.items():
        for name in dir(space):
            value = getattr(space, name, None)
            if name.startswith("_") or name in PRIVATE or isinstance(value, ModuleType):
                continue
            names = parameters(value) if callable(value) else None
            if names is not None:
                signatures[f"{place}.{name}"] = names
    return signatures


def _space(tf: Any, name: str) -> Any:
    for part in name.split("."):
        tf = getattr(tf, part)
    return tf


def main() -> None:
    """Records the signatures of the TensorFlow that is installed."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf  # pyright: ignore[reportMissingImports, reportMissingModuleSource]

    signatures = collect(tf)
    lines = [f"{json.dumps(name)}: {json.dumps(signatures[name])}" for name in sorted(signatures)]
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(lines)} signatures recorded with TensorFlow {tf.__version__}")


if __name__ == "__main__":
    main()
