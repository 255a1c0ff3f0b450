"""Python inside of a graph: `tf.print`, assertions, `tf.py_function`."""

from __future__ import annotations

import contextvars
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._src.autodiff.tape import GradientTape
from tapeflow._src.core.context import context, quiet_runner
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.interpreter import innermost
from tapeflow._src.core.scopes import setting
from tapeflow._src.core.tensor import Tensor


class PythonCall:
    """A row for a node that calls a Python function on tensors when the graph runs.

    It is not in the table of primitives, because it is not one: no engine but Python can run it.
    """

    outputs = None
    elementwise = False
    of_users = True  # whether it is code of the user, who may look at what is traced and recorded

    def __init__(self, name: str, function: Callable[..., Sequence[Any]], specs: Any) -> None:
        self.name = name
        self.function = function
        self.specs = specs
        self._kept: tuple[Sequence[Any], tuple[Any, ...]] | None = None
        self._ranks: dict[int, int] = {}

    def keep(self, arrays: Sequence[Any], result: tuple[Any, ...]) -> None:
        """Has been called before it runs: what it gave is given again to who comes with the same arrays first."""
        self._kept = arrays, result

    def expect(self, number: int, rank: int) -> None:
        """What follows was traced for this rank of an output."""
        self._ranks[number] = rank

    def kernel(self, *arrays: Any, effect: bool) -> tuple[Any, ...]:
        """Calls the function on tensors of these arrays, outside of whatever is traced or recorded."""
        kept, self._kept = self._kept, None
        if kept is not None and all(map(np.array_equal, kept[0], arrays)):
            return kept[1]
        result = self._result(arrays)
        for number, rank in self._ranks.items():
            if np.ndim(result[number]) != rank:
                raise invalid(
                    f"{self.name}: the function returned a tensor of rank {np.ndim(result[number])}, and what follows "
                    f"was traced for rank {rank}. Bring it to one rank in the function."
                )
        return result

    def _result(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        user = contextvars.Context() if context.outside is None else context.outside.copy()
        return user.run(self._called, arrays)

    def _called(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        with setting(
            context, dispatch=(quiet_runner(), ()), interpreters=(), tracer=None, outside=None
        ):
            found = self.function(*map(Tensor, arrays))
        return tuple([x._array for x in found])

    def call(self, *inputs: Tensor, effect: bool) -> tuple[Any, ...]:
        """Copies the node into the function that is traced, or calls the function."""
        if context.tracer is not None:
            found = context.tracer.python(
                self.name, self.function, inputs, self.specs, self.of_users
            )
            return tuple(found)
        if innermost(inputs) is not None:
            raise NotImplementedError(
                f"{self.name} inside tf.function cannot be run for all examples of tf.vectorized_map at once."
            )
        return tuple([Tensor(a) for a in self.kernel(*[x._array for x in inputs], effect=effect)])

    def __repr__(self) -> str:
        return f"<Python call {self.name}>"


class HostCall(PythonCall):
    """The same for a function of ours, from arrays to arrays, that looks at nothing else."""

    of_users = False

    def _result(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(self.function(*map(np.asarray, arrays)))


class KeptTapes:
    """The tapes of a `tf.py_function` between its forward and its backward pass.

    Each call has a number, by which the backward pass finds its tape. Tapes are kept only once a backward pass has been
    traced, and not more than a thousand; a call whose tape is gone is made again.
    """

    def __init__(self, function: Callable[..., list[Tensor]]) -> None:
        self._function = function
        self._numbers = itertools.count()
        self._kept: dict[int, tuple[GradientTape, Sequence[Tensor], list[Tensor]]] = {}
        self.wanted = False

    def forward(self, *inputs: Tensor) -> list[Tensor]:
        """The number of the call, and its outputs."""
        number = next(self._numbers)
        if not self.wanted:
            return [Tensor(np.array(number)), *self._function(*inputs)]
        self._kept[number] = kept = self._taped(inputs)
        if len(self._kept) > 1000:
            del self._kept[next(iter(self._kept))]
        return [Tensor(np.array(number)), *kept[2]]

    def _taped(
        self, inputs: Sequence[Tensor]
    ) -> tuple[GradientTape, Sequence[Tensor], list[Tensor]]:
        watched = [x for x in inputs if x.dtype.is_differentiable]
        with GradientTape() as tape:
            tape.watch(watched)
            outputs = self._function(*inputs)
        return tape, inputs, outputs

    def backward(self, given: Sequence[int], number: Tensor, *tensors: Tensor) -> list[Tensor]:
        """The gradients of the inputs, zeros where there is none."""
        count = len(tensors) - len(given)
        kept = self._kept.pop(int(number), None) or self._taped(tensors[:count])
        tape, inputs, outputs = kept
        sources = [x for x in inputs if x.dtype.is_differentiable]
        return tape.gradient(
            [outputs[i] for i in given],
            sources,
            output_gradients=list(tensors[count:]),
            unconnected_gradients="zero",
        )
