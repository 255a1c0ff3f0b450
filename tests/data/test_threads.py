"""Threads: they work ahead, they end, and nobody waits forever."""

import gc
import os
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import numpy as np
import pytest
from tests.core.interruptions import from_another_thread, interrupted

import tapeflow as tf
import tapeflow.data

Dataset = tapeflow.data.Dataset
SCALAR = tf.TensorSpec((), tf.int64)
PATIENCE = 120.0
"""Seconds after which something is taken never to happen, on a busy machine too."""


def workers():
    return [t for t in threading.enumerate() if t.name == "tapeflow-data"]


def gone(condition=lambda: not workers(), seconds=PATIENCE):
    """Whether a condition comes true in time."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.005)
    return condition()


@pytest.fixture(autouse=True)
def no_threads_left():
    assert gone()
    yield
    assert gone()


def noted(n, seen):
    """Numbers, each noted when it is made."""

    def generator():
        for i in range(n):
            seen.append(i)
            yield i

    return Dataset.from_generator(generator, output_signature=SCALAR)


def test_prefetch_reads_ahead_in_a_thread():
    seen = []
    it = iter(noted(100, seen).prefetch(3))
    assert not seen and not workers()
    next(it)
    assert gone(lambda: len(seen) >= 4)
    assert len(workers()) == 1
    time.sleep(0.05)
    assert len(seen) <= 5  # one was taken, three wait, and one may be on its way
    assert [int(x) for x in it] == list(range(1, 100))


def test_prefetch_works_while_the_consumer_does():
    ready = threading.Event()

    def generator():
        yield 0
        ready.set()
        yield 1

    it = iter(Dataset.from_generator(generator, output_signature=SCALAR).prefetch(1))
    next(it)
    assert ready.wait(PATIENCE)


@pytest.mark.parametrize(
    "transform",
    [
        lambda d: d.prefetch(2),
        lambda d: d.prefetch(2).map(lambda x: x + 1).prefetch(2),
        lambda d: d.map(lambda x: x + 1, num_parallel_calls=3),
        lambda d: d.map(lambda x: x + 1, num_parallel_calls=3, deterministic=False).prefetch(1),
        lambda d: d.interleave(lambda x: Dataset.from_tensors(x).repeat(), 2, num_parallel_calls=2),
        lambda d: d.shuffle(10).repeat().batch(2).prefetch(tapeflow.data.AUTOTUNE),
    ],
)
@pytest.mark.parametrize("endless", [False, True])
@pytest.mark.sample(4)
def test_threads_end_when_the_iterator_is_dropped(transform, endless):
    data = transform(Dataset.range(1000).repeat() if endless else Dataset.range(1000))
    it = iter(data)
    next(it)
    assert workers()
    reference = weakref.ref(it)
    del it
    assert gone() and reference() is None


def test_threads_end_at_the_end():
    data = Dataset.range(20).map(lambda x: x, num_parallel_calls=2).prefetch(2)
    it = iter(data)
    assert len(list(it)) == 20
    assert gone()
    for _ in range(2):
        with pytest.raises(StopIteration):
            next(it)


def test_a_loop_that_is_left_early():
    for x in Dataset.range(1000).prefetch(2):
        if x == 3:
            break
    del x
    assert gone()


def test_the_threads_of_an_iterator_in_a_cycle():
    class Holder:
        pass

    holder = Holder()
    holder.self, holder.iterator = holder, iter(Dataset.range(1000).prefetch(2))
    next(holder.iterator)
    del holder
    assert gone()


@pytest.mark.parametrize("deterministic", [True, False])
def test_parallel_calls_are_at_the_same_time(deterministic):
    together = threading.Barrier(3, timeout=PATIENCE)

    def wait(x):
        together.wait()
        return x

    data = Dataset.range(6).map(
        lambda x: tf.py_function(wait, [x], SCALAR),
        num_parallel_calls=3,
        deterministic=deterministic,
    )
    found = [int(x) for x in data]
    assert sorted(found) == list(range(6)) and (found == sorted(found) or not deterministic)


def test_order_is_kept():
    reached = threading.Event()

    def slow_first(x):
        if x == 0:
            assert reached.wait(PATIENCE)
        else:
            reached.set()
        return x

    data = Dataset.range(8).map(
        lambda x: tf.py_function(slow_first, [x], SCALAR), num_parallel_calls=2, deterministic=True
    )
    assert [int(x) for x in data] == list(range(8))


@pytest.mark.parametrize("by", ["argument", "options"])
def test_order_is_not_kept_where_it_need_not_be(by):
    given = threading.Event()

    def never_first(x):
        if x == 0:
            assert given.wait(PATIENCE)
        return x

    options = tapeflow.data.Options()
    options.deterministic = False
    data = Dataset.range(8) if by == "argument" else Dataset.range(8).with_options(options)
    it = iter(
        data.map(
            lambda x: tf.py_function(never_first, [x], SCALAR),
            num_parallel_calls=2,
            deterministic=False if by == "argument" else None,
        )
    )
    found = [int(next(it))]
    given.set()
    found += [int(x) for x in it]
    assert found[0] != 0 and sorted(found) == list(range(8))


def test_slow_functions_get_threads_by_themselves():
    names = set()

    def slow(x):
        time.sleep(0.002)
        names.add(threading.current_thread().name)
        return x

    data = Dataset.range(60).map(
        lambda x: tf.py_function(slow, [x], SCALAR), num_parallel_calls=tapeflow.data.AUTOTUNE
    )
    assert [int(x) for x in data] == list(range(60))
    assert "tapeflow-data" in names


def test_an_exception_in_a_worker_does_not_end_the_rest():
    def odd(x):
        if x == 3:
            raise ValueError("three")
        return x

    data = Dataset.range(8).map(lambda x: tf.py_function(odd, [x], SCALAR), num_parallel_calls=2)
    it, found = iter(data.prefetch(2)), []
    while True:
        try:
            found.append(int(next(it)))
        except tf.errors.InvalidArgumentError:
            found.append("failed")
        except StopIteration:
            break
    assert found == [0, 1, 2, "failed", 4, 5, 6, 7]


def test_many_threads_compute_what_one_does():
    rng = np.random.default_rng(0)
    data = Dataset.from_tensor_slices(rng.normal(size=(400, 16)).astype(np.float32))

    def work(x):
        for _ in range(5):
            x = tf.tanh(x * 1.5 - tf.reduce_mean(x))
        return x

    one = np.stack(list(data.map(work).as_numpy_iterator()))
    many = np.stack(list(data.map(work, num_parallel_calls=4).as_numpy_iterator()))
    assert (one == many).all()


def test_two_iterators_at_once():
    data = Dataset.range(50).map(lambda x: x * 2, num_parallel_calls=2).prefetch(2)
    assert [(int(a), int(b)) for a, b in zip(data, data, strict=True)] == [
        (2 * i, 2 * i) for i in range(50)
    ]


def program(tmp_path, code):
    """What a program in a process of its own returns and prints."""
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(code), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, path],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked on Windows")
@pytest.mark.parametrize("parallel", [False, True])
def test_a_forked_process_reads_on(tmp_path, parallel):
    """In a process of its own: what else the tests have begun in this one does not survive a fork."""
    code = f"""
        import os, warnings
        import tapeflow as tf, tapeflow.data

        for kind in (DeprecationWarning, RuntimeWarning):  # of forking with threads: Python's, and jax's
            warnings.simplefilter("ignore", kind)
        data = tf.data.Dataset.range(200)
        data = data.map(lambda x: x, num_parallel_calls=2) if {parallel} else data.prefetch(2)
        it = iter(data)
        assert int(next(it)) == 0
        child = os.fork()
        rest = [int(x) for x in it]
        if child == 0:  # what the threads of the other process were at is lost
            good = rest == sorted(set(rest)) and rest[-1] == 199 and len(rest) > 150
            os._exit(0 if good else 1)
        assert rest == list(range(1, 200))
        assert os.waitpid(child, 0)[1] == 0
    """
    assert program(tmp_path, code) == (0, "", "")


def test_the_interpreter_exits_with_threads_running(tmp_path):
    code = """
        import tapeflow as tf, tapeflow.data

        data = tf.data.Dataset.range(10).repeat().map(lambda x: x, num_parallel_calls=2).prefetch(2)
        it = iter(data)
        next(it)

        def never():
            import time
            yield 1
            time.sleep(1000)

        spec = tf.TensorSpec((), tf.int64)
        stuck = iter(tf.data.Dataset.from_generator(never, output_signature=spec).prefetch(4))
        next(stuck)
        print("done")
    """
    assert program(tmp_path, code) == (0, "done\n", "")


def test_prefetch_of_nothing():
    assert [int(x) for x in Dataset.range(3).prefetch(0)] == [0, 1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="buffer_size"):
        Dataset.range(3).prefetch(-2)
    with pytest.raises(ValueError, match="num_parallel_calls"):
        Dataset.range(3).map(lambda x: x, num_parallel_calls=0)


@pytest.mark.parametrize("calls", [2**62, 10**5])
@pytest.mark.sample(2)
def test_more_calls_at_once_than_there_can_be_threads(calls):
    data = tf.data.Dataset.range(5).map(lambda x: x + 1, num_parallel_calls=calls)
    assert [int(x) for x in data] == [1, 2, 3, 4, 5]


def test_a_number_of_calls_beyond_int64():
    with pytest.raises(ValueError, match="does not fit in int64"):
        tf.data.Dataset.range(3).map(lambda x: x, num_parallel_calls=2**63)


@pytest.mark.parametrize("threads", [None, 4])
def test_a_cycle_longer_than_the_data(threads):
    def rows(cycle, block):
        data = tf.data.Dataset.range(1, 4).interleave(
            lambda x: tf.data.Dataset.from_tensors(x).repeat(3),
            cycle_length=cycle,
            block_length=block,
            num_parallel_calls=threads,
        )
        return [int(x) for x in data]

    assert rows(2**40, 2) == rows(3, 2) == [1, 1, 2, 2, 3, 3, 1, 2, 3]
    assert rows(2, 2**40) == [1, 1, 1, 2, 2, 2, 3, 3, 3]


# Threads of the user's own.


@pytest.mark.parametrize(
    "pipeline",
    [
        lambda d: d.batch(4),
        lambda d: d.map(lambda x: x + 0).batch(4),
        lambda d: d.map(lambda x: x + 0, num_parallel_calls=2).batch(4),
        lambda d: d.batch(4).prefetch(2),
        lambda d: d.shuffle(10, seed=1).batch(4),
    ],
    ids=["batch", "map", "parallel map", "prefetch", "shuffle"],
)
def test_threads_that_share_an_iterator_get_whole_batches(pipeline):
    def slowly():
        for i in range(160):
            time.sleep(0)  # lets another thread run
            yield i

    it = iter(pipeline(Dataset.from_generator(slowly, output_signature=SCALAR)))
    batches, errors = [], []

    def take():
        try:
            batches.extend(batch.numpy() for batch in it)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert {len(batch) for batch in batches} == {4}
    np.testing.assert_array_equal(np.sort(np.concatenate(batches)), np.arange(160))


def test_threads_that_share_an_iterator_in_functions_get_each_element_once():
    it = iter(Dataset.from_generator(lambda: iter(range(200)), output_signature=SCALAR))
    seen = []

    @tf.function
    def rest():
        for x in it:
            tf.py_function(lambda x: seen.append(int(x)), [x], [])

    errors = []

    def run():
        try:
            rest()
        except BaseException as error:
            errors.append(error)

    rest.get_concrete_function()
    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert sorted(seen) == list(range(200))


@pytest.mark.parametrize(
    "pipeline",
    [
        lambda d: d.prefetch(2),
        lambda d: d.map(lambda x: x + 0, num_parallel_calls=2),
        lambda d: d.map(lambda x: x + 0, num_parallel_calls=2).batch(3).prefetch(1),
    ],
    ids=["prefetch", "parallel map", "both"],
)
@pytest.mark.parametrize("apart", [61, pytest.param(13, marks=pytest.mark.exhaustive)])
@pytest.mark.sample(3)
def test_an_interruption_of_the_consumer_stops_nobody(pipeline, apart):
    def read():
        return [x.numpy() for x in pipeline(Dataset.range(7))]

    read()
    for at in range(0, 10_000, apart):
        if not interrupted(read, at):
            break
        # Raises what is not the interruption, and never ends if a thread waits for what was let go.
        assert len(from_another_thread(read)) in (3, 7)
    assert at > 100
    assert gone()


def test_an_interruption_while_workers_are_told_to_stop_leaves_none_of_them_waiting():
    """Whoever is interrupted there must not keep what they need to end."""
    for at in range(1_000):
        iterator = iter(Dataset.range(100).map(lambda x: x + 0, num_parallel_calls=2))
        next(iterator)
        feed = iterator._rows._feed
        is_inside = interrupted(feed.stop, at)
        del iterator
        for worker in feed.workers:
            worker.join(PATIENCE)
            assert not worker.is_alive()
        if not is_inside:
            break
    assert at > 1
