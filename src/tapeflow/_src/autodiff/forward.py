"""`tf.autodiff.ForwardAccumulator`: derivatives along one direction, as the computation happens."""

from __future__ import annotations

import weakref
from typing import Any

from tapeflow._src.autodiff.backprop import Call, record_inside
from tapeflow._src.autodiff.tangents import Tangents, tangent_of, tangents_of_call
from tapeflow._src.autodiff.targets_and_sources import UnconnectedGradients, variable_of
from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import one_tensor
from tapeflow._src.core.context import context, identify, pop_recorder, push_recorder
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import UnimplementedError, shown, wrong_object
from tapeflow._src.core.export import export
from tapeflow._src.core.log import warn_once
from tapeflow._src.core.scopes import Scope
from tapeflow._src.core.sizes.extremes import surely_unequal
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.primitives.array import moving


@export("autodiff.ForwardAccumulator")
class ForwardAccumulator(Scope):
    """Computes Jacobian-vector products in forward mode.

    `tangents` say in which direction `primals` move. Every operation that runs while the accumulator is open also
    computes in which direction its result moves, and `jvp` gives that. Nothing is kept for a backward pass.

    >>> x = tf.constant([2.0, 3.0])
    >>> with tf.autodiff.ForwardAccumulator(primals=x, tangents=tf.constant([1.0, 0.0])) as acc:
    ...     y = tf.reduce_sum(x**3)
    >>> acc.jvp(y).numpy()
    np.float32(12.0)

    A tape inside an accumulator gives the product of a Hessian and a vector without computing the Hessian:

    >>> with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
    ...     with tf.GradientTape() as tape:
    ...         tape.watch(x)
    ...         y = tf.reduce_sum(x**3)
    ...     gradient = tape.gradient(y, x)
    >>> acc.jvp(gradient).numpy()
    array([12.,  0.], dtype=float32)

    Accumulators nest. The outer one follows what the inner one computes: `outer.jvp(inner.jvp(y))` is a second
    derivative.

    Args:
      primals: tensors or variables, in any structure.
      tangents: a tensor for each of them, of the same shape and dtype, in the same structure.
    """

    def __init__(self, primals: Any, tangents: Any) -> None:
        self._recording = False
        self._tangents: dict[int, Tensor] = {}
        self._of_variables: dict[int, tuple[weakref.ref[Variable], Tensor]] = {}
        self._alive: dict[int, weakref.ref[Tensor]] = {}
        self._unknown: set[int] = set()  # tensors that move, nobody knows how
        nest.assert_same_structure(primals, tangents)
        seen: set[int] = set()
        pairs = zip(nest.flatten(primals), nest.flatten(tangents), strict=True)
        for primal, tangent in pairs:
            if id(primal) in seen:
                raise ValueError(
                    f"ForwardAccumulator: {shown(primal)} was given as a primal more than once. If that is meant, add "
                    "up its tangents and give it once."
                )
            seen.add(id(primal))
            self._watch(primal, tangent)

    def _watch(self, primal: Any, tangent: Any) -> None:
        primal = one_tensor(primal)
        variable = variable_of(primal)
        if variable is None and not isinstance(primal, Tensor):
            raise wrong_object(
                "ForwardAccumulator",
                "primals",
                "tensors or variables (see tf.convert_to_tensor)",
                primal,
            )
        if not primal.dtype.is_differentiable:
            warn_once(
                f"The dtype of the watched primal must be floating (e.g. tf.float32), got {primal.dtype!r}"
            )
        tangent = convert_to_tensor(tangent, dtype=primal.dtype)
        tensor = primal if variable is None else variable._now()
        have, wanted = tangent._array.shape, tensor._array.shape
        if len(have) != len(wanted) or any(map(surely_unequal, have, wanted)):
            raise ValueError(
                f"ForwardAccumulator: a tangent must have the shape of its primal, {primal.shape}, got {tangent.shape}"
            )
        if variable is None:
            self._remember(tensor, tangent)
        else:
            key = id(variable)
            reference = weakref.ref(variable, lambda _: self._of_variables.pop(key, None))
            self._of_variables[key] = (reference, tangent)
            self._tangents[identify(tensor)] = tangent

    # Recording.

    def __enter__(self) -> ForwardAccumulator:
        if self._recording:
            raise ValueError(
                "Accumulator is already recording: it cannot be entered again before it is left."
            )
        self._guard = self._latest
        self._recording = True
        push_recorder(self)
        return self

    def _leave(self, *exception: Any) -> None:
        if self._recording:
            pop_recorder(self)
            self._recording = False
        self._guard = None

    def record(self, primitive: Any, inputs: tuple[Tensor, ...], output: Any, attrs: Any) -> None:
        """Computes the tangent of an output, if an input has one."""
        tangents = self._known(inputs)
        if tangents is None or not primitive.differentiable:
            return
        with _Outside(self):
            found = tangent_of(primitive, inputs, tangents, output, attrs)
        if found is None:
            return
        if primitive.outputs == 1:
            self._keep(output, found)
        else:
            for y, t in zip(output, found, strict=True):
                self._keep(y, t)

    def record_call(self, call: Call) -> None:
        """The same for a computation that brings its own pullback."""
        tangents = self._known(call.inputs)
        if tangents is None:
            record_inside(self, call)
            return
        # Else it is told of what a loop or branch keeps for somebody's backward pass, perhaps for its own.
        active = any(r is self for r in context.dispatch[1])
        with _Outside(self):
            found = tangents_of_call(call, tangents, transposing=active)
        if found is None:
            self._unknown.update(map(identify, call.outputs))
            return
        for y, t in zip(call.outputs, found, strict=True):
            self._keep(y, t)

    def _known(self, inputs: Any) -> Tangents | None:
        known = self._tangents
        for x in inputs:
            if x._id in known:
                return [known.get(x._id) for x in inputs]
            if x._id in self._unknown:
                raise UnimplementedError(
                    None,
                    None,
                    "ForwardAccumulator: second derivatives through a loop or branch that does more than compute (it "
                    "prints, or draws random numbers) are not there inside tf.function. Take that out of the loop.",
                )
        return None

    def _keep(self, output: Tensor, tangent: Tensor | None) -> None:
        if tangent is not None and output.dtype.is_differentiable:
            self._remember(output, tangent)

    def _remember(self, tensor: Tensor, tangent: Tensor) -> None:
        identity = identify(tensor)
        self._tangents[identity] = tangent
        # Once nobody has the tensor, nobody can ask for its tangent.
        self._alive[identity] = weakref.ref(tensor, lambda _: self._forget(identity))

    def _forget(self, identity: int) -> None:
        self._tangents.pop(identity, None)
        self._alive.pop(identity, None)

    substitutes = False

    def read(self, variable: Variable, value: Tensor) -> Tensor:
        """A variable moves along its tangent, whatever value it has been assigned since."""
        found = self._of_variables.get(id(variable))
        if found is not None:
            self._tangents[identify(value)] = found[1]
        return value

    def note(self, event: str, subject: Any, **details: Any) -> None:
        """What is not an operation does not matter here."""

    def follows(self, identity: int) -> bool:
        """Whether the tensor of this identity moves."""
        return identity in self._tangents

    # Asking.

    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """The Jacobian-vector product of each of `primals`: how it moves when the watched ones do.

        >>> x = tf.constant(3.0)
        >>> with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
        ...     y, z = x * x, tf.constant(2.0)
        >>> acc.jvp([y, z])
        [<tf.Tensor: shape=(), dtype=float32, numpy=6.0>, None]

        It was computed along with the operation, so this only looks it up.

        Args:
          primals: tensors or variables, in any structure.
          unconnected_gradients: `tf.UnconnectedGradients.NONE` or `ZERO`: what to return for those that do not depend
            on the watched ones.
        """
        zero = UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
        return nest.map_structure(lambda x: self._jvp(x, zero), primals)

    def _jvp(self, primal: Any, zero: bool) -> Any:
        primal = one_tensor(primal)
        variable = variable_of(primal)
        if variable is not None:
            found = self._of_variables.get(id(variable))
            tangent = None if found is None else found[1]
        elif isinstance(primal, Tensor):
            tangent = self._tangents.get(primal._id) if primal._id else None
        else:
            raise wrong_object("ForwardAccumulator.jvp", "primals", "tensors and variables", primal)
        if tangent is None and zero:
            return moving.zeros_like(convert_to_tensor(primal))
        return tangent


class _Outside(Scope):
    """Within this context only the recorders outside of an accumulator are active.

    They are to follow the tangents it computes, so that derivatives of tangents are right. It does not follow them
    itself, and what is inside of it has not yet heard of the operation that the tangents belong to.
    """

    def __init__(self, accumulator: ForwardAccumulator) -> None:
        self._accumulator = accumulator

    def __enter__(self) -> None:
        run, active = self._dispatch = context.dispatch
        self._guard = self._latest
        for position, recorder in enumerate(active):
            if recorder is self._accumulator:
                context.dispatch = (run, active[:position])
                return

    def _leave(self, *exception: Any) -> None:
        context.dispatch = self._dispatch
        self._guard = None
