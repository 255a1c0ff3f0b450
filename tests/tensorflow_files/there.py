"""What TensorFlow makes of files that were written here. It is run by a Python that has it, and prints JSON.

python -m tests.tensorflow_files.there checkpoint NAME PREFIX
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from tests.tensorflow_files import models


def restored(tf: Any, name: str, prefix: str) -> dict[str, Any]:
    """The outputs of a model after its checkpoint was restored, and the losses of its training from there."""
    model = models.compiled(name, tf.keras)
    tf.train.Checkpoint(model=model).read(prefix).assert_consumed()
    x, y = models.batch(name)
    outputs = model(x).numpy().tolist()
    return {"outputs": outputs, "losses": models.trained(model, x, y, models.STEPS_AFTER)}


CHECKS = {"checkpoint": restored}


def main() -> None:
    """Does what the arguments say."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    import tensorflow as tf  # pyright: ignore[reportMissingImports, reportMissingModuleSource]

    check, *arguments = sys.argv[1:]
    print(json.dumps(CHECKS[check](tf, *arguments)))


if __name__ == "__main__":
    main()
