"""Writes what TensorFlow gives for every call to `tensorflow.json`. Run by hand, where TensorFlow is installed:

python -m tests.ops.random.recorded.record
"""

from __future__ import annotations

import json
import os

from tests.ops.random.recorded.calls import CLOSE, SAME
from tests.ops.random.recorded.outcomes import PATH, kept_of
from tests.ops.random.recorded.training import CURVES


def main() -> None:
    """Records everything."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    os.environ["KERAS_BACKEND"] = "tensorflow"
    import tensorflow as tf  # pyright: ignore[reportMissingImports, reportMissingModuleSource]

    results = {name: kept_of(call(tf)) for name, call in (SAME | CLOSE).items()}
    results |= {name: train(tf) for name, train in CURVES.items()}
    lines = [f"{json.dumps(name)}: {json.dumps(kept)}" for name, kept in results.items()]
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(len(lines), "calls")


if __name__ == "__main__":
    main()
