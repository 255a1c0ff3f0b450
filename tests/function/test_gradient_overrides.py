"""Types of ops may have other gradients in a graph: `tf.Graph.gradient_override_map`."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.autodiff import registered

X = np.array([-2.0, 0.5, 3.0], np.float32)


@pytest.fixture(autouse=True)
def _registered():
    """What a test registers is forgotten after it."""
    before = dict(registered.gradients)
    yield
    registered.gradients.clear()
    registered.gradients.update(before)


def overridden(**types):
    return tf.compat.v1.get_default_graph().gradient_override_map(types)


def test_guided_relu():
    @tf.RegisterGradient("GuidedRelu")
    def guided(op, grad):
        assert op.type == "Relu" and op.inputs[0].shape == op.outputs[0].shape
        return tf.where((op.inputs[0] > 0) & (grad > 0), grad, 0.0)

    @tf.function
    def f(x):
        with overridden(Relu="GuidedRelu"):
            y = tf.nn.relu(x) * tf.constant([1.0, -1.0, 2.0])
        return tf.gradients(y, x)[0], tf.gradients(tf.nn.relu(x) * -1.0, x)[0]

    inside, after = f(X)
    np.testing.assert_array_equal(inside, [0.0, 0.0, 2.0])
    np.testing.assert_array_equal(after, [0.0, -1.0, -1.0])


def test_a_straight_through_estimator_takes_the_gradient_of_another_op():
    @tf.function
    def f(x):
        with overridden(Sign="Identity", Round="Identity"):
            return tf.sign(x) * 3.0 + tf.round(x)

    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    np.testing.assert_array_equal(y, np.sign(X) * 3 + np.round(X))
    np.testing.assert_array_equal(tape.gradient(y, x), [4.0, 4.0, 4.0])


@pytest.mark.parametrize("jit_compile", [False, True])
def test_a_variable_is_trained_through_it(jit_compile):
    v = tf.Variable(X)

    @tf.function(jit_compile=jit_compile)
    def loss():
        with overridden(Floor="Identity"):
            return tf.reduce_sum(tf.floor(v) * v)

    with tf.GradientTape() as tape:
        y = loss()
    np.testing.assert_allclose(tape.gradient(y, v), np.floor(X) + X)


def test_tapes_inside_do_not_go_by_it_as_in_tensorflow():
    @tf.function
    def f(x):
        with overridden(Sign="Identity"), tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sign(x)
        return tape.gradient(y, x)

    np.testing.assert_array_equal(f(X), np.zeros(3))


def test_maps_nest_and_end():
    @tf.function
    def f(x):
        graph = tf.compat.v1.get_default_graph()
        with overridden(Sign="Identity"):
            with overridden(Sign="Sign", Relu="Identity"):
                a = tf.sign(x) + tf.nn.relu(x)
            b = tf.sign(x) + tf.nn.relu(x)
        assert graph.overridden == {}
        return tf.gradients(a, x)[0], tf.gradients(b, x)[0]

    a, b = f(X)
    np.testing.assert_array_equal(a, [1.0, 1.0, 1.0])
    np.testing.assert_array_equal(b, [1.0, 2.0, 2.0])


def test_ops_have_the_inputs_that_tensorflows_have():
    seen = {}

    def noted(op, *grads):
        seen[op.type] = [x.shape.as_list() for x in op.inputs]
        return [grads[0] * 0.0 + 7.0 if i == 0 else None for i in range(len(op.inputs))]

    tf.RegisterGradient("Noted")(noted)

    @tf.RegisterGradient("NotedSum")
    def noted_sum(op, grad):
        seen[op.type] = [x.shape.as_list() for x in op.inputs]
        return tf.broadcast_to(grad * 2.0, tf.shape(op.inputs[0])), None

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def f(x):
        with overridden(Sum="NotedSum", Mul="Noted"):
            return tf.gradients(tf.reduce_sum(x * x, 0), x)[0]

    np.testing.assert_array_equal(f(np.ones((3, 2), np.float32)), np.full((3, 2), 7.0))
    assert seen == {"Sum": [[None, 2], [1]], "Mul": [[None, 2], [None, 2]]}


def test_a_gradient_that_is_none_ends_there():
    tf.no_gradient("Nothing")

    @tf.function
    def f(x):
        with overridden(Square="Nothing"):
            y = tf.square(x)
        assert tf.gradients(y, x) == [None]
        return tf.gradients(y + x, x)[0]

    np.testing.assert_array_equal(f(X), np.ones(3))


def test_graphs_by_hand():
    graph = tf.Graph()
    seen = []

    @tf.RegisterGradient("Named")
    def named(op, grad):
        seen.append((op.inputs[0].name, op.outputs[0].name))
        return grad * 2.0

    with graph.as_default(), graph.gradient_override_map({"Sign": "Named"}):
        x = tf.constant(X)
        (g,) = tf.gradients(tf.sign(x), x)
    assert g is not None and g.shape == [3]
    assert seen == [("Const:0", "Sign:0")]


def _asked(op_type):
    @tf.function
    def f(x):
        with overridden(Mul=op_type):
            y = x * 2.0
        return tf.gradients(y, x)[0]

    return f(X)


def test_mistakes_are_named():
    with pytest.raises(LookupError, match="Absent"):
        _asked("Absent")
    tf.RegisterGradient("One")(lambda op, grad: grad)
    with pytest.raises(ValueError, match=r"Num gradients 1 generated for op 'Mul' .* num inputs 2"):
        _asked("One")
    with pytest.raises(ValueError, match="for ops of 1 inputs"):
        _asked("Identity")
    tf.RegisterGradient("Wide")(lambda op, grad: [tf.ones([2, 3]), None])
    with pytest.raises(ValueError, match=r"Incompatible shapes .* 'Mul' .* \(3,\), .* \(2, 3\)"):
        _asked("Wide")
    for wrong in ({"Mul": 3}, [("Mul", "One")], {1: "One"}):
        with pytest.raises(TypeError, match="strings to strings"):
            tf.Graph().gradient_override_map(wrong)


def test_an_op_says_what_it_is_connected_to():
    @tf.function
    def f(x):
        y = tf.sin(x)
        z = y * y + tf.cos(y)
        assert x.op.type == "Placeholder" and y.op.type == "Sin"
        assert [op.type for op in y.consumers()] == ["Mul", "Cos"]
        assert y.name == "Sin:0" and y.op.inputs[0].name == x.name
        assert y.op == z.op.inputs[0].op.inputs[0].op and len({y.op, y.op}) == 1
        return z

    f(X)


def test_a_type_that_no_op_has_is_refused_where_tensorflow_would_have_used_it():
    with pytest.raises(NotImplementedError, match="no ops of the type 'BiasAdd'"):
        overridden(Relu="Identity", BiasAdd="Identity")


def test_types_that_ops_bring_a_gradient_for_cannot_be_registered():
    with pytest.raises(KeyError, match="Registering two gradient with name 'Relu'"):
        tf.RegisterGradient("Relu")(lambda op, grad: grad)
    with pytest.raises(KeyError, match="'MatMul'"):
        tf.no_gradient("MatMul")


@pytest.mark.parametrize("shape", [[2], [2, 3]])
def test_rows_are_unpacked(shape):
    @tf.RegisterGradient("NotedUnpack")
    def noted(op, *grads):
        return tf.stack(grads) * 3.0

    @tf.function
    def f(x):
        with overridden(Unpack="NotedUnpack"):
            first, _ = tf.unstack(x)
        assert first.op.type == "Unpack"
        return tf.gradients(first, x)[0]

    np.testing.assert_array_equal(f(tf.ones(shape)), [np.full(shape[1:], 3.0), np.zeros(shape[1:])])


def test_names_are_those_of_arguments_from_the_beginning_on():
    v = tf.Variable(2.0, name="weight")

    @tf.function
    def f(x, z, pair):
        names = [each.name for each in (x, z, *pair)]
        assert names == ["x:0", "z:0", "pair_0:0", "pair_1:0"]
        assert x.op != z.op and x.op is x.op and len({x.op, z.op, pair[0].op}) == 3
        assert x.consumers() == []
        y = tf.square(z) * v + 1.0
        assert [each.name for each in (x, z, *pair)] == names
        assert [op.name for op in z.consumers()] == ["Square"]
        assert y.op.inputs[0].op.inputs[1].name == "weight:0"
        tf.while_loop(lambda i, t: i < 2, lambda i, t: (i + 1, named_apart(i, t)), [0, y])
        return x + y, y.name

    def named_apart(i, t):
        assert i.name != t.name and i.op != t.op
        return t * 2.0

    f(tf.constant(1.0), tf.constant(2.0), (tf.constant(3.0), tf.constant(4.0)))


def test_all_names_of_a_graph_are_found_while_it_grows():
    """As many names as there are ops: each is looked up, and nothing is listed again for it."""
    made = []

    @tf.function
    def f(x):
        for _ in range(30):
            x = tf.sin(x)
            made.append(x.op)
        graph = x.graph
        assert graph.get_operations() == [made[0].inputs[0].op, *made]
        assert all(
            mine is theirs for mine, theirs in zip(made, graph.get_operations()[1:], strict=True)
        )
        return x

    graph = f.get_concrete_function(tf.TensorSpec([])).graph
    assert [op.name for op in made] == ["Sin", *(f"Sin_{i}" for i in range(1, 30))]
    assert [op.name for op in graph.get_operations()[1:-1]] == [op.name for op in made]
    assert [len(op.outputs[0].consumers()) for op in made[:-1]] == [1] * 29
