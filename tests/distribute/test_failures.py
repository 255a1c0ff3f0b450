"""When something happens to one worker, all of them end and say to which, and the job goes on from its checkpoint."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("jax")

from tests.distribute.processes import ROOT
from tests.distribute.test_workers import WORKER, environment, launch, results

import tapeflow as tf

pytestmark = pytest.mark.distribute

# As by default, and for as long as a worker may take to compile beside other programs: less would end sound jobs.
HEARTBEAT, LIMIT = 30, 60
LIMITS = ("--heartbeat", HEARTBEAT, "--step-limit", LIMIT)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The losses of a job that nothing happens to."""
    folder = tmp_path_factory.mktemp("undisturbed")
    output = folder / "found"
    done = launch("-n", 2, WORKER, "steps", output, folder / "checkpoints", 40)
    first, second = results(done, output)
    assert first == second
    return {int(step): loss for step, loss in first["losses"].items()}


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:  # a process that is dead may not have been waited for
        return file.read().rpartition(")")[2].split()[0] not in "ZX"


def pids(output, attempt):
    """The processes of an attempt, when all have begun."""
    files = [output.with_name(f"{output.name}.{attempt}.{i}.pid") for i in range(2)]
    wait_until(lambda: all(f.exists() and f.read_text() for f in files), 600)
    return [int(f.read_text()) for f in files]


def wait_until(happened, seconds):
    until = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.02)


SAID = {
    "raise": "ValueError: this worker has had enough",
    "stop": f"it was not heard of for {HEARTBEAT} s",
    "loop": f"has waited for {LIMIT} s for the others to run the function",
    "leave": "its program is over",
}


@pytest.mark.parametrize("who", [0, 1])
@pytest.mark.parametrize("action", SAID)
def test_all_workers_end_and_name_the_one(tmp_path, action, who):
    output = tmp_path / "found"
    job = (*LIMITS, WORKER, "steps", output, tmp_path / "checkpoints", 40, 7, who, action)
    done = launch("-n", 2, *job)
    assert done.returncode != 0
    assert SAID[action] in done.stderr, done.stderr
    assert not any(map(is_running, pids(output, 0)))
    told = re.findall(rf"\[worker (\d)\] tapeflow: worker {who} of 2 failed first: .*", done.stderr)
    # Who stands still says nothing.
    assert set(told) == ({str(1 - who)} if action == "stop" else {"0", "1"}), done.stderr
    if action in ("stop", "loop"):
        assert f"what worker {1 - who} was doing" in done.stderr
        assert f"{WORKER}" in done.stderr or "worker.py" in done.stderr


def test_workers_that_run_different_programs(tmp_path):
    output = tmp_path / "found"
    job = (*LIMITS, WORKER, "steps", output, tmp_path / "checkpoints", 40, 3, 0, "differ")
    done = launch("-n", 2, *job)
    assert done.returncode != 0
    assert "The workers run different programs" in done.stderr
    assert "float32(3,)" in done.stderr and "float32(4,)" in done.stderr


def test_a_restarted_job_goes_on_from_its_checkpoint(tmp_path, undisturbed):
    output = tmp_path / "found"
    job = (*LIMITS, WORKER, "steps", output, tmp_path / "checkpoints", 40, 25, 1, "raise")
    for told in results(launch("-n", 2, "--restarts", 1, *job), output):
        assert told["attempt"] == 1
        assert told["losses"] == {str(i): undisturbed[i] for i in range(25, 40)}


def test_twenty_kills_at_random_moments(tmp_path, undisturbed):
    chance = random.Random(14)
    output, folder = tmp_path / "found", tmp_path / "checkpoints"
    kills = int(os.environ.get("TAPEFLOW_TEST_KILLS", "20"))
    command = [sys.executable, "-m", "tapeflow", "launch", "-n", "2", "--restarts", kills, *LIMITS]
    command += [WORKER, "steps", output, folder, 40]
    job = subprocess.Popen(
        list(map(str, command)),
        env=environment(),
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    for attempt in range(kills):
        running = pids(output, attempt)
        # From the first moments, with the checkpoint being restored, to some steps and saves later.
        time.sleep(chance.choice([chance.uniform(0, 0.5), chance.uniform(0.5, 1.5)]))
        if job.poll() is not None:
            break
        os.kill(running[chance.randrange(2)], signal.SIGKILL)
        wait_until(lambda found=running: not any(map(is_running, found)), HEARTBEAT + 5)
        newest = tf.train.latest_checkpoint(folder) if folder.exists() else None
        if newest is not None:
            reader = tf.train.load_checkpoint(newest)
            assert int(reader.get_tensor("step/.ATTRIBUTES/VARIABLE_VALUE")) >= 1
    _, errors = job.communicate(timeout=900)
    assert job.returncode == 0, errors[-4000:]
    lines = [
        line.split()
        for number in range(2)
        for line in output.with_name(f"{output.name}.{number}.losses").read_text().splitlines()
    ]
    found = [(int(step), float(loss)) for step, loss in lines]
    # One of the workers may have been killed when the other had saved a step, before it noted its own loss.
    assert {step for step, _ in found} == set(range(40))
    assert [loss for _, loss in found] == [undisturbed[step] for step, _ in found]


def test_all_workers_save_at_one_step_before_they_are_taken_away(tmp_path):
    output, folder = tmp_path / "found", tmp_path / "checkpoints"
    done = launch("-n", 2, "--restarts", 1, WORKER, "preempted", output, folder, 30, 12)
    first, second = results(done, output)
    assert first == second
    assert 13 <= first["began"] <= 15 and first["ended"] == 30
    assert first["total"] == 60.0
    assert "ended with status 42" in done.stderr
    assert sorted(os.listdir(folder)) == ["checkpoint", "ckpt-1.safetensors"]


def test_backup_and_restore(tmp_path):
    output, folder = tmp_path / "found", tmp_path / "backup"
    whole = results(launch("-n", 2, WORKER, "backed_up", output, folder, -1), output)
    job = ("-n", 2, "--restarts", 1, *LIMITS, WORKER, "backed_up", output, folder, 2)
    for told, all_epochs in zip(results(launch(*job), output), whole, strict=True):
        np.testing.assert_allclose(told["loss"], all_epochs["loss"][2:], 1e-6)
    assert not folder.exists()  # the first worker removes it, while the other may have ended


def test_both_ways_to_save(tmp_path):
    output = tmp_path / "found"
    found = results(launch("-n", 2, WORKER, "saved", output, tmp_path), output)
    for told in found:
        assert told["held"] == found[0]["held"] == told["alone"] == told["all"][:3]
        assert told["all"][3] == 3.0


def test_a_job_that_was_suspended_as_a_whole_goes_on(tmp_path, undisturbed):
    """By a queue of jobs, or Ctrl-Z: all stand still for longer than the heartbeat, and nobody is dead."""
    output = tmp_path / "found"
    command = [sys.executable, "-m", "tapeflow", "launch", "-n", "2", "--heartbeat", "10"]
    command += map(str, [WORKER, "steps", output, tmp_path / "c", 40])
    job = subprocess.Popen(
        command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    running = pids(output, 0)
    for pid in running:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(20)
    for pid in running:
        os.kill(pid, signal.SIGCONT)
    _, errors = job.communicate(timeout=600)
    assert job.returncode == 0, errors
    for i in range(2):
        losses = json.loads(output.with_name(f"{output.name}.{i}").read_text())["losses"]
        assert {int(step): loss for step, loss in losses.items()} == undisturbed


def test_signals_are_passed_on_and_the_job_is_not_started_again(tmp_path):
    output = tmp_path / "found"
    command = [sys.executable, "-m", "tapeflow", "launch", "-n", "2", "--restarts", "3"]
    command += map(str, [*LIMITS, WORKER, "steps", output, tmp_path / "c", 100000])
    job = subprocess.Popen(
        command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    running = pids(output, 0)
    job.send_signal(signal.SIGTERM)
    _, errors = job.communicate(timeout=600)
    assert job.returncode == 128 + signal.SIGTERM, errors
    assert "started again" not in errors
    assert not any(map(is_running, running))


def test_workers_end_although_nobody_reads_what_they_say(tmp_path):
    """Who has started them was killed, and then one of them fails."""
    output = tmp_path / "found"
    command = [sys.executable, "-m", "tapeflow", "launch", "-n", "2"]
    command += map(str, [*LIMITS, WORKER, "steps", output, tmp_path / "c", 1000, 60, 1, "raise"])
    job = subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    running = pids(output, 0)
    job.kill()
    job.communicate()
    wait_until(lambda: not any(map(is_running, running)), 600)


def test_the_command_explains_itself():
    done = launch("--help")
    assert done.returncode == 0
    for text in ("--restarts", "TF_CONFIG", "CheckpointManager", "SIGTERM", "--step-limit"):
        assert text in done.stdout
    assert launch("-n", 0, "script.py").returncode == 2
    assert "name a script" in launch("-n", 2).stderr
