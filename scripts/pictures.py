"""Makes the pictures in docs/inspect.md and docs/gallery.md: pages of `tapeflow.inspect`, as Chromium shows them.

python scripts/pictures.py [folder]            those
python scripts/pictures.py --every [folder]    whole pages, narrow and wide, light and dark, to look at
"""

from __future__ import annotations

import base64
import importlib.util
import io
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from selenium import webdriver

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
    return tapeflow.inspect(model.train_step, (x, rng.integers(0, 10, 4)))


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


PAGES = {"transformer": transformer, "resnet": resnet, "tape": tape}
SHOWN = (("transformer", 1600, 1330, "light"), ("transformer", 400, 1500, "dark"))
SHOWN += (("resnet", 1600, 1330, "dark"), ("tape", 1600, 1560, "light"))
EVERY = [
    (name, width, None, scheme)
    for name in PAGES
    for width in (400, 1600)
    for scheme in ("light", "dark")
]


def browser() -> Any:
    """Chromium without a window."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    driver = shutil.which("chromedriver")
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


def picture(driver: Any, width: int, height: int | None, scheme: str, path: Path) -> None:
    """Writes a picture of the top of the page that is open, or of all of it, in a few colours, so that it is small."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    # Boxes on the page are as high as the window lets them be: as on a screen at first.
    size["height"] = height or driver.execute_script("return document.body.scrollHeight")
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    time.sleep(0.5)  # for what is drawn anew when sizes change
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    image = Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")
    image.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        path, optimize=True
    )
    print(path, f"{path.stat().st_size // 1024} KiB")


def main(every: bool, folder: Path) -> None:
    """Writes those that the pages show, or every one."""
    folder.mkdir(parents=True, exist_ok=True)
    driver = browser()
    wanted = EVERY if every else SHOWN
    with tempfile.TemporaryDirectory() as pages:
        for name, make in PAGES.items():
            driver.get(f"file://{make().save(Path(pages) / 'page.html')}")
            for _, width, height, scheme in (each for each in wanted if each[0] == name):
                full = f"{name}-{width}-{scheme}" if every else name
                small = "" if every or width > 500 else "-small"
                picture(driver, width, height, scheme, folder / f"{full}{small}.png")
    driver.quit()


if __name__ == "__main__":
    every = "--every" in sys.argv
    (*given,) = (argument for argument in sys.argv[1:] if argument != "--every")
    main(every, Path(given[0]) if given else FOLDER)
