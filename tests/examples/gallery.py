"""Loading the examples: they are scripts, and in no package."""

import importlib.util
from pathlib import Path
from types import ModuleType

EXAMPLES = Path(__file__).parents[2] / "examples"


def load(name: str) -> ModuleType:
    """The example of this name, as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_picture(path: Path) -> bool:
    """Whether a picture was drawn there."""
    return path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 5000
