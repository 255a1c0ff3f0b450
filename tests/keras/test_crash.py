"""A process that is killed while it saves a model leaves the one before, or the new one, and nothing else."""

import json
import os
import subprocess
import sys

import pytest
from tests.keras import crash_nursery


@pytest.mark.parametrize(
    ("kills", "wanted"), [(5, 2), pytest.param(40, 20, marks=pytest.mark.exhaustive)]
)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked on Windows")
@pytest.mark.exhaustive
def test_a_process_killed_at_any_moment_leaves_files_that_can_be_read(tmp_path, kills, wanted):
    run = subprocess.run(
        [sys.executable, crash_nursery.__file__, str(tmp_path), str(kills)],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 0, run.stderr
    report = json.loads(run.stdout.splitlines()[-1])
    assert report.keys() == crash_nursery.WRITERS.keys()
    for name, found in report.items():
        assert found["flaws"] == [], name
        assert found["left"] == [], name
    assert sum(found["interrupted"] for found in report.values()) >= wanted, (
        "hardly any was writing"
    )
