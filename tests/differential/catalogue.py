"""The whole catalogue: importing it fills `CATALOGUE`."""

from __future__ import annotations

import importlib
from pathlib import Path

from tests.differential.calls import CATALOGUE as CATALOGUE

for _path in sorted(Path(__file__).parent.glob("catalogue_*.py")):
    importlib.import_module(f"tests.differential.{_path.stem}")
