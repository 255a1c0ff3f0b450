"""Gradients that users wrote (`tf.custom_gradient`), in saved models.

The operations of a graph tell its derivative, so that it need not be saved, unless a user has said otherwise of some of
them. Then the traced backward pass of the whole function is saved beside its graph, which gives all tensors that this
needs. A function that is loaded records itself with that pass as its pullback.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tapeflow._src.autodiff.backprop import Call, record_call, zeros_like
from tapeflow._src.core.context import no_recorders
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.log import get_logger
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.function.graph_function import GraphFunction
from tapeflow._src.function.tracing.symbols import SymbolicTensor
from tapeflow._src.saved_model.damage import Damage, index
from tapeflow._src.saved_model.replay import results


class SavedBackward(NamedTuple):
    """The backward pass of a function, from all that it gives to all that it takes.

    Attributes:
      function: what it is the derivative of.
      graph_function: takes gradients of what the function gives, and tensors of the function.
      given: which of the function's outputs, and of `also_given` behind them, have a gradient.
      also_given: tensors that it needs. They have gradients, too: derivatives of higher order ask for them.
      kept: the tensors of the function that it takes, in their order.
      parts: for each input of the function that has a gradient, where it is, and how many tensors the gradient is made
        of.
    """

    function: GraphFunction
    graph_function: GraphFunction
    given: tuple[int, ...]
    also_given: list[SymbolicTensor]
    kept: list[SymbolicTensor]
    parts: list[tuple[int, int]]

    def data(self, graph: dict[str, Any], number: int) -> dict[str, Any]:
        """It as data, for the function's `graph`, if its own has this number among those of a model."""
        outputs = [*self.function.symbols, *self.also_given]
        numbers = {id(x): n for x, n in zip(outputs, graph["outputs"], strict=True)}
        taken = [said[0] for said in graph["inputs"]]
        numbers.update((id(x), n) for x, n in zip(self.function.inputs(), taken, strict=True))
        return {
            "graph": number,
            "given": self.given,
            "kept": [numbers[id(x)] for x in self.kept],
            "parts": self.parts,
        }


def backward_of(function: GraphFunction) -> SavedBackward | None:
    """The backward pass of a function, if it has to be saved."""
    if not function.has_custom_gradient:
        return None
    wanted = tuple(i for i, x in enumerate(function.inputs()) if x.dtype.is_differentiable)
    first = tuple(i for i, x in enumerate(function.symbols) if x.dtype.is_differentiable)
    if not wanted or not first:
        return None
    try:
        kept = function._kept(wanted, first, False, {})
    except Exception as error:  # of the user's code, which may work only when it is called at once
        left_out(function.name, error)
        return None
    outputs = [*function.symbols, *kept]
    given = tuple(i for i, x in enumerate(outputs) if x.dtype.is_differentiable)
    found = function._backward(wanted, given, kept, {})
    graph_function = found.graph_function
    if not function.tracer.guards.keys() >= graph_function.tracer.guards.keys():
        left_out(function.name, "it depends on sizes that its input_signature does not tell")
        return None
    if graph_function.graph.assigned:
        left_out(function.name, "it assigns variables")
        return None
    parts = [(i, len(each.tensors)) for i, each in zip(wanted, found.template, strict=True)]
    return SavedBackward(function, graph_function, given, kept, found.kept, parts)


def left_out(name: str, reason: Any) -> None:
    """Says that the gradient of a function is not saved."""
    get_logger().warning(
        "The gradient that %s brings is left out of the saved model, which will have that of its operations: %s",
        name,
        reason,
    )


Run = Callable[[dict[str, Any], Sequence[Tensor]], dict[int, Tensor]]


def with_gradient(
    data: dict[str, Any],
    backward: dict[str, Any],
    inputs: Sequence[Tensor],
    outside: Callable[[], Sequence[Tensor]],
    run: Run,
) -> tuple[dict[int, Tensor], Callable[..., list[Any]]]:
    """Replays a graph whose derivative is saved, too, and records it with that. Gives all values, and the pullback.

    Args:
      data: the graph.
      backward: that of its derivative.
      inputs: what the graph takes.
      outside: gives the variables and constants that the derivative takes.
      run: replays a graph.
    """
    said = data["gradient"]
    with no_recorders():
        values = run(data, inputs)
    # Under other identities: what a call gives is not what it was given.
    fresh = {number: values[number].__copy__() for number in dict.fromkeys(data["outputs"])}
    values.update(fresh)
    outputs = results(data, values)
    by_number = {n: x for (n, _, _), x in zip(data["inputs"], inputs, strict=True)}
    kept = [fresh[n] if n in fresh else by_number[n] for n in said["kept"]]

    def pullback(*g: Tensor | None) -> list[Any]:
        given = [zeros_like(outputs[i]) if g[i] is None else g[i] for i in said["given"]]
        found = iter(results(backward, run(backward, [*given, *kept, *outside()])))
        gradients: list[Any] = [None] * len(inputs)
        for i, count in said["parts"]:
            parts = [next(found) for _ in range(count)]
            gradients[i] = parts[0] if count == 1 else IndexedSlices(*parts) if parts else None
        return gradients

    record_call(Call(data["name"], list(inputs), outputs, pullback, partial=True, custom=True))
    return values, pullback


def gradient_of(data: dict[str, Any], graphs: Sequence[Any]) -> dict[str, Any]:
    """The derivative of a graph, from all graphs of a model. Damage if it does not fit."""
    said = data["gradient"]
    backward = graphs[index(said["graph"], len(graphs), "the graph of a gradient")]
    if backward is data or "gradient" in backward:
        raise Damage("the gradient of a graph has one of its own")
    outputs, inputs = data["outputs"], [number for number, _, _ in data["inputs"]]
    given = [outputs[index(i, len(outputs), "an output with a gradient")] for i in said["given"]]
    there = {*outputs, *inputs}
    if not there.issuperset(said["kept"]):
        raise Damage("a gradient takes what its graph does not give")
    taken = [given, said["kept"], backward["variables"], backward["captured"]]
    if sum(map(len, taken)) != len(backward["inputs"]):
        raise Damage("a gradient does not take what its graph gives")
    count = 0
    for place, parts in said["parts"]:
        index(place, len(inputs), "an input with a gradient")
        count += index(parts, 4, "the number of tensors of a gradient")
    if count != len(backward["outputs"]):
        raise Damage("a gradient is made of other tensors than its graph gives")
    return backward
