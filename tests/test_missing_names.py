"""A name that is not there says so, and says where to look."""

# pyright: reportAttributeAccessIssue=false, reportArgumentType=false

import copy
import doctest
import inspect
import pickle
import subprocess
import sys
import types

import pytest

import tapeflow as tf
from tapeflow._src.core import missing

# Chosen from what TensorFlow has, or had, and tapeflow has not. Whoever adds one puts another in its place.
ABSENT_OP = "relu_layer"
ABSENT_NAMESPACE = "tpu"


def test_a_missing_op_is_named_in_full():
    with pytest.raises(AttributeError, match=rf"does not have tf\.nn\.{ABSENT_OP} yet"):
        getattr(tf.nn, ABSENT_OP)


def test_a_missing_namespace_is_named():
    with pytest.raises(AttributeError, match=rf"does not have tf\.{ABSENT_NAMESPACE} yet"):
        getattr(tf, ABSENT_NAMESPACE)


def test_the_message_points_to_the_list():
    with pytest.raises(AttributeError, match=r"docs/compatibility\.md$"):
        getattr(tf, ABSENT_NAMESPACE)


def test_a_slip_of_the_pen_is_answered_with_the_name_meant():
    with pytest.raises(AttributeError, match=r"Did you mean tf\.reduce_sum\b"):
        tf.reduce_summ
    with pytest.raises(AttributeError, match=r"Did you mean tf\.nn\.softmax\b"):
        tf.nn.sofmax


def test_the_same_name_elsewhere_comes_first():
    assert missing.nearest("tf.random.reduce_sum")[0] == "tf.reduce_sum"
    assert "tf.nn.softmax" in missing.nearest("tf.linalg.softmax")


def test_part_of_a_name_leads_to_the_whole():
    assert missing.nearest("tf.mean")[0] == "tf.reduce_mean"
    assert "tf.nn.sigmoid_cross_entropy_with_logits" in missing.nearest(
        "tf.nn.sigmoid_cross_entropy"
    )


def test_a_name_like_no_other_gets_no_guess():
    assert missing.nearest("tf.xyzzy") == []
    assert "Did you mean" not in missing.message("tf.xyzzy")


def test_python_adds_no_guess_of_its_own():
    code = "import tapeflow as tf\ntf.reduce_summ"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.count("Did you mean") == 1


@pytest.mark.parametrize("name", sorted(missing.ADVICE))
def test_advice_is_only_given_for_what_is_missing(name):
    assert not hasattr(tf, name.removeprefix("tf."))
    assert missing.ADVICE[name] in missing.message(name)


def test_guesses_are_names_that_are_there():
    for place, module in missing.namespaces():
        for name in missing.public_names(module):
            found = tf
            for part in [*place.split(".")[1:], name]:
                found = getattr(found, part)


def test_no_guess_leads_inside_the_package():
    places = dict(missing.namespaces())
    assert next(iter(places)) == "tf"
    assert {"tf.errors", "tf.linalg", "tf.math", "tf.nest", "tf.nn", "tf.random"} <= set(places)
    assert {"core", "ops", "primitives"}.isdisjoint(missing.public_names(tf))
    assert {"Any", "annotations", "np", "optree"}.isdisjoint(missing.public_names(tf.nest))


def test_hasattr_and_defaults_keep_working():
    assert not hasattr(tf, ABSENT_NAMESPACE)
    assert getattr(tf.nn, ABSENT_OP, None) is None


def test_names_that_python_looks_for_get_a_plain_answer():
    with pytest.raises(AttributeError) as failure:
        tf.__wrapped__
    assert "yet" not in str(failure.value)


def test_tools_that_probe_modules_are_undisturbed():
    assert inspect.unwrap(tf.nn) is tf.nn
    assert inspect.getmodule(tf.nn) is tf.nn
    assert copy.copy([tf.nn])[0] is tf.nn
    assert pickle.loads(pickle.dumps(tf.nn.softmax)) is tf.nn.softmax
    assert doctest.DocTestFinder(recurse=False).find(tf.nn) is not None


def test_a_from_import_says_the_same():
    with pytest.raises(ImportError, match=rf"does not have tf\.nn\.{ABSENT_OP} yet"):
        exec(f"from tapeflow.nn import {ABSENT_OP}")
    with pytest.raises(ImportError, match=rf"does not have tf\.{ABSENT_NAMESPACE} yet"):
        exec(f"from tapeflow import {ABSENT_NAMESPACE}")


def test_from_import_of_what_is_there_still_works():
    scope = {}
    exec("from tapeflow import nn\nfrom tapeflow.nn import softmax", scope)
    assert scope["nn"] is tf.nn
    assert scope["softmax"] is tf.nn.softmax


def test_every_namespace_answers_in_its_own_name():
    for place, module in missing.namespaces():
        with pytest.raises(AttributeError, match=rf"does not have {place}\.no_such_name yet"):
            module.no_such_name


def test_any_module_can_answer_for_a_namespace():
    module = types.ModuleType("example")
    module.__getattr__ = missing.Missing("tf.example")
    with pytest.raises(AttributeError, match=r"does not have tf\.example\.parse yet") as failure:
        module.parse
    assert failure.value.name == "parse"


def test_two_threads_ask_for_names_of_one_folder():
    # The first one is held where the folder is half imported. The second one has to wait for it: else it would have
    # a class without its operators, or meet a module that the first one has begun.
    code = """
import sys, threading
import tapeflow as tf

half, go_on = threading.Event(), threading.Event()

class Holding:
    def find_spec(self, name, path=None, target=None):
        if name == "tapeflow._src.ragged.methods":
            half.set()
            go_on.wait(300)

sys.meta_path.insert(0, Holding())
found = []
first = threading.Thread(target=lambda: found.append(tf.ragged.constant([[1], []])))
second = threading.Thread(target=lambda: found.append(tf.RaggedTensor.from_row_lengths([1], [1, 0]) + 1))
first.start()
half.wait(300)
second.start()
second.join(1)
assert not found
go_on.set()
first.join()
second.join()
assert len(found) == 2, found
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_is_imported_on_first_use_is_offered_before():
    code = "import tapeflow as tf; print(*dir(tf), *dir(tf.math), *dir(tf.experimental))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    wanted = {
        "keras",
        "optimizers",
        "data",
        "math",
        "nn",
        "train",
        "GradientTape",
        "special",
        "numpy",
    }
    assert wanted <= {*shown.stdout.split()}
