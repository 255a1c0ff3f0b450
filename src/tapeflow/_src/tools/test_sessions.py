"""What `self.session()` of `tf.test.TestCase` gives: tests of TensorFlow 1's time still open one around their ops."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from tapeflow._src.tools.test_assertions import Assertions


class EagerSession:
    """In the place of a session: ops have run already, and `run` gives the values of their results.

    Args:
      evaluate: gives the values of a structure of tensors.
    """

    def __init__(self, evaluate: Callable[[Any], Any]) -> None:
        self._evaluate = evaluate

    def run(self, fetches: Any, feed_dict: Any = None, **kwargs: Any) -> Any:
        """The values of tensors, or of what functions give."""
        if feed_dict:
            raise RuntimeError("There are no placeholders to feed: call a function with tensors.")
        return self._evaluate(fetches() if callable(fetches) else fetches)

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"self.session() has no {name!r}: ops run at once, and there is no session. Use self.evaluate(tensors)."
        )


class WithSessions(Assertions):
    """A test case whose tests may open a session."""

    def evaluate(self, tensors: Any) -> Any:
        """The tensors of a structure as NumPy arrays."""
        raise NotImplementedError

    @contextlib.contextmanager
    def session(
        self, graph: Any = None, config: Any = None, use_gpu: bool = True, force_gpu: bool = False
    ) -> Iterator[EagerSession]:
        """A scope that changes nothing. Its `run` is `self.evaluate`."""
        yield EagerSession(self.evaluate)

    cached_session = session
