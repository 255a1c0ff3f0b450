"""Tensors, variables and scopes as Keras sees them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from keras.src import tree
from keras.src.backend.common import KerasVariable
from keras.src.backend.common.global_state import get_global_attribute
from keras.src.backend.common.keras_tensor import KerasTensor
from keras.src.backend.common.name_scope import name_scope as base_name_scope
from keras.src.backend.common.stateless_scope import StatelessScope
from keras.src.backend.common.symbolic_scope import SymbolicScope
from keras.src.backend.common.variables import standardize_dtype

import tapeflow as tf
import tapeflow._src.function.control_flow.statements  # what a tracer does with branches and loops
from tapeflow._src.core.context import context
from tapeflow._src.core.scopes import Scope
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable as TapeflowVariable
from tapeflow._src.function.tracing.tracer import Tracer, tracing_lock
from tapeflow._src.keras.backend.conversion import (
    cast as cast,
    convert_to_tensor as dense_tensor,
    dtype_of,
    shape as shape,
)
from tapeflow._src.keras.backend.distribution_lib import current_distribution, distribute_variable
from tapeflow._src.keras.backend.loops import (
    associative_scan as associative_scan,
    fori_loop as fori_loop,
    map as map,
    scan as scan,
    switch as switch,
    while_loop as while_loop,
)
from tapeflow._src.keras.backend.sparse.kinds import (
    densified,
    is_composite,
    is_ragged,
    is_sparse_tensor,
)

SUPPORTS_SPARSE_TENSORS = True
SUPPORTS_RAGGED_TENSORS = True
SUPPORTS_COMPLEX_DTYPES = True
IS_THREAD_SAFE = True


_KerasVariable: Any = KerasVariable


class Variable(_KerasVariable):
    """A Keras variable that keeps its value in a `tf.Variable`.

    Gradient tapes accept it as a source, and ops as a tensor.
    """

    _value: Any
    _when_made: Callable[[], Any] | None = None  # while a checkpoint waits for the value

    @property
    def handle(self) -> TapeflowVariable:
        """The variable of ours that holds the value: what tapes know it by."""
        return self._value

    def _initialize(self, value: Any) -> None:
        # In a trace the value is made outside of it, and the function is traced again: what was built by the first
        # trace, such as the state of an optimizer, is there for the second.
        if not isinstance(value, TapeflowVariable):
            value = self._laid_out(value)
            given: dict[str, Any] = {}
            if context.strategy is not None:  # of `tf.distribute`
                given["aggregation"] = tf.VariableAggregation[self.aggregation.upper()]
                given["synchronization"] = tf.VariableSynchronization[self.synchronization.upper()]
            value = TapeflowVariable(
                value, dtype=self._dtype, trainable=self._trainable, name=self._name, **given
            )
        self._value = value
        if self._when_made is not None:
            self._when_made()
            self._when_made = None

    def _initialize_with_initializer(self, initializer: Callable[..., Any]) -> None:
        def made() -> Tensor:
            if self._layout is None:
                return convert_to_tensor(initializer(self._shape, dtype=self._dtype), self._dtype)
            # One device computes it: the same numbers as without a layout, and no program for each shape on a mesh.
            with tf.device("CPU:0"):
                return convert_to_tensor(initializer(self._shape, dtype=self._dtype), self._dtype)

        self._initialize(made)

    def _laid_out(self, value: Any) -> Any:
        """The initial value, or what makes one, where the distribution wants it that is in use."""
        distribution = current_distribution()
        if self._layout is None and distribution is not None:
            if self._shape is None:
                self._shape = self._validate_shape(value.shape)
            self._layout = distribution.get_variable_layout(self)
        if self._layout is None:
            return value
        return distribute_variable(self._path, value, self._layout)

    def _direct_assign(self, value: Any) -> None:
        self._value.assign(cast(value, self._value.dtype))

    def _convert_to_tensor(self, value: Any, dtype: Any = None) -> Any:
        empty = getattr(self, "_value", None) is None
        if empty and isinstance(value, TapeflowVariable) and dtype in (None, value.dtype):
            return value  # what is made of a variable has its value in it
        return convert_to_tensor(value, dtype)

    @property
    def trainable(self) -> bool:
        """Whether the variable is trained, and tapes watch it by themselves."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = bool(value)
        if self._value is not None:
            self._value._trainable = self._trainable

    @property
    def shape(self) -> TensorShape:
        """The shape, which compares and indexes like a tuple."""
        return TensorShape(self._shape)

    def numpy(self) -> np.ndarray:
        """The value as an array."""
        return self.value.numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        value = np.asarray(self.value)
        return value if dtype is None else value.astype(dtype)

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Tensor:
        return tf.convert_to_tensor(self.value, dtype)

    # `==` compares values, so Python would take the hash away. With it, variables can be passed to a `tf.function`.
    __hash__ = object.__hash__


def convert_to_tensor(
    x: Any, dtype: Any = None, sparse: bool | None = None, ragged: bool | None = None
) -> Any:
    """A tensor; unlike `tf.convert_to_tensor`, one of another dtype is cast.

    A sparse or ragged one stays so, unless `sparse` or `ragged` is False.
    """
    if isinstance(x, Tensor):
        return x if dtype is None else cast(x, dtype)
    if is_composite(x):
        # Slices are gradients, which optimizers want as they are.
        gone = (sparse is False and is_sparse_tensor(x)) or (ragged is False and is_ragged(x))
        kept = densified(x) if gone else x
        return kept if dtype is None else cast(kept, dtype)
    return dense_tensor(x, dtype)


def convert_to_numpy(x: Any) -> np.ndarray:
    """The value as an array."""
    return np.array(densified(x) if is_composite(x) else x)


def is_tensor(x: Any) -> bool:
    """Whether x is a tensor, and not an array, a number or a Keras tensor."""
    return isinstance(x, (Tensor, TapeflowVariable, KerasVariable)) or is_composite(x)


def compute_output_spec(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What `fn` returns for Keras tensors: it is traced, and nothing is computed."""
    outside = context.tracer
    tracer = Tracer(getattr(fn, "__name__", "call"))
    tracer.enclosing = outside
    if outside is not None:
        tracer.creation_allowed = outside.creation_allowed

    def dense(shape: Sequence[Any], dtype: Any) -> Tensor:
        return tracer.argument(shape, dtype_of(dtype), [(_SIZE, True)] * len(shape))

    def symbol(x: Any) -> Any:
        if not isinstance(x, KerasTensor):
            return x
        if not x.sparse:
            return dense(x.shape, x.dtype)
        like = tf.SparseTensorSpec(x.shape, dtype_of(x.dtype))
        parts = [dense(part.shape.as_list(), part.dtype) for part in like._component_specs]
        return like._from_components(parts)

    def spec(x: Any) -> Any:
        if not is_tensor(x):
            return x
        return KerasTensor(tuple(x.shape), standardize_dtype(x.dtype), sparse=is_sparse_tensor(x))

    with (
        StatelessScope(),
        SymbolicScope(),
        contextlib.nullcontext() if outside is None else outside.suspended(),
        tracing_lock,
        tracer.whole(),
    ):
        given: Any = tree.map_structure(symbol, (args, kwargs))
        args, kwargs = given
        return tree.map_structure(spec, fn(*args, **kwargs))


_SIZE = 83
"""Stands for all sizes that are not known, so that those that must be equal are."""


def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """One of two functions' results: at once if the predicate is known."""
    if isinstance(pred, KerasVariable):
        pred = pred.value
    if isinstance(pred, (bool, int, np.bool_)):
        return true_fn() if pred else false_fn()
    return tf.cond(tf.cast(pred, tf.bool), true_fn, false_fn)


def vectorized_map(function: Callable[..., Any], elements: Any) -> Any:
    """The function for all elements at once."""
    return tf.vectorized_map(function, elements)


def scatter(indices: Any, values: Any, shape: Sequence[Any]) -> Tensor:
    """Zeros with values added at indices."""
    return tf.scatter_nd(convert_to_tensor(indices), convert_to_tensor(values), shape)


_SCATTERS = {
    None: tf.tensor_scatter_nd_update,
    "add": tf.tensor_scatter_nd_add,
    "max": tf.tensor_scatter_nd_max,
    "min": tf.tensor_scatter_nd_min,
}


def scatter_update(inputs: Any, indices: Any, updates: Any, reduction: str | None = None) -> Tensor:
    """A copy in which the slices at indices are replaced by the updates, or combined with them."""
    inputs, indices = convert_to_tensor(inputs), convert_to_tensor(indices)
    updates = convert_to_tensor(updates, inputs.dtype)
    if reduction in _SCATTERS:
        return _SCATTERS[reduction](inputs, indices, updates)
    if reduction != "mul":
        raise ValueError(
            f"scatter_update: reduction must be None, 'add', 'max', 'min' or 'mul', got {reduction!r}"
        )
    for i in range(indices.shape[0]):  # updates of one place multiply one another
        place = indices[i : i + 1]
        product = tf.gather_nd(inputs, place) * updates[i : i + 1]
        inputs = tf.tensor_scatter_nd_update(inputs, place, product)
    return inputs


def slice(inputs: Any, start_indices: Any, shape: Any) -> Tensor:
    """The block of a shape that begins at some indices."""
    return tf.slice(convert_to_tensor(inputs), start_indices, shape)


def slice_update(inputs: Any, start_indices: Any, updates: Any) -> Tensor:
    """A copy in which the block that begins at some indices is replaced."""
    inputs = convert_to_tensor(inputs)
    updates = convert_to_tensor(updates, inputs.dtype)
    starts = tf.unstack(tf.cast(convert_to_tensor(start_indices), tf.int32))
    grids = [
        # A block that would go over the edge is moved to end there.
        tf.clip_by_value(start, 0, whole - part) + tf.range(part)
        for start, whole, part in zip(
            starts, inputs._array.shape, updates._array.shape, strict=True
        )
    ]
    if not grids:
        return updates
    places = tf.stack(tf.meshgrid(*grids, indexing="ij"), axis=-1)
    return tf.tensor_scatter_nd_update(inputs, places, updates)


def stop_gradient(variable: Any) -> Tensor:
    """The same value, through which no gradient flows."""
    return tf.stop_gradient(convert_to_tensor(variable))


def unstack(x: Any, num: int | None = None, axis: int = 0) -> list[Tensor]:
    """The slices along an axis."""
    return tf.unstack(convert_to_tensor(x), num, axis)


def random_seed_dtype() -> str:
    """The dtype of a seed generator's state."""
    return "int64"


def custom_gradient(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function that returns its result and the function for its gradient."""
    return tf.custom_gradient(fun)


def remat(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is computed again in the backward pass instead of keeping what it needs."""
    return tf.recompute_grad(f)


class name_scope(Scope, base_name_scope):  # Keras's name
    """Keras's scope for the paths of variables, and `tf.name_scope`."""

    def __init__(self, name: str, **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        self._inner = tf.name_scope(name)

    def __enter__(self) -> name_scope:
        self._guard = self._latest
        super().__enter__()
        if self._pop_on_exit:
            self._inner.__enter__()
        return self

    def _leave(self, *exception: Any) -> None:
        open_scopes = get_global_attribute("name_scope_stack") or []
        if any(scope is self for scope in open_scopes):
            while open_scopes.pop() is not self:
                pass
        if self._inner._outside:
            self._inner._leave()
        self._guard = None


def device_scope(device_name: str) -> AbstractContextManager[None]:
    """Where tensors are made and ops run."""
    return tf.device(device_name)
