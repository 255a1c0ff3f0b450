"""Kernels in the place of parts of programs: the same numbers, and memory is read once.

Where there is a GPU of NVIDIA's, they are compiled for it; elsewhere jax interprets them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tapeflow as tf

jax = pytest.importorskip("jax")

from tapeflow._src.engines.xla.kernels import able, classes  # noqa: E402
from tapeflow._src.engines.xla.kernels.regions import (  # noqa: E402
    Kind,
    Region,
    regions_among,
)
from tapeflow._src.graph.passes import optimized  # noqa: E402
from tapeflow._src.graph.repeats.loops import Loop  # noqa: E402
from tapeflow._src.graph.repeats.rolling import Rolling  # noqa: E402

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def all_digits() -> Iterator[None]:
    """A GPU would round what products take."""
    before = tf.config.experimental.tensor_float_32_execution_enabled()
    tf.config.experimental.enable_tensor_float_32_execution(False)
    yield
    tf.config.experimental.enable_tensor_float_32_execution(before)


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def graph_of(function: Callable[..., Any], *arguments: Any) -> Any:
    concrete: Any = tf.function(function).get_concrete_function(*arguments)
    return optimized(concrete._graph_function.graph)


def regions_of(function: Callable[..., Any], *arguments: Any) -> list[Region]:
    graph = graph_of(function, *arguments)
    with able.for_all_sizes():
        found = regions_among(graph.nodes, [*graph.outputs, *graph.assigned.values()], ())
    return [item for item in found if isinstance(item, Region)]


def agree(function: Callable[..., Any], *arguments: Any, tolerance: float = 2e-5) -> None:
    """With kernels a function gives what eager mode gives."""
    expected = tf.nest.flatten(function(*arguments))
    with able.for_all_sizes():
        found = tf.nest.flatten(tf.function(function, jit_compile=True)(*arguments))
    for a, b in zip(expected, found, strict=True):
        assert a.dtype == b.dtype
        a, b = (tf.cast(x, tf.float32).numpy() for x in (a, b))
        scale = np.abs(a[np.isfinite(a)]).max(initial=0.0)
        np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance * scale)


def norm(x: Any, gain: Any, bias: Any) -> Any:
    wide = tf.cast(x, tf.float32)
    centred = wide - tf.reduce_mean(wide, -1, keepdims=True)
    variance = tf.reduce_mean(tf.square(centred), -1, keepdims=True)
    return tf.cast(centred * tf.math.rsqrt(variance + 1e-5) * gain + bias, x.dtype)


def block(dtype: Any) -> Callable[..., Any]:
    """Two layers with residual connections, and their gradients."""

    def function(x: Any, w: Any, gain: Any, bias: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, w, gain, bias])
            h = tf.cast(x, dtype)
            for _ in range(2):
                h = h + norm(h, gain, bias) @ tf.cast(w, dtype) + tf.cast(bias, dtype)
            loss = tf.reduce_mean(tf.square(tf.cast(norm(h, gain, bias), tf.float32) - 1.0))
        return [loss, *tape.gradient(loss, [x, w, gain, bias])]

    return function


# 96 columns do not fill a tile, 64 do.
@pytest.mark.parametrize("dtype, width", [(tf.float32, 96), (tf.bfloat16, 64)])
def test_layers_with_norms(dtype: Any, width: int) -> None:
    given = [normal(2, 16, width), 0.1 * normal(width, width), normal(width), normal(width)]
    arguments = [tf.constant(x) for x in given]
    assert len(regions_of(block(dtype), *arguments)) >= 4
    agree(block(dtype), *arguments, tolerance=2e-5 if dtype == tf.float32 else 2e-2)


def test_a_norm_reads_its_input_once_forwards_and_once_backwards() -> None:
    def function(x: Any, w: Any, gain: Any, bias: Any, u: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, gain, bias])
            y = norm(x, gain, bias) @ w
        return tape.gradient(y, [x, gain, bias], output_gradients=u)

    half = [tf.cast(x, tf.bfloat16) for x in (normal(4, 8, 32), normal(32, 32), normal(4, 8, 32))]
    x, w, u = half
    forwards, backwards = regions_of(function, x, w, normal(32), normal(32), u)
    large = [v.dtype.name for v, kind in forwards.inputs.items() if kind is Kind.ALL]
    assert large == ["bfloat16"]
    # Of the forward pass the backward pass takes nothing but numbers for each row.
    large = [v.dtype.name for v, kind in backwards.inputs.items() if kind is Kind.ALL]
    assert large == ["bfloat16", "bfloat16"]
    assert list(backwards.outputs.values()).count(Kind.COLUMN) == 2


def test_moments_and_a_norm_that_multiplies_numbers_of_rows_and_columns_first() -> None:
    """As Keras's layer norm does."""

    def function(x: Any, w: Any, gain: Any, bias: Any, u: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, gain, bias])
            wide = tf.cast(x, tf.float32)
            mean, variance = tf.nn.moments(wide, -1, keepdims=True)
            scale = tf.math.rsqrt(variance + 1e-3) * gain
            y = tf.cast(wide * scale + (bias - mean * scale), x.dtype) @ w
        return tape.gradient(y, [x, gain, bias], output_gradients=u)

    half = [tf.cast(x, tf.bfloat16) for x in (normal(4, 8, 48), normal(48, 48), normal(4, 8, 48))]
    x, w, u = half
    arguments = [x, w, tf.constant(normal(48)), tf.constant(normal(48)), u]
    for region in regions_of(function, *arguments):
        large = [v.dtype.name for v, kind in region.inputs.items() if kind is Kind.ALL]
        assert set(large) == {"bfloat16"}
    agree(function, *arguments, tolerance=2e-2)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16])
def test_numbers_of_rows_that_get_another_shape_keep_their_dtype(dtype: Any) -> None:
    """As the gradient by one number for each row does: it is a sum, which then has an axis more."""

    def function(x: Any, scale: Any, gain: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, scale, gain])
            y = tf.nn.gelu(x * scale, approximate=True) * gain
        return tape.gradient(y, [x, scale, gain])

    arguments = [tf.cast(normal(*shape), dtype) for shape in ((16, 24), (16, 1), (24,))]
    outputs = [v for region in regions_of(function, *arguments) for v in region.outputs]
    assert any(v.shape == (16, 1) and v.dtype == dtype for v in outputs)
    agree(function, *arguments, tolerance=4e-2)


def test_what_leads_out_and_back_is_not_in_one_region() -> None:
    def function(x: Any, w: Any) -> Any:
        y = norm(x, 1.0, 0.0)
        return norm(y + (y @ w), 1.0, 0.0) + y

    x, w = tf.constant(normal(16, 32)), tf.constant(normal(32, 32))
    first, second = regions_of(function, x, w)
    assert not {*first.outputs} & {*second.outputs}
    agree(function, x, w)


def test_two_paths_cross() -> None:
    """Each of two norms takes something that was computed from the other, so neither may wait for both."""

    def function(x: Any, z: Any, w: Any) -> Any:
        a, b = norm(x, 1.0, 0.0), norm(z, 1.0, 0.0)
        return a * (b @ w) + tf.reduce_mean(a, -1, keepdims=True), b * (a @ w)

    agree(function, *[tf.constant(normal(16, 32)) for _ in range(2)], tf.constant(normal(32, 32)))


@pytest.mark.parametrize("rows", [17, 3])
def test_numbers_of_rows_that_do_not_divide_are_left_to_xla(rows: int) -> None:
    x = tf.constant(normal(rows, 32))
    assert not regions_of(lambda x: norm(x, 1.0, 0.0), x)


def test_an_array_whose_axes_could_be_rows_or_columns() -> None:
    agree(lambda x: norm(x, 1.0, 0.0), tf.constant(normal(16, 16)))
    agree(
        lambda x, y: norm(x, 1.0, y), tf.constant(normal(16, 16, 16)), tf.constant(normal(16, 16))
    )


def test_rows_with_nan_and_infinity() -> None:
    x = normal(16, 32)
    x[1, 2], x[3, 4], x[5, 6] = np.nan, np.inf, -np.inf

    def function(x: Any) -> Any:
        top = tf.nn.relu(x - tf.reduce_mean(x, -1, keepdims=True))
        return tf.maximum(top, 0.5), tf.minimum(top, 0.5), tf.reduce_sum(top, 0)

    assert regions_of(function, tf.constant(x))
    agree(function, tf.constant(x))


@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16])
def test_gelu_with_the_gradient_of_its_bias(dtype: Any) -> None:
    def function(x: Any, w: Any, bias: Any, u: Any) -> Any:
        x, w, bias, u = (tf.cast(each, dtype) for each in (x, w, bias, u))
        with tf.GradientTape() as tape:
            tape.watch([x, bias])
            y = tf.nn.gelu(x @ w + bias, approximate=True)
        return [y, *tape.gradient(y, [x, bias], output_gradients=u)]

    given = [10 * normal(32, 16), normal(16, 200), normal(200), normal(32, 200)]
    arguments = [tf.constant(x) for x in given]
    assert regions_of(function, *arguments)
    agree(function, *arguments, tolerance=2e-5 if dtype == tf.float32 else 3e-2)


# Cross entropies.


def loss_of_products(dtype: Any, also: bool = False) -> Callable[..., Any]:
    def function(x: Any, w: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            logits = tf.cast(tf.cast(x, dtype) @ tf.cast(w, dtype), tf.float32)
            tape.watch(logits)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            loss = tf.reduce_mean(losses)
        wanted = [x, w, logits] if also else [x, w]
        return [losses, *tape.gradient(loss, wanted)]

    return function


MIXED = tf.constant(normal(32, 32))


def losses_of(function: Callable[..., Any], *arguments: Any) -> list[classes.Loss]:
    graph = graph_of(function, *arguments)
    with able.for_all_sizes():
        found = classes.with_losses(graph.nodes, graph.outputs)
    return [item for item in found if isinstance(item, classes.Loss)]


# 5000 classes do not fill the last of two blocks, 4096 fill one, 100 not even that.
@pytest.mark.parametrize("number", [5000, 4096, 100])
@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16])
def test_cross_entropy(dtype: Any, number: int) -> None:
    x, w = tf.constant(normal(2, 3, 8)), tf.constant(normal(8, number))
    labels = tf.constant(RNG.integers(0, number, (2, 3)))
    forwards, backwards = losses_of(loss_of_products(dtype), x, w, labels)
    assert forwards.logits is backwards.logits
    assert forwards.logits.dtype == dtype  # float32 is not written
    assert backwards.dtype == dtype.as_numpy_dtype
    tolerance = 2e-5 if dtype == tf.float32 else 2e-2
    agree(loss_of_products(dtype), x, w, labels, tolerance=tolerance)


def test_a_gradient_that_is_asked_for_in_float32_is_given_in_float32() -> None:
    x, w = tf.constant(normal(6, 8)), tf.constant(normal(8, 100))
    labels = tf.constant([1, 2, 3, 4, 5, 99])
    function = loss_of_products(tf.bfloat16, also=True)
    assert [loss.dtype for loss in losses_of(function, x, w, labels)] == [np.float32, np.float32]
    agree(function, x, w, labels, tolerance=2e-2)


def test_logits_that_were_rounded_stay_rounded() -> None:
    def function(x: Any, w: Any, labels: Any) -> Any:
        logits = tf.cast(tf.cast(x @ w, tf.bfloat16), tf.float32)
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)

    arguments = tf.constant(normal(6, 8)), tf.constant(normal(8, 100)), tf.constant([0] * 6)
    assert not losses_of(function, *arguments)
    agree(function, *arguments)


def test_a_loss_beside_a_loop() -> None:
    """A graph of so many equal parts that they become a loop."""

    def function(x: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            h = x
            for _ in range(130):
                h = tf.tanh(1.1 * h - tf.reduce_mean(h, -1, keepdims=True))
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, tf.identity(h) @ MIXED)
        return losses, tape.gradient(losses, x)

    x, labels = tf.constant(normal(16, 32)), tf.constant([3] * 16)
    graph = graph_of(function, x, labels)
    rolled = Rolling(graph.nodes, graph.outputs).items
    assert any(type(item) is Loop for item in rolled)
    with able.for_all_sizes():
        found = classes.with_losses(regions_among(rolled, graph.outputs, ()), graph.outputs)
    assert sum(isinstance(item, classes.Loss) for item in found) == 2
    agree(function, x, labels, tolerance=1e-3)


def test_logits_to_which_something_is_added_are_not_written_for_a_kernel() -> None:
    def function(x: Any, w: Any, bias: Any, labels: Any) -> Any:
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x @ w + bias)

    x, w, bias = normal(6, 8), normal(8, 100), normal(100)
    assert not losses_of(function, *map(tf.constant, (x, w, bias)), tf.constant([0] * 6))


def test_logits_without_limits_and_labels_out_of_range() -> None:
    x = normal(6, 100)
    x[0, :50], x[1], x[2, 3], x[3, 4] = -np.inf, -np.inf, np.inf, np.nan
    labels = tf.constant([60, 0, 0, 0, 100, -1])

    def function(x: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x)
        return losses, tape.gradient(losses, x)

    plain = tf.function(function, jit_compile=True)(tf.constant(x), labels)
    with able.for_all_sizes():
        found = tf.function(function, jit_compile=True)(tf.constant(x), labels)
    for a, b in zip(plain, found, strict=True):
        np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=2e-5, atol=1e-6)
    assert np.isnan(found[0].numpy()).tolist() == [False, True, True, True, True, True]


# Where there are none.


def test_a_program_for_another_device_has_what_the_kernels_compute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where there is a GPU, a program may still be compiled for a processor."""
    monkeypatch.setattr(able, "_have_compiler", lambda: True)
    x, w = tf.constant(normal(16, 8)), tf.constant(normal(8, 128))
    labels = tf.constant(RNG.integers(0, 128, 16))
    with tf.device("CPU:0"), able.for_all_sizes():
        step = tf.function(loss_of_products(tf.bfloat16), jit_compile=True)
        found = step(x, w, labels)
        y = tf.function(lambda x: norm(x, 1.0, 0.0), jit_compile=True)(x)
    expected = loss_of_products(tf.bfloat16)(x, w, labels)
    np.testing.assert_allclose(found[0].numpy(), expected[0].numpy(), rtol=2e-2)
    np.testing.assert_allclose(y.numpy(), norm(x, 1.0, 0.0).numpy(), rtol=1e-4, atol=1e-5)


def test_there_are_none_on_processors() -> None:
    if jax.default_backend() != "gpu":
        assert not able.has_kernels()
