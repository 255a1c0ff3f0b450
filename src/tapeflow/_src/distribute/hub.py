"""Where the workers of a job meet to say how they are: a small server, in the process of the first of them.

Numbers travel through XLA. What travels here are lines of JSON: signs of life, small values that all workers tell each
other, and who has failed. Every worker has a connection, the first one, too, so that a process which dies is known at
once by the end of it, and one which stands still by its silence.
"""

from __future__ import annotations

import contextlib
import json
import selectors
import socket
import threading
from typing import Any

from tapeflow._src.distribute import limits

_LONGEST = 1 << 24  # bytes in a message


def write(connection: socket.socket, **message: Any) -> None:
    """Sends a message."""
    connection.sendall(json.dumps(message).encode() + b"\n")


class _Guest:
    """A connection, and who it belongs to."""

    def __init__(self, connection: socket.socket, now: limits.Watch) -> None:
        self.connection = connection
        self.number: int | None = None
        self._now = now
        self.heard = now()
        self.done = self.gone = False
        self.at = 0
        self._rest = b""

    def messages(self) -> list[dict[str, Any]] | None:
        """What has come, or None at the end."""
        try:
            found = self.connection.recv(65536)
        except OSError:
            found = b""
        if not found:
            return None
        self.heard = self._now()
        *lines, self._rest = (self._rest + found).split(b"\n")
        if len(self._rest) > _LONGEST:
            raise ValueError("this is no line")
        messages = [json.loads(line) for line in lines]
        if not all(isinstance(message, dict) for message in messages):
            raise ValueError("these are no messages")
        return messages


class Hub:
    """The server of a job.

    Args:
      host: its address. One that only this machine can reach is not opened to others.
      port: where it listens.
      count: how many workers there are.
      about: what is told to all of them when the last one has come.
    """

    def __init__(self, host: str, port: int, count: int, about: dict[str, Any]) -> None:
        self._count, self._about = count, about
        local = host in ("localhost", "127.0.0.1")
        self._server = socket.create_server((host if local else "", port), backlog=count)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._server, selectors.EVENT_READ)
        self._guests: dict[int, _Guest] = {}
        self._told: dict[str, dict[int, Any]] = {}
        self._verdict: dict[str, Any] | None = None
        self._silence = limits.heartbeat()
        self._now = limits.Watch(self._silence / 3)
        self._next = self._now()
        self._until = self._now() + limits.start()
        threading.Thread(target=self._serve, name="tapeflow hub", daemon=True).start()

    def _serve(self) -> None:
        while not self._over():
            for key, _ in self._selector.select(min(1.0, self._silence / 6)):
                guest = key.data
                if guest is None:
                    connection, _ = self._server.accept()
                    self._selector.register(
                        connection, selectors.EVENT_READ, _Guest(connection, self._now)
                    )
                else:
                    self._hear(guest)
            self._look()
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()  # pyright: ignore[reportAttributeAccessIssue]
        self._selector.close()

    def _over(self) -> bool:
        """Whether all workers are done, or have left after one has failed."""
        if self._verdict is not None:
            return all(guest.gone for guest in self._guests.values())
        return len(self._guests) == self._count and all(g.done for g in self._guests.values())

    def _hear(self, guest: _Guest) -> None:
        try:
            found = guest.messages()
        except ValueError:  # somebody who does not speak as workers do
            found = None
        if found is None:
            self._selector.unregister(guest.connection)
            guest.connection.close()
            guest.gone = True
            if guest.number is not None and not guest.done:
                guest.done = True
                self._fail(guest.number, "its process has ended without a word; see its own output")
            return
        for message in found:
            self._take(guest, message)

    def _take(self, guest: _Guest, message: dict[str, Any]) -> None:
        if "hello" in message:
            self._welcome(guest, message)
        elif guest.number is None:
            return
        elif "tell" in message:
            told = self._told.setdefault(message["tell"], {})
            told[guest.number] = message["value"]
            if len(told) == self._count:
                values = [told[i] for i in range(self._count)]
                del self._told[message["tell"]]
                self._send_all(told=message["tell"], values=values)
        elif "alive" in message:
            guest.at = message["alive"]
        elif "failed" in message:
            self._fail(
                message.get("worker", guest.number), message["failed"], message.get("stacks")
            )
        elif "notice" in message:
            self._send_all(notice=message["notice"])
        elif "done" in message:
            guest.done = True
            self._send_all(done=guest.number)

    def _welcome(self, guest: _Guest, message: dict[str, Any]) -> None:
        number = message["hello"]
        if number not in range(self._count):
            return
        if number in self._guests:
            write(guest.connection, failed=f"there is a worker {number} already", worker=number)
            return
        guest.number = number
        self._guests[number] = guest
        if len(self._guests) == self._count:
            self._until = float("inf")
            self._send_all(welcome=self._about)

    def _look(self) -> None:
        """Whether somebody is missing, or was not heard of for too long."""
        now = self._now()
        if now > self._until:
            missing = [i for i in range(self._count) if i not in self._guests]
            self._until = float("inf")
            self._fail(missing[0], f"it did not come within {limits.start():g} s")
        if now > self._next:
            self._next = now + self._silence / 6
            self._send_all(
                at=[self._guests[i].at if i in self._guests else 0 for i in range(self._count)]
            )
        for number, guest in self._guests.items():
            if not guest.done and now - guest.heard > self._silence:
                guest.done = True
                reason = f"it was not heard of for {self._silence:g} s: its process or its machine stands still"
                self._fail(number, reason, True)

    def _fail(self, number: int, reason: str, stacks: bool | None = None) -> None:
        """Tells all workers who has failed. The first time counts."""
        if self._verdict is None:
            self._verdict = {"failed": reason, "worker": number, "stacks": stacks}
            self._send_all(**self._verdict)

    def _send_all(self, **message: Any) -> None:
        """To the first worker last: its process may end by it, and this server with it."""
        for _, guest in sorted(self._guests.items(), reverse=True):
            with contextlib.suppress(OSError):
                write(guest.connection, **message)
