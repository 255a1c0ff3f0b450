"""Docstrings as Markdown: examples as sessions, sections as lists, names of the library as links."""

from __future__ import annotations

import re
from collections.abc import Callable

SECTIONS = ("Args", "Attributes", "Returns", "Raises", "Yields")
TITLES = {"Args": "Arguments"}
_ENTRY = re.compile(r"(\*{0,2}[\w.]+(?:, \*{0,2}[\w.]+)*):\s+(.*)", re.DOTALL)

Link = Callable[[str], str]  # makes a link of a name, or gives it back as code


def markdown(text: str, link: Link) -> str:
    """A docstring as Markdown."""
    return "\n\n".join(_block(block, link) for block in _blocks(text))


def _blocks(text: str) -> list[str]:
    """Parts with an empty line between them; a section with all that is indented under it is one part."""
    blocks: list[str] = []
    for block in re.split(r"\n{2,}", text.strip()):
        under = blocks and _is_section(blocks[-1]) and block.startswith(" ")
        if under:
            blocks[-1] += f"\n\n{block}"
        else:
            blocks.append(block)
    return blocks


def _is_section(block: str) -> bool:
    return block.partition("\n")[0].rstrip(":") in SECTIONS and ":\n" in block


def _block(block: str, link: Link) -> str:
    if _is_section(block):
        return _section(block, link)
    if ">>> " in block:
        before, mark, example = block.partition(">>> ")
        words = f"{prose(before.strip(), link)}\n\n" if before.strip() else ""
        return f"{words}```pycon\n{_dedented(mark + example, before)}\n```"
    if block.startswith("    "):
        return f"```text\n{_dedented(block, '')}\n```"
    if block.lstrip().startswith(("- ", "* ", "1. ", "|")):
        return prose(block, link)
    return prose(block, link)


def _dedented(text: str, before: str) -> str:
    """An example as if it began at the left."""
    indent = len(before) - len(before.rstrip(" ")) if before else 0
    lines = text.split("\n")
    if not before:
        indent = len(lines[0]) - len(lines[0].lstrip())
    return "\n".join(line[indent:] if line[:indent].isspace() else line for line in lines).rstrip()


def _section(block: str, link: Link) -> str:
    title, _, rest = block.partition("\n")
    title = title.rstrip(":")
    entries: list[str] = []
    indent = len(rest) - len(rest.lstrip(" "))
    for line in rest.split("\n"):
        begins = line[:indent].isspace() and line[indent : indent + 1] not in ("", " ")
        if begins and (title not in ("Returns", "Yields") or not entries):
            entries.append(line.strip())
        elif entries:
            entries[-1] += f"\n{line.strip()}"
    lines = [f"**{TITLES.get(title, title)}**", ""]
    if title in ("Returns", "Yields"):
        return "\n".join([*lines, *(prose(entry, link) for entry in entries)])
    for entry in entries:
        match = _ENTRY.fullmatch(entry)
        if match:
            words = prose(" ".join(match[2].split()), link)
            lines.append(f"- `{match[1]}`: {words}")
        else:
            lines.append(f"- {prose(' '.join(entry.split()), link)}")
    return "\n".join(lines)


def prose(text: str, link: Link) -> str:
    """Sentences, in which only code is marked up."""
    parts = re.split(r"(``.+?``|`[^`]+`)", text)
    for i, part in enumerate(parts):
        if i % 2:
            name = part.strip("`")
            parts[i] = link(name) if re.fullmatch(r"tf(\.\w+)+", name) else part
        else:
            parts[i] = re.sub(r"([*_<\[\]\\])", r"\\\1", part).replace("&", "&amp;")
    return "".join(parts)
