"""Convolutions by oneDNN, where its library is installed (`pip install tapeflow[onednn]`, on x86-64).

Intel's library writes machine code for each shape of a convolution, with the processor's widest instructions: several
times as fast as a matrix product of unfolded windows. It is used through its C interface, version 3. Arrays stay
channels-last; filters are put into the order that the library likes best, and back.
"""

from __future__ import annotations

import ctypes
import functools
import math
import os
import site
import sys
import threading
from collections.abc import Callable, Sequence
from ctypes import POINTER, byref, c_int, c_int64, c_size_t, c_void_p
from typing import Any

import numpy as np

from tapeflow._src.core.errors import InternalError
from tapeflow._src.core.system.processors import processors
from tapeflow._src.insides.fallback import slower

Sizes = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]
_Array = tuple[Any, np.ndarray]
"""How an array lies in memory, and the memory."""

_MOST_DIMENSIONS = 12
_Dims = c_int64 * _MOST_DIMENSIONS

# The library's own numbers.
_CPU, _IN_ORDER, _FLOAT32, _ANY_ORDER, _FORWARD, _DIRECT, _OURS = 1, 1, 3, 1, 64, 1, 1
_INPUT, _RESULT, _FILTERS, _SCRATCH = 1, 17, 33, 80
_INPUT_GRADIENT, _RESULT_GRADIENT, _FILTER_GRADIENT = 129, 145, 161
_FILTERS_OF, _FILTER_GRADIENT_OF, _SCRATCH_OF = 131, 132, 136

WORTH_IT = 2**22
"""Multiplications; with less, the machine code takes longer to write than it can ever save."""


class _Argument(ctypes.Structure):
    _fields_ = [("what", c_int), ("memory", c_void_p)]


class _Failed(InternalError):
    """The library cannot do what it was asked for."""


class _OneDnn:
    """The library, its engine and, for each thread, a stream."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        library.dnnl_primitive_desc_query_md.restype = c_void_p
        library.dnnl_primitive_desc_query_md.argtypes = [c_void_p, c_int, c_int]
        library.dnnl_memory_desc_get_size.restype = c_size_t
        library.dnnl_memory_desc_get_size.argtypes = [c_void_p]
        library.dnnl_primitive_execute.argtypes = [c_void_p, c_void_p, c_int, POINTER(_Argument)]
        library.dnnl_memory_create.argtypes = [POINTER(c_void_p), c_void_p, c_void_p, c_void_p]
        for name in ("memory", "memory_desc", "primitive", "primitive_desc"):
            getattr(library, f"dnnl_{name}_destroy").argtypes = [c_void_p]
        self.engine = self.made("engine_create", _CPU, c_size_t(0))
        self.ours = self.made("primitive_attr_create")
        self.call("primitive_attr_set_scratchpad_mode", self.ours, _OURS)
        self._of_thread = threading.local()
        # The threads are OpenMP's. After a fork there are none, and starting some hangs: one computes then.
        self._set_threads: Callable[[int], Any] | None = getattr(
            library, "omp_set_num_threads", None
        )
        limit = getattr(library, "omp_get_max_threads", None)
        self.threads = min(limit() if limit else processors(), processors())

    def call(self, name: str, *args: Any) -> None:
        """Calls a function whose result is a status."""
        status = getattr(self.library, f"dnnl_{name}")(*args)
        if status:
            raise _Failed(None, None, f"oneDNN: {name} ended with status {status}")

    def made(self, name: str, *args: Any) -> c_void_p:
        """Calls a function that makes something."""
        handle = c_void_p()
        self.call(name, byref(handle), *args)
        return handle

    def one_thread_in_child(self) -> None:
        """After a fork there are no threads but one."""
        self.threads = 1
        convolution.cache_clear()

    def limit_threads(self) -> None:
        """Lets this thread compute with as many as are allowed: OpenMP knows a number for each thread."""
        if self._set_threads is not None:
            self._set_threads(self.threads)

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
                "memory_desc_create_with_tag", len(sizes), _Dims(*sizes), _FLOAT32, _ANY_ORDER
            )
        return self.made(
            "memory_desc_create_with_strides",
            *(len(sizes), _Dims(*sizes), _FLOAT32, _Dims(*steps)),
        )


@functools.cache
def _onednn() -> _OneDnn | None:
    """The library, if it is installed and of a version that is known."""
    for folder in (sys.prefix, site.getuserbase()):
        path = os.path.join(folder, "lib", "libdnnl.so.3")
        if os.path.exists(path):
            try:
                found = _OneDnn(ctypes.CDLL(path))
                if hasattr(os, "register_at_fork"):
                    os.register_at_fork(after_in_child=found.one_thread_in_child)
                return found
            except (OSError, AttributeError, _Failed) as error:
                slower(f"oneDNN cannot be used ({error})", "NumPy computes convolutions")
                return None
    slower("oneDNN is not installed", "NumPy computes convolutions")
    return None


def is_there() -> bool:
    """Whether the library is installed and can be used."""
    return _onednn() is not None


def use_threads(count: int) -> None:
    """How many threads may compute a convolution."""
    library = _onednn()
    if library is not None:
        library.threads = count
        convolution.cache_clear()


class _Primitive:
    """A computation for one shape. Its machine code is written when it is first used.

    Args:
      name: of the function that describes it.
      args: what that function is told.
    """

    def __init__(self, onednn: _OneDnn, name: str, *args: Any) -> None:
        onednn.limit_threads()  # what is described is for this number of threads
        self._onednn = onednn
        self.description = onednn.made(f"{name}_primitive_desc_create", *args)

    @functools.cached_property
    def _handle(self) -> c_void_p:
        return self._onednn.made("primitive_create", self.description)

    def layout(self, what: int) -> c_void_p:
        """How one of its arrays lies in memory."""
        found = self._onednn.library.dnnl_primitive_desc_query_md(self.description, what, 0)
        return c_void_p(found)

    def array(self, what: int) -> _Array:
        """Memory for one of its arrays."""
        layout = self.layout(what)
        return layout, np.empty(self._onednn.library.dnnl_memory_desc_get_size(layout), np.uint8)

    def run(self, arrays: dict[int, _Array]) -> None:
        """Computes."""
        onednn = self._onednn
        onednn.limit_threads()
        arrays = arrays | {_SCRATCH: self.array(_SCRATCH_OF)}
        arguments = (_Argument * len(arrays))()
        try:
            for argument, (what, (layout, array)) in zip(arguments, arrays.items(), strict=True):
                argument.what = what
                memory = onednn.made("memory_create", layout, onednn.engine, array.ctypes.data)
                argument.memory = memory.value
            onednn.call("primitive_execute", self._handle, onednn.stream, len(arrays), arguments)
            onednn.call("stream_wait", onednn.stream)
        finally:
            for argument in arguments:
                if argument.memory:
                    onednn.library.dnnl_memory_destroy(argument.memory)

    def __del__(self) -> None:
        if "_handle" in vars(self):
            self._onednn.library.dnnl_primitive_destroy(self._handle)
        if "description" in vars(self):
            self._onednn.library.dnnl_primitive_desc_destroy(self.description)


class _Shape:
    """How the arrays of a convolution lie in memory."""

    def __init__(self, onednn: _OneDnn, x: Sizes, w: Sizes, y: Sizes, groups: int) -> None:
        self._destroy = onednn.library.dnnl_memory_desc_destroy
        self.x, self.y = (_channels_last(onednn, sizes) for sizes in (x, y))
        *window, inner, outer = w
        sizes = [outer // groups, inner, *window]
        steps = [1, outer, *[math.prod(w[i + 1 :]) for i in range(len(window))]]
        if groups > 1:
            sizes, steps = [groups, *sizes], [outer // groups, *steps]
        self.w = onednn.layout(sizes, steps)
        self.any_w = onednn.layout(sizes)

    def __del__(
        self, pointer: type = c_void_p
    ) -> None:  # at the end of the program the name is gone
        for each in vars(self).values():
            if isinstance(each, pointer):
                self._destroy(each)


def _channels_last(onednn: _OneDnn, sizes: Sizes) -> c_void_p:
    batch, *space, channels = sizes
    steps = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    return onednn.layout([batch, channels, *space], [steps[0], 1, *steps[1:-1]])


class Convolution:
    """A convolution of float32 with its two gradients, for one shape. Arrays are in C order."""

    def __init__(self, onednn: _OneDnn, shape: _Shape, where: Sequence[Any]) -> None:
        self._onednn, self._shape, self._where = onednn, shape, where
        layouts = (shape.x, shape.any_w, None, shape.y)
        self._forward = _Primitive(
            *(onednn, "convolution_forward", onednn.engine, _FORWARD, _DIRECT),
            *(*layouts, *where, onednn.ours),
        )
        self._reordering: dict[_Primitive, _Primitive] = {}

    def _gradient(self, name: str, *layouts: Any) -> _Primitive:
        onednn, hint = self._onednn, self._forward.description
        return _Primitive(
            *(onednn, f"convolution_backward_{name}", onednn.engine, _DIRECT),
            *(*layouts, *self._where, hint, onednn.ours),
        )

    @functools.cached_property
    def _input_gradient(self) -> _Primitive:
        return self._gradient("data", self._shape.x, self._shape.any_w, self._shape.y)

    @functools.cached_property
    def _filter_gradient(self) -> _Primitive:
        return self._gradient("weights", self._shape.x, self._shape.any_w, None, self._shape.y)

    def _reorder(self, user: _Primitive, source: _Array, target: _Array) -> None:
        """Copies filters from one order to another."""
        if user not in self._reordering:
            onednn = self._onednn
            layouts = (source[0], onednn.engine, target[0], onednn.engine)
            self._reordering[user] = _Primitive(onednn, "reorder", *layouts, onednn.ours)
        self._reordering[user].run({_INPUT: source, _RESULT: target})

    def _in_order_of(self, user: _Primitive, w: np.ndarray) -> _Array:
        filters = user.array(_FILTERS_OF)
        self._reorder(user, (self._shape.w, w), filters)
        return filters

    def forward(self, x: np.ndarray, w: np.ndarray, out: np.ndarray) -> None:
        """Slides the filters over the input."""
        user, shape = self._forward, self._shape
        filters = self._in_order_of(user, w)
        user.run({_INPUT: (shape.x, x), _FILTERS: filters, _RESULT: (shape.y, out)})

    def input_gradient(self, g: np.ndarray, w: np.ndarray, out: np.ndarray) -> None:
        """What the gradient of the result means for the input."""
        user, shape = self._input_gradient, self._shape
        filters = self._in_order_of(user, w)
        user.run(
            {_RESULT_GRADIENT: (shape.y, g), _FILTERS: filters, _INPUT_GRADIENT: (shape.x, out)}
        )

    def filter_gradient(self, x: np.ndarray, g: np.ndarray, out: np.ndarray) -> None:
        """What the gradient of the result means for the filters."""
        user, shape = self._filter_gradient, self._shape
        sums = user.array(_FILTER_GRADIENT_OF)
        user.run({_INPUT: (shape.x, x), _RESULT_GRADIENT: (shape.y, g), _FILTER_GRADIENT: sums})
        self._reorder(user, sums, (shape.w, out))


@functools.lru_cache(maxsize=512)
def convolution(
    x: Sizes,
    w: Sizes,
    y: Sizes,
    strides: Sizes,
    dilations: Sizes,
    padding: Pairs,
    groups: int,
) -> Convolution | None:
    """The convolution of these shapes, if oneDNN is there, can do it, and it is worth it."""
    if math.prod(y) * math.prod(w[:-1]) < WORTH_IT or min(map(min, padding)) < 0 or len(w) > 5:
        return None
    onednn = _onednn()
    if onednn is None:
        return None
    where = (
        _Dims(*strides),
        _Dims(*[d - 1 for d in dilations]),
        _Dims(*[before for before, _ in padding]),
        _Dims(*[after for _, after in padding]),
    )
    try:
        return Convolution(onednn, _Shape(onednn, x, w, y, groups), where)
    except _Failed as error:
        slower(str(error), f"NumPy computes convolutions of {x} with {w}")
        return None
