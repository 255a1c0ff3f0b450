"""This process as a worker of a job, which ends as a whole: when one worker fails, all of them do, and say which.

A thread listens to the hub (`hub.py`). It ends the process when another worker has failed, and when the others were
waited for longer than the limit of a step; the main thread may be inside of XLA then, where no exception reaches it.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tapeflow._src.core.errors import DeadlineExceededError
from tapeflow._src.core.system import jax_loading
from tapeflow._src.distribute import limits
from tapeflow._src.distribute.hub import Hub, write

FOLLOWED = 75
"""The status of a process that has ended because another one has failed."""

_GRACE = 5.0  # seconds in which the hub says who has failed first


def _place(address: str | bytes) -> tuple[str, int]:
    address = os.fsdecode(address)
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise ValueError(f"TF_CONFIG: the address of a worker must be 'host:port', got {address!r}")
    return host, int(port)


class Job:
    """The job that this process is a worker of.

    Args:
      addresses: of all workers, the first one's first: there is the hub.
      number: of this one.
      limit: for how many seconds the others are waited for; None for that of the environment.
    """

    def __init__(self, addresses: Sequence[str], number: int, limit: float | None = None) -> None:
        self.number, self.count = number, len(addresses)
        self.limit = limits.step() if limit is None else limit
        self.exchanges = 0
        self._notices: dict[str, Callable[[], None]] = {}
        self._silence = limits.heartbeat()
        self._now = limits.Watch(self._silence / 3)
        self._heard = self._now()
        self._waiting: dict[int, tuple[str, float]] = {}  # by threads
        self._at: list[int] = [0] * self.count
        self._done: set[int] = set()
        self._answers: dict[str, list[Any]] = {}
        self._verdict: dict[str, Any] | None = None
        self._news = threading.Condition()
        self._writing = threading.Lock()
        self._failing = False
        host, port = _place(addresses[0])
        if number == 0:
            Hub(host, port, self.count, {"port": _free_port()})
        self._connection = self._connected(host, port)
        self._send(hello=number)
        os.register_at_fork(after_in_child=self._forget)
        threading.Thread(target=self._listen, name="tapeflow job", daemon=True).start()
        self._hook = sys.excepthook
        sys.excepthook = self._excepted
        with self.waiting("the others to begin", limits.start() + _GRACE):
            about = self._answer("welcome")
        jax_loading.join(
            f"{host}:{about[0]['port']}",
            self.count,
            number,
            initialization_timeout=int(limits.start()),
            # The hub is quicker, and says who it was.
            heartbeat_timeout_seconds=int(2 * self._silence) + 10,
        )
        atexit.register(self._leave)  # after jax has, so that it is called before

    def _connected(self, host: str, port: int) -> socket.socket:
        until = time.monotonic() + limits.start()
        while True:
            try:
                found = socket.create_connection((host, port), timeout=5.0)
            except OSError as error:
                if time.monotonic() > until:
                    raise DeadlineExceededError(
                        None,
                        None,
                        f"Worker {self.number} did not reach worker 0 at {host}:{port} within {limits.start():g} s: "
                        f"{error}. See whether it runs, and whether the address in TF_CONFIG is the same for all.",
                    ) from error
                time.sleep(0.1)
            else:
                found.settimeout(min(1.0, self._silence / 6))
                found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return found

    def _forget(self) -> None:
        """In a forked process: who listens to the end of this one must not wait for that of its children."""
        self._connection.close()
        sys.excepthook = self._hook
        atexit.unregister(self._leave)

    # What workers tell each other.

    def told(self, key: str, value: Any, what: str | None = None) -> list[Any]:
        """What all workers tell under a key, in their order, when all have. A key is used once.

        Unlike sums it may be asked for in any thread, in any order.
        """
        self._send(tell=key, value=value)
        return self.answer(key, what)

    def notice(self, text: str) -> None:
        """Tells all workers something that nobody waits for."""
        self._send(notice=text)

    def on_notice(self, text: str, function: Callable[[], None]) -> None:
        """Says what is called when a worker gives this notice, in the thread that listens."""
        self._notices[text] = function

    def tell(self, key: str, value: Any) -> None:
        """The first half of `told`, for who asks for the answer later."""
        self._send(tell=key, value=value)

    def answer(self, key: str, what: str | None = None) -> list[Any]:
        """The second half of it."""
        with self.waiting(what or key):
            return self._answer(key)

    def _answer(self, key: str) -> list[Any]:
        with self._news:
            self._news.wait_for(lambda: key in self._answers)
            return self._answers.pop(key)

    def _send(self, **message: Any) -> None:
        # A hub that is gone is found by who listens.
        with self._writing, contextlib.suppress(OSError):
            write(self._connection, **message)

    @contextlib.contextmanager
    def waiting(self, what: str, limit: float | None = None) -> Iterator[None]:
        """Within this context the others are waited for, not longer than the limit of a step."""
        me = threading.get_ident()
        self._waiting[me] = what, self._now() + (self.limit if limit is None else limit)
        try:
            yield
        finally:
            self._waiting.pop(me, None)

    @contextlib.contextmanager
    def exchanging(self) -> Iterator[None]:
        """Within this context numbers travel between the workers."""
        self.exchanges += 1
        with self.waiting(f"exchange {self.exchanges} of numbers"):
            try:
                yield
            except Exception as error:
                # XLA tells of the end of a connection. The hub knows whose.
                self.fail(f"{type(error).__name__}: {error}")
                raise

    # Listening.

    def _listen(self) -> None:
        rest = b""
        due = self._now()
        while True:
            try:
                found = self._connection.recv(65536)
            except TimeoutError:
                found = None
            except OSError:
                found = b""
            if found == b"":
                if 0 in self._done:
                    return
                self._end(0, "its process has ended without a word; see its own output")
            if found:
                self._heard = self._now()
                *lines, rest = (rest + found).split(b"\n")
                for line in lines:
                    self._take(json.loads(line))
            if self._now() > due:
                due = self._now() + self._silence / 6
                self._send(alive=self.exchanges)
            self._look()

    def _take(self, message: dict[str, Any]) -> None:
        if "failed" in message:
            self._end(message["worker"], message["failed"], bool(message.get("stacks")))
        elif "at" in message:
            self._at = message["at"]
        elif "done" in message:
            self._done.add(message["done"])
        elif "notice" in message:
            function = self._notices.get(message["notice"])
            if function is not None:
                function()
        else:
            key = message.get("told", "welcome")
            values = message["values"] if "told" in message else [message["welcome"]]
            with self._news:
                self._answers[key] = values
                self._news.notify_all()

    def _look(self) -> None:
        now = self._now()
        if now - self._heard > self._silence and 0 not in self._done:
            reason = f"it was not heard of for {self._silence:g} s: its process or its machine stands still"
            self._end(0, reason, True)
        waiting = sorted(self._waiting.copy().values(), key=lambda found: found[1])
        if not waiting:
            return
        what, until = waiting[0]
        gone = sorted(self._done - {self.number})
        if gone and now > until - self.limit + _GRACE:
            self.fail(
                f"its program is over, and worker {self.number} waits for it: {what}", gone[0]
            )
        if now > until:
            behind = [i for i, n in enumerate(self._at) if n < self.exchanges and i != self.number]
            who = behind[0] if behind else self.number
            reason = (
                f"worker {self.number} has waited for {self.limit:g} s for {what}. That is the limit "
                f"(TAPEFLOW_STEP_LIMIT), and worker {who} is behind"
                if behind
                else f"it has waited for {self.limit:g} s for {what}. That is the limit "
                "(TAPEFLOW_STEP_LIMIT)"
            )
            self.fail(reason, who, stacks=True)

    # Ending.

    def fail(self, reason: str, worker: int | None = None, stacks: bool = False) -> None:
        """Says that a worker has failed, this one by default, and waits for what the hub says to that."""
        mine = worker is None
        self._failing = self._failing or mine
        worker = self.number if worker is None else worker
        self._send(failed=reason, worker=worker, stacks=stacks)
        if threading.current_thread().name != "tapeflow job":
            with self._news:
                self._news.wait_for(lambda: self._verdict is not None, _GRACE)
        else:
            # Who listens cannot wait. If the hub does not answer, the limit is passed again, in a second.
            self._waiting.clear()
            threading.Timer(_GRACE, lambda: self._end(worker, reason, stacks)).start()

    def _end(self, worker: int, reason: str, stacks: bool = False) -> None:
        with self._news:
            if self._verdict is not None:
                return
            self._verdict = {"worker": worker, "failed": reason}
            self._news.notify_all()
        text = (
            f"tapeflow: worker {worker} of {self.count} failed first: {reason.rstrip('.')}. All workers end; this is "
            f"worker {self.number}.\n"
        )
        _say(text)
        if self._failing and worker == self.number:
            # The main thread says what has happened, and leaves.
            threading.Timer(2 * _GRACE, os._exit, (1,)).start()
            return
        if stacks:
            _say(f"tapeflow: what worker {self.number} was doing:\n")
            faulthandler.dump_traceback(2, all_threads=True)
        leave_at_once(1 if worker == self.number else FOLLOWED)

    def _excepted(self, kind: type[BaseException], error: BaseException, trace: Any) -> None:
        try:
            self._hook(kind, error, trace)
            sys.stderr.flush()
        finally:  # nobody may be reading what it prints any more
            self.fail(f"{kind.__name__}: {error}".split("\n")[0][:500])

    def _leave(self) -> None:
        if self._failing:
            leave_at_once(1)  # jax would wait for the others
        self._send(done=True)


def leave_at_once(status: int) -> None:
    """Ends the process, with what it has printed."""
    flushing = threading.Thread(target=_flush, daemon=True)
    flushing.start()
    flushing.join(1.0)  # somebody may hold the lock of the stream for ever
    os._exit(status)


def _say(text: str) -> None:
    """Writes to the standard error, if somebody reads it: who has started the workers may be the one that died."""
    with contextlib.suppress(OSError):
        os.write(2, text.encode())


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("", 0))
        return found.getsockname()[1]
