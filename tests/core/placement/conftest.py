"""All tests of this folder have three devices."""

import pytest


@pytest.fixture(autouse=True)
def _three_devices(three_devices):
    pass
