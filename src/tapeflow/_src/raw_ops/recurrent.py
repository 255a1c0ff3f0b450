"""Raw ops of recurrent networks: cuDNN's, which run here on every device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import UnimplementedError, shown
from tapeflow._src.core.export import export_value
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array import creation, moving, shaping
from tapeflow._src.ops.control.functional import scan
from tapeflow._src.ops.elementwise.functions import sigmoid, tanh
from tapeflow._src.ops.linalg.products import matmul
from tapeflow._src.ops.nn.activations import relu
from tapeflow._src.ops.nn.dropout import dropout as drop
from tapeflow._src.primitives.rules import invalid
from tapeflow._src.raw_ops.raw_op import RawOp

State = tuple[Tensor, Tensor]
Step = Callable[[Tensor, Tensor, State], State]


def _lstm(ahead: Tensor, back: Tensor, state: State) -> State:
    i, f, g, o = moving.split(ahead + back, 4, axis=-1)
    cell = sigmoid(f) * state[1] + sigmoid(i) * tanh(g)
    return sigmoid(o) * tanh(cell), cell


def _gru(ahead: Tensor, back: Tensor, state: State) -> State:
    (r, z, n), (back_r, back_z, back_n) = (moving.split(x, 3, axis=-1) for x in (ahead, back))
    new, update = tanh(n + sigmoid(r + back_r) * back_n), sigmoid(z + back_z)
    return (1.0 - update) * new + update * state[0], state[1]


# For each mode how many gates there are, and a step: from what the input and the last output give to each gate.
_MODES: dict[str, tuple[int, Step]] = {
    "lstm": (4, _lstm),
    "gru": (3, _gru),
    "rnn_tanh": (1, lambda ahead, back, state: (tanh(ahead + back), state[1])),
    "rnn_relu": (1, lambda ahead, back, state: (relu(ahead + back), state[1])),
}


def _cudnn_rnn(
    *,
    input: Any,
    input_h: Any,
    input_c: Any,
    params: Any,
    rnn_mode: str = "lstm",
    input_mode: str = "linear_input",
    direction: str = "unidirectional",
    dropout: float = 0.0,
    seed: int = 0,
    seed2: int = 0,
    is_training: bool = True,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    op = "CudnnRNN"
    if rnn_mode not in _MODES or direction not in ("unidirectional", "bidirectional"):
        raise invalid(
            f"{op}: rnn_mode must be one of {', '.join(_MODES)} and direction 'unidirectional' or 'bidirectional', got "
            f"{shown(rnn_mode)} and {shown(direction)}"
        )
    if input_mode == "skip_input":
        raise UnimplementedError(None, None, f"{op}: input_mode 'skip_input' is not supported")
    xs = convert_to_tensor(input)
    h, weights = convert_to_tensor(input_h, xs.dtype), convert_to_tensor(params, xs.dtype)
    if xs.ndim != 3 or h.ndim != 3:
        raise invalid(
            f"{op}: input must have shape [time, batch, features] and input_h [layers, batch, units], got {xs.shape} "
            f"and {h.shape}"
        )
    gates, step = _MODES[rnn_mode]
    has_cell = rnn_mode == "lstm"
    c = convert_to_tensor(input_c, xs.dtype) if has_cell else creation.zeros_like(h)
    directions = 2 if direction == "bidirectional" else 1
    layers, units = h._array.shape[0] // directions, h._array.shape[2]
    parts = _parts(weights, layers, directions, gates * units, xs._array.shape[2], units)
    last: list[State] = []
    for layer in range(layers):
        if layer and dropout and is_training:
            xs = drop(xs, dropout)
        outputs = []
        for backwards in range(directions):
            number = layer * directions + backwards
            found, *ends = _run(step, xs, (h[number], c[number]), next(parts), bool(backwards))
            outputs.append(found)
            last.append((ends[0], ends[1]))
        xs = outputs[0] if directions == 1 else moving.concat(outputs, -1)
    none = creation.zeros([0], xs.dtype)
    cells = moving.stack([cell for _, cell in last]) if has_cell else none
    return xs, moving.stack([output for output, _ in last]), cells, none


def _parts(
    params: Tensor, layers: int, directions: int, rows: int, features: int, units: int
) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """For each layer the weights of its input and of its last output, and the biases, which are behind all weights."""
    first, later = rows * (features + units), rows * (units * directions + units)
    weights = directions * (first + (layers - 1) * later)
    size, needed = params._array.shape[0], weights + 2 * rows * layers * directions
    if size != needed:
        raise invalid(
            f"CudnnRNN: params has {size} numbers, and {needed} are needed for {layers} layers of {units} units and "
            f"{features} features"
        )
    place, biases = 0, weights
    for layer in range(layers):
        width = units * directions if layer else features
        for _ in range(directions):
            end = place + rows * width
            ahead = shaping.reshape(params[place:end], [rows, width])
            place = end + rows * units
            back = shaping.reshape(params[end:place], [rows, units])
            middle = biases + rows
            yield ahead, back, params[biases:middle], params[middle : middle + rows]
            biases = middle + rows


def _run(
    step: Step,
    xs: Tensor,
    state: State,
    parts: tuple[Tensor, Tensor, Tensor, Tensor],
    backwards: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """What a layer gives at each time, and its last output and cell."""
    ahead, back, bias, back_bias = parts
    given = matmul(xs, ahead, transpose_b=True) + bias

    def go_on(before: State, x: Tensor) -> State:
        return step(x, matmul(before[0], back, transpose_b=True) + back_bias, before)

    outputs, cells = scan(go_on, given, state, reverse=backwards)
    end = 0 if backwards else -1
    return outputs, outputs[end], cells[end]


CudnnRNN = RawOp("CudnnRNN", _cudnn_rnn)
export_value("CudnnRNN", "raw_ops.CudnnRNN")
