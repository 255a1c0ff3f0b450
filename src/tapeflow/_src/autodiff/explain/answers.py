"""`GradientTape.explain`: says for each source how the target depends on it, or why it does not."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from tapeflow._src.autodiff.explain import diagnosis, source_names
from tapeflow._src.autodiff.explain.advice import INSIDE
from tapeflow._src.autodiff.explain.findings import Finding, Question, Step
from tapeflow._src.autodiff.explain.journal import Event, Operation, user_frame
from tapeflow._src.autodiff.explain.paths import Reason
from tapeflow._src.autodiff.targets_and_sources import tensors_in, variable_of
from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import one_tensor
from tapeflow._src.core.tensor import Tensor

if TYPE_CHECKING:
    from tapeflow._src.autodiff.tape import GradientTape

INDENT = "    "


class SourceExplanation(NamedTuple):
    """What `explain` says of one source."""

    name: str
    connected: bool
    reason: Reason
    path: list[Step]
    text: str
    fix: str

    def __str__(self) -> str:
        return self.text


class Explanation(Sequence[SourceExplanation]):
    """The answer of `GradientTape.explain`: a text, and a `SourceExplanation` for each source.

    >>> w, b = tf.Variable(2.0, name="w"), tf.Variable(1.0, name="b")
    >>> with tf.GradientTape() as tape:
    ...     y = w * w
    >>> explanation = tape.explain(y, [w, b])
    >>> explanation
    w: connected
        multiply
        and 1 other path
    b: not connected: it was never read while the tape was recording
        Use it inside the `with` block, where y is computed. ...
    >>> [source.reason.value for source in explanation]
    ['connected', 'never_used']
    """

    def __init__(self, sources: list[SourceExplanation]) -> None:
        self._sources = sources

    @property
    def connected(self) -> bool:
        """Whether the target depends on every source."""
        return all(s.connected for s in self._sources)

    @overload
    def __getitem__(self, index: int) -> SourceExplanation: ...
    @overload
    def __getitem__(self, index: slice) -> list[SourceExplanation]: ...
    def __getitem__(self, index: Any) -> Any:
        return self._sources[index]

    def __len__(self) -> int:
        return len(self._sources)

    def __iter__(self) -> Iterator[SourceExplanation]:
        return iter(self._sources)

    def __str__(self) -> str:
        return "\n".join(s.text for s in self._sources)

    __repr__ = __str__


def explain(
    tape: GradientTape,
    target: Any,
    sources: Any,
    parameters: tuple[str, ...] = ("target", "sources"),
) -> Explanation:
    """Explains how `target` depends on `sources`, from the records of a tape and its journal.

    `parameters` are those of the function that the user has called: the call names target and sources.
    """
    if tape._journal is None and tape._records is None:
        raise RuntimeError(
            "This tape has nothing left to explain: it let go of its records when a gradient was "
            "computed (or was never opened). Call explain before gradient, or create the tape with "
            "tf.GradientTape(persistent=True), or with tf.GradientTape(debug=True), which also "
            "knows the lines of your program."
        )
    arguments = source_names.call_arguments(user_frame(), parameters)
    expression = arguments.get("sources")
    names = source_names.leaf_names(
        sources, expression, "sources" if nest.is_nested(sources) else "source"
    )
    values = _target_values(target)
    if not values:
        raise ValueError("GradientTape.explain: the target holds no tensor")
    question = Question(tape, _events(tape), values, _target_name(arguments.get("target")))
    return Explanation(
        [
            _explained(source, name, question)
            for source, name in zip(map(one_tensor, nest.flatten(sources)), names, strict=True)
        ]
    )


def _explained(source: Any, name: str, question: Question) -> SourceExplanation:
    variable = variable_of(source)
    if variable is None and not isinstance(source, Tensor):
        raise TypeError(
            f"sources must be tensors or variables, or structures of them; got {source!r} of type "
            f"{type(source).__name__!r}"
        )
    finding = diagnosis.diagnose(question, source if variable is None else variable, name)
    if variable is not None and variable._name.rpartition("/")[2] != "Variable":
        name = variable._name
    return SourceExplanation(
        name,
        finding.reason is Reason.CONNECTED,
        finding.reason,
        finding.path,
        _text(name, finding),
        finding.fix,
    )


def _text(name: str, finding: Finding) -> str:
    if finding.reason is Reason.CONNECTED:
        first = f"{name}: connected"
        if finding.headline:
            first += f": {finding.headline}"
    else:
        first = f"{name}: not connected: {finding.headline}"
    lines = [*finding.details, *([finding.fix] if finding.fix else [])]
    return "\n".join([first, *(INDENT + line for line in lines)])


def _target_values(target: Any) -> list[Any]:
    """The tensors and variables that the target consists of."""
    values = []
    for t in tensors_in(target):
        variable = variable_of(t)
        if variable is None and not isinstance(t, Tensor):
            raise TypeError(
                f"target must be a tensor or variable, or a structure of them; got {t!r} of type "
                f"{type(t).__name__!r}"
            )
        values.append(t if variable is None else variable)
    return values


def _target_name(expression: ast.expr | None) -> str:
    if isinstance(expression, ast.Name | ast.Attribute | ast.Subscript):
        text = ast.unparse(expression)
        if len(text) <= source_names.LONGEST:
            return text
    return "the target"


def _events(tape: GradientTape) -> Sequence[Event]:
    """The events of the journal, or what the records alone tell of them."""
    if tape._journal is not None:
        return tape._journal.events
    events: list[Event] = []
    for output, operation, edges in tape._records or ():
        if type(output) is int:
            inputs, outputs = tuple(e[0] for e in edges), (output,)
            lost = ()
        else:
            inputs, outputs = tuple(i for i in edges if i), output
            lost = () if operation.lost is None else {edges[i] for i in operation.lost()}
        ends = tuple(INSIDE if i in lost else None for i in inputs)
        events.append(Operation(operation.name, inputs, outputs, ends, (True,) * len(inputs)))
    return events
