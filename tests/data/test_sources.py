"""Where elements come from: structures, dtypes, shapes, and what is refused."""

import collections

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.data

Dataset = tapeflow.data.Dataset
Point = collections.namedtuple("Point", "x y")
SCALAR = tf.TensorSpec((), tf.int32)


def values(dataset):
    return list(dataset.as_numpy_iterator())


def test_slices_of_a_structure():
    data = Dataset.from_tensor_slices({"a": np.arange(2), "b": (np.ones((2, 3)), [5, 6])})
    assert data.element_spec == {
        "a": tf.TensorSpec((), tf.int64),
        "b": (tf.TensorSpec((3,), tf.float64), SCALAR),
    }
    first = next(iter(data))
    assert list(first) == ["a", "b"] and first["b"][1].dtype is tf.int32
    assert values(data)[1]["a"] == 1 and values(data)[1]["b"][1] == 6


def test_lists_are_tensors_and_tuples_are_structure():
    assert Dataset.from_tensor_slices([[1, 2], [3, 4]]).element_spec == tf.TensorSpec(
        (2,), tf.int32
    )
    assert Dataset.from_tensor_slices(([1, 2], [3, 4])).element_spec == (SCALAR, SCALAR)


def test_named_tuples_stay_named_tuples():
    data = Dataset.from_tensor_slices(Point(x=[1, 2], y=[3, 4]))
    assert isinstance(next(iter(data)), Point)
    assert [int(p.y) for p in data] == [3, 4]


def test_strings():
    data = Dataset.from_tensor_slices(["a", "bc"])
    assert data.element_spec.dtype is tf.string
    assert values(data) == [b"a", b"bc"]
    assert values(data.batch(2))[0].tolist() == [b"a", b"bc"]
    assert sorted(values(data.shuffle(2))) == [b"a", b"bc"]
    assert values(data.map(lambda s: s)) == [b"a", b"bc"]


def test_the_array_may_change_afterwards():
    array = np.zeros(3)
    data = Dataset.from_tensor_slices(array)
    array[:] = 1
    assert values(data) == [0, 0, 0]


def test_what_numpy_iterators_give_belongs_to_the_caller():
    data = Dataset.from_tensor_slices(np.zeros((2, 2)))
    for x in data.as_numpy_iterator():
        x += 1
    assert all((x == 0).all() for x in data.as_numpy_iterator())


@pytest.mark.parametrize(
    ("tensors", "text"),
    [
        (3, "rank >= 1"),
        ((np.arange(3), np.arange(4)), "3 and 4 are not compatible"),
        ((), "no tensor"),
    ],
)
def test_what_cannot_be_sliced(tensors, text):
    with pytest.raises(ValueError, match=text):
        Dataset.from_tensor_slices(tensors)


def test_one_element():
    data = Dataset.from_tensors((1, {"a": [2, 3]}))
    assert len(data) == 1
    ((one, rest),) = values(data)
    assert one == 1 and rest["a"].tolist() == [2, 3]


@pytest.mark.parametrize("args", [(3,), (1, 4), (1, 10, 3), (5, 1, -2), (4, 4)])
def test_ranges_are_pythons(args):
    data = Dataset.range(*args)
    assert values(data) == list(range(*args))
    assert len(data) == len(range(*args))
    assert data.element_spec == tf.TensorSpec((), tf.int64)


def test_range_dtype_and_mistakes():
    assert next(iter(Dataset.range(2, output_type=tf.float32))).dtype is tf.float32
    with pytest.raises(ValueError, match="1 to 3 arguments"):
        Dataset.range()
    with pytest.raises(tf.errors.InvalidArgumentError, match="non-zero"):
        Dataset.range(1, 2, 0)
    with pytest.raises(TypeError, match="integer"):
        Dataset.range(1.5)


def test_counters_are_of_numbers():
    assert values(Dataset.counter(5, 2, tf.float32).take(2)) == [5.0, 7.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="dtype must be one of numbers"):
        Dataset.counter(dtype=tf.string)


def test_an_empty_dataset():
    assert values(Dataset.from_tensor_slices([])) == []
    assert values(Dataset.range(0).batch(3)) == []
    assert values(Dataset.range(0).shuffle(3).repeat()) == []


# Generators.


def test_a_generator_is_called_for_each_iteration():
    calls = []

    def numbers():
        calls.append(1)
        yield from range(3)

    data = Dataset.from_generator(numbers, output_signature=SCALAR)
    assert values(data) == values(data) == [0, 1, 2]
    assert len(calls) == 2
    assert int(data.cardinality()) == tapeflow.data.UNKNOWN_CARDINALITY


def test_generator_structures_and_arguments():
    def numbers(n):
        assert isinstance(n, np.integer)
        for i in range(n):
            yield {"i": i, "pair": (i, [i] * 2)}

    spec = {"i": SCALAR, "pair": (SCALAR, tf.TensorSpec((2,), tf.float32))}
    data = Dataset.from_generator(numbers, args=(2,), output_signature=spec)
    assert values(data)[1]["pair"][1].tolist() == [1.0, 1.0]
    assert data.element_spec == spec


def test_generators_by_types_and_shapes():
    data = Dataset.from_generator(lambda: iter([(1, [2.0])]), (tf.int32, tf.float32), ((), (None,)))
    assert data.element_spec == (SCALAR, tf.TensorSpec((None,), tf.float32))
    without = Dataset.from_generator(lambda: iter([1, 2]), tf.int32)
    assert without.element_spec.shape.rank is None
    assert values(without.map(lambda x: x + 1).batch(2))[0].tolist() == [2, 3]


def test_a_generator_may_use_its_array_again():
    def same():
        array = np.zeros(2, np.int32)
        for i in range(3):
            array[:] = i
            yield array

    data = Dataset.from_generator(same, output_signature=tf.TensorSpec((2,), tf.int32))
    assert [x.numpy().tolist() for x in data] == [[0, 0], [1, 1], [2, 2]]


@pytest.mark.parametrize(
    ("element", "spec", "text"),
    [
        ([1, 2], SCALAR, r"shape \(2,\)"),
        ("text", SCALAR, "could not be converted"),
        (1, (SCALAR, SCALAR), "expected structure"),
        ({"b": 1}, {"a": SCALAR}, "expected structure"),
    ],
)
def test_elements_that_were_not_promised(element, spec, text):
    data = Dataset.from_generator(lambda: iter([element]), output_signature=spec)
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        values(data)


def test_how_a_generator_is_declared():
    with pytest.raises(TypeError, match="Python callable"):
        Dataset.from_generator([1], output_signature=SCALAR)
    with pytest.raises(TypeError, match="output_signature"):
        Dataset.from_generator(lambda: iter([1]))
    with pytest.raises(TypeError, match="together"):
        Dataset.from_generator(lambda: iter([1]), output_types=tf.int32, output_signature=SCALAR)


def test_random_numbers_follow_their_seed():
    assert values(Dataset.random(seed=3).take(4)) == values(Dataset.random(seed=3).take(4))
    assert values(Dataset.random(seed=3).take(4)) != values(Dataset.random(seed=4).take(4))
    data = Dataset.random(seed=3, rerandomize_each_iteration=True).take(4)
    assert values(data) != values(data)


def test_the_class_is_not_called():
    with pytest.raises(TypeError, match="from_tensor_slices"):
        Dataset()


def test_none_is_a_part_of_elements(tmp_path):
    x, y = np.arange(4.0), np.arange(4)
    data = Dataset.from_tensor_slices((x, {"y": y, "weight": None}))
    assert data.element_spec[1]["weight"] == tf.NoneTensorSpec()
    batches = data.shuffle(2).batch(2).prefetch(1).cache()
    assert [b[1]["weight"] for b in batches] == [b[1]["weight"] for b in batches] == [None, None]
    assert [e[1]["weight"] for e in batches.unbatch().take(2).as_numpy_iterator()] == [None, None]
    assert [int(b["y"][1]) for _, b in data.batch(2)] == [1, 3]
    (one,) = Dataset.from_tensors((1, None))
    assert one[1] is None
    data.save(tmp_path / "saved")
    loaded = Dataset.load(str(tmp_path / "saved"))
    assert [(int(b["y"]), b["weight"]) for _, b in loaded] == [(i, None) for i in range(4)]
    mapped = Dataset.range(3).map(lambda x: (x, None)).batch(2)
    assert [(x.numpy().tolist(), none) for x, none in mapped] == [([0, 1], None), ([2], None)]

    @tf.function
    def total(data):
        s = tf.constant(0.0, tf.float64)
        for x, rest in data:
            assert rest["weight"] is None
            s += x
        return s

    assert float(total(data)) == 6.0
    for make in (Dataset.from_tensors, Dataset.from_tensor_slices):
        with pytest.raises(ValueError, match="no tensor in it"):
            make((None, None))
