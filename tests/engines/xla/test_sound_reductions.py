"""Reductions with `jit_compile=True`, where XLA is left as it is, but for a library that gets some of them wrong."""

import subprocess
import sys

import numpy as np
import pytest

import tapeflow as tf

pytest.importorskip("jax")

# Each of them ended the process.
PROGRAMS = [
    """
x = tf.ones([3, 1, 2, 2, 8, 8, 8])
f = tf.function(lambda a, b: tf.reduce_sum(a * b, axis=3), jit_compile=True)
assert f(x, 2 * x).numpy().tolist() == np.full([3, 1, 2, 8, 8, 8], 4.0).tolist()
""",
    """
a, b = tf.ones([10, 4, 6]), tf.ones([10, 4, 6, 9, 9, 9, 9, 9])
f = tf.function(lambda a, b: tf.reduce_sum(a[..., None, None, None, None, None] * b, 2) + 1, jit_compile=True)
assert f(a, b).numpy().tolist() == np.full([10, 4, 9, 9, 9, 9, 9], 7.0).tolist()
""",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_of_many_dimensions(program: str):
    program = f"import numpy as np\nimport tapeflow as tf\n{program}"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=240
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [16385, 32769])
def test_of_a_product_that_lies_transposed(dtype: type, count: int):
    rows = np.zeros((count, 3), dtype)
    rows[:, 0] = np.arange(count) % 1024
    one = tf.eye(3, dtype=dtype)

    @tf.function(jit_compile=True)
    def squares(x):
        return tf.reduce_sum(tf.matmul(one, x, transpose_b=True) ** 2, 0)

    np.testing.assert_array_equal(squares(tf.constant(rows)), (rows**2).sum(1))


def test_without_processors(monkeypatch: pytest.MonkeyPatch):
    """JAX may be told to use GPUs alone."""
    import jax

    from tapeflow._src.insides.xla_options import sound_options

    def none(backend: str):
        raise RuntimeError(f"Unknown backend {backend}")

    monkeypatch.setattr(jax, "local_devices", none)
    assert sound_options.__wrapped__() is None
