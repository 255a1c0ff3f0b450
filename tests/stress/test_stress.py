"""A short slice of `make stress`, always the same, and what can be said of the harness itself."""

import pytest
from tests.stress.run import main

SLICE = {"programs": 12, "threads": 18, "interrupts": 13, "signals": 5, "kills": 8}


@pytest.mark.parametrize("part", SLICE)
def test_a_short_slice_passes(part):
    assert main(["--only", part, "--seed", "0", "--cases", str(SLICE[part])]) == 0
