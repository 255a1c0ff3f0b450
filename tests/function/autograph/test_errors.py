"""Mistakes are named as in TensorFlow, with the variable and the user's line."""

import traceback

import pytest

import tapeflow as tf
import tapeflow.autograph
from tapeflow._src.function.autograph import convert


@pytest.fixture(params=["stand-in", "tf.function"], autouse=True)
def run(request):
    """How a function is run: converted, with tensors that count as symbolic; or traced."""
    if request.param == "stand-in":
        request.getfixturevalue("everything_symbolic")
        return convert
    return tf.function


def line_of(text):
    """The number of the line in this file that ends with a mark."""
    with open(__file__, encoding="utf-8") as file:
        (number,) = [i for i, line in enumerate(file, 1) if line.rstrip().endswith(f"# {text}")]
    return number


def refuses(run, function, kind, *parts, at=None, x=1.0):
    with pytest.raises(kind) as caught:
        run(function)(tf.constant(x))
    for part in parts:
        assert part in str(caught.value)
    if at is not None:
        place = f'File "{__file__}", line {line_of(at)}, in {function.__name__}'
        assert place in str(caught.value)
    return caught.value


# Branches.


def only_in_main(x):
    if x > 0.0:  # only in main
        y = x
    return y


def only_in_else(x):
    if x > 0.0:  # only in else
        pass
    else:
        y = x
    return y


def none_in_else(x):
    y = None
    if x > 0.0:  # none in else
        y = x
    return y


def no_return_in_else(x):
    if x > 0.0:  # no return
        return x


def other_dtype(x):
    if x > 0.0:  # other dtype
        y = 1
    else:
        y = 2.0
    return y


def other_structure(x):
    if x > 0.0:  # other structure
        y = (x, x)
    else:
        y = [x]
    return y


def other_objects(x):
    if x > 0.0:  # other objects
        y = object()
    else:
        y = object()
    return y


def item_only_in_main(x):
    items = {}
    if x > 0.0:  # item only in main
        items["a"] = x
    return items["a"]


def not_a_bool(x):
    if x:  # not a bool
        return x
    return -x


def not_a_scalar(x):
    if tf.stack([x, x]) > 0.0:  # not a scalar
        return x
    return -x


def expression_of_two_dtypes(x):
    return x if x > 0.0 else 1  # two dtypes


def and_of_numbers(x):
    return x > 0.0 and 3  # and of numbers


@pytest.mark.parametrize("x", [1.0, -1.0])
def test_branches(run, x):
    refuses(
        run,
        only_in_main,
        ValueError,
        "'y' must also be initialized in the else",
        at="only in main",
        x=x,
    )
    refuses(
        run,
        only_in_else,
        ValueError,
        "'y' must also be initialized in the main",
        at="only in else",
        x=x,
    )
    refuses(
        run,
        none_in_else,
        ValueError,
        "'y' is None at the end of the else branch",
        at="none in else",
        x=x,
    )
    refuses(
        run,
        no_return_in_else,
        ValueError,
        "the else branch must also have a return",
        at="no return",
        x=x,
    )
    refuses(
        run,
        other_dtype,
        TypeError,
        "'y' has dtype int32 in the main branch, but dtype float32 in the else branch",
        at="other dtype",
        x=x,
    )
    refuses(
        run,
        other_structure,
        TypeError,
        "'y' must have the same nested structure",
        at="other structure",
        x=x,
    )
    refuses(
        run, other_objects, TypeError, "'y' is a object in the main branch", at="other objects", x=x
    )
    refuses(
        run, item_only_in_main, ValueError, "'items['a']' must also be", at="item only in main", x=x
    )
    refuses(run, not_a_bool, ValueError, "if statement", "float32", "tf.cast", at="not a bool", x=x)
    refuses(
        run, not_a_scalar, ValueError, "if statement", "(2,)", "reduce_all", at="not a scalar", x=x
    )
    refuses(
        run,
        expression_of_two_dtypes,
        TypeError,
        "'x > 0.0' has dtype float32 in the main",
        at="two dtypes",
        x=x,
    )
    refuses(run, and_of_numbers, TypeError, "takes bools, got 3", at="and of numbers")


# Loops.


def changes_dtype(x):
    y = 1
    for _ in tf.range(3):  # changes dtype
        y = x
    return y


def changes_structure(x):
    y = (x,)
    while y[0] < 3.0:  # changes structure
        y = (x, x)
    return y


def changes_shape(x):
    y = tf.reshape(x, [1])
    for _ in tf.range(3):  # changes shape
        y = tf.concat([y, [x]], 0)
    return y


def breaks_the_invariant(x):
    y = tf.reshape(x, [1])
    for _ in tf.range(3):  # breaks the invariant
        tf.autograph.experimental.set_loop_options(shape_invariants=[(y, tf.TensorShape([2]))])
        y = tf.concat([y, [x]], 0)
    return y


def becomes_none(x):
    y = x
    while x < 3.0:  # becomes none
        x = x + 1.0
        y = None
    return y


def uses_before_assignment(x):
    while x < 3.0:  # uses before
        x = x + z  # noqa: F821
        z = 1.0  # noqa: F841
    return x


def defined_in_a_branch_of_a_loop(x):
    for _ in tf.range(3):  # in a branch of a loop
        if x > 0.0:
            y = x
    return y


def changes_an_object(x):
    y = object()
    while x < 3.0:  # changes an object
        x = x + 1.0
        y = object()
    return y


def may_not_return(x):
    for _ in tf.range(3):
        if x > 0.0:  # may not return
            return x


def over_a_scalar(x):
    for y in x:  # over a scalar
        x = y
    return x


def test_loops(run):
    refuses(
        run,
        changes_dtype,
        TypeError,
        "'y' has dtype int32 before the loop, but dtype float32 after one iteration",
        at="changes dtype",
    )
    refuses(
        run,
        changes_structure,
        TypeError,
        "'y' does not have the same nested",
        at="changes structure",
    )
    refuses(
        run,
        changes_shape,
        ValueError,
        "'y' has shape (1,) before the loop, but shape (2,) after one iteration",
        "set_loop_options",
        at="changes shape",
    )
    refuses(
        run,
        breaks_the_invariant,
        ValueError,
        "'y' has shape (1,) before the loop, which does not conform with the shape invariant (2,)",
    )
    refuses(
        run, becomes_none, ValueError, "'y' is None at the end of the iteration", at="becomes none"
    )
    refuses(
        run,
        uses_before_assignment,
        ValueError,
        "'z' must be defined before the loop",
        "UnboundLocalError",
        at="uses before",
    )
    refuses(
        run,
        defined_in_a_branch_of_a_loop,
        ValueError,
        "'y' must be defined before the loop",
        "'y' must also be initialized in the else branch",
        at="in a branch of a loop",
    )
    refuses(
        run, changes_an_object, TypeError, "'y' is a object before the loop", at="changes an object"
    )
    refuses(run, may_not_return, ValueError, "may_not_return may end without", at="may not return")
    refuses(run, over_a_scalar, TypeError, "iterate over a scalar", at="over a scalar")


def no_turns(x):
    for _ in tf.range(tf.cast(x, tf.int32) - 1):
        y = x
    return y


def test_a_loop_without_turns_gives_nothing(run):
    refuses(run, no_turns, tf.errors.InvalidArgumentError, "at least one turn to give y a value")
    assert run(no_turns)(tf.constant(2.0)) == 2.0


def asserts(x):
    assert x < 0.0, f"x is {x.dtype.name}"


def test_assertions(run):
    refuses(run, asserts, tf.errors.InvalidArgumentError, "x is float32")
    run(asserts)(tf.constant(-1.0))


# Tracebacks.


def fails_in_a_branch(x):
    total = x
    for i in tf.range(3):  # the loop
        if i > 0:  # the if
            total = inner_that_fails(total)  # the call
    return total


def inner_that_fails(x):
    return (
        x + x.missing_attribute  # the mistake
    )


def test_tracebacks_show_the_users_lines_and_no_others(run):
    error = refuses(run, fails_in_a_branch, AttributeError, "missing_attribute")
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == __file__]
    lines = [(f.lineno, f.name) for f in frames[1:]]  # the first is the test
    assert lines == [
        (line_of("the loop"), "fails_in_a_branch"),
        (line_of("the if"), "fails_in_a_branch"),
        (line_of("the call"), "fails_in_a_branch"),
        (line_of("the mistake"), "inner_that_fails"),
    ]
    if run is convert:
        assert len(frames) == len(traceback.extract_tb(error.__traceback__))


class Complaint(Exception):
    def __init__(self, code, reason):
        super().__init__(code, reason)
        self.code = code


def raises_its_own(x):
    if x > 0.0:
        raise Complaint(3, "no")
    return x


def test_exceptions_arrive_as_they_were_raised(run):
    assert refuses(run, raises_its_own, Complaint).code == 3
