"""`tf.errors`: the exceptions ops raise."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.errors import (
    ABORTED as ABORTED,
    ALREADY_EXISTS as ALREADY_EXISTS,
    CANCELLED as CANCELLED,
    DATA_LOSS as DATA_LOSS,
    DEADLINE_EXCEEDED as DEADLINE_EXCEEDED,
    FAILED_PRECONDITION as FAILED_PRECONDITION,
    INTERNAL as INTERNAL,
    INVALID_ARGUMENT as INVALID_ARGUMENT,
    NOT_FOUND as NOT_FOUND,
    OK as OK,
    OUT_OF_RANGE as OUT_OF_RANGE,
    PERMISSION_DENIED as PERMISSION_DENIED,
    RESOURCE_EXHAUSTED as RESOURCE_EXHAUSTED,
    UNAUTHENTICATED as UNAUTHENTICATED,
    UNAVAILABLE as UNAVAILABLE,
    UNIMPLEMENTED as UNIMPLEMENTED,
    UNKNOWN as UNKNOWN,
    AbortedError as AbortedError,
    AlreadyExistsError as AlreadyExistsError,
    CancelledError as CancelledError,
    DataLossError as DataLossError,
    DeadlineExceededError as DeadlineExceededError,
    FailedPreconditionError as FailedPreconditionError,
    InternalError as InternalError,
    InvalidArgumentError as InvalidArgumentError,
    NotFoundError as NotFoundError,
    OperatorNotAllowedInGraphError as OperatorNotAllowedInGraphError,
    OpError as OpError,
    OutOfRangeError as OutOfRangeError,
    PermissionDeniedError as PermissionDeniedError,
    ResourceExhaustedError as ResourceExhaustedError,
    UnauthenticatedError as UnauthenticatedError,
    UnavailableError as UnavailableError,
    UnimplementedError as UnimplementedError,
    UnknownError as UnknownError,
)
from tapeflow._src.core.missing import Missing as _Missing

__getattr__ = _Missing("tf.errors")
