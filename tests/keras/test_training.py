"""`fit` and its kin: where the data comes from, what callbacks see, and what a custom step may do."""

from __future__ import annotations

import csv
import gzip
import json

import numpy as np
import pytest
from tests.core.interruptions import interrupted
from tests.engines.only import PROGRAMS, run_all_on

import tapeflow as tf

keras = tf.keras


def problem(count: int = 96) -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(0).normal(size=(count, 4)).astype("float32")
    return x, (x.sum(1) > 0).astype("int32")


def classifier(**options) -> keras.Model:
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(
        **{"optimizer": keras.optimizers.Adam(1e-2), "loss": loss, "metrics": ["accuracy"]}
        | options
    )
    return model


def weights_of(model: keras.Model) -> list[np.ndarray]:
    return [np.array(w) for w in model.get_weights()]


def assert_same_weights(a: keras.Model, b: keras.Model, **tolerance) -> None:
    for mine, other in zip(weights_of(a), weights_of(b), strict=True):
        np.testing.assert_allclose(mine, other, **({"atol": 1e-6} | tolerance))


class TestWhereDataComesFrom:
    def sources(self):
        x, y = problem()

        class Batches(keras.utils.PyDataset):
            def __len__(self):
                return 3

            def __getitem__(self, index):
                part = slice(32 * index, 32 * index + 32)
                return x[part], y[part]

        def generator():
            for i in range(0, 96, 32):
                yield x[i : i + 32], y[i : i + 32]

        return {
            "arrays": ((x, y), {"batch_size": 32}),
            "tensors": ((tf.constant(x), tf.constant(y)), {"batch_size": 32}),
            "lists in a dataset": (
                (tf.data.Dataset.from_tensor_slices((x, y)).batch(32),),
                {},
            ),
            "a prefetched dataset": (
                (tf.data.Dataset.from_tensor_slices((x, y)).batch(32).prefetch(2),),
                {},
            ),
            "a dataset without end": (
                (tf.data.Dataset.from_tensor_slices((x, y)).batch(32).repeat(),),
                {"steps_per_epoch": 3},
            ),
            "generator": ((generator(),), {}),
            "PyDataset": ((Batches(),), {}),
        }

    @pytest.mark.parametrize(
        "name",
        [
            "tensors",
            "lists in a dataset",
            "a prefetched dataset",
            "a dataset without end",
            "generator",
            "PyDataset",
        ],
    )
    @pytest.mark.filterwarnings("ignore:Your input ran out of data")  # Keras says so of generators
    def test_all_train_alike(self, name):
        found = {}
        for each in ("arrays", name):
            data, options = self.sources()[each]
            model = classifier()
            model.fit(*data, epochs=1, shuffle=False, verbose=0, **options)
            found[each] = model
        assert_same_weights(found["arrays"], found[name])

    def test_pandas(self):
        pandas = pytest.importorskip("pandas", reason="pandas is not installed")
        x, y = problem()
        plain, framed = classifier(), classifier()
        plain.fit(x, y, shuffle=False, verbose=0)
        framed.fit(pandas.DataFrame(x), pandas.Series(y), shuffle=False, verbose=0)
        assert_same_weights(plain, framed)

    def test_a_dataset_has_no_targets_beside_it(self):
        x, y = problem()
        dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
        with pytest.raises(ValueError, match="`y` should not be passed"):
            classifier().fit(dataset, y)

    def test_each_epoch_of_a_shuffled_dataset_has_its_order_on_tensorflow(self):
        keras.utils.set_random_seed(1)
        data = tf.data.Dataset.range(8).shuffle(8, seed=1).batch(4)
        seen = []

        class Noting(keras.Model):
            def train_step(self, batch):
                seen.extend(batch.numpy().tolist())
                return {}

        model = Noting()
        model.compile(run_eagerly=True)
        model.fit(data, epochs=3, verbose=0)
        # Keras makes two iterators for each epoch, and so every other order of the dataset is left out.
        orders = [2, 4, 1, 0, 5, 7, 6, 3], [1, 5, 2, 7, 0, 4, 6, 3], [5, 4, 2, 6, 1, 0, 7, 3]
        assert seen == [x for order in orders for x in order]

    def test_the_last_batch_may_be_smaller(self):
        x, y = problem(50)
        model = classifier()
        history = model.fit(x, y, batch_size=16, epochs=2, verbose=0)
        assert len(history.history["loss"]) == 2
        assert model.predict(x, batch_size=16, verbose=0).shape == (50, 2)

    def test_arrays_are_not_changed_and_not_kept(self):
        x, y = problem()
        before = x.copy()
        model = classifier()
        model.fit(x, y, verbose=0)
        first = model.predict(x, verbose=0)
        np.testing.assert_array_equal(x, before)
        x[:] = 0
        assert not np.allclose(model.predict(x, verbose=0), first)


class TestWeights:
    def test_class_weights_are_sample_weights(self):
        x, y = problem()
        one, other, third = classifier(), classifier(), classifier()
        one.fit(x, y, class_weight={0: 1.0, 1: 3.0}, shuffle=False, verbose=0)
        other.fit(x, y, sample_weight=np.where(y, 3.0, 1.0), shuffle=False, verbose=0)
        dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
        third.fit(dataset, class_weight={0: 1.0, 1: 3.0}, verbose=0)
        assert_same_weights(one, other)
        assert_same_weights(one, third)

    def test_a_sample_without_weight_does_not_count(self):
        x, y = problem()
        weight = np.ones(96, "float32")
        weight[48:] = 0
        noisy = y.copy()
        noisy[48:] = 1 - noisy[48:]
        one, other = classifier(), classifier()
        one.fit(x, y, sample_weight=weight, shuffle=False, verbose=0)
        other.fit(x, noisy, sample_weight=weight, shuffle=False, verbose=0)
        assert_same_weights(one, other)


class TestWaysToRun:
    @pytest.mark.parametrize(
        "options",
        [
            {"run_eagerly": True},
            {"steps_per_execution": 3},
            pytest.param({"jit_compile": True}, id="jit_compile"),
        ],
        ids=str,
    )
    @pytest.mark.sample(3)
    def test_all_give_the_same(self, options):
        if options.get("jit_compile"):
            pytest.importorskip("jax", reason="XLA comes with jax")
        x, y = problem()
        plain, other = classifier(), classifier(**options)
        for model in (plain, other):
            model.fit(x, y, epochs=2, batch_size=16, shuffle=False, verbose=0)
        assert_same_weights(plain, other, atol=1e-5)
        np.testing.assert_allclose(
            plain.evaluate(x, y, verbose=0), other.evaluate(x, y, verbose=0), rtol=1e-4
        )

    def test_gradient_accumulation_is_a_large_batch(self):
        x, y = problem(64)
        large = classifier(optimizer=keras.optimizers.SGD(0.1))
        small = classifier(optimizer=keras.optimizers.SGD(0.1, gradient_accumulation_steps=4))
        large.fit(x, y, batch_size=64, epochs=3, shuffle=False, verbose=0)
        small.fit(x, y, batch_size=16, epochs=3, shuffle=False, verbose=0)
        assert_same_weights(large, small, atol=1e-6)

    def test_python_runs_once_for_all_epochs(self):
        traces = []

        class Noting(keras.Model):
            def __init__(self):
                super().__init__()
                self.dense = keras.layers.Dense(2)

            def call(self, x):
                traces.append(x.shape)
                return self.dense(x)

        x, y = problem(64)
        model = Noting()
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile("sgd", loss)
        model.fit(x, y, batch_size=16, epochs=5, verbose=0)
        assert len(traces) == 3  # to build the model, to make all variables, and to train it

    def test_on_batch(self):
        x, y = problem()
        model, other = classifier(), classifier()
        model.fit(x, y, batch_size=96, shuffle=False, verbose=0)
        other.train_on_batch(x, y)
        assert_same_weights(model, other)
        logs = other.test_on_batch(x, y, return_dict=True)
        np.testing.assert_allclose(logs["loss"], other.evaluate(x, y, verbose=0)[0], rtol=1e-5)
        np.testing.assert_allclose(
            other.predict_on_batch(x), other.predict(x, verbose=0), atol=1e-6
        )

    def test_trainable_can_be_switched(self):
        x, y = problem()
        model = classifier()
        model.layers[0].trainable = False
        model.compile("sgd", "mse")
        before = weights_of(model)
        model.fit(x, np.eye(2)[y], verbose=0)
        moved = [not np.allclose(a, b) for a, b in zip(before, weights_of(model), strict=True)]
        assert moved == [False, False, True, True]
        model.layers[0].trainable = True
        model.compile("sgd", "mse")
        model.fit(x, np.eye(2)[y], verbose=0)
        assert not np.allclose(before[0], weights_of(model)[0])


class TestInterruptions:
    @pytest.mark.parametrize("program", PROGRAMS)
    @pytest.mark.sample(1)
    def test_a_model_that_was_interrupted_trains_on(self, program, monkeypatch):
        run_all_on(monkeypatch, program)
        x, y = problem()
        model, other = (classifier(optimizer=keras.optimizers.SGD(0.1)) for _ in range(2))
        start = weights_of(model)
        other.fit(x, y, verbose=0, shuffle=False)
        model.fit(x, y, verbose=0, shuffle=False)
        for at in range(0, 100_000, 1_013):
            if not interrupted(lambda: model.fit(x, y, verbose=0, shuffle=False), at):
                break
            assert all(np.isfinite(w).all() for w in weights_of(model))
        assert at > 1_013
        model.set_weights(start)
        model.fit(x, y, verbose=0, shuffle=False)
        assert_same_weights(model, other)


class TestCallbacks:
    def test_early_stopping_gives_back_the_best_weights(self):
        x, y = problem()
        model = classifier(optimizer=keras.optimizers.SGD(50.0))
        best = keras.callbacks.EarlyStopping("loss", patience=2, restore_best_weights=True)
        history = model.fit(x, y, epochs=30, callbacks=[best], verbose=0).history["loss"]
        assert len(history) < 30

    def test_checkpoints_and_backup(self, tmp_path):
        x, y = problem()
        model = classifier()
        callbacks = [
            keras.callbacks.ModelCheckpoint(tmp_path / "at-{epoch}.keras"),
            keras.callbacks.BackupAndRestore(tmp_path / "backup", delete_checkpoint=False),
        ]
        model.fit(x, y, epochs=2, callbacks=callbacks, verbose=0)
        loaded = keras.models.load_model(tmp_path / "at-2.keras")
        assert_same_weights(model, loaded)
        again = classifier()
        history = again.fit(x, y, epochs=3, callbacks=callbacks[1:], verbose=0)
        assert history.epoch == [2]

    def test_rates_csv_and_nan(self, tmp_path):
        x, y = problem()
        log = tmp_path / "log.csv"
        model = classifier(optimizer=keras.optimizers.SGD(1.0))
        callbacks = [
            keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5),
            keras.callbacks.CSVLogger(str(log)),
        ]
        history = model.fit(x, y, epochs=3, callbacks=callbacks, verbose=0).history
        np.testing.assert_allclose(history["learning_rate"], [0.5, 0.25, 0.125])
        with open(log) as file:
            written = list(csv.DictReader(file))
        assert [float(row["loss"]) for row in written] == pytest.approx(history["loss"])

        x[0] = np.nan
        stopping = keras.callbacks.TerminateOnNaN()
        lost = classifier().fit(x, y, epochs=5, shuffle=False, callbacks=[stopping], verbose=0)
        assert len(lost.history["loss"]) == 1

    def test_tensorboard(self, tmp_path):
        reader = pytest.importorskip(
            "tensorboard.backend.event_processing.event_accumulator",
            reason="TensorBoard is not installed",
        )
        from tensorboard.util import tensor_util

        x, y = problem()
        board = keras.callbacks.TensorBoard(tmp_path, histogram_freq=1)
        losses = classifier().fit(x, y, epochs=3, callbacks=[board], verbose=0).history["loss"]
        events = reader.EventAccumulator(str(tmp_path / "train"))
        events.Reload()
        found = [tensor_util.make_ndarray(e.tensor_proto) for e in events.Tensors("epoch_loss")]
        np.testing.assert_allclose(found, losses, rtol=1e-6)

    def test_tensorboard_with_a_profile(self, tmp_path):
        x, y = problem(64)
        board = keras.callbacks.TensorBoard(tmp_path, profile_batch=(2, 3))
        classifier().fit(x, y, batch_size=16, callbacks=[board], verbose=0)
        (file,) = tmp_path.glob("train/plugins/profile/*/*.trace.json.gz")
        with gzip.open(file) as content:
            found = json.load(content)["traceEvents"]
        steps = [e["args"]["step_num"] for e in found if e["name"] == "Profiled batch"]
        assert len(steps) == 2
        assert "matmul" in {e["name"] for e in found}

    def test_the_schedule_of_an_optimizer(self):
        schedule = keras.optimizers.schedules.PiecewiseConstantDecay([2], [0.1, 0.0])
        x, y = problem(64)
        model = classifier(optimizer=keras.optimizers.SGD(schedule))
        # Four steps: the last ones stand still.
        model.fit(x, y, batch_size=16, shuffle=False, verbose=0)
        rate = model.optimizer.learning_rate
        assert float(rate) == 0.0

    def test_the_progress_bar(self, capsys):
        x, y = problem()
        classifier().fit(x, y, epochs=2, batch_size=32)
        out = capsys.readouterr().out
        assert "Epoch 2/2" in out
        assert "3/3" in out
        assert "accuracy" in out


class TestModels:
    def test_custom_train_step(self):
        class Custom(keras.Model):
            def __init__(self):
                super().__init__()
                self.dense = keras.layers.Dense(2)
                self.norm = keras.metrics.Mean(name="norm")

            def call(self, x):
                return self.dense(x)

            def train_step(self, data):
                x, y = data
                with tf.GradientTape() as tape:
                    loss = self.compute_loss(y=y, y_pred=self(x, training=True))
                gradients = tape.gradient(loss, self.trainable_variables)
                for metric in self.metrics:
                    metric.update_state(
                        loss if metric.name == "loss" else tf.linalg.global_norm(gradients)
                    )
                self.optimizer.apply_gradients(
                    zip(gradients, self.trainable_variables, strict=True)
                )
                return {metric.name: metric.result() for metric in self.metrics}

        model = Custom()
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(keras.optimizers.SGD(0.5), loss)
        history = model.fit(*problem(), epochs=5, verbose=0).history
        assert history["loss"][-1] < history["loss"][0]
        assert all(norm > 0 for norm in history["norm"])

    def test_random_numbers_go_on_over_a_smaller_last_batch(self):
        class Noise(keras.Model):
            def train_step(self, data):
                return {"drawn": tf.reduce_sum(tf.random.normal((tf.shape(data)[0], 2)))}

        # On TensorFlow, where sizes of batches are unknown, that is the second epoch of one trace.
        @tf.function(input_signature=[tf.TensorSpec([None, 3])])
        def drawn(batch):
            return tf.reduce_sum(tf.random.normal((tf.shape(batch)[0], 2)))

        batches = tf.data.Dataset.from_tensor_slices(tf.zeros((10, 3))).batch(4)
        tf.random.set_seed(1)
        expected = [[drawn(batch) for batch in batches][-1] for _ in range(3)]
        model = Noise()
        model.compile()
        tf.random.set_seed(1)
        found = model.fit(batches, epochs=3, verbose=0).history["drawn"]
        np.testing.assert_allclose(found, expected, rtol=1e-6)

    def test_several_inputs_and_outputs(self):
        a, b = keras.Input((4,), name="a"), keras.Input((2,), name="b")
        hidden = keras.layers.Dense(8, activation="tanh")(keras.layers.concatenate([a, b]))
        outputs = {
            "kind": keras.layers.Dense(2, name="kind")(hidden),
            "size": keras.layers.Dense(1, name="size")(hidden),
        }
        model = keras.Model({"a": a, "b": b}, outputs)
        model.compile(
            "adam",
            {
                "kind": keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                "size": "mse",
            },
            loss_weights={"kind": 1.0, "size": 0.5},
            metrics={"kind": ["accuracy"], "size": ["mae"]},
        )
        x, y = problem()
        inputs = {"a": x, "b": x[:, :2]}
        history = model.fit(inputs, {"kind": y, "size": x.sum(1)}, epochs=2, verbose=0).history
        assert {"loss", "kind_loss", "size_loss", "kind_accuracy", "size_mae"} <= set(history)
        np.testing.assert_allclose(
            history["loss"][-1],
            history["kind_loss"][-1] + 0.5 * history["size_loss"][-1],
            rtol=0.05,
        )
        found = model.predict(inputs, verbose=0)
        assert {name: part.shape for name, part in found.items()} == {
            "kind": (96, 2),
            "size": (96, 1),
        }

    def test_added_losses_and_regularisation(self):
        class Small(keras.layers.Layer):
            def call(self, x):
                self.add_loss(1e-2 * tf.reduce_mean(x**2))
                return x

        model = keras.Sequential(
            [
                keras.Input((4,)),
                keras.layers.Dense(2, kernel_regularizer=keras.regularizers.L2(0.1)),
                Small(),
            ]
        )
        model.compile(keras.optimizers.SGD(0.0), "mse")
        x, y = problem()
        targets = np.eye(2, dtype="float32")[y]
        loss = model.evaluate(x, targets, verbose=0, batch_size=96)
        scores = model.predict(x, verbose=0)
        kernel = np.array(model.layers[0].kernel)
        expected = (
            ((scores - targets) ** 2).mean() + 0.1 * (kernel**2).sum() + 1e-2 * (scores**2).mean()
        )
        assert loss == pytest.approx(expected, rel=1e-4)

    def test_custom_loss_metric_and_layer(self):
        class Scale(keras.layers.Layer):
            def build(self, shape):
                self.scale = self.add_weight(shape=(shape[-1],), initializer="ones")

            def call(self, x):
                return x * self.scale

        class Largest(keras.metrics.Metric):
            def __init__(self, **options):
                super().__init__(name="largest", **options)
                self.value = self.add_variable((), "zeros")

            def update_state(self, y, y_pred, sample_weight=None):
                self.value.assign(tf.maximum(self.value, tf.reduce_max(tf.abs(y_pred))))

            def result(self):
                return self.value

        model = keras.Sequential([keras.Input((4,)), Scale()])
        model.compile(keras.optimizers.SGD(0.0), lambda y, p: tf.abs(y - p), metrics=[Largest()])
        x, _ = problem()
        loss, largest = model.evaluate(x, np.zeros_like(x), verbose=0)
        assert loss == pytest.approx(np.abs(x).mean(), rel=1e-5)
        assert largest == pytest.approx(np.abs(x).max(), rel=1e-6)

    def test_mistakes_name_the_layer_and_the_shapes(self):
        x, y = problem()
        with pytest.raises(
            ValueError,
            match=r"expected axis -1 of input shape to have value 4.*\(None, 3\)|\(32, 3\)",
        ):
            classifier().fit(x[:, :3], y, verbose=0)
        with pytest.raises(ValueError, match="compile"):
            keras.Sequential([keras.layers.Dense(1)]).fit(x, y)
