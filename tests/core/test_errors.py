"""What `tf.errors` promises; the codes are TensorFlow's."""

import copy
import pickle

import pytest

from tapeflow._src.core import errors

CODES = {
    "CancelledError": ("CANCELLED", 1),
    "UnknownError": ("UNKNOWN", 2),
    "InvalidArgumentError": ("INVALID_ARGUMENT", 3),
    "DeadlineExceededError": ("DEADLINE_EXCEEDED", 4),
    "NotFoundError": ("NOT_FOUND", 5),
    "AlreadyExistsError": ("ALREADY_EXISTS", 6),
    "PermissionDeniedError": ("PERMISSION_DENIED", 7),
    "ResourceExhaustedError": ("RESOURCE_EXHAUSTED", 8),
    "FailedPreconditionError": ("FAILED_PRECONDITION", 9),
    "AbortedError": ("ABORTED", 10),
    "OutOfRangeError": ("OUT_OF_RANGE", 11),
    "UnimplementedError": ("UNIMPLEMENTED", 12),
    "InternalError": ("INTERNAL", 13),
    "UnavailableError": ("UNAVAILABLE", 14),
    "DataLossError": ("DATA_LOSS", 15),
    "UnauthenticatedError": ("UNAUTHENTICATED", 16),
}


def test_every_public_name_is_known_here():
    constants = {constant for constant, _ in CODES.values()}
    others = {"OK", "OpError", "OperatorNotAllowedInGraphError"}
    assert set(errors.__all__) == set(CODES) | constants | others
    assert errors.OK == 0


@pytest.mark.parametrize("name", CODES)
def test_each_class(name):
    constant, code = CODES[name]
    error = getattr(errors, name)(None, "the op", "what went wrong")
    assert isinstance(error, errors.OpError)
    assert not isinstance(error, (ValueError, TypeError))
    assert error.error_code == getattr(errors, constant) == code
    assert error.message == str(error) == "what went wrong"
    assert (error.node_def, error.op, error.experimental_payloads) == (None, "the op", {})
    assert repr(error) == f"{name}('what went wrong')"


def test_op_error_takes_its_code():
    error = errors.OpError(None, None, "m", errors.NOT_FOUND)
    assert (error.message, error.error_code) == ("m", 5)


def test_arguments_by_name_and_payloads():
    assert errors.NotFoundError(node_def=None, op=None, message="m").message == "m"
    assert errors.NotFoundError(None, None, "m", {"a": b"1"}).experimental_payloads == {"a": b"1"}
    with pytest.raises(TypeError, match="missing 2 required positional arguments"):
        errors.NotFoundError("m")  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize(
    "error",
    [
        errors.OutOfRangeError("node", "op", "m", {"a": b"1"}),
        errors.OpError("node", "op", "m", 7, {"a": b"1"}),
    ],
    ids=repr,
)
def test_copies_keep_everything(error):
    error.add_note("in the second step")
    for made in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
        assert type(made) is type(error)
        assert (made.node_def, made.op, made.message) == ("node", "op", "m")
        assert made.error_code == error.error_code
        assert made.experimental_payloads == {"a": b"1"}
        assert made.__notes__ == ["in the second step"]


def test_operators_that_graphs_refuse_are_type_errors():
    assert issubclass(errors.OperatorNotAllowedInGraphError, TypeError)
    assert not issubclass(errors.OperatorNotAllowedInGraphError, errors.OpError)


def test_values_are_shown_however_deep_or_long_they_are():
    assert errors.shown([1, "a"]) == "[1, 'a']"
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert errors.shown(deep) == "<list that cannot be shown>"
    assert len(errors.shown(["word"] * 10**5)) < 400


def test_errors_that_are_two_things_are_caught_as_either():
    wrong = errors.wrong_object("tf.op", "x", "a tensor", 3)
    assert isinstance(wrong, TypeError) and isinstance(wrong, AttributeError)
    assert str(wrong) == "tf.op: x must be a tensor, got 3 of type 'int'"
    absent = errors.no_row("no row 3")
    assert isinstance(absent, IndexError) and isinstance(absent, errors.InvalidArgumentError)


def test_a_status_of_xla_becomes_an_error_of_ours():
    found = errors.from_status(RuntimeError("RESOURCE_EXHAUSTED: Out of memory"), "f: ")
    assert isinstance(found, errors.ResourceExhaustedError) and found.message == "f: Out of memory"
    other = RuntimeError("INTERNAL: a bug")
    assert errors.from_status(other) is other
