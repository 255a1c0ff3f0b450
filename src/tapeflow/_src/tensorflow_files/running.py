"""Runs the functions of a graph that TensorFlow wrote: each node is a raw op, or one of the ops in `special_ops.py`.

The ops are tapeflow's, called inside a function that is being traced. So what comes out runs on every executor and has
gradients, as if the function had been written here.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow._src import raw_ops
from tapeflow._src.core.errors import UnimplementedError
from tapeflow._src.raw_ops.raw_op import OPS, RawOp
from tapeflow._src.tensorflow_files.graphs import INPUTS, Library, Place, Step
from tapeflow._src.tensorflow_files.messages import Damage

Special = Callable[["Runner", dict[str, Any], dict[str, Any]], Any]

SPECIAL: dict[str, Special] = {}
"""Ops that take or give something that is no tensor, or call functions. See `special_ops.py`."""

# Graphs have older names for some arguments of raw ops.
_NEWER = {
    **dict.fromkeys(("reduction_indices", "split_dim", "squeeze_dims", "dim"), "axis"),
    "input": "condition",
    "t": "x",
    "e": "y",
}

# What makes no difference to the result: where and how something is computed.
_UNIMPORTANT = frozenset(
    {
        *("validate_indices", "validate_shape", "use_cudnn_on_gpu", "parallel_iterations"),
        *("shared_name", "container", "config", "config_proto", "executor_type", "message"),
        *("grad_a", "grad_b", "grad_x", "grad_y", "incompatible_shape_error", "swap_memory"),
        *("allow_uninitialized", "debug_name", "validate", "num_args", "N"),
    }
)


class Runner:
    """Runs functions of a library.

    Args:
      library: the functions.
      folder: of the files that they may read.
    """

    def __init__(self, library: Library, folder: str) -> None:
        self.library = library
        self.folder = folder

    def call(self, name: str, inputs: Sequence[Any]) -> list[Any]:
        """The results of a function. Inputs are tensors, variables, and what special ops give."""
        function = self.library[name]
        if len(inputs) != function.inputs:
            raise Damage(
                f"{name!r} is called with {len(inputs)} inputs, and takes {function.inputs}"
            )
        values: list[Sequence[Any]] = []

        def value(place: Place) -> Any:
            row = inputs if place.step == INPUTS else values[place.step]
            if place.output >= len(row):
                raise Damage(f"output {place.output} of a node in {name!r} is not there")
            return row[place.output]

        for step in function.steps:
            values.append(self.outputs(step, value, name))
        return [value(place) for place in function.results]

    def outputs(self, step: Step, value: Callable[[Place], Any], function: str) -> Sequence[Any]:
        """What a step of a function gives, for the values at the places of its inputs."""
        given = {
            key: [value(p) for p in places] if isinstance(places, list) else value(places)
            for key, places in step.inputs.items()
        }
        return _outputs(self._run(step, given, function), step)

    def _run(self, step: Step, given: dict[str, Any], function: str) -> Any:
        if step.op in SPECIAL:
            return SPECIAL[step.op](self, given, step.attrs)
        if step.op in self.library:
            return self.call(step.op, list(given.values()))
        op = OPS.get(step.op)
        if op is None:
            raise UnimplementedError(
                None,
                None,
                f"The op {step.op} is not there, which the node {step.name!r} of the function {function!r} wants. "
                "Export the model without it, or write what it does with other ops.",
            )
        newer = newer_names(op)
        named = {newer.get(name, name): value for name, value in {**step.attrs, **given}.items()}
        taken = {name: value for name, value in named.items() if name in op.parameters}
        ignored = [n for n in step.unusual if newer.get(n, n) not in {*taken, *_UNIMPORTANT}]
        missing = [n for n in given if newer.get(n, n) not in taken]
        if ignored or missing:
            told = ", ".join(f"{n}={step.attrs[n]!r}" for n in ignored) or ", ".join(missing)
            raise UnimplementedError(
                None,
                None,
                f"The op {step.op} does not take {told}, which the node {step.name!r} of the function {function!r} "
                "wants.",
            )
        return op(**taken)


def newer_names(op: RawOp) -> dict[str, str]:
    """What a raw op calls arguments that have other names in graphs."""
    return {k: n for k, n in _NEWER.items() if n in op.parameters and k not in op.parameters}


def _outputs(found: Any, step: Step) -> Sequence[Any]:
    if step.outputs == 0:
        return ()
    row = list(found) if isinstance(found, (list, tuple)) else [found]
    if len(row) != step.outputs:
        raise Damage(
            f"{step.op} gives {len(row)} values, and the node {step.name!r} {step.outputs}"
        )
    return row


def _load_all() -> None:
    for module in pkgutil.iter_modules(raw_ops.__path__):
        importlib.import_module(f"{raw_ops.__name__}.{module.name}")


_load_all()
