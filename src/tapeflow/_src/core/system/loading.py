"""Importing what is large in a way that an interruption cannot leave half done.

Python raises KeyboardInterrupt in the main thread. A library that was being imported there is then left with some of
its modules and without others, and may never work again in this process. So large libraries are imported by a thread of
their own, and the main thread waits for it: an interruption ends the waiting, and not the import.
"""

from __future__ import annotations

import atexit
import importlib
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from types import ModuleType

_loaders: dict[str, _Loader] = {}

_LOOKS_AGAIN = 1.0  # seconds


class _Loader:
    """Imports a module.

    A signal handler may ask for the same module, in the thread that is asking already, between any two of these
    instructions. So nothing is done here while a lock is held.

    Args:
      name: of the module.
      then: what must be done once before it can be used.
    """

    def __init__(self, name: str, then: Callable[[ModuleType], object] | None) -> None:
        self._name = name
        self._then = then
        self._work_to_do = iter((self._work,))  # taken by one
        self._threads: list[int] = []
        self._ended = False
        self._ending = allocate_lock()  # held until it has ended
        self._ending.acquire()
        self.found: ModuleType | None = None
        self.error: BaseException | None = None

    def _work(self) -> None:
        try:
            found = importlib.import_module(self._name)
            if self._then is not None:
                self._then(found)
            self.found = found
        except BaseException as error:  # told to whoever waits
            self.error = error
        finally:
            self._end()

    def _end(self) -> None:
        self._ended = True
        self._ending.release()

    def wait(self) -> None:
        """Waits until the module is there, or cannot be."""
        try:
            # In one instruction, so that an interruption finds it begun or not, and nobody else begins it, too.
            self._threads.extend(map(start_new_thread, self._work_to_do, ((),)))
        except RuntimeError as error:  # there can be no more threads
            self.error = error
            self._end()
        if not self._ended:
            atexit.register(self._until_ended)  # a process must not end in the middle of it
            self._until_ended()
        atexit.unregister(self._until_ended)

    def _until_ended(self) -> None:
        while not self._ended:
            # Whoever is interrupted here may keep the lock, so others look again.
            if self._ending.acquire(timeout=_LOOKS_AGAIN):
                self._ending.release()


def loaded(name: str, then: Callable[[ModuleType], object] | None = None) -> ModuleType:
    """A module, imported whole. `then` is called with it the first time."""
    loader = _loaders.get(name)
    if loader is None:
        loader = _loaders.setdefault(name, _Loader(name, then))  # two threads get the same one
    if loader.found is None:
        loader.wait()
        if loader.error is not None:
            _loaders.pop(name, None)  # the next attempt may find what is missing now
            raise loader.error
    assert loader.found is not None
    return loader.found
