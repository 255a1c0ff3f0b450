# pyright: reportAttributeAccessIssue=false
# Ops are typed for tensors, and give what they are given.
"""Extension types: fields, specs, functions, datasets, and public functions that come to take them."""

from __future__ import annotations

import typing
from collections.abc import Mapping

import pytest

import tapeflow as tf
from tapeflow._src.extension import extension_type


class Masked(tf.experimental.ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor

    def filled(self, value):
        return tf.where(self.mask, self.values, value)


class Everything(tf.experimental.ExtensionType):
    x: tf.Tensor
    n: int = 3
    names: tuple[str, ...] = ()
    parts: Mapping[str, tf.Tensor] = {}
    rows: tf.RaggedTensor | None = None
    dtype: tf.DType = tf.float32
    shape: tf.TensorShape = (2, 3)  # type: ignore[assignment]

    def __validate__(self):
        assert self.n > 0


class Node(tf.experimental.ExtensionType):
    x: tf.Tensor
    children: typing.Tuple["Node", ...] = ()  # noqa: UP006, UP037
    parent: "typing.Optional[tuple['Node', ...]]" = None  # noqa: UP037, UP045


class Point(tf.experimental.BatchableExtensionType):
    x: tf.Tensor
    label: str = ""


def masked():
    return Masked([1, 2, 3], [True, False, True])


class TestFields:
    def test_values_are_converted(self):
        e = Everything(
            1.0, names=["a", "b"], parts={"k": 1}, rows=tf.ragged.constant([[1]]), shape=[4]
        )
        assert isinstance(e.x, tf.Tensor) and e.names == ("a", "b")
        assert isinstance(e.parts["k"], tf.Tensor)
        assert e.shape == tf.TensorShape([4]) and e.dtype is tf.float32

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"n": 2.5}, "n: expected 'int', got 'float'"),
            ({"names": ["a", 1]}, r"names\[1\]: expected 'str', got 'int'"),
            ({"rows": 3}, "rows: expected .*RaggedTensor"),
            ({"x": object()}, "x: expected a Tensor, got 'object'"),
        ],
    )
    def test_what_does_not_fit_is_named(self, fields, message):
        with pytest.raises(TypeError, match=message):
            Everything(**{"x": 1.0, **fields})

    def test_missing_and_unknown_arguments(self):
        with pytest.raises(TypeError, match="missing a required argument: 'mask'"):
            Masked([1])
        with pytest.raises(TypeError, match="too many positional"):
            Masked(1, 2, 3)

    def test_validation(self):
        with pytest.raises(AssertionError):
            Everything(1.0, n=-1)

    def test_objects_cannot_be_changed(self):
        with pytest.raises(AttributeError, match="Cannot mutate attribute `values`"):
            masked().values = 1
        with pytest.raises(AttributeError, match="Cannot mutate"):
            del masked().mask
        with pytest.raises(TypeError, match="unhashable"):
            hash(masked())

    def test_unsupported_annotations(self):
        with pytest.raises(TypeError, match="In field 'x': Unsupported type annotation"):

            class Wrong(tf.experimental.ExtensionType):
                x: list

        with pytest.raises(ValueError, match="missing a type annotation"):

            class Untyped(tf.experimental.ExtensionType):
                x = 3

    def test_a_constructor_of_ones_own(self):
        class Named(tf.experimental.ExtensionType):
            values: tf.Tensor

            def __init__(self, a, b):
                self.values = tf.constant(a) + b

        assert int(Named(1, 2).values) == 3
        with pytest.raises(TypeError):
            Named(1)

    def test_equality(self):
        assert bool(masked() == masked())
        assert bool(masked() != Masked([1, 2, 4], [True, False, True]))
        assert (masked() == 3) is False


class TestSpecs:
    def test_a_spec_describes_the_fields(self):
        spec = tf.type_spec_from_value(masked())
        assert spec == Masked.Spec(tf.TensorSpec([3], tf.int32), tf.TensorSpec([3], tf.bool))
        assert repr(spec).startswith("Masked.Spec(values=TensorSpec(shape=(3,)")
        assert len(tf.nest.flatten(masked(), expand_composites=True)) == 2
        wide = Masked.Spec(tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.bool))
        assert wide.is_compatible_with(masked()) and spec.is_subtype_of(wide)

    def test_a_spec_of_ones_own(self):
        class Short(tf.experimental.ExtensionType):
            values: tf.Tensor
            mask: tf.Tensor

            class Spec:
                def __init__(self, shape, dtype=tf.float32):
                    self.values = tf.TensorSpec(shape, dtype)
                    self.mask = tf.TensorSpec(shape, tf.bool)

                @property
                def shape(self):
                    return self.values.shape

        assert Short.Spec([None]).shape == tf.TensorShape([None])
        f = tf.function(lambda x: x.values * 2.0, input_signature=[Short.Spec([None])])
        assert f(Short([1.0], [True])).numpy().tolist() == [2.0]
        assert f(Short([1.0, 2.0], [True, True])).numpy().tolist() == [2.0, 4.0]
        assert f.experimental_get_tracing_count() == 1


class TestFunctions:
    def test_arguments_results_loops_and_branches(self):
        @tf.function
        def f(x, n):
            for _ in tf.range(n):
                x = Masked(x.values + 1, x.mask)
            if n > 2:
                x = Masked(x.values, ~x.mask)
            return x

        assert f(masked(), tf.constant(1)).filled(0).numpy().tolist() == [2, 0, 4]
        assert f(masked(), tf.constant(3)).filled(0).numpy().tolist() == [0, 5, 0]
        assert f.experimental_get_tracing_count() == 1

    def test_other_fields_are_part_of_the_trace(self):
        f = tf.function(lambda e: e.x * float(e.n))
        assert float(f(Everything(2.0, n=3))) == 6.0
        assert float(f(Everything(2.0, n=4))) == 8.0

    def test_they_are_no_sources(self):
        with (
            tf.GradientTape() as tape,
            pytest.raises(ValueError, match="not supported as a gradient source"),
        ):
            tape.watch(masked())


class TestDatasets:
    def test_batches(self):
        points = tf.data.Dataset.from_tensor_slices(Point([[1, 2], [3, 4], [5, 6]], "a"))
        assert points.element_spec == Point.Spec(tf.TensorSpec([2], tf.int32), "a")
        assert [p.x.numpy().tolist() for p in points.batch(2)] == [[[1, 2], [3, 4]], [[5, 6]]]
        doubled = points.map(lambda p: Point(p.x * 2)).shuffle(3, seed=1).batch(3)
        assert int(tf.reduce_sum(next(iter(doubled)).x)) == 42
        assert len(list(points.batch(2).unbatch())) == 3

    def test_what_is_not_batchable(self):
        one = tf.data.Dataset.from_tensors(masked())
        assert [int(x) for x in one.map(lambda m: tf.reduce_sum(m.values))] == [6]
        with pytest.raises(TypeError, match="batch"):
            one.batch(1)

    def test_map_fn(self):
        points = Point([[1, 2], [3, 4]])
        sums = tf.map_fn(lambda p: tf.reduce_sum(p.x), points, fn_output_signature=tf.int32)
        assert sums.numpy().tolist() == [3, 7]
        assert tf.map_fn(lambda p: Point(-p.x), points).x.numpy().tolist() == [[-1, -2], [-3, -4]]


class TestDispatch:
    def test_elementwise(self):
        @tf.experimental.dispatch_for_unary_elementwise_apis(Masked)
        def unary(api, x):
            return Masked(api(x.values), x.mask)

        @tf.experimental.dispatch_for_binary_elementwise_apis(Masked, Masked | tf.Tensor | int)
        def binary(api, x, y):
            return Masked(api(x.values, y.values if isinstance(y, Masked) else y), x.mask)

        try:
            assert tf.abs(Masked([-1], [True])).values.numpy().tolist() == [1]
            assert tf.cast(masked(), dtype=tf.int64).values.dtype is tf.int64
            assert tf.add(masked(), masked()).values.numpy().tolist() == [2, 4, 6]
            assert tf.math.maximum(x=masked(), y=2).values.numpy().tolist() == [2, 2, 3]
        finally:
            tf.experimental.unregister_dispatch_for(unary)
            tf.experimental.unregister_dispatch_for(binary)
        with pytest.raises(ValueError, match="unsupported type"):
            tf.abs(masked())
        with pytest.raises(ValueError, match="was not registered"):
            tf.experimental.unregister_dispatch_for(unary)

    def test_one_function(self):
        @tf.experimental.dispatch_for_api(tf.concat, {"values": typing.List[Masked]})  # noqa: UP006
        def joined(values, axis):
            return Masked(
                tf.concat([v.values for v in values], axis),
                tf.concat([v.mask for v in values], axis),
            )

        try:
            assert tf.concat([masked(), masked()], axis=0).values.shape == [6]
            assert tf.function(lambda m: tf.concat([m, m], 0))(masked()).mask.shape == [6]
            with pytest.raises(ValueError, match="unsupported type"):
                tf.concat([masked(), tf.constant([1])], 0)
        finally:
            tf.experimental.unregister_dispatch_for(joined)

    def test_parameters_must_be_those_of_the_function(self):
        with pytest.raises(ValueError, match="does not match API's signature"):
            tf.experimental.dispatch_for_api(tf.shape)(lambda x: x)
        with pytest.raises(ValueError, match="'foo'"):
            tf.experimental.dispatch_for_api(tf.shape, {"foo": Masked})
        with pytest.raises(ValueError, match="does not support dispatch"):
            tf.experimental.dispatch_for_api(len, {"obj": Masked})


def test_types_that_are_named_by_texts():
    tree = Node(1, (Node(2), Node(3)), (Node(0),))
    assert [int(child.x) for child in tree.children] == [2, 3]
    total = tf.function(lambda node: node.x + sum(child.x for child in node.children))
    assert int(total(tree)) == 6
    with pytest.raises(TypeError, match="children"):
        Node(1, (4,))


class TestInSavedModels:
    def test_they_are_taken_and_given(self, tmp_path):
        class Model(tf.Module):
            @tf.function
            def double(self, x):
                return Masked(x.values * 2, x.mask), x.mask

        model = Model()
        model.double(Masked([1, 2], [True, False]))
        tf.saved_model.save(model, str(tmp_path))
        found, mask = tf.saved_model.load(str(tmp_path)).double(Masked([3, 4], [True, True]))
        assert type(found) is Masked
        assert found.values.numpy().tolist() == [6, 8]
        assert mask.numpy().tolist() == [True, True]

    def test_the_class_must_be_there(self, tmp_path, monkeypatch):
        model = tf.Module()
        model.f = tf.function(lambda x: x.mask)
        model.f(masked())
        tf.saved_model.save(model, str(tmp_path))
        monkeypatch.setattr(extension_type, "spec_named", lambda name: None)  # as elsewhere
        with pytest.raises(
            tf.errors.NotFoundError, match=r"Masked, and there is no such class in this program"
        ):
            tf.saved_model.load(str(tmp_path))


class Sized(tf.experimental.BatchableExtensionType):
    shape: tf.TensorShape
    values: tf.Tensor

    def __init__(self, values):
        self.values = tf.convert_to_tensor(values)
        self.shape = self.values.shape[:-1]


def test_map_fn_tells_how_many_there_are():
    found = tf.map_fn(lambda x: Sized(x.values * 2), Sized([[1, 2], [3, 4], [5, 6]]))
    assert found.shape == [3]
    assert found.values.numpy().tolist() == [[2, 4], [6, 8], [10, 12]]
