"""A process that is killed while it saves leaves a checkpoint that can be restored."""

import json
import os
import subprocess
import sys

import pytest
from tests.train import crash_nursery

FILES = {"safetensors": ["safetensors"], "tensorflow": ["index", "data-00000-of-00001"]}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked on Windows")
@pytest.mark.parametrize(
    ("kills", "wanted"), [(20, 2), pytest.param(200, 10, marks=pytest.mark.exhaustive)]
)
@pytest.mark.parametrize("file_format", FILES)
@pytest.mark.sample(4)
def test_a_process_killed_at_any_moment_leaves_the_latest_checkpoint_whole(
    tmp_path, file_format, kills, wanted
):
    run = subprocess.run(
        [
            sys.executable,
            crash_nursery.__file__,
            str(tmp_path),
            file_format,
            str(kills),
            str(wanted),
        ],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 0, run.stderr
    report = json.loads(run.stdout)
    assert report["flaws"] == []
    assert report["kills"] >= kills
    assert report["interrupted"] >= wanted, "hardly any process was killed while it wrote"
    assert report["exact"] >= wanted, "hardly any process was killed between two saves"
    # What killed processes left has been cleared away: the kept checkpoints and the state are all there is.
    last = report["steps"]
    numbers = range(last - crash_nursery.KEPT + 1, last + 1)
    kept = [f"ckpt-{n}.{end}" for n in numbers for end in FILES[file_format]]
    # A number that was begun before is written beside what was left of it.
    there = [name.replace("00001-of-00002", "00000-of-00001") for name in report["files"]]
    assert there == sorted(["checkpoint", *kept])
    assert "Traceback" not in run.stderr
