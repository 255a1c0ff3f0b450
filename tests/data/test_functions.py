"""The user's functions: traced once, called as TensorFlow calls them, and their exceptions."""

import collections
import gc
import threading
import traceback
import weakref

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.data

Dataset = tapeflow.data.Dataset
Point = collections.namedtuple("Point", "x y")


def values(data):
    return [x.tolist() for x in data.as_numpy_iterator()]


def test_map_is_traced_once():
    calls = []

    def double(x):
        calls.append(1)
        assert not tf.executing_eagerly()
        return x * 2

    data = Dataset.range(5).map(double)
    assert values(data) == values(data) == [0, 2, 4, 6, 8]
    assert len(calls) == 1


def test_unknown_sizes_do_not_trace_again():
    calls = []

    def total(x):
        calls.append(1)
        return tf.reduce_sum(x)

    assert values(Dataset.range(7).batch(3).map(total)) == [3, 12, 6]
    assert len(calls) == 1


def test_sizes_that_python_asks_for_are_respected():
    def last(x):
        return x[-1] if x.shape[0] == 1 else x[0]

    assert values(Dataset.range(7).batch(3).map(last)) == [0, 3, 6]


def test_autograph_converts_functions():
    def collatz(n):
        steps = tf.constant(0)
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        return steps

    assert values(Dataset.range(1, 8).map(collatz)) == [0, 1, 7, 2, 5, 8, 16]


def test_tuples_are_arguments_and_other_structures_are_not():
    pairs = Dataset.from_tensor_slices(([1, 2], [3, 4]))
    assert values(pairs.map(lambda x, y: x + y)) == [4, 6]
    named = Dataset.from_tensor_slices(Point([1, 2], [3, 4]))
    assert values(named.map(lambda p: p.x + p.y)) == [4, 6]
    keyed = Dataset.from_tensor_slices({"a": [1, 2]})
    assert values(keyed.map(lambda d: d["a"] + 1)) == [2, 3]
    assert values(pairs.filter(lambda x, y: x > 1).map(lambda x, y: y)) == [4]


def test_what_functions_return():
    data = Dataset.range(2)
    spec = tf.TensorSpec((), tf.int64)
    assert data.map(lambda x: [x, x]).element_spec == (spec, spec)
    assert data.map(lambda x: {"a": x, "b": (x, 1.5)}).element_spec["b"][1].dtype is tf.float32
    assert next(iter(data.map(lambda x: (x, None)))) == (0, None)
    assert values(data.map(lambda x: 3)) == [3, 3]
    assert values(data.map(lambda x: np.arange(2))) == [[0, 1], [0, 1]]
    assert isinstance(next(iter(data.map(lambda x: Point(x, x)))), Point)
    with pytest.raises(TypeError, match="Unsupported return value"):
        data.map(lambda x: object())


def test_functions_see_variables_as_they_are_now():
    v = tf.Variable(1, dtype=tf.int64)
    data = Dataset.range(2).map(lambda x: x + v)
    assert values(data) == [1, 2]
    v.assign(10)
    assert values(data) == [10, 11]


def test_random_ops_in_functions_give_new_numbers():
    found = values(Dataset.range(4).map(lambda x: tf.random.uniform([])))
    assert len(set(found)) == 4


def test_python_inside_functions():
    def up(x):
        return tf.numpy_function(lambda v: v + 1, [x], tf.int64)

    data = Dataset.range(3).map(up)
    assert data.element_spec.shape.rank is None
    assert values(data.map(lambda x: x * 2)) == [2, 4, 6]


def test_a_tape_does_not_follow_a_pipeline():
    v = tf.Variable(2.0)
    data = Dataset.range(3, output_type=tf.float32).map(lambda x: x * v)
    with tf.GradientTape() as tape:
        total = tf.add_n(list(data)) * v
    assert float(tape.gradient(total, v)) == 6.0


def test_predicates_are_scalar_bools():
    with pytest.raises(ValueError, match=r"`tf.bool` scalar"):
        Dataset.range(3).filter(lambda x: x)
    with pytest.raises(TypeError, match="takes a function"):
        Dataset.range(3).map(3)


def test_take_while_ends_for_good():
    data = Dataset.from_tensor_slices([1, 2, 9, 1]).take_while(lambda x: x < 5)
    it = iter(data)
    assert [int(next(it)), int(next(it))] == [1, 2]
    for _ in range(2):
        with pytest.raises(StopIteration):
            next(it)


def test_scan_and_reduce():
    data = Dataset.range(5)
    totals = data.scan(np.int64(0), lambda s, x: (s + x, s + x))
    assert values(totals) == values(totals) == [0, 1, 3, 6, 10]
    assert int(data.reduce(np.int64(0), lambda s, x: s + x)) == 10
    low, high = data.reduce(
        (np.int64(9), np.int64(-9)), lambda s, x: (tf.minimum(s[0], x), tf.maximum(s[1], x))
    )
    assert (int(low), int(high)) == (0, 4)


def test_the_shape_of_a_state_may_change_but_not_its_dtype():
    grown = Dataset.range(3).reduce(np.zeros(0, np.int64), lambda s, x: tf.concat([s, [x]], axis=0))
    assert grown.numpy().tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="dtypes of the initial one"):
        Dataset.range(3).reduce(0, lambda s, x: x)
    with pytest.raises(TypeError, match="pair"):
        Dataset.range(3).scan(np.int64(0), lambda s, x: x)


def test_flat_map():
    assert values(Dataset.range(4).flat_map(lambda n: Dataset.range(n))) == [0, 0, 1, 0, 1, 2]
    nested = Dataset.from_tensor_slices([[1, 2], [3, 4]])
    scaled = nested.flat_map(lambda x: Dataset.from_tensor_slices(x).map(lambda y: y * x[0]))
    assert values(scaled) == [1, 2, 9, 12]
    assert scaled.element_spec == tf.TensorSpec((), tf.int32)
    with pytest.raises(TypeError, match=r"must return a `tf.data.Dataset`"):
        Dataset.range(3).flat_map(lambda x: x)


@pytest.mark.parametrize("calls", [None, 2, tapeflow.data.AUTOTUNE])
def test_interleave(calls):
    data = Dataset.range(1, 5).interleave(
        lambda x: Dataset.from_tensors(x).repeat(6),
        cycle_length=2,
        block_length=4,
        num_parallel_calls=calls,
    )
    one, two = [1] * 4 + [2] * 4 + [1] * 2 + [2] * 2, [3] * 4 + [4] * 4 + [3] * 2 + [4] * 2
    assert values(data) == one + two


def test_interleave_with_gaps():
    data = Dataset.from_tensor_slices([0, 2, 0, 1]).interleave(
        lambda n: Dataset.range(tf.cast(n, tf.int64)), cycle_length=3
    )
    assert values(data) == [0, 0, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="cycle_length"):
        Dataset.range(3).interleave(Dataset.from_tensors, cycle_length=0)


def test_datasets_as_elements_of_map():
    data = Dataset.range(1, 4).map(lambda n: Dataset.range(n).batch(2))
    assert [values(d) for d in data] == [[[0]], [[0, 1]], [[0, 1], [2]]]
    assert "DatasetSpec" in repr(data.element_spec)
    windows = Dataset.range(5).window(2)
    assert values(windows.map(lambda w: w.reduce(np.int64(0), lambda a, b: a + b))) == [1, 5, 4]


def test_unique_and_ignored_errors():
    assert values(Dataset.from_tensor_slices([1, 2, 1, 3, 2]).unique()) == [1, 2, 3]
    data = Dataset.from_tensor_slices([1.0, 0.0, 4.0])
    data = data.map(lambda x: tf.debugging.check_numerics(1.0 / x, "inf"))
    assert values(data.ignore_errors()) == [1.0, 0.25]


# Exceptions.


def lines(error):
    return "".join(traceback.format_exception(error))


@pytest.mark.parametrize("background", [False, True])
def test_an_exception_in_a_generator_has_its_own_traceback(background):
    def numbers():
        yield 1
        raise KeyError("the seventh day")

    data = Dataset.from_generator(numbers, output_signature=tf.TensorSpec((), tf.int32))
    data = data.prefetch(2) if background else data
    it = iter(data)
    assert int(next(it)) == 1
    with pytest.raises(KeyError, match="the seventh day") as caught:
        next(it)
    assert 'raise KeyError("the seventh day")' in lines(caught.value)
    with pytest.raises(StopIteration):
        next(it)


@pytest.mark.parametrize("calls", [None, 2, tapeflow.data.AUTOTUNE])
def test_an_exception_in_a_map_function_names_its_line(calls):
    def checked(x):
        tf.debugging.assert_less(x, np.int64(2))
        return x

    it = iter(Dataset.range(4).map(checked, num_parallel_calls=calls))
    assert [int(next(it)), int(next(it))] == [0, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"test_functions.py:\d+ in checked"):
        next(it)


def test_an_exception_in_python_inside_map_has_its_own_traceback():
    def fails(v):
        raise RuntimeError("inside")

    data = Dataset.range(3).map(lambda x: tf.py_function(fails, [x], tf.int64))
    with pytest.raises(tf.errors.UnknownError) as caught:
        next(iter(data))
    assert 'raise RuntimeError("inside")' in lines(caught.value)


def test_an_exception_while_tracing_is_raised_by_map():
    with pytest.raises(ZeroDivisionError):
        Dataset.range(3).map(lambda x: 1 / 0)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        Dataset.range(3).map(lambda x, y: x)


def test_iteration_goes_on_after_an_exception():
    data = Dataset.from_tensor_slices([1.0, 0.0, 4.0])
    it = iter(data.map(lambda x: tf.debugging.check_numerics(1.0 / x, "inf")))
    assert float(next(it)) == 1.0
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(it)
    assert float(next(it)) == 0.25


def test_stop_iteration_in_a_function_is_not_the_end():
    def stops(x):
        if tf.executing_eagerly():
            raise StopIteration
        return Dataset.range(x)

    with pytest.raises(RuntimeError, match="StopIteration"):
        values(Dataset.range(3).flat_map(stops))


def test_functions_can_be_debugged():
    from tapeflow._src.data.runtime import background

    tf.data.experimental.enable_debug_mode()
    try:
        kinds, threads = [], set()

        def f(x):
            kinds.append(x.symbolic)
            threads.add(threading.get_ident())
            return x + 1

        data = tf.data.Dataset.range(4).map(f, num_parallel_calls=3).prefetch(2)
        assert [int(x) for x in data] == [1, 2, 3, 4]
        assert kinds == [True, False, False, False, False]
        assert threads == {threading.get_ident()}
        with pytest.raises(ValueError, match="outside"):
            tf.function(tf.data.experimental.enable_debug_mode)()
    finally:
        background.debugging.on = False


def of_unknown_rank() -> tf.data.Dataset:
    def fetched(i):
        return tf.py_function(lambda i: tf.ones((len(i), 3)), [i], tf.float32)

    return tf.data.Dataset.range(5).batch(2).map(fetched)


def test_what_a_function_says_of_an_unknown_rank_is_in_the_spec_of_its_results():
    data = of_unknown_rank()
    assert data.element_spec == tf.TensorSpec(None, tf.float32)
    told = data.map(lambda x: {"x": tf.ensure_shape(x, [None, 3]), "sum": tf.reduce_sum(x)})
    assert told.element_spec == {
        "x": tf.TensorSpec([None, 3], tf.float32),
        "sum": tf.TensorSpec([], tf.float32),
    }
    assert data.map(lambda x: x * 2.0).element_spec == tf.TensorSpec(None, tf.float32)
    assert [x["sum"].numpy() for x in told] == [6.0, 6.0, 3.0]
    several = data.map(lambda x: (x, x[0])).map(lambda x, y: (x, tf.ensure_shape(y, [3])))
    assert several.element_spec == (tf.TensorSpec(None, tf.float32), tf.TensorSpec([3], tf.float32))
    assert [len(x) for x, _ in several] == [2, 2, 1]


def test_a_dataset_lives_as_long_as_what_is_made_of_it_and_read_from_it():
    gone = []
    data = tf.data.Dataset.range(3)
    watched = weakref.ref(data, lambda _: gone.append("gone"))
    iterator = iter(data.map(lambda x: x + 1).repeat(2).batch(2))
    del data
    gc.collect()
    assert next(iterator).numpy().tolist() == [1, 2] and not gone and watched() is not None
    del iterator
    gc.collect()
    assert gone == ["gone"]


def test_lists_inside_of_results_are_tensors():
    data = Dataset.range(3)
    assert data.map(lambda x: [x, x]).element_spec == (tf.TensorSpec([], tf.int64),) * 2
    pair = tf.TensorSpec([2], tf.int64)
    assert data.map(lambda x: {"a": [x, x + 1]}).element_spec == {"a": pair}
    assert data.map(lambda x: Point(x, [x, x])).element_spec.y == pair
    assert data.map(lambda x: [[x, x], [x, x]]).element_spec == (pair, pair)
    assert data.map(lambda x: (x, [])).element_spec[1] == tf.TensorSpec([0], tf.float32)
    found = data.scan((0, [1, 2]), lambda s, x: ((s[0], [1, 2]), [x, x]))
    assert found.element_spec == pair
    with pytest.raises(TypeError, match="a list inside of them is a tensor"):
        data.map(lambda x: (x, [x, "a"]))


def test_results_keep_the_kind_of_their_mappings():
    data = Dataset.range(2).map(lambda x: collections.defaultdict(list, {"b": x, "a": x}))
    (first, _) = data
    assert type(first) is collections.defaultdict and first.default_factory is list
    assert list(first) == ["b", "a"]


def test_going_through_a_symbolic_range_in_a_comprehension():
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match="`for` loop"):
        Dataset.range(3).map(lambda x: [i * 2 for i in range(x)])


def test_too_few_parallel_calls():
    for call in (Dataset.range(3).map, Dataset.range(3).interleave):
        with pytest.raises(tf.errors.InvalidArgumentError, match="num_parallel_calls"):
            call(lambda x: x, num_parallel_calls=0)
