"""Random ops: where the bits come from, what they become, and what seeds mean."""

import threading

import numpy as np
import pytest
import scipy.stats

import tapeflow as tf
from tapeflow._src.ops.random import numbers
from tapeflow._src.primitives.random import normals, numbers as primitives, pace, philox


@pytest.fixture(autouse=True)
def _no_seed_left_behind():
    yield
    numbers.set_seed(None)


# Bits.


@pytest.mark.parametrize(
    ("key", "counter", "words"),
    [
        (0, 0, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        (2**64 - 1, 2**128 - 1, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            0x299F31D0_A4093822,
            0x03707344_13198A2E_85A308D3_243F6A88,
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_philox_known_answers(key, counter, words):
    assert philox.block(key, counter) == words


@pytest.mark.parametrize("counter", [0, 2**32 - 3, 2**64 - 7, 2**128 - 5, (7 << 64) + 2**63])
@pytest.mark.parametrize("n", [1, 4, 5, 20, 3 * pace.CHUNK + 1])
def test_many_blocks_are_as_one_by_one(counter, n):
    key = 0x0123456789ABCDEF
    state = philox.array_of(counter, key)
    some = sorted({0, n // 2, n - 1})
    expected = [philox.block(key, (counter + i) % 2**128) for i in some]
    assert philox.words32(state, 4 * n).reshape(-1, 4)[some].tolist() == [list(b) for b in expected]
    found = philox.blocks_at(state, np.array(some, np.uint64))
    assert philox.halves(found.reshape(-1)).reshape(-1, 4).tolist() == [list(b) for b in expected]


@pytest.mark.parametrize("counter", [0, 2**32 - 1000, 2**64 - 7 * 256, 2**128 - 256])
def test_every_so_many_blocks(counter):
    key, n = 0x0123456789ABCDEF, pace.CHUNK + 9
    found = np.empty((n, 2), np.uint64)
    philox.fill(found, counter, key, 256)
    some = [0, 1, 5, 9, 4000, pace.CHUNK, n - 1]
    expected = [philox.block(key, (counter + 256 * i) % 2**128) for i in some]
    assert philox.halves(found[some].reshape(-1)).reshape(-1, 4).tolist() == list(
        map(list, expected)
    )


@pytest.mark.parametrize("upper_first", [False, True])
@pytest.mark.parametrize(
    "numbers",
    [
        [3],
        range(2, 40),
        range(7, 7 + 256 * 9000, 256),
        [0, 1, 2, 3, 4, 6],
        [9, 8, 7, 6, 5, 4, 3],
        [0, 2**40, 2**41, 3 * 2**40, 2**42, 5 * 2**40],
        [0, 2, 1, 3, 5, 4] * 3000,
        [2**64 - 3, 2**64 - 2, 2**64 - 1, 0, 1, 2],
    ],
)
@pytest.mark.parametrize("counter", [5, 2**64 - 300, 2**128 - 2])
def test_blocks_with_numbers_are_as_one_by_one(numbers, upper_first, counter):
    key = 0x0123456789ABCDEF
    found = philox.blocks_at(
        philox.array_of(counter, key), np.array(numbers, np.uint64), upper_first
    )
    assert found.shape == (len(numbers), 2)
    for i in {*range(0, len(numbers), 997), len(numbers) - 1}:
        w0, w1, w2, w3 = philox.block(key, (counter + numbers[i]) % 2**128)
        if upper_first:
            w0, w1, w2, w3 = w1, w0, w3, w2
        assert found[i].tolist() == [w0 | w1 << 32, w2 | w3 << 32]


@pytest.mark.parametrize(
    "draw",
    [
        lambda n: numbers.stateless_uniform([n], (3, 4), -5, 100, dtype=tf.int32),
        lambda n: numbers.stateless_uniform([n], (3, 4), 0, 64, dtype=tf.int64),
        lambda n: tf.random.stateless_gamma([n], (3, 4), 2.0),
        lambda n: tf.random.stateless_gamma([n], (3, 4), np.float64(0.3)),
        lambda n: tf.random.stateless_gamma([n], (3, 4), 1.0),
        lambda n: tf.random.stateless_poisson([n], (3, 4), 3.0),
        lambda n: tf.random.stateless_poisson([n], (3, 4), 300.0),
        lambda n: tf.random.stateless_binomial([n], (3, 4), 20.0, 0.3),
        lambda n: tf.random.stateless_binomial([n], (3, 4), 2000.0, 0.3),
    ],
)
def test_a_draw_in_parts_and_on_threads_is_that_of_a_small_one(draw):
    large = draw(3 * 2**16 + 5).numpy()
    assert (large[:1000] == draw(1000).numpy()).all()
    assert (large[: 2**16 + 3] == draw(2**16 + 3).numpy()).all()


def test_parameters_that_are_tensors_keep_their_gradients():
    zero, one = tf.Variable(0.0), tf.Variable(1.0)
    g = tf.random.Generator.from_seed(1)
    draws = [
        lambda: tf.random.normal([5], zero, one, seed=1),
        lambda: tf.random.truncated_normal([5], zero, one, seed=1),
        lambda: tf.random.stateless_normal([5], (1, 2), zero, one),
        lambda: tf.random.uniform([5], zero, one, seed=1),
        lambda: g.normal([5], zero, one),
        lambda: g.truncated_normal([5], zero, one),
    ]
    for draw in draws:
        with tf.GradientTape() as tape:
            y = draw()
        assert all(gradient is not None for gradient in tape.gradient(y, [zero, one]))
    tf.random.set_seed(4)
    plain = tf.random.normal([5])
    tf.random.set_seed(4)
    assert (plain.numpy() == tf.random.normal([5], zero, one).numpy()).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", ["uniform", "normal", "truncated_normal"])
def test_a_large_draw_begins_as_a_small_one(name, dtype):
    """It is cut for several threads, and for chunks."""
    draw = getattr(numbers, f"stateless_{name}")
    large = draw([3 * 2**18 + 1], seed=(3, 4), dtype=dtype).numpy()
    small = draw([5], seed=(3, 4), dtype=dtype).numpy()
    assert (large[:5] == small).all()
    again = draw([3 * 2**18 - 2], seed=(3, 4), dtype=dtype).numpy()
    assert (large[:-3] == again).all()
    assert draw([0], seed=(3, 4), dtype=dtype).shape == [0]


def test_words_one_after_the_other():
    whole = philox.WordStream(5, 6).take(3000)
    stream = philox.WordStream(5, 6)
    parts = [stream.take(3), [stream.one()], stream.take(2), [stream.one(), stream.one()]]
    stream.skip(100)
    parts += [[0] * 100, stream.take(1000)]
    joined = np.concatenate(parts)
    joined[8:108] = whole[8:108]
    assert (joined == whole[: joined.size]).all()


# Distributions.

FLOATS = [tf.float16, tf.bfloat16, tf.float32, tf.float64]


def draw(f, n=40000, seed=(2, 3), **kwargs):
    return f([n], seed=seed, **kwargs).numpy()


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_kolmogorov_smirnov(dtype):
    x = draw(numbers.stateless_normal, dtype=dtype)
    assert scipy.stats.kstest(x, "norm").pvalue > 0.01
    x = draw(numbers.stateless_uniform, dtype=dtype)
    assert scipy.stats.kstest(x, "uniform").pvalue > 0.01
    x = draw(numbers.stateless_truncated_normal, dtype=dtype)
    assert scipy.stats.kstest(x, scipy.stats.truncnorm(-2, 2).cdf).pvalue > 0.01


@pytest.mark.parametrize("dtype", FLOATS)
def test_moments_bounds_and_dtypes(dtype):
    x = draw(numbers.stateless_uniform, dtype=dtype).astype(np.float64)
    assert x.min() >= 0 and x.max() < 1
    assert abs(x.mean() - 0.5) < 0.01 and abs(x.var() - 1 / 12) < 0.005
    x = draw(numbers.stateless_normal, dtype=dtype).astype(np.float64)
    assert np.isfinite(x).all()
    assert abs(x.mean()) < 0.03 and abs(x.std() - 1) < 0.02
    assert abs(scipy.stats.kurtosis(x)) < 0.15
    x = draw(numbers.stateless_truncated_normal, dtype=dtype).astype(np.float64)
    assert np.abs(x).max() <= 2
    assert abs(x.std() - scipy.stats.truncnorm(-2, 2).std()) < 0.02
    assert numbers.normal([2], dtype=dtype).dtype is dtype


def test_normal_pairs_are_uncorrelated():
    x = draw(numbers.stateless_normal, n=40000)
    half = x.reshape(2, -1)
    assert abs(np.corrcoef(half)[0, 1]) < 0.03
    assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 0.02


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_integers_are_equally_likely(dtype):
    x = draw(numbers.stateless_uniform, minval=-3, maxval=4, dtype=dtype)
    values, counts = np.unique(x, return_counts=True)
    assert values.tolist() == list(range(-3, 4))
    assert scipy.stats.chisquare(counts).pvalue > 0.01


def test_integers_of_the_whole_range():
    low, high = -(2**63), 2**63 - 1
    x = draw(numbers.stateless_uniform, minval=low, maxval=high, dtype=tf.int64)
    assert abs((x < 0).mean() - 0.5) < 0.02
    full = numbers.stateless_uniform([1000], (1, 2), None, None, tf.int32).numpy()
    assert abs((full < 0).mean() - 0.5) < 0.1


def test_categorical_follows_the_logits():
    logits = np.log([[0.1, 0.2, 0.7], [0.5, 0.5, 1e-30]])
    x = numbers.stateless_categorical(logits, 20000, seed=(4, 4)).numpy()
    for row, p in zip(x, [[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]], strict=True):
        np.testing.assert_allclose(np.bincount(row, minlength=3) / 20000, p, atol=0.015)
    impossible = numbers.categorical([[0.0, -np.inf], [-np.inf, 0.0]], 50).numpy()
    assert (impossible == [[0], [1]]).all()
    assert numbers.categorical([[0.0]], 2).dtype is tf.int64
    assert numbers.categorical([[0.0]], 2, dtype=tf.int32).dtype is tf.int32
    assert numbers.categorical(np.zeros((0, 3)), 2).shape == [0, 2]


def test_categorical_searches_rows_in_parts(monkeypatch):
    logits = np.random.default_rng(0).normal(size=(7, 3))
    whole = numbers.stateless_categorical(logits, 9, seed=(1, 1)).numpy()
    monkeypatch.setattr(primitives, "_COMPARED", 60)
    assert (numbers.stateless_categorical(logits, 9, seed=(1, 1)).numpy() == whole).all()
    monkeypatch.setattr(primitives, "_COMPARED", 1)
    assert (numbers.stateless_categorical(logits, 9, seed=(1, 1)).numpy() == whole).all()


def test_shuffle():
    x = np.arange(60).reshape(20, 3)
    y = numbers.shuffle(x, seed=1).numpy()
    assert (y != x).any()
    assert sorted(y.tolist()) == x.tolist()
    firsts = [numbers.shuffle(np.arange(4), seed=8).numpy()[0] for _ in range(400)]
    assert scipy.stats.chisquare(np.bincount(firsts, minlength=4)).pvalue > 0.01
    assert numbers.shuffle(3).numpy() == 3
    assert numbers.shuffle(np.zeros((0, 2))).shape == [0, 2]


# Arguments.


@pytest.mark.parametrize(
    "shape", [[2, 3], (2, 3), np.array([2, 3]), tf.TensorShape([2, 3]), [tf.constant(2), 3]]
)
def test_shapes(shape):
    for f in (numbers.normal, numbers.uniform, numbers.truncated_normal):
        assert f(shape).shape == [2, 3]
    assert numbers.normal([]).shape == []
    assert numbers.uniform([0, 2]).shape == [0, 2]
    assert numbers.normal(tf.constant([2, 1])).shape == [2, 1]


def test_parameters_broadcast():
    assert numbers.normal([3, 2], [0.0, 100.0], 1.0).shape == [3, 2]
    assert (numbers.normal([3, 2], [0.0, 100.0]).numpy()[:, 1] > 50).all()
    low = numbers.uniform([2, 2], [0.0, 5.0], [4.0, 9.0]).numpy()
    assert (low[:, 1] >= 5).all() and (low[:, 0] < 4).all()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: numbers.uniform([2], dtype=tf.int32), ValueError),
        (lambda: numbers.uniform([2], dtype=tf.uint8), ValueError),
        (lambda: numbers.uniform([2], 5, 5, tf.int32), tf.errors.InvalidArgumentError),
        (lambda: numbers.uniform([2], [0, 1], 5, tf.int32), tf.errors.InvalidArgumentError),
        (lambda: numbers.uniform([2], 0, 4.5, tf.int32), TypeError),
        (lambda: numbers.uniform(3), tf.errors.InvalidArgumentError),
        (lambda: numbers.uniform([-1]), tf.errors.InvalidArgumentError),
        (lambda: numbers.uniform([1.0]), tf.errors.InvalidArgumentError),
        (lambda: numbers.uniform(None), ValueError),
        (lambda: numbers.uniform([1], seed="a"), TypeError),
        (lambda: numbers.normal([1], dtype=tf.int32), TypeError),
        (lambda: numbers.normal([1], dtype=tf.complex64), tf.errors.InvalidArgumentError),
        (lambda: numbers.categorical([0.0], 1), tf.errors.InvalidArgumentError),
        (lambda: numbers.categorical([[0.0]], -1), tf.errors.InvalidArgumentError),
        (lambda: numbers.categorical(np.zeros((1, 0)), 1), tf.errors.InvalidArgumentError),
        (lambda: numbers.categorical([[0.0]], 1, tf.float32), ValueError),
        (lambda: numbers.stateless_uniform([1], seed=[1]), tf.errors.InvalidArgumentError),
        (lambda: numbers.stateless_uniform([1], seed=[1.0, 2.0]), tf.errors.InvalidArgumentError),
        (lambda: numbers.stateless_uniform([1], [1, 2], dtype=tf.int32), ValueError),
    ],
)
def test_mistakes(call, error):
    with pytest.raises(error):
        call()


# Gradients.


def test_gradients_flow_to_the_parameters():
    mean, stddev = tf.Variable(1.0), tf.Variable([2.0, 3.0])
    with tf.GradientTape() as tape:
        x = numbers.normal([8, 2], mean, stddev)
    g_mean, g_stddev = tape.gradient(x, [mean, stddev])
    noise = (x.numpy() - 1.0) / [2.0, 3.0]
    assert float(g_mean) == pytest.approx(16.0)
    np.testing.assert_allclose(g_stddev.numpy(), noise.sum(0), rtol=1e-4, atol=1e-5)


def test_no_gradient_through_a_shuffle():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = numbers.shuffle(x)
    assert tape.gradient(y, x) is None


# Seeds.


def sequence(n=3, op=numbers.uniform, **kwargs):
    return [float(op([], **kwargs)) for _ in range(n)]


def test_no_seed_gives_other_numbers():
    a = sequence()
    numbers.set_seed(None)
    assert a != sequence()
    assert len(set(a)) == 3


def test_the_global_seed_repeats_a_sequence():
    numbers.set_seed(7)
    a = sequence()
    numbers.set_seed(7)
    assert a == sequence()
    numbers.set_seed(8)
    assert a != sequence()
    assert len(set(a)) == 3


def test_the_place_in_the_sequence_counts_and_not_the_size():
    numbers.set_seed(7)
    numbers.normal([1])
    a = sequence()
    numbers.set_seed(7)
    numbers.normal([1000])
    assert a == sequence()


def test_an_op_seed_alone_fixes_a_sequence():
    numbers.set_seed(None)
    a = sequence(seed=1)
    numbers.set_seed(None)
    assert a == sequence(seed=1)
    assert len(set(a)) == 3
    assert a != sequence(seed=2)


def test_both_seeds():
    numbers.set_seed(7)
    a, b = sequence(seed=1), sequence(seed=1)
    assert a != b
    numbers.set_seed(7)
    assert a == sequence(seed=1)
    numbers.set_seed(8)
    assert a != sequence(seed=1)


def test_ops_with_one_seed_have_sequences_of_their_own():
    numbers.set_seed(7)
    a = sequence(seed=1)
    numbers.set_seed(7)
    b = []
    for _ in range(3):
        b.append(float(numbers.uniform([], seed=1)))
        numbers.normal([], seed=1)
        numbers.uniform([])
    assert a == b


@pytest.mark.parametrize("seed", [0, -5, 2**70, np.int64(3), "a", 1.5])
def test_what_may_be_a_global_seed(seed):
    assert numbers.set_seed(seed) is None
    a = sequence()
    numbers.set_seed(seed)
    assert a == sequence()


def test_stateless_ops_are_functions_of_their_seed():
    for f in (numbers.stateless_normal, numbers.stateless_uniform):
        a = f([4], seed=[1, 2]).numpy()
        assert (a == f([4], seed=tf.constant([1, 2])).numpy()).all()
        assert (a != f([4], seed=[1, 3]).numpy()).all()
        assert (a != f([4], seed=[2, 1]).numpy()).all()
        assert (f([4], seed=[-1, 2]).numpy() != a).all()


def test_threads_never_share_a_state():
    numbers.set_seed(3)
    drawn = []

    def work():
        drawn.extend([float(numbers.uniform([], dtype=tf.float64)) for _ in range(200)])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    numbers.set_seed(3)
    assert sorted(drawn) == sorted(sequence(800, dtype=tf.float64))


def test_global_state_of_numpy_is_left_alone():
    before = np.random.get_state()[1].copy()
    numbers.set_seed(1)
    numbers.normal([10])
    assert (np.random.get_state()[1] == before).all()


def test_large_draws_of_several_threads_are_those_of_one():
    n = 16 * pace.CHUNK + 3
    alone = [numbers.stateless_normal([n], seed=(i, 5)).numpy() for i in range(3)]
    found = {}

    def draw(i):
        found[i] = numbers.stateless_normal([n], seed=(i, 5)).numpy()

    threads = [threading.Thread(target=draw, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((found[i] == alone[i]).all() for i in range(3))


@pytest.mark.parametrize(("module", "step"), [(philox, "_last_products"), (normals, "_directions")])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_draw_in_the_middle_of_a_draw_changes_neither(monkeypatch, module, step, dtype):
    """As a signal handler makes it."""

    def draws():
        normal = tf.random.stateless_normal([40_000], (1, 2), dtype=dtype)
        return [normal.numpy(), tf.random.stateless_gamma([999], (1, 2), 0.3, dtype=dtype).numpy()]

    expected, plain, inside = draws(), getattr(module, step), []

    def interrupted(*args):
        if not inside:
            inside.append(None)
            inside.extend(draws())
        return plain(*args)

    monkeypatch.setattr(module, step, interrupted)
    for found in (draws(), inside[1:] or expected):
        for x, y in zip(found, expected, strict=True):
            np.testing.assert_array_equal(x, y)


def test_an_algorithm_that_there_is_not():
    calls = [
        lambda alg: tf.random.stateless_normal([2], [1, 2], alg=alg),
        lambda alg: tf.random.stateless_uniform([2], [1, 2], alg=alg),
        lambda alg: tf.random.split([1, 2], alg=alg),
    ]
    for call in calls:
        call("philox")
        with pytest.raises(ValueError, match="Unsupported algorithm 'zz'"):
            call("zz")
