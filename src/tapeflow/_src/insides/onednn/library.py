"""The library, through its C interface: what it computes with, and how arrays are described to it."""

from __future__ import annotations

import ctypes
import functools
import math
import os
import site
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from ctypes import POINTER, byref, c_char_p, c_float, c_int, c_int64, c_size_t, c_void_p
from typing import Any

import numpy as np

from tapeflow._src.core.errors import InternalError
from tapeflow._src.core.system.processors import processors
from tapeflow._src.insides.fallback import slower

Sizes = tuple[int, ...]
Array = tuple[Any, np.ndarray]
"""How an array lies in memory, and the memory."""

_MOST_DIMENSIONS = 12
Dims = c_int64 * _MOST_DIMENSIONS

# The library's own numbers.
_CPU, _IN_ORDER, _FLOAT32, _ANY_ORDER, _OURS = 1, 1, 3, 1, 1
_SCRATCH, _SCRATCH_OF = 80, 136
_WRITTEN_AS = 8
RELU, RELU_BY_RESULT = 0x20, 0x100

_NUMPYS = "NumPy computes convolutions, pooling, softmax and all products"


class _Argument(ctypes.Structure):
    _fields_ = [("what", c_int), ("memory", c_void_p)]


class Failed(InternalError):
    """The library cannot do what it was asked for."""


class OneDnn:
    """The library, its engine and, for each thread, a stream."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        library.dnnl_primitive_desc_query_md.restype = c_void_p
        library.dnnl_primitive_desc_query_md.argtypes = [c_void_p, c_int, c_int]
        library.dnnl_memory_desc_get_size.restype = c_size_t
        library.dnnl_memory_desc_get_size.argtypes = [c_void_p]
        library.dnnl_primitive_execute.argtypes = [c_void_p, c_void_p, c_int, POINTER(_Argument)]
        library.dnnl_memory_set_data_handle.argtypes = [c_void_p, c_void_p]
        library.dnnl_memory_create.argtypes = [POINTER(c_void_p), c_void_p, c_void_p, c_void_p]
        for name in ("memory", "memory_desc", "primitive", "primitive_desc"):
            getattr(library, f"dnnl_{name}_destroy").argtypes = [c_void_p]
        self.engine = self.made("engine_create", _CPU, c_size_t(0))
        self.ours = self.made("primitive_attr_create")
        self.call("primitive_attr_set_scratchpad_mode", self.ours, _OURS)
        relu = self.made("post_ops_create")
        self.call("post_ops_append_eltwise", relu, RELU, c_float(0), c_float(0))
        self.ours_then_relu = self.made("primitive_attr_clone", self.ours)
        self.call("primitive_attr_set_post_ops", self.ours_then_relu, relu)
        self.call("post_ops_destroy", relu)
        self._of_thread = threading.local()
        # The threads are OpenMP's. After a fork there are none, and starting some hangs: one computes then.
        self._set_threads: Callable[[int], Any] | None = getattr(
            library, "omp_set_num_threads", None
        )
        limit = getattr(library, "omp_get_max_threads", None)
        self.threads = min(limit() if limit else processors(), processors())
        self.forget: list[Callable[[], Any]] = []  # what was described for this number of threads

    def call(self, name: str, *args: Any) -> None:
        """Calls a function whose result is a status."""
        status = getattr(self.library, f"dnnl_{name}")(*args)
        if status:
            raise Failed(None, None, f"oneDNN: {name} ended with status {status}")

    def made(self, name: str, *args: Any) -> c_void_p:
        """Calls a function that makes something."""
        handle = c_void_p()
        self.call(name, byref(handle), *args)
        return handle

    def one_thread_in_child(self) -> None:
        """After a fork there are no threads but one."""
        self.use_threads(1)

    def use_threads(self, count: int) -> None:
        """From now on, as many compute."""
        self.threads = count
        for forget in self.forget:
            forget()

    def limit_threads(self, alone: bool) -> None:
        """Lets this thread compute alone or with as many as are allowed: OpenMP knows a number for each thread."""
        self.let_compute(1 if alone else self.threads)

    def let_compute(self, count: int) -> None:
        """Lets this thread compute with so many, and no more than are allowed."""
        if self._set_threads is not None:
            self._set_threads(min(count, self.threads))

    @property
    def stream(self) -> c_void_p:
        """The stream of this thread."""
        found = getattr(self._of_thread, "stream", None)
        if found is None:
            found = self._of_thread.stream = self.made("stream_create", self.engine, _IN_ORDER)
        return found

    def layout(self, sizes: Sequence[int], steps: Sequence[int] | None = None) -> c_void_p:
        """A description of an array; without steps, in the order that the library likes best."""
        if steps is None:
            return self.made(
                "memory_desc_create_with_tag", len(sizes), Dims(*sizes), _FLOAT32, _ANY_ORDER
            )
        return self.made(
            "memory_desc_create_with_strides",
            *(len(sizes), Dims(*sizes), _FLOAT32, Dims(*steps)),
        )


@functools.cache
def onednn() -> OneDnn | None:
    """The library, if it is installed (`pip install tapeflow[onednn]`) and of a version that is known."""
    for folder in (sys.prefix, site.getuserbase()):
        path = os.path.join(folder, "lib", "libdnnl.so.3")
        if os.path.exists(path):
            try:
                found = OneDnn(ctypes.CDLL(path))
                if hasattr(os, "register_at_fork"):
                    os.register_at_fork(after_in_child=found.one_thread_in_child)
                return found
            except (OSError, AttributeError, Failed) as error:
                slower(f"oneDNN cannot be used ({error})", _NUMPYS)
                return None
    slower("oneDNN is not installed", _NUMPYS)
    return None


def is_there() -> bool:
    """Whether the library is installed and can be used."""
    return onednn() is not None


def use_threads(count: int) -> None:
    """How many threads may compute."""
    library = onednn()
    if library is not None:
        library.use_threads(count)


class _Arguments:
    """The arguments of a computation, to be told where arrays are: making them may take longer than to compute."""

    def __init__(self, onednn: OneDnn, layouts: dict[int, Any]) -> None:
        self._library = onednn.library
        self.count = len(layouts)
        self.block = (_Argument * self.count)()
        for argument, (what, layout) in zip(self.block, layouts.items(), strict=True):
            argument.what = what
            argument.memory = onednn.made("memory_create", layout, onednn.engine, None).value
        self._memories = [argument.memory for argument in self.block]

    def are_at(self, arrays: Iterable[np.ndarray]) -> None:
        """Tells where the arrays are, in the order of the layouts."""
        tell = self._library.dnnl_memory_set_data_handle
        for memory, array in zip(self._memories, arrays, strict=True):
            tell(memory, array.__array_interface__["data"][0])

    def __del__(self) -> None:
        for argument in vars(self).get("block", ()):
            if argument.memory:
                self._library.dnnl_memory_destroy(argument.memory)


class Primitive:
    """A computation for one shape. Its machine code is written when it is first used.

    Args:
      name: of the function that describes it.
      args: what that function is told.
      alone: whether one thread computes it.
    """

    def __init__(self, onednn: OneDnn, name: str, *args: Any, alone: bool) -> None:
        onednn.limit_threads(alone)  # what is described is for this number of threads
        self._onednn, self._alone = onednn, alone
        self.description = onednn.made(f"{name}_primitive_desc_create", *args)
        self._idle: list[_Arguments] = []  # several threads may compute at a time

    @functools.cached_property
    def _handle(self) -> c_void_p:
        return self._onednn.made("primitive_create", self.description)

    @functools.cached_property
    def _scratch_size(self) -> int:
        return self._onednn.library.dnnl_memory_desc_get_size(self.layout(_SCRATCH_OF))

    def layout(self, what: int) -> c_void_p:
        """How one of its arrays lies in memory."""
        found = self._onednn.library.dnnl_primitive_desc_query_md(self.description, what, 0)
        return c_void_p(found)

    @property
    def written_as(self) -> bytes:
        """The library's name for the way in which it computes this."""
        name = c_char_p()
        self._onednn.call("primitive_desc_query", self.description, _WRITTEN_AS, 0, byref(name))
        return name.value or b""

    def array(self, what: int) -> Array:
        """Memory for one of its arrays."""
        layout = self.layout(what)
        return layout, np.empty(self._onednn.library.dnnl_memory_desc_get_size(layout), np.uint8)

    def run(self, arrays: dict[int, Array]) -> None:
        """Computes. The arrays lie in memory, and come in the same order, each time."""
        onednn = self._onednn
        onednn.limit_threads(self._alone)
        if self._scratch_size:
            scratch = np.empty(self._scratch_size, np.uint8)
            arrays = {**arrays, _SCRATCH: (self.layout(_SCRATCH_OF), scratch)}
        try:
            arguments = self._idle.pop()
        except IndexError:
            layouts = {what: layout for what, (layout, _) in arrays.items()}
            arguments = _Arguments(onednn, layouts)
        arguments.are_at(array for _, array in arrays.values())
        stream = onednn.stream
        onednn.call("primitive_execute", self._handle, stream, arguments.count, arguments.block)
        onednn.call("stream_wait", stream)
        self._idle.append(arguments)

    def __del__(self) -> None:
        if "_handle" in vars(self):
            self._onednn.library.dnnl_primitive_destroy(self._handle)
        if "description" in vars(self):
            self._onednn.library.dnnl_primitive_desc_destroy(self.description)


def channels_last(onednn: OneDnn, sizes: Sizes) -> c_void_p:
    """A description of an array whose last dimension is that of channels."""
    batch, *space, channels = sizes
    steps = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    return onednn.layout([batch, channels, *space], [steps[0], 1, *steps[1:-1]])
