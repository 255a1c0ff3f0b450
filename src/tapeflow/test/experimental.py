"""`tf.test.experimental`: waiting for devices."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.tools.test_conditions import sync_devices as sync_devices

__getattr__ = _Missing("tf.test.experimental")
