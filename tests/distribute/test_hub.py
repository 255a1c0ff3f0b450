"""Where workers meet: who has come, what they tell each other, and who has failed first."""

from __future__ import annotations

import json
import socket
import threading
from types import SimpleNamespace

import pytest

from tapeflow._src.distribute import limits
from tapeflow._src.distribute.hub import Hub, write


class Guest:
    """A worker, as the hub sees it."""

    def __init__(self, port, number=None):
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.lines = self.connection.makefile()
        if number is not None:
            self.send(hello=number)

    def send(self, **message):
        write(self.connection, **message)

    def hear(self, key):
        """The next message of a kind."""
        while True:
            message = json.loads(self.lines.readline())
            if key in message:
                return message

    def leave(self):
        # The file has the connection open, too.
        self.lines.close()
        self.connection.close()


@pytest.fixture
def port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.fixture
def pair(port):
    Hub("127.0.0.1", port, 2, {"port": 7})
    guests = [Guest(port, 0), Guest(port, 1)]
    assert [g.hear("welcome")["welcome"] for g in guests] == [{"port": 7}] * 2
    yield guests
    for guest in guests:
        guest.leave()


def test_what_all_have_told(pair):
    first, second = pair
    second.send(tell="a", value=[2])
    second.send(tell="b", value="x")
    first.send(tell="b", value="y")
    first.send(tell="a", value=[1])
    for guest in pair:
        found = [guest.hear("told") for _ in range(2)]
        assert {m["told"]: m["values"] for m in found} == {"a": [[1], [2]], "b": ["y", "x"]}


def test_who_leaves_without_a_word_has_failed(pair):
    first, second = pair
    second.leave()
    told = first.hear("failed")
    assert told["worker"] == 1 and "without a word" in told["failed"]


def test_the_first_failure_counts(pair):
    first, second = pair
    second.send(failed="ValueError: no")
    assert second.hear("failed")["worker"] == 1
    first.send(failed="the others are gone")
    first.send(tell="later", value=0)
    second.send(tell="later", value=0)
    assert first.hear("failed")["failed"] == "ValueError: no"
    message = json.loads(first.lines.readline())
    while "at" in message:
        message = json.loads(first.lines.readline())
    assert "told" in message  # and no second failure


def test_who_is_done_may_leave(pair):
    first, second = pair
    second.send(done=True)
    assert first.hear("done")["done"] == 1
    second.leave()
    first.send(notice="still here")
    assert first.hear("notice")["notice"] == "still here"


def test_strangers_change_nothing(pair, port):
    first, second = pair
    for words in (b"GET / HTTP/1.1\r\n\r\n", b"3\n", b'{"hello": 9}\n', b'{"failed": "ha"}\n', b""):
        stranger = Guest(port)
        stranger.connection.sendall(words)
        stranger.leave()
    twice = Guest(port, 1)
    assert twice.hear("failed")["failed"] == "there is a worker 1 already"
    twice.leave()
    for guest in pair:
        guest.send(tell="a", value=1)
    assert first.hear("told")["values"] == second.hear("told")["values"] == [1, 1]


@pytest.fixture(autouse=True)
def no_hub_is_left():
    yield
    for thread in threading.enumerate():
        if thread.name == "tapeflow hub":
            thread.join(60)
            assert not thread.is_alive()


def test_who_is_silent_has_failed(port, monkeypatch):
    monkeypatch.setenv("TAPEFLOW_HEARTBEAT", "0.5")
    Hub("127.0.0.1", port, 2, {})
    first, second = Guest(port, 0), Guest(port, 1)
    second.hear("welcome")
    while True:
        first.send(alive=3)
        message = json.loads(first.lines.readline())
        if "failed" in message:
            break
    assert message["worker"] == 1 and "was not heard of for 0.5 s" in message["failed"]
    assert message["stacks"]
    first.leave()
    second.leave()


def test_who_does_not_come_has_failed(port, monkeypatch):
    monkeypatch.setenv("TAPEFLOW_START_LIMIT", "0.5")
    Hub("127.0.0.1", port, 3, {})
    guests = [Guest(port, 0), Guest(port, 2)]
    for guest in guests:
        told = guest.hear("failed")
        assert told["worker"] == 1 and "did not come within 0.5 s" in told["failed"]
        guest.leave()


@pytest.mark.parametrize("text", ["soon", "-1", "0", "nan"])
def test_limits_are_numbers_of_seconds(monkeypatch, text):
    monkeypatch.setenv("TAPEFLOW_STEP_LIMIT", text)
    with pytest.raises(ValueError, match=r"TAPEFLOW_STEP_LIMIT must be a number of seconds"):
        limits.step()
    assert limits.heartbeat() == 30.0


def test_a_watch_stands_still_with_its_process(monkeypatch):
    seconds = iter([100.0, 101.0, 102.5, 1002.5, 1003.0])
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    watch = limits.Watch(2.0)
    began = watch()
    # 900 s in which nobody looked count as 2.
    assert [watch() - began for _ in range(3)] == [1.5, 3.5, 4.0]
