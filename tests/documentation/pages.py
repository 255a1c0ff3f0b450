"""The pages that are written by hand, and the programs on them.

`make differential` runs the snippets that are there for other libraries, and compares what they print with what the
page says they do:

    python -m tests.documentation.pages PyTorch
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INSIDE = sorted(ROOT.glob("src/**/README.md"))
PAGES = sorted(
    [
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "tests/README.md")),
        *ROOT.glob("docs/*.md"),
        *INSIDE,
    ]
)
PEERS = {"TensorFlow": "tensorflow", "PyTorch": "torch", "JAX": "jax"}
EXCERPT = ("# src/", "# tests/")
OTHERS = tuple(f"# {peer}\n" for peer in PEERS)

# What a page needs and does not show is in a comment of HTML before the block that needs it.
_CODE = re.compile(r"^```python\n(.*?)^```$|^<!-- setup\n(.*?)^-->$", re.DOTALL | re.MULTILINE)
_APART = re.compile(r"<!-- a program of its own(?:, with ([\w and]+))? -->")


def name_of(page: Path) -> str:
    """A page as tests name it."""
    return page.relative_to(ROOT).as_posix()


def page_on(peer: str) -> Path:
    """The page for those who come from another library."""
    return ROOT / f"docs/from_{peer.lower()}.md"


def blocks(page: Path, language: str) -> list[str]:
    """The code on a page in one language."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def programs(page: Path) -> Iterator[str]:
    """What a page has in Python, from top to bottom: one program, or several where it says so.

    Those that need packages which are not installed are left out.
    """
    first, *parts = _APART.split(page.read_text(encoding="utf-8"))
    for needs, part in [(None, first), *zip(parts[::2], parts[1::2], strict=True)]:
        packages = needs.split(" and ") if needs else []
        codes = [shown or setup for shown, setup in _CODE.findall(part)]
        own = [code for code in codes if not code.startswith((*EXCERPT, *OTHERS))]
        if own and all(find_spec(package) for package in packages):
            yield "\n".join(own)


def snippets(page: Path, library: str) -> str:
    """The column of a library."""
    first = f"# {library}\n"
    return "\n".join(block for block in blocks(page, "python") if block.startswith(first))


def promised(program: str) -> list[str]:
    """What the `print`s of a program give, as the comments behind them say."""
    return re.findall(r"^print\(.*\)  # (.*)$", program, re.MULTILINE)


def run(program: str, name: str = "page.py") -> str:
    """What a program prints in a process and a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_text(program, encoding="utf-8")
        done = subprocess.run([sys.executable, name], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout


def main() -> int:
    """Runs the snippets of the peers that are named, or of all."""
    wrong = 0
    for peer in sys.argv[1:] or PEERS:
        program = snippets(page_on(peer), peer)
        given, wanted = run(program).splitlines(), promised(program)
        print(f"{page_on(peer).name}: {peer} printed {len(given)} lines, {len(wanted)} promised")
        for one, other in zip(given, wanted, strict=False):
            if one != other:
                print(f"  {one}, and not {other}")
        wrong += given != wanted or len(wanted) != 10
    return wrong


if __name__ == "__main__":
    sys.exit(main())
