"""Specs that libraries derive from, variables inside of composite tensors, and Keras as it was."""

import pytest

import tapeflow as tf
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.tools import redirect


@pytest.fixture(autouse=True)
def redirected():
    redirect.install()
    yield
    redirect.uninstall()


class Pair(CompositeTensor):
    """Two numbers, as a library defines them."""

    def __init__(self, first, second):
        self.first, self.second = first, second

    @property
    def _type_spec(self):
        from tensorflow.python.framework import type_spec

        return PairSpec(*[type_spec.type_spec_from_value(x) for x in (self.first, self.second)])

    def _convert_variables_to_tensors(self):
        return Pair(*[tf.convert_to_tensor(x) for x in (self.first, self.second)])


class PairSpec(tf.TypeSpec):
    value_type = Pair

    def __init__(self, first, second):
        self.first, self.second = first, second

    def _serialize(self):
        return (self.first, self.second)

    @property
    def _component_specs(self):
        return [self.first, self.second]

    def _to_components(self, value):
        return [value.first, value.second]

    def _from_components(self, components):
        return Pair(*components)


def test_a_variable_inside_is_one_leaf_and_stays_itself():
    v = tf.Variable(2.0)
    parts = tf.nest.flatten(Pair(v, tf.constant(3.0)), expand_composites=True)
    assert parts[0] is v
    again = tf.nest.map_structure(lambda x: x, Pair(v, v), expand_composites=True)
    assert again.first is v


def test_functions_take_variables_inside_and_return_values():
    traces = []

    @tf.function
    def step(pair):
        traces.append(pair)
        pair.first.assign_add(1.0)
        return Pair(pair.first, pair.second * 2.0)

    v, w = tf.Variable(2.0), tf.Variable(20.0)
    found = step(Pair(v, tf.constant(3.0)))
    assert (v.numpy(), found.first.numpy(), found.second.numpy()) == (3.0, 3.0, 6.0)
    assert not isinstance(found.first, tf.Variable)
    assert step(Pair(w, tf.constant(3.0))).first.numpy() == 21.0
    assert v.numpy() == 3.0 and len(traces) == 1


def test_gradients_reach_a_variable_inside_of_an_argument():
    @tf.function
    def product(pair):
        return pair.first * pair.second

    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = product(Pair(v, tf.constant(3.0)))
    assert tape.gradient(y, v).numpy() == 3.0


def test_loops_and_branches_carry_the_values():
    v = tf.Variable(1.0)

    @tf.function
    def doubled(times):
        def body(i, pair):
            return i + 1, Pair(pair.first * 2.0, pair.second)

        return tf.while_loop(lambda i, _: i < times, body, (0, Pair(v, tf.constant(5.0))))[1]

    assert doubled(tf.constant(3)).first.numpy() == 8.0


def test_specs_of_variables():
    from tensorflow.python.framework import tensor_spec, type_spec
    from tensorflow.python.ops.resource_variable_ops import VariableSpec

    spec = VariableSpec([2], tf.float32)
    assert spec.is_compatible_with(tf.Variable([1.0, 2.0]))
    assert not spec.is_compatible_with(tf.Variable([1.0, 2.0], trainable=False))
    assert not spec.is_compatible_with(tf.constant([1.0, 2.0]))
    assert spec == VariableSpec([2]) and spec != VariableSpec([3])
    assert repr(spec) == (
        "VariableSpec(shape=(2,), dtype=tf.float32, trainable=True, alias_id=None)"
    )
    assert isinstance(spec, tensor_spec.DenseSpec)
    assert not isinstance(spec, type_spec.BatchableTypeSpec)
    assert isinstance(tf.TensorSpec([2]), (tensor_spec.DenseSpec, type_spec.BatchableTypeSpec))
    with pytest.raises(TypeError, match="Could not build a TypeSpec"):
        type_spec.type_spec_from_value(object())


def test_parts_of_specs_compare_by_the_private_names_of_tensorflow():
    from tensorflow.python.framework import type_spec

    class Own(type_spec.BatchableTypeSpec):
        def key(self, value):
            return self._TypeSpec__make_cmp_key(value)

        def fits(self, a, b):
            return self._TypeSpec__is_compatible(a, b)

    parts = {"a": [1, tf.TensorShape([2, None])], "b": tf.float32}
    own = Own()
    assert own.key(parts) == own.key({"b": tf.float32, "a": [1, tf.TensorShape([2, None])]})
    assert own.key(1) != own.key(True)
    assert hash(own.key([parts, {}, object()]))
    assert own.fits(tf.TensorShape([2, None]), tf.TensorShape([None, 3]))
    assert not own.fits(tf.TensorShape([2]), tf.TensorShape([3]))


def test_the_implementation_for_cpus_takes_the_place_of_the_general_one():
    @tf.function
    def sampled(x):
        general = tf.function(
            lambda x: x * 2.0, experimental_attributes={"api_implements": "sampling"}
        )
        for_cpus = tf.function(
            lambda x: x * 3.0,
            experimental_attributes={"api_implements": "sampling", "api_preferred_device": "CPU"},
        )
        result = general(x=x)
        concrete = for_cpus.get_concrete_function(x=x)
        concrete.add_to_graph()
        concrete.add_gradient_functions_to_graph()
        return result + 1.0

    assert sampled(tf.constant(5.0)).numpy() == 16.0


def test_sums_of_operators():
    from tensorflow.python.ops.linalg.linear_operator_addition import add_operators

    diagonal = tf.linalg.LinearOperatorDiag([1.0, 2.0])
    full = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    (one,) = add_operators([diagonal, diagonal])
    (other,) = add_operators([diagonal, full])
    assert isinstance(one, tf.linalg.LinearOperatorDiag)
    assert one.diag.numpy().tolist() == [2.0, 4.0]
    assert other.to_dense().numpy().tolist() == [[2.0, 2.0], [3.0, 6.0]]
    assert add_operators([full]) == [full]


def test_an_operator_that_cannot_be_taken_apart_says_why():
    class Hidden(tf.linalg.LinearOperator):
        def __init__(self, secret):
            super().__init__(tf.float32)

        def _shape(self):
            return tf.TensorShape([2, 2])

    with pytest.raises(TypeError, match="Hidden cannot be taken apart: its parameter 'secret'"):
        tf.nest.flatten(Hidden(3), expand_composites=True)


def test_cases_chosen_by_a_function_like_cond():
    from tensorflow.python.ops import control_flow_case

    def choose(pairs, default):
        return control_flow_case._case_helper(tf.cond, pairs, default, False, None)

    pairs = [(tf.constant(False), lambda: 1.0), (tf.constant(True), lambda: 2.0)]
    assert float(choose(pairs, lambda: 3.0)) == 2.0
    assert float(choose(pairs[:1], lambda: 3.0)) == 3.0
    assert float(choose(pairs, None)) == 2.0


def test_what_is_asked_of_a_traced_function_is_asked_of_the_one_inside():
    from tensorflow.python.util import tf_inspect

    assert tf_inspect.getfullargspec(tf.function(lambda x, y=1: x)).args == ["x", "y"]


def test_optimizers_of_keras_2_begin_with_a_name():
    pytest.importorskip("keras")
    import tf_keras
    from tf_keras import __internal__
    from tf_keras.optimizers import Optimizer

    class Own(tf_keras.optimizers.Optimizer):
        pass

    assert Optimizer is tf_keras.optimizers.Optimizer
    assert Own("mine").name == "mine"
    assert isinstance(tf_keras.optimizers.Adam(), Optimizer) and not isinstance(1, Optimizer)
    assert tf_keras.layers.Dense is tf.keras.layers.Dense
    __internal__.utils.register_symbolic_tensor_type(object)
