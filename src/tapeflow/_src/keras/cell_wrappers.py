"""`tf.nn.RNNCellDropoutWrapper` and its like: cells of recurrent layers with something around them."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable
from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.devices import device as on_device
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.control.tensor_array import TensorArray
from tapeflow._src.ops.elementwise.arithmetic import floor
from tapeflow._src.ops.nn.dropout import dropout
from tapeflow._src.ops.random import numbers as random

_keras: Any = importlib.import_module("tapeflow.keras")


class _CellWrapper(_keras.layers.Layer):
    def __init__(self, cell: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cell = cell

    @property
    def state_size(self) -> Any:
        """That of the cell."""
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        """That of the cell."""
        return self.cell.output_size

    def get_initial_state(self, batch_size: int | None = None) -> Any:
        """What the cell begins with."""
        return self.cell.get_initial_state(batch_size=batch_size)

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables of the cell."""
        if not self.cell.built:
            self.cell.build(inputs_shape)
        self.built = True

    def call(self, inputs: Any, state: Any, **kwargs: Any) -> Any:
        """One step: the output, and the new state."""
        return self.cell.call(inputs, state, **kwargs)

    def compute_output_shape(self, inputs_shape: Any, state_shape: Any) -> Any:
        """The shapes of the output and of the new state."""
        sizes = nest.flatten(self.state_size)
        states = [(inputs_shape[0], size) for size in sizes]
        return (inputs_shape[0], self.output_size), nest.pack_sequence_as(self.state_size, states)

    def get_config(self) -> dict[str, Any]:
        """What makes an equal one."""
        return {**super().get_config(), "cell": _keras.utils.serialize_keras_object(self.cell)}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """The wrapper that `get_config` has described."""
        cell = _keras.utils.deserialize_keras_object(config["cell"], custom_objects=custom_objects)
        return cls(**{**config, "cell": cell})


def _registered(kind: Any) -> Any:
    return _keras.utils.register_keras_serializable("tapeflow")(kind)


@export("nn.RNNCellDropoutWrapper")
@_registered
class RNNCellDropoutWrapper(_CellWrapper):
    """A cell whose inputs, outputs or states are dropped at random, at every call.

    >>> cell = tf.nn.RNNCellDropoutWrapper(tf.keras.layers.SimpleRNNCell(3), output_keep_prob=0.5, seed=1)
    >>> output, state = cell(tf.ones([2, 4]), tf.zeros([2, 3]))
    >>> output.shape, bool(tf.reduce_all((output == 0.0) | (tf.abs(output - 2.0 * state) < 1e-6)))
    (TensorShape([2, 3]), True)
    >>> tf.keras.layers.RNN(cell)(tf.ones([2, 5, 4])).shape
    TensorShape([2, 3])

    What is kept is divided by the probability, so that sums stay as they are.

    Args:
      cell: a cell, such as `tf.keras.layers.GRUCell`.
      input_keep_prob: how likely an element of the inputs is kept.
      output_keep_prob: the same for the outputs.
      state_keep_prob: the same for the new states.
      variational_recurrent: whether the same elements are dropped at all steps. It needs a `dtype`.
      input_size: the size of the inputs, which is needed if they are dropped so.
      dtype: of the numbers that are drawn then.
      seed: an integer.
      dropout_state_filter_visitor: a function that is given the state, or a part of it, and says whether it is dropped.
      kwargs: for the layer, such as its name.
    """

    def __init__(
        self,
        cell: Any,
        input_keep_prob: float = 1.0,
        output_keep_prob: float = 1.0,
        state_keep_prob: float = 1.0,
        variational_recurrent: bool = False,
        input_size: Any = None,
        dtype: Any = None,
        seed: int | None = None,
        dropout_state_filter_visitor: Callable[[Any], Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(cell, dtype=dtype, **kwargs)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._filter = dropout_state_filter_visitor or _is_no_array
        self._keep = {
            "input": input_keep_prob,
            "output": output_keep_prob,
            "state": state_keep_prob,
        }
        for name, keep in self._keep.items():
            if not isinstance(keep, Tensor) and not 0.0 <= keep <= 1.0:
                raise ValueError(f"Parameter {name}_keep_prob must be between 0 and 1: {keep}")
        self._same, self._input_size, self._seed = variational_recurrent, input_size, seed
        self._noise = self._drawn(dtype) if variational_recurrent else {}

    def _drawn(self, dtype: Any) -> dict[str, Any]:
        """The numbers that decide for all steps."""
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")
        sizes = {"state": self.state_size, "output": self.output_size}
        if self._drops("input"):
            if self._input_size is None:
                raise ValueError(
                    "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, input_size must be "
                    "provided"
                )
            sizes["input"] = self._input_size
        return {
            name: [
                random.uniform([1, int(n)], dtype=dtype, seed=self._own_seed(name, i))
                for i, n in enumerate(nest.flatten(size))
            ]
            for name, size in sizes.items()
        }

    def _drops(self, name: str) -> bool:
        keep = self._keep[name]
        return isinstance(keep, Tensor) or keep < 1.0

    def _own_seed(self, name: str, number: int) -> int | None:
        """A seed for each thing that is dropped: TensorFlow's."""
        if self._seed is None:
            return None
        text = f"{self._seed}{name}_{number}".encode()
        return int(hashlib.md5(text, usedforsecurity=False).hexdigest()[:8], 16) & 0x7FFFFFFF

    def call(self, inputs: Any, state: Any, **kwargs: Any) -> Any:
        """One step: the output, and the new state."""
        if self._drops("input"):
            inputs = self._dropped("input", inputs)
        output, new_state = self.cell.call(inputs, state, **kwargs)
        if self._drops("state"):
            new_state = self._dropped("state", new_state, self._filter)
        if self._drops("output"):
            output = self._dropped("output", output)
        return output, new_state

    def _dropped(self, name: str, values: Any, wanted: Callable[[Any], Any] | None = None) -> Any:
        flat = nest.flatten(values)
        drops = [True] * len(flat) if wanted is None else _chosen(wanted, values)
        keep = self._keep[name]
        for i, value in enumerate(flat):
            if not drops[i]:
                continue
            if self._same:
                mask = floor(convert_to_tensor(keep, value.dtype) + self._noise[name][i])
                flat[i] = value / keep * mask
            else:
                flat[i] = dropout(value, rate=1.0 - keep, seed=self._own_seed(name, i))
        return nest.pack_sequence_as(values, flat)

    def get_config(self) -> dict[str, Any]:
        """What makes an equal one. A function that chooses states is not among it."""
        if self._filter is not _is_no_array:
            raise ValueError(
                "RNNCellDropoutWrapper: a dropout_state_filter_visitor cannot be described. Override get_config, got "
                f"{shown(self._filter)}"
            )
        return {
            **super().get_config(),
            **{f"{name}_keep_prob": keep for name, keep in self._keep.items()},
            "variational_recurrent": self._same,
            "input_size": self._input_size,
            "seed": self._seed,
        }


def _is_no_array(state: Any) -> bool:
    return not isinstance(state, TensorArray)


def _chosen(wanted: Callable[[Any], Any], values: Any) -> list[bool]:
    """For each tensor of a structure, whether a function that is asked from outside inwards chooses it."""
    answer = wanted(values)
    count = len(nest.flatten(values))
    if isinstance(answer, bool):
        if not answer or not nest.is_nested(values):
            return [answer] * count
        return [choice for part in _parts(values) for choice in _chosen(wanted, part)]
    nest.assert_same_structure(answer, values)
    return [
        choice
        for part, does in zip(_parts(values), nest.flatten(answer), strict=True)
        for choice in (_chosen(wanted, part) if does else [False] * len(nest.flatten(part)))
    ]


def _parts(values: Any) -> list[Any]:
    if isinstance(values, dict):
        return [values[key] for key in sorted(values)]
    return list(values)


@export("nn.RNNCellResidualWrapper")
@_registered
class RNNCellResidualWrapper(_CellWrapper):
    """A cell whose inputs are added to its outputs.

    >>> cell = tf.nn.RNNCellResidualWrapper(tf.keras.layers.SimpleRNNCell(3, kernel_initializer="zeros"))
    >>> cell(tf.ones([1, 3]), tf.zeros([1, 3]))[0].numpy()
    array([[1., 1., 1.]], dtype=float32)

    Args:
      cell: a cell, such as `tf.keras.layers.GRUCell`.
      residual_fn: what makes the outputs of the inputs and of the outputs of the cell, in place of a sum.
      kwargs: for the layer, such as its name.
    """

    def __init__(
        self, cell: Any, residual_fn: Callable[[Any, Any], Any] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def call(self, inputs: Any, state: Any, **kwargs: Any) -> Any:
        """One step: the output, and the new state."""
        outputs, new_state = self.cell.call(inputs, state, **kwargs)
        return (self._residual_fn or _sums)(inputs, outputs), new_state

    def get_config(self) -> dict[str, Any]:
        """What makes an equal one."""
        if self._residual_fn is None:
            return super().get_config()
        function = _keras.utils.serialize_keras_object(self._residual_fn)
        return {**super().get_config(), "residual_fn": function}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """The wrapper that `get_config` has described."""
        if config.get("residual_fn") is not None:
            function = _keras.utils.deserialize_keras_object(
                config["residual_fn"], custom_objects=custom_objects
            )
            config = {**config, "residual_fn": function}
        return super().from_config(config, custom_objects)


def _sums(inputs: Any, outputs: Any) -> Any:
    nest.assert_same_structure(inputs, outputs)

    def added(x: Any, y: Any) -> Any:
        x.shape.assert_is_compatible_with(y.shape)
        return x + y

    return nest.map_structure(added, inputs, outputs)


@export("nn.RNNCellDeviceWrapper")
@_registered
class RNNCellDeviceWrapper(_CellWrapper):
    """A cell that is computed on a device.

    >>> cell = tf.nn.RNNCellDeviceWrapper(tf.keras.layers.GRUCell(3), "CPU:0")
    >>> cell(tf.ones([1, 3]), tf.zeros([1, 3]))[0].shape
    TensorShape([1, 3])

    Args:
      cell: a cell, such as `tf.keras.layers.GRUCell`.
      device: the name of the device.
      kwargs: for the layer, such as its name.
    """

    def __init__(self, cell: Any, device: Any, **kwargs: Any) -> None:
        super().__init__(cell, **kwargs)
        self._device = device

    def get_initial_state(self, batch_size: int | None = None) -> Any:
        """What the cell begins with, made on the device."""
        with on_device(self._device):
            return super().get_initial_state(batch_size)

    def call(self, inputs: Any, state: Any, **kwargs: Any) -> Any:
        """One step, on the device: the output, and the new state."""
        with on_device(self._device):
            return self.cell.call(inputs, state, **kwargs)

    def get_config(self) -> dict[str, Any]:
        """What makes an equal one."""
        return {**super().get_config(), "device": self._device}
