"""`tapeflow.progress`: what it shows, where, and what it leaves behind."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest

import tapeflow as tf
from tapeflow._src.tools.progress import duration, length, pace, progress, shown


class Terminal(io.StringIO):
    """A file that says it is one."""

    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def _plain_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


def test_it_gives_the_elements_and_counts_them():
    bar = progress([3, 1, 2], show=False)
    assert list(bar) == [3, 1, 2]
    assert bar.count == 3
    assert len(bar) == 3


def test_it_can_be_gone_through_again():
    bar = progress(range(4), show=False)
    assert [list(bar), list(bar)] == [[0, 1, 2, 3]] * 2
    assert bar.count == 4


class Dataset:
    def __init__(self, cardinality):
        self._cardinality = cardinality

    def cardinality(self):
        return tf.constant(self._cardinality, tf.int64)

    def __iter__(self):
        return iter(range(5))


def test_lengths():
    assert length(range(7)) == 7
    assert length(Dataset(5)) == 5
    assert length(Dataset(-1)) is None  # infinite
    assert length(Dataset(-2)) is None  # unknown
    assert length(iter([1])) is None
    assert progress(iter([1, 2]), total=2, show=False).total == 2
    with pytest.raises(TypeError, match="not known"):
        len(progress(iter([1])))


def test_an_unknown_length_is_known_after_the_first_time():
    bar = progress(Dataset(-2), show=False)
    list(bar)
    assert bar.total == 5


def test_a_loop_that_was_left_does_not_tell_the_length():
    bar = progress(Dataset(-2), show=False)
    for _ in bar:
        break
    assert bar.total is None


def test_values_are_shown_in_few_characters():
    assert shown(0.123456) == "0.1235"
    assert shown(1234567.0) == "1.235e+06"
    assert shown(float("nan")) == "nan"
    assert shown(float("inf")) == "inf"
    assert shown(tf.constant(0.5)) == "0.5"
    assert shown(tf.Variable(3)) == "3"
    assert shown(tf.constant([0.25, 0.5])) == "[0.25 0.5 ]"
    assert shown(tf.constant("text")) == "text"
    assert shown("[bold]") == "[bold]"

    class Metric:
        def result(self):
            return tf.constant(0.75)

    assert shown(Metric()) == "0.75"


def test_times_and_rates():
    assert duration(0) == "0.0 s"
    assert duration(59.4) == "59 s"
    assert duration(59.7) == "1:00"
    assert duration(7325) == "2:02:05"
    assert pace(0.001) == "16:40 each"


def test_tensors_without_a_value_are_refused():
    bar = progress(range(1), show=False)

    @tf.function
    def f(x):
        bar.log(loss=x)

    with pytest.raises(TypeError, match=r"loss is a tensor inside of tf\.function"):
        f(tf.constant(1.0))


def test_without_a_terminal_there_is_one_line_at_the_end():
    file = io.StringIO()
    epochs = progress(range(2), "epochs", file=file)
    for _ in epochs:
        batches = progress(range(3), "batches", file=file)
        for _ in batches:
            batches.log(loss=1.0)
        epochs.log(loss=0.5)
    text = file.getvalue()
    assert text.count("\n") == 1
    assert text.startswith("epochs 2/2, loss 0.5 in ")
    assert "\x1b" not in text


def test_a_loop_that_stops_early_says_so():
    file = io.StringIO()
    for i in progress(range(10), "steps", file=file):
        if i == 3:
            break
    assert file.getvalue().startswith("steps 3/10 in ")
    assert file.getvalue().endswith(", stopped\n")
    for _ in progress(range(1), "next", file=file):
        pass
    assert "next 1/1" in file.getvalue()


def test_show_false_prints_nothing(capsys):
    bar = progress(range(2), show=False)
    for _ in bar:
        bar.log(loss=1.0)
        bar.write("not shown either")
    assert capsys.readouterr() == ("", "")


def test_a_terminal_gets_a_bar():
    file = Terminal()
    bar = progress(range(3), "training", file=file)
    for step in bar:
        bar.log(loss=tf.constant(0.25) * step, name="[bold]")
    text = file.getvalue()
    assert "training" in text and "3/3" in text and "━" in text
    assert "loss" in text and "0.5" in text and "[bold]" in text
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 1  # the cursor comes back


def test_a_terminal_gets_a_count_where_the_length_is_unknown():
    file = Terminal()
    bar = progress(iter(range(4)), "reading", file=file)
    for i in bar:
        if i == 2:
            break
    last = file.getvalue().rpartition("reading")[2]
    assert "2" in last and "/4" not in last and "━" not in last


def test_inner_bars_are_gone_in_the_end():
    file = Terminal()
    for epoch in progress(range(2), "epochs", file=file):
        for _ in progress(range(2), f"batches of {epoch}", file=file):
            pass
    last = file.getvalue().rpartition("\x1b[2K")[2]
    assert "epochs" in last and "2/2" in last and "batches" not in last
    assert file.getvalue().count("\x1b[?25l") == 1  # one block for both


def test_lines_are_written_above_the_bar():
    file = Terminal()
    bar = progress(range(2), "steps", file=file)
    for _ in bar:
        bar.write("saved", "[x]")
    assert "saved [x]" in file.getvalue()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_exception_leaves_the_terminal_as_it_was(error):
    file = Terminal()
    with pytest.raises(error):
        for _ in progress(range(2), "outer", file=file):
            for _ in progress(range(2), "inner", file=file):
                raise error
    assert file.getvalue().count("\x1b[?25h") == 1
    after = Terminal()
    list(progress(range(1), "again", file=after))
    assert "again" in after.getvalue()


def test_a_metric_is_asked_only_in_the_thread_of_the_loop():
    import threading

    threads = set()

    class Metric:
        def result(self):
            threads.add(threading.current_thread())
            return 0.125

    file = Terminal()
    bar = progress(range(3), file=file)
    for _ in bar:
        bar.log(accuracy=Metric())
    assert threads == {threading.current_thread()}
    assert "0.125" in file.getvalue()


def test_rich_is_not_loaded_where_nothing_is_drawn():
    code = (
        "import sys, io; from tapeflow import progress; list(progress(range(2)));"
        "assert not any(name.partition('.')[0] == 'rich' for name in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("2/2 in ")
