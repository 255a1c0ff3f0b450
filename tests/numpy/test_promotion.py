"""The modes "safe" and "all", in processes of their own. What is expected is what TensorFlow gave."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest
from tests.numpy.recorded.promotions import KINDS

from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.numpy.promotion import Kind, meet

RECORDED = Path(__file__).parent / "recorded" / "promotions.txt"
SETUP = """
import numpy as np, tapeflow as tf
from tapeflow._src.numpy.weak import WeakTensor
tnp = tf.experimental.numpy
tnp.experimental_enable_numpy_behavior(dtype_conversion_mode=MODE)
w, i, wf = tf.constant(2.0), tf.constant(3), tf.constant([1.0, 2.0, 3.0])
h, v, n = tf.constant(2.0, tf.float16), tf.Variable(3.0), tf.Variable(3)

def said(x):
    return x.dtype.name + ("*" if isinstance(x, WeakTensor) else "")

def failed(call):
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"
"""


def run(code: str, mode: str = "all") -> str:
    text = SETUP.replace("MODE", repr(mode)) + code
    done = subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def said(lines: dict[str, str], mode: str = "all") -> None:
    """Checks the dtypes of expressions, where a star is a weak one."""
    found = run(f"for line in {list(lines)!r}:\n    print(said(eval(line)))", mode).splitlines()
    assert dict(zip(lines, found, strict=True)) == lines


def test_each_two_meet_where_they_do_in_tensorflow():
    code = """
from tests.numpy.recorded.promotions import table
print(table(tf, WeakTensor))
"""
    assert run(code) == RECORDED.read_text(encoding="utf-8").strip()


def test_neither_order_nor_grouping_matters():
    kinds = [Kind(as_dtype(name), weak) for name, weak in KINDS]
    for a, b, c in itertools.product(kinds, repeat=3):
        assert meet(a, b) == meet(b, a)
        left, right = meet(meet(a, b)[0], c)[0], meet(a, meet(b, c)[0])[0]
        assert left == right, (a, b, c)


def test_what_has_no_dtype_is_weak():
    said(
        {
            "tf.constant(5)": "int32*",
            "tf.constant([5.0, 10.0, 3])": "float32*",
            "tf.constant(1j)": "complex128*",
            "tf.constant(True)": "bool",
            "tf.constant('a')": "string",
            "tf.constant(5, tf.int32)": "int32",
            "tf.constant(np.float32(1))": "float32",
            "tf.constant(w)": "float32*",
            "tf.constant(w, tf.float64)": "float64",
            "tf.constant(tf.constant(10, tf.int16), tf.float32)": "float32",
            "tf.constant(tf.TensorShape([2, 3]))": "int32",
            "tf.convert_to_tensor(w)": "float32",
            "tf.convert_to_tensor(1.0)": "float32",
            "tf.Variable(w)": "float32",
            "tnp.array(1)": "int32*",
            "tnp.array(1.0)": "float32*",
            "tnp.array([1, 2], dtype=tf.float16)": "float16",
        }
    )


def test_operators():
    said(
        {
            "w + 1": "float32*",
            "1 + i": "int32*",
            "i / 2": "float64*",
            "i // 2": "int32*",
            "2 ** i": "int32*",
            "i + h": "float16",
            "h * np.array([1.0, 2.0])": "float64",
            "np.array([1.0, 2.0]) * h": "float64",
            "np.float32(2) * w": "float32",
            "tf.constant(1, tf.int16) * 2.0": "float64*",
            "tf.constant(1, tf.int16) - tf.constant(1, tf.float32)": "float32",
            "[1.5, 2] * tf.ones([2], tf.float16)": "float16",
            "-w": "float32*",
            "abs(tf.constant(3 + 4j))": "float64*",
            "~i": "int32*",
            "i & 1": "int32",
            "i == h": "bool",
            "w < 3": "bool",
            "h + True": "float16",
            "v + w": "float32",
            "w * tf.Variable(3.0, dtype=tf.float16)": "float16",
            "n * 2.5": "float64*",
            "n + h": "float16",
            "tf.constant([[1.0, 2.0]]) @ tf.constant([[1], [2]])": "float32*",
        }
    )


def test_functions():
    said(
        {
            "tf.abs([1, -2])": "int32*",
            "tf.math.abs(np.float32(1))": "float32",
            "tf.exp(v)": "float32",
            "tf.exp(wf)": "float32*",
            "tf.reduce_sum([1, 2])": "int32*",
            "tf.reshape(wf, tf.constant([3, 1]))": "float32*",
            "tf.clip_by_value(wf, 1, 2)": "float32*",
            "tf.ones_like(wf, tf.float32)": "float32",
            "tf.math.scalar_mul(2.0, h)": "float16",
            "tf.cast(wf, tf.float32)": "float32",
            "tf.concat([wf, wf], 0)": "float32",
            "tf.add(1, 2)": "int32*",
            "tf.add(x=1, y=h)": "float16",
            "tf.math.subtract(h, i)": "float16",
            "tf.math.maximum(h, w)": "float16",
            "tf.math.maximum(i, i)": "int32",
            "tf.pow(i, 2)": "int32*",
            "tf.linalg.matmul(tf.constant([[1.0]]), tf.constant([[1.0]], tf.float64))": "float64",
            "tnp.sin(1)": "float32*",
            "tnp.sum([1, 2])": "int32*",
            "tnp.sum(tf.constant([1, 2], tf.int8))": "int32",
            "tnp.mean([1, 2])": "float32*",
            "tnp.where(wf > 1, wf, h)": "float16",
            "tnp.concatenate([wf, [h]])": "float16",
            "tnp.ones(2)": "float32",
            "tnp.full([2], 1)": "int32",
            "tnp.argsort(wf)": "int32",
            "tnp.add(1, 2)": "int64",
            "tnp.add(w, h)": "float32",
            "tnp.add(True, True)": "bool",
        }
    )


def test_tensors_still_act_like_tensors():
    code = """
print(repr(w), w)
print(tf.is_tensor(w), isinstance(w, tf.Tensor), w.shape, len(wf), int(i), [1, 2, 3, 4][i], f"{w:.2f}")
print(said(wf.T), said(wf.max()), said(wf.reshape(3, 1)), said(wf.astype(tf.float16)), wf.size, wf.tolist())
print(said(wf[0]), said(list(wf)[0]), wf[tf.constant([0, 2])].numpy(), wf[wf > 1].numpy(), round(w).numpy())
print(tf.zeros(tf.constant([2, 3])).shape, tf.gather(wf, tf.constant([1])).numpy())
"""
    assert run(code).splitlines() == [
        "<tf.Tensor: shape=(), dtype=float32, numpy=2.0, weak=True> "
        "tf.Tensor(2.0, shape=(), dtype=float32, weak=True)",
        "True False () 3 3 4 2.00",
        "float32* float32* float32* float16 3 [1.0, 2.0, 3.0]",
        "float32 float32* [1. 3.] [2. 3.] 2.0",
        "(2, 3) [2.]",
    ]


def test_variables_keep_their_dtype():
    code = """
print(n.assign_add(tf.constant(5, tf.int16)).numpy(), v.assign(i).numpy(), v.assign_sub(h).numpy())
print(failed(lambda: n.assign_add(2.5)))
print(failed(lambda: v.assign(tf.constant(2.0, tf.float64))))
"""
    kept, *errors = run(code).splitlines()
    assert kept == "8 3.0 1.0"
    for error in errors:
        assert error.startswith("TypeError: Variable.assign")
        assert "float64" in error


def test_gradients_have_the_dtype_of_their_source():
    code = """
def gradients(source, function):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(source)
        y = function(source)
    found = tape.gradient(y, source)
    return said(y), said(found), found.numpy().tolist()

print(gradients(w, lambda x: x * h))
print(gradients(h, lambda x: x * v))
print(gradients(h, lambda x: tf.constant(3, tf.int32) * x))
print(gradients(wf, lambda x: x[0] * x[1]))
with tf.GradientTape() as tape:
    y = v * tf.constant(2.0, tf.float64)
print(said(y), said(tape.gradient(y, v)))
with tf.GradientTape() as tape:
    tape.watch(wf)
    y = wf * wf
print(said(tape.jacobian(y, wf)))
"""
    assert run(code).splitlines() == [
        "('float16', 'float32*', 2.0)",
        "('float32', 'float16', 3.0)",
        "('float16', 'float16', 3.0)",
        "('float32', 'float32*', [2.0, 1.0, 0.0])",
        "float64 float32",
        "float32*",
    ]


def test_functions_with_gradients_of_their_own_take_weak_tensors():
    code = """
@tf.custom_gradient
def product(x, y):
    return x * y, lambda g: (10.0 * g * y, g * x)

cube = tf.recompute_grad(lambda x: x * x * x)
for call in (lambda: product(w, v), lambda: cube(w), lambda: product(w, w)):
    with tf.GradientTape() as tape:
        tape.watch(w)
        y = call()
    print(said(y), said(tape.gradient(y, w)))

with tf.autodiff.ForwardAccumulator(w, tf.constant(1.0)) as acc:
    y = cube(w) + product(w, v)
print(acc.jvp(y).numpy())

with tf.GradientTape(persistent=True) as tape:
    tape.watch(w)
    y = w * w
print(str(tape.explain(y, w)).partition(": ")[2][:9])
print([said(g) for g in tf.function(lambda x: tf.gradients(x * x, x))(w)])
"""
    assert run(code).splitlines() == [
        "float32 float32*",
        "float32* float32*",
        "float32* float32*",
        "42.0",
        "connected",
        "['float32']",
    ]


def test_functions_are_traced_for_weak_tensors():
    code = """
traces = []

@tf.function
def f(x):
    traces.append(said(x))
    return x * 2, x + tf.constant(1.5), tf.constant(7)

for x in (w, h, i, tf.constant(4.0), tf.constant(4.0, tf.float32)):
    print(*map(said, f(x)))
print(traces)

@tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
def g(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * tf.constant(3) + v
    return tape.gradient(y, [x, v])

print(*map(said, g(w)))
print(said(tf.cond(w > 1, lambda: w * 2, lambda: w)), said(f.get_concrete_function(tf.TensorSpec([]))(w)[0]))
print([said(x) for x in tf.data.Dataset.from_tensor_slices(wf).map(lambda x: x * 2).batch(2)])
"""
    assert run(code).splitlines() == [
        "float32* float32* int32*",
        "float16 float16 int32*",
        "int32* float32* int32*",
        "float32* float32* int32*",
        "float32 float32 int32*",
        "['float32*', 'float16', 'int32*', 'float32']",
        "float32 float32",
        "float32* float32",
        "['float32*', 'float32*']",
    ]


def test_safe_says_what_it_refuses():
    code = """
print(failed(lambda: tf.constant(10, tf.int32) + tf.constant(5.0, tf.float32)))
print(failed(lambda: tf.add(tf.constant(10, tf.int8), tf.constant(5, tf.uint32))))
print(said(tf.constant(10, tf.int32) + tf.constant(5.0, tf.float64)))
"""
    first, second, third = run(code, "safe").splitlines()
    assert first.startswith(
        "TypeError: In promotion mode 'safe', implicit dtype promotion between (tf.int32, weak="
    )
    assert 'dtype_conversion_mode="all"' in first
    assert "int64, which is wider" in second
    assert third == "float64"


def test_large_integers_need_a_dtype():
    assert run("print(failed(lambda: tf.constant(2**40)))").startswith(
        "OverflowError: The integer 1099511627776"
    )


def test_the_mode_that_was_chosen_last_holds():
    code = """
def now(mode):
    tnp.experimental_enable_numpy_behavior(dtype_conversion_mode=mode)
    return failed(lambda: tf.constant(1) + tf.constant(1.5, tf.float64)).partition(":")[0], said(tf.constant(1))

for mode in ("safe", "legacy", "off", "all", "off"):
    print(mode, *now(mode))
print(said(w + w), failed(lambda: w + h).partition(":")[0], failed(lambda: n.assign_add(h)).partition(":")[0])
"""
    assert run(code).splitlines() == [
        "safe nothing int32*",
        "legacy nothing int32",
        "off DTypeError int32",
        "all nothing int32*",
        "off DTypeError int32",
        "float32 DTypeError ValueError",
    ]


@pytest.mark.parametrize("mode", ["every", None, 3])
def test_modes_that_are_not_there_are_named(mode):
    import tapeflow as tf

    with pytest.raises(ValueError, match="'safe' or 'all'"):
        tf.experimental.numpy.experimental_enable_numpy_behavior(dtype_conversion_mode=mode)
