"""`tapeflow.inspect`: a function, a model or a tape as a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.autodiff.tape import GradientTape
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.transfers import transfers
from tapeflow._src.function.function import Function
from tapeflow._src.inspector import collecting, functions
from tapeflow._src.inspector.advice import advice
from tapeflow._src.inspector.page import Page
from tapeflow._src.inspector.tapes import collected_tape
from tapeflow._src.inspector.traces import Traced, traced


@export("inspect")
def inspect(subject: Any, *args: Any, **kwargs: Any) -> Page:
    """Shows what a step is: its ops, from which lines, what they cost in time and memory, and its gradients.

    >>> import tapeflow
    >>> w = tf.Variable([[1.0], [2.0]], name="w")
    >>> def loss(x):
    ...     return tf.reduce_mean(tf.square(x @ w))
    >>> page = tapeflow.inspect(loss, tf.ones([4, 2]))
    >>> [step["name"] for step in page.data["steps"]][:3]
    ['matmul', 'square', 'mean']
    >>> import tempfile
    >>> path = page.save(f"{tempfile.mkdtemp()}/loss.html")  # open it in a browser

    What is inspected runs a few times; variables get back what they held. Values that Python or NumPy keep do not.

    Args:
      subject: a function, a `tf.function`, a Keras model or a layer, which is called with the other arguments; or a
        tape. If what is called takes no gradient itself, that of its results is taken. A compiled Keras model may be
        given inputs and targets.
      *args: for it. For a tape: the target and the sources, as for `tape.gradient`.
      **kwargs: for it.

    Returns:
      A page: `page.save("step.html")` writes it to one file, and a notebook shows it.
    """
    if isinstance(subject, GradientTape):
        found = collected_tape(subject, *args, **kwargs)
        return Page(found, [], advice(found))
    if not callable(subject):
        raise TypeError(
            f"tapeflow.inspect takes a function, a model or a tape, got {shown(subject)}"
        )
    args = collecting.as_tensors(args)
    facts: list[functions.Facts] = []
    traces: list[Traced] = []
    if isinstance(subject, Function):
        with collecting.as_they_were():
            facts = [functions.facts(subject, args, kwargs)]
        traces = [traced(subject)]
        call, title = subject.python_function, subject.name
    else:
        call, title = _call_of(subject, args)
    run = _Run(call, args, kwargs)
    with transfers() as copies:
        found = collecting.collected(title, run, (args, kwargs))
    return Page(found, facts, advice(found, facts, traces, copies.repeated()))


class _Run:
    """A call, without arguments."""

    def __init__(self, call: Callable[..., Any], args: Any, kwargs: Any) -> None:
        self._call, self._args, self._kwargs = call, args, kwargs

    def __call__(self) -> Any:
        return self._call(*self._args, **self._kwargs)


def _call_of(subject: Any, args: tuple[Any, ...]) -> tuple[Callable[..., Any], str]:
    name = getattr(subject, "__name__", None) or getattr(subject, "name", None)
    name = name if isinstance(name, str) else type(subject).__name__
    # A Keras model that is compiled knows its loss.
    if len(args) == 2 and getattr(subject, "compiled", False) and hasattr(subject, "compute_loss"):

        def loss(x: Any, y: Any) -> Any:
            return subject.compute_loss(x, y, subject(x, training=True))

        return loss, name
    return subject, name
