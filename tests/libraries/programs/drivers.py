"""Runs one program in the environment it finds, and writes its numbers and its seconds.

    python drivers.py vqvae FOLDER RESULT

Nothing of this repository is imported: the same file runs on TensorFlow and on tapeflow. Data that a program would
download is made here, small and from a fixed seed.
"""

from __future__ import annotations

import io
import json
import pickle
import sys
import tarfile
import time
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

Namespace = dict[str, Any]
SEED = 1


def execute(folder: Path, name: str = "program") -> Namespace:
    """Runs the file, and gives its names."""
    # Keras and Sonnet look a class's module up, so there has to be one.
    module = types.ModuleType(name)
    sys.modules[name] = module
    file = folder / "edited.py"
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), vars(module))
    return vars(module)


def floats(values: Iterable[Any]) -> list[float]:
    """All elements, in a list."""
    return [float(x) for value in values for x in np.asarray(value, np.float64).ravel()]


def pictures(count: int, size: int, channels: int) -> np.ndarray:
    """Smooth pictures, [count, size, size, channels] from 0 to 255."""
    random = np.random.default_rng(SEED)
    ramp = np.linspace(0, 3, size)
    phase = random.uniform(0, 6, (4, count, 1, 1, channels))
    waves = np.sin(phase[0] + phase[1] * ramp[:, None, None]) + np.cos(
        phase[2] + phase[3] * ramp[:, None]
    )
    return np.round(255 * (waves + 2) / 4).astype(np.uint8)


def gpflow(folder: Path) -> list[float]:
    """GPflow's own benchmark, the tasks of two suites, without the metrics that are times."""
    # It describes the machine, with libraries of its own, for a file that is not written here.
    metadata: Any = types.ModuleType("benchmark.metadata")
    metadata.BenchmarkMetadata = metadata.parse_timestamp = None
    sys.modules["benchmark.metadata"] = metadata
    import benchmark.benchmarks  # noqa: F401
    import gpflow
    from benchmark.benchmark_api import BENCHMARK_SUITES
    from benchmark.run import BASE_SEED, _collect_metrics

    data = folder / "data" / "boston"
    data.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(SEED)
    x = random.uniform(1, 9, (100, 13))
    y = np.sin(x[:, :1]) + 0.3 * x[:, 1:2] + 0.1 * random.normal(size=(100, 1)) + 10
    rows = ["".join(f"{v:10.4f}" for v in row) for row in np.hstack([x, y])]
    (data / "housing.data").write_text("\n".join(rows) + "\n")

    minimize = gpflow.optimizers.Scipy.minimize

    def shortened(self: Any, *arguments: Any, options: Any = None, **rest: Any) -> Any:
        return minimize(self, *arguments, options={"maxiter": 10}, **rest)

    gpflow.optimizers.Scipy.minimize = shortened
    numbers = []
    for suite in ("integration_test", "ci"):
        for task in BENCHMARK_SUITES.get(suite).get_tasks():
            found = _collect_metrics(task, folder / "data", BASE_SEED) or {}
            numbers += [value for metric, value in found.items() if "time" not in metric.name]
    return floats(numbers)


def iwae(folder: Path) -> list[float]:
    """Trains the autoencoder on forty batches, as its main program does."""
    import tensorflow as tf
    from tensorflow import keras

    digits = pictures(800, 28, 1)[..., 0]
    labels = np.arange(800) % 10
    keras.datasets.mnist.load_data = lambda: ((digits, labels), (digits, labels))
    keras.utils.set_random_seed(SEED)
    model = execute(folder)["IWAE"](200, 50)
    optimizer = keras.optimizers.Adam(1e-3)
    images = np.random.binomial(1, digits.reshape(800, 784) / 255).astype(np.float32)
    batches = tf.data.Dataset.from_tensor_slices(images).shuffle(800).batch(20)
    names = ("vae_elbo", "vae_elbo_kl", "iwae_elbo", "iwae_eq14")
    numbers = []
    for batch in batches:
        found = model.train_step(batch, 5, tf.constant(1.0), optimizer, objective="iwae_elbo")
        numbers += [found[name] for name in names]
    for _ in range(2):
        found = model.val_step(images[:100], 50, tf.constant(1.0))
        numbers += [found[name] for name in names]
    drawn, chances = model.sample(tf.random.normal([1, 16, 50]))
    return floats([*numbers, tf.reduce_mean(tf.cast(drawn, tf.float32), -1), chances[..., ::50]])


def navier_stokes(folder: Path) -> list[float]:
    """Solves the equations; the losses, and how far the solution is from the exact one."""
    import keras

    # DeepXDE makes its initializers, whose seeds Keras draws, when it is imported.
    keras.utils.set_random_seed(SEED)
    import deepxde

    deepxde.config.set_random_seed(SEED)
    deepxde.optimizers.set_LBFGS_options(maxiter=5)
    names = execute(folder)
    losses = names["losshistory"].loss_train
    errors = [value for name, value in names.items() if name.startswith(("l2_", "residual_"))]
    return floats([*losses, *errors])


def vqvae(folder: Path) -> list[float]:
    """Trains the model; losses, perplexities and a few reconstructions."""
    import six.moves
    import tensorflow as tf

    images = pictures(360, 32, 3).transpose(0, 3, 1, 2).reshape(6, 60, 3072)
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for number, batch in enumerate(images, 1):
            name = f"data_batch_{number}" if number < 6 else "test_batch"
            content = pickle.dumps({"data": batch, "labels": list(range(60))})
            entry = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    archive.seek(0)
    six.moves.urllib.request.urlopen = lambda _: archive
    tf.random.set_seed(SEED)
    names = execute(folder)
    losses = [names[f"train_{what}"] for what in ("losses", "recon_errors", "perplexities")]
    return floats([*losses, names["valid_reconstructions"][:, ::8, ::8]])


def glue(folder: Path) -> list[float]:
    """Trains the classifier, and predicts: the losses and accuracies of each epoch, and the classes predicted."""
    import keras
    import keras_hub
    import tensorflow as tf

    words = [f"word{i}" for i in range(200)]
    random = np.random.default_rng(SEED)

    def sentences(count: int) -> list[str]:
        return [" ".join(random.choice(words, random.integers(4, 20))) for _ in range(count)]

    def part(count: int) -> tf.data.Dataset:
        first, second = sentences(count), sentences(count)
        labels = np.array([len(a) > len(b) for a, b in zip(first, second, strict=True)], np.int64)
        return tf.data.Dataset.from_tensor_slices(
            {"sentence1": first, "sentence2": second, "label": labels, "idx": np.arange(count)}
        )

    datasets: Any = types.ModuleType("tensorflow_datasets")
    datasets.load = lambda _, split: [part(192 if which == "train" else 64) for which in split]
    sys.modules["tensorflow_datasets"] = datasets
    sys.modules["keras_nlp"] = keras_hub
    tokenizer = keras_hub.models.BertTokenizer(
        ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    )
    preprocessor = keras_hub.models.BertPreprocessor(tokenizer, sequence_length=48)
    kinds = {"padding_mask": tf.bool, "segment_ids": tf.int32, "token_ids": tf.int32}

    def prepared(*sentences: bytes) -> list[Any]:
        # By its name: the second of a pair by position would be taken for a label.
        found = preprocessor(x=tuple(sentence.decode() for sentence in sentences))
        return [np.asarray(found[name], kind.as_numpy_dtype) for name, kind in kinds.items()]

    def in_python(sentences: Any) -> Any:
        """In graphs, keras-hub's tokenizers are ops of TensorFlow Text, for TensorFlow alone; outside, Python."""
        found = tf.numpy_function(prepared, sentences, [*kinds.values()])
        return {name: tf.ensure_shape(x, [48]) for name, x in zip(kinds, found, strict=True)}

    keras_hub.models.BertPreprocessor.from_preset = staticmethod(lambda _: in_python)
    sizes = {"vocabulary_size": 205, "num_layers": 2, "num_heads": 4, "hidden_dim": 64}
    keras_hub.models.BertBackbone.from_preset = staticmethod(
        lambda _: keras_hub.models.BertBackbone(
            **sizes, intermediate_dim=128, max_sequence_length=48
        )
    )
    histories = []
    fit = keras.Model.fit

    def remembered(self: Any, *arguments: Any, **rest: Any) -> Any:
        histories.append(fit(self, *arguments, **rest).history)

    keras_hub.models.BertClassifier.fit = remembered
    keras.utils.set_random_seed(SEED)
    names = execute(folder)
    names["FLAGS"](["glue", f"--submission_directory={folder / 'out'}", "--learning_rate=1e-3"])
    names["main"](None)
    predicted = np.loadtxt(folder / "out" / "MRPC.tsv", delimiter="\t", skiprows=1)
    return floats([*histories[0].values(), predicted[:, 1]])


DRIVERS: dict[str, Callable[[Path], list[float]]] = {
    "gpflow": gpflow,
    "iwae": iwae,
    "navier-stokes": navier_stokes,
    "vqvae": vqvae,
    "glue": glue,
}


def main(name: str, folder: str, result: str) -> None:
    """Runs the driver, and writes what it found.

    The imports of TensorFlow and of Keras are not in the seconds: where TensorFlow is, the one brings the other.
    """
    import keras  # noqa: F401
    import tensorflow as tf

    start = (time.perf_counter(), time.process_time())
    numbers = DRIVERS[name](Path(folder))
    seconds = (time.perf_counter() - start[0], time.process_time() - start[1])
    found = {"numbers": numbers, "seconds": seconds, "version": tf.__version__}
    Path(result).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
