"""What can be said of the comparison without TensorFlow: it covers all ops, and finds differences."""

import fnmatch
import inspect
import types

import numpy as np
import pytest
from tests.differential.accepted import ACCEPTED, reason
from tests.differential.calls import Call, Entry
from tests.differential.catalogue import CATALOGUE
from tests.differential.compare import Difference, Failure, compare, run
from tests.differential.conditions import at, is_behind, within
from tests.differential.draw import floats
from tests.differential.exclusions import EXCLUDED, EXCLUDED_NAMESPACES
from tests.differential.programs import draw_program
from tests.differential.values import Array

import tapeflow as tf
from tapeflow._src.core.missing import namespaces, public_names


def find(name):
    found = tf
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def public_functions():
    for place, module in namespaces():
        if place.startswith(tuple(EXCLUDED_NAMESPACES)):
            continue
        for name in public_names(module):
            value = getattr(module, name)
            ours = getattr(value, "__module__", "").startswith("tapeflow.")  # not `typing`'s
            if callable(value) and ours and not inspect.isclass(value):
                yield f"{place}.{name}", value


def test_every_public_function_is_in_the_catalogue_or_excluded():
    called = {find(entry.name) for entry in CATALOGUE.values() if entry.expression is None}
    text = "\n".join(entry.expression or "" for entry in CATALOGUE.values())
    names = {}
    for name, value in public_functions():
        names.setdefault(value, []).append(name)
    absent = [
        names
        for value, names in names.items()
        if value not in called and not any(f"{n}(" in text or n in EXCLUDED for n in names)
    ]
    assert absent == []


def test_exclusions_are_still_needed():
    names = {name for name, _ in public_functions()}
    assert [name for name in EXCLUDED if name not in names] == []
    assert all(len(why) > 10 for why in EXCLUDED.values())


@pytest.mark.parametrize("label", CATALOGUE)
@pytest.mark.sample(4)
def test_drawn_calls_run_and_repeat(label):
    entry = CATALOGUE[label]
    calls = [entry.draw(7, number, bad=0.0) for number in range(4)]
    assert [str(call) for call in calls] == [str(entry.draw(7, n, bad=0.0)) for n in range(4)]
    outcomes = [run(tf, call, with_second=False) for call in calls]
    works = [not isinstance(outcome["result"], Failure) for outcome in outcomes]
    may_fail = entry.expression is not None or entry.name.startswith(
        ("debugging.", "nest.", "Assert")
    )
    assert any(works) or may_fail, outcomes[0]["result"]


def test_a_line_that_is_shown_makes_the_same_call():
    call = CATALOGUE["add"].draw(3, 1, bad=0.0)
    shown = eval(str(call), {"tf": tf, "np": np, "inf": np.inf, "nan": np.nan})
    assert np.array_equal(shown.numpy(), run(tf, call, False)["result"], equal_nan=True)


def test_programs_run():
    outcomes = [run(tf, draw_program(0, number), False)["result"] for number in range(20)]
    assert not any(isinstance(outcome, Failure) for outcome in outcomes)


def pretender(**changed):
    """The library with some functions replaced."""
    other = types.SimpleNamespace(**{name: getattr(tf, name) for name in dir(tf)})
    for name, value in changed.items():
        setattr(other, name, value)
    return other


@tf.custom_gradient
def sin_with_a_wrong_gradient(x):
    return tf.sin(x), lambda g: g * tf.cos(x) * 1.01


def raising(x):
    raise KeyError(x)


@pytest.mark.parametrize(
    ("wrong", "step", "aspect"),
    [
        (lambda x: tf.sin(x) * 1.001, "result", "values"),
        (lambda x: tf.cast(tf.sin(x), tf.float64), "result", "dtype"),
        (lambda x: tf.sin(x)[None], "result", "shape"),
        (lambda x: [tf.sin(x)], "result", "type"),
        (raising, "result", "exception"),
        (lambda x: sin_with_a_wrong_gradient(x), "gradient", "values"),
        (lambda x: tf.stop_gradient(tf.sin(x)), "gradient", "type"),
        (lambda x: tf.sin(tf.gather(x, [0, 1, 2])), "gradient", "type"),
        (
            lambda x: tf.sin(x) + tf.stop_gradient(x) - x + x * tf.stop_gradient(x) / x - x,
            "gradient",
            "values",
        ),
    ],
)
def test_a_difference_is_found(wrong, step, aspect):
    entry = Entry("sin", {"x": floats()})
    call = Call(entry, {"x": Array(np.array([0.5, 1.0, 2.0], "float32"))}, 0)
    ours, theirs = run(pretender(sin=wrong), call, True), run(tf, call, True)
    assert compare(call, theirs, theirs) is None
    difference = compare(call, ours, theirs)
    assert (difference.step, difference.aspect) == (step, aspect)
    assert reason(difference) is None


@pytest.mark.parametrize("entry", ACCEPTED, ids=lambda entry: entry.title)
def test_accepted_differences_are_about_ops_of_the_catalogue(entry):
    names = {"program", *(known.name for known in CATALOGUE.values())}
    assert [op for op in entry.ops if not fnmatch.filter(names, op)] == []


@pytest.mark.parametrize(
    ("theirs", "accepted"),
    [([9.0, 2.0], True), ([1.0, 9.0], False), ([1.0, np.nan], False), ([9.0, 9.0], False)],
)
def test_a_difference_at_zeros_is_no_difference_elsewhere(theirs, accepted):
    call = Call(Entry("sin", {}), {"x": Array(np.array([0.0, 1.0]))}, 0)
    difference = Difference(call, "result", "values", np.array([1.0, 2.0]), np.array(theirs))
    assert at("x", lambda x: x == 0)(difference) == accepted


def test_a_small_difference_is_one_next_to_the_largest_value():
    call = Call(Entry("sin", {}), {}, 0)
    here = np.array([1000.0, 1.0])
    for change, accepted in ((0.5, True), (2.0, False), (np.nan, False)):
        there = np.array([1000.0, 1.0 + change])
        difference = Difference(call, "result", "values", here, there)
        assert within(1e-3)(difference) == accepted


@pytest.mark.parametrize(
    ("path", "here", "accepted"),
    [
        ((0, 0), None, True),
        ((0, 1), None, False),
        ((1, 0), None, True),
        ((0, 0), np.ones(3), False),
    ],
)
def test_only_sources_behind_an_op_are_excused(path, here, accepted):
    text = """
t1 = tf.round(x)
t2 = t1 * 2.0
t3 = tf.sin(x)
g00 = tape0.gradient([t2, t3], [t1, t3], unconnected_gradients="zero")
g01 = tape0.gradient(t3, [t2])
result = [g00, g01]
"""
    entry = Entry("program", {}, expression=text, is_program=True)
    difference = Difference(Call(entry, {}, 0), "result", "type", here, np.ones(3), path)
    assert is_behind("tf.round")(difference) == accepted
