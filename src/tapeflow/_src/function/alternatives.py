"""Two functions for one thing, one of them for CPUs: what `experimental_attributes` are used for.

A library calls the one that runs everywhere, then traces another that has the same `api_implements` and an
`api_preferred_device`, and adds that to the graph. Where the graph runs on a CPU, its results are taken: TensorFlow
decides that when it optimizes the graph. So the samples of a library are those that it draws on a CPU there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from tapeflow._src.core import nest
from tapeflow._src.core.context import context
from tapeflow._src.function.tracing.symbols import SymbolicTensor
from tapeflow._src.graph.graph import Graph

_general: WeakKeyDictionary[Graph, dict[str, list[Any]]] = WeakKeyDictionary()
"""What the functions that run everywhere gave, by the graph they were called in and by name."""


def note_call(attributes: Mapping[str, Any], result: Any) -> None:
    """Remembers what was called, while a function around it is traced."""
    name = attributes.get("api_implements")
    if name is not None and "api_preferred_device" not in attributes and context.tracer is not None:
        _general.setdefault(context.tracer.graph, {})[name] = nest.flatten(result)


def take_place(attributes: Mapping[str, Any], concrete: Any, leaves: Sequence[Any]) -> None:
    """Puts the results of a function for CPUs in the place of those of the one that was called."""
    if attributes.get("api_preferred_device") != "CPU" or context.tracer is None or context.place:
        return
    called = _general.get(context.tracer.graph, {}).get(attributes["api_implements"])
    if called is None:
        return
    for old, new in zip(called, nest.flatten(concrete._call_leaves(leaves)), strict=True):
        if isinstance(old, SymbolicTensor) and isinstance(new, SymbolicTensor):
            old.value, old._array, old.contents = new.value, new._array, new.contents
