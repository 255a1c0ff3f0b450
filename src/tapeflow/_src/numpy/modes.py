"""The modes "safe" and "all": operators and functions that promote by the lattice, and know weak tensors.

Only the operators of the classes and the public names are replaced, and put back when another mode is chosen. Inside,
everything calls the functions it always called. So programs that do not ask pay nothing.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from tapeflow._src.core import convert
from tapeflow._src.core.composites.composite import one_tensor
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.errors import shown
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.missing import namespaces, public_names
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.numpy.promotion import Kind, NoMeetingError, mode, result_kind
from tapeflow._src.numpy.weak import WeakTensor, weakened
from tapeflow._src.ops.array.shaping import cast

Function = Callable[..., Any]

_ARITHMETIC = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"]
_LOGICAL = ["and", "or", "xor"]
_OTHERS = ["lt", "le", "gt", "ge", "ne", "getitem"]
_SIGNS = ["neg", "abs", "invert"]
_ASSIGNMENTS = ["assign", "assign_add", "assign_sub"]

# The functions of one tensor whose result is weak where the tensor is, or where it is made of what has no dtype.
_OF_ONE = {
    "tapeflow": """clip_by_value expand_dims identity ones_like reshape squeeze stop_gradient transpose
        zeros_like""",
    "tapeflow.debugging": "check_numerics",
    "tapeflow.image": "extract_patches",
    "tapeflow.linalg": "diag diag_part matrix_transpose tensor_diag_part trace",
    "tapeflow.math": """abs acos acosh angle asin asinh atan atanh bessel_i0 bessel_i0e bessel_i1 bessel_i1e ceil conj
        cos cosh digamma erf erfc erfcinv erfinv exp expm1 floor imag lgamma log log1p log_sigmoid ndtri negative real
        reciprocal reciprocal_no_nan reduce_euclidean_norm reduce_logsumexp reduce_max reduce_mean reduce_min
        reduce_prod reduce_std reduce_sum reduce_variance rint round rsqrt scalar_mul sigmoid sign sin sinh softplus
        sqrt square tan tanh""",
    "tapeflow.math.special": """bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1 bessel_k1e bessel_y0 bessel_y1 dawsn
        expint fresnel_cos fresnel_sin spence""",
    "tapeflow.nn": "gelu leaky_relu log_softmax relu6 silu",
    "tapeflow.experimental.numpy": """abs absolute amax amin angle arange arccos arcsin arcsinh arctan arctanh around
        array asanyarray asarray ascontiguousarray atleast_1d atleast_2d atleast_3d average bitwise_not cbrt ceil conj
        conjugate copy cos cosh cumprod cumsum deg2rad diag diagflat diagonal diff empty_like exp exp2 expand_dims expm1
        fabs fix flatten flip fliplr flipud floor full_like imag log log10 log1p log2 max mean min moveaxis nanmean
        negative ones_like positive prod ptp rad2deg ravel real reciprocal repeat reshape rot90 round sign sin sinc sinh
        sort sqrt square squeeze std sum swapaxes tan tanh trace transpose triu vander var zeros_like""",
}
_OF_TWO = {
    "tapeflow": "realdiv truncatediv truncatemod",
    "tapeflow.linalg": "matmul matvec",
    "tapeflow.math": "add divide divide_no_nan floordiv floormod multiply multiply_no_nan pow subtract truediv",
    "tapeflow.experimental.numpy": "matmul",
}
_NEVER_WEAK = {"tapeflow.math": "equal maximum minimum"}  # they promote two tensors all the same

_classes: dict[type, dict[str, Any]] = {}  # what the classes had before
_names: list[tuple[ModuleType, str, Any]] = []  # the same of public names


def enter(name: str) -> None:
    """Begins "safe" or "all"."""
    mode.name = name
    if _classes:
        return
    for kind in (Tensor, Variable):
        sides = [f"__{side}{op}__" for op in _ARITHMETIC for side in ("", "r")]
        replaced = {op: _operator(vars(kind)[op]) for op in sides}
        replaced["__eq__"] = _operator(vars(kind)["__eq__"], is_weak=False)
        if kind is Variable:
            replaced |= {op: _assignment(vars(kind)[op]) for op in _ASSIGNMENTS}
        _classes[kind] = {op: vars(kind)[op] for op in replaced}
        for op, function in replaced.items():
            setattr(kind, op, function)
    _equip(WeakTensor)
    for module, word, function in list(_public()):
        _names.append((module, word, getattr(module, word)))
        setattr(module, word, function)


def leave() -> None:
    """Ends them, if one was chosen."""
    mode.name = None
    for kind, held in _classes.items():
        for op, function in held.items():
            setattr(kind, op, function)
    for module, word, function in _names:
        setattr(module, word, function)
    _classes.clear()
    _names.clear()


def _equip(kind: type) -> None:
    """Gives weak tensors the operators of tensors."""
    both = [f"__{side}{op}__" for op in _LOGICAL for side in ("", "r")]
    for op in [f"__{op}__" for op in _OTHERS] + both:
        setattr(kind, op, _of_inside(vars(Tensor)[op]))
    for op in [f"__{op}__" for op in _SIGNS]:
        setattr(kind, op, _of_inside(vars(Tensor)[op], weakened))
    for op in _classes[Tensor]:
        setattr(kind, op, vars(Tensor)[op])


def methods(found: dict[str, Any]) -> None:
    """Gives weak tensors the methods of NumPy's that tensors have."""
    plain = ("astype", "clip", "size", "tolist")
    for word, method in found.items():
        how = (lambda x: x) if word in plain else weakened
        if isinstance(method, property):
            setattr(WeakTensor, word, property(_of_inside(method.fget, how)))
        else:
            setattr(WeakTensor, word, _of_inside(method, how))


def _of_inside(function: Any, how: Function = lambda x: x) -> Function:
    """A method of tensors for weak ones."""
    return lambda self, *args, **kwargs: how(function(self.tensor, *args, **kwargs))


# Operators.


def _operator(function: Function, is_weak: bool = True) -> Function:
    """An operator that promotes. What the lattice does not have is left to the operator as it was."""

    @functools.wraps(function)
    def operator(self: Any, other: Any) -> Any:
        if type(self) is Tensor and _is_like(other, self.dtype):
            return function(self, other)
        found = _kind_of_operands(self, other)
        if found is None:
            return function(one_tensor(self), other)
        dtype, weak = found
        result = function(_as(self, dtype), _as(other, dtype))
        return weakened(result) if weak and is_weak else result

    return operator


def _is_like(x: Any, dtype: DType) -> bool:
    """Whether an operand surely changes nothing about a dtype: most do not."""
    return x.dtype is dtype if type(x) is Tensor else type(x) is float and dtype.is_floating


def _kind_of_operands(*operands: Any) -> Kind | None:
    """The kind in which operands meet, or None if the lattice does not have them, or is not asked any more."""
    if mode.name is None or any(x is None for x in operands):
        return None
    try:
        return result_kind(*operands)
    except NoMeetingError:
        return None


def _as(x: Any, dtype: DType) -> Any:
    """An operand as a tensor of a dtype."""
    if isinstance(x, (Tensor, Variable, WeakTensor)) or type(x) is bool:
        return cast(convert_to_tensor(x), dtype)
    if isinstance(x, IndexedSlices):
        return cast(x, dtype)
    return convert_to_tensor(x, dtype)


def _assignment(function: Function) -> Function:
    """A method of variables that takes what promotes to their dtype."""
    name = function.__name__

    @functools.wraps(function)
    def assign(self: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
        found = _kind_of_operands(self, value)
        if found is not None and found.dtype is not self.dtype:
            raise TypeError(
                f"Variable.{name}: the dtype of a variable does not change. This one is {self.dtype.name}, and with "
                f"{shown(value)} it meets in {found.dtype.name}. Cast the value: tf.cast(value, {self.dtype!r})"
            )
        is_tensor = isinstance(value, (Tensor, Variable, WeakTensor))
        return function(
            self, _as(value, self.dtype) if found and is_tensor else value, *args, **kwargs
        )

    return assign


# Functions.


def _public() -> Iterator[tuple[ModuleType, str, Function]]:
    """Where which public names begin to mean what."""
    meant: dict[int, Function] = {id(convert.constant): _constant(convert.constant)}
    words = {"constant"}
    for table, wrap in ((_OF_ONE, _of_one), (_OF_TWO, _of_two), (_NEVER_WEAK, _comparing)):
        for place, held in table.items():
            module = importlib.import_module(place)
            for word in held.split():
                function = getattr(module, word)
                words.add(word)
                meant[id(function)] = wrap(function)
    for _, module in list(namespaces()):
        for word in public_names(module):
            if word in words or word in _OTHER_WORDS:
                function = meant.get(id(getattr(module, word)))
                if function is not None:
                    yield module, word, function


_OTHER_WORDS = {"mod", "swish", "complex_abs", "neg"}  # other names of what is in the tables


def _of_one(function: Function) -> Function:
    signature = inspect.signature(function)
    first = next(iter(signature.parameters))
    name = "x" if function.__name__ == "scalar_mul" else first  # the argument that decides

    @functools.wraps(function)
    def of_one(*args: Any, **kwargs: Any) -> Any:
        if args and type(args[0]) is Tensor and name == first:
            return function(*args, **kwargs)
        call = signature.bind(*args, **kwargs)
        x = call.arguments[name]
        if isinstance(x, Tensor) or call.arguments.get("dtype") is not None:
            return function(*args, **kwargs)
        found = _kind_of_operands(x)
        if found is None:
            return function(*args, **kwargs)
        call.arguments[name] = _as(x, found.dtype)
        result = function(*call.args, **call.kwargs)
        return weakened(result) if found.weak else result

    return of_one


def _of_two(function: Function, is_weak: bool = True) -> Function:
    signature = inspect.signature(function)
    first, second = list(signature.parameters)[:2]

    @functools.wraps(function)
    def of_two(*args: Any, **kwargs: Any) -> Any:
        if len(args) > 1 and type(args[0]) is Tensor and _is_like(args[1], args[0].dtype):
            return function(*args, **kwargs)
        call = signature.bind(*args, **kwargs)
        x, y = call.arguments[first], call.arguments[second]
        found = _kind_of_operands(x, y)
        if found is None:
            return function(*args, **kwargs)
        call.arguments[first], call.arguments[second] = _as(x, found.dtype), _as(y, found.dtype)
        result = function(*call.args, **call.kwargs)
        return weakened(result) if found.weak and is_weak else result

    return of_two


def _comparing(function: Function) -> Function:
    return _of_two(function, is_weak=False)


def _constant(function: Function) -> Function:
    @functools.wraps(function)
    def constant(
        value: Any, dtype: Any = None, shape: Any = None, name: str | None = "Const"
    ) -> Any:
        if dtype is not None:
            wanted = as_dtype(dtype)
            is_tensor = isinstance(value, (Tensor, Variable, WeakTensor))
            found = _kind_of_operands(value, wanted) if is_tensor else None
            fits = found is not None and found.dtype is wanted
            return function(_as(value, wanted) if fits else one_tensor(value), wanted, shape, name)
        found = _kind_of_operands(value)
        if found is None:
            return function(value, None, shape, name)
        wanted = None if isinstance(value, TensorShape) else found.dtype
        result = function(one_tensor(value), wanted, shape, name)
        return weakened(result) if found.weak else result

    return constant
