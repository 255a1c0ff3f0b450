"""Composite tensors in structures, and functions that come to take them."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import pytest

import tapeflow as tf
from tapeflow._src.core.composites import dispatch
from tapeflow._src.core.composites.composite import CompositeTensor


def slices() -> tf.IndexedSlices:
    return tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 1]), tf.constant([4, 3]))


def test_components_are_leaves_if_one_asks_for_them():
    assert len(tf.nest.flatten([slices(), 1])) == 2
    assert len(tf.nest.flatten([slices(), 1], expand_composites=True)) == 4
    doubled = tf.nest.map_structure(lambda x: x * 2, {"a": slices()}, expand_composites=True)
    assert float(doubled["a"].values[0, 0]) == 2.0
    specs = tf.nest.flatten(tf.type_spec_from_value(slices()), expand_composites=True)
    assert specs == [
        tf.TensorSpec([2, 3]),
        tf.TensorSpec([2], tf.int32),
        tf.TensorSpec([2], tf.int32),
    ]


def test_structures_with_composites_are_the_same_if_their_specs_agree():
    tf.nest.assert_same_structure(slices(), tf.constant(1.0))
    with pytest.raises(ValueError, match="composite"):
        tf.nest.assert_same_structure(slices(), tf.constant(1.0), expand_composites=True)
    other = tf.IndexedSlices(tf.ones([2, 3], tf.float64), tf.constant([0, 1]))
    with pytest.raises(ValueError, match="nothing in common"):
        tf.nest.assert_same_structure(slices(), other, expand_composites=True)


@dataclasses.dataclass
class Masked:
    name: str
    value: Any

    def __tf_flatten__(self):
        return (self.name,), (self.value,)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(metadata[0], components[0])


class TestDataclasses:
    def test_they_are_structures(self):
        assert tf.nest.is_nested(Masked("a", 1))
        assert tf.nest.flatten([Masked("a", 1), 2]) == [1, 2]
        assert tf.nest.map_structure(lambda x: x + 1, Masked("a", [1])) == Masked("a", [2])
        tf.nest.assert_same_structure(Masked("a", 1), Masked("b", 2))

    def test_functions_take_and_give_them(self):
        f = tf.function(lambda x: Masked(x.name, x.value * 2.0))
        assert float(f(Masked("a", tf.constant(2.0))).value) == 4.0
        assert f(Masked("b", tf.constant(2.0))).name == "b"
        assert f.experimental_get_tracing_count() == 2

    def test_they_are_sources(self):
        x = Masked("a", tf.constant(3.0))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x.value**2
        assert float(tape.gradient(y, x).value) == 6.0


class Pair(CompositeTensor):
    """A composite without a spec, which is enough to be asked about."""


def _public(x, axis=None, *, name="n"):
    """A function of tensors."""
    return tf.reduce_sum(tf.convert_to_tensor(x), axis)


class TestDispatch:
    def test_a_function_asks_after_a_failure(self):
        other = _public
        signature = inspect.signature(_public)
        asked = []

        def handler(function, args, kwargs):
            asked.append((function, kwargs))
            return "answer" if isinstance(args[0], Pair) else dispatch.NOT_HANDLED

        dispatch.register(_public, handler)
        assert float(other([1.0, 2.0])) == 3.0
        assert other(Pair(), name="m") == "answer"
        assert asked == [(_public, {"name": "m"})]
        assert inspect.signature(_public) == signature
        with pytest.raises(ValueError, match="unsupported type"):
            other(object())  # nobody is asked about what is no composite tensor
        assert dispatch.unregister(handler)
        assert not dispatch.unregister(handler)
        with pytest.raises(ValueError, match="unsupported type"):
            other(Pair())

    def test_operators_ask_the_composite_on_the_right(self):
        class Right(Pair):
            def __radd__(self, other):
                return ("sum", float(other))

            def __gt__(self, other):
                return ("greater", float(other))

            __rtruediv__ = __radd__

        assert tf.constant(1.0) + Right() == ("sum", 1.0)
        assert tf.Variable(2.0) / Right() == ("sum", 2.0)
        assert (tf.constant(3.0) < Right()) == ("greater", 3.0)
        with pytest.raises(ValueError, match="unsupported type"):
            tf.constant(1.0) * Right()

    def test_what_is_no_function_is_refused(self):
        with pytest.raises(ValueError, match="not a function"):
            dispatch.register(len, lambda *args: None)
