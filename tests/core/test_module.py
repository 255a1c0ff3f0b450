"""`tf.Module` and `tf.name_scope`."""

from __future__ import annotations

import copy
import threading

import numpy as np
import pytest

import tapeflow as tf


class Dense(tf.Module):
    def __init__(self, inputs, outputs, name=None):
        super().__init__(name=name)
        with self.name_scope:
            self.w = tf.Variable(tf.ones([inputs, outputs]), name="w")
            self.b = tf.Variable(tf.zeros([outputs]), name="b")

    def __call__(self, x):
        return x @ self.w + self.b


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.layers = [Dense(2, 3, name="first"), Dense(3, 1, name="second")]
        self.extra = {
            "scale": tf.Variable(1.0, name="scale"),
            "pair": (tf.Variable(2.0, name="p"),),
        }
        self.steps = tf.Variable(0, trainable=False, name="steps")
        self.again = self.layers[0]  # found once


def test_variables_are_found_in_every_container():
    net = Net()
    names = [v.name for v in net.variables]
    assert names == [
        "p:0",
        "scale:0",
        "steps:0",
        "first/b:0",
        "first/w:0",
        "second/b:0",
        "second/w:0",
    ]
    assert "steps:0" not in [v.name for v in net.trainable_variables]
    assert [v.name for v in net.non_trainable_variables] == ["steps:0"]


def test_submodules():
    assert [m.name for m in Net().submodules] == ["first", "second"]


def test_names_come_from_the_class():
    class MyLongLayerName(tf.Module):
        pass

    assert MyLongLayerName().name == "my_long_layer_name"
    with pytest.raises(ValueError, match="not a valid module name"):
        Dense(1, 1, name="bad name")


def test_name_scopes_nest_and_end():
    with tf.name_scope("a") as outer:
        with tf.name_scope("b") as inner:
            v = tf.Variable(1.0, name="v")
    assert (outer, inner, v.name) == ("a/", "a/b/", "a/b/v:0")
    assert tf.Variable(1.0, name="v").name == "v:0"


def test_with_name_scope():
    class Late(tf.Module):
        @tf.Module.with_name_scope
        def build(self):
            return tf.Variable(1.0, name="v")

    assert Late(name="late").build().name == "late/v:0"


def test_cycles_end():
    a, b = tf.Module(name="a"), tf.Module(name="b")
    a.other, b.other = b, a  # type: ignore[attr-defined]
    assert [m.name for m in a.submodules] == ["b"]


def test_deepcopy_is_independent():
    net = Net()
    twin = copy.deepcopy(net)
    twin.layers[0].w.assign(tf.zeros([2, 3]))
    np.testing.assert_array_equal(net.layers[0].w, tf.ones([2, 3]))
    assert twin.again is twin.layers[0]


def test_a_module_trains():
    net = Dense(2, 1)
    x = tf.constant([[1.0, 0.0], [0.0, 1.0]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(net(x) ** 2)
    grads = tape.gradient(loss, net.trainable_variables)
    assert [g.shape for g in grads] == [(1,), (2, 1)]


def test_name_scopes_of_two_threads_do_not_mix():
    scope = tf.name_scope("shared")
    entered = threading.Barrier(2, timeout=120)
    names = {}

    def use(outer):
        with tf.name_scope(outer):
            with scope:
                entered.wait()
            entered.wait()
            names[outer] = tf.Variable(1.0, name="v").name

    threads = [threading.Thread(target=use, args=(outer,)) for outer in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert names == {"a": "a/v:0", "b": "b/v:0"}
