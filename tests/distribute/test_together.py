"""Workers in several processes run a traced step as one program, and go in step where they cannot."""

from __future__ import annotations

import re

import numpy as np
import pytest

pytest.importorskip("jax")

from tests.distribute import together_worker
from tests.distribute.processes import ROOT
from tests.distribute.test_workers import launch, results

import tapeflow as tf

WORKER = ROOT / "tests" / "distribute" / "together_worker.py"


def found(tmp_path, what, devices, *more):
    """What two workers have found, each with some devices."""
    output = tmp_path / "found"
    return results(launch("-n", 2, WORKER, what, output, devices, *more), output)


def spans(told, count):
    """Whether a batch and a weight lie on as many devices, each with its rows, or the whole weight."""
    if not told["calls"]:
        return False
    (call,) = told["calls"]
    batch, weight = call["given"]
    each = together_worker.ROWS // count
    of_batch = [count, [together_worker.ROWS, 3], [[each, 3]] * (count // 2)]
    return batch == of_batch and weight == [count, [3, 1], [[3, 1]] * (count // 2)]


def divides(told, count):
    """Whether each replica has a part of the rows."""
    return told["rows"] == [together_worker.ROWS // count] * (count // 2)


def adds_up(told, count):
    """Whether the compiled program is one for as many devices, with the sum in it."""
    texts = told["texts"]
    return len(texts) == 1 and " all-reduce(" in texts[0] and f"num_partitions={count}" in texts[0]


@pytest.mark.exhaustive
def test_two_processes_run_one_program(tmp_path):
    first, second = found(tmp_path, "short", 1)
    alone = together_worker.evidence(tf.distribute.MirroredStrategy(["CPU:0"]))
    for told in (first["evidence"], second["evidence"]):
        # It cannot be faked: one device fails these checks.
        for check in (spans, divides, adds_up):
            assert check(told, 2) and not check(alone, 2)
        np.testing.assert_allclose(told["weight"], alone["weight"], 1e-4)
        assert "2 replicas of 2 workers in one program, 3 calls on 2 devices" in told["report"]
    for told in (first["unlike"], second["unlike"]):
        reports = told["reports"]
        # Where only constants differ, it is one program all the same.
        assert told["constants"] == [[22.0, [2.0, 3.0]]] * 3
        assert "in one program, 3 calls" in reports["constants"]
        assert told["shapes"] == [4.0, 5.0, 6.0]
        assert "1 calls in step: the workers have parts of different shapes" in reports["shapes"]
        assert told["ops"] == [2.0, 2.0]
        assert told["index"] == [6.0, 10.0] and told["refused"]
        assert told["table"] == [[5.0, 5.0]] * 4
        assert "in one program, 2 calls" in reports["index"]
        assert "1 calls in step: eager mode has to decide" in reports["index"]
    assert "2 calls in step: worker 1 does not run it" in first["unlike"]["reports"]["ops"]
    assert "in step: XLA does not run print" in second["unlike"]["reports"]["ops"]


@pytest.mark.distribute
def test_two_processes_of_two_devices_run_one_program(tmp_path):
    for told in found(tmp_path, "evidence", 2):
        for check in (spans, divides, adds_up):
            assert check(told, 4)
        (text,) = told["texts"]
        assert (
            text.count(" all-reduce(") == 1
        )  # over all, and not first over the devices of a process


@pytest.mark.distribute
def test_fifty_steps_are_those_of_replicas_in_step(tmp_path):
    pytest.importorskip("keras")
    from tests.distribute import keras_models

    strategy = tf.distribute.MirroredStrategy(["CPU:20", "CPU:21"])  # which are nowhere
    wanted = together_worker.fifty_steps(strategy, *keras_models.KINDS)
    for told in found(tmp_path, "fifty_steps", 1, *keras_models.KINDS):
        for kind in keras_models.KINDS:
            np.testing.assert_allclose(
                told[kind]["losses"], wanted[kind]["losses"], 1e-5, 1e-5, err_msg=kind
            )
            report = told[kind]["report"]
            assert re.search(r"2 replicas of 2 workers in one program, 50 calls", report), report
            assert "all-reduce" in report
