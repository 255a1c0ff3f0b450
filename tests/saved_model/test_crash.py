"""A process that is killed while it replaces a SavedModel in TensorFlow's format leaves the old one or the new one."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time

import pytest
from tests.saved_model import killed

import tapeflow as tf
import tapeflow.saved_model
from tapeflow._src.core.system.folders import can_exchange


@pytest.mark.skipif(can_exchange() is None, reason="this system has no exchange of names")
@pytest.mark.parametrize("kills", [1, pytest.param(15, marks=pytest.mark.exhaustive)])
def test_a_killed_process_leaves_a_whole_model(tmp_path, kills):
    folder = tmp_path / "model"
    tf.saved_model.save(killed.Numbered(0), folder, options=killed.OPTIONS)
    chance = random.Random(0)
    for _ in range(kills):
        command = [sys.executable, killed.__file__, str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            process.stdout.readline()  # it has saved once
            time.sleep(chance.uniform(0.0, 0.1))
            process.kill()
            said = [line for line in process.stdout if line.endswith("\n")]
        done = int(said[-1]) if said else 1
        computed, held = tf.saved_model.load(folder).twice(0.0).numpy().tolist()
        assert computed == held
        assert computed in (done, done + 1)
    tf.saved_model.save(killed.Numbered(7), folder, options=killed.OPTIONS)
    assert os.listdir(tmp_path) == ["model"]
    assert sorted(os.listdir(folder)) == ["saved_model.pb", "variables"]
