"""Strings go wherever tensors go: functions, loops, datasets, batches, saved models."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.strings import hashes


def test_the_folder_is_loaded_on_first_use():
    code = (
        "import sys, tapeflow as tf\n"
        "assert not [m for m in sys.modules if m.startswith('tapeflow._src.strings')]\n"
        "assert tf.as_string(1).numpy() == b'1'\n"
        "assert tf.as_string is tf.strings.as_string is tf.dtypes.as_string\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_strings_in_loops_and_branches():
    @tf.function
    def grown(x, n):
        for _ in tf.range(n):
            x = x + "a"
        if tf.strings.length(x) > 3:
            x = tf.strings.upper(x)
        return x

    assert grown(tf.constant("b"), tf.constant(2)).numpy() == b"baa"
    assert grown(tf.constant("b"), tf.constant(4)).numpy() == b"BAAAA"


def test_what_follows_strings_is_compiled():
    @tf.function(jit_compile=True)
    def f(x):
        return tf.cast(tf.strings.length(x), tf.float32) * 2.0

    assert f(tf.constant(["a", "bcd"])).numpy().tolist() == [2.0, 6.0]


def test_a_gradient_ends_at_strings():
    v = tf.Variable([1.5, 2.0])
    with tf.GradientTape() as tape:
        y = tf.strings.to_number(tf.strings.as_string(v)) * v
    assert tape.gradient(y, v).numpy().tolist() == [1.5, 2.0]


def test_strings_in_datasets():
    data = tf.data.Dataset.from_tensor_slices(["a b", "C"])
    data = data.map(tf.strings.upper).batch(2).map(lambda x: tf.strings.join([x, "!"]))
    assert [x.tolist() for x in data.as_numpy_iterator()] == [[b"A B!", b"C!"]]


def test_strings_of_many_examples_at_once():
    y = tf.vectorized_map(lambda x: tf.strings.lower(x) + "!", tf.constant(["A", "B"]))
    assert y.numpy().tolist() == [b"a!", b"b!"]


def test_a_saved_model_computes_with_strings(tmp_path):
    class Model(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def __call__(self, x):
            clean = tf.strings.regex_replace(tf.strings.lower(tf.strings.strip(x)), "[^a-z]", "")
            return {
                "sum": clean + "!",
                "fast": tf.strings.to_hash_bucket_fast(clean, 1000),
                "strong": tf.strings.to_hash_bucket_strong(clean, 1000, [1, 2]),
                "text": tf.strings.as_string(tf.strings.length(clean), width=4, fill="0"),
                "all": tf.strings.reduce_join(clean, 0, keepdims=True, separator="|"),
            }

    model = Model()
    given = tf.constant([" Ab1", "c"])
    wanted = {key: value.numpy().tolist() for key, value in model(given).items()}
    tf.saved_model.save(model, str(tmp_path))
    code = (
        "import sys, tapeflow as tf\n"
        f"found = tf.saved_model.load({str(tmp_path)!r})(tf.constant([' Ab1', 'c']))\n"
        f"assert {{k: v.numpy().tolist() for k, v in found.items()}} == {wanted!r}\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_hash_does_not_depend_on_what_is_hashed_beside():
    texts = [bytes([n % 251]) * n for n in range(200)]
    for function in (hashes.farmhash, hashes.murmur, lambda x: hashes.siphash(x, (1, 2))):
        assert function(texts).tolist() == [function([text])[0] for text in texts]


@pytest.mark.parametrize("rewrite", [r"\2", r"\x", "\\"])
def test_a_rewrite_that_means_nothing_is_refused(rewrite):
    with pytest.raises(tf.errors.InvalidArgumentError, match="only"):
        tf.strings.regex_replace("a", "(a)", rewrite)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(?=a)", "look ahead"),
        (r"(a)\1", "no"),
        (r"\C", "byte"),
        ("a**", "twice"),
        ("[b-a]", "down"),
    ],
)
def test_a_pattern_that_is_not_valid_says_why(pattern, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        tf.strings.regex_full_match("a", pattern)


def test_numbers_are_no_strings():
    with pytest.raises(TypeError, match="as_string"):
        tf.strings.upper(tf.constant([1]))


def test_no_strings_at_all():
    empty = tf.zeros([0, 2], tf.string)
    assert tf.strings.length(empty).shape == [0, 2]
    assert tf.strings.to_hash_bucket_fast(empty, 3).dtype == tf.int64
    assert tf.strings.to_hash_bucket_strong(empty, 3, [1, 2]).shape == [0, 2]
    assert tf.strings.reduce_join(empty, 0).numpy().tolist() == [b"", b""]
    assert tf.strings.to_number(empty).dtype == tf.float32


def test_a_fingerprint_is_of_a_row():
    rows = np.arange(6, dtype=np.int32).reshape(3, 2)
    found = tf.fingerprint(rows).numpy()
    assert found.shape == (3, 8)
    assert (tf.fingerprint(rows[1:]).numpy() == found[1:]).all()


@pytest.mark.parametrize("jit_compile", [None, False, True])
def test_sizes_that_come_from_strings(jit_compile):
    spec = [tf.TensorSpec([None, None], tf.string)]

    @tf.function(jit_compile=jit_compile, input_signature=spec)
    def ones(words):
        return tf.ones([tf.shape(words)[0], 2]) * 3.0

    for count in (2, 5, 5):
        np.testing.assert_array_equal(ones(tf.fill([count, 1], "a")), np.full([count, 2], 3.0))


@pytest.mark.parametrize("jit_compile", [None, False, True])
def test_strings_that_a_function_hands_back(jit_compile):
    count = tf.Variable([1.0, 2.0])

    @tf.function(jit_compile=jit_compile)
    def step(text, x):
        count.assign_add(x)
        return text, x + 1, tf.constant("constant"), tf.constant(["a", "b"]), x, count.read_value()

    text, more, one, two, x, counted = step(tf.constant(["given"]), tf.constant([1.0, 1.0]))
    assert text.numpy().tolist() == [b"given"]
    assert (one.numpy(), two.numpy().tolist()) == (b"constant", [b"a", b"b"])
    for found, expected in ((more, 2), (x, 1), (counted, [2, 3]), (count, [2, 3])):
        np.testing.assert_array_equal(found, np.broadcast_to(expected, [2]))
