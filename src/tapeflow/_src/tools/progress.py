"""`tapeflow.progress`: a bar for training loops, with rate, time left and the last logged values.

rich draws it, and is loaded only where there is a terminal to draw on.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from tapeflow._src.core.export import export

T = TypeVar("T")


@export("progress")
class progress(Generic[T]):
    """Goes through a dataset, or anything else, and shows how far it has come.

    >>> bar = tf.progress(range(3), "training", show=False)
    >>> for step in bar:
    ...     bar.log(loss=tf.constant(1.0) / (step + 1.0))
    >>> print(bar)
    training 3/3, loss 0.3333

    In a terminal or a notebook this is a bar, with how many are done in a second, the time left, and the values
    that were last logged. Bars may be inside of each other, for epochs and batches; an inner one goes when it is done.
    Where there is no terminal (a log file, a test, a job on a server), an outermost bar prints one line when it ends.

    Args:
      iterable: what to go through. A dataset may not know how long it is: then there is no time left to show at first,
        and the second time the length is that of the first.
      description: a text in front of the bar.
      total: how many there are, where `iterable` cannot tell.
      show: `True` or `False` to draw a bar, or nothing at all; by default this depends on where the output goes.
      keep: whether the bar stays when it is done; by default the outermost does.
      file: where to draw, by default `sys.stderr`.
    """

    def __init__(
        self,
        iterable: Iterable[T],
        description: str = "",
        total: int | None = None,
        *,
        show: bool | None = None,
        keep: bool | None = None,
        file: Any = None,
    ) -> None:
        self._iterable = iterable
        self.description = description
        self.total = length(iterable) if total is None else int(total)
        self.count = 0
        self.values: dict[str, Any] = {}
        self._show = show
        self._keep = keep
        self._file = file
        self._began = self._ended = 0.0
        self._view: _View = _View(self)

    def log(self, **values: Any) -> None:
        """Takes note of values to show: numbers, texts, scalar tensors, or metrics with a `result()`.

        They are looked at only when the bar is drawn, a few times each second, so logging every step costs nothing.
        """
        for name, value in values.items():
            if getattr(value, "interpreter", None) is not None:
                raise TypeError(
                    f"progress.log: {name} is a tensor inside of tf.function, and has no value yet. Return it from the "
                    "function, and log it outside."
                )
        self.values.update(values)
        self._view.changed()

    def write(self, *values: Any, sep: str = " ") -> None:
        """Prints a line above the bar, which `print` would disturb."""
        self._view.line(sep.join(map(str, values)))

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return (self._ended or time.monotonic()) - self._began if self._began else 0.0

    def __len__(self) -> int:
        if self.total is None:
            raise TypeError(f"the length of {type(self._iterable).__name__} is not known")
        return self.total

    def __iter__(self) -> Iterator[T]:
        self.count = 0
        self._began, self._ended = time.monotonic(), 0.0
        self._view = view = _view(self)
        finished = False
        try:
            for element in self._iterable:
                yield element
                self.count += 1
                view.changed()
            finished = True
            if self.total is None:
                self.total = self.count
        finally:  # also after a `break`, or an exception
            self._ended = time.monotonic()
            view.end(finished)

    def __str__(self) -> str:
        done = str(self.count) if self.total is None else f"{self.count}/{self.total}"
        head = f"{self.description} {done}".strip()
        return ", ".join([head, *(f"{name} {text}" for name, text in self.texts())])

    def texts(self) -> list[tuple[str, str]]:
        """The logged values, as they are shown."""
        return [(name, shown(value)) for name, value in dict(self.values).items()]


def length(iterable: Any) -> int | None:
    """How many elements there are, if it can be told without going through them."""
    cardinality = getattr(iterable, "cardinality", None)
    if cardinality is not None:
        count = int(cardinality())
        return count if count >= 0 else None  # infinite, or unknown
    try:
        return len(iterable)
    except TypeError:
        return None


def shown(value: Any) -> str:
    """A value in few characters.

    >>> shown(0.123456), shown(tf.constant(2.0)), shown(3), shown("warm")
    ('0.1235', '2.0', '3', 'warm')
    """
    if has_result(value):
        value = value.result()
    if hasattr(value, "numpy") or hasattr(value, "__array__"):
        import numpy as np

        array = np.asarray(value)
        value = array.item() if array.size == 1 else array
        if isinstance(value, np.ndarray):
            return np.array2string(value, precision=3, threshold=4, edgeitems=2).replace("\n", "")
    if isinstance(value, float):
        return f"{value:.4g}" if value != int_or_none(value) else str(value)
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def has_result(value: Any) -> bool:
    """Whether it is a metric."""
    return callable(getattr(value, "result", None))


def int_or_none(value: float) -> int | None:
    """The integer that a small number is equal to."""
    return int(value) if abs(value) < 1e4 and value == int(value) else None


# Where it is shown.


class _View:
    """Shows nothing, and prints lines as they are."""

    def __init__(self, bar: progress[Any]) -> None:
        self.bar = bar

    def changed(self) -> None:
        """The count or the values are others now."""

    def line(self, text: str) -> None:
        """Prints a line."""
        if self.bar._show is not False:
            print(text, file=self.bar._file or sys.stderr)

    def end(self, finished: bool) -> None:
        """The loop has ended: to its end, or before."""


class _Line(_View):
    """Prints one line at the end."""

    def end(self, finished: bool) -> None:
        """Prints how far it came, and how long that took."""
        took = f" in {duration(self.bar.seconds)}"
        stopped = "" if finished else ", stopped"
        print(f"{self.bar}{took}{stopped}", file=self.bar._file or sys.stderr, flush=True)


class _Live(_View):
    """A bar in a terminal, drawn by rich. All bars of the program are in one block.

    A thread of rich's draws, and looks at the bar when it does. What may compute, the result of a metric, is asked
    for in the thread of the loop.
    """

    def __init__(self, bar: progress[Any], screen: Any) -> None:
        super().__init__(bar)
        self._screen = screen
        self._inner = bool(screen.tasks)
        self._results: dict[str, str] = {}
        self._asked = 0.0
        self._task = screen.add_task("", total=bar.total, view=self)

    def changed(self) -> None:
        """Asks metrics for their results, a few times each second."""
        now = time.monotonic()
        if now - self._asked > 0.1:
            self._ask(now)

    def _ask(self, now: float) -> None:
        self._asked = now
        for name, value in self.bar.values.items():
            if has_result(value):
                self._results[name] = shown(value)

    def texts(self) -> list[tuple[str, str]]:
        """The logged values, for the thread that draws."""
        found: list[tuple[str, str]] = []
        for name, value in dict(self.bar.values).items():
            try:
                text = self._results.get(name, "") if has_result(value) else shown(value)
            except Exception as error:  # it must not end the thread
                text = type(error).__name__
            found.append((name, text))
        return found

    def line(self, text: str) -> None:
        """Prints a line above the bars."""
        self._screen.console.print(text, markup=False, highlight=False)

    def end(self, finished: bool) -> None:
        """Leaves the bar as it is, or removes it, and gives the terminal back after the last one."""
        self._ask(time.monotonic())
        self._screen.update(self._task, completed=self.bar.count, total=self.bar.total)
        self._screen.stop_task(self._task)
        keep = not self._inner if self.bar._keep is None else self.bar._keep
        if not keep:
            self._screen.remove_task(self._task)
        _leave(self._screen)


_lock = threading.Lock()
_screen: Any = None  # what is drawing now
_open = 0  # how many bars are in it


def _view(bar: progress[Any]) -> _View:
    global _screen, _open
    if bar._show is False:
        return _View(bar)
    with _lock:
        if _screen is not None:
            _open += 1
            return _Live(bar, _screen)
        screen = _new_screen(bar)
        if screen is None:
            return _quiet(bar)
        _screen, _open = screen, 1
        screen.start()
    return _Live(bar, screen)


_lines = threading.local()


def _quiet(bar: progress[Any]) -> _View:
    """One line from the outermost bar, and nothing from those inside of it."""
    if getattr(_lines, "depth", 0):
        return _View(bar)
    _lines.depth = 1

    class Outermost(_Line):
        def end(self, finished: bool) -> None:
            _lines.depth = 0
            super().end(finished)

    return Outermost(bar)


def _leave(screen: Any) -> None:
    global _screen, _open
    with _lock:
        _open -= 1
        if _open == 0:
            _screen = None
            screen.stop()


def _new_screen(bar: progress[Any]) -> Any:
    """What draws bars, or None where nothing can be drawn."""
    file = bar._file or sys.stderr
    notebook = "ipykernel" in sys.modules
    if bar._show is None and not notebook and not _is_terminal(file):
        return None
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        if bar._show:
            raise ImportError("tapeflow.progress draws with rich: pip install rich") from None
        return None
    console = Console(
        file=bar._file,
        stderr=True,
        force_terminal=True if bar._show and not notebook else None,
    )
    if bar._show is None and not console.is_jupyter and not console.is_terminal:
        return None
    return Progress(*_columns(24 if console.width >= 100 else 12), console=console)


def _is_terminal(file: Any) -> bool:
    isatty: Callable[[], bool] | None = getattr(file, "isatty", None)
    return isatty is not None and isatty()


def _columns(width: int) -> list[Any]:
    from rich.progress import ProgressColumn
    from rich.progress_bar import ProgressBar
    from rich.spinner import Spinner
    from rich.table import Column
    from rich.text import Text

    class Part(ProgressColumn):
        def __init__(self, draw: Callable[[_Live, Any], Any], shrinks: bool = False) -> None:
            # In a narrow terminal rich takes room from columns that may wrap.
            super().__init__(Column(no_wrap=not shrinks))
            self._draw = draw

        def render(self, task: Any) -> Any:
            return self._draw(task.fields["view"], task)

    spinner = Spinner("dots", style="cyan")

    def line(view: _Live, task: Any) -> Any:
        bar = view.bar
        if bar.total is None:
            return Text("") if bar._ended else spinner.render(task.get_time())
        return ProgressBar(
            total=max(bar.total, 1),
            completed=bar.count if bar.total else 1,
            width=width,
            style="bright_black",
            complete_style="cyan",
            finished_style="green",
        )

    def count(view: _Live, task: Any) -> Text:
        total = "" if view.bar.total is None else f"/{view.bar.total}"
        return Text(f"{view.bar.count}{total}")

    def values(view: _Live, task: Any) -> Text:
        pieces = [piece for name, text in view.texts() for piece in ((f" {name} ", "dim"), text)]
        return Text.assemble(*pieces, no_wrap=True, overflow="ellipsis")

    return [
        Part(lambda view, task: Text(view.bar.description)),
        Part(line, shrinks=True),
        Part(count),
        Part(lambda view, task: Text(speed(view.bar), style="cyan")),
        Part(values, shrinks=True),
    ]


def speed(bar: progress[Any]) -> str:
    """How fast it goes, and how long it takes: what is left, or what it took."""
    seconds = bar.seconds
    rate = bar.count / seconds if bar.count and seconds else 0.0
    parts = [pace(rate)] if rate else []
    if bar._ended or bar.total is None or not rate:
        parts.append(duration(seconds))
    else:
        parts.append(f"{duration(max(bar.total - bar.count, 0) / rate)} left")
    return ", ".join(parts)


def pace(rate: float) -> str:
    """How many in a second, or how long one takes.

    >>> pace(1234.5), pace(12.34), pace(0.25)
    ('1,234/s', '12.3/s', '4.0 s each')
    """
    if rate >= 1:
        return f"{rate:,.0f}/s" if rate >= 100 else f"{rate:.1f}/s"
    return f"{1 / rate:.1f} s each" if rate * 600 > 1 else f"{duration(1 / rate)} each"


def duration(seconds: float) -> str:
    """A time in words.

    >>> duration(0.26), duration(27.3), duration(75), duration(3700)
    ('0.3 s', '27 s', '1:15', '1:01:40')
    """
    if seconds < 59.5:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
