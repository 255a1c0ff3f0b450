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

from tests.tensorflow_files import models

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
    for name in sys.argv[1:] or models.MODELS:
        data = recorded(tf, name)
        (FOLDER / f"{name}.zip").write_bytes(data)
        print(f"{name}: {len(data)} bytes")


if __name__ == "__main__":
    main()
