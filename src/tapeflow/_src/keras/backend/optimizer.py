"""What every Keras optimizer inherits from its backend: updates of all variables in one compiled function."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from keras.src import backend
from keras.src.backend.common.stateless_scope import in_stateless_scope
from keras.src.optimizers import base_optimizer

import tapeflow as tf
from tapeflow._src.core.context import context
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.settings import functions_run_eagerly
from tapeflow._src.core.tracked import Tracked
from tapeflow._src.keras.backend import replicas

_SETTINGS = (float, int, bool, str, type(None))


class TapeflowOptimizer(base_optimizer.BaseOptimizer, Tracked):
    """Keras's optimizer, on variables of Keras or of `tf.Variable`."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "_common_apply" in vars(cls):  # that which scales losses, and is told so when it is made
            cls._common_apply = _deciding_together(cls._common_apply)

    def assign(self, variable: Any, value: Any) -> None:
        """Puts a value into a variable; slices replace the rows they name."""
        value = backend.cast(value, variable.dtype)
        if isinstance(value, IndexedSlices):
            variable.handle.scatter_update(value)
        else:
            variable.assign(value)

    def assign_add(self, variable: Any, value: Any) -> None:
        """Adds a value to a variable, or slices to the rows they name."""
        value = backend.cast(value, variable.dtype)
        if isinstance(value, IndexedSlices):
            variable.handle.scatter_add(value)
        else:
            self.assign(variable, _inner(variable) + value)

    def assign_sub(self, variable: Any, value: Any) -> None:
        """Subtracts a value from a variable, or slices from the rows they name."""
        value = backend.cast(value, variable.dtype)
        if isinstance(value, IndexedSlices):
            variable.handle.scatter_sub(value)
        else:
            self.assign(variable, _inner(variable) - value)

    def _clip_by_norm(self, values: Any, axes: Any = None) -> Any:
        # Of slices it makes slices, where Keras's own function makes dense gradients: an optimizer takes a row that is
        # there twice for two rows, and its squares are not that of their sum.
        return tf.clip_by_norm(values, self.clipnorm, axes)

    def _use_weight_decay(self, variable: Any) -> bool:
        # Asked of the variable inside, as on TensorFlow: its name is the path, "encoder/norm/gamma:0", so that patterns
        # name layers, where the name of Keras's own is "gamma".
        inner = variable.handle if isinstance(variable, backend.Variable) else None
        return super()._use_weight_decay(variable if inner is None else inner)

    def _var_key(self, variable: Any) -> int:
        """The same for a variable of Keras, the `tf.Variable` inside, and what stands for it in a trace."""
        handle = variable.handle
        return id(variable) if handle is None else handle._whole._created

    def _backend_update_step(
        self, grads: Sequence[Any], trainable_variables: Sequence[Any], learning_rate: Any
    ) -> None:
        """Updates all variables. In eager mode by a compiled function: a few calls instead of hundreds."""
        if replicas.is_replica():
            sums = replicas.added_up(grads)
            replicas.for_all(self._backend_update_step, sums, trainable_variables, learning_rate)
        elif self._is_compiled():
            update = self._compiled_update(trainable_variables)
            update([replicas.as_gradient(g) for g in grads], tf.convert_to_tensor(learning_rate))
        else:
            super()._backend_update_step(grads, trainable_variables, learning_rate)

    def _is_compiled(self) -> bool:
        # What a user wrote may do anything in Python at each step: it is called as it is.
        return (
            context.tracer is None
            and type(self).update_step.__module__.startswith("keras.")
            and not in_stateless_scope()
            and not functions_run_eagerly()
        )

    def _compiled_update(self, variables: Sequence[Any]) -> Callable[..., None]:
        settings = tuple(value for value in vars(self).values() if type(value) in _SETTINGS)
        key = (settings, tuple(map(id, variables)))
        updates = self.__dict__.setdefault("_updates", {})
        if key not in updates:
            if len(updates) > 16:  # of settings that change at each step only the last counts
                updates.clear()
            step = functools.partial(_update, super()._backend_update_step, list(variables))
            updates[key] = tf.function(step, autograph=False)
        return updates[key]


def _update(
    step: Callable[..., None], variables: list[Any], grads: list[Any], learning_rate: Any
) -> None:
    step(list(map(_of_shape, grads, variables)), variables, learning_rate)


def _of_shape(gradient: Any, variable: Any) -> Any:
    """A gradient whose shape is known as the function is traced, where slices bring theirs as a value."""
    if isinstance(gradient, IndexedSlices) and gradient.dense_shape is not None:
        shape = tf.constant(list(variable.shape), gradient.dense_shape.dtype)
        return IndexedSlices(gradient.values, gradient.indices, shape)
    return gradient


def _deciding_together(apply: Callable[..., None]) -> Callable[..., None]:
    """Gradients are added up before it is decided whether they are finite, so that all replicas decide alike."""

    @functools.wraps(apply)
    def common_apply(self: Any, grads: Any, trainable_variables: Any = None) -> None:
        if replicas.is_replica():
            sums = replicas.added_up(grads)
            replicas.for_all(apply, self, sums, trainable_variables)
        else:
            apply(self, grads, trainable_variables)

    return common_apply


def _inner(variable: Any) -> Any:
    return variable.value if isinstance(variable, backend.Variable) else variable
