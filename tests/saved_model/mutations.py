"""Saved models with something done to them that a stranger, or a disk, might do. Used by test_damage.py.

python -m tests.saved_model.mutations 20000     tries as many, and tells what came of them
"""

from __future__ import annotations

import collections
import copy
import json
import os
import random
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tapeflow as tf
import tapeflow.saved_model
from tapeflow._src.core import nest
from tapeflow._src.primitives.all_rows import TABLE
from tapeflow._src.saved_model.functions import LoadedFunction
from tapeflow._src.saved_model.saving import FILE
from tapeflow._src.train import tensor_file

MARK = "tapeflow_was_made_to_run_this"
CODE = f"__import__('sys').modules.setdefault('{MARK}', 1)"
"""Code that leaves a mark when it runs."""

CODES = [
    CODE,
    f"a={CODE}, b",
    f"x)+{CODE}+(x",
    f"x: {CODE}",
    f"'+{CODE}+'",
    f'"+{CODE}+"',
    f"x\n    {CODE}\n#",
    f"\0{CODE}",
    f"{{{CODE}}}",
    f"lambda: {CODE}",
]

DOCUMENTED = (tf.errors.OpError, ValueError, TypeError, MemoryError)
"""What a loaded function may raise for arguments it does not take, or that its ops do not."""


def read(folder: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the description of a saved model."""
    file = tensor_file.opened(os.path.join(folder, FILE))
    arrays = {name: file.read(name) for name in file.entries}
    return arrays, json.loads(file.texts["saved_model"])


def write(folder: Any, arrays: dict[str, np.ndarray], description: Any) -> None:
    """Writes them, with checksums that are right."""
    text = {"saved_model": json.dumps(description)}
    tensor_file.write(os.path.join(folder, FILE), arrays, text)


def changed(folder: Any, change: Callable[[Any], None]) -> None:
    """Changes the description of a saved model in place."""
    arrays, description = read(folder)
    change(description)
    write(folder, arrays, description)


# Changes at random.


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    """All places in a description: a container, and a key or position in it."""
    waiting = [data]
    while waiting:
        whole = waiting.pop()
        items = whole.items() if isinstance(whole, dict) else enumerate(whole)
        for key, value in list(items):
            yield whole, key
            if isinstance(value, (dict, list)):
                waiting.append(value)


_SIZES = [-(2**63), -2, -1, 0, 1, 2, 3, 7, 64, 1000, 2**40, 2**63, 2**70, 10**400]
# None of them is a size of which a machine could have the memory, and be busy with it.
_WORDS = [
    "",
    "x",
    "__class__",
    "__call__",
    "_expecting",
    "float32",
    "string",
    "int64",
    "size",
    "graph",
    "tuple",
]


def _value(rng: random.Random) -> Any:
    size = [[rng.choice(_SIZES), [rng.randrange(4), rng.choice([0, 1, None]), rng.randrange(3)]]]
    return rng.choice(
        [
            lambda: rng.choice(_SIZES),
            lambda: rng.choice(_WORDS),
            lambda: rng.choice(CODES),
            lambda: rng.choice(list(TABLE)),
            lambda: rng.choice([None, True, False, 0.5, [], {}, [[]], {"tuple": []}]),
            lambda: {"size": size},
            lambda: {"size": [[1, [rng.choice(["//", "%", CODE]), size, rng.choice([0, 2])]]]},
            lambda: {"tuple": [rng.choice(_SIZES) for _ in range(rng.randrange(4))]},
            lambda: {"slice": [rng.choice([None, *_SIZES]) for _ in range(3)]},
            lambda: {"float": rng.choice(["nan", "inf", "0x1p0", CODE])},
            lambda: {"dtype": rng.choice(["float64", "string", "resource", CODE])},
            lambda: {"array": rng.choice(["constants/0", "variables/0", "nowhere"])},
            lambda: {"tensor": rng.choice(["constants/0", "variables/0", "nowhere"])},
            lambda: {"named": [rng.choice(["Plan", CODE]), ["a", rng.choice(["b", CODE])], [1, 2]]},
            lambda: {"bytes": "zz"},
            lambda: {rng.choice(CODES): 1},
        ]
    )()


def mutated(description: Any, rng: random.Random) -> Any:
    """A description with one to three changes."""
    data = copy.deepcopy(description)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        places = list(_places(data))
        if not places:
            break
        whole, key = rng.choice(places)
        other, place = rng.choice(places)
        match rng.randrange(8):
            case 0 | 1 | 2:
                whole[key] = _value(rng)
            case 3:
                del whole[key]
            case 4:
                whole[key] = copy.deepcopy(other[place])
            case 5 if isinstance(whole, list):
                whole.insert(rng.randrange(len(whole) + 1), copy.deepcopy(whole[key]))
            case 5 if isinstance(whole, dict):
                whole[rng.choice([*whole, *CODES, "axis", "dtype"])] = whole.pop(key)
            case 6 if isinstance(whole, list):
                at = rng.randrange(len(whole))
                whole[key], whole[at] = whole[at], whole[key]
            case 6 if type(whole[key]) is int:
                whole[key] += rng.choice([-1, 1])
            case 7 if rng.random() < 0.1:
                deep: Any = whole[key]
                for _ in range(rng.choice([50, 150])):
                    deep = rng.choice([[deep], {"tuple": [deep]}, {"dict": [[deep, deep]]}][:2])
                whole[key] = deep
            case _:
                whole[key] = _value(rng)
    return data


# What comes of them.


def _arguments(takes: tuple[Any, Any]) -> tuple[Any, Any]:
    def made(spec: Any) -> Any:
        if not isinstance(spec, tf.TensorSpec):
            return spec
        shape = [3 if d is None else d for d in spec.shape.as_list()]
        if np.prod(shape, dtype=float) > 10_000:
            raise ValueError("too large to be tried")
        return tf.cast(tf.ones(shape), spec.dtype)

    return nest.map_structure(made, takes)


def outcome(folder: Any, run: bool = True) -> str:
    """Loads a model, and calls its functions. Tells how it ended; anything but what is documented is raised."""
    try:
        loaded = tf.saved_model.load(folder)
    except tf.errors.DataLossError as error:
        assert FILE in error.message, error.message
        return "refused"
    functions = (
        [x for x in vars(loaded).values() if isinstance(x, LoadedFunction)]
        if hasattr(loaded, "__dict__")
        else []
    )
    ended = "loaded"
    for function in functions:
        for takes in function.saved_signatures:
            try:
                args, kwargs = _arguments(takes)
                concrete = function.get_concrete_function(*args, **kwargs)
                if run:
                    nest.flatten(concrete(*args, **kwargs))
                    ended = "run"
            except DOCUMENTED:
                ended = "refused"
    return ended


class Endless(BaseException):
    """It took too long."""


def main(times: int, seed: int) -> None:
    """Tries many, on all models."""
    import resource

    from tests.saved_model.models import LOOPS, MODELS

    resource.setrlimit(resource.RLIMIT_AS, (12 * 2**30, 12 * 2**30))
    rng = random.Random(seed)
    models = {}
    for name, make in MODELS.items():
        folder = tempfile.mkdtemp()
        tf.saved_model.save(make(), folder)
        models[name] = read(folder)
    folder = tempfile.mkdtemp()
    counts: dict[str, int] = collections.Counter()

    def stop(*_: Any) -> None:
        raise Endless

    signal.signal(signal.SIGALRM, stop)
    for turn in range(times):
        name = rng.choice(list(models))
        arrays, description = models[name]
        state = rng.getstate()
        try:
            data = mutated(description, rng)
        except RecursionError:  # of what copies it
            continue
        write(folder, arrays, data)
        signal.alarm(20)
        try:
            ended = outcome(folder)
        except (Exception, Endless) as error:
            ended = f"{type(error).__name__} in {name}"
            where = traceback.extract_tb(error.__traceback__)[-1]
            ended += f" at {os.path.basename(where.filename)}:{where.lineno} {str(error)[:80]}"
            if counts[ended] < 2 and not (isinstance(error, Endless) and name in LOOPS):
                print("turn", turn, ended, flush=True)
                with open(f"{tempfile.gettempdir()}/mutation-{seed}-{turn}.json", "w") as file:
                    json.dump(data, file)
                traceback.print_exc(limit=-6)
        finally:
            signal.alarm(0)
        if MARK in sys.modules:
            print("turn", turn, name, "RAN CODE", state[1][:2])
            del sys.modules[MARK]
            counts["ran code"] += 1
        counts[ended] += 1
    for ended, count in sorted(counts.items(), key=lambda item: -item[1]):
        print(count, ended)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
