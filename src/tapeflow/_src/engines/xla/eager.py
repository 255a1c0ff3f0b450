"""Primitives on tensors that live on a device: each is compiled once for its attributes, and the shapes of its inputs.

An op runs on the device that the scope asks for (`tf.device`). If there is none, it runs where the largest of its
inputs is that is not a scalar, and the others are copied there. What XLA has no program for is computed on the host,
and its results go back. With hard placement, both are errors.

As on TensorFlow's GPUs, values are not looked at: an index that is out of range does not raise an error, because to
find out the program would have to wait for the device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

import tapeflow._src.engines.xla.subjects  # noqa: F401  # fills the table of lowerings
from tapeflow._src.core.context import context
from tapeflow._src.core.dtypes import from_numpy, int32
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.log import get_logger
from tapeflow._src.core.placement.device_tensor import DeviceTensor
from tapeflow._src.core.placement.devices import LARGE, devices
from tapeflow._src.core.placement.layouts import home_of, is_at, mesh_of
from tapeflow._src.core.placement.remote import (
    RemoteTensor,
    fresh,
    is_known,
    known,
    to_buffer,
    to_device,
    to_host,
)
from tapeflow._src.core.scopes import setting
from tapeflow._src.core.system.jax_loading import has_cupy
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.engines.xla import sharding
from tapeflow._src.engines.xla.failures import checked, translating_xla_errors
from tapeflow._src.engines.xla.lowerings import LOWERINGS, ON_HOST
from tapeflow._src.graph.passes.common_subexpressions import key_of
from tapeflow._src.insides.fallback import lacking
from tapeflow._src.insides.jax_state import x64_enabled
from tapeflow._src.insides.xla_options import without_graphs
from tapeflow._src.primitives import dispatch
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import Primitive

Inputs = tuple[Tensor, ...]
Attrs = dict[str, Any]


def put(array: Any, device: Any) -> Any:
    """A copy of an array as a buffer on a device, or in a layout."""
    with translating_xla_errors("copy to a device"), x64_enabled():
        if mesh_of(device) is not None:
            return sharding.put(array, device)
        # Without memory of NumPy's in it: a program may be given the buffer to write its result there.
        return jax.device_put(array, device, may_alias=False)


def take(array: Any) -> Any:
    """A copy, as a buffer, of an array of another library that is on a device and speaks DLPack."""
    with translating_xla_errors("from_dlpack"), x64_enabled():
        return jax.dlpack.from_dlpack(array).copy()  # its memory may change


def execute(primitive: Primitive, inputs: Inputs, attrs: Attrs) -> Any:
    """The output of a primitive, or the tuple of its outputs."""
    if _CUDA is not None:
        found = _CUDA.quickly(primitive, inputs, attrs)
        if found is not NotImplemented:
            return found
    for x in inputs:
        if type(x) is not RemoteTensor and type(x) is not Tensor:  # a part of a variable, say
            inputs = tuple([getattr(x, "_tensor", x) for x in inputs])
            break
    draws = _draws(primitive, inputs)
    device = _device_of(primitive.name, inputs[draws:])
    if device is None or primitive.name == "random_next_state":
        return _on_host(primitive, inputs, attrs)
    if primitive.name in _OF_SIZES or _are_sizes(inputs):
        return _sizes(primitive, inputs, attrs, device)
    if primitive.name == "laid_out":
        return fresh(to_device(inputs[0], attrs["layout"] or inputs[0]._array.device))
    if primitive.name in _CHECKS:
        return _passed_on(primitive, inputs, attrs, device)
    if primitive.name not in LOWERINGS or any(x._array.dtype.kind == "O" for x in inputs):
        return _on_host_and_back(primitive, inputs, attrs, device)
    mesh = mesh_of(device)
    if _CUDA is not None and not draws and mesh is None:
        found = _CUDA.execute(primitive, inputs, attrs, device)
        if found is not NotImplemented:
            return found
    program = _program(primitive, inputs, attrs, device)
    if program is None:
        return _on_host_and_back(primitive, inputs, attrs, device)
    arguments = [_argument(x, device, draws and not i) for i, x in enumerate(inputs)]
    with translating_xla_errors(primitive.name), x64_enabled():
        try:
            found = (
                program(*arguments)
                if mesh is None
                else sharding.in_turn(device, program, arguments)
            )
        except (TypeError, ValueError, IndexError, OverflowError):  # of a lowering, in jax's words
            _on_host(primitive, inputs, attrs)  # which fails in ours
            raise
    if _CUDA is not None and mesh is None:
        _CUDA.keep_until_ready(inputs, [found] if primitive.outputs == 1 else found)
    return RemoteTensor(found) if primitive.outputs == 1 else tuple(map(RemoteTensor, found))


def _argument(x: Tensor, device: Any, along: bool = False) -> Any:
    array = x._array
    remote = type(x) is RemoteTensor
    # A scalar goes along with the call, and so does a random state. They are no copies that anybody needs to know of.
    if (along or not array.ndim) and (array.is_only_here if remote else type(x) is Tensor):
        return np.asarray(array)
    there = remote and (array.device is device or is_at(array.device, device))
    return array.buffer if there else to_buffer(x, device)


def _draws(primitive: Primitive, inputs: Inputs) -> bool:
    """Whether its first input is a random state of the program: this computer keeps them, for whoever draws."""
    return primitive.inputs[:1] == ("state",) and type(inputs[0]) is Tensor


# Where.


def _device_of(op: str, inputs: Sequence[Tensor]) -> Any:
    place = context.place
    if devices.copies != "silent":
        _check_copies(op, inputs)
    if place is not None and not place.gentle:
        return place.buffers
    if place is None and devices.soft_placement:
        found = _only_device(inputs)
        if found is not None:
            return found
    largest: Tensor | None = None
    for x in inputs:
        if largest is None or _weight(x) > _weight(largest):
            largest = x
    if largest is None or (place is not None and not largest._array.ndim):
        return None if place is None else place.buffers
    device = home_of(largest._array.device) if type(largest) is RemoteTensor else None
    if not devices.soft_placement:
        _check_unmixed(op, inputs)
    return device


def _only_device(inputs: Sequence[Tensor]) -> Any:
    """The device that all inputs with dimensions are on, as the variables of a model are; None if there are several."""
    found = None
    for x in inputs:
        array = x._array
        if array.ndim:
            if type(x) is not RemoteTensor or (found is not None and found is not array.device):
                return None
            found = array.device
    return home_of(found)


def _weight(x: Tensor) -> tuple[int, bool]:
    """What decides: the bytes of an array with dimensions; among those that are equal, what is on a device."""
    return (x._array.nbytes if x._array.ndim else 0), type(x) is RemoteTensor


def _check_unmixed(op: str, inputs: Sequence[Tensor]) -> None:
    places = {x.device for x in inputs if x._array.ndim}
    if len(places) > 1:
        where = ", ".join(f"{_spec(x)} on {x.device}" for x in inputs)
        raise invalid(
            f"{op}: the inputs are on different devices ({where}), and placement is hard. Copy one with "
            "tf.identity in a tf.device scope, run the op in such a scope, or allow copies: "
            "tf.config.set_soft_device_placement(True)."
        )


def _check_copies(op: str, inputs: Sequence[Tensor]) -> None:
    """Raises or warns where inputs are on different devices, as `tf.config.experimental.set_device_policy` has said."""
    ints = devices.copies == "silent_for_int32"
    moved = [x for x in inputs if x._array.ndim and not (ints and x.dtype is int32)]
    if len({x.device for x in moved}) < 2:
        return
    where = ", ".join(f"{_spec(x)} on {x.device}" for x in moved)
    text = f"{op}: the inputs are on different devices ({where})"
    if devices.copies == "warn":
        get_logger().warning("%s, and are copied.", text)
    else:
        raise invalid(
            f"{text}, and the device policy is {devices.copies!r}. Copy one with tf.identity in a tf.device scope, or "
            "allow copies: tf.config.experimental.set_device_policy('silent')."
        )


def _cupy() -> Any:
    """What computes with CuPy, where there are GPUs of NVIDIA's and it is installed."""
    if jax.default_backend() != "gpu" or not has_cupy():
        return None
    try:
        from tapeflow._src.engines.cuda import eager
    except ImportError as error:  # of another version of CUDA, say
        lacking(
            f"CuPy is installed and cannot be loaded ({error})",
            "XLA computes eager ops on the GPU, which takes a few times as long",
        )
        return None
    return eager


_CUDA = _cupy()
_SHARING = (
    None if _CUDA is None else without_graphs()
)  # for programs that may read memory of CuPy's
IS_ALONE = jax.default_backend() == "cpu" and len(jax.devices()) == 1
_FIRST = jax.local_devices(backend="cpu")[0]
HOST = None if jax.default_backend() == "cpu" else _FIRST
"""The device of jax's for programs of this computer, where jax would choose another one by itself."""


def is_in_this_computer(array: Any) -> bool:
    """Whether a buffer is in memory that NumPy can use: that of the first logical CPU."""
    if IS_ALONE:
        return True
    return array.device is _FIRST or array.device == _FIRST


def placed(op: str, inputs: Sequence[Tensor]) -> tuple[list[Any], Any]:
    """The inputs of a program on the device where it is to run, and the device; None is this computer."""
    device = _device_of(op, inputs)
    if device is None and context.place is None and devices.policy != "cpu":
        device = devices.default_for(LARGE)  # a program is worth it, whatever its inputs are
    if device is None:
        hosts = [to_host(x) for x in inputs]
        return [x._buffer if type(x) is DeviceTensor else x._array for x in hosts], None
    return [_placed(x, device) for x in inputs], device


def _placed(x: Tensor, device: Any) -> Any:
    array = x._array
    if type(x) is RemoteTensor and (array.device is device or is_at(array.device, device)):
        return array.buffer_of_jax
    if not _has_numbers(x):
        return array
    return to_buffer(x, device) if mesh_of(device) is None else _argument(x, device)


# How.

_programs: dict[Any, Callable[..., Any]] = {}
_MOST = 4096  # programs that are kept: a loop in which sizes change would fill the memory with them


def _program(primitive: Primitive, inputs: Inputs, attrs: Attrs, device: Any) -> Any:
    """The compiled program; None if XLA cannot compile one."""
    shapes = tuple([(x._array.shape, x._array.dtype) for x in inputs])
    # On a mesh, XLA decides how a result lies by how its inputs lie, if there are any.
    home = device if mesh_of(device) is None or not any(map(_is_on_mesh, inputs)) else None
    key = (primitive.name, key_of(attrs) if attrs else None, shapes, device, home)
    try:
        return _programs[key]
    except KeyError:
        pass
    if _depends_on_values(primitive, inputs, attrs):
        return None
    lowering = LOWERINGS[primitive.name]

    def program(*arrays: Any) -> Any:
        found = lowering(*arrays, **attrs)
        return checked(primitive.name, found)

    program.__name__ = primitive.name
    alone = mesh_of(device) is None
    if alone:
        home = jax.sharding.SingleDeviceSharding(device)
    # What is not used tells all the same where the others are.
    compiled = jax.jit(
        program, out_shardings=home, compiler_options=_SHARING, keep_unused=not alone
    )
    if len(_programs) >= _MOST:
        _programs.clear()
    _programs[key] = compiled
    return compiled


def _is_on_mesh(x: Tensor) -> bool:
    return (
        type(x) is RemoteTensor
        and not x._array.is_only_here
        and mesh_of(x._array.device) is not None
    )


def _depends_on_values(primitive: Primitive, inputs: Inputs, attrs: Attrs) -> bool:
    """Whether the shape of a result depends on values, which XLA cannot run.

    Raises the mistake that the shape rule finds: the words are ours on every device.
    """
    told = primitive.result(*map(_spec, inputs), **attrs)
    return any(None in spec.shape for spec in (told if primitive.outputs != 1 else (told,)))


def _spec(x: Tensor) -> ArraySpec:
    return ArraySpec(x._array.shape, from_numpy(x._array.dtype))


# What follows from shapes.

_OF_SIZES = ("shape", "size")


def _are_sizes(inputs: Inputs) -> bool:
    """Whether an op computes with sizes alone: one of its inputs follows from shapes, and all are known here."""
    found = False
    for x in inputs:
        if type(x) is RemoteTensor:
            if not x._array.is_only_here:
                return False
            found |= x._array.is_of_sizes
        elif x._array.ndim > 1:
            return False
    return found


def _sizes(primitive: Primitive, inputs: Inputs, attrs: Attrs, device: Any) -> Any:
    if primitive.name in _OF_SIZES:
        return known(primitive.kernel(inputs[0]._array, **attrs), device, of_sizes=True)
    found = _on_host(primitive, inputs, attrs)
    if isinstance(found, tuple):
        return tuple([known(x._array, device, of_sizes=True) for x in found])
    return known(found._array, device, of_sizes=True)


# What is passed on after a look at it.

_CHECKS = ("check_numerics", "check_bounds")


def _passed_on(primitive: Primitive, inputs: Inputs, attrs: Attrs, device: Any) -> Tensor:
    """Who asks for NaN to be looked for gets an answer of one bit from the device; bounds are those of an index."""
    (x,) = inputs
    primitive.result(_spec(x), **attrs)
    there = (
        x if type(x) is RemoteTensor and is_at(x._array.device, device) else to_device(x, device)
    )
    looks = primitive.name == "check_numerics"
    if is_known(x) or (looks and not _all_finite(to_buffer(there, there._array.device), device)):  # type: ignore[attr-defined]
        _on_host(primitive, inputs, attrs)
    return fresh(there)


def _all_finite(buffer: Any, device: Any) -> bool:
    with x64_enabled():
        alone = mesh_of(device) is None
        answer = _finite(buffer) if alone else sharding.in_turn(device, _finite, (buffer,))
        answer = RemoteTensor(answer)
    return bool(answer)


_finite = jax.jit(lambda x: jax.numpy.isfinite(x).all())


# What XLA does not do.


def _on_host(primitive: Primitive, inputs: Inputs, attrs: Attrs) -> Any:
    with setting(context, dispatch=(context.quiet, ())):
        return dispatch.run_plain(primitive, tuple(map(to_host, inputs)), attrs)


def _on_host_and_back(primitive: Primitive, inputs: Inputs, attrs: Attrs, device: Any) -> Any:
    if not devices.soft_placement:
        strings = any(x._array.dtype.kind == "O" for x in inputs)
        why = "XLA has no strings" if strings else "the shape of the result depends on values"
        why = ON_HOST.get(primitive.name, why)
        raise invalid(
            f"{primitive.name}: there is no program for {devices.name_of(device)} ({why}), and placement is hard. Run "
            "it in a scope tf.device('CPU:0'), or let it run there: tf.config.set_soft_device_placement(True)."
        )
    found = _on_host(primitive, inputs, attrs)
    if isinstance(found, tuple):
        return tuple([back(x, device) for x in found])
    return back(found, device)


def back(x: Tensor, device: Any) -> Tensor:
    """A result of the host's on a device, unless it is of strings or a list of tensors."""
    return to_device(x, device) if _has_numbers(x) else x


def _has_numbers(x: Tensor) -> bool:
    if type(x) is not Tensor:
        return True
    return isinstance(x._array, (np.ndarray, np.generic)) and x._array.dtype.kind != "O"
