"""All tests of this folder have three logical CPUs, and no GPU, be there one or not."""

import pytest

from tapeflow._src.core.placement.devices import devices


@pytest.fixture(autouse=True)
def _three_devices(three_devices, monkeypatch):
    monkeypatch.setattr(devices, "hidden", set(devices.accelerators()))
