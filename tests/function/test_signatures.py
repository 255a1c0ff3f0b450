"""`input_signature`, `get_concrete_function`, and signatures as text."""

import collections
import inspect

import numpy as np
import pytest
from tests.function.tools import traces

import tapeflow as tf

Spec = tf.TensorSpec
SCALAR = Spec([], tf.float32)


# input_signature.


def test_one_trace_for_all_sizes():
    f = tf.function(lambda x: tf.reduce_sum(x), input_signature=[Spec([None], tf.float32)])
    assert [f(tf.ones([n])).numpy() for n in (1, 2, 5)] == [1.0, 2.0, 5.0]
    assert traces(f) == 1
    assert f.input_signature == (Spec([None], tf.float32),)


def test_values_are_converted():
    f = tf.function(lambda x: x + 1.0, input_signature=[Spec([None], tf.float32)])
    assert f([1.0, 2.0]).numpy().tolist() == [2.0, 3.0]
    assert f(np.ones(2, np.float32)).numpy().tolist() == [2.0, 2.0]
    g = tf.function(lambda x: x + 1.0, input_signature=[SCALAR])
    assert [g(1).numpy(), g(2.5).numpy(), g(tf.Variable(1.0)).numpy()] == [2.0, 3.5, 2.0]
    assert traces(g) == 1
    h = tf.function(lambda x: x, input_signature=[Spec([], tf.string)])
    assert h("abc").numpy() == b"abc"


@pytest.mark.parametrize(
    "value", [tf.ones([1, 1]), tf.constant([1]), tf.constant([1.0], tf.float64), None, "a"]
)
def test_values_that_do_not_fit(value):
    f = tf.function(lambda x: x, input_signature=[Spec([None], tf.float32)])
    with pytest.raises(TypeError, match="Binding inputs"):
        f(value)


def test_structures():
    f = tf.function(lambda d: d["a"] + d["b"][0], input_signature=[{"a": SCALAR, "b": [SCALAR]}])
    assert f({"a": tf.constant(1.0), "b": [tf.constant(2.0)]}).numpy() == 3.0
    assert f({"a": 1.0, "b": [2.0]}).numpy() == 3.0
    with pytest.raises(TypeError, match="Binding inputs"):
        f({"a": tf.constant(1.0)})


def test_other_arguments():
    f = tf.function(lambda x, y: x - y, input_signature=[SCALAR, SCALAR])
    assert f(y=tf.constant(1.0), x=tf.constant(5.0)).numpy() == 4.0
    with pytest.raises(TypeError, match="missing a required argument: 'y'"):
        f(tf.constant(1.0))
    g = tf.function(lambda x, y=2.0: x + y, input_signature=[SCALAR])
    assert g(tf.constant(1.0)).numpy() == 3.0
    with pytest.raises(TypeError, match=r"Can not cast 3\.0"):
        g(tf.constant(1.0), 3.0)
    h = tf.function(lambda *a: tf.add_n(a), input_signature=[SCALAR, SCALAR])
    assert h(tf.constant(1.0), tf.constant(2.0)).numpy() == 3.0
    assert tf.function(lambda: tf.constant(1.0), input_signature=[])().numpy() == 1.0


@pytest.mark.parametrize("signature", [[SCALAR, SCALAR, SCALAR], [SCALAR], [3, SCALAR], SCALAR])
def test_signatures_that_do_not_fit_the_function(signature):
    f = tf.function(lambda x, y: x + y, input_signature=signature)
    with pytest.raises(TypeError, match="input_signature"):
        f(tf.constant(1.0), tf.constant(1.0))


def test_methods():
    class Layer:
        @tf.function(input_signature=[Spec([None], tf.float32)])
        def total(self, x):
            return tf.reduce_sum(x)

    layer = Layer()
    assert [layer.total(tf.ones([n])).numpy() for n in (2, 3)] == [2.0, 3.0]
    assert traces(layer.total) == 1
    (spec,), _ = layer.total.get_concrete_function().structured_input_signature
    assert spec == Spec([None], tf.float32, name="x")


# Concrete functions.


@pytest.mark.parametrize("options", [{}, {"reduce_retracing": True}])
def test_specs_name_the_arguments_of_functions_that_were_called_before(options):
    f = tf.function(lambda x: x * 2.0, **options)
    for size in (2, 3):
        f(tf.ones([size]))
    first, second = [f.get_concrete_function(Spec([2], name=name)) for name in ("image", "pixels")]
    assert first(image=tf.ones([2])).numpy().tolist() == [2, 2]
    assert second(pixels=tf.ones([2])).numpy().tolist() == [2, 2]
    assert f.get_concrete_function(Spec([2], name="image")) is first
    count = traces(f)
    assert f.get_concrete_function(tf.ones([2])).inputs[0].name == "x"
    f(tf.ones([2]))
    assert traces(f) == count


def test_concrete_functions_from_specs_and_values():
    f = tf.function(lambda x, k=3.0: x * k)
    concrete = f.get_concrete_function(Spec([None], tf.float32))
    assert concrete(tf.constant([1.0, 2.0])).numpy().tolist() == [3.0, 6.0]
    assert concrete(x=tf.constant([1.0])).numpy().tolist() == [3.0]
    assert concrete(tf.constant([1.0]), 3.0).numpy().tolist() == [3.0]
    assert concrete([1.0, 2.0]).numpy().tolist() == [3.0, 6.0]
    assert concrete(np.ones(1, np.float32)).numpy().tolist() == [3.0]
    assert f.get_concrete_function(Spec([None], tf.float32)) is concrete
    assert f.get_concrete_function(tf.ones([2])) is concrete
    assert traces(f) == 1
    assert f.get_concrete_function(tf.constant(1.0), 2.0)(4.0).numpy() == 8.0


def test_keywords():
    def minus(x, y):
        return x - y

    concrete = tf.function(minus).get_concrete_function(
        Spec([], tf.float32, "p"), Spec([], tf.float32, "q")
    )
    one, two = tf.constant(1.0), tf.constant(2.0)
    calls = [
        concrete(one, two),
        concrete(x=one, y=two),
        concrete(one, y=two),
        concrete(y=two, x=one),
        concrete(p=one, q=two),
    ]
    assert [c.numpy() for c in calls] == [-1.0] * 5


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((), {}),
        ((tf.ones([2]),), {}),
        ((tf.ones([2]),) * 3, {}),
        ((tf.ones([2]),), {"z": tf.ones([2])}),
        ((tf.ones([2]), tf.ones([3])), {}),
        ((tf.ones([2]), tf.ones([2], tf.int32)), {}),
        ((tf.ones([2]), [tf.ones([2])]), {}),
    ],
)
def test_calls_that_do_not_fit(args, kwargs):
    concrete = tf.function(lambda x, y: x).get_concrete_function(Spec([2]), Spec([2]))
    with pytest.raises(TypeError, match="Binding inputs"):
        concrete(*args, **kwargs)


def test_python_values_of_a_concrete_function_are_fixed():
    concrete = tf.function(lambda x, k: x * k).get_concrete_function(tf.constant(1.0), 3.0)
    assert concrete(tf.constant(2.0)).numpy() == 6.0
    with pytest.raises(TypeError, match=r"Can not cast 4\.0 to Literal\[3\.0\]"):
        concrete(tf.constant(2.0), 4.0)


def test_structures_and_variables():
    concrete = tf.function(lambda d: d["a"] + d["b"][0]).get_concrete_function(
        {"a": SCALAR, "b": [SCALAR]}
    )
    assert concrete({"a": tf.constant(1.0), "b": [tf.constant(2.0)]}).numpy() == 3.0
    v, w = tf.Variable(1.0), tf.Variable(5.0)
    double = tf.function(lambda v: v * 2.0).get_concrete_function(v)
    assert [double(v).numpy(), double(w).numpy()] == [2.0, 10.0]
    assert double.variables == ()
    with pytest.raises(TypeError, match="missing a required argument: 'v'"):
        double()


def test_what_a_concrete_function_tells():
    def g(x, k=2, *, z=None):
        return {"r": x @ tf.ones([3, 4]), "n": None}

    concrete = tf.function(g).get_concrete_function(Spec([None, 3], tf.float32))
    args, kwargs = concrete.structured_input_signature
    assert args == (Spec([None, 3], tf.float32, name="x"), 2)
    assert kwargs == {"z": None}
    assert concrete.structured_outputs == {"r": Spec([None, 4], tf.float32), "n": None}
    assert concrete.output_dtypes == {"r": tf.float32, "n": None}
    assert concrete.output_shapes["r"].as_list() == [None, 4]
    assert [s.name for s in concrete.inputs] == ["x"]
    assert [s.dtype for s in concrete.outputs] == [tf.float32]


def test_gradients_of_concrete_functions():
    v, x = tf.Variable(3.0), tf.constant(2.0)
    concrete = tf.function(lambda x: x * v).get_concrete_function(SCALAR)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = concrete(x)
    assert [g.numpy() for g in tape.gradient(y, [x, v])] == [3.0, 2.0]


def test_missing_arguments():
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        tf.function(lambda x: x).get_concrete_function()


# As text.


def test_signatures_in_the_layout_of_tensorflow():
    def g(x, k=2, *, z=None):
        return {"r": x * k, "l": [x, (x, x)]}

    f = tf.function(g)
    f(tf.constant([1.0, 2.0]))
    f.get_concrete_function(Spec([None], tf.int32))
    assert (
        f.pretty_printed_concrete_signatures()
        == """\
Input Parameters:
  x (POSITIONAL_OR_KEYWORD): TensorSpec(shape=(2,), dtype=tf.float32, name=None)
  k (POSITIONAL_OR_KEYWORD): Literal[2]
  z (KEYWORD_ONLY): Literal[None]
Output Type:
  Dict[['r', TensorSpec(shape=(2,), dtype=tf.float32, name=None)], ['l', List[TensorSpec(shape=(2,), \
dtype=tf.float32, name=None), Tuple[TensorSpec(shape=(2,), dtype=tf.float32, name=None), TensorSpec(shape=(2,), \
dtype=tf.float32, name=None)]]]]
Captures:
  None

Input Parameters:
  x (POSITIONAL_OR_KEYWORD): TensorSpec(shape=(None,), dtype=tf.int32, name=None)
  k (POSITIONAL_OR_KEYWORD): Literal[2]
  z (KEYWORD_ONLY): Literal[None]
Output Type:
  Dict[['r', TensorSpec(shape=(None,), dtype=tf.int32, name=None)], ['l', List[TensorSpec(shape=(None,), \
dtype=tf.int32, name=None), Tuple[TensorSpec(shape=(None,), dtype=tf.int32, name=None), TensorSpec(shape=(None,), \
dtype=tf.int32, name=None)]]]]
Captures:
  None"""
    )


def test_signatures_of_variadic_functions_and_structures():
    def g(*args, **kw):
        return None

    f = tf.function(g)
    f([tf.constant(1.0), 3], "s", u={"w": True})
    assert (
        f.pretty_printed_concrete_signatures()
        == """\
Input Parameters:
  args_0 (POSITIONAL_ONLY): List[TensorSpec(shape=(), dtype=tf.float32, name=None), Literal[3]]
  args_1 (POSITIONAL_ONLY): Literal['s']
  u (KEYWORD_ONLY): Dict[['w', Literal[True]]]
Output Type:
  Literal[None]
Captures:
  None"""
    )


def test_signatures_of_variables_named_tuples_and_positional_parameters():
    Pair = collections.namedtuple("Pair", "a b")
    w = tf.Variable([1.0], name="w")

    def g(a, /, b):
        return w * 2.0

    f = tf.function(g)
    f(tf.Variable(1.0), Pair(tf.constant(1.0), tf.constant(1)))
    assert (
        f.pretty_printed_concrete_signatures()
        == """\
Input Parameters:
  a (POSITIONAL_ONLY): VariableSpec(shape=(), dtype=tf.float32, trainable=True, alias_id=0)
  b (POSITIONAL_OR_KEYWORD): Pair[['a', TensorSpec(shape=(), dtype=tf.float32, name=None)], ['b', TensorSpec(shape=(), \
dtype=tf.int32, name=None)]]
Output Type:
  TensorSpec(shape=(1,), dtype=tf.float32, name=None)
Captures:
  w: TensorSpec(shape=(1,), dtype=tf.float32, name=None)"""
    )


def test_short_signatures():
    def g(x, y):
        return x

    concrete = tf.function(g).get_concrete_function(tf.constant(1.0), True)
    spec = "TensorSpec(shape=(), dtype=tf.float32, name=None)"
    assert (
        concrete.pretty_printed_signature(verbose=False)
        == f"(x: {spec}, y: Literal[True]) -> {spec}"
    )
    assert repr(concrete).startswith(
        f"<ConcreteFunction (x: {spec}, y: Literal[True]) -> {spec} at 0x"
    )
    assert str(concrete) == f"ConcreteFunction {concrete.pretty_printed_signature()}"


def test_a_concrete_function_gives_arrays_its_dtype():
    concrete = tf.function(lambda x: x * 2).get_concrete_function(
        tf.TensorSpec([None], tf.float32, name="x")
    )
    for given in (np.ones(2), np.ones(2, np.int64), np.array([True, True]), [1, 1]):
        assert concrete(given).dtype is tf.float32
        assert concrete(x=given).numpy().tolist() == [2, 2]
    for wrong in (tf.ones(2, tf.float64), np.array(["a", "b"])):
        with pytest.raises(TypeError, match="expected a tensor of dtype float32"):
            concrete(wrong)


def test_names_of_tensors_say_where_in_an_argument_they_are():
    Pair = collections.namedtuple("Pair", "a b")

    def g(x, *rest, p=None, **more):
        return x

    one = tf.constant(1.0)
    concrete = tf.function(g).get_concrete_function(
        {"b": one, "a": [one], "c d": one}, one, [(one,)], p=Pair(one, 5), u={1: one}
    )
    (x, *rest), keywords = concrete.structured_input_signature
    assert {key: tf.nest.flatten(value)[0].name for key, value in x.items()} == {
        "b": "x_b",
        "a": "x_a_0",
        "c d": "x_c_d",
    }
    assert [s.name for s in tf.nest.flatten(rest)] == ["rest_0", "rest_1_0_0"]
    assert (keywords["p"].a.name, keywords["u"][1].name) == ("p_a", "u_1")


def test_tensors_in_a_row_are_named_by_their_arguments():
    two = [tf.TensorSpec([]), tf.TensorSpec([])]
    f = tf.function(lambda x, y: (x, y), input_signature=[two, tf.TensorSpec([])])
    concrete = f.get_concrete_function()
    a, b, c = (tf.constant(i) for i in (1.0, 2.0, 3.0))
    (first, second), third = concrete(x=a, x_1=b, y=c)
    assert [first, second, third] == [1.0, 2.0, 3.0]
    with pytest.raises(TypeError, match="x_0"):
        concrete(x_0=a, x_1=b, y=c)


def test_types_of_functions():
    def g(x, y=5, *, z=2):
        return [x, None]

    spec = tf.TensorSpec([2], tf.float32)
    f = tf.function(g)
    assert str(f.function_type) == "(x, y=<captured_default_value>, *, z=<captured_default_value>)"
    y = f.function_type.parameters["y"]
    assert (y.optional, y.type_constraint) == (True, None)
    traced = f.get_concrete_function(tf.TensorSpec([2], tf.float32, name="given")).function_type
    shown = "TensorSpec(shape=(2,), dtype=tf.float32, name='given')"
    assert str(traced) == (
        f"(x: {shown}, y: Literal[5], *, z: Literal[2]) -> List[{spec!r}, Literal[None]]"
    )
    assert traced.output == traced.return_annotation != None  # noqa: E711
    assert not traced.parameters["y"].optional
    signed = tf.function(lambda x, y=5: x, input_signature=[spec])
    assert str(signed.function_type) == f"(x: {spec!r}, y: Literal[5] = <captured_default_value>)"
    several = tf.function(lambda *x: x, input_signature=[spec, [spec]])
    assert str(several.function_type) == f"(x_0: {spec!r}, x_1: List[{spec!r}], /)"
    assert repr(signed.function_type).splitlines()[-4:] == [
        "Output Type:",
        "  None",
        "Captures:",
        "  None",
    ]


def test_parameters_before_any_number_of_them_are_positional():
    def g(x, *rest, b, a=None, **more):
        return None

    concrete = tf.function(g).get_concrete_function(True, b=1, z=2, c=3)
    assert concrete.pretty_printed_signature(verbose=False) == (
        "(x: Literal[True], /, *, b: Literal[1], a: Literal[None], c: Literal[3], z: Literal[2]) -> Literal[None]"
    )


def test_the_spec_of_a_function():
    class Model:
        @tf.function(jit_compile=False)
        def call(self, x, y: int = 1, *args, z=2, u, **kw):
            return x

    spec = Model().call.function_spec
    assert spec.fullargspec == inspect.FullArgSpec(
        ["x", "y"], "args", "kw", (1,), ["z", "u"], {"z": 2}, {}
    )
    assert (spec.arg_names, spec.default_values) == (["x", "y"], {"y": 1, "z": 2})
    assert (spec.input_signature, spec.jit_compile) == (None, False)
    assert Model.call.function_spec.arg_names == ["self", "x", "y"]
    two = [tf.TensorSpec([]), tf.TensorSpec([1])]
    assert tf.function(lambda x: x, input_signature=[two]).function_spec.flat_input_signature == (
        *two,
    )
