"""How a public name differs from TensorFlow's: gathered from docs/compatibility.md and from what the tests accept."""

from __future__ import annotations

import functools
import json
import re

from names import ROOT, Entry

PAGE = ROOT / "docs/compatibility.md"
TITLE = re.compile(r"^\*\*(.+?)\.?\*\*\.? ", re.MULTILINE)

# Paragraphs about a whole namespace.
SUBJECTS = {
    "tf.data": "Datasets",
    "tf.experimental.numpy": "NumPy's names",
    "tf.feature_column": "Feature columns",
    "tf.lookup": "Tables",
    "tf.ragged": "Ragged tensors",
    "tf.random": "Random numbers",
    "tf.raw_ops": "Raw ops",
    "tf.saved_model": "Files",
    "tf.sparse": "Sparse tensors",
    "tf.strings": "Strings",
    "tf.compat": "TensorFlow 1",
}


def of(entry: Entry) -> list[str]:
    """What is to be said, as sentences of Markdown, without a page's folder in their links."""
    lines = [*_missing(entry), *_parameters(entry), *_accepted(entry), *_paragraphs(entry)]
    return lines or [_nothing(entry)]


def with_headings(page: str) -> str:
    """The page on compatibility with a heading over each difference, so that it can be linked to."""
    before, mark, rest = page.partition("\n## Differences\n")
    part, end, after = rest.partition("\n### ")
    return before + mark + TITLE.sub(lambda m: f"### {_plain(m[1])}\n\n", part) + end + after


def anchor(title: str) -> str:
    """The fragment of a heading's address."""
    words = re.sub(r"[^\w\s-]", "", title.replace("`", "")).strip().lower()
    return re.sub(r"[-\s]+", "-", words)


@functools.cache
def paragraphs() -> dict[str, str]:
    """What the page says in its section on differences, by title."""
    text = PAGE.read_text("utf-8").partition("\n## Differences\n")[2].partition("\n### ")[0]
    parts = TITLE.split(text)
    return {_plain(t): " ".join(p.split()) for t, p in zip(parts[1::2], parts[2::2], strict=True)}


def _plain(title: str) -> str:
    return title.replace("`", "")


def _missing(entry: Entry) -> list[str]:
    facts = _tensorflow()
    unknown = [name for name in entry.names if name.rpartition(".")[0] not in facts]
    there = [n for n in entry.names if n.rpartition(".")[2] in facts.get(n.rpartition(".")[0], [])]
    if unknown or there:
        return []
    return ["An addition: TensorFlow has no such name."]


@functools.cache
def _tensorflow() -> dict[str, list[str]]:
    return json.loads((ROOT / "docs/tensorflow_names.json").read_text("utf-8"))["names"]


@functools.cache
def _signatures() -> dict[str, list[str]]:
    return json.loads((ROOT / "tests/conformance/signatures.json").read_text("utf-8"))


def _parameters(entry: Entry) -> list[str]:
    from tests.differential.tables import SIGNATURES

    found = [SIGNATURES[name] for name in entry.names if name in SIGNATURES]
    told = [why for why in found if why != "an addition"]
    return [f"{why[0].upper()}{why[1:]}." for why in dict.fromkeys(told)]


def _accepted(entry: Entry) -> list[str]:
    from tests.differential.accepted import ACCEPTED

    names = {name.removeprefix("tf.") for name in entry.names}
    lines = []
    for accepted in ACCEPTED:
        if names.intersection(accepted.ops):
            why = accepted.why
            if len(accepted.ops) > 4:  # the list of them is on the page
                why = f"{why.rpartition(': ')[0]}. This is one of them."
            lines.append(f"**{accepted.title}.** {why}")
    return lines


def _paragraphs(entry: Entry) -> list[str]:
    lines = []
    for title in paragraphs():
        told = [s for name in entry.names for s in _sentences().get(name, {}).get(title, [])]
        about = any(SUBJECTS.get(_subject(name)) == title for name in entry.names)
        link = f"[{title}](compatibility.md#{anchor(title)})"
        if told:
            lines.append(f"**{link}.** {' '.join(dict.fromkeys(told))}")
        elif about:
            lines.append(f"{link}: what is different in `{_subject(entry.names[0])}` as a whole.")
    return lines


@functools.cache
def _sentences() -> dict[str, dict[str, list[str]]]:
    """For each name, and each paragraph that names it, the sentences that do."""
    found: dict[str, dict[str, list[str]]] = {}
    for title, text in paragraphs().items():
        for sentence in re.split(r"(?<=\.) (?=[A-Z`])", text):
            for name in re.findall(r"`(tf(?:\.\w+)+)(?![\w.])", sentence):
                found.setdefault(name, {}).setdefault(title, []).append(sentence)
    return found


def _subject(name: str) -> str:
    return next((s for s in SUBJECTS if name.startswith(f"{s}.")), "")


def _nothing(entry: Entry) -> str:
    version = "TensorFlow 2.21"
    if any(name in _signatures() for name in entry.names) and entry.kind == "function":
        return f"None is known. Its parameters are those of {version}, which a test compares."
    return "None is known."
