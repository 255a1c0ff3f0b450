"""Saves a model in TensorFlow's format over and over, until it is killed. Run by test_crash.py.

The function of each model adds the number that its variable holds, so that a mixture of two would show.
"""

from __future__ import annotations

import sys

import numpy as np

import tapeflow as tf
import tapeflow.saved_model

SIZE = 20_000
OPTIONS = tf.saved_model.SaveOptions(format="tensorflow")


class Numbered(tf.Module):
    """A model of a number."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = tf.Variable(np.full(SIZE, number, np.float32))
        self.added = number

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def twice(self, x: tf.Tensor) -> tf.Tensor:
        """The same number from the graph and from the variable."""
        return tf.stack([x + float(self.added), tf.reduce_mean(self.number)])


if __name__ == "__main__":
    for turn in range(1, 10_000):
        tf.saved_model.save(Numbered(turn), sys.argv[1], options=OPTIONS)
        print(turn, flush=True)
