"""States: which one comes next.

A state is what a draw is a function of: see `philox`. Stateless ops make theirs of a seed. Stateful ops take the next
one of a *stream*, by TensorFlow's rules. A stream begins at two seeds, that of the program and that of the op.
Outside of functions, calls with the same op seed go on in one stream; without one, each call begins a stream of its
own, if the program has a seed. In a function each op that was traced has a stream of its own, which goes on at each
call of the function; its seed, if it was not given one, is how many such ops were traced before it. Every stream
begins again at `set_seed`. Who calls a function again and again from its beginning, as each iteration over a dataset
does, may ask for streams that are its own (`apart`).
"""

from __future__ import annotations

import itertools
import math
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.context import context
from tapeflow._src.core.errors import shown
from tapeflow._src.core.scopes import setting
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.random.philox import WORD, array_of, scrambled
from tapeflow._src.primitives.rules import INT, check_dtype, invalid
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import TABLE, primitive

Seeds = tuple[int, int]

_NO_GLOBAL_SEED = 87654321  # stands for the global seed where only the op has one
_SEEDS = 2**31 - 1  # how many there are
_ALONE = -1  # the place of an op whose stream nobody goes on with

PER_NUMBER = 256
"""How many blocks are set aside for each number, most of which are never used: draws may be rejected."""

STATE = ArraySpec((3,), dtypes.uint64)


class _Replay(threading.local):
    """What a thread notes of the states it takes, and which it is to take again."""

    noted: list[Tensor] | None = None
    states: Iterator[Tensor] | None = None


class _Noted(setting):
    def __enter__(self) -> list[Tensor]:
        super().__enter__()
        return self._values["noted"]

    def _leave(self, *exception: Any) -> None:
        super()._leave()
        if self._before["noted"] is not None:  # who notes outside wants them, too
            self._before["noted"].extend(self._values["noted"])


class _Here(threading.local):
    """Where a thread draws, if not from the streams of the program."""

    used: dict[Any, int] | None = None
    places: Iterator[Any] | None = None
    untraced: _Traced | None = None


class Places:
    """Gives places to ops: the same ones whenever the function is traced, or run as Python, that `function` names."""

    def __init__(self, function: Any) -> None:
        self.given = 0
        self._function = function

    def __iter__(self) -> Places:
        return self

    def __next__(self) -> Any:
        self.given += 1
        return self._function, self.given


class _Traced:
    """What a trace has of seeds: that of the program when it began to draw, and how many ops needed one."""

    def __init__(self, seed: int | None) -> None:
        self.seed = seed
        self.ops = 0


class Streams:
    """Hands out states."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal handler may draw numbers, too
        self._replay = _Replay()
        self._here = _Here()
        self._traces: Any = weakref.WeakKeyDictionary()
        self.places = itertools.count(1)  # of ops in functions
        self.set_seed(None)

    def set_seed(self, seed: Any) -> None:
        """Sets the global seed, and begins all streams again."""
        generator = None
        if seed is not None:
            import random  # loads OpenSSL, and not every program has a seed

            seed = seed_word(seed)
            generator = random.Random(seed)
        with self._lock:
            self._global = seed
            self._op_seeds: Any = generator
            self._entropy = int.from_bytes(os.urandom(8), "little")
            self._unseeded = 0
            self._used: dict[Any, int] = {}

    @property
    def global_seed(self) -> int | None:
        """What `set_seed` was given last."""
        return self._global

    def seeds(self, seed: int | None) -> Seeds | None:
        """The two seeds of an op that was given `seed`; None where nothing decides what it draws."""
        return self._found(seed)[0]

    def _found(self, seed: int | None) -> tuple[Seeds | None, Any]:
        """The seeds, and the place of a stream outside of functions."""
        tracer = context.tracer
        with self._lock:
            untraced = self._here.untraced
            traced = untraced if tracer is None else self._traces.get(tracer)
            if tracer is not None and traced is None:
                seed_now = self._global if untraced is None else untraced.seed
                traced = self._traces[tracer] = _Traced(seed_now)
            program = self._global if traced is None else traced.seed
            place = 0 if untraced is None else next(self.place())
            if program is None:
                return (None if seed is None else (_NO_GLOBAL_SEED, seed % _SEEDS)), place
            if seed is None:
                seed = self._own_seed(traced)
                place = _ALONE if traced is None else place
        pair = program % _SEEDS, seed % _SEEDS
        return (pair if pair != (0, 0) else (0, _SEEDS)), place

    def _own_seed(self, traced: _Traced | None) -> int:
        """The seed of an op that was not given one, in a program that has a seed."""
        if traced is None:
            return self._op_seeds.randint(0, _SEEDS)
        traced.ops += 1
        return traced.ops - 1

    def next(self, op: str, seed: int | None, blocks: tuple[int, ...]) -> Tensor:
        """The next state for an op that was given `seed`, and draws no more blocks than the product says."""
        if self._replay.states is not None:
            return next(self._replay.states)
        pair, place = self._found(seed)
        state = taken(op=op, seeds=pair, place=place, blocks=blocks)
        if self._replay.noted is not None:
            self._replay.noted.append(state)
        return state

    def place(self) -> Iterator[Any]:
        """Gives the places of ops in functions."""
        return self._here.places or self.places

    def apart(self, used: dict[Any, int]) -> setting:
        """Within the context this thread goes on with the streams in `used`, at first empty, and not with others."""
        return setting(self._here, used=used)

    def placed(self, places: Places) -> setting:
        """Within the context the ops that this thread traces get these places."""
        return setting(self._here, places=places)

    def as_if_traced(self, places: Places, seed: int | None) -> setting:
        """Within the context ops of this thread have the seeds and places that they would have in a trace.

        Args:
          places: those of the function.
          seed: that of the program.
        """
        return setting(self._here, places=places, untraced=_Traced(seed))

    def noted(self) -> _Noted:
        """Notes the states this thread takes within the context, for `replayed`."""
        return _Noted(self._replay, noted=[])

    def replayed(self, states: list[Tensor]) -> setting:
        """Within the context this thread takes these states again, in the same order."""
        return setting(self._replay, states=iter(states))

    def fresh(
        self, op: str, seeds: Seeds | None, place: Any, blocks: tuple[int, ...]
    ) -> np.ndarray:
        """The next state of a stream."""
        count = math.prod(blocks)
        if seeds is None:
            with self._lock:
                counter, self._unseeded = self._unseeded, self._unseeded + count
                return array_of(counter, self._entropy)
        counter = 0
        if place != _ALONE:
            with self._lock:
                used = self._used if self._here.used is None else self._here.used
                counter = used.get((op, seeds, place), 0)
                used[op, seeds, place] = counter + count
        return array_of(counter + (seeds[1] << 64), seeds[0])


def seed_word(seed: Any) -> int:
    """Any seed as an integer: integers as they are, other things by a digest of their repr."""
    if hasattr(seed, "__index__"):
        return seed.__index__()
    import hashlib  # brings OpenSSL with it, and few programs seed with anything but an int

    text = shown(seed, most=10**9).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


streams = Streams()


def in_same_places(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, to be traced: its ops go on in their streams in whichever of its traces they are."""
    place = next(streams.place())

    @wraps(function)
    def placed(*args: Any) -> Any:
        with streams.placed(Places(place)):
            return function(*args)

    return placed


# Rows. The first is not a pure function: every run of it gives another state. An engine must not fold it.
_row = primitive(
    "random_next_state",
    "",
    lambda *, op, seeds, place, blocks: streams.fresh(op, seeds, place, blocks),
    result=lambda *, op, seeds, place, blocks: STATE,
)


def taken(*, op: str, seeds: Seeds | None, place: Any, blocks: tuple[int, ...]) -> Tensor:
    """Every op of a function has a place of its own, those of functions that are copied into another one too."""
    if context.tracer is not None:
        place = next(streams.place())
    return _row(op=op, seeds=seeds, place=place, blocks=blocks)


TABLE["random_next_state"].call = taken
next_state = streams.next


def _state_result(seed: ArraySpec) -> ArraySpec:
    if seed.shape != (2,):
        raise invalid(f"stateless random: seed must have shape [2], not {list(seed.shape)}")
    check_dtype("stateless random", "seed", seed, INT)
    return STATE


def _stateless_kernel(seed: Any) -> Any:
    if seed.shape != (2,) or seed.dtype.kind not in "iu":
        raise ValueError("the seed does not fit")
    return array_of(*scrambled(*seed.tolist()))


stateless = primitive("random_stateless", "seed", _stateless_kernel, result=_state_result)

# The state of a `tf.random.Generator`: counters, then the key, as signed words. ThreeFry's has one counter.


def _words(state: Any) -> list[int]:
    if state.shape not in ((2,), (3,)) or state.dtype != np.int64:
        raise ValueError("not a state")
    return [int(w) % WORD for w in state]


def _generator_kernel(state: Any) -> Any:
    *counters, key = _words(state)
    return np.array([*counters, *[0] * (2 - len(counters)), key], np.uint64)


def _skip_kernel(state: Any, delta: Any) -> Any:
    *counters, key = _words(state)
    carry = int(delta)
    moved = []
    for word in counters:
        carry, word = divmod(word + carry, WORD)
        moved.append(word)
    return np.array([*moved, key], np.uint64).view(np.int64)


def _check_state(state: ArraySpec) -> None:
    if state.shape not in ((2,), (3,)) or state.dtype is not dtypes.int64:
        raise invalid(
            f"random_generator: a state has dtype int64 and shape [2] or [3], got {state}"
        )


def _generator_result(state: ArraySpec) -> ArraySpec:
    _check_state(state)
    return STATE


def _skip_result(state: ArraySpec, delta: ArraySpec) -> ArraySpec:
    _check_state(state)
    return state


generator_state = primitive(
    "random_generator_state", "state", _generator_kernel, result=_generator_result
)
generator_skip = primitive(
    "random_generator_skip", "state delta", _skip_kernel, result=_skip_result
)
