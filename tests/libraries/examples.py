"""The examples in docstrings of a library, each block a test. LIBRARIES_EXAMPLES names the modules.

Libraries of Keras's family write them between three backquotes, without results: that they run is what is tested.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import textwrap
from collections.abc import Iterator

import pytest

USUAL = {"keras": "keras", "np": "numpy", "tf": "tensorflow", "io": "io"}
"""What such examples take to be imported, beside the library itself."""


def blocks() -> Iterator[tuple[str, str]]:
    """The blocks of the public names of the modules, with a name for each."""
    for module_name in os.environ["LIBRARIES_EXAMPLES"].split():
        module = importlib.import_module(module_name)
        for name in sorted(vars(module)):
            text = inspect.getdoc(getattr(module, name)) or ""
            found = re.findall(r"```(?:python)?\n(.*?)```", text, re.S)
            for number, block in enumerate(found):
                yield f"{module_name}.{name}.{number}", textwrap.dedent(block)


@pytest.mark.parametrize("block", [pytest.param(text, id=name) for name, text in blocks()])
def test_example(block: str, tmp_path, monkeypatch) -> None:
    """The example runs."""
    monkeypatch.chdir(tmp_path)
    library = os.environ["LIBRARIES_EXAMPLES"].partition(".")[0]
    imported = {
        short: importlib.import_module(name) for short, name in {**USUAL, library: library}.items()
    }
    exec(compile(block, "<example>", "exec"), {"__name__": "example", **imported})
