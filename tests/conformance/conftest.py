"""Lets the tests import what `record.py` imports too, outside of pytest."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

collect_ignore_glob = ["cases/*", "record.py"]
