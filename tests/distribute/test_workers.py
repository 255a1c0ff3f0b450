"""Two workers in two processes give what two replicas in one process give, and what TensorFlow gave."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("jax")

from tests.distribute import keras_runs, worker
from tests.distribute.processes import ROOT

import tapeflow as tf

WORKER = ROOT / "tests" / "distribute" / "worker.py"


def environment(**more):
    """That of a job."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    inherited = {k: v for k, v in os.environ.items() if k != "JAX_NUM_CPU_DEVICES"}
    return {**inherited, "PYTHONPATH": path, **more}


def launch(*arguments, seconds=900, **more):
    """Runs the workers of a job, and gives what has become of it."""
    return subprocess.run(
        [sys.executable, "-m", "tapeflow", "launch", *map(str, arguments)],
        env=environment(**more),
        capture_output=True,
        text=True,
        timeout=seconds,
    )


def results(done, output, count=2):
    """What each of the workers has written, when all have ended well."""
    assert done.returncode == 0, done.stderr[-4000:]
    return [json.loads(output.with_name(f"{output.name}.{i}").read_text()) for i in range(count)]


@pytest.fixture
def records(tmp_path):
    """Three files with the numbers 0 to 4, 10 to 14 and 20 to 24."""
    for i in range(3):
        with tf.io.TFRecordWriter(str(tmp_path / f"{i}.tfrecord")) as writer:
            for j in range(5):
                writer.write(f"{i}{j}")
    return tmp_path


# What TensorFlow 2.21 gave to two workers.
READ = {
    "data": [[[0, 1], [4, 5], [8]], [[2, 3], [6, 7], [9]]],
    "auto": [[[0, 1], [3, 4], [6]], [[2], [5], []]],
    "small": [[[0, 1]], [[2]]],
    "off": [[[0, 1], [2, 3], [4]]] * 2,
    "file": [
        [[0, 1], [2, 3], [4, 20], [21, 22], [23, 24]],
        [[10, 11], [12, 13], [14], [], []],
    ],
    "records": [[[0, 1], [4, 10], [13, 14], [22, 23]], [[2, 3], [11, 12], [20, 21], [24]]],
    "interleaved": [
        [[0, 1], [2, 3], [4, 20], [21, 22], [23, 24]],
        [[10, 11], [12, 13], [14], [], []],
    ],
}

# The same of ragged and sparse tensors, dicts and extension types, where TensorFlow gave it: it fails where a worker
# has no row of a sparse tensor.
READ_OF_COMPOSITES = {
    "ragged": [[[[], [1]], [[], [4]], [[]]], [[[2, 2]], [[5, 5]], []]],
    "all": [
        [[[], [1]], [[2, 2]], [[], [4]], [[5, 5]], [[]]],
        [[[]], [[1], [2, 2]], [[]], [[4], [5, 5]], [[]]],
    ],
    "sparse": [
        [
            [[[0, 0, 0], [1, 0, -1]], [2, 3]],
            [[[4, 0, -4], [5, 0, -5]], [2, 3]],
            [[[8, 0, -8]], [1, 3]],
        ],
        [
            [[[2, 0, -2], [3, 0, -3]], [2, 3]],
            [[[6, 0, -6], [7, 0, -7]], [2, 3]],
            [[[9, 0, -9]], [1, 3]],
        ],
    ],
    "both": [
        [
            {"ragged": [[], [1]], "dense": [0, 1]},
            {"ragged": [[], [4]], "dense": [3, 4]},
            {"ragged": [[]], "dense": [6]},
        ],
        [
            {"ragged": [[2, 2]], "dense": [2]},
            {"ragged": [[5, 5]], "dense": [5]},
            {"ragged": [], "dense": []},
        ],
    ],
    "one": [[[[]]], [[]]],
    "filtered": [[[[], [1]], [[], [4]], [[]]], [[[2, 2]], [[5, 5]], []]],
    "points": [[[[0, 1], [[], [1]]]], [[[2], [[2, 2]]]]],
    "files": [
        [["00", "01"], ["02", "03"], ["04", "20"], ["21", "22"], ["23", "24"]],
        [["10", "11"], ["12", "13"], ["14"], [], []],
    ],
    "function": [[[[], [1]], [[2, 2], []], [], []], [[[], [1]], [[2, 2], []], [[4], [5, 5]], [[]]]],
    "sums": [[8, 26, 6]] * 2,
}


@pytest.mark.exhaustive
def test_two_workers_are_two_replicas(tmp_path, records):
    output = tmp_path / "found"
    found = results(launch("-n", 2, WORKER, "short", output, records), output)
    alone = worker.strategy_of("one process")
    for number, told in enumerate(found):
        assert (told["replicas"], told["task"]) == (2, ["worker", number])
        everything = worker.everything(alone)
        for name in ("eager", "function"):
            for mine, theirs in zip(told["everything"][name], everything[name], strict=True):
                np.testing.assert_allclose(mine, theirs, 1e-6)
        training = worker.training(alone)
        np.testing.assert_allclose(told["training"]["losses"], training["losses"], 1e-5)
        # Both gradients travel together, and then the loss.
        report = "with other workers: 2 all-reduce, 64 bytes a call"
        assert report in told["training"]["report"] and report not in training["report"]
        for policy, read in READ.items():
            assert told["datasets"][policy] == read[number], policy
        for kind, read in READ_OF_COMPOSITES.items():
            assert told["composites"][kind] == read[number], kind
    first, second = (told["datasets"] for told in found)
    # The sizes 2 and 1 take turns, so that each step has a batch of 3 while both have rows.
    assert first["uneven"] == [[0, 1], [2], [3, 4], [20], [21, 22], [23], [24]]
    assert second["uneven"] == [[10], [11, 12], [13], [14], [], [], []]
    assert first["function"] == [[0, 1], [2, 3], [], []]
    assert second["function"] == [[0, 1], [2, 3], [4, 5], [6]]
    # Without a seed, too, no row is read by both, and none is left out.
    assert sorted(first["shuffled"] + second["shuffled"]) == list(range(20))
    assert first["read"] == [[[0, 1], [4, 5]], [0, 1, 4, 5]]
    assert second["read"] == [[[2, 3], [6, 7]], [2, 3, 6, 7]]


@pytest.mark.distribute
def test_keras_gives_the_losses_of_tensorflow(tmp_path):
    runs = [run for run in keras_runs.RUNS if run.endswith("_2")]
    output = tmp_path / "found"
    recorded = json.loads(keras_runs.LOSSES.read_text("utf-8"))
    for told in results(launch("-n", 2, WORKER, "keras_losses", output, 1, *runs), output):
        for run in runs:
            close = 2e-3 if run.startswith("half") else 2e-5
            for name, values in recorded[run].items():
                np.testing.assert_allclose(
                    told[run][name], values, close, close, err_msg=f"{run} {name}"
                )


@pytest.mark.distribute
def test_weights_of_classes_belong_to_the_rows_of_a_worker(tmp_path):
    output = tmp_path / "found"
    wanted = worker.class_weights(worker.strategy_of("one process"))
    for told in results(launch("-n", 2, WORKER, "weighted", output), output):
        np.testing.assert_allclose(told, wanted, 1e-5)


@pytest.mark.distribute
def test_workers_with_two_devices_each(tmp_path):
    output = tmp_path / "found"
    done = launch("-n", 2, WORKER, "keras_losses", output, 2, "mlp_4", "cnn_4")
    recorded = json.loads(keras_runs.LOSSES.read_text("utf-8"))
    for told in results(done, output):
        for run in ("mlp_4", "cnn_4"):
            for name, values in recorded[run].items():
                np.testing.assert_allclose(told[run][name], values, 2e-5, 2e-5, err_msg=name)


@pytest.mark.distribute
def test_the_tutorial_with_keras(tmp_path):
    done = launch("-n", 2, TUTORIALS, "with_keras", tmp_path)
    first, second = printed(done)
    assert first == second
    assert first["same"] and len(first["losses"]) == 6
    assert np.isfinite(first["losses"]).all() and first["losses"][1] < first["losses"][0]
    assert sorted(os.listdir(tmp_path)) == ["checkpoints", "model.keras", "workertemp_1"]


@pytest.mark.distribute
def test_the_tutorial_with_a_loop(tmp_path):
    done = launch("-n", 2, "--restarts", 1, TUTORIALS, "with_a_loop", tmp_path)
    first, second = printed(done)
    assert first == second
    ((epoch, loss, accuracy),) = first["epochs"]  # of the second attempt
    assert epoch == 2 and np.isfinite(loss) and 0 <= accuracy <= 1
    assert "the job is started again (1 of 1)" in done.stderr


TUTORIALS = ROOT / "tests" / "distribute" / "tutorials.py"


def printed(done):
    """The last line of each worker."""
    assert done.returncode == 0, done.stderr[-4000:]
    lines = [re.fullmatch(r"\[worker (\d)\] (\{.*)", line) for line in done.stdout.splitlines()]
    found = {match[1]: json.loads(match[2]) for match in lines if match is not None}
    return found["0"], found["1"]
