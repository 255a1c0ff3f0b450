"""Recurrent layers: the loop over time, and quicker ways for LSTM and GRU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from keras.src import tree
from keras.src.backend.common.dtypes import result_type

import tapeflow as tf
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend import loops
from tapeflow._src.keras.backend.recurrent import gru_sequence, lstm_sequence

Step = Callable[[Any, Any], tuple[Any, Any]]


def rnn(
    step_function: Step,
    inputs: Any,
    initial_states: Any,
    go_backwards: bool = False,
    mask: Any = None,
    constants: Sequence[Any] | None = None,
    unroll: bool = False,
    input_length: Any = None,
    time_major: bool = False,
    zero_output_for_mask: bool = False,
    return_all_outputs: bool = True,
) -> tuple[Any, Any, Any]:
    """Goes over the time steps of inputs with states.

    Args:
      step_function: takes the input of a time step and the states followed by the constants, and gives an output and
        the new states.
      inputs: tensors of shape (batch, time, ...), in any structure.
      initial_states: a list or tuple, of any structure.
      go_backwards: whether to begin with the last time step; the outputs are in the order of the steps.
      mask: of shape (batch, time) or (batch, time, 1). Where it is false states stay as they are.
      constants: given to each step after the states.
      unroll: whether a traced function gets a copy of the step for each time, and not a loop.
      input_length: the number of time steps of each row of the batch, if it is a tensor. A number changes nothing.
      time_major: whether the first axis is time, and the second the batch.
      zero_output_for_mask: whether the output is zero where the mask is false, and not the previous one.
      return_all_outputs: whether to return the outputs of all steps, and not only of the last one.

    Returns:
      The last output, the outputs, and the states in the end.
    """
    inputs = tree.map_structure(tf.convert_to_tensor, inputs)
    if not time_major:
        inputs = tree.map_structure(_swapped, inputs)
    steps = tree.flatten(inputs)[0]._array.shape[0]
    if unroll and (is_dynamic(steps) or not steps):
        raise ValueError("rnn: with `unroll=True` the number of time steps must be known")
    if mask is not None:
        mask = tf.cast(tf.convert_to_tensor(mask), tf.bool)
        mask = mask if time_major else _swapped(mask)
    elif isinstance(input_length, Tensor):
        mask = tf.range(steps)[:, None] < tf.cast(input_length, tf.int32)
    if go_backwards:
        inputs = tree.map_structure(_reversed, inputs)
        mask = None if mask is None else _reversed(mask)
    constants = tuple(constants or ())

    def step(states: Any, row: Any) -> tuple[Any, Any]:
        output, new = step_function(row, tuple(states) + constants)
        return _like(states, new), output

    states = tree.map_structure(tf.convert_to_tensor, initial_states)
    if mask is None:
        states, outputs = loops.scan(step, states, inputs, unroll=unroll)
    elif zero_output_for_mask:

        def masked_step(states: Any, row: Any) -> tuple[Any, Any]:
            new, output = step(states, row[0])
            return _chosen(row[1], new, states), _chosen(row[1], output, _zeros(output))

        states, outputs = loops.scan(masked_step, states, (inputs, mask), unroll=unroll)
    else:

        def holding_step(carry: Any, row: Any) -> tuple[Any, Any]:
            states, previous = carry
            new, output = step(states, row[0])
            output = _chosen(row[1], output, previous)
            return (_chosen(row[1], new, states), output), output

        # Only for its shape; in a traced function nothing of it is left.
        first = step(states, tree.map_structure(lambda x: x[0], inputs))[1]
        carry = (states, _zeros(first))
        (states, _), outputs = loops.scan(holding_step, carry, (inputs, mask), unroll=unroll)
    last = tree.map_structure(lambda x: x[-1], outputs)
    if not return_all_outputs:
        outputs = tree.map_structure(lambda x: x[None], last)
    return last, outputs if time_major else tree.map_structure(_swapped, outputs), states


def _swapped(x: Tensor) -> Tensor:
    """With the batch and time axes exchanged."""
    return tf.transpose(x, (1, 0, *range(2, x._array.ndim)))


def _reversed(x: Tensor | None) -> Tensor | None:
    return None if x is None else tf.reverse(x, [0])


def _zeros(structure: Any) -> Any:
    return tree.map_structure(tf.zeros_like, structure)


def _like(states: Any, new: Any) -> Any:
    """New states in the structure and dtypes of the old ones."""
    pairs = zip(tree.flatten(states), tree.flatten(new), strict=True)
    return tree.pack_sequence_as(states, [tf.cast(y, x.dtype) for x, y in pairs])


def _chosen(mask: Tensor, new: Any, old: Any) -> Any:
    """For each row of the batch, the new values where the mask holds, and otherwise the old ones."""

    def choose(x: Tensor, y: Tensor) -> Tensor:
        missing = x._array.ndim - mask._array.ndim
        return tf.where(mask[(..., *(None,) * missing)], x, y)

    return tree.map_structure(choose, new, old)


# LSTM and GRU. Keras asks for these first, and uses `rnn` where they raise NotImplementedError.


def cudnn_ok(
    activation: Any, recurrent_activation: Any, unroll: bool, use_bias: bool = True
) -> bool:
    """Whether a layer is run by cuDNN: never, since XLA compiles the loop."""
    return False


def lstm(
    inputs: Any,
    initial_state_h: Any,
    initial_state_c: Any,
    mask: Any,
    kernel: Any,
    recurrent_kernel: Any,
    bias: Any,
    activation: Any,
    recurrent_activation: Any,
    return_sequences: bool = False,
    go_backwards: bool = False,
    unroll: bool = False,
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """All steps of an LSTM: the last output, the outputs, and the states."""
    _check_usual(mask, activation, recurrent_activation)
    xs = _projected(inputs, kernel, bias, go_backwards)
    u, h, c = [tf.cast(x, xs.dtype) for x in (recurrent_kernel, initial_state_h, initial_state_c)]
    hs, c = lstm_sequence(xs, u, h, c)
    last = hs[-1]
    return last, _swapped(hs if return_sequences else last[None]), [last, c]


def gru(
    inputs: Any,
    initial_state: Any,
    mask: Any,
    kernel: Any,
    recurrent_kernel: Any,
    bias: Any,
    activation: Any,
    recurrent_activation: Any,
    return_sequences: bool = False,
    go_backwards: bool = False,
    unroll: bool = False,
    reset_after: bool = True,
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """All steps of a GRU: the last output, the outputs, and the state."""
    _check_usual(mask, activation, recurrent_activation)
    if not reset_after:
        raise NotImplementedError("a GRU that resets before the product has no such sum")
    biases = (None, tf.zeros(kernel.shape[1])) if bias is None else tf.unstack(bias)
    xs = _projected(inputs, kernel, biases[0], go_backwards)
    u, b, h = [tf.cast(x, xs.dtype) for x in (recurrent_kernel, biases[1], initial_state)]
    hs = gru_sequence(xs, u, b, h)
    last = hs[-1]
    return last, _swapped(hs if return_sequences else last[None]), [last]


def bidirectional_lstm(*args: Any, **kwargs: Any) -> Any:
    """Nothing is gained by running both directions at once."""
    raise NotImplementedError


def bidirectional_gru(*args: Any, **kwargs: Any) -> Any:
    """Nothing is gained by running both directions at once."""
    raise NotImplementedError


def _check_usual(mask: Any, activation: Any, recurrent_activation: Any) -> None:
    from keras.src import activations, ops

    usual = activation in (activations.tanh, ops.tanh) and recurrent_activation in (
        activations.sigmoid,
        ops.sigmoid,
    )
    if mask is not None or not usual:
        raise NotImplementedError("a mask, or other activations: for `rnn`")


def _projected(inputs: Any, kernel: Any, bias: Any, go_backwards: bool) -> Tensor:
    """What the inputs add to the gates: one product for all time steps, which come first."""
    x, kernel = tf.convert_to_tensor(inputs), tf.convert_to_tensor(kernel)
    dtype = result_type(x.dtype, kernel.dtype)
    batch, steps = x._array.shape[:2]
    x = _swapped(tf.cast(x, dtype))
    if go_backwards:
        x = tf.reverse(x, [0])
    found = tf.matmul(tf.reshape(x, (-1, kernel.shape[0])), tf.cast(kernel, dtype))
    if bias is not None:
        found = found + tf.cast(bias, dtype)
    return tf.reshape(found, (steps, batch, kernel.shape[1]))
