"""The numbers of a draw are the same whoever makes its bits, and however many threads do."""

import importlib.util
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.core.system import workers
from tapeflow._src.insides import compiled_philox, fallback
from tapeflow._src.primitives import sharing
from tapeflow._src.primitives.random import numbers, pace, philox, rejection
from tapeflow._src.primitives.table import TABLE

NO_GENERATOR = importlib.util.find_spec("randomgen") is None
with_generator = pytest.mark.skipif(
    NO_GENERATOR, reason="randomgen is not installed: pip install tapeflow[random]"
)
KEY = 0x0123456789ABCDEF
# What comes after them needs another word of the counter, or begins again.
COUNTERS = [0, 2**32 - 1000, 2**64 - 1000, 2**96 - 1000, 2**128 - 1000]
F32, F64 = tf.float32, tf.float64


def library(monkeypatch, ask):
    """What is known of the package, without what was known before; everything is worth it."""
    fresh = compiled_philox._Library()
    monkeypatch.setattr(compiled_philox, "_library", fresh)
    monkeypatch.setattr(compiled_philox, "_WORTH_IT", 1)
    if ask:
        fresh.ask(philox.block)
    else:
        fresh.asked = True
    return fresh


@pytest.fixture
def by_numpy(monkeypatch):
    return lambda: library(monkeypatch, False)


@pytest.fixture
def by_generator(monkeypatch):
    def change():
        found = library(monkeypatch, True).found
        # Which half of a pair comes first is the compiler's choice; that of words is not.
        assert False in found

    return change


def state(counter):
    return philox.array_of(counter, KEY)


def kernel(name):
    return TABLE[f"random_{name}"].kernel


def logits(classes):
    return np.linspace(-1, 2, 2 * classes).reshape(2, classes)


DRAWS = {
    **{
        f"{name}, {dtype.name}": lambda s, n, name=name, dtype=dtype: kernel(name)(
            s, shape=(n,), dtype=dtype
        )
        for name in ("uniform", "normal", "truncated_normal")
        for dtype in (tf.float16, tf.bfloat16, F32, F64)
    },
    **{
        f"integers below {high}, {dtype.name}": lambda s, n, high=high, dtype=dtype: kernel(
            "integers"
        )(s, np.array(-5), np.array(high), shape=(n,), dtype=dtype)
        for dtype in (tf.int32, tf.int64)
        for high in (59, 1000)
    },
    **{
        f"all integers, {dtype.name}": lambda s, n, dtype=dtype: kernel("any_integers")(
            s, shape=(n,), dtype=dtype
        )
        for dtype in (tf.int32, tf.uint64)
    },
    **{
        f"keep, {dtype.name}": lambda s, n, dtype=dtype: kernel("keep")(
            s, np.array(0.3), shape=(n,), dtype=dtype
        )
        for dtype in (tf.float16, F32, F64)
    },
    **{
        f"{classes} classes": lambda s, n, classes=classes: numbers.categorical_kernel(
            s, logits(classes), num_samples=n, dtype=tf.int64
        )
        for classes in (2, 64, 65)
    },
    "shuffle": lambda s, n: philox.words32(s, n),
}


@with_generator
@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("counter", COUNTERS)
@pytest.mark.sample(3)
def test_a_compiled_generator_gives_the_same_bits(by_numpy, by_generator, name, counter):
    for n in (1, 2, 3, 7, 9_999):
        by_numpy()
        expected = DRAWS[name](state(counter), n)
        by_generator()
        found = DRAWS[name](state(counter), n)
        assert found.dtype == expected.dtype
        assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("bits", ["NumPy", pytest.param("generator", marks=with_generator)])
@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("threads", [2, 3, 6])
@pytest.mark.sample(5)
def test_threads_give_the_same_bits(request, monkeypatch, bits, name, threads):
    n, counter = 3 * pace.CHUNK + 5, 2**64 - 7000
    request.getfixturevalue("by_numpy")()
    expected = DRAWS[name](state(counter), n)
    if bits == "generator":
        request.getfixturevalue("by_generator")()
    pool, tasks = workers.Workers(threads), []
    run = pool.run
    monkeypatch.setattr(pool, "run", lambda given: (tasks.append(len(given)), run(given)))
    monkeypatch.setattr(sharing, "workers", lambda: pool)
    monkeypatch.setattr(sharing, "allowed_threads", lambda: threads)
    monkeypatch.setattr(sharing, "_ELEMENTS", 1)
    assert DRAWS[name](state(counter), n).tobytes() == expected.tobytes()
    assert tasks and set(tasks) == {min(threads, pace._THREADS)}


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("upper_first", [False, True])
@pytest.mark.parametrize("counter", [0, 2**32 - 500, 2**64 - 2**20, 2**128 - 2**20])
def test_scattered_blocks_are_as_one_by_one(monkeypatch, beside, upper_first, counter):
    """Also where some parts of them differ in the lowest word of the counter alone, and others do not."""
    monkeypatch.setattr(pace._pace, "times", pace._TIMES if beside else 1)
    rng = np.random.default_rng(3)
    many = np.sort(rng.choice(2**22, 9 * pace.CHUNK // 2, replace=False)).astype(np.uint64)
    for given in (many, many[::-1], rng.permutation(many), many * np.uint64(2**40)):
        found = philox.blocks_at(state(counter), given, upper_first)
        for i in [*range(0, given.size, 9973), given.size - 1]:
            w0, w1, w2, w3 = philox.block(KEY, (counter + int(given[i])) % 2**128)
            if upper_first:
                w0, w1, w2, w3 = w1, w0, w3, w2
            assert found[i].tolist() == [w0 | w1 << 32, w2 | w3 << 32]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_parameter_for_all_is_one_for_each(dtype):
    seed, n = (3, 4), 2**16 + 7
    for alpha in (0.0, 0.25, 0.5, 1.0, 2.0, np.inf):
        each = tf.random.stateless_gamma([n], seed, np.full(n, alpha, dtype))
        same = tf.random.stateless_gamma([n], seed, np.array(alpha, dtype))
        assert each.numpy().tobytes() == same.numpy().tobytes()
    for rate in (0.0, 3.0, 30.0, np.inf):
        each = tf.random.stateless_poisson([n], seed, np.full(n, rate, dtype), tf.float32)
        same = tf.random.stateless_poisson([n], seed, np.array(rate, dtype), tf.float32)
        assert each.numpy().tobytes() == same.numpy().tobytes()
    for count, p in ((20, 0.3), (20, 0.8), (500, 0.3), (500, 0.9), (0, 0.5), (9, 0.0), (9, 1.0)):
        counts, ps = np.full(n, count, dtype), np.full(n, p, dtype)
        each = tf.random.stateless_binomial([n], seed, counts, ps).numpy()
        for some in ((counts[0], ps), (counts, ps[0]), (counts[0], ps[0])):
            assert (tf.random.stateless_binomial([n], seed, *some).numpy() == each).all()


def test_what_is_drawn_twice_is_drawn_as_if_alone():
    """With parameters below one, most numbers need another uniform one; those above have a buffer of their own."""
    n = rejection._PART + 99
    alphas = np.where(np.arange(n) % 3 == 0, 0.4, 1.7)
    mixed = tf.random.stateless_gamma([n], (1, 2), alphas).numpy()
    for alpha in (0.4, 1.7):
        alone = tf.random.stateless_gamma([n], (1, 2), np.float64(alpha)).numpy()
        assert (mixed[alphas == alpha] == alone[alphas == alpha]).all()


def test_few_classes_are_found_as_many_are():
    rng = np.random.default_rng(5)
    for sums in ([0.0], [0.0, 0.0, 0.0], [0.0, 0.25, 0.25, 1.0], np.cumsum(rng.random(64))):
        sums = np.array(sums)
        found = np.concatenate([sums, [0.0, 0.1], rng.random(999) * sums[-1]])
        expected = np.searchsorted(sums, found, side="right")
        assert (numbers._counted(sums, found) == expected).all()


@with_generator
def test_from_many_threads(by_numpy, by_generator):
    from tests.common import in_threads

    draws = [DRAWS["normal, float32"], DRAWS["uniform, float64"]]
    by_numpy()
    expected = [draw(state(77), 50_001) for draw in draws]
    by_generator()

    def many():
        for _ in range(5):
            for draw, known in zip(draws, expected, strict=True):
                assert draw(state(77), 50_001).tobytes() == known.tobytes()

    in_threads(6, many)


class Steps:
    """Does something in the middle of what compiled generators make."""

    def __init__(self, monkeypatch, when, then):
        self.left, begun = when, compiled_philox._begun

        def begin(*args):
            words = begun(*args)

            def stepped(blocks):
                self.left -= 1
                if self.left == 0:
                    then()
                return words(blocks)

            return stepped

        monkeypatch.setattr(compiled_philox, "_begun", begin)


@with_generator
@pytest.mark.parametrize(
    "name", ["normal, float32", "uniform, float64", "integers below 59, int64"]
)
def test_a_draw_in_the_middle_of_a_draw_changes_neither(monkeypatch, by_numpy, by_generator, name):
    """As a signal handler makes it."""
    by_numpy()
    n, inside = 5 * pace.CHUNK, []
    expected = DRAWS[name](state(9), n)
    steps = Steps(monkeypatch, 10**9, lambda: inside.append(DRAWS[name](state(9), n)))
    by_generator()
    steps.left = 2
    assert DRAWS[name](state(9), n).tobytes() == expected.tobytes()
    assert [x.tobytes() for x in inside] == [expected.tobytes()]


@with_generator
def test_after_an_interruption_a_generator_is_as_before_or_after(
    monkeypatch, by_numpy, by_generator
):
    def interrupt():
        raise KeyboardInterrupt

    by_numpy()
    n = [6 * pace.CHUNK]
    plain = tf.random.Generator.from_state([2**64 - 5 - 2**64, 7, KEY], "philox")
    states = [plain.state.numpy().tolist()]
    for _ in range(2):
        plain.normal(n)
        states.append(plain.state.numpy().tolist())
    steps = Steps(monkeypatch, 10**9, interrupt)
    by_generator()
    for when in (1, 2):
        g = tf.random.Generator.from_state(states[0], "philox")
        steps.left = when
        with pytest.raises(KeyboardInterrupt):
            g.normal(n)
        after = states.index(g.state.numpy().tolist())
        assert after < 2
        found = g.normal(n).numpy()
        assert g.state.numpy().tolist() == states[after + 1]
        by_numpy()
        again = tf.random.Generator.from_state(states[after], "philox").normal(n)
        assert found.tobytes() == again.numpy().tobytes()
        by_generator()


FORK = """
import os, threading
import numpy as np
import tapeflow as tf
from tapeflow._src.insides import compiled_philox

compiled_philox._WORTH_IMPORTING = 0
expected = tf.random.stateless_normal([2**20], (1, 2)).numpy()
assert compiled_philox._library.found
child = os.fork()
if child == 0:
    same = np.array_equal(tf.random.stateless_normal([2**20], (1, 2)).numpy(), expected)
    os._exit(0 if same else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@with_generator
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no forks")
def test_a_forked_process_draws_on():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK], capture_output=True, text=True, timeout=100
    )
    assert done.stdout == "0\n", done.stderr


SELDOM = """
import sys
import tapeflow as tf
from tapeflow._src.insides import compiled_philox

tf.random.uniform([2**20])
print("randomgen" in sys.modules, "numpy.random" in sys.modules)
first = tf.random.stateless_uniform([2**20], (1, 2)).numpy()
compiled_philox._WORTH_IMPORTING = 2**19
again = tf.random.stateless_uniform([2**20], (1, 2)).numpy()
print("randomgen" in sys.modules, (first == again).all())
"""


@with_generator
def test_it_is_imported_when_that_is_worth_it():
    done = subprocess.run([sys.executable, "-c", SELDOM], capture_output=True, text=True)
    assert done.stdout == "False False\nTrue True\n", done.stderr


# What is there may be another version than those that are known.


def pretended(words):
    """A package whose generator has these words, by their number: the functions of it that are used."""

    class Philox:
        def __init__(self, key, counter, number, width):
            assert (number, width) == (4, 32)
            self.key, self.next = key, (counter + 1) % 2**128

    class Generator:
        def __init__(self, generator):
            self._generator = generator

        def integers(self, low, high, size, dtype, endpoint):
            assert low == 0 and endpoint and high == np.iinfo(dtype).max
            wide, made = dtype.itemsize == 8, []
            while len(made) < size:
                w = words(self._generator.key, self._generator.next)
                self._generator.next = (self._generator.next + 1) % 2**128
                made += [w[0] << 32 | w[1], w[2] << 32 | w[3]] if wide else w
            return np.array(made, dtype)

    modules = {"randomgen": Philox, "numpy.random": Generator}
    return lambda name: type("module", (), {modules[name].__name__: modules[name]})


@pytest.mark.parametrize("n", [1, 5, 1000, 30_001])
def test_what_a_package_makes_is_used(monkeypatch, by_numpy, n):
    by_numpy()
    expected = [DRAWS[name](state(2**64 - 9), n).tobytes() for name in DRAWS]
    asked = []

    def words(key, counter):
        asked.append(counter)
        return philox.block(key, counter)

    monkeypatch.setattr(compiled_philox, "loaded", pretended(words))
    assert library(monkeypatch, True).found.keys() == {False, True}
    asked.clear()
    some = [name for name in DRAWS if n < 30_001 or name == "normal, float32"]
    for name, bits in zip(DRAWS, expected, strict=True):
        if name in some:
            assert DRAWS[name](state(2**64 - 9), n).tobytes() == bits
    assert asked


def other(key, counter):
    """As from a version whose counter begins elsewhere."""
    return philox.block(key, (counter + 1) % 2**128)


def without_carry(key, counter):
    return philox.block(key, counter if counter < 2**128 - 1 else 2**127)


def broken(key, counter):
    raise TypeError("no such argument")


@pytest.mark.parametrize("words", [other, without_carry, broken])
def test_a_package_that_makes_something_else_is_not_used(monkeypatch, by_numpy, caplog, words):
    fallback.slower.cache_clear()
    by_numpy()
    expected = DRAWS["uniform, float32"](state(5), 40_000)
    monkeypatch.setattr(compiled_philox, "loaded", pretended(words))
    with caplog.at_level("INFO", "tapeflow"):
        assert library(monkeypatch, True).found == {}
    assert caplog.records and all("randomgen" in r.getMessage() for r in caplog.records)
    assert DRAWS["uniform, float32"](state(5), 40_000).tobytes() == expected.tobytes()


@pytest.mark.parametrize("error", [ModuleNotFoundError("no randomgen"), ImportError("undefined")])
def test_without_the_package(monkeypatch, by_numpy, error):
    def loaded(name):
        raise error

    by_numpy()
    expected = DRAWS["uniform, float32"](state(5), 40_000)
    monkeypatch.setattr(compiled_philox, "loaded", loaded)
    known = library(monkeypatch, True)
    assert known.asked and known.found == {}
    assert DRAWS["uniform, float32"](state(5), 40_000).tobytes() == expected.tobytes()


def test_nobody_waits_for_the_import(monkeypatch):
    """Neither a signal handler that has come in between, nor another thread: they draw with NumPy."""
    imports = []

    def loaded(name):
        if not imports:
            imports.append(name)
            drawn = []
            thread = threading.Thread(target=lambda: drawn.append(DRAWS["shuffle"](state(5), 9)))
            thread.start()
            thread.join(100)
            imports.append(drawn[0].tolist() == DRAWS["shuffle"](state(5), 9).tolist())
        return pretended(philox.block)(name)

    fresh = compiled_philox._Library()
    monkeypatch.setattr(compiled_philox, "_library", fresh)
    monkeypatch.setattr(compiled_philox, "_WORTH_IT", 1)
    monkeypatch.setattr(compiled_philox, "_WORTH_IMPORTING", 0)
    monkeypatch.setattr(compiled_philox, "loaded", loaded)
    DRAWS["shuffle"](state(5), 9)
    assert imports == ["randomgen", True]
    assert fresh.asked and fresh.found.keys() == {False, True}
