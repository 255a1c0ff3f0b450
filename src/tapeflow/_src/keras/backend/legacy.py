"""What a custom `train_step` for Keras 2 calls on a model."""

from __future__ import annotations

import warnings
from typing import Any

from keras.src import tree

import tapeflow as tf


class LegacyTrainer:
    """The methods that Keras 3 has no more, and says so."""

    _loss_tracker: Any
    _compile_metrics: Any
    compute_loss: Any

    def compiled_loss(
        self, y: Any, y_pred: Any, sample_weight: Any = None, regularization_losses: Any = None
    ) -> Any:
        """The loss of `compile`, with what layers add to it, which is shown as the loss of the epoch."""
        warnings.warn(
            "`model.compiled_loss` is of Keras 2. In Keras 3: "
            "`self.compute_loss(x, y, y_pred, sample_weight)`, and `self.metrics[0].update_state(loss)`.",
            stacklevel=2,
        )
        loss = self.compute_loss(x=None, y=y, y_pred=y_pred, sample_weight=sample_weight)
        count = tf.shape(tree.flatten(y_pred)[0])[0]
        self._loss_tracker.update_state(loss, sample_weight=count)
        return loss

    @property
    def compiled_metrics(self) -> CompiledMetrics:
        """The metrics of `compile`."""
        return CompiledMetrics(self._compile_metrics)


class CompiledMetrics:
    """What `model.compiled_metrics` was in Keras 2."""

    def __init__(self, metrics: Any) -> None:
        self._metrics = metrics

    def update_state(self, y: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Adds a batch to all metrics."""
        warnings.warn(
            "`model.compiled_metrics` is of Keras 2. In Keras 3: `self.compute_metrics(x, y, y_pred, sample_weight)`.",
            stacklevel=2,
        )
        if self._metrics is not None:
            self._metrics.update_state(y, y_pred, sample_weight=sample_weight)
