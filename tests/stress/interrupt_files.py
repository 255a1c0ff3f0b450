"""Interruptions: saving and restoring, datasets, summaries, Keras."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np
from tests.stress.engines import compiled
from tests.stress.entries import Entry
from tests.stress.run import counts
from tests.stress.scenarios import expect

import tapeflow as tf


class _InFolder(Entry):
    """Has a folder of its own."""

    def prepare(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="stress-")

    def __del__(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


class Checkpoints(_InFolder):
    """Saving and restoring: the file is the old or the new one, and so is each variable."""

    def prepare(self) -> None:
        super().prepare()
        self.a, self.b = self.variable(3), self.variable(40_000)
        self.checkpoint = tf.train.Checkpoint(a=self.a, b=self.b)
        self.manager = tf.train.CheckpointManager(self.checkpoint, self.folder, max_to_keep=2)

    def run(self) -> None:
        for v in (self.a, self.b):
            v.assign_add(tf.ones_like(v))
        self.manager.save()
        path = self.checkpoint.write(os.path.join(self.folder, "one"))
        self.checkpoint.read(path).assert_consumed()

    def check_results(self) -> None:
        for path in (os.path.join(self.folder, "one"), self.manager.latest_checkpoint):
            a, b = tf.Variable(tf.fill([3], -1.0)), tf.Variable(tf.fill([40_000], -1.0))
            tf.train.Checkpoint(a=a, b=b).read(path).expect_partial()
            expect(bool((a.numpy() == self.a.numpy()).all()), f"{path}: a is {a.numpy()}")
            expect(bool((b.numpy() == self.b.numpy()).all()), f"{path}: b is {b.numpy()[:3]}")


class Restoring(_InFolder):
    """Restoring into variables: each is the old or the new one."""

    def prepare(self) -> None:
        super().prepare()
        self.held = [tf.Variable(np.zeros(n, np.float32)) for n in (3, 40_000)]
        self.checkpoint = tf.train.Checkpoint(held=self.held)
        for v in self.held:
            v.assign(tf.ones_like(v))
        self.path = self.checkpoint.write(os.path.join(self.folder, "one"))

    def run(self) -> None:
        for v in self.held:
            v.assign(tf.zeros_like(v))
        self.checkpoint.read(self.path).assert_consumed()

    def check_values(self) -> None:
        for v in self.held:
            found = v.numpy()
            expect(bool((found == found[0]).all()) and found[0] in (0, 1), f"{np.unique(found)}")

    def check_results(self) -> None:
        expect(all(bool((v.numpy() == 1).all()) for v in self.held), "not restored")


class SavedModels(_InFolder):
    """`tf.saved_model.save` and `load`: the folder holds the old model or the new one."""

    turns = 3

    def prepare(self) -> None:
        super().prepare()
        self.module: Any = tf.Module()
        self.module.v = tf.Variable(np.zeros(100, np.float32))
        self.module.f = tf.function(
            lambda x: x + self.module.v,
            input_signature=[tf.TensorSpec([None, 100], tf.float32)],
        )
        self.path = os.path.join(self.folder, "model")

    def run(self) -> None:
        self.module.v.assign_add(tf.ones([100]))
        tf.saved_model.save(self.module, self.path)
        loaded = tf.saved_model.load(self.path)
        self.found = loaded.f(tf.zeros([2, 100])).numpy()

    def check_values(self) -> None:
        if os.path.exists(self.path):
            found = tf.saved_model.load(self.path).f(tf.zeros([2, 100])).numpy()
            now = self.module.v.numpy()[0]
            expect(
                bool(np.isin(found, (now, now - 1)).all()),
                f"loaded {np.unique(found)}, it is {now}",
            )

    def check_results(self) -> None:
        expect(bool((self.found == self.module.v.numpy()).all()), f"loaded {self.found[0, :3]}")


class Datasets(Entry):
    """A pass over a dataset with threads, a shuffle and Python code in it."""

    def prepare(self) -> None:
        kind = self.dice.randrange(4)
        data = tf.data.Dataset.range(60)
        if kind == 0:
            data = data.map(lambda x: x * 2, num_parallel_calls=3).shuffle(10).batch(7).prefetch(2)
        elif kind == 1:
            data = data.map(lambda x: tf.py_function(lambda v: v * 2, [x], tf.int64)).batch(7)
        elif kind == 2:
            made = tf.data.Dataset.from_generator(
                lambda: iter(range(0, 120, 2)), output_signature=tf.TensorSpec((), tf.int64)
            )
            data = made.prefetch(3).batch(7).prefetch(1)
        else:
            data = data.interleave(
                lambda x: tf.data.Dataset.from_tensors(x * 2), cycle_length=4, num_parallel_calls=2
            ).batch(7)
        self.data = data
        self.iterator: Any = None

    def run(self) -> None:
        self.iterator = iter(self.data)
        self.found = sorted(int(x) for batch in self.iterator for x in batch.numpy())

    def check_results(self) -> None:
        expect(self.found == list(range(0, 120, 2)), f"{len(self.found)} elements: {self.found}")

    def clean_up(self) -> None:
        self.iterator = None


class HalfReadIterator(Entry):
    """An iterator that was interrupted gives each of the other elements once, or begins again."""

    def run(self) -> None:
        data = tf.data.Dataset.range(50).map(lambda x: x + 1, num_parallel_calls=2).prefetch(2)
        self.numbers: list[int] = []
        self.iterator = iter(data)
        for x in self.iterator:
            self.numbers.append(int(x))

    def check_values(self) -> None:
        rest = [int(x) for x in getattr(self, "iterator", ())]
        numbers = self.numbers + rest
        expect(len(set(numbers)) == len(numbers), f"an element came twice: {numbers}")
        expect(sorted(numbers) == numbers, f"out of order: {numbers}")

    def check_results(self) -> None:
        expect(self.numbers == list(range(1, 51)), f"{self.numbers}")

    def clean_up(self) -> None:
        self.iterator = iter(())


class DatasetInFunction(Entry):
    """A loop over a dataset inside a function."""

    engines = ("numpy", "default")

    def prepare(self) -> None:
        total = self.variable()
        data = tf.data.Dataset.range(10).map(lambda x: tf.cast(x, tf.float32))

        def step() -> Any:
            found = 0.0
            for x in data:
                found += x
            total.assign_add(1.0)
            return found

        self.step = compiled(self.engine, step)

    def run(self) -> None:
        self.found = float(self.step())

    def check_results(self) -> None:
        expect(self.found == 45.0, f"the sum is {self.found}")


class Summaries(_InFolder):
    """Summaries are written, and the writer goes on."""

    def prepare(self) -> None:
        super().prepare()
        self.writer = tf.summary.create_file_writer(self.folder)
        self.count = 0

    def run(self) -> None:
        self.count += 1
        with self.writer.as_default(step=self.count):
            tf.summary.scalar("loss", 0.5)
            with tf.summary.record_if(False):
                tf.summary.scalar("forbidden", 0.5)
            with tf.summary.experimental.summary_scope("layer"):
                tf.summary.histogram("weights", np.arange(10.0))
        with tf.summary.create_noop_writer().as_default():
            tf.summary.scalar("nowhere", 0.5)
        self.writer.flush()

    def clean_up(self) -> None:
        self.writer.close()
        self.prepare_again()

    def prepare_again(self) -> None:
        self.writer = tf.summary.create_file_writer(self.folder)


class Fit(Entry):
    """Keras's `fit`: afterwards it trains as one that was never interrupted."""

    engines = ("numpy", "xla", "default")
    turns = 3

    def prepare(self) -> None:
        keras: Any = tf.keras
        keras.utils.set_random_seed(1)
        self.model = keras.Sequential([keras.layers.Dense(1, use_bias=False)])
        jit = {"numpy": False, "xla": True}.get(self.engine, "auto")
        self.model.compile(keras.optimizers.SGD(0.0625), loss="mse", jit_compile=jit)
        self.x = np.ones((32, 4), np.float32)
        self.y = np.zeros((32, 1), np.float32)
        self.model.build((None, 4))

    def run(self) -> None:
        self.model.fit(self.x, self.y, batch_size=8, epochs=2, verbose=0, shuffle=False)

    def check_values(self) -> None:
        weights = self.model.get_weights()[0]
        expect(bool(np.isfinite(weights).all()), f"weights {weights}")

    def check(self) -> None:
        # Each step takes half of what the sum of the weights is away: with w all equal, w -> w - 0.0625 * 2 * 4 w.
        self.model.set_weights([np.full((4, 1), 1.0, np.float32)])
        self.run()
        found = self.model.get_weights()[0]
        expect(np.allclose(found, 0.5**8), f"weights {found.ravel()} instead of {0.5**8}")
        expect(np.allclose(self.model.predict(self.x, verbose=0), 4 * 0.5**8), "predictions")


class KerasFiles(_InFolder):
    """`model.save` and `load_model`."""

    turns = 3

    def prepare(self) -> None:
        super().prepare()
        keras: Any = tf.keras
        self.model: Any = keras.Sequential([keras.layers.Dense(3)])
        self.model.build((None, 4))
        self.path = os.path.join(self.folder, "model.keras")
        self.x = np.ones((2, 4), np.float32)
        self.model.save(self.path)

    def run(self) -> None:
        self.model.save(self.path)
        self.loaded: Any = tf.keras.models.load_model(self.path)

    def check_values(self) -> None:
        loaded: Any = tf.keras.models.load_model(self.path)
        expect(np.allclose(loaded(self.x).numpy(), self.model(self.x).numpy()), "another model")

    def check_results(self) -> None:
        expect(
            np.allclose(self.loaded(self.x).numpy(), self.model(self.x).numpy()), "another model"
        )


class ImportingJax(Entry):
    """A process that is interrupted while jax is imported goes on training, and ends well."""

    engines = ("xla", "default", "hybrid")
    turns = 1
    in_this_process = False

    def run(self) -> None:
        seconds = self.dice.random() * 4.0
        command = [sys.executable, "-m", "tests.stress.cold", self.engine, str(seconds)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        expect(
            done.returncode == 0 and "Exception ignored" not in done.stderr,
            f"status {done.returncode} after {seconds} s:\n{done.stdout}\n{done.stderr[-3000:]}",
        )
        counts["imports interrupted"] += "interrupted: True" in done.stdout
