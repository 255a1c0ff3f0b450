"""Kills processes that save, at random moments, and looks at what they leave. Run by test_crash.py.

One process imports the libraries; each victim is a copy of it (`fork`), which saves in a loop until it is killed. All
that it saves at one time is equal to the number of the save, so that a mixture of two would show.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import tapeflow as tf
import tapeflow.data
import tapeflow.io
import tapeflow.saved_model

keras = tf.keras
SIZE = 30_000


def _model(number: float) -> Any:
    model = keras.Sequential([keras.Input((SIZE,)), keras.layers.Dense(2)])
    model.set_weights([np.full_like(w, number) for w in model.get_weights()])
    return model


def _numbers(model: Any) -> Any:
    return np.concatenate([w.ravel() for w in model.get_weights()])


def _module(number: float) -> Any:
    module = tf.Module()
    module.parts = [tf.Variable(np.full(SIZE, number, np.float32)) for _ in range(3)]
    return module


def _backup(path: str, number: float) -> None:
    callback = keras.callbacks.BackupAndRestore(path, double_checkpoint=True)
    callback.set_model(_model(number))
    callback._current_epoch = int(number)
    callback._save_model()


def _from_backup(path: str) -> Any:
    with open(os.path.join(path, "training_metadata.json")) as file:
        assert json.load(file)["batch"] == 0
    model = _model(0)
    model.load_weights(os.path.join(path, "latest.weights.h5"))
    return _numbers(model)


def _weights(path: str) -> Any:
    model = _model(0)
    model.load_weights(path)
    return _numbers(model)


def _cached(path: str, number: float) -> None:
    """A cache is written once. It is taken away first, as a user would who wants it made again."""
    rows = tf.data.Dataset.from_generator(
        lambda: iter(np.full((50, 500), number)), output_signature=tf.TensorSpec((500,), tf.float64)
    )
    kept = path + ".data"
    if os.path.exists(kept):
        os.replace(kept, path + ".old.data")
    list(rows.cache(path))


def _from_cache(path: str) -> Any:
    empty = tf.data.Dataset.from_tensor_slices(np.zeros((0, 500)))
    where = path if os.path.exists(path + ".data") else path + ".old"
    rows = [x.numpy() for x in empty.cache(where)]
    assert len(rows) == 50
    return np.concatenate(rows)


WRITERS: dict[str, tuple[str, Callable[[str, float], None], Callable[[str], Any]]] = {
    "keras": (
        "m.keras",
        lambda path, n: _model(n).save(path),
        lambda path: _numbers(keras.models.load_model(path)),
    ),
    "weights": ("m.weights.h5", lambda path, n: _model(n).save_weights(path), _weights),
    "h5": (
        "m.h5",
        lambda path, n: _model(n).save(path),
        lambda path: _numbers(keras.models.load_model(path)),
    ),
    "backup": ("backup", _backup, _from_backup),
    "saved_model": (
        "model",
        lambda path, n: tf.saved_model.save(_module(n), path),
        lambda path: np.concatenate([v.numpy() for v in tf.saved_model.load(path).parts]),
    ),
    "write_file": (
        "text",
        lambda path, n: tf.io.write_file(path, np.full(SIZE, float(n)).tobytes()),
        lambda path: np.frombuffer(tf.io.read_file(path).numpy()),
    ),
    "cache": ("rows", _cached, _from_cache),
}


def killed(write: Callable[[str, float], None], path: str, delay: float) -> int:
    """Lets a victim save for a while, and returns the number of its last finished save."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        for number in range(1, 1000):
            write(path, number)
            os.write(writing, f"{number}\n".encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        first = file.readline()  # there is a file from here on
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return int((first + file.read()).split()[-1])


def looked_at(folder: str, name: str, times: int) -> dict[str, Any]:
    """What came of so many victims that write with one of the writers."""
    filename, write, read = WRITERS[name]
    moments = random.Random(name)
    flaws: list[str] = []
    interrupted = 0
    path = os.path.join(folder, filename)
    for turn in range(times):
        finished = killed(write, path, moments.uniform(0.0, 0.06))
        interrupted += bool(_leftovers(folder))
        try:
            found = np.unique(read(path)).tolist()
        except Exception as error:
            flaws.append(f"turn {turn}: {type(error).__name__}: {error}")
            continue
        if len(found) != 1 or found[0] not in (finished, finished + 1):
            flaws.append(f"turn {turn}: {found} is there, and {finished} was saved")
    write(path, 7.0)
    return {"flaws": flaws, "interrupted": interrupted, "left": _leftovers(folder)}


def _leftovers(folder: str) -> list[str]:
    return [name for _, _, names in os.walk(folder) for name in names if ".tmp" in name]


def main(folder: str, times: int, *names: str) -> None:
    report = {}
    for name in names or WRITERS:
        os.makedirs(os.path.join(folder, name))
        report[name] = looked_at(os.path.join(folder, name), name, times)
    print(json.dumps(report))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
