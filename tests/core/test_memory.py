"""Memory of arrays is kept for the next ones, and asked for before much of it is taken."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tapeflow._src.core import errors
from tapeflow._src.core.system.memory import (
    ALIGNMENT,
    LARGE,
    aligned_empty,
    check_room,
    copied,
    free_memory,
)

SOURCES = Path(__file__).resolve().parents[2] / "src"

NEEDS_GLIBC = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc",
    reason="only glibc can be told to keep freed memory, so elsewhere nothing is promised",
)

STEPS = """
import resource
import tapeflow as tf

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        x = tf.ones([1024, 1024])
        y = x * 2.0
        del x, y
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults()
print(faults())
"""


def faults(**variables: str) -> int:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MALLOC_")}
    environment |= {"PYTHONPATH": str(SOURCES), **variables}
    command = [sys.executable, "-c", STEPS]
    return int(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)


@NEEDS_GLIBC
def test_the_next_step_takes_the_memory_of_the_last():
    pages = 20 * 2 * 1024 * 1024 * 4 // os.sysconf("SC_PAGE_SIZE")
    assert faults() < pages / 10


@NEEDS_GLIBC
def test_what_the_user_has_set_stays():
    pages = 20 * 2 * 1024 * 1024 * 4 // os.sysconf("SC_PAGE_SIZE")
    assert faults(MALLOC_MMAP_THRESHOLD_="100000") > pages / 2


THREADS = """
import resource, threading
import numpy as np
from tapeflow._src.core.system.memory import heaps, keep_freed_memory

keep_freed_memory()
count, many = 8 * heaps(), 40
running = []

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

def work(done, end):
    arrays = [np.ones(2**17 // 8) for _ in range(many)]
    del arrays
    done.set()
    end.wait()

end = threading.Event()
before = resident()
for _ in range(count):  # one after the other
    done = threading.Event()
    running.append(threading.Thread(target=work, args=(done, end)))
    running[-1].start()
    done.wait()
print((resident() - before) / (count * many * 2**17))
end.set()
"""


@NEEDS_GLIBC
def test_threads_take_what_others_have_freed():
    run = subprocess.run(
        [sys.executable, "-c", THREADS],
        env={k: v for k, v in os.environ.items() if not k.startswith("MALLOC_")}
        | {"PYTHONPATH": str(SOURCES)},
        capture_output=True,
        check=True,
    )
    assert float(run.stdout) < 0.5  # with a heap for each of them it is 1


@pytest.mark.parametrize("shape", [(1,), (3,), (1000, 70)])
def test_aligned_memory(shape: tuple[int, ...]):
    array = aligned_empty(shape, np.dtype(np.float32))
    assert array.shape == shape and array.flags.c_contiguous and array.flags.writeable
    assert array.ctypes.data % ALIGNMENT == 0
    values = np.arange(array.size, dtype=np.float32).reshape(shape)
    new = copied(values, np.dtype(np.float64))
    np.testing.assert_array_equal(new, values)
    assert new.nbytes < LARGE or new.ctypes.data % ALIGNMENT == 0


# Sizes that somebody names.


@pytest.mark.parametrize(
    ("shape", "error"),
    [
        ((2**40, 2**10), errors.ResourceExhaustedError),
        # The elements can be counted, their bytes cannot.
        ((2**61,), errors.ResourceExhaustedError),
        ((2**62, 4), errors.InvalidArgumentError),
        ((10**400,), errors.InvalidArgumentError),
    ],
)
def test_what_no_memory_holds_is_refused(shape, error):
    with pytest.raises(error, match="op: "):
        check_room("op", shape, np.dtype(np.float32))


def test_what_fits_is_let_through():
    check_room("op", (), np.dtype(np.float32))
    check_room("op", (2**20,), np.dtype(np.float32))
    check_room("op", (0, 2**62), np.dtype(np.float32))
    assert free_memory() > 2**20


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_limit_of_the_process_counts():
    code = """
import resource
from tapeflow._src.core.system.memory import free_memory
limit = 8 * 2**30
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
print(free_memory() <= limit)
"""
    environment = os.environ | {"PYTHONPATH": str(SOURCES)}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert run.stdout.strip() == "True"
