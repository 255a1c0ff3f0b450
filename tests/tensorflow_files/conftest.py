"""Files that TensorFlow wrote, unpacked."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest

RECORDED = Path(__file__).parent / "recorded"


class Recorded(NamedTuple):
    """What TensorFlow wrote, and what it gave then."""

    folder: Path
    expected: dict[str, Any]

    @property
    def checkpoint(self) -> str:
        return str(self.folder / "ckpt")

    @property
    def saved_model(self) -> str:
        return str(self.folder / "saved_model")


@pytest.fixture
def recorded(tmp_path: Path) -> Any:
    """Unpacks what was recorded under a name."""

    def unpacked(name: str) -> Recorded:
        folder = tmp_path / name
        with zipfile.ZipFile(RECORDED / f"{name}.zip") as archive:
            archive.extractall(folder)
        expected = folder / "expected.json"
        return Recorded(folder, json.loads(expected.read_text()) if expected.exists() else {})

    return unpacked
