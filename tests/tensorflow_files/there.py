"""What TensorFlow makes of files that were written here. It is run by a Python that has it, and prints JSON.

python -m tests.tensorflow_files.there checkpoint NAME PREFIX
python -m tests.tensorflow_files.there saved_model NAME FOLDER
python -m tests.tensorflow_files.there program FOLDER
python -m tests.tensorflow_files.there ops FOLDER
python -m tests.tensorflow_files.there texts FOLDER
python -m tests.tensorflow_files.there table PREFIX
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from tests.tensorflow_files import models, program, texts


def restored(tf: Any, name: str, prefix: str) -> dict[str, Any]:
    """The outputs of a model after its checkpoint was restored, and the losses of its training from there."""
    model = models.compiled(name, tf.keras)
    tf.train.Checkpoint(model=model).read(prefix).assert_consumed()
    x, y = models.batch(name)
    outputs = model(x).numpy().tolist()
    return {"outputs": outputs, "losses": models.trained(model, x, y, models.STEPS_AFTER)}


def loaded(tf: Any, name: str, folder: str) -> dict[str, Any]:
    """What an exported model gives, to TensorFlow 2 and to an older program, and the losses of its training."""
    x, y = models.batch(name)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        graph = tf.compat.v1.saved_model.load(session, ["serve"], folder)
        signature = graph.signature_def["serving_default"]
        ((_, taken),), ((_, given),) = signature.inputs.items(), signature.outputs.items()
        older = session.run(given.name, {taken.name: x}).tolist()
    model = tf.saved_model.load(folder)
    outputs = model.serve(x).numpy().tolist()
    losses = models.tuned(tf, model, x, y, models.STEPS_AFTER)
    return {"outputs": outputs, "older": older, "tuned": losses}


def answered(tf: Any, folder: str) -> dict[str, Any]:
    """What a module answers."""
    return program.told(tf, tf.saved_model.load(folder))


def computed(tf: Any, folder: str) -> dict[str, Any]:
    """What the functions of a module compute."""
    return program.computed(tf, tf.saved_model.load(folder))


def texts_computed(tf: Any, folder: str) -> dict[str, Any]:
    """What the functions of a module of strings compute."""
    return texts.computed(tf, tf.saved_model.load(folder))


def looked_up(tf: Any, prefix: str) -> list[Any]:
    """What is in a table after it was restored."""
    module = tf.Module()
    module.words = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, [0.0, 0.0])
    tf.train.Checkpoint(module=module).read(prefix).assert_consumed()
    return module.words.lookup(tf.constant(["y", "z", "x"])).numpy().tolist()


CHECKS = {
    "checkpoint": restored,
    "saved_model": loaded,
    "program": answered,
    "ops": computed,
    "texts": texts_computed,
    "table": looked_up,
}


def main() -> None:
    """Does what the arguments say."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    import tensorflow as tf  # pyright: ignore[reportMissingImports, reportMissingModuleSource]

    check, *arguments = sys.argv[1:]
    print(json.dumps(CHECKS[check](tf, *arguments)))


if __name__ == "__main__":
    main()
