"""Which attributes each primitive has and what they may be: nothing else is taken from a file.

The names are those of the parameters of the primitive's kernel, which take attributes and no arrays. What a value may
be follows from its name, which means the same in all primitives.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.sizes.dims import Dim
from tapeflow._src.saved_model.damage import Damage

Check = Callable[[Any], bool]


def checked(row: Any, attrs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Attributes that a primitive has, all it needs among them, each of its kind. Damage if they are not."""
    names, needed = names_of(row)
    unknown = attrs.keys() - names
    missing = needed - attrs.keys()
    if unknown or missing:
        raise Damage(
            f"{row.name} has {_listed(attrs) or 'no attributes'}, and its attributes are {_listed(names) or 'none'}"
        )
    for name, value in attrs.items():
        if not KINDS[name](value):
            raise Damage(f"{row.name} has a value of another kind as {name!r}: {_shown(value)}")
    return attrs


@functools.cache
def names_of(row: Any) -> tuple[frozenset[str], frozenset[str]]:
    """The names of the attributes of a primitive, and which of them it needs."""
    names: set[str] = set(_WINDOWS.get(row.name, ()))
    needed = set(names)
    functions = [row.kernel]
    if row.name in _WINDOWS:
        functions.append(row.result)
    for function in functions:
        # What a function of NumPy's takes besides is no business of ours.
        if not inspect.isfunction(function):
            continue
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is parameter.KEYWORD_ONLY and (
                function is row.kernel or parameter.default is parameter.empty
            ):
                names.add(parameter.name)
                if parameter.default is parameter.empty:
                    needed.add(parameter.name)
    return frozenset(names), frozenset(needed)


_MOVING = ("strides", "dilations", "padding")
_POOLING = ("window", *_MOVING)
_WINDOWS: dict[str, tuple[str, ...]] = {
    "conv": _MOVING,
    "conv_input_gradient": _MOVING,
    "conv_filter_gradient": _MOVING,
    "max_pool": _POOLING,
    "max_pool_spread": _POOLING,
    "max_pool_pick": _POOLING,
    "max_pool_argmax": _POOLING,
    "sum_pool": _POOLING,
    "sum_pool_spread": _POOLING,
}
"""Attributes of kernels that pass them on without looking at them."""


def _listed(names: Any) -> str:
    return ", ".join(_shown(name) for name in sorted(names))


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:76]} ..."


# Kinds of values.


def _flag(value: Any) -> bool:
    return type(value) is bool


def _size(value: Any) -> bool:
    return (type(value) is int and -(2**63) <= value < 2**64) or type(value) is Dim


def _number(value: Any) -> bool:
    return type(value) is float or (type(value) is int and abs(value) < 2**64)


def _text(value: Any) -> bool:
    return type(value) is str and len(value) <= 10_000


def _form(value: Any) -> bool:
    """How a number is written, in the words of C."""
    return (
        type(value) is str
        and re.fullmatch(r"%[ +\-0]?\d{0,9}(\.\d{1,9})?[defgs]", value) is not None
    )


def _encoding(value: Any) -> bool:
    return type(value) is str and re.fullmatch(r"[A-Za-z0-9_.:-]{0,40}", value) is not None


def _letters(value: Any) -> bool:
    return type(value) is str and len(value) <= 64 and (value.isalpha() or not value)


def _dtype(value: Any) -> bool:
    return isinstance(value, DType)


def _one_of(*values: str) -> Check:
    return lambda value: type(value) is str and value in values


def _or_none(kind: Check) -> Check:
    return lambda value: value is None or kind(value)


def _several(kind: Check) -> Check:
    return lambda value: type(value) is tuple and all(map(kind, value))


def _pair(value: Any) -> bool:
    return type(value) is tuple and len(value) == 2 and all(map(_size, value))


def _axes(value: Any) -> bool:
    return value is None or _size(value) or _sizes(value)


def _part(value: Any) -> bool:
    """A part of an index."""
    if type(value) is slice:
        return all(map(_or_none(_size), (value.start, value.stop, value.step)))
    return value is None or value is Ellipsis or _size(value)


_sizes = _several(_size)
_METHODS = ("area", "cubic", "gaussian", "keyscubic", "lanczos3", "lanczos5", "linear")

_BY_KIND: list[tuple[Check, str]] = [
    (_flag, "adjoint antialias binary causal descending edge exclusive full grow inverse keepdims"),
    (_flag, "lower mean pivoting reverse transpose_a transpose_b with_batch"),
    (_flag, "control normalize padded replace_global short validate"),
    (_several(_flag), "dense"),
    (_one_of("a-b", "b-a", "intersection", "union"), "operation"),
    (
        _size,
        "batch_axis batch_dims bins columns depth groups k length minlength n num_samples place rounds rows",
    ),
    (_size, "hash_key maxsplit num_buckets padding_width replacement summarize"),
    (_or_none(_size), "maxlength size"),
    (lambda value: value is None, "layout"),
    (_or_none(_pair), "seeds"),
    (_pair, "key"),
    (_size, "a b"),
    (lambda value: type(value) is str and value in ("==", "<"), "comparison"),
    (lambda value: type(value) is bool, "answer"),
    (_sizes, "axes blocks dilations multiples perm repeats shape shift sizes strides widths"),
    (_sizes, "window"),
    (_axes, "axis"),
    (_several(_pair), "padding paddings"),
    (_or_none(_several(_or_none(_size))), "element wanted"),
    (_several(_part), "index"),
    (_number, "alpha high low scale"),
    (_dtype, "dtype"),
    (_text, "message op placeholder"),
    (_encoding, "encoding"),
    (_one_of("strict", "replace", "ignore"), "errors"),
    (_one_of("UTF-8", "UTF-16-BE", "UTF-32-BE"), "target"),
    (_one_of("BYTE", "UTF8_CHAR"), "unit"),
    (_form, "form"),
    (_letters, "output stretch"),
    (_several(_letters), "subscripts"),
    (_one_of(*_METHODS, "mitchellcubic", "triangle"), "method"),
    (_one_of("backward", "ortho", "forward"), "norm"),
    (_one_of("left", "right"), "side"),
]

KINDS: dict[str, Check] = {name: kind for kind, names in _BY_KIND for name in names.split()}
