"""Where the generated calls differ from TensorFlow on purpose, with the reason.

`docs/compatibility.md` is made from this table and from the one of the recorded cases.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable
from dataclasses import dataclass

from tests.differential.compare import Difference, Failure, is_rounding

SIGNATURES: dict[str, str] = {
    "tf.meshgrid": "TensorFlow takes `indexing` and `name` from `**kwargs`",
}
"""Functions whose parameters differ, with the reason."""


@dataclass(frozen=True)
class Accepted:
    """A kind of difference: what it is called, why it is right, and which calls show it."""

    title: str
    why: str
    when: Callable[[Difference], bool]
    ops: tuple[str, ...] = ("*",)

    def covers(self, difference: Difference) -> bool:
        name = difference.call.entry.name
        return any(fnmatch.fnmatchcase(name, op) for op in self.ops) and self.when(difference)


def fails_there(*words: str) -> Callable[[Difference], bool]:
    """TensorFlow raises an error with one of these words in it, and a result comes here."""

    def when(difference: Difference) -> bool:
        theirs = difference.theirs
        if not isinstance(theirs, Failure) or isinstance(difference.ours, Failure):
            return False
        return any(word in str(theirs) for word in words)

    return when


def both_fail(there: str, *here: str) -> Callable[[Difference], bool]:
    """TensorFlow raises an error with this word in it, and one of these is raised here."""

    def when(difference: Difference) -> bool:
        ours, theirs = difference.ours, difference.theirs
        if not (isinstance(ours, Failure) and isinstance(theirs, Failure)):
            return False
        return there in str(theirs) and any(name in ours.names for name in here)

    return when


NO_KERNEL = "Could not find device for node"

ACCEPTED: tuple[Accepted, ...] = (
    Accepted(
        "More dtypes",
        "TensorFlow has no CPU kernel for some pairs of an op and a dtype. Here an op takes every "
        "dtype for which it means something.",
        fails_there(NO_KERNEL, "is not in the list of allowed values"),
    ),
    Accepted(
        "The wrong dtype is a wrong argument",
        "Where TensorFlow has no kernel for a dtype it raises `NotFoundError`, about devices. Here "
        "it is the `InvalidArgumentError`, and `TypeError`, of any other wrong dtype.",
        both_fail(NO_KERNEL, "InvalidArgumentError"),
    ),
    Accepted(
        "More gradients",
        "Some of TensorFlow's gradients are missing, or fail inside. Here they are there.",
        lambda d: d.step != "result" and fails_there("Error")(d),
    ),
    Accepted(
        "Python lists and numbers",
        "A few functions of TensorFlow read `x.dtype` or `x.shape` before they make a tensor of "
        "`x`, and so fail with an `AttributeError` for a list or a number. Here they take it.",
        fails_there("AttributeError: 'list' object", "AttributeError: 'float' object"),
    ),
    Accepted(
        "Rounding",
        "The order of a sum may differ, and so the last bits. Next to a number of 1e30 that "
        "cancels, the last bits are large.",
        is_rounding,
    ),
    Accepted(
        "Complex gradient of cumprod",
        "TensorFlow leaves out the conjugate that its own convention for complex gradients asks for.",
        lambda d: d.step != "result" and "complex" in d.call.arguments["x"].dtype,
        ("math.cumprod",),
    ),
    Accepted(
        "Second derivative of cross-entropy by its labels",
        "TensorFlow leaves out that the first gradient by the logits depends on the labels.",
        lambda d: d.step == "second gradient",
        ("nn.softmax_cross_entropy_with_logits",),
    ),
    Accepted(
        "gelu in double precision",
        "TensorFlow rounds the square root of two to float32. Here it has the precision of x.",
        lambda d: d.aspect == "values" and "float64" in d.call.arguments["features"].dtype,
        ("nn.gelu",),
    ),
    Accepted(
        "shape_n of several dtypes",
        "TensorFlow wants tensors of one dtype, of which it then takes no notice.",
        fails_there("cannot compute ShapeN"),
        ("shape_n",),
    ),
    Accepted(
        "Arguments are checked also where they are not needed",
        "TensorFlow does not look at the noise shape of a dropout that drops nothing.",
        lambda d: isinstance(d.ours, Failure),
        ("nn.dropout",),
    ),
)


def reason(difference: Difference) -> str | None:
    """The title of the first entry that covers the difference."""
    return next((a.title for a in ACCEPTED if a.covers(difference)), None)
