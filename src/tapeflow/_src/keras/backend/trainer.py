"""`fit`, `evaluate` and `predict`: Keras's training loop on `GradientTape` and `tf.function`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

from keras.src import (
    callbacks as callbacks_module,
    optimizers as optimizers_module,
    tree,
)
from keras.src.backend import config
from keras.src.losses import loss as loss_module
from keras.src.trainers import trainer as base_trainer
from keras.src.trainers.data_adapters import data_adapter_utils
from keras.src.utils import traceback_utils
from keras.src.utils.python_utils import is_default, pythonify_logs

import tapeflow as tf
from tapeflow._src.core.context import context
from tapeflow._src.keras.backend import replicas
from tapeflow._src.keras.backend.data import (
    Batches,
    as_result,
    as_tensors,
    joined_results,
    train_validation_split,
    way_to_program,
)
from tapeflow._src.keras.backend.legacy import LegacyTrainer
from tapeflow._src.primitives.random.streams import in_same_places

unpack: Any = data_adapter_utils.unpack_x_y_sample_weight
_Trainer: Any = base_trainer.Trainer  # a model is a layer, too, which this class does not know


class TapeflowTrainer(_Trainer, LegacyTrainer):
    """What a Keras model trains with on tapeflow."""

    train_function: Callable[[Iterable[Any]], Any] | None
    test_function: Callable[[Iterable[Any]], Any] | None
    predict_function: Callable[[Iterable[Any]], Any] | None

    def __init__(self) -> None:
        super().__init__()
        self.train_function = None
        self.test_function = None
        self.predict_function = None
        # The model trains on the replicas of the strategy that it was made for.
        self._strategy: Any = context.strategy

    @property
    def distribute_strategy(self) -> Any:
        """The strategy of `tf.distribute` that it was made for."""
        return tf.distribute.get_strategy() if self._strategy is None else self._strategy

    # One step, which a model may define otherwise.

    def train_step(self, data: Any) -> dict[str, Any]:
        """Forward, backward, and an update of the weights: the logs of one batch."""
        x, y, sample_weight = unpack(data)
        with tf.GradientTape() as tape:
            y_pred = self._forward(x, training=True)
            loss = self._tracked_loss(x, y, y_pred, sample_weight, training=True)
            if self.optimizer is not None:
                loss = self.optimizer.scale_loss(loss)
        weights = self.trainable_weights
        if weights:
            gradients = tape.gradient(loss, weights)
            optimizer: Any = self.optimizer
            optimizer.apply_gradients(zip(gradients, weights, strict=True))
        else:
            warnings.warn(
                "None of the model's weights is trainable: this step changes nothing.", stacklevel=2
            )
        return self.compute_metrics(x, y, y_pred, sample_weight=sample_weight)

    def test_step(self, data: Any) -> dict[str, Any]:
        """The loss and the metrics of one batch."""
        x, y, sample_weight = unpack(data)
        y_pred = self._forward(x, training=False)
        self._tracked_loss(x, y, y_pred, sample_weight, training=False)
        return self.compute_metrics(x, y, y_pred, sample_weight=sample_weight)

    def predict_step(self, data: Any) -> Any:
        """What the model says of one batch."""
        x, _, _ = unpack(data)
        return self._forward(x, training=False)

    def _forward(self, x: Any, training: bool) -> Any:
        return self(x, training=training) if self._call_has_training_arg else self(x)

    def _tracked_loss(self, x: Any, y: Any, y_pred: Any, sample_weight: Any, training: bool) -> Any:
        loss = self._compute_loss(
            x=x, y=y, y_pred=y_pred, sample_weight=sample_weight, training=training
        )
        first = next(part for part in tree.flatten(x) if part is not None)
        whole = loss_module.unscale_loss_for_distribution(loss)
        self._loss_tracker.update_state(whole, sample_weight=tf.shape(first)[0])
        return loss

    def _aggregate_additional_loss(self, loss: Any) -> Any:
        return loss_module.scale_loss_for_distribution(super()._aggregate_additional_loss(loss))

    # The same, compiled.

    def _resolve_auto_jit_compile(self) -> bool:
        """XLA on a GPU. On a CPU `tf.function` measures which executor is the fastest."""
        return bool(tf.config.list_physical_devices("GPU"))

    def _compiled(
        self, step: Callable[[Any], Any], together: Callable[..., Any]
    ) -> Callable[[Any], Any]:
        """The step of a batch. That of several replicas takes the parts of it, and brings together what they give."""
        strategy = self._strategy
        steps: Any = step if strategy is None else replicas.on_replicas(strategy, step, together)
        if not (self.run_eagerly or self._looks_up()):
            steps = tf.function(
                in_same_places(steps),  # a smaller last batch draws on where the others were
                jit_compile=True if self.jit_compile else None,
                reduce_retracing=True,
                autograph=False,
            )
        if strategy is None:
            return steps

        def divided(batch: Any) -> Any:
            return steps(*replicas.divided(strategy, batch))

        vars(divided)["report"] = getattr(steps, "report", None)
        return divided

    def _way(self) -> Any:
        """What puts batches on devices before they are asked for."""
        way = way_to_program(self.variables, compiled=not self.run_eagerly)
        return None if way is None or self._looks_up() else way

    def _looks_up(self) -> bool:
        """Whether a layer looks its inputs up in a table of TensorFlow's, for which it needs their values."""
        from keras.src.layers import (
            HashedCrossing,
            Hashing,
            IntegerLookup,
            StringLookup,
            TextVectorization,
        )

        kinds = (HashedCrossing, Hashing, IntegerLookup, StringLookup, TextVectorization)
        return any(isinstance(layer, kinds) for layer in self._flatten_layers())

    def _repeated(self, step: Callable[[Any], Any]) -> Callable[[Iterable[Any]], Any]:
        compiled = self._compiled(step, replicas.first)

        def run(batches: Iterable[Any]) -> Any:
            logs = None
            for batch in batches:
                logs = compiled(as_tensors(batch))
            return logs

        # `model.train_function.report()` says how the steps are run.
        vars(run)["report"] = getattr(compiled, "report", None)
        return run

    def make_train_function(self, force: bool = False) -> Any:
        """Makes the function that trains on a list of batches, if it is not there."""
        if self.train_function is None or force:
            self.train_function = self._repeated(self.train_step)
        return self.train_function

    def make_test_function(self, force: bool = False) -> Any:
        """Makes the function that evaluates a list of batches, if it is not there."""
        if self.test_function is None or force:
            self.test_function = self._repeated(self.test_step)
        return self.test_function

    def make_predict_function(self, force: bool = False) -> Any:
        """Makes the function that predicts a list of batches, if it is not there."""
        if self.predict_function is None or force:
            compiled = self._compiled(self.predict_step, replicas.joined)

            def run(batches: Iterable[Any]) -> Any:
                outputs = [compiled(as_tensors(batch)) for batch in batches]
                return outputs[0] if len(outputs) == 1 else _joined(outputs)

            self.predict_function = run
        return self.predict_function

    # The loops.

    @traceback_utils.filter_traceback
    @replicas.in_scope
    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: Any = "auto",
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: Any = True,
        class_weight: Any = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: int | None = None,
        validation_freq: Any = 1,
    ) -> Any:
        """Trains the model for a number of epochs, and returns the history."""
        self._assert_compile_called("fit")
        limit = config.max_epochs()
        if limit and limit < epochs:
            warnings.warn(f"Limiting epochs to {limit}", stacklevel=2)
            epochs = limit
        if validation_split and validation_data is None:
            parts = train_validation_split((x, y, sample_weight), validation_split)
            (x, y, sample_weight), validation_data = parts
        batches = Batches(
            x,
            y,
            sample_weight,
            batch_size=batch_size,
            steps_per_epoch=steps_per_epoch,
            shuffle=shuffle,
            class_weight=class_weight,
            steps_per_execution=self.steps_per_execution,
        )
        validation = None
        callbacks = self._callback_list(callbacks, verbose, epochs, batches, add_history=True)
        before, after = _batch_hooks(callbacks, "train")
        self.stop_training = False
        train = self.make_train_function()
        batches.put = self._way()
        callbacks.on_train_begin()
        logs: Any = {}
        epoch_logs = None
        for epoch in range(self._initial_epoch or initial_epoch, epochs):
            self.reset_metrics()
            callbacks.on_epoch_begin(epoch)
            with batches.catch_stop_iteration():
                for begin, end, data in batches:
                    before(begin)
                    logs = train(data)
                    batches.go_ahead()
                    after(end, logs)
                    if self.stop_training:
                        break
            epoch_logs = dict(self._get_metrics_result_or_logs(logs))
            if validation_data is not None and self._should_eval(epoch, validation_freq):
                if validation is None:
                    validation = Batches(
                        *unpack(validation_data),
                        batch_size=validation_batch_size or batch_size,
                        steps_per_epoch=validation_steps,
                        shuffle=False,
                        steps_per_execution=self.steps_per_execution,
                    )
                self._eval_epoch_iterator = validation
                found = self.evaluate(
                    callbacks=callbacks, return_dict=True, _use_cached_eval_dataset=True
                )
                epoch_logs.update({f"val_{name}": value for name, value in found.items()})
            callbacks.on_epoch_end(epoch, epoch_logs)
            if self.stop_training:
                break
        if isinstance(self.optimizer, optimizers_module.Optimizer) and epochs > 0:
            self.optimizer.finalize_variable_values(self.trainable_weights)
        if getattr(self, "_eval_epoch_iterator", None) is not None:
            del self._eval_epoch_iterator
        callbacks.on_train_end(logs=epoch_logs)
        return self.history

    @traceback_utils.filter_traceback
    @replicas.in_scope
    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: Any = "auto",
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Any = None,
        return_dict: bool = False,
        **kwargs: Any,
    ) -> Any:
        """The loss and the metrics on all of the data."""
        self._assert_compile_called("evaluate")
        cached = kwargs.pop("_use_cached_eval_dataset", False)
        if kwargs:
            raise ValueError(f"Arguments not recognized: {kwargs}")
        batches = (
            self._eval_epoch_iterator
            if cached
            else Batches(
                x,
                y,
                sample_weight,
                batch_size=batch_size,
                steps_per_epoch=steps,
                shuffle=False,
                steps_per_execution=self.steps_per_execution,
            )
        )
        batches.reset()
        callbacks = self._callback_list(callbacks, verbose, 1, batches)
        before, after = _batch_hooks(callbacks, "test")
        test = self.make_test_function()
        batches.put = self._way()
        self.stop_evaluating = False
        callbacks.on_test_begin()
        logs: Any = {}
        self.reset_metrics()
        with batches.catch_stop_iteration():
            for begin, end, data in batches:
                before(begin)
                logs = test(data)
                batches.go_ahead()
                after(end, logs)
                if self.stop_evaluating:
                    break
        logs = pythonify_logs(self._get_metrics_result_or_logs(logs))
        callbacks.on_test_end(logs)
        return logs if return_dict else self._flatten_metrics_in_order(logs)

    @traceback_utils.filter_traceback
    @replicas.in_scope
    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: Any = "auto",
        steps: int | None = None,
        callbacks: Any = None,
    ) -> Any:
        """What the model says of all of the data, as arrays."""
        batches = Batches(
            x,
            batch_size=batch_size,
            steps_per_epoch=steps,
            shuffle=False,
            steps_per_execution=self.steps_per_execution,
        )
        callbacks = self._callback_list(callbacks, verbose, 1, batches)
        before, after = _batch_hooks(callbacks, "predict")
        predict = self.make_predict_function()
        batches.put = self._way()
        self.stop_predicting = False
        callbacks.on_predict_begin()
        found: list[Any] = []
        with batches.catch_stop_iteration():
            for begin, end, data in batches:
                before(begin)
                outputs = predict(data)
                batches.go_ahead()
                outputs = tree.map_structure(as_result, outputs)
                found.append(outputs)
                after(end, {"outputs": outputs})
                if self.stop_predicting:
                    break
        callbacks.on_predict_end()
        if not found:
            raise ValueError("`predict` was given no data: there is not a single batch.")
        return tree.map_structure(joined_results, *found)

    @replicas.in_scope
    def train_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        return_dict: bool = False,
    ) -> Any:
        """One update of the weights, and its logs."""
        self._assert_compile_called("train_on_batch")
        if class_weight is not None:
            if sample_weight is not None:
                raise ValueError(
                    "train_on_batch: give `sample_weight` or `class_weight`, and not both"
                )
            sample_weight = data_adapter_utils.class_weight_to_sample_weights(y, class_weight)
        self.make_train_function()
        return self._on_batch(self.train_function, (x, y, sample_weight), return_dict)

    @replicas.in_scope
    def test_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False
    ) -> Any:
        """The loss and the metrics of one batch."""
        self._assert_compile_called("test_on_batch")
        self.make_test_function()
        return self._on_batch(self.test_function, (x, y, sample_weight), return_dict)

    @replicas.in_scope
    def predict_on_batch(self, x: Any) -> Any:
        """What the model says of one batch, as arrays."""
        outputs = self.make_predict_function()([self._whole((x,))])
        return tree.map_structure(as_result, outputs)

    def _on_batch(self, function: Any, data: Any, return_dict: bool) -> Any:
        self.reset_metrics()
        logs = pythonify_logs(function([self._whole(data)]))
        return logs if return_dict else self._flatten_metrics_in_order(logs)

    def _whole(self, data: Any) -> Any:
        return data if self._strategy is None else replicas.whole(self._strategy, as_tensors(data))

    def _callback_list(
        self, callbacks: Any, verbose: Any, epochs: int, batches: Any, add_history: bool = False
    ) -> Any:
        if isinstance(callbacks, callbacks_module.CallbackList):
            return callbacks
        return callbacks_module.CallbackList(
            callbacks,
            add_history=add_history,
            add_progbar=verbose != 0,
            verbose=verbose,
            epochs=epochs,
            steps=batches.num_batches,
            model=self,
        )


def _batch_hooks(callbacks: Any, kind: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """What to call before and after each batch. Where no callback listens, the numbers need not be ready by then."""
    begin, end = f"on_{kind}_batch_begin", f"on_{kind}_batch_end"
    names = [begin, end] + (["on_batch_begin", "on_batch_end"] if kind == "train" else [])
    if type(callbacks) is callbacks_module.CallbackList and all(
        is_default(getattr(callback, name)) for callback in callbacks.callbacks for name in names
    ):
        return _nothing, _nothing
    return getattr(callbacks, begin), getattr(callbacks, end)


def _nothing(*args: Any) -> None:
    """Does nothing."""


def _joined(outputs: list[Any]) -> Any:
    return tree.map_structure(joined_results, *outputs)
