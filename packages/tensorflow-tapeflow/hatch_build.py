"""Refuses to build for an environment that has TensorFlow, and adds what makes pip see a `tensorflow`.

pip builds with the Python of the environment that it installs into, so that is where to look.
"""

from __future__ import annotations

import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLLOWED = "2.21.0"  # the TensorFlow whose names and rules these are: `tapeflow.version.VERSION`

METADATA = f"""\
Metadata-Version: 2.1
Name: tensorflow
Version: {FOLLOWED}
Summary: Not TensorFlow: tapeflow in its place, by tensorflow-tapeflow.
"""


class CustomBuildHook(BuildHookInterface):
    """What hatchling calls before it makes a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Looks for TensorFlow, and adds the description of a `tensorflow`."""
        folder = Path(sysconfig.get_paths()["purelib"])
        real = [
            path.name for path in folder.glob("tensorflow*-*.dist-info") if _is_tensorflow(path)
        ]
        if real:
            raise RuntimeError(
                f"TensorFlow is installed in this environment ({real[0]}), and two packages cannot have one name. "
                "Uninstall it first (pip uninstall tensorflow), or make another environment for tapeflow."
            )
        self._folder = tempfile.TemporaryDirectory()
        description = Path(self._folder.name) / "PKG-INFO"
        description.write_text(METADATA)
        build_data["force_include"][str(description)] = "tensorflow.egg-info/PKG-INFO"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Cleans up."""
        self._folder.cleanup()


def _is_tensorflow(path: Path) -> bool:
    """Whether a distribution is TensorFlow itself, under one of its names."""
    name = path.name.partition("-")[0]
    return name in (
        "tensorflow",
        "tensorflow_cpu",
        "tensorflow_gpu",
        "tensorflow_intel",
        "tf_nightly",
    )
