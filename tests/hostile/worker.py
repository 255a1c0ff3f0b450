"""The process in which hostile calls are made, with limits on memory and time.

It reads requests from its standard input and writes what came of each to its standard output, both pickled.
"""

from __future__ import annotations

import argparse
import itertools
import os
import pickle
import resource
import sys
import tempfile
import traceback
import warnings
from typing import Any

import numpy as np
from tests.differential.compare import neutral
from tests.differential.values import Array
from tests.hostile.scope import NAMES

GIGABYTE = 2**30
MOST = 2000  # elements of a result that are looked at


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", default="tapeflow")
    parser.add_argument("--engine", default="eager")
    parser.add_argument("--gigabytes", type=float, default=3.0)
    parser.add_argument("--seconds", type=int, default=10)
    options = parser.parse_args()
    answers = os.fdopen(os.dup(1), "wb")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    warnings.simplefilter("ignore")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    os.chdir(tempfile.mkdtemp())
    caller = Caller(options.library, options.engine)
    limit_memory(options.gigabytes)
    pickle.dump("ready", answers)
    answers.flush()
    while True:
        try:
            request = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        limit_time(options.seconds)
        pickle.dump(caller.answer(request), answers)
        answers.flush()


def limit_memory(gigabytes: float) -> None:
    """Beyond what the libraries take by themselves."""
    with open("/proc/self/statm") as file:
        taken = int(file.read().split()[0]) * resource.getpagesize()
    most = taken + int(gigabytes * GIGABYTE)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def limit_time(seconds: int) -> None:
    """Of the processor; the system ends the process after that."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    most = int(used.ru_utime + used.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (most, hard))


class Caller:
    """Makes calls in a library: eagerly, or inside of a function on one engine."""

    def __init__(self, library: str, engine: str) -> None:
        self.tf: Any = __import__(library)
        self.engine = engine
        self.folder = os.getcwd()
        self.tf.get_logger().setLevel("CRITICAL")
        if engine != "eager":
            self.compiled = {"xla": True, "numpy": False, "hybrid": None}[engine]
            if library == "tapeflow":
                self.only(engine)
            self.tf.function(lambda x: x + 1.0, jit_compile=self.compiled)(self.tf.constant(1.0))

    @staticmethod
    def only(engine: str) -> None:
        """Makes every function run on one engine from its first call on."""
        from tapeflow._src.engines import choice

        (only,) = [each for each in choice.ENGINES if each.name == engine]
        choice.engines_for = lambda graph, jit_compile: [only]

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """What came of a call: a result, or an exception."""
        os.chdir(self.folder)
        self.tf.random.set_seed(1)
        arrays: dict[str, Array] = request["arrays"]
        made = {name: array.make(self.tf) for name, array in arrays.items()}
        try:
            if self.engine == "eager":
                found = self.eager(request, made)
            else:
                found = self.traced(request, made)
            return {"result": plain(self.tf, found)}
        except Exception as error:
            kinds = [(c.__module__, c.__name__) for c in type(error).__mro__]
            lines = traceback.format_exception(error)
            return {"raised": kinds, "message": str(error)[:500], "trace": "".join(lines)[-3000:]}

    def eager(self, request: dict[str, Any], made: dict[str, Any]) -> Any:
        tf = self.tf
        scope = {"tf": tf, **NAMES, **made}
        if not request["gradient"]:
            return settled(tf, eval(request["source"], scope))
        sources = [x for x in made.values() if is_source(tf, x)]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            found = settled(tf, eval(request["source"], scope))
        targets = [y for y in tf.nest.flatten(found) if is_source(tf, y)]
        if sources and targets:
            settled(tf, tape.gradient(targets, sources))
        return found

    def traced(self, request: dict[str, Any], made: dict[str, Any]) -> Any:
        """The tensors go in as arguments, now and then with sizes that are not known."""
        tf = self.tf
        names = [n for n, x in made.items() if isinstance(x, tf.Tensor)]
        fixed = {n: x for n, x in made.items() if n not in names}

        def body(*tensors: Any) -> Any:
            scope = {"tf": tf, **NAMES, **fixed, **dict(zip(names, tensors, strict=True))}
            found = eval(request["source"], scope)
            return [y for y in tf.nest.flatten(found) if isinstance(y, tf.Tensor)]

        given = [made[n] for n in names]
        signature = None
        if request["unknown"] and given:
            signature = [tf.TensorSpec([None] * len(x.shape), x.dtype) for x in given]
        function = tf.function(
            body, input_signature=signature, autograph=False, jit_compile=self.compiled
        )
        return settled(tf, function(*given))


def is_source(tf: Any, x: Any) -> bool:
    kind = getattr(x, "dtype", None)
    return isinstance(x, (tf.Tensor, tf.Variable)) and (kind.is_floating or kind.is_complex)


def settled(tf: Any, value: Any) -> Any:
    """A result that has been looked at: what comes only when it is asked for is asked for."""
    if isinstance(value, tf.data.Dataset) or hasattr(value, "__next__"):
        return [settled(tf, item) for item in itertools.islice(value, 3)]
    if type(value).__module__.startswith(tf.__name__) and not (
        isinstance(value, tf.Tensor) and not small(value)
    ):
        repr(value)
    return value


def small(tensor: Any) -> bool:
    count = tensor.shape.num_elements()
    return count is not None and count <= MOST


def plain(tf: Any, value: Any, depth: int = 0) -> Any:
    """A result that other processes understand: large arrays by their shapes, objects by their types."""
    if depth > 9:
        return "deep"
    if not isinstance(value, (list, tuple, dict)):
        value = neutral(tf, value)
    if isinstance(value, np.ndarray):
        return value if value.size <= MOST else ("large", value.shape, value.dtype.name)
    if isinstance(value, (list, tuple)):
        items = [plain(tf, item, depth + 1) for item in value[:20]]
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, dict):
        return {str(key): plain(tf, item, depth + 1) for key, item in value.items()}
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return value
    return ("object",)


if __name__ == "__main__":
    main()
