"""PennyLane's TensorFlow interface: circuits, their gradients, Keras around them, with TensorFlow's numbers."""

from __future__ import annotations

import numpy as np
import pennylane as qml
import pytest
import tensorflow as tf
from pennylane import math

METHODS = ["backprop", "parameter-shift", "finite-diff", "adjoint"]


def circuit_with(method: str):
    """A circuit of two qubits."""
    device = qml.device("default.qubit", wires=2)

    @qml.qnode(device, interface="tf", diff_method=method)
    def circuit(x, y):
        qml.RX(x[0], wires=0)
        qml.RY(x[1], wires=1)
        qml.CNOT(wires=[0, 1])
        qml.Rot(y, x[0] * y, 0.3, wires=1)
        return qml.expval(qml.PauliZ(0) @ qml.PauliY(1))

    return circuit


def inputs(dtype=tf.float64):
    """Angles."""
    return tf.Variable([0.4, -0.7], dtype=dtype), tf.Variable(1.2, dtype=dtype)


@pytest.mark.parametrize("method", METHODS)
def test_values_and_gradients(method: str, record_property) -> None:
    """An expectation and its gradient."""
    x, y = inputs()
    circuit = circuit_with(method)
    with tf.GradientTape() as tape:
        value = circuit(x, y)
    gradients = tape.gradient(value, [x, y])
    record_property("value", float(value))
    record_property("gradients", [np.asarray(g).ravel().tolist() for g in gradients])


@pytest.mark.parametrize("method", ["backprop", "parameter-shift"])
def test_hessians(method: str, record_property) -> None:
    """Derivatives of second order."""
    device = qml.device("default.qubit", wires=1)

    @qml.qnode(device, interface="tf", diff_method=method, max_diff=2)
    def circuit(x):
        qml.RX(x[0], wires=0)
        qml.RY(x[1], wires=0)
        return qml.expval(qml.PauliZ(0))

    x, _ = inputs()
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            value = circuit(x)
        gradient = inner.gradient(value, x)
    record_property("hessian", outer.jacobian(gradient, x).numpy().tolist())


@pytest.mark.parametrize("method", ["backprop", "parameter-shift"])
def test_jacobians_of_several_results(method: str, record_property) -> None:
    """Probabilities and expectations in one circuit."""
    device = qml.device("default.qubit", wires=2)

    @qml.qnode(device, interface="tf", diff_method=method)
    def circuit(x):
        qml.RX(x[0], wires=0)
        qml.CRY(x[1], wires=[0, 1])
        return qml.probs(wires=[0, 1]), qml.expval(qml.PauliX(1)), qml.var(qml.PauliZ(0))

    x, _ = inputs()
    with tf.GradientTape() as tape:
        value = tf.concat([tf.reshape(part, [-1]) for part in circuit(x)], axis=0)
    record_property("value", value.numpy().tolist())
    record_property("jacobian", tape.jacobian(value, x).numpy().tolist())


@pytest.mark.parametrize("compiled", [False, True])
def test_training(compiled: bool, record_property) -> None:
    """Steps of gradient descent, in a function too."""
    x, y = inputs()
    circuit = circuit_with("backprop")

    def loss() -> tf.Tensor:
        with tf.GradientTape() as tape:
            value = circuit(x, y)
        for variable, gradient in zip((x, y), tape.gradient(value, [x, y]), strict=True):
            variable.assign_sub(0.1 * gradient)
        return value

    step = tf.function(loss, autograph=False) if compiled else loss
    record_property("losses", [float(step()) for _ in range(4)])


def test_autograph_in_circuits(record_property) -> None:
    """A circuit in a function that AutoGraph converts."""
    x, y = inputs()
    circuit = tf.function(circuit_with("parameter-shift"))
    record_property("value", float(circuit(x, y)))


def test_states_and_matrices(record_property) -> None:
    """States, density matrices and matrices of operators."""
    device = qml.device("default.qubit", wires=2)

    @qml.qnode(device, interface="tf")
    def state(x):
        qml.Hadamard(0)
        qml.CRX(x, wires=[0, 1])
        return qml.state()

    value = state(tf.Variable(0.3, dtype=tf.float64))
    record_property("real", tf.math.real(value).numpy().tolist())
    record_property("imaginary", tf.math.imag(value).numpy().tolist())
    matrix = qml.matrix(qml.Rot(tf.constant(0.1), tf.constant(0.2), tf.constant(0.3), wires=0))
    record_property("matrix", np.abs(np.asarray(matrix)).tolist())


def test_batches_of_parameters(record_property) -> None:
    """Many angles at once."""
    device = qml.device("default.qubit", wires=1)

    @qml.qnode(device, interface="tf", diff_method="backprop")
    def circuit(x):
        qml.RX(x, wires=0)
        return qml.expval(qml.PauliZ(0))

    x = tf.Variable(np.linspace(0, 1, 5))
    with tf.GradientTape() as tape:
        value = circuit(x)
    record_property("value", value.numpy().tolist())
    record_property("gradient", tape.gradient(value, x).numpy().tolist())


def test_shots(record_property) -> None:
    """Samples: their shapes, and means near the truth."""
    device = qml.device("default.qubit", wires=1, seed=1)

    @qml.set_shots(200)
    @qml.qnode(device, interface="tf", diff_method="parameter-shift")
    def circuit(x):
        qml.RX(x, wires=0)
        return qml.expval(qml.PauliZ(0)), qml.sample(qml.PauliZ(0))

    mean, samples = circuit(tf.Variable(0.3, dtype=tf.float64))
    assert samples.shape == (200,)
    record_property("mean", float(mean))


MATH = {
    "allclose": lambda a: math.allclose(a, a + 1e-12),
    "concatenate": lambda a: math.concatenate([a, a], axis=0),
    "stack": lambda a: math.stack([a, a]),
    "dot": lambda a: math.dot(a, a[0]),
    "tensordot": lambda a: math.tensordot(a, a, axes=[[0], [1]]),
    "einsum": lambda a: math.einsum("ij,jk->ik", a, a),
    "kron": lambda a: math.kron(a, a),
    "where": lambda a: math.where(a > 0, a, -a),
    "where_indices": lambda a: math.where(a > 0)[0],
    "diag": lambda a: math.diag(a[0]),
    "block_diag": lambda a: math.block_diag([a, a]),
    "gather": lambda a: math.gather(a, [1, 0]),
    "take": lambda a: math.take(a, [1], axis=1),
    "scatter_element_add": lambda a: math.scatter_element_add(a, (0, 1), 2.0),
    "expand_dims": lambda a: math.expand_dims(a, 0),
    "squeeze": lambda a: math.squeeze(math.expand_dims(a, 0)),
    "transpose": lambda a: math.transpose(a, (1, 0)),
    "reshape": lambda a: math.reshape(a, (4,)),
    "ravel": lambda a: math.ravel(a),
    "sum": lambda a: math.sum(a, axis=0),
    "mean": lambda a: math.mean(a),
    "prod": lambda a: math.prod(a, axis=1),
    "trace": lambda a: math.trace(a),
    "det": lambda a: math.linalg.det(a),
    "inv": lambda a: math.linalg.inv(a),
    "eigvalsh": lambda a: math.linalg.eigvalsh(a + math.transpose(a)),
    "norm": lambda a: math.linalg.norm(a),
    "svd": lambda a: math.svd(a, compute_uv=False),
    "expm": lambda a: math.expm(a),
    "cov_matrix": lambda a: math.cov_matrix(
        math.abs(a[0]) / math.sum(math.abs(a[0])), [qml.PauliZ(0)]
    ),
    "marginal_prob": lambda a: math.marginal_prob(math.abs(math.ravel(a)), [0]),
    "purity": lambda a: math.purity(math.cast(a, "complex128"), [0]),
    "fidelity": lambda a: math.fidelity_statevector(
        math.cast(a[0], "complex128"), math.cast(a[1], "complex128")
    ),
    "cast": lambda a: math.cast(a, "float32"),
    "cast_like": lambda a: math.cast_like(a, tf.constant(1.0)),
    "convert_like": lambda a: math.convert_like(np.ones(2), a),
    "unwrap": lambda a: math.unwrap([a])[0],
    "toarray": lambda a: math.toarray(a),
    "requires_grad": lambda a: math.requires_grad(tf.Variable(a)),
    "in_backprop": lambda a: math.in_backprop(a),
    "is_abstract": lambda a: math.is_abstract(a),
    "get_interface": lambda a: math.get_interface(a) == "tensorflow",
    "arcsin": lambda a: math.arcsin(a / 4),
    "arctan2": lambda a: math.arctan2(a, a + 1),
    "sqrt_matrix": lambda a: math.sqrt_matrix(math.cast(a @ math.transpose(a), "complex128")),
    "round": lambda a: math.round(a),
    "flatten": lambda a: math.flatten(a),
    "size": lambda a: math.size(a),
    "ones_like": lambda a: math.ones_like(a),
    "eye": lambda a: math.eye(2, like="tensorflow"),
    "array": lambda a: math.array([1.0, 2.0], like="tensorflow"),
    "hstack": lambda a: math.hstack([a, a]),
    "vstack": lambda a: math.vstack([a, a]),
    "moveaxis": lambda a: math.moveaxis(a, 0, 1),
    "roll": lambda a: math.roll(a, 1, axis=0),
    "argmax": lambda a: math.argmax(a),
    "sort": lambda a: math.sort(a),
    "cumsum": lambda a: math.cumsum(a, axis=0),
}


@pytest.mark.parametrize("name", MATH)
def test_functions_of_arrays(name: str, record_property) -> None:
    """What PennyLane's own layer over array libraries gives."""
    value = MATH[name](tf.constant([[0.5, -1.0], [2.0, 0.25]], tf.float64))
    numbers = np.asarray(value).astype(complex).ravel()
    record_property("value", [numbers.real.tolist(), numbers.imag.tolist()])
