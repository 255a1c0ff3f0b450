"""A page: what was collected, as one HTML file that needs nothing else."""

from __future__ import annotations

import html
import json
import linecache
import os
from importlib import resources
from string import Template
from typing import Any

from tapeflow._src.autodiff.explain.answers import SourceExplanation
from tapeflow._src.core.system.files import replacing
from tapeflow._src.core.user_lines import Line
from tapeflow._src.inspector.advice import Advice
from tapeflow._src.inspector.collecting import Collected, Gradient
from tapeflow._src.inspector.functions import Facts
from tapeflow._src.inspector.observer import is_users
from tapeflow._src.inspector.steps import FORWARD, Numbers, Step
from tapeflow._src.profiler.ways import Place

_SCRIPTS = ("model.js", "chart.js", "steps.js", "sections.js", "main.js")


class Page:
    """What `tapeflow.inspect` gives: `save` writes it to a file, and notebooks show it.

    Attributes:
      data: what it shows, as plain lists, dictionaries and numbers.
    """

    def __init__(self, found: Collected, functions: list[Facts], advice: list[Advice]) -> None:
        self.data = _data(found, functions, advice)

    @property
    def html(self) -> str:
        """The page."""
        text = json.dumps(self.data, separators=(",", ":"), allow_nan=False)
        return Template(_file("page.html")).substitute(
            title=html.escape(self.data["title"]),
            style=_file("style.css"),
            script="\n".join(map(_file, _SCRIPTS)),
            # In a script element nothing but its end is markup.
            data=text.replace("<", "\\u003c"),
        )

    def save(self, path: Any) -> str:
        """Writes the page to a file, and gives its path. It works without a network, wherever it is opened."""
        path = os.fspath(path)
        text = self.html.encode()
        with replacing(path) as file:
            file.write(text)
        return path

    def _repr_html_(self) -> str:
        source = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{source}" style="width:100%;height:760px;border:0"></iframe>'

    def __repr__(self) -> str:
        data = self.data
        return f"<tapeflow page: {data['title']}, {len(data['steps'])} ops>"


def _file(name: str) -> str:
    return (resources.files("tapeflow._src.inspector") / "page" / name).read_text("utf-8")


def _data(found: Collected, functions: list[Facts], advice: list[Advice]) -> dict[str, Any]:
    files = _Files()
    return {
        "title": found.title,
        "wall": found.wall,
        "held": found.held,
        "measured_peak": found.measured_peak,
        "steps": [_step(step, files) for step in found.steps],
        "arrays": [[a.born, a.died, a.bytes] for a in found.arrays],
        "gradients": [_gradient(each) for each in found.gradients],
        "functions": [_function(facts) for facts in functions],
        "advice": [
            {k: v for k, v in each._asdict().items() if v not in (None, "")} for each in advice
        ],
        "files": files.found,
    }


class _Files:
    """The files that lines are in, each with the text of those lines."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []
        self._numbers: dict[str, int] = {}

    def number(self, file: str, line: int) -> int:
        if file not in self._numbers:
            self._numbers[file] = len(self.found)
            self.found.append({"name": os.path.basename(file), "code": {}})
        number = self._numbers[file]
        code = self.found[number]["code"]
        if str(line) not in code:
            code[str(line)] = linecache.getline(file, line).strip()
        return number


def _step(step: Step, files: _Files) -> dict[str, Any]:
    """A step with what there is to say of it; what is missing is nothing, or the usual."""
    told: dict[str, Any] = {
        "name": step.name,
        "phase": None if step.phase == FORWARD else step.phase,
        "of": step.of,
        "scope": step.scope,
        "inputs": step.inputs,
        "shapes": step.shapes,
        "device": step.device.rpartition("/device:")[2],
        "kernel": step.kernel,
        "before": step.before,
        "made": step.made,
        "workspace": step.workspace,
        "kept": step.kept,
        "keeps": step.keeps,
        "formula": step.formula,
        "values": _numbers(step.values),
        "gradient": _numbers(step.gradient),
    }
    if step.place is not None:
        told["file"] = files.number(*step.place)
        told["line"] = step.place.line
    return {k: v for k, v in told.items() if (v or k in ("of", "file")) and v is not None}


def _numbers(numbers: Numbers | None) -> dict[str, Any] | None:
    if numbers is None:
        return None
    return {
        "norm": float(f"{numbers.norm:.6g}"),
        "zeros": numbers.zeros,
        "nans": numbers.nans,
        "infs": numbers.infs,
    }


def _gradient(gradient: Gradient) -> dict[str, Any]:
    return {
        "name": gradient.name,
        "shape": gradient.shape,
        "numbers": _numbers(gradient.numbers),
        "missing": None if gradient.missing is None else _missing(gradient.missing),
    }


def _missing(told: SourceExplanation) -> dict[str, Any]:
    headline = told.text.splitlines()[0].partition(": ")[2]
    path = [
        {
            "op": hop.op,
            "place": "" if hop.file is None else f"{os.path.basename(hop.file)}:{hop.line}",
            "cut": hop.cut,
        }
        for hop in told.path
    ]
    return {"name": told.name, "text": headline, "fix": told.fix, "path": path}


def _function(facts: Facts) -> dict[str, Any]:
    told = facts._asdict()
    lines = {line.made: line for line in (f.node.line for f in facts.fates) if line and line.made}
    told["fates"] = [
        {
            "name": fate.node.primitive.name,
            "what": fate.what,
            "why": fate.why,
            "place": _written_at(fate.node.line, lines),
        }
        for fate in facts.fates
    ]
    return told


def _written_at(line: Line | None, lines: dict[int, Line]) -> str:
    """The line of an op in a graph, or of the op that it is a gradient of; in a library, the scope."""
    if line is None:
        return ""
    line = lines.get(line.of, line)
    return str(Place(line.file, line.number)) if is_users(line.file) else line.scope
