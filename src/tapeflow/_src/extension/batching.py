"""`tf.map_fn` over extension types: their components are walked together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.composites import dispatch
from tapeflow._src.core.composites.composite import is_expandable, spec_of
from tapeflow._src.core.composites.dispatch import NOT_HANDLED
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.spec import TensorSpec, TypeSpec
from tapeflow._src.extension.extension_type import ExtensionTypeSpec
from tapeflow._src.ops.control.functional import map_fn


def _map_fn(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = dispatch.bound(function, args, kwargs)
    if given is None:
        return NOT_HANDLED
    fn, elems = given.pop("fn"), given.pop("elems")
    old = given.pop("dtype", None)
    signature = given.pop("fn_output_signature", None) or old
    leaves = nest.flatten((elems, signature))
    if not any(is_expandable(x) and isinstance(spec_of(x), ExtensionTypeSpec) for x in leaves):
        return NOT_HANDLED
    rows = nest.map_structure(_row_spec, elems)
    wanted = rows if signature is None else nest.map_structure(_as_spec, signature)

    def on_components(row: tuple[Any, ...]) -> tuple[Any, ...]:
        result = fn(nest.pack_sequence_as(rows, list(row), expand_composites=True))
        nest.assert_same_structure(wanted, result, expand_composites=True)
        return tuple(nest.flatten(result, expand_composites=True))

    flat = tuple([convert_to_tensor(x) for x in nest.flatten(elems, expand_composites=True)])
    kinds = tuple(nest.flatten(wanted, expand_composites=True))
    stacked = map_fn(on_components, flat, fn_output_signature=kinds, **given)
    count = stacked[0].shape[0] if stacked else None
    batch = nest.map_structure(lambda spec: spec._batch(count), wanted)
    return nest.pack_sequence_as(batch, list(stacked), expand_composites=True)


def _row_spec(x: Any) -> Any:
    if is_expandable(x):
        return _batchable(spec_of(x))._unbatch()
    tensor = convert_to_tensor(x)
    return TensorSpec(tensor.shape[1:], tensor.dtype)


def _as_spec(x: Any) -> Any:
    return _batchable(x) if isinstance(x, TypeSpec) else TensorSpec(None, as_dtype(x))


def _batchable(spec: Any) -> Any:
    if not hasattr(spec, "_batch"):
        raise TypeError(
            f"tf.map_fn: {spec!r} cannot be stacked. Use tf.experimental.BatchableExtensionType."
        )
    return spec


dispatch.register(map_fn, _map_fn)
