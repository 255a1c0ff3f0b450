"""Writes checkpoints and SavedModels with TensorFlow, and what it gives after it has loaded them.

    python -m tests.tensorflow_files.record [NAME ...]

`recorded/NAME.zip` has the files of a model, and `expected.json` its outputs and the next losses of its training.
"""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from tests.tensorflow_files import models, program

FOLDER = Path(__file__).parent / "recorded"


def recorded(tf: Any, name: str) -> bytes:
    """The archive of one model."""
    keras = tf.keras
    keras.utils.set_random_seed(3)
    model = models.compiled(name, keras)
    x, y = models.batch(name)
    models.trained(model, x, y, models.STEPS_BEFORE)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        tf.train.Checkpoint(model=model).write(str(folder / "ckpt"))
        model.export(str(folder / "saved_model"), verbose=False)
        expected = {
            "outputs": model(x).numpy().tolist(),
            "losses": models.trained(model, x, y, models.STEPS_AFTER),
        }
        loaded = tf.saved_model.load(str(folder / "saved_model"))
        expected["served"] = loaded.serve(x).numpy().tolist()
        expected["tuned"] = models.tuned(tf, loaded, x, y, models.STEPS_AFTER)
        (folder / "expected.json").write_text(json.dumps(expected))
        (folder / "saved_model" / "fingerprint.pb").unlink()
        return _archive(folder)


def recorded_program(tf: Any) -> bytes:
    """The archive of a module with functions of many kinds."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        made = program.module(tf)
        tf.saved_model.save(made, str(folder / "saved_model"), signatures=made.shapes)
        loaded = tf.saved_model.load(str(folder / "saved_model"))
        (folder / "expected.json").write_text(json.dumps(program.told(tf, loaded)))
        return _archive(folder)


def recorded_values(tf: Any) -> bytes:
    """The archive of a checkpoint with values of all kinds."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        module = tf.Module()
        module.rows = [tf.Variable([1.0, 2.0]), tf.Variable([[3]])]
        module.named = {"a": tf.Variable(4.0), "b/c.d": tf.Variable(True)}
        module.pair = (tf.Variable(5, dtype=tf.int64), tf.Variable(b"\xff\x00"))
        module.words = tf.Variable(["", "one", "three" * 60])
        module.none = tf.Variable(tf.zeros([0, 3]))
        for dtype in models.DTYPES:
            setattr(module, dtype, tf.Variable(tf.cast([0, 1, 3], dtype)))
        generator = tf.random.Generator.from_seed(5)
        generator.normal([3])
        checkpoint = tf.train.Checkpoint(module=module, generator=generator)
        checkpoint.save(str(folder / "ckpt"))
        parts = [tf.reshape(tf.range(12.0), [4, 3])[:2], tf.reshape(tf.range(12.0), [4, 3])[2:]]
        tf.raw_ops.SaveV2(
            prefix=str(folder / "parts"),
            tensor_names=["w", "w", "long"],
            shape_and_slices=["4 3 0,2:-", "4 3 2,2:0,3", "300 100,200"],
            tensors=[*parts, tf.range(200)],
        )
        tf.raw_ops.SaveV2(
            prefix=str(folder / "more"),
            tensor_names=["long"],
            shape_and_slices=["300 0,100"],
            tensors=[tf.range(100)],
        )
        tf.raw_ops.MergeV2Checkpoints(
            checkpoint_prefixes=[str(folder / "parts"), str(folder / "more")],
            destination_prefix=str(folder / "sliced"),
        )
        return _archive(folder)


def recorded_tables(tf: Any) -> bytes:
    """The archive of a checkpoint with tables that change, and with an iterator."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        module = tf.Module()
        tables = tf.lookup.experimental
        module.words = tables.MutableHashTable(tf.string, tf.int64, -1)
        module.words.insert(["a", "b", "c"], tf.constant([1, 2, 3], tf.int64))
        module.words.remove(tf.constant(["c"]))
        module.dense = tables.DenseHashTable(
            tf.int64, tf.float32, [0.0, 0.0], empty_key=-1, deleted_key=-2, initial_num_buckets=8
        )
        module.dense.insert(tf.constant([3, 4, 5], tf.int64), [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        module.dense.erase(tf.constant([5], tf.int64))
        module.v = tf.Variable(7.0)
        module.it = iter(tf.data.Dataset.range(5))
        next(module.it)
        tf.train.Checkpoint(module=module).write(str(folder / "ckpt"))
        return _archive(folder)


def _archive(folder: Path) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            entry = zipfile.ZipInfo(str(path.relative_to(folder)))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes(), compresslevel=9)
    return out.getvalue()


def main() -> None:
    """Records all models, or those that are named."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    import tensorflow as tf  # pyright: ignore[reportMissingImports, reportMissingModuleSource]

    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or [*models.MODELS, "values", "program", "tables"]:
        special = {
            "values": recorded_values,
            "program": recorded_program,
            "tables": recorded_tables,
        }
        data = special[name](tf) if name in special else recorded(tf, name)
        (FOLDER / f"{name}.zip").write_bytes(data)
        print(f"{name}: {len(data)} bytes")


if __name__ == "__main__":
    main()
