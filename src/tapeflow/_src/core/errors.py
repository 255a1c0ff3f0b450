"""`tf.errors`: the exceptions that ops raise, one class for each status code.

>>> import tapeflow as tf
>>> try:
...     raise tf.errors.InvalidArgumentError(None, None, "shapes (2,) and (3,) do not match")
... except tf.errors.OpError as error:
...     print(error.error_code, error.message)
3 shapes (2,) and (3,) do not match
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from tapeflow._src.core.context import context
from tapeflow._src.core.export import export, export_value

__all__ = [
    "ABORTED",
    "ALREADY_EXISTS",
    "CANCELLED",
    "DATA_LOSS",
    "DEADLINE_EXCEEDED",
    "FAILED_PRECONDITION",
    "INTERNAL",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "OK",
    "OUT_OF_RANGE",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "UNAUTHENTICATED",
    "UNAVAILABLE",
    "UNIMPLEMENTED",
    "UNKNOWN",
    "AbortedError",
    "AlreadyExistsError",
    "CancelledError",
    "DataLossError",
    "DeadlineExceededError",
    "FailedPreconditionError",
    "InternalError",
    "InvalidArgumentError",
    "NotFoundError",
    "OpError",
    "OperatorNotAllowedInGraphError",
    "OutOfRangeError",
    "PermissionDeniedError",
    "ResourceExhaustedError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "UnknownError",
]

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


@export("errors.OpError")
class OpError(Exception):
    """What every exception raised by an op derives from.

    Args:
        node_def: the graph node that failed, or `None`.
        op: the operation that failed, or `None`.
        message: what went wrong.
        error_code: one of the codes of this module, such as `tf.errors.INVALID_ARGUMENT`.
        *args: first of them, optionally, a dict with further details.
    """

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int, *args: Any) -> None:
        super().__init__(message)
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code
        self._payloads = args[0] if args else {}

    @property
    def message(self) -> str:
        """What went wrong."""
        return self._message

    @property
    def op(self) -> Any:
        """The operation that failed, or `None` if it is not known."""
        return self._op

    @property
    def node_def(self) -> Any:
        """The graph node that failed, or `None` if it is not known."""
        return self._node_def

    @property
    def error_code(self) -> int:
        """The code of the kind of error."""
        return self._error_code

    @property
    def experimental_payloads(self) -> Any:
        """Further details, by name."""
        return self._payloads

    def __reduce__(self) -> tuple[Any, ...]:
        # The default passes `self.args`, the message alone, to the constructor. The state carries
        # what was attached to the exception, such as its notes.
        arguments = (self._node_def, self._op, self._message, self._error_code, self._payloads)
        return type(self), arguments, self.__dict__


class _CodedError(OpError):
    """An error whose class decides its code."""

    _code: ClassVar[int]

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, self._code, *args)

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (self._node_def, self._op, self._message, self._payloads)
        return type(self), arguments, self.__dict__


@export("errors.CancelledError")
class CancelledError(_CodedError):
    """The operation was cancelled by its caller."""

    _code = CANCELLED


@export("errors.UnknownError")
class UnknownError(_CodedError):
    """Something failed in a way that no other class describes."""

    _code = UNKNOWN


@export("errors.InvalidArgumentError")
class InvalidArgumentError(_CodedError):
    """An op received an argument it cannot work with, such as shapes that do not match.

    >>> import tapeflow as tf
    >>> tf.errors.InvalidArgumentError(None, None, "rank must be 2, got 1").message
    'rank must be 2, got 1'
    """

    _code = INVALID_ARGUMENT


@export("errors.DeadlineExceededError")
class DeadlineExceededError(_CodedError):
    """The operation did not finish in the time it was given."""

    _code = DEADLINE_EXCEEDED


@export("errors.NotFoundError")
class NotFoundError(_CodedError):
    """Something that was asked for, such as a file, does not exist."""

    _code = NOT_FOUND


@export("errors.AlreadyExistsError")
class AlreadyExistsError(_CodedError):
    """Something that was to be created exists already."""

    _code = ALREADY_EXISTS


@export("errors.PermissionDeniedError")
class PermissionDeniedError(_CodedError):
    """The caller may not do this, for example read that file."""

    _code = PERMISSION_DENIED


@export("errors.UnauthenticatedError")
class UnauthenticatedError(_CodedError):
    """The caller has not said who it is, or its credentials are not valid."""

    _code = UNAUTHENTICATED


@export("errors.ResourceExhaustedError")
class ResourceExhaustedError(_CodedError):
    """There is no memory, disk or other resource left for the operation."""

    _code = RESOURCE_EXHAUSTED


@export("errors.FailedPreconditionError")
class FailedPreconditionError(_CodedError):
    """The system is not in the state the op needs, such as an initialised variable."""

    _code = FAILED_PRECONDITION


@export("errors.AbortedError")
class AbortedError(_CodedError):
    """The operation was broken off, often by another one at the same time."""

    _code = ABORTED


@export("errors.OutOfRangeError")
class OutOfRangeError(_CodedError):
    """The operation went past the end, such as the end of a dataset."""

    _code = OUT_OF_RANGE


@export("errors.UnimplementedError")
class UnimplementedError(_CodedError):
    """The op does not exist for these arguments or on this device."""

    _code = UNIMPLEMENTED


@export("errors.InternalError")
class InternalError(_CodedError):
    """Something that should always hold did not: a bug in the library."""

    _code = INTERNAL


@export("errors.UnavailableError")
class UnavailableError(_CodedError):
    """A service cannot be reached at the moment; trying again may help."""

    _code = UNAVAILABLE


@export("errors.DataLossError")
class DataLossError(_CodedError):
    """Data was lost or damaged beyond recovery."""

    _code = DATA_LOSS


@export("errors.OperatorNotAllowedInGraphError")
class OperatorNotAllowedInGraphError(TypeError):
    """A Python operator needs the value of a tensor that has none yet."""


class OnlyEagerlyError(RuntimeError):
    """Something inside `tf.function` that works only outside of it."""


class InaccessibleTensorError(TypeError, ValueError):
    """A symbolic tensor is used outside of the function it belongs to."""


class DTypeError(InvalidArgumentError, TypeError):
    """A dtype an op does not take, or two that do not go together.

    TensorFlow raises sometimes the one and sometimes the other, so code that catches either works.
    """


class TracingError(InvalidArgumentError, ValueError):
    """A mistake that is found while a function is traced.

    TensorFlow raises a ValueError for it there, and an InvalidArgumentError where the same op runs eagerly.
    """


class WrongObjectError(TypeError, AttributeError):
    """An object of a kind that a function does not take.

    TensorFlow asks it for an attribute without looking, and so raises the second, so code that catches either works.
    """


def wrong_object(op: str, argument: str, wanted: str, value: Any) -> WrongObjectError:
    """The error for an argument of the wrong kind, to be raised by the caller."""
    return WrongObjectError(
        f"{op}: {argument} must be {wanted}, got {shown(value)} of type {type(value).__name__!r}"
    )


class NoRowError(InvalidArgumentError, ValueError, IndexError):
    """A row or dimension that is not there.

    TensorFlow raises sometimes the one and sometimes the other, so code that catches either works.
    """


def from_status(error: Exception, where: str = "") -> Exception:
    """An error of XLA, whose message begins with the word for its status, as one of ours; others as they are."""
    kinds: dict[str, type[_CodedError]] = {
        "RESOURCE_EXHAUSTED": ResourceExhaustedError,
        "INVALID_ARGUMENT": InvalidArgumentError,
        "UNIMPLEMENTED": UnimplementedError,
    }
    status, _, message = str(error).partition(": ")
    return kinds[status](None, None, f"{where}{message}") if status in kinds else error


def no_row(message: str) -> NoRowError:
    """A `NoRowError` with just a message."""
    return NoRowError(None, None, message)


def shown(value: Any, most: int = 300, show: Callable[[Any], str] = repr) -> str:
    """A value of the user in a message: not longer than that, and whatever its `repr` does.

    >>> shown([1.5] * 1000)
    '[1.5, 1.5, 1.5, ... (5000 characters)'
    """
    try:
        text = show(value)
    except Exception:  # such as a list in a list in a list, deeper than Python can go
        return f"<{type(value).__name__} that cannot be shown>"
    return text if len(text) <= most else f"{text[:most]}... ({len(text)} characters)"


def invalid(message: str) -> InvalidArgumentError:
    """An `InvalidArgumentError` with just a message, which is a ValueError as well while a function is traced."""
    kind = InvalidArgumentError if context.tracer is None else TracingError
    return kind(None, None, message)


export_value("ABORTED", "errors.ABORTED")
export_value("ALREADY_EXISTS", "errors.ALREADY_EXISTS")
export_value("CANCELLED", "errors.CANCELLED")
export_value("DATA_LOSS", "errors.DATA_LOSS")
export_value("DEADLINE_EXCEEDED", "errors.DEADLINE_EXCEEDED")
export_value("FAILED_PRECONDITION", "errors.FAILED_PRECONDITION")
export_value("INTERNAL", "errors.INTERNAL")
export_value("INVALID_ARGUMENT", "errors.INVALID_ARGUMENT")
export_value("NOT_FOUND", "errors.NOT_FOUND")
export_value("OK", "errors.OK")
export_value("OUT_OF_RANGE", "errors.OUT_OF_RANGE")
export_value("PERMISSION_DENIED", "errors.PERMISSION_DENIED")
export_value("RESOURCE_EXHAUSTED", "errors.RESOURCE_EXHAUSTED")
export_value("UNAUTHENTICATED", "errors.UNAUTHENTICATED")
export_value("UNAVAILABLE", "errors.UNAVAILABLE")
export_value("UNIMPLEMENTED", "errors.UNIMPLEMENTED")
export_value("UNKNOWN", "errors.UNKNOWN")
