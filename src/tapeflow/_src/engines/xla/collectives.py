"""What devices tell one another in a program that several of them compute: read from the program that XLA has made.

XLA decides where a collective is needed, when it knows how the inputs lie. So they are counted in its own text (HLO),
after all of its passes: an instruction a line, the shapes those of one device.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tapeflow._src.core.variables.holders import readable
from tapeflow._src.graph.graph import Node
from tapeflow._src.graph.workers import exchanged_by
from tapeflow._src.insides.fallback import lacking

_KINDS = (
    "all-reduce",
    "all-gather",
    "reduce-scatter",
    "all-to-all",
    "collective-permute",
    "collective-broadcast",
)
# `%name = f32[4,2]{1,0} all-reduce(`; one that does not wait ends in -start, and its -done says nothing new.
_COLLECTIVE = re.compile(rf" = (?P<shape>\(?.*?) (?P<kind>{'|'.join(_KINDS)})(?P<begun>-start)?\(")
_COMPUTATION = re.compile(r"^(?P<entry>ENTRY )?%?(?P<name>[\w.\-]+) \(.*\) -> .* \{$")
_CALLED = re.compile(r"(?:body|calls|to_apply|true_computation|false_computation)=%?([\w.\-]+)")
_BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}")
_TURNS = re.compile(r'"known_trip_count":\{"n":"(\d+)"')
_ARRAY = re.compile(r"\b(pred|[a-z]+(?P<bits>\d+)\w*)\[(?P<sizes>[\d,]*)\]")


class Collective(NamedTuple):
    """One kind of collective in a program: how often it is made in a call, and the bytes each device gets by it."""

    kind: str
    times: int
    bytes: int


def collectives(text: str) -> list[Collective]:
    """The collectives of a program, given as HLO. Those in a loop count once for each turn, if XLA knows how many."""
    lines, entry = _computations(text)
    count: Counter[str] = Counter()
    size: Counter[str] = Counter()
    for name, times in _calls(lines, entry):
        for line in lines[name]:
            found = _COLLECTIVE.search(line)
            if found is not None:
                count[found["kind"]] += times
                size[found["kind"]] += times * _bytes(found["shape"], found["kind"], found["begun"])
    return [Collective(kind, count[kind], size[kind]) for kind in _KINDS if count[kind]]


def in_words(text: str) -> str:
    """The same in words."""
    if not _computations(text)[1]:
        lacking(
            "this version of XLA writes its programs in another way",
            "fn.report() does not tell what devices tell one another",
        )
        return "collectives are not known"
    found = collectives(text)
    if not found:
        return "no collectives"
    parts = [f"{c.times} {c.kind} ({readable(c.bytes)})" for c in found]
    total = readable(sum(c.bytes for c in found))
    return f"{', '.join(parts)}: {total} a call for each device"


def between_workers(nodes: Iterable[Node]) -> list[str]:
    """What a program exchanges with other workers, through the host (`distribute.exchange`), in words."""
    count: Counter[str] = Counter()
    size = 0
    known = True
    for node in nodes:
        if exchanged_by(node) is not None:
            count[node.primitive.name.replace("_", "-")] += 1
            for value in node.inputs:
                shape = value.shape
                known = known and shape is not None and all(type(n) is int for n in shape)
                size += math.prod(shape) * value.dtype.size if known else 0
    if not count:
        return []
    parts = ", ".join(f"{times} {kind}" for kind, times in count.items())
    return [f"with other workers: {parts}" + (f", {readable(size)} a call" if known else "")]


def _computations(text: str) -> tuple[dict[str, list[str]], str]:
    """The lines of each computation, and the name of the one that is called."""
    found: dict[str, list[str]] = {}
    entry = name = ""
    for line in text.splitlines():
        head = _COMPUTATION.match(line)
        if head is not None:
            name = head["name"]
            found[name] = []
            entry = name if head["entry"] else entry
        elif name:
            found[name].append(line)
    return found, entry


def _calls(lines: dict[str, list[str]], entry: str) -> Iterator[tuple[str, int]]:
    """The computations that a call comes to, each with how many times."""
    todo = [(entry, 1)]
    while todo:
        name, times = todo.pop()
        if name not in lines:
            continue
        yield name, times
        for line in lines[name]:
            turns = _TURNS.search(line) if " while(" in line else None
            more = times * int(turns[1]) if turns is not None else times
            called = _CALLED.findall(line)
            for several in _BRANCHES.findall(line):
                called += [each.strip(" %") for each in several.split(",")]
            todo += [(each, more) for each in called]


def _bytes(shape: str, kind: str, begun: str | None) -> int:
    arrays = [_size(m) for m in _ARRAY.finditer(shape)]
    if begun and kind != "all-reduce":  # what goes in stands before what comes out
        arrays = arrays[len(arrays) // 2 :]
    return sum(arrays)


def _size(array: re.Match[str]) -> int:
    bits = int(array["bits"] or 8)
    return math.prod(int(n) for n in array["sizes"].split(",") if n) * bits // 8
