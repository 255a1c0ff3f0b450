"""Tensors whose memory belongs to another engine, and becomes a NumPy array only when somebody looks."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import DType, from_numpy
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.system.memory import failed_on_device
from tapeflow._src.core.tensor import Tensor


class DeviceTensor(Tensor):
    """A tensor that a compiled program has computed: on a GPU, or in memory of XLA's.

    It can be used like any other. Compiled programs take its buffer as it is; for everything else it becomes a NumPy
    array at the first use.
    """

    __slots__ = ("_buffer", "_host")

    def __init__(self, buffer: Any) -> None:
        self._buffer = buffer
        self._host: Any = None
        self._id = 0

    @property
    def _array(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        if self._host is None:
            try:
                self._host = np.asarray(self._buffer)
            except RuntimeError as error:  # of the program, which may still have been running
                raise failed_on_device(error) from None
        return self._host

    @property
    def shape(self) -> TensorShape:
        """The shape."""
        return TensorShape._of(self._buffer.shape)

    @property
    def dtype(self) -> DType:
        """The dtype."""
        return from_numpy(self._buffer.dtype)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._buffer.ndim

    def __copy__(self) -> Tensor:
        return DeviceTensor(self._buffer)
