"""The files that pages link to, each as a page with numbered lines, so that the site needs no other one."""

from __future__ import annotations

import html
import os
from pathlib import Path

from names import ROOT
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

# Where the repository is shown, as https://example.org/tapeflow/blob/main; without it, the site shows the files itself.
REPOSITORY = os.environ.get("TAPEFLOW_REPOSITORY", "").rstrip("/")

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{path}</title>
<link rel="icon" href="{up}assets/mark.svg">
<link rel="stylesheet" href="{up}assets/source.css">
<script src="{up}assets/source.js"></script>
<header><a href="{up}index.html">tapeflow</a> <span>{path}</span></header>
<pre><code>{code}</code></pre>
</html>
"""


def address(place: str) -> str:
    """Where `src/tapeflow/_src/core/tensor.py:12` is shown, from the top of the site."""
    path, _, line = place.partition(":")
    fragment = f"#L{line}" if line else ""
    if REPOSITORY:
        return f"{REPOSITORY}/{path}{fragment}"
    return f"source/{path}.html{fragment}"


def page(path: str) -> str:
    """A file as a page."""
    text = (ROOT / path).read_text("utf-8")
    up = "../" * len(Path("source", path).parent.parts)
    return PAGE.format(path=html.escape(path), up=up, code=highlighted(text))


def highlighted(text: str) -> str:
    """Lines with numbers that can be linked to."""
    lines = highlight(text, PythonLexer(), HtmlFormatter(nowrap=True)).rstrip("\n").split("\n")
    return "\n".join(
        f'<span id="L{n}"><a href="#L{n}">{n}</a>{line}</span>' for n, line in enumerate(lines, 1)
    )
