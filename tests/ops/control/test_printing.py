"""`tf.print`: where it goes and how it looks."""

from __future__ import annotations

import io
import sys

import pytest

import tapeflow as tf


def _printed(*inputs, **how):
    stream = io.StringIO()
    tf.print(*inputs, output_stream=stream, **how)
    return stream.getvalue()


def test_streams(capsys, tmp_path):
    tf.print("err")
    tf.print("out", output_stream=sys.stdout)
    assert capsys.readouterr() == ("out\n", "err\n")
    path = tmp_path / "log.txt"
    for text in "ab":
        tf.print(text, output_stream=f"file://{path}")
    assert path.read_text() == "a\nb\n"
    lines = []
    tf.print("x", tf.constant(1), output_stream=lines.append, end="")
    assert lines == ["x 1"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (tf.range(10), "[0 1 2 ... 7 8 9]"),
        (tf.constant([[1.5, 2.0], [3.0, 4.0]]), "[[1.5 2]\n [3 4]]"),
        (tf.constant(["a", "b"]), '["a" "b"]'),
        (tf.constant([1 + 2j], tf.complex64), "[(1,2)]"),
        (
            [tf.constant("s"), "s", {"b": tf.constant(0.1), "a": 0.1}],
            "[\"s\", 's', {'a': 0.1, 'b': 0.1}]",
        ),
        (tf.zeros([2, 0]), "[[]\n []]"),
        ("{0} \x00", "{0} \x00"),
    ],
)
def test_values(value, text):
    assert _printed(value) == text + "\n"


def test_every_dimension_is_summarized():
    assert _printed(tf.reshape(tf.range(27), [3, 3, 3]), summarize=1) == (
        "[[[0 ... 2]\n  ...\n  [6 ... 8]]\n\n ...\n\n [[18 ... 20]\n  ...\n  [24 ... 26]]]\n"
    )


def test_tensors_that_print_are_still_differentiable():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x
        _printed(y)
    assert tape.gradient(y, x).numpy() == 4.0


def test_unknown_streams_are_refused():
    with pytest.raises(ValueError, match="'foo'"):
        tf.print("x", output_stream="foo")


def test_a_file_that_cannot_be_written_is_told(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="nowhere/log; No such file"):
        tf.print("x", output_stream=f"file://{tmp_path}/nowhere/log")
    with pytest.raises(tf.errors.FailedPreconditionError, match="Is a directory"):
        tf.print("x", output_stream=f"file://{tmp_path}")


def test_sparse_tensors_and_shapes(capsys):
    sparse = tf.sparse.from_dense([[0.0, 1.5], [0.0, 2.0]])
    tf.print(sparse, {"s": tf.sparse.eye(1)}, tf.TensorShape([1, None]))
    text = "'SparseTensor(indices=[[0 1]\n [1 1]], values=[1.5 2], shape=[2 2])'"
    inner = "'SparseTensor(indices=[[0 0]], values=[1], shape=[1 1])'"
    assert capsys.readouterr().err == f"{text} {{'s': {inner}}} TensorShape([1, None])\n"
