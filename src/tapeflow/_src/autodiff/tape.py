"""`tf.GradientTape`: records operations, and differentiates what it recorded."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from tapeflow._src.autodiff import backprop, jacobians
from tapeflow._src.autodiff.backprop import Call, JointRule, Record
from tapeflow._src.autodiff.pausing import Paused, begin
from tapeflow._src.autodiff.targets_and_sources import (
    UnconnectedGradients,
    gradients_like,
    seeds_of,
    source_ids,
    target_of,
    tensors_in,
    variable_of,
)
from tapeflow._src.core.composites.composite import one_tensor
from tapeflow._src.core.context import context, identify, new_id, pop_recorder, push_recorder
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.log import warn_once
from tapeflow._src.core.scopes import Scope
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.specs import ArraySpec

if TYPE_CHECKING:
    from tapeflow._src.autodiff.explain.answers import Explanation
    from tapeflow._src.autodiff.explain.journal import Journal


class _Debugging:
    """Whether tapes keep a journal that were not told to."""

    def __init__(self) -> None:
        self.everywhere = os.environ.get("TAPEFLOW_DEBUG", "0") not in ("", "0")


debugging = _Debugging()


@export("GradientTape", "autodiff.GradientTape")
class GradientTape(Scope):
    """Records operations for automatic differentiation.

    Operations are recorded while the tape is open as a context manager, if at least one of their inputs is watched.
    Trainable variables are watched when they are read; tensors when `watch` is called on them.

    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x**2
    >>> tape.gradient(y, x).numpy()
    np.float32(6.0)

    Tapes nest, for derivatives of any order:

    >>> with tf.GradientTape() as outer:
    ...     with tf.GradientTape() as inner:
    ...         y = x**3
    ...     dy = inner.gradient(y, x)
    >>> outer.gradient(dy, x).numpy()
    np.float32(18.0)

    Args:
      persistent: whether `gradient` may be called more than once. If not, the first call frees everything that the tape
        holds.
      watch_accessed_variables: whether trainable variables are watched automatically, when they are read.
      debug: whether to also keep a journal of source lines, for `explain`. By default, no; the environment variable
        TAPEFLOW_DEBUG=1 turns it on everywhere.
    """

    substitutes = False  # variables hold for a tape what they hold for everybody (see `Recorder`)

    def __init__(
        self,
        persistent: bool = False,
        watch_accessed_variables: bool = True,
        *,
        debug: bool | None = None,
    ) -> None:
        self._persistent = persistent
        self._watch_accessed = watch_accessed_variables
        self._recording = False
        self._is_used_up = False
        self._records: list[Record] | None = None
        self._tracked: set[int] = set()
        self._reads: dict[int, Variable] = {}  # identity of a value that was read -> its variable
        self._watched: dict[int, Variable] = {}  # id(variable) -> variable
        self._journal: Journal | None = None
        if debug or (debug is None and debugging.everywhere):
            from tapeflow._src.autodiff.explain.journal import Journal

            self._journal = Journal(self)

    # Recording.

    def __enter__(self) -> GradientTape:
        self._guard = self._latest
        self._push()
        return self

    def _leave(self, *exception: Any) -> None:
        if self._recording:
            self._pop()
        self._guard = None

    def _push(self) -> None:
        if self._recording:
            raise ValueError(
                "Tape is still recording. This can happen if you try to re-enter an already-active tape."
            )
        # New, or released by `gradient`: begin afresh.
        if self._records is None or self._is_used_up:
            self._forget()
            self._records = []
        self._recording = True
        push_recorder(self)
        if self._journal is not None:
            push_recorder(self._journal)

    def _pop(self) -> None:
        if not self._recording:
            raise ValueError("Tape is not recording.")
        pop_recorder(self)
        if self._journal is not None:
            pop_recorder(self._journal)
        self._recording = False

    def record(self, primitive: Any, inputs: tuple[Tensor, ...], output: Any, attrs: Any) -> None:
        """Takes note of an operation, if it has a gradient with respect to something watched."""
        tracked = self._tracked
        edges = primitive.edges(tracked, inputs, output, attrs)
        if not edges:
            return
        if primitive.joint:
            ids, pullback = edges
            outputs = output if primitive.outputs != 1 else (output,)
            self._append_joint(primitive.name, ids, outputs, pullback)
            return
        identity = output._id
        if not identity:  # nobody else has it yet
            identity = output._id = new_id()
        tracked.add(identity)
        self._records.append((identity, primitive, edges))  # type: ignore[union-attr]

    def record_call(self, call: Call) -> None:
        """Takes note of a computation that brings its own pullback."""
        tracked = self._tracked
        inputs = tuple(x._id if x._id in tracked else 0 for x in call.inputs)
        if any(inputs):
            back = call.pullback  # and not `call`, which holds all the tensors
            more = call.partial, call.custom, call.lost
            self._append_joint(call.name, inputs, call.outputs, lambda _, *g: back(*g), *more)
        else:
            backprop.record_inside(self, call)

    def _append_joint(
        self,
        name: str,
        inputs: tuple[int, ...],
        outputs: Any,
        pullback: Any,
        partial: bool = False,
        custom: bool = False,
        lost: Any = None,
    ) -> None:
        ids = tuple(identify(o) for o in outputs)
        if partial and any(o.shape.rank is None for o in outputs):
            # Python made them, and not even the rank is known; a partial rule needs no shapes.
            specs = tuple([ArraySpec((), o.dtype) for o in outputs])
        else:
            specs = tuple([ArraySpec(o._array.shape, o.dtype) for o in outputs])
        self._tracked.update(
            i for i, spec in zip(ids, specs, strict=True) if spec.dtype.is_differentiable
        )
        rule = JointRule(name, pullback, specs, partial, custom, lost)
        self._records.append((ids, rule, inputs))  # type: ignore[union-attr]

    def read(self, variable: Variable, value: Tensor) -> Tensor:
        """Watches a variable that is read, if it is one to be watched."""
        if value._id not in self._reads and (
            (self._watch_accessed and variable._trainable) or id(variable) in self._watched
        ):
            self._watch_variable(variable, value)
        return value

    def _watch_variable(self, variable: Variable, value: Tensor) -> None:
        self._watched[id(variable)] = variable
        if variable._differentiable:
            identity = value._id or identify(value)
            self._reads[identity] = variable
            self._tracked.add(identity)

    def note(self, event: str, subject: Any, **details: Any) -> None:
        """Only the journal cares for what is not an operation."""

    def follows(self, identity: int) -> bool:
        """Whether a gradient by the tensor of this identity may be asked for."""
        return identity in self._tracked

    # Control.

    def watch(self, tensor: Any) -> None:
        """Watches a tensor, a variable, or any structure of them.

        >>> x = tf.constant(3.0)
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.gradient(y, x).numpy()
        np.float32(6.0)
        """
        if self._records is None:
            raise RuntimeError(
                "GradientTape.watch: the tape is not recording. Call it inside the tape's `with` block, before the "
                "computation to differentiate."
            )
        for t in tensors_in(tensor):
            variable = variable_of(t)
            if variable is None and not isinstance(t, Tensor):
                raise ValueError(
                    f"Passed in object {t!r} of type {type(t).__name__!r}, not tf.Tensor or tf.Variable. Convert it "
                    "first: x = tf.convert_to_tensor(x)."
                )
            if not t.dtype.is_differentiable:
                warn_once(
                    f"The dtype of the watched tensor must be floating (e.g. tf.float32), got {t.dtype!r}"
                )
            if self._journal is not None:
                self._journal.note("watch", t)
            if variable is not None:
                self._watch_variable(variable, variable._now())
            elif t.dtype.is_differentiable:
                self._tracked.add(identify(t))

    def stop_recording(self) -> Paused:
        """Pauses the tape within the context.

        >>> x = tf.Variable(2.0)
        >>> with tf.GradientTape() as tape:
        ...     y = x * x
        ...     with tape.stop_recording():
        ...         z = y * y
        >>> print(tape.gradient(z, x))
        None
        """
        return Paused(self)

    def reset(self) -> None:
        """Forgets everything recorded so far, and goes on recording."""
        if not self._recording:
            raise ValueError("Tape is not recording.")
        self._forget()
        self._records = []
        if self._journal is not None:
            self._journal.note("reset", None)

    def watched_variables(self) -> tuple[Variable, ...]:
        """The variables the tape watches, in the order in which they were made."""
        found = sorted(self._watched.values(), key=lambda v: v._created)
        return tuple(v._whole for v in found)

    def _forget(self) -> None:
        self._is_used_up = False
        self._records = None
        self._tracked = set()
        self._reads = {}
        self._watched = {}

    # Differentiating.

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any:
        """The gradient of `target` with respect to each of `sources`, in the structure of `sources`.

        >>> w, b = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
        >>> with tf.GradientTape() as tape:
        ...     loss = tf.reduce_sum(w * w) + b
        >>> tape.gradient(loss, {"w": w, "b": b})["w"].numpy()
        array([2., 4.], dtype=float32)

        Args:
          target: a tensor or variable, or any structure of them. Several targets, or targets that are not scalars, are
            added up.
          sources: tensors or variables, in any structure. Intermediate results may be sources.
          output_gradients: for each target, the gradient to begin with instead of ones.
          unconnected_gradients: `tf.UnconnectedGradients.NONE` or `ZERO`: what to return for sources that the target
            does not depend on. `explain` says why they are unconnected.

        Returns:
          Tensors, `tf.IndexedSlices` or `None`s.
        """
        begin(self, "gradient")
        zero = (
            unconnected_gradients is not UnconnectedGradients.NONE
            and UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
        )
        seeds = seeds_of(self, target, output_gradients)
        flat = tensors_in(sources)
        found = self._backward(seeds, flat, release=not self._persistent)
        if context.tracer is not None:
            context.tracer.graph.note_gradients([*map(variable_of, flat)], found)
        if context.witness is not None:
            context.witness.asked(self, target, sources, found)
        if zero:
            found = [
                moving.zeros_like(convert_to_tensor(s)) if g is None else g
                for g, s in zip(found, flat, strict=True)
            ]
        return gradients_like(sources, found)

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The derivative of every element of `target` with respect to every element of each of `sources`.

        >>> x = tf.constant([1.0, 2.0])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.jacobian(y, x).numpy()
        array([[2., 0.],
               [0., 4.]], dtype=float32)

        Returns:
          For each source a tensor of shape `target.shape + source.shape`, in the structure of `sources`.
        """
        begin(self, "jacobian", several=not experimental_use_pfor)
        zero = UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
        flat = tensors_in(sources)
        rows = jacobians.jacobian(
            self, target_of(self, target), flat, zero, loop=not experimental_use_pfor
        )
        if not self._persistent:
            self._release()
        return gradients_like(sources, rows)

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The Jacobian of each row of `target` with respect to the same row of `source`.

        >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.batch_jacobian(y, x).numpy()[1]
        array([[6., 0.],
               [0., 8.]], dtype=float32)

        Returns:
          A tensor of shape `[batch, *target.shape[1:], *source.shape[1:]]`.
        """
        begin(self, "batch_jacobian", several=not experimental_use_pfor)
        UnconnectedGradients(unconnected_gradients)  # raises for what is neither
        inside = one_tensor(source)
        result = jacobians.batch_jacobian(
            self, target_of(self, target), inside, loop=not experimental_use_pfor
        )
        if not self._persistent:
            self._release()
        return gradients_like(source, [result])

    def explain(self, target: Any, sources: Any) -> Explanation:
        """Says for each source whether and how `target` depends on it, or why not.

        >>> x = tf.constant(3.0)
        >>> with tf.GradientTape() as tape:
        ...     y = x * x
        >>> print(tape.explain(y, x))
        x: not connected: it is not watched
            Call tape.watch(x) at the start of the `with` block.

        A tape made with `debug=True` also knows source lines, and what happened to values that it did not record.
        """
        from tapeflow._src.autodiff.explain.answers import explain

        return explain(self, target, sources)

    # The pieces of `gradient`.

    def _release(self) -> None:
        self._is_used_up = True
        self._records = [] if self._recording else None  # it goes on where it could not be stopped
        self._tracked = set()

    def _backward(self, seeds: backprop.Gradients, sources: list[Any], release: bool) -> list[Any]:
        """The gradients of flat `sources`, `None` where there is none."""
        ids = source_ids(self._reads, sources)
        wanted = {i for group in ids for i in group if i}
        records = self._records
        assert records is not None
        needed = None if self._covers(wanted) else backprop.reachable(records, wanted)
        if release:
            self._release()  # also if a gradient function raises: half a tape must not be used again
        found = backprop.backward(records, seeds, wanted, needed, release)
        results = []
        for group in ids:
            parts = [found[i] for i in group if i in found]
            total = parts[0] if parts else None
            for part in parts[1:]:
                total = backprop.accumulate(total, part)
            results.append(total)
        return results

    def _covers(self, wanted: set[int]) -> bool:
        """Whether all that is watched is asked for, the usual case: then every gradient is needed."""
        if len(self._tracked) != len(self._records or ()) + len(self._reads):
            return False  # tensors are watched, too
        return wanted.issuperset(self._reads)
