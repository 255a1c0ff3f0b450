"""Variables inside functions: captured by reference, read and assigned in the order of the program."""

import gc

import numpy as np
import pytest
from tests.function.tools import traces

import tapeflow as tf


def value(x):
    return x.numpy().tolist()


def values(xs):
    return [value(x) for x in xs]


def test_captured_by_reference():
    v = tf.Variable(1.0)
    f = tf.function(lambda: v * 2.0)
    assert value(f()) == 2.0
    v.assign(5.0)
    assert value(f()) == 10.0


def test_reads_and_assignments_keep_their_order():
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        a = v + 0.0
        v.assign(x)
        b = v + 0.0
        v.assign_add(1.0)
        c = v.read_value()
        v.assign_sub(3.0)
        return a, b, c, v

    assert values(f(tf.constant(10.0))) == [1.0, 10.0, 11.0, 8.0]
    assert value(v) == 8.0
    assert values(f(tf.constant(20.0))) == [8.0, 20.0, 21.0, 18.0]


def test_what_assign_returns():
    v = tf.Variable(1.0)

    @tf.function
    def f():
        return v.assign_add(2.0).assign_add(3.0)

    assert value(f()) == 6.0
    assert isinstance(f(), tf.Tensor)
    assert value(v) == 11.0


def test_swapping():
    a, b = tf.Variable(1.0), tf.Variable(2.0)

    @tf.function
    def swap():
        t = a.read_value()
        a.assign(b)
        b.assign(t)

    swap()
    assert values([a, b]) == [2.0, 1.0]


def test_a_tensor_that_was_read_keeps_its_value():
    n = 100_000  # large enough for buffers to be used again
    v = tf.Variable(tf.zeros([n]))
    k = tf.ones([n])

    @tf.function
    def step():
        v.assign_add(k)
        return v.read_value()

    a = step()
    b = step()
    c = v.read_value()
    d = v.numpy()
    step()
    step()
    assert [float(x[0]) for x in (a, b, c, d, v)] == [1.0, 2.0, 2.0, 2.0, 4.0]
    assert np.all(k.numpy() == 1.0)


def test_assigning_what_others_hold_does_not_share_memory():
    n = 100_000
    a, b = tf.Variable(tf.zeros([n])), tf.Variable(tf.zeros([n]))
    k = tf.ones([n])

    @tf.function
    def f(x):
        a.assign(x)
        b.assign(x)

    f(k)
    a.assign_add(k)
    a.assign_add(k)
    assert [float(x[0]) for x in (a, b, k)] == [3.0, 1.0, 1.0]


def test_a_failing_trace_leaves_variables_alone():
    v = tf.Variable(1.0)

    @tf.function
    def f():
        v.assign(5.0)
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        f()
    assert value(v) == 1.0
    assert value(v + 1.0) == 2.0


def test_a_failing_call_leaves_variables_alone():
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign(5.0)
        tf.debugging.assert_positive(x)

    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.constant(-1.0))
    assert value(v) == 1.0
    f(tf.constant(1.0))
    assert value(v) == 5.0


def test_a_variable_that_nobody_else_holds():
    box = [tf.Variable(3.0)]
    f = tf.function(lambda: box[0] * 2.0)
    f()
    box.clear()
    gc.collect()
    assert value(f()) == 6.0


def test_an_attribute_that_is_replaced_is_not_seen():
    class Holder:
        v = tf.Variable(1.0)

    f = tf.function(lambda: Holder.v * 2.0)
    f()
    Holder.v = tf.Variable(10.0)
    assert value(f()) == 2.0


def test_scatter_updates():
    v = tf.Variable([1.0, 2.0, 3.0, 4.0])

    @tf.function
    def f(i, u):
        v.scatter_nd_update(i[:, None], u)
        v.scatter_add(tf.IndexedSlices(u, i))
        v.scatter_sub(tf.IndexedSlices(tf.constant([1.0]), tf.constant([3])))

    f(tf.constant([0, 2]), tf.constant([10.0, 20.0]))
    assert value(v) == [20.0, 2.0, 40.0, 3.0]
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

    @tf.function
    def g():
        w.scatter_mul(tf.IndexedSlices(tf.constant([[2.0, 3.0]]), tf.constant([0])))
        w.scatter_max(tf.IndexedSlices(tf.constant([[9.0, 0.0]]), tf.constant([1])))

    g()
    assert value(w) == [[2.0, 6.0], [9.0, 4.0]]


def test_assigning_to_slices():
    v = tf.Variable(tf.reshape(tf.range(12.0), [3, 4]))

    @tf.function
    def f(x):
        v[1, ::2].assign(x)
        v[-1].assign(0.0)
        v[:, 3].assign(v[:, 3] * 2.0)
        return v[0]

    assert value(f(tf.constant([-1.0, -2.0]))) == [0.0, 1.0, 2.0, 6.0]
    assert value(v) == [[0.0, 1.0, 2.0, 6.0], [-1.0, 5.0, -2.0, 14.0], [0.0, 0.0, 0.0, 0.0]]


def test_values_that_do_not_fit():
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(ValueError, match="Shape mismatch"):
        tf.function(lambda x: v.assign(x))(tf.ones([3]))
    with pytest.raises(ValueError, match="float32"):
        tf.function(lambda x: v.assign(x))(tf.constant([1, 2]))


@pytest.mark.parametrize("jit", [None, True])
def test_a_size_that_does_not_fit_is_an_error_of_the_call(jit):
    v = tf.Variable([1.0, 2.0])
    spec = tf.TensorSpec([None], tf.float32)
    f = tf.function(lambda x: v.assign(x) + 1.0, input_signature=[spec], jit_compile=jit)
    for good, bad in ([3.0, 4.0], [1.0, 2.0, 3.0]), ([5.0, 6.0], [1.0]):
        assert value(f(tf.constant(good))) == [good[0] + 1.0, good[1] + 1.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="variable 'Variable:0'"):
            f(tf.constant(bad))
        assert value(v) == good


def test_a_size_that_does_not_fit_in_a_branch_that_is_not_taken():
    v = tf.Variable([1.0, 2.0])

    @tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([], tf.bool)])
    def f(x, yes):
        if yes:
            v.assign(x)
        return tf.size(x)

    assert value(f(tf.ones([3]), tf.constant(False))) == 3
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.ones([3]), tf.constant(True))
    f(tf.constant([7.0, 8.0]), tf.constant(True))
    assert value(v) == [7.0, 8.0]


@pytest.mark.parametrize("wrapped", [lambda f: f, tf.function], ids=["eager", "function"])
@pytest.mark.parametrize("delta", [[1.0], [1.0, 2.0, 3.0], 1.0, [[1.0, 2.0]]])
@pytest.mark.parametrize("op", ["assign_add", "assign_sub"])
def test_adding_needs_the_shape_that_is_there(wrapped, delta, op):
    v = tf.Variable([1.0, 2.0], shape=[None])
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        wrapped(lambda x: getattr(v, op)(x))(tf.constant(delta))
    assert value(v) == [1.0, 2.0]
    wrapped(lambda x: getattr(v, op)(x))(tf.constant([1.0, 1.0]))
    assert value(v) == ([2.0, 3.0] if op == "assign_add" else [0.0, 1.0])


def test_variables_of_unknown_size():
    v = tf.Variable([1.0, 2.0], shape=[None])

    @tf.function
    def f(x):
        v.assign(x)
        return tf.reduce_sum(v)

    assert [value(f(tf.constant([1.0, 2.0, 3.0]))), value(f(tf.constant([4.0])))] == [6.0, 4.0]
    assert value(v) == [4.0]


@pytest.mark.parametrize("jit", [None, True])
def test_a_variable_of_unknown_size_that_grows_and_shrinks(jit):
    v = tf.Variable(tf.zeros([0, 2]), shape=[None, 2])

    @tf.function(jit_compile=jit)
    def push(rows):
        v.assign(tf.concat([v, rows], 0))
        total = tf.reduce_sum(v)
        v.assign(v[-3:])
        return total, tf.shape(v)

    found = [values(push(tf.ones([2, 2]))) for _ in range(3)]
    assert found == [[4.0, [2, 2]], [8.0, [3, 2]], [10.0, [3, 2]]]
    assert v.shape.as_list() == [None, 2]
    v.assign(tf.zeros([1, 2]))
    assert values(push(tf.ones([1, 2]))) == [2.0, [2, 2]]


def test_a_variable_of_unknown_size_that_grows_in_a_loop():
    v = tf.Variable([1.0], shape=[None])

    @tf.function
    def double(times):
        for _ in tf.range(times):
            v.assign(tf.concat([v, v], 0))
        return tf.reduce_sum(v)

    assert [value(double(tf.constant(n))) for n in (2, 0, 1)] == [4.0, 4.0, 8.0]


def test_a_variable_of_unknown_rank():
    v = tf.Variable(1.0, shape=tf.TensorShape(None))
    f = tf.function(lambda x: v.assign(x) * 2.0)
    assert value(f(tf.ones([2]))) == [2.0, 2.0]
    assert value(f(tf.ones([1, 1]))) == [[2.0]]
    assert value(tf.function(lambda: tf.size(v))()) == 1


def test_what_a_variable_tells_while_tracing():
    v = tf.Variable([1.0], name="abc", trainable=False)
    seen = []

    @tf.function
    def f():
        seen.extend([v.name, v.shape.as_list(), v.dtype, v.trainable])
        return v.is_initialized()

    assert value(f()) is True
    assert seen == ["abc:0", [1], tf.float32, False]
    with pytest.raises(NotImplementedError):
        tf.function(lambda: v.numpy())()


def test_which_variables_a_function_uses():
    v, w = tf.Variable(1.0, trainable=False), tf.Variable(2.0)

    @tf.function
    def f(x):
        v.assign_add(x)
        return v * w

    concrete = f.get_concrete_function(tf.constant(1.0))
    assert [x is y for x, y in zip(concrete.variables, (v, w), strict=True)] == [True, True]
    assert [x is w for x in concrete.trainable_variables] == [True]
    assert len(f.variables) == 2


# Making variables.


class Lazy:
    def __init__(self, make):
        self.make = make
        self.v = None
        self.calls = 0

    @tf.function
    def __call__(self, x):
        self.calls += 1
        if self.v is None:
            self.v = self.make(x)
        return self.v + x


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (lambda x: tf.Variable(2.0), 2.0),
        (lambda x: tf.Variable(lambda: tf.ones([]) * 2.0), 2.0),
        (lambda x: tf.Variable(np.float32(2.0)), 2.0),
        (lambda x: tf.Variable(tf.zeros([]) + 2.0), 2.0),
        (lambda x: tf.Variable(x), 3.0),
        (lambda x: tf.Variable(x * 2.0 + 1.0), 7.0),
    ],
)
def test_a_variable_made_in_the_first_call(make, wanted):
    f = Lazy(make)
    assert value(f(tf.constant(3.0))) == wanted + 3.0
    assert value(f(tf.constant(4.0))) == wanted + 4.0
    assert value(f.v) == wanted
    # Once with the variable made, once with it there.
    assert (f.calls, traces(f.__call__)) == (2, 2)
    assert value(f(tf.constant([1.0]))) == [wanted + 1.0]


def test_a_variable_made_under_init_scope():
    made = []

    @tf.function
    def f(x):
        if not made:
            with tf.init_scope():
                made.append(tf.Variable(tf.ones([2]) * 3.0))
        return made[0] + x

    assert value(f(tf.constant(1.0))) == [4.0, 4.0]
    assert traces(f) == 1


def test_a_random_initial_value_is_drawn_once():
    f = Lazy(lambda x: tf.Variable(tf.random.normal([3])))
    first = f(tf.constant(0.0))
    np.testing.assert_array_equal(first, f(tf.constant(0.0)))
    np.testing.assert_array_equal(first, f.v)


def test_an_initial_value_from_another_variable():
    w = tf.Variable(3.0)
    made = []

    @tf.function
    def f(x):
        if not made:
            made.append(tf.Variable(w * 2.0))
            made.append(tf.Variable(made[0] * 2.0))
        w.assign_add(1.0)
        return made[1] * x

    assert [value(f(tf.constant(2.0))), value(f(tf.constant(3.0)))] == [24.0, 36.0]
    assert values([*made, w]) == [6.0, 12.0, 5.0]


def test_making_variables_in_every_call_is_refused():
    with pytest.raises(ValueError, match="created on the first call"):
        tf.function(lambda x: tf.Variable(1.0) + x)(tf.constant(1.0))
    made = []

    @tf.function
    def f(x):
        if not made or x.shape.rank == 1:
            made.append(tf.Variable(1.0))
        return made[-1] + x

    f(tf.constant(1.0))
    with pytest.raises(ValueError, match="created on the first call"):
        f(tf.constant([1.0]))


def test_init_scope_is_outside_of_the_function():
    v = tf.Variable(1.0)
    seen = []

    @tf.function
    def f():
        v.assign(3.0)
        with tf.init_scope():
            seen.extend([float(v), tf.executing_eagerly()])
            v.assign(10.0)
        return v + 0.0, tf.executing_eagerly()

    inner, eager = f()
    assert (value(inner), value(eager)) == (3.0, False)
    assert seen == [1.0, True]
    assert value(v) == 3.0
