"""What is known of one op that ran, and of the tensors it made."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.placement.remote import to_host
from tapeflow._src.core.placement.transfers import uncounted
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.profiler.ways import Place

FORWARD, BACKWARD, UPDATE = "forward", "backward", "update"


class Numbers(NamedTuple):
    """What the values of a tensor are like. The norm is that of what is finite."""

    norm: float
    zeros: float  # the share of zeros
    nans: int
    infs: int

    @property
    def bad(self) -> int:
        """How many are no finite numbers."""
        return self.nans + self.infs


def numbers_of(x: Any) -> Numbers | None:
    """What the values of a tensor are like, if they are floating."""
    if type(x) is IndexedSlices:
        x = x.values
    if not isinstance(x, Tensor) or x.symbolic:
        return None
    if not (x.dtype.is_floating or x.dtype.is_complex) or not x._array.size:
        return None
    if type(x) is Tensor:
        array = np.asarray(x._array)
    else:
        with uncounted():
            array = np.asarray(to_host(x)._array)
    if array.dtype.kind not in "fc":
        array = array.astype(np.float32)  # bfloat16 and its kin
    with np.errstate(all="ignore"):
        square = float(np.vdot(array, array).real)
        nans = infs = 0
        if not np.isfinite(square):
            nans = int(np.isnan(array).sum())
            infs = int(np.isinf(array).sum())
            finite = np.where(np.isfinite(array), array, 0).astype(
                np.complex128 if array.dtype.kind == "c" else np.float64
            )
            square = float(np.vdot(finite, finite).real)
        zeros = 1 - np.count_nonzero(array) / array.size
    return Numbers(float(np.sqrt(square)), round(float(zeros), 6), nans, infs)


class Step:
    """One op.

    Attributes:
      number: its place in the order in which ops ran.
      name: of the primitive.
      phase: "forward", "backward" or "update".
      of: the number of the forward op whose gradient it computes, or None.
      place: the line of the program.
      scope: the name scopes that were open, with `/` between them.
      inputs: for each, the number of the step that made it, or the name of a variable, or None.
      shapes: of what it made, such as "float32[2, 3]".
      device: where.
      kernel: nanoseconds in the kernel.
      before: nanoseconds of Python before it.
      made: bytes of the arrays that it made.
      workspace: bytes that its kernel used besides, at most.
      kept: bytes that a tape keeps because of it, and that no earlier op has made it keep.
      keeps: what these are, in the words of the gradient's formula.
      formula: the gradient, as its row has it.
      values: what its first output is like.
      spoilt: the input that was there before the step and has numbers that are not finite, if this op is the first to
        give such: the name of a variable, or "a tensor".
      gradient: what the gradient by its first output is like.
    """

    __slots__ = (
        *("before", "device", "formula", "gradient", "inputs", "keeps", "kept", "kernel", "made"),
        *("name", "number", "of", "phase", "place", "scope", "shapes", "spoilt", "values"),
        "workspace",
    )

    def __init__(self, number: int, name: str) -> None:
        self.number = number
        self.name = name
        self.phase = FORWARD
        self.of: int | None = None
        self.place: Place | None = None
        self.scope = ""
        self.inputs: list[Any] = []
        self.shapes: list[str] = []
        self.device = ""
        self.kernel = self.before = 0
        self.made = self.workspace = self.kept = 0
        self.keeps: list[str] = []
        self.formula = ""
        self.values: Numbers | None = None
        self.spoilt = ""
        self.gradient: Numbers | None = None

    @property
    def time(self) -> int:
        """Nanoseconds, with the Python before it."""
        return self.kernel + self.before


class Alive(NamedTuple):
    """An array: the step that made it, the number of steps when it was gone (None if it stays), its bytes."""

    born: int
    died: int | None
    bytes: int


def shape_text(x: Any) -> str:
    """The dtype and shape of a tensor in a few letters."""
    shape = ", ".join(map(str, x._array.shape))
    return f"{x.dtype.name}[{shape}]"
