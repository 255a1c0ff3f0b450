"""A traced graph can be looked at as TensorFlow shows it."""

import pytest

import tapeflow as tf


@pytest.fixture
def graph():
    w = tf.Variable(2.0, name="w")

    @tf.function(autograph=False)
    def f(x):
        return tf.sin(x) * w + tf.sin(x + 1.0)

    return f.get_concrete_function(tf.TensorSpec([None, 2], tf.float32, name="x")).graph


def test_operations_have_names_of_their_own(graph):
    names = [operation.name for operation in graph.get_operations()]
    assert len(set(names)) == len(names)
    assert {"x", "w", "Sin", "Sin_1", "Mul"} <= set(names)


def test_inputs_are_outputs_of_operations_before(graph):
    made = set()
    for operation in graph.get_operations():
        assert {x.name for x in operation.inputs} <= made
        made |= {x.name for x in operation.outputs}


def test_types_are_tensorflows(graph):
    types = [operation.type for operation in graph.get_operations()]
    assert types.count("Sin") == 2 and "AddV2" in types and "Placeholder" in types
    assert repr(graph.get_operation_by_name("Sin")) == "<tf.Operation 'Sin' type=Sin>"


def test_shapes_that_are_not_known_are_none(graph):
    tensor = graph.get_tensor_by_name("Sin:0")
    assert tensor.shape.as_list() == [None, 2] and tensor.dtype is tf.float32


def test_the_graph_is_data(graph):
    nodes = graph.as_graph_def().node
    assert [n.name for n in nodes] == [o.name for o in graph.get_operations()]
    by_name = {n.name: n for n in nodes}
    assert by_name["Sin"].op == "Sin" and by_name["Sin"].input == ["x"]


def test_names_that_are_not_there_are_refused(graph):
    with pytest.raises(KeyError, match="nothing"):
        graph.get_operation_by_name("nothing")
    with pytest.raises(ValueError, match="Sin:0"):
        graph.get_tensor_by_name("Sin")


def test_a_gradient_is_registered_once():
    tf.RegisterGradient("OnlyOnce")(lambda op, grad: grad)
    with pytest.raises(KeyError, match="OnlyOnce"):
        tf.no_gradient("OnlyOnce")


def test_names_begin_with_the_scopes_they_were_made_in():
    @tf.function
    def f(x):
        with tf.name_scope("outer"), tf.name_scope("inner"):
            y = tf.sin(x)
            assert y.op.name == "outer/inner/Sin"
        with tf.name_scope("outer"), tf.name_scope("inner"):
            return tf.sin(y)

    graph = f.get_concrete_function(tf.TensorSpec([2])).graph
    assert [o.name for o in graph.get_operations()][1:3] == ["outer/inner/Sin", "outer/inner/Sin_1"]


def test_a_graph_by_hand_gets_the_ops_of_its_scope():
    graph = tf.Graph()
    with graph.as_default():
        with tf.device("CPU:0"), tf.name_scope("a"):
            y = tf.matmul([[1.0, 2.0]], [[3.0], [4.0]])
        assert not tf.executing_eagerly()
        assert y.graph is graph and y.shape == [1, 1]
    assert tf.executing_eagerly()
    assert tf.add(1, 2).numpy() == 3
    with graph.as_default():
        tf.sin(y)
    assert [o.type for o in graph.get_operations()] == ["Const", "Const", "MatMul", "Sin"]
    with pytest.raises(TypeError, match="used outside"):
        tf.sin(y)
    graph.finalize()
    with pytest.raises(RuntimeError, match="finalized"):
        graph.as_default()


def test_a_graph_that_fails_is_left():
    with pytest.raises(ValueError, match="matmul"):
        with tf.Graph().as_default():
            tf.matmul([[1.0, 2.0]], [[3.0, 4.0]])
    assert tf.executing_eagerly()


def test_messages_of_graphs_are_read_again(graph):
    message = graph.as_graph_def(add_shapes=True)
    again = tf.compat.v1.GraphDef.FromString(message.SerializeToString())
    assert again == message
    tf.test.assert_equal_graph_def(message, again)
    (sin, *_) = [node for node in again.node if node.op == "Sin"]
    assert [d.size for d in sin.attr["_output_shapes"].list.shape[0].dim] == [-1, 2]
    again.node[0].name = "other"
    with pytest.raises(AssertionError, match="other"):
        tf.test.assert_equal_graph_def(message, again)
