"""Makes the pictures in docs/inspect.md: pages of `tapeflow.inspect`, as Chromium shows them.

python scripts/pictures.py [folder]
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import tapeflow
import tapeflow as tf

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs/images/inspect"


def example(name: str) -> Any:
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"examples/{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def transformer() -> Any:
    """A training step of the transformer that writes."""
    writing = example("char_transformer")
    tf.keras.utils.set_random_seed(1)
    model = writing.Transformer()
    optimizer = tf.keras.optimizers.Adam(4e-3)

    @tf.function
    def train_step(codes: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            logits, _ = model(codes[:, :-1])
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(codes[:, 1:], logits)
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    codes = tf.constant(writing.encoded(writing.made_up(32, seed=1)))
    return tapeflow.inspect(train_step, codes)


def resnet() -> Any:
    """A step of `fit` with a ResNet."""
    tf.keras.utils.set_random_seed(1)
    untrained: Any = None
    model = tf.keras.applications.ResNet50(weights=untrained, input_shape=(64, 64, 3), classes=10)
    model.compile("sgd", "sparse_categorical_crossentropy")
    rng = np.random.default_rng(0)
    x = rng.normal(size=[4, 64, 64, 3]).astype("float32")
    return tapeflow.inspect(model, x, rng.integers(0, 10, 4))


def tape() -> Any:
    """A tape with gradients that are None."""
    names = ("w", "b", "scale", "offset")
    w, b, scale, offset = (
        tf.Variable(value, name=n) for n, value in zip(names, (2.0, 0.5, 4.0, 1.0), strict=True)
    )
    x = tf.constant([[3.0, 4.0]])
    with tf.GradientTape(debug=True) as tape:
        h = tf.nn.relu(x * w)
        k = np.sqrt(scale.numpy())
        y = h * k + tf.stop_gradient(h + b)
        loss = tf.reduce_mean(y)
    return tapeflow.inspect(tape, loss, [w, b, scale, offset, x])


def picture(page: Any, path: Path, width: int, height: int, dark: bool) -> None:
    """A picture of the top of a page."""
    with tempfile.TemporaryDirectory() as folder:
        file = page.save(Path(folder) / "page.html")
        options = [
            *("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
            f"--window-size={width},{height}",
            f"--blink-settings=preferredColorScheme={0 if dark else 1}",
            f"--screenshot={path}",
        ]
        subprocess.run([BROWSER, *options, f"file://{file}"], check=True, capture_output=True)
    print(path)


BROWSER = shutil.which("chromium") or ""

if __name__ == "__main__":
    if not BROWSER:
        sys.exit("Chromium is not installed: apt-get install chromium")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    of_transformer = transformer()
    picture(of_transformer, folder / "transformer.png", 1600, 1330, dark=False)
    picture(of_transformer, folder / "small.png", 500, 1800, dark=True)
    picture(tape(), folder / "tape.png", 1600, 1700, dark=False)
    picture(resnet(), folder / "resnet.png", 1600, 1330, dark=True)
