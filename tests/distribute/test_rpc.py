"""Functions that another process calls."""

import subprocess
import sys

import numpy as np
import pytest

import tapeflow as tf

Server, Client = tf.distribute.experimental.rpc.Server, tf.distribute.experimental.rpc.Client


@pytest.fixture
def server():
    server = Server.create("grpc", "localhost:0")
    spec = tf.TensorSpec([None], tf.float32)

    @tf.function(input_signature=[spec, spec])
    def both(a, b):
        return {"sum": a + b, "parts": (a, [b])}

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def checked(n):
        tf.debugging.assert_positive(n)
        return tf.strings.as_string(n)

    server.register("both", both)
    server.register("checked", checked)
    server.start()
    return server


def test_structures_arrive_as_they_were(server):
    client = Client.create("grpc", server.address)
    result = client.both(tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])).get_value()
    np.testing.assert_array_equal(result["sum"], [4.0, 6.0])
    assert type(result["parts"]) is tuple and type(result["parts"][1]) is list
    assert client.call("checked", [tf.constant(3)]).get_value().numpy() == b"3"


def test_errors_arrive_with_their_codes(server):
    client = Client.create("grpc", server.address)
    failed = client.checked(tf.constant(-1))
    assert not failed.is_ok()
    code, text = failed.get_error()
    assert code == tf.errors.INVALID_ARGUMENT and "-1" in text
    with pytest.raises(ValueError, match="get_error"):
        failed.get_value()
    assert client.call("nothing").get_error()[0] == tf.errors.NOT_FOUND
    assert client.call("both", [tf.constant(1)]).is_ok() is False


def test_another_process_calls(server):
    code = (
        "import tapeflow as tf\n"
        f"client = tf.distribute.experimental.rpc.Client.create('grpc', {server.address!r})\n"
        "print(client.checked(tf.constant(7)).get_value().numpy())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "b'7'"


def test_who_is_not_there_is_named():
    server = Server.create("grpc", "localhost:0")
    address = server.address
    server._listener.server_close()  # pyright: ignore[reportOptionalMemberAccess]
    with pytest.raises(tf.errors.UnavailableError, match="cannot be reached"):
        Client.create("grpc", address, timeout_in_ms=100)


def test_what_does_not_answer_is_given_up():
    server = Server.create("grpc", "localhost:0")  # it is not started
    with pytest.raises(tf.errors.DeadlineExceededError, match="100 ms"):
        Client.create("grpc", server.address, timeout_in_ms=100)


def test_what_is_registered_is_checked(server):
    with pytest.raises(ValueError, match="signature"):
        server.register("f", tf.function(lambda x: x))
    with pytest.raises(ValueError, match="Only TensorFlow functions"):
        server.register("f", len)
    with pytest.raises(ValueError, match="already registered"):
        server.register("both", tf.function(lambda: 1, input_signature=[]))
    with pytest.raises(ValueError, match="GRPC"):
        Server.create("http", "localhost:0")
    with pytest.raises(ValueError, match="address"):
        Server.create("grpc", "localhost")


def test_nonsense_is_not_answered_and_harms_nobody(server):
    import socket

    host, port = server.address.rsplit(":", 1)
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(b"\xff" * 64)
        assert connection.recv(10) == b""
    assert Client.create("grpc", server.address).checked(tf.constant(1)).is_ok()
