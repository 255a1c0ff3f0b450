"""`tf.distribute.experimental.rpc`: functions of one process that another one calls, over TCP.

A message is its length and a message of protocol buffers. A request names a method and holds tensors; an answer holds
an error, or tensors and the structure that they belong into. Nothing but tensors is exchanged, and nothing but what
was registered is called. There is no encryption, and nobody is asked who he is: use it in networks that you trust.
"""

from __future__ import annotations

import json
import socket
import socketserver
import struct
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core import nest
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import (
    DeadlineExceededError,
    NotFoundError,
    OpError,
    UnavailableError,
    shown,
)
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.function.concrete import ConcreteFunction
from tapeflow._src.function.function import Function
from tapeflow._src.io import wire
from tapeflow._src.io.tensor_proto import parsed_tensor_proto, tensor_proto

_METHOD, _TENSOR, _CODE, _TEXT, _FORM = 1, 2, 3, 4, 5  # numbers of fields
_LIST = "__methods__"
_LARGEST = 2**31
_UNKNOWN = 2  # the code of an error that is none of TensorFlow's
_PATIENCE = 60.0  # seconds, for who begins without a limit


def _send(connection: socket.socket, message: bytes) -> None:
    connection.sendall(struct.pack("<Q", len(message)) + message)


def _received(connection: socket.socket) -> bytes:
    (length,) = struct.unpack("<Q", _exactly(connection, 8))
    if length > _LARGEST:
        raise ValueError(f"a message of {length} bytes")
    return _exactly(connection, length)


def _exactly(connection: socket.socket, count: int) -> bytes:
    parts: list[bytes] = []
    while count:
        part = connection.recv(min(count, 2**20))
        if not part:
            raise ConnectionError("the connection has ended")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _form(structure: Any) -> Any:
    """A structure of tensors as JSON: 0 for each of them."""
    if isinstance(structure, dict):
        return {"dict": [[key, _form(structure[key])] for key in sorted(structure)]}
    if isinstance(structure, (list, tuple)):
        kind = "tuple" if isinstance(structure, tuple) else "list"
        return {kind: [_form(part) for part in structure]}
    return None if structure is None else 0


def _structure(form: Any) -> Any:
    if isinstance(form, dict):
        ((kind, parts),) = form.items()
        if kind == "dict":
            return {key: _structure(part) for key, part in parts}
        found = [_structure(part) for part in parts]
        return tuple(found) if kind == "tuple" else found
    return form


def _filled(structure: Any, tensors: list[Tensor]) -> Any:
    rest = iter(tensors)
    return nest.map_structure(lambda leaf: None if leaf is None else next(rest), structure)


def _place(address: str) -> tuple[str, int]:
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit():
        raise ValueError(f"rpc: an address is such as 'localhost:4000', got {shown(address)}")
    return host.strip("[]"), int(port)


def _check_layer(rpc_layer: str) -> None:
    if rpc_layer != "grpc":
        raise ValueError(f"Only GRPC backend is supported at the moment, got {shown(rpc_layer)}")


class _Listener(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    methods: dict[str, Any]


class _Handler(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        methods = self.server.methods  # type: ignore[attr-defined]
        try:
            answer = _answer(methods, _received(self.request))
            _send(self.request, answer)
        except (OSError, ValueError):  # who asked is gone, or does not speak this
            return


def _answer(methods: dict[str, Any], request: bytes) -> bytes:
    fields = wire.fields(request)
    name = next((v.decode() for n, v in fields if n == _METHOD and isinstance(v, bytes)), "")
    if name == _LIST:
        return wire.text(_FORM, json.dumps(sorted(methods)))
    try:
        if name not in methods:
            raise NotFoundError(None, None, f"no method {name!r} is registered here")
        given = [Tensor(parsed_tensor_proto(v)) for n, v in fields if n == _TENSOR]  # type: ignore[arg-type]
        result = methods[name](*given)
        flat = [convert_to_tensor(x) for x in nest.flatten(result) if x is not None]
    except Exception as error:
        code = error.error_code if isinstance(error, OpError) else _UNKNOWN
        text = error.message if isinstance(error, OpError) else f"{type(error).__name__}: {error}"
        return wire.integer(_CODE, code) + wire.text(_TEXT, text)
    tensors = [wire.data(_TENSOR, tensor_proto(np.asarray(x))) for x in flat]
    return wire.text(_FORM, json.dumps(_form(result))) + b"".join(tensors)


@export("distribute.experimental.rpc.Server")
class Server:
    """Lets other processes call functions of this one.

    >>> server = tf.distribute.experimental.rpc.Server.create("grpc", "localhost:0")
    >>> server.register("add", tf.function(lambda a, b: a + b, input_signature=[tf.TensorSpec([], tf.int32)] * 2))
    >>> server.start()
    >>> client = tf.distribute.experimental.rpc.Client.create("grpc", server.address)
    >>> client.add(tf.constant(1), tf.constant(2)).get_value().numpy()
    np.int32(3)

    `Server.create` makes one. Port 0 stands for one that is free, and `address` says which it is.
    """

    def __init__(self) -> None:
        self._methods: dict[str, Any] = {}
        self._listener: _Listener | None = None
        self._started = False

    def __del__(self) -> None:
        if self._listener is not None:
            if self._started:
                self._listener.shutdown()
            self._listener.server_close()

    @staticmethod
    def create(rpc_layer: str, address: str) -> Server:
        """A server that listens at an address once it is started.

        Args:
          rpc_layer: `"grpc"`, as in TensorFlow; the messages are tapeflow's own.
          address: a host and a port.
        """
        _check_layer(rpc_layer)
        server = Server()
        server._listener = _Listener(_place(address), _Handler)
        server._listener.methods = server._methods
        return server

    @property
    def address(self) -> str:
        """Where it listens."""
        host, port = self._opened().server_address[:2]
        return f"{host}:{port}"  # type: ignore[str-bytes-safe]

    def _opened(self) -> _Listener:
        if self._listener is None:
            raise ValueError("rpc.Server is made by Server.create(rpc_layer, address)")
        return self._listener

    def register(self, method_name: str, func: Any) -> None:
        """Makes a function known to clients.

        Args:
          method_name: under this name.
          func: a `tf.function` with an `input_signature`, or a trace of one.
        """
        if isinstance(func, Function) and func.input_signature is None:
            raise ValueError(
                f"Input signature not specified for the function: {func.name}. Clients send tensors that it must say "
                "the kinds of: tf.function(input_signature=[...])."
            )
        if not isinstance(func, (Function, ConcreteFunction)):
            raise ValueError(
                f"Only TensorFlow functions are supported with the register method, got {shown(func)}"
            )
        if method_name in self._methods:
            raise ValueError(f"{method_name} is already registered.")
        self._methods[method_name] = func

    def start(self) -> None:
        """Begins to answer, in threads of its own."""
        listener = self._opened()
        self._started = True
        threading.Thread(
            target=listener.serve_forever, args=(0.05,), name="tapeflow rpc", daemon=True
        ).start()


class StatusOrResult:
    """What a call gave: a result, or an error. It is waited for when it is asked."""

    def __init__(self, work: Callable[[], bytes]) -> None:
        self._code, self._text, self._value = 0, "", None
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def _run(self, work: Callable[[], bytes]) -> None:
        try:
            fields = wire.fields(work())
        except OpError as error:
            self._code, self._text = error.error_code, error.message
            return
        tensors = [Tensor(parsed_tensor_proto(v)) for n, v in fields if n == _TENSOR]  # type: ignore[arg-type]
        for number, value in fields:
            if number == _CODE and isinstance(value, int):
                self._code = value
            elif number == _TEXT and isinstance(value, bytes):
                self._text = value.decode()
            elif number == _FORM and isinstance(value, bytes):
                self._value = _filled(_structure(json.loads(value)), tensors)

    def is_ok(self) -> bool:
        """Whether there is a result."""
        self._thread.join()
        return self._code == 0

    def get_error(self) -> tuple[int, str]:
        """The code of the error, as in `tf.errors`, and what it says. The code is 0 if there is none."""
        self._thread.join()
        return self._code, self._text

    def get_value(self) -> Any:
        """The result."""
        if not self.is_ok():
            raise ValueError(
                f"The call has failed, and has no value. get_error() says why: {self.get_error()}"
            )
        return self._value


@export("distribute.experimental.rpc.Client")
class Client:
    """Calls functions of another process, which a `tf.distribute.experimental.rpc.Server` there has registered.

    >>> server = tf.distribute.experimental.rpc.Server.create("grpc", "localhost:0")
    >>> server.start()
    >>> client = tf.distribute.experimental.rpc.Client.create("grpc", server.address)
    >>> client.call("nothing").is_ok()
    False

    `Client.create` makes one. It has a method for each that the server had then.
    """

    def __init__(self) -> None:
        self._address, self._timeout = "", 0

    @staticmethod
    def create(rpc_layer: str, address: str, name: str = "", timeout_in_ms: int = 0) -> Client:
        """A client of the server at an address, which may begin a little later.

        Args:
          rpc_layer: `"grpc"`.
          address: of the server.
          name: accepted for compatibility.
          timeout_in_ms: how many milliseconds it waits for the server, and for each answer. 0 is a minute for the
            server, and as long as it takes for answers.
        """
        _check_layer(rpc_layer)
        client = Client()
        client._address, client._timeout = address, timeout_in_ms
        until = time.monotonic() + (timeout_in_ms / 1e3 or _PATIENCE)
        while True:
            try:
                found = client._asked(wire.text(_METHOD, _LIST), timeout_in_ms)
                break
            except UnavailableError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)
        (names,) = [v for n, v in wire.fields(found) if n == _FORM]
        for each in json.loads(names):  # type: ignore[arg-type]
            setattr(client, each, client._method(each))
        return client

    def _method(self, name: str) -> Callable[..., StatusOrResult]:
        def method(*args: Any, timeout_in_ms: int = 0) -> StatusOrResult:
            return self.call(name, args, timeout_in_ms=timeout_in_ms)

        method.__name__ = name
        return method

    def call(
        self,
        method_name: str,
        args: Sequence[Any] | None = None,
        output_specs: Any = None,
        timeout_in_ms: int = 0,
    ) -> StatusOrResult:
        """Calls a function of the server, and does not wait for the result.

        Args:
          method_name: its name there.
          args: its arguments.
          output_specs: accepted for compatibility: answers say what they are like.
          timeout_in_ms: how long to wait; 0 for what the client was made with.

        Returns:
          An object with `is_ok()`, `get_value()` and `get_error()`, which wait.
        """
        flat = [convert_to_tensor(x) for x in nest.flatten(list(args or []))]
        tensors = [wire.data(_TENSOR, tensor_proto(np.asarray(x))) for x in flat]
        request = wire.text(_METHOD, method_name) + b"".join(tensors)
        return StatusOrResult(lambda: self._asked(request, timeout_in_ms or self._timeout))

    def _asked(self, request: bytes, timeout: int) -> bytes:
        seconds = timeout / 1e3 if timeout else None
        try:
            with socket.create_connection(_place(self._address), timeout=seconds) as connection:
                _send(connection, request)
                return _received(connection)
        except TimeoutError:
            raise DeadlineExceededError(
                None, None, f"{self._address} has not answered within {timeout} ms"
            ) from None
        except OSError as error:
            raise UnavailableError(
                None, None, f"{self._address} cannot be reached: {error}"
            ) from None
