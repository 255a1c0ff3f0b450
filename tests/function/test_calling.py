"""How functions are made and called: decorators, methods, arguments and results."""

import collections
import copy
import functools
import gc
import inspect
import pickle
import weakref

import numpy as np
import pytest
from tests.function.tools import traces

import tapeflow as tf

Pair = collections.namedtuple("Pair", "a b")


def plus_one(x):
    """Adds one."""
    return x + 1


module_level = tf.function(plus_one)


class Scale:
    def __init__(self, k):
        self.k = k
        self.traced = 0

    @tf.function
    def by(self, x):
        self.traced += 1
        return x * self.k


# Decorators.


def test_a_function_keeps_its_name_and_docstring():
    def named(x, y=2, *, z):
        """What it does."""
        return x

    named.__dict__["extra"] = 3
    f = tf.function(named)
    assert (f.__name__, f.__doc__, f.__qualname__) == (
        named.__name__,
        named.__doc__,
        named.__qualname__,
    )
    assert f.python_function is named
    assert f.__wrapped__ is named
    assert f.extra == 3
    assert str(inspect.signature(f)) == "(x, y=2, *, z)"


def test_decorator_with_arguments():
    @tf.function(autograph=False, jit_compile=False)
    def f(x):
        return x * 2.0

    assert f(tf.constant(2.0)).numpy() == 4.0
    assert f.__name__ == "f"


def test_all_options_are_accepted():
    f = tf.function(
        plus_one,
        input_signature=None,
        autograph=True,
        jit_compile=None,
        reduce_retracing=False,
        experimental_implements=None,
        experimental_autograph_options=None,
        experimental_attributes=None,
        experimental_relax_shapes=None,
        experimental_compile=None,
        experimental_follow_type_hints=None,
    )
    assert f(tf.constant(1)).numpy() == 2
    with pytest.raises(TypeError):
        tf.function(plus_one, foo=3)  # pyright: ignore[reportCallIssue]


def test_lambda_partial_and_callable_objects():
    f = tf.function(lambda x, y=3.0: x * y)
    assert f(tf.constant(2.0)).numpy() == 6.0
    assert f(tf.constant(2.0), y=4.0).numpy() == 8.0

    def g(a, b, c=1.0):
        return a + b * c

    partial = tf.function(functools.partial(g, tf.constant(1.0), c=5.0))
    assert partial(tf.constant(2.0)).numpy() == 11.0
    assert partial(tf.constant(2.0), c=3.0).numpy() == 7.0

    class Plus:
        def __call__(self, x):
            return x + 1.0

    assert tf.function(Plus())(tf.constant(1.0)).numpy() == 2.0


def test_not_callable():
    with pytest.raises(TypeError, match="callable"):
        tf.function(3)  # pyright: ignore[reportArgumentType]


def test_a_function_of_a_function():
    f = tf.function(lambda x: x + 1)
    g = tf.function(f)
    assert g(tf.constant(1)).numpy() == 2
    assert g.python_function is f


def by_a_pickle(f):
    return pickle.loads(pickle.dumps(f))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, by_a_pickle])
def test_copies_trace_anew(copied):
    before = module_level(tf.constant(1)).numpy()
    other = copied(module_level)
    assert other.python_function is plus_one
    assert traces(other) == 0
    assert other(tf.constant(1)).numpy() == before


# Methods.


def test_each_object_has_its_own_traces():
    a, b = Scale(2.0), Scale(3.0)
    results = [
        a.by(tf.constant(1.0)),
        b.by(tf.constant(1.0)),
        a.by(tf.constant(4.0)),
        b.by(tf.constant(1.0)),
    ]
    assert [r.numpy() for r in results] == [2.0, 3.0, 8.0, 3.0]
    assert (a.traced, b.traced) == (1, 1)
    assert (traces(a.by), traces(Scale.by)) == (1, 0)
    assert a.by is a.by


def test_attributes_are_read_while_tracing():
    a = Scale(2.0)
    a.by(tf.constant(1.0))
    a.k = 10.0
    assert a.by(tf.constant(1.0)).numpy() == 2.0
    assert a.by(tf.constant([1.0])).numpy().tolist() == [10.0]


def test_a_method_does_not_keep_its_object_alive():
    a = Scale(2.0)
    a.by(tf.constant(1.0))
    reference = weakref.ref(a)
    del a
    gc.collect()
    assert reference() is None


def test_a_method_of_an_object_that_is_gone():
    method = Scale(2.0).by
    gc.collect()
    with pytest.raises(AttributeError, match="hold the object in a variable"):
        method(tf.constant(1.0))


def test_unbound_method():
    a = Scale(2.0)
    assert Scale.by(a, tf.constant(3.0)).numpy() == 6.0
    assert traces(Scale.by) == 1


def test_super_class_and_static_methods():
    class Base:
        k = 3.0

        @tf.function
        def f(self, x):
            return x + 1.0

        @classmethod
        @tf.function
        def of_class(cls, x):
            return x * cls.k

        @staticmethod
        @tf.function
        def static(x):
            return x * 3.0

        @property
        @tf.function
        def half(self):
            return tf.constant(1.0) / 2.0 * self.k

    class Derived(Base):
        k = 5.0

        @tf.function
        def f(self, x):
            return super().f(x) * 2.0

    d, x = Derived(), tf.constant(1.0)
    assert d.f(x).numpy() == 4.0
    assert (Base.of_class(x).numpy(), Derived.of_class(x).numpy(), d.of_class(x).numpy()) == (
        3.0,
        5.0,
        5.0,
    )
    assert (Base.static(x).numpy(), d.static(x).numpy()) == (3.0, 3.0)
    assert d.half.numpy() == 2.5


def test_a_bound_method_as_a_function():
    a = Scale(2.0)
    f = tf.function(a.by)
    assert f(tf.constant(3.0)).numpy() == 6.0


# Arguments.


def test_positional_and_keyword_arguments_are_the_same():
    f = tf.function(lambda a, b: a - b)
    one, two = tf.constant(1.0), tf.constant(2.0)
    assert [f(one, two).numpy(), f(one, b=two).numpy(), f(b=two, a=one).numpy()] == [-1.0] * 3
    assert traces(f) == 1


def test_defaults():
    f = tf.function(lambda a, b=2.0: a * b)
    one = tf.constant(1.0)
    assert [f(one).numpy(), f(one, 2.0).numpy(), f(one, b=2.0).numpy()] == [2.0] * 3
    assert traces(f) == 1
    assert f(one, 3.0).numpy() == 3.0
    assert traces(f) == 2


def test_variadic_and_keyword_only_arguments():
    add = tf.function(lambda *a: tf.add_n(a))
    assert [add(tf.constant(1.0)).numpy(), add(tf.constant(1.0), tf.constant(2.0)).numpy()] == [
        1.0,
        3.0,
    ]
    assert traces(add) == 2

    named = tf.function(lambda **k: [v + 1.0 for v in k.values()])
    first = named(b=tf.constant(1.0), a=tf.constant(2.0))
    assert [x.numpy() for x in first] == [3.0, 2.0]  # in the order of the names
    assert [x.numpy() for x in named(a=tf.constant(2.0), b=tf.constant(1.0))] == [3.0, 2.0]
    assert traces(named) == 1

    only = tf.function(lambda a, *, b, c=3.0: a * b * c)
    assert only(tf.constant(1.0), b=tf.constant(2.0)).numpy() == 6.0
    assert only(b=tf.constant(2.0), a=tf.constant(2.0)).numpy() == 12.0
    assert traces(only) == 1


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, "missing a required argument"),
        ((1.0, 2.0), {}, "too many positional arguments"),
        ((1.0,), {"z": 2.0}, "unexpected keyword argument 'z'"),
        ((1.0,), {"a": 2.0}, "multiple values"),
    ],
)
def test_calls_that_do_not_fit(args, kwargs, message):
    f = tf.function(lambda a: a)
    with pytest.raises(TypeError, match=message):
        f(*args, **kwargs)


def test_structures():
    f = tf.function(lambda s: {"sum": s["a"][0] + s["b"][1], "pair": Pair(s["a"][0], s["b"])})
    one, two, three = map(tf.constant, (1.0, 2.0, 3.0))
    result = f({"a": [one], "b": (two, three)})
    assert result["sum"].numpy() == 4.0
    assert isinstance(result["pair"], Pair)
    assert isinstance(result["pair"].b, tuple)
    f({"b": (two, three), "a": [one]})  # the order of keys does not matter
    assert traces(f) == 1


def test_numpy_arrays_become_tensors():
    seen = []

    @tf.function
    def f(x):
        seen.append(isinstance(x, tf.Tensor))
        return x * 2

    assert f(np.float32(1.0)).numpy() == 2.0
    assert f(np.float32(5.0)).numpy() == 10.0
    assert f(np.array([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]
    assert f(np.array([3.0, 2.0])).numpy().tolist() == [6.0, 4.0]
    assert seen == [True, True]

    g = tf.function(lambda pair: pair[0] + 1.0)
    g([np.ones(2)])
    g([np.zeros(2)])
    assert traces(g) == 1


def test_indexed_slices_as_arguments_and_results():
    @tf.function
    def f(s):
        return tf.convert_to_tensor(s), tf.IndexedSlices(s.values * 2.0, s.indices, s.dense_shape)

    for row, value in ((0, 1.0), (2, 5.0)):
        slices = tf.IndexedSlices(tf.constant([[value]]), tf.constant([row]), tf.constant([3, 1]))
        dense, double = f(slices)
        wanted = np.zeros((3, 1), np.float32)
        wanted[row] = value
        np.testing.assert_array_equal(dense, wanted)
        np.testing.assert_array_equal(double.values, [[2 * value]])
        assert double.indices.numpy().tolist() == [row]
    assert traces(f) == 1
    assert (
        tf.function(lambda x: tf.IndexedSlices(x, tf.constant([0]), None))(
            tf.ones([1, 2])
        ).dense_shape
        is None
    )


def test_texts_and_dtypes():
    f = tf.function(lambda x, mode: x + 1.0 if mode == "a" else x - 1.0)
    assert [f(tf.constant(1.0), m).numpy() for m in ("a", "b", "a")] == [2.0, 0.0, 2.0]
    assert traces(f) == 2
    g = tf.function(lambda x, d: tf.cast(x, d))
    assert [g(tf.constant(1.0), d).dtype for d in (tf.int32, tf.float64, np.int32)] == [
        tf.int32,
        tf.float64,
        tf.int32,
    ]
    assert tf.function(lambda x: x)(tf.constant(["a", "b"])).numpy().tolist() == [b"a", b"b"]


# Results.


def test_results_of_any_structure():
    x = tf.constant(1.0)
    assert tf.function(lambda x: None)(x) is None
    assert tf.function(lambda x: [])(x) == []
    assert tf.function(lambda x: ())(x) == ()
    assert tf.function(lambda x: {})(x) == {}
    r = tf.function(lambda x: {"a": [x, (x, None)], "b": Pair(x, 1)})(x)
    assert r["a"][1][1] is None
    assert isinstance(r["b"], Pair)
    assert r["b"].b.dtype == tf.int32
    a, b = tf.function(lambda x: (x, x))(x)
    assert a.numpy() == b.numpy() == 1.0


def test_python_values_become_tensors():
    x = tf.constant(1.0)
    values = [tf.function(lambda x, v=v: v)(x) for v in (3, 2.5, True, "s")]
    assert [v.dtype for v in values] == [tf.int32, tf.float32, tf.bool, tf.string]
    np.testing.assert_array_equal(tf.function(lambda x: np.ones(2))(x), [1.0, 1.0])
    assert tf.function(lambda x: x.shape)(tf.ones([2])).numpy().tolist() == [2]


def test_a_returned_variable_is_a_tensor():
    v = tf.Variable(1.0)
    result = tf.function(lambda: v)()
    assert isinstance(result, tf.Tensor)
    assert not isinstance(result, tf.Variable)


def test_an_argument_that_is_returned_is_another_tensor():
    x = tf.constant(1.0)
    assert tf.function(lambda x: x)(x) is not x


@pytest.mark.parametrize("value", [object(), {1, 2}, lambda: 1, tf.float32])
def test_results_that_are_no_tensors(value):
    with pytest.raises(TypeError, match="must return zero or more tensors"):
        tf.function(lambda x: value)(tf.constant(1.0))


def test_generators_are_refused():
    @tf.function(autograph=False)
    def f(x):
        yield x

    with pytest.raises(TypeError, match="generator"):
        f(tf.constant(1.0))


# Without tracing.


def test_run_functions_eagerly():
    seen = []

    @tf.function
    def f(x):
        seen.append(isinstance(x, np.ndarray))
        return 3

    tf.config.run_functions_eagerly(True)
    try:
        assert tf.config.functions_run_eagerly()
        assert f(np.ones(2)) == 3
        assert f(np.ones(2)) == 3
        assert traces(f) == 0
    finally:
        tf.config.run_functions_eagerly(False)
    assert not tf.config.functions_run_eagerly()
    assert seen == [True, True]
    assert f(np.ones(2)).dtype == tf.int32
    assert seen == [True, True, False]


def test_a_decorator_inside():
    @tf.function
    def double(x):
        return 2 * x

    def one_more(function):
        return lambda x: function(x) + 1

    double._decorate(one_more)
    assert int(double(tf.constant(3))) == 7
    with pytest.raises(ValueError, match="traced"):
        double._decorate(one_more)


def test_completion_shows_what_is_for_users():
    f = tf.function(lambda x: x)
    f(1)
    tensorflow = {
        "experimental_get_tracing_count",
        "function_spec",
        "function_type",
        "get_concrete_function",
        "input_signature",
        "name",
        "pretty_printed_concrete_signatures",
        "python_function",
    }
    ours = {"graph", "report", "variables", "why_retraced"}
    assert {name for name in dir(f) if not name.startswith("_")} == tensorflow | ours
    concrete = f.get_concrete_function(1)
    assert {name for name in dir(concrete) if not name.startswith("_")} == {
        "add_gradient_functions_to_graph",
        "add_to_graph",
        "captured_inputs",
        "function_type",
        "graph",
        "inference_fn",
        "inputs",
        "name",
        "output_dtypes",
        "output_shapes",
        "outputs",
        "pretty_printed_signature",
        "report",
        "structured_input_signature",
        "structured_outputs",
        "trainable_variables",
        "variables",
    }
