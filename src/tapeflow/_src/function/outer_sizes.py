"""Unknown sizes of other traces: a graph that mentions one takes the tensor it is a size of as an input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow._src.core.sizes.dims import Atom, Dim, atoms_of, is_dynamic
from tapeflow._src.core.sizes.extremes import evaluated
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.function.tracing.symbols import SymbolicTensor
from tapeflow._src.function.tracing.tracer import Tracer
from tapeflow._src.graph.sizes import atoms_in, mapped


def capture_outer_sizes(tracer: Tracer, of_results: bool = False) -> None:
    """Makes a finished trace stand by itself: sizes in its attributes are those of its own values.

    Tracing a branch, a loop body or a backward pass meets sizes of tensors of the function around it. An input that has
    such a size tells it; if there is none, the tensor that it comes from is captured.

    Args:
      tracer: of the trace.
      of_results: whether inputs must tell the sizes of all it computes, too: its derivative will ask for them.
    """
    replacements: dict[Atom, Any] = {}

    def own(atom: Atom) -> Any:
        if atom not in replacements:
            replacements[atom] = Dim.of(_replacement(atom, tracer))
        return replacements[atom]

    for node in tracer.graph.nodes:
        if any(_is_of_another_trace(atom, tracer) for atom in atoms_in(tuple(node.attrs.values()))):
            node.attrs = mapped(node.attrs, lambda dim: evaluated(dim, own))
        if of_results:
            for atom in atoms_in([v.shape for v in node.outputs]):
                own(atom)


def is_in_scope(size: Any, tracer: Tracer) -> bool:
    """Whether a size means something in a trace: it is a number, or the size of a tensor there or around it."""
    return all(
        atom.origin[0].interpreter is tracer or tracer._may_see(atom.origin[0].interpreter)
        for atom in atoms_in(size)
    )


def is_of_trace(size: Any, tracer: Tracer) -> bool:
    """Whether a size is that of a tensor in this very trace."""
    return not any(_is_of_another_trace(atom, tracer) for atom in atoms_in(size))


def _is_of_another_trace(atom: Atom, tracer: Tracer) -> bool:
    return atom.origin[0].interpreter is not tracer


def _replacement(atom: Atom, tracer: Tracer) -> Atom:
    if not _is_of_another_trace(atom, tracer):
        return atom
    tensor, axis, position = atom.origin
    key = Dim.of(atom)._key
    for x in (*tracer.arguments, *[symbol for _, symbol in tracer.captures.values()]):
        for own_axis, size in enumerate(x._array.shape):
            if is_dynamic(size) and size._key == key:
                return Atom(atom.name, (x, own_axis, 0), atom.hint, atom.made_up)
    return Atom(atom.name, (tracer.capture(tensor), axis, position), atom.hint, atom.made_up)


def sizes_in(symbols: Sequence[SymbolicTensor], tensors: Sequence[Tensor]) -> dict[Atom, Any]:
    """What the unknown sizes of arguments are for these tensors: numbers, or unknown sizes of another trace."""
    found: dict[Atom, Any] = {}
    for symbol, x in zip(symbols, tensors, strict=True):
        for axis, mine in enumerate(symbol._array.shape):
            if is_dynamic(mine):
                for atom in atoms_of(mine):
                    if atom.origin[0] is symbol and atom.origin[1] == axis:
                        found[atom] = x._array.shape[axis]
    return found
