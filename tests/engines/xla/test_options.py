"""Which programs may leave products to XLA's library, and that results are those of eager mode then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.engines.only import run_all_on
from tests.proofs.test_table import SAMPLES

import tapeflow as tf
from tapeflow._src.core import dtypes
from tapeflow._src.graph.graph import Node, Value
from tapeflow._src.primitives.all_rows import TABLE

jax = pytest.importorskip("jax")

import tapeflow._src.engines.xla.subjects  # noqa: E402
from tapeflow._src.engines.xla import options  # noqa: E402
from tapeflow._src.engines.xla.lower import lower_nodes  # noqa: E402
from tapeflow._src.engines.xla.lowerings import LOWERINGS  # noqa: E402
from tapeflow._src.insides import xla_options  # noqa: E402

x, w = np.ones((4, 8), np.float32), np.ones((8, 8), np.float32)


def judged(function: Any, *arguments: Any) -> bool:
    graph = tf.function(function).get_concrete_function(*map(tf.constant, arguments)).graph
    return options.has_small_products(graph.nodes)


def in_a_loop(x: tf.Tensor, w: tf.Tensor, multiply: Any) -> tf.Tensor:
    return tf.while_loop(lambda x: tf.reduce_sum(x) < 9.0, lambda x: (multiply(x, w),), (x,))[0]


def test_small_products_of_matrices():
    assert judged(lambda x, w: tf.tanh(x @ w) + 1.0, x, w)
    assert judged(lambda x, w: tf.matmul(tf.matmul(x, w), w, transpose_b=True), x, w)
    assert judged(lambda x, w: in_a_loop(x, w, tf.matmul), x, w)


def test_programs_that_have_other_products_or_none():
    assert not judged(lambda x: tf.tanh(x), x)
    assert not judged(lambda x, w: (x @ w, tf.einsum("ab,cb->ca", x, w)), x, w)
    assert not judged(lambda x, w: x @ w, np.ones((2, 4, 8), np.float32), w)
    assert not judged(lambda x, w: x @ w, x.astype(np.float64), w.astype(np.float64))
    assert not judged(lambda x, w: x @ w, np.ones((0, 8), np.float32), w)
    assert not judged(lambda x, w: (x @ w, in_a_loop(x, w, lambda x, w: (x[None] @ w)[0])), x, w)


def test_large_products_are_not_small():
    large = np.zeros((512, 512), np.float32)
    assert not judged(lambda x: (x @ x, x[:4, :4] @ x[:4, :4]), large)


def test_of_unknown_sizes_nothing_is_known():
    function = tf.function(lambda x, w: x @ w)
    spec = [tf.TensorSpec([None, 8]), tf.TensorSpec([8, 8])]
    assert not options.has_small_products(function.get_concrete_function(*spec).graph.nodes)


def test_large_arrays():
    def chain(x: Any, length: int) -> Any:
        for _ in range(length):
            x = tf.sin(x)
        return x

    def judged(length: int, *shape: int | None) -> bool:
        function = tf.function(lambda x: chain(x, length))
        graph = function.get_concrete_function(tf.TensorSpec(shape)).graph
        return options.has_large_arrays(graph.nodes)

    assert judged(16, 1024, 1024)
    assert judged(1, 1024, 16 * 1024)
    assert not judged(15, 1024, 1024)
    assert not judged(1000, 256, 256)
    assert not judged(1000, None, 2**26)


def test_large_arrays_do_not_wait_for_each_other_in_memory():
    """What is computed of a large array is done with before the next one is there; the results are the same."""

    def rows(x: Any, w: Any) -> Any:
        return [tf.reduce_sum(tf.sin(x + float(i)) @ w, 0) for i in range(8)]

    arrays = np.ones((1024, 1024), np.float32), np.ones((1024, 1024), np.float32)
    graph = tf.function(rows).get_concrete_function(*map(tf.constant, arrays)).graph
    told = options.options(True, graph.nodes)
    assert told is not None
    inputs = [v for v in graph.inputs if v not in graph.constants]
    program = lower_nodes(graph.nodes, inputs, graph.outputs, graph.constants)
    by_memory, as_before = (
        jax.jit(program, compiler_options=o).lower(*arrays).compile()
        for o in (told, xla_options.exact_options())
    )
    if "xla_cpu_scheduler_type" in told:  # this version of XLA knows it
        ours, theirs = (c.memory_analysis().temp_size_in_bytes for c in (by_memory, as_before))
        assert ours < theirs / 2
    for a, b in zip(by_memory(*arrays), as_before(*arrays), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.exhaustive
def test_all_lowerings_with_products_are_known():
    def has_product(name: str, sample: Any) -> bool:
        numbers = [a.dtype.kind in "fc" for a in map(np.asarray, sample.inputs)]
        if name not in LOWERINGS or not any(numbers):
            return False
        with jax.enable_x64(True):
            arrays = [jax.numpy.asarray(a) for a in sample.inputs]
            found = str(jax.make_jaxpr(lambda *a: LOWERINGS[name](*a, **sample.attrs))(*arrays))
        return "dot_general" in found or "conv_general_dilated" in found

    def of(name: str) -> bool:
        for sample in SAMPLES[name]:
            try:
                if has_product(name, sample):
                    return True
            except (TypeError, jax.errors.JAXTypeError):  # it must know a value
                continue
        return False

    assert {name for name in SAMPLES if of(name)} <= {*options._OTHER_PRODUCTS, "matmul"}


def product(rows: int, columns: int, dtype: Any) -> Node:
    values = [Value(shape, dtypes.from_numpy(dtype)) for shape in ((rows, 8), (8, columns))]
    attrs = {"transpose_a": False, "transpose_b": False}
    return Node(TABLE["matmul"], values, attrs, [Value((rows, columns), values[0].dtype)])


def test_a_version_without_the_library_is_told_what_is_safe(monkeypatch: pytest.MonkeyPatch):
    def failure(told: dict[str, Any]) -> str | None:
        more = told["xla_cpu_experimental_ynn_fusion_type"] or "xla_cpu_scheduler_type" in told
        return "ValueError" if more else None

    monkeypatch.setattr(options, "_ON_X86", True)
    monkeypatch.setattr(xla_options, "_failure", failure)
    xla_options.exact_options.cache_clear()
    try:
        small = product(4, 8, np.dtype(np.float32))
        monkeypatch.setattr(options, "_LARGE", 1)
        monkeypatch.setattr(options, "_MUCH", 1)
        told = options.options(True, [small])
        assert told is not None
        assert told["xla_cpu_experimental_ynn_fusion_type"] == ""
        assert told["xla_disable_hlo_passes"] == "algsimp"
        assert "xla_cpu_scheduler_type" not in told
    finally:
        monkeypatch.undo()
        xla_options.exact_options.cache_clear()


# Results.


def random(*shape: int, seed: int) -> np.ndarray:
    return np.random.RandomState(seed).randn(*shape).astype(np.float32)


@pytest.mark.parametrize(("rows", "terms", "columns"), [(2, 3, 9), (5, 16, 7), (33, 17, 65)])
def test_products_and_transpositions(
    rows: int, terms: int, columns: int, monkeypatch: pytest.MonkeyPatch
):
    run_all_on(monkeypatch, "xla")

    def all_ways(a: tf.Tensor, b: tf.Tensor) -> list[tf.Tensor]:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([a, b])
            turned, other = tf.transpose(a), tf.transpose(b)
            results = [
                a @ b,
                tf.matmul(turned, b, transpose_a=True),
                tf.matmul(a, other, transpose_b=True),
                tf.matmul(turned, other, transpose_a=True, transpose_b=True),
                tf.transpose(other @ turned),
                tf.matmul(tf.reverse(a, [0]), b)[1:],
                tf.tanh(tf.transpose(a[:1])) @ tf.ones([1, 3]),
            ]
            total = tf.add_n([tf.reduce_sum(tf.sin(y)) for y in results])
        return [*results, *tape.gradient(total, [a, b])]

    inputs = [tf.constant(random(rows, terms, seed=1)), tf.constant(random(terms, columns, seed=2))]
    compiled = tf.function(all_ways)
    assert options.has_small_products(compiled.get_concrete_function(*inputs).graph.nodes)
    for found, expected in zip(compiled(*inputs), all_ways(*inputs), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_infinities_and_nan(monkeypatch: pytest.MonkeyPatch):
    run_all_on(monkeypatch, "xla")
    a, b = random(9, 17, seed=1), np.abs(random(17, 33, seed=2)) + 1
    a[2, 16], a[3, 0], a[4, 5], b[1, 32] = np.inf, np.nan, -np.inf, 0.0
    found = tf.function(tf.matmul)(tf.constant(a), tf.constant(b)).numpy()
    with np.errstate(invalid="ignore"):
        expected = a @ b
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_array_equal(np.isposinf(found), np.isposinf(expected))
    np.testing.assert_array_equal(np.isneginf(found), np.isneginf(expected))
