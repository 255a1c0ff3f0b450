"""Everything that writes a file: each saves a number, and loads it again."""

from __future__ import annotations

import glob
import os
from typing import Any

import numpy as np
from tests.stress.scenarios import expect

import tapeflow as tf

WRITERS: dict[str, type[Writer]] = {}
SIZE = 20_000


class Writer:
    """Saves a number in a folder.

    Attributes:
      more_files: how many files may be there after kills besides those a save makes.
    """

    more_files = 0

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.path = os.path.join(folder, "saved")
        self.prepare()

    def __init_subclass__(cls) -> None:
        if not cls.__name__.startswith("_"):
            WRITERS[cls.__name__] = cls

    def prepare(self) -> None:
        """Makes what is saved."""

    def save(self, number: int) -> None:
        """Saves it."""
        raise NotImplementedError

    def load(self) -> int | None:
        """The number that is saved, or None if there is nothing yet."""
        raise NotImplementedError


def whole(value: Any) -> int:
    """The number that all elements of an array are."""
    array = np.asarray(value)
    first = float(array.flat[0])
    expect(bool((array == first).all()), f"a mixture of {np.unique(array)[:5]}")
    return int(first)


class _Variables(Writer):
    def prepare(self) -> None:
        self.small = tf.Variable(np.zeros(3, np.float32))
        self.large = tf.Variable(np.zeros(SIZE, np.float32))
        self.checkpoint = tf.train.Checkpoint(small=self.small, large=self.large)

    def put(self, number: int) -> None:
        for v in (self.small, self.large):
            v.assign(tf.fill(v.shape, float(number)))

    def number(self) -> int:
        small, large = whole(self.small.numpy()), whole(self.large.numpy())
        expect(small == large, f"a mixture of {small} and {large}")
        return small


class CheckpointWrite(_Variables):
    """`Checkpoint.write` over the file of before."""

    def save(self, number: int) -> None:
        self.put(number)
        self.checkpoint.write(self.path)

    def load(self) -> int | None:
        if not glob.glob(self.path + "*"):
            return None
        try:
            self.checkpoint.read(self.path).assert_consumed()
        except tf.errors.NotFoundError:
            return None
        return self.number()


class CheckpointSave(_Variables):
    """`Checkpoint.save`, which numbers its files, and a note of which is the latest."""

    more_files = 1000  # all numbers stay

    def prepare(self) -> None:
        super().prepare()
        latest = tf.train.latest_checkpoint(self.folder)
        if latest is not None:
            self.checkpoint.restore(latest).expect_partial()

    def save(self, number: int) -> None:
        self.put(number)
        self.checkpoint.save(self.path)

    def load(self) -> int | None:
        latest = tf.train.latest_checkpoint(self.folder)
        if latest is None:
            return None
        self.checkpoint.restore(latest).expect_partial()
        return self.number()


class Manager(_Variables):
    """`CheckpointManager`, which removes old files."""

    more_files = 3

    def prepare(self) -> None:
        super().prepare()
        self.manager = tf.train.CheckpointManager(self.checkpoint, self.folder, max_to_keep=2)
        self.manager.restore_or_initialize()

    def save(self, number: int) -> None:
        self.put(number)
        self.manager.save()

    def load(self) -> int | None:
        latest = self.manager.latest_checkpoint
        if latest is None:
            return None
        self.checkpoint.restore(latest).expect_partial()
        return self.number()


class SavedModel(Writer):
    """`tf.saved_model.save` into the folder of before."""

    def prepare(self) -> None:
        self.module = tf.Module()
        self.module.v = tf.Variable(np.zeros(SIZE, np.float32))
        self.module.f = tf.function(
            lambda x: x + self.module.v, input_signature=[tf.TensorSpec([SIZE], tf.float32)]
        )

    def save(self, number: int) -> None:
        self.module.v.assign(tf.fill([SIZE], float(number)))
        tf.saved_model.save(self.module, self.path)

    def load(self) -> int | None:
        if not tf.saved_model.contains_saved_model(self.path):
            return None
        return whole(tf.saved_model.load(self.path).f(tf.zeros([SIZE])).numpy())


class _Keras(Writer):
    ending = ".keras"

    def prepare(self) -> None:
        keras: Any = tf.keras
        self.model = keras.Sequential([keras.layers.Dense(50, use_bias=False)])
        self.model.build((None, 40))
        self.path += self.ending

    def put(self, number: int) -> None:
        self.model.set_weights([np.full((40, 50), number, np.float32)])


class KerasModel(_Keras):
    """`model.save` of a `.keras` file."""

    def save(self, number: int) -> None:
        self.put(number)
        self.model.save(self.path)

    def load(self) -> int | None:
        if not os.path.exists(self.path):
            return None
        return whole(tf.keras.models.load_model(self.path).get_weights()[0])


class KerasWeights(_Keras):
    """`model.save_weights`."""

    ending = ".weights.h5"

    def save(self, number: int) -> None:
        self.put(number)
        self.model.save_weights(self.path, overwrite=True)

    def load(self) -> int | None:
        if not os.path.exists(self.path):
            return None
        self.model.load_weights(self.path)
        return whole(self.model.get_weights()[0])


class DatasetCache(Writer):
    """`Dataset.cache` in a file, which is complete or not there. Each number has a file of its own."""

    more_files = 1000  # one for each number

    def dataset(self, number: int) -> Any:
        data = tf.data.Dataset.range(200).map(lambda x: x * 0 + number)
        return data.cache(f"{self.path}-{number}")

    def save(self, number: int) -> None:
        for x in self.dataset(number):
            expect(int(x) == number, f"{int(x)} in the cache of {number}")
        left = glob.glob(f"{self.path}-{number}*")
        expect(len(left) == 1, f"files of killed writers stay for ever: {left}")

    def load(self) -> int | None:
        last = None
        for number in range(1, 100):
            if not glob.glob(f"{self.path}-{number}*"):
                break
            if not os.path.exists(f"{self.path}-{number}.data"):
                break  # it was not finished
            found = [int(x) for x in self.dataset(number)]
            expect(
                found == [number] * 200,
                f"the cache of {number} has {len(found)} elements: {found[:4]}",
            )
            last = number
        return last


class Summary(Writer):
    """Summaries that were flushed are in the file."""

    more_files = 1000  # each writer has a file of its own

    def prepare(self) -> None:
        self.writer: Any = None

    def save(self, number: int) -> None:
        if self.writer is None:
            self.writer = tf.summary.create_file_writer(self.folder)
        with self.writer.as_default():
            tf.summary.scalar("number", float(number), step=number)
            tf.summary.text("long", "x" * 20_000, step=number)
        self.writer.flush()

    def load(self) -> int | None:
        from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

        steps = [
            event.step
            for path in glob.glob(os.path.join(self.folder, "events*"))
            for event in EventFileLoader(path).Load()
            if event.HasField("summary") and event.summary.value[0].tag == "number"
        ]
        return max(steps, default=None)
