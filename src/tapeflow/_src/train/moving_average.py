"""`tf.train.ExponentialMovingAverage`: averages of variables over the steps of a training."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import wrong_object
from tapeflow._src.core.export import export
from tapeflow._src.core.tracked import Tracked
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.ops.array.shaping import cast
from tapeflow._src.ops.elementwise.arithmetic import minimum


@export("train.ExponentialMovingAverage")
class ExponentialMovingAverage(Tracked):
    """Keeps for each variable a moving average, `average -= (1 - decay) * (average - variable)`.

    >>> v = tf.Variable(1.0)
    >>> ema = tf.train.ExponentialMovingAverage(decay=0.9)
    >>> ema.apply([v])
    >>> ema.apply([v.assign(2.0)])
    >>> print(f"{ema.average(v).numpy():.2f}")
    1.10

    Args:
      decay: how much of the average stays at each step.
      num_updates: the number of steps so far; early in a training the decay is then smaller,
        `(1 + num_updates) / (10 + num_updates)`.
      zero_debias: whether averages begin at zero and are corrected for it.
      name: added to the names of the variables that hold the averages.
    """

    def __init__(
        self,
        decay: Any,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        if zero_debias:
            raise NotImplementedError(
                "tf.train.ExponentialMovingAverage: zero_debias=True is not there yet. The averages begin at the "
                "values of the variables, which needs no correction."
            )
        self._decay = decay
        self._num_updates = num_updates
        self._name = name
        self._averages: list[Variable] = []
        self._positions: dict[Any, int] = {}

    @property
    def name(self) -> str:
        """What is added to the names of variables."""
        return self._name

    def apply(self, var_list: Iterable[Variable] | None = None) -> None:
        """Moves the averages towards the variables. The first time an average begins as the variable is.

        Args:
          var_list: variables of a floating point dtype.
        """
        variables = list(var_list or ())
        for variable in variables:
            if not isinstance(variable, Variable):
                raise TypeError(
                    "tf.train.ExponentialMovingAverage averages variables, and not tensors. Got an object of type "
                    f"{type(variable).__name__}."
                )
            if not variable.dtype.is_floating:
                raise TypeError(
                    f"The variables must be half, float, or double: {variable.name} is {variable.dtype.name}"
                )
        decay = convert_to_tensor(self._decay)
        if self._num_updates is not None:
            count = cast(self._num_updates, decay.dtype)
            decay = minimum(decay, (count + 1.0) / (count + 10.0))
        for variable in variables:
            average = self.average(variable)
            if average is None:
                average = self._new(variable)
            rate = cast(1.0 - decay, variable.dtype)
            average.assign_sub((average - variable) * rate)

    def _new(self, variable: Variable) -> Variable:
        average = Variable(
            variable.value, trainable=False, name=self.average_name(variable), dtype=variable.dtype
        )
        self._positions[variable.ref()] = len(self._averages)
        self._averages = [*self._averages, average]
        return average

    def average(self, var: Variable) -> Variable | None:
        """The variable that holds the average of a variable, or None if there is none."""
        _check(var)
        position = self._positions.get(var.ref())
        return None if position is None else self._averages[position]

    def average_name(self, var: Variable) -> str:
        """The name of the variable that holds the average."""
        _check(var)
        return f"{var.name.removesuffix(':0')}/{self._name}"


def _check(variable: Any) -> None:
    if not isinstance(variable, Variable):
        raise wrong_object("ExponentialMovingAverage", "var", "a tf.Variable", variable)
