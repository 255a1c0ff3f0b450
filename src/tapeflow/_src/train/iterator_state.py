"""The state of an iterator over a dataset as arrays, and back.

A state is made of dictionaries, lists, numbers, strings and arrays. It becomes a text, and the arrays beside it.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from tapeflow._src.core.tensor import Tensor


def arrays_of(key: str, state: Any) -> dict[str, np.ndarray]:
    """The arrays that hold a state: the text under `key`, each array of the state under a name below it."""
    arrays: dict[str, np.ndarray] = {}

    def plain(value: Any) -> Any:
        if isinstance(value, Tensor):
            value = np.asarray(value._array)
        if isinstance(value, (np.ndarray, np.generic)):
            arrays[f"{key}/{len(arrays)}"] = np.asarray(value)
            return {"array": len(arrays) - 1}
        if isinstance(value, dict):
            return {"dict": [[plain(k), plain(v)] for k, v in value.items()]}
        if isinstance(value, tuple):
            return {"tuple": [plain(v) for v in value]}
        if isinstance(value, list):
            return [plain(v) for v in value]
        if isinstance(value, bytes):
            return {"bytes": value.hex()}
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        raise TypeError(
            f"The state of the iterator {key!r} holds a value of type {type(value).__name__}, which a checkpoint "
            "cannot hold: it takes numbers, strings, arrays, lists, tuples and dictionaries."
        )

    text = np.empty((), object)
    text[()] = json.dumps(plain(state)).encode()
    return {key: text, **arrays}


def state_of(key: str, read: Any) -> Any:
    """The state that `arrays_of` has turned into arrays, which `read` gives by name."""

    def whole(value: Any) -> Any:
        if isinstance(value, list):
            return [whole(v) for v in value]
        if not isinstance(value, dict):
            return value
        ((kind, inner),) = value.items()
        if kind == "array":
            return read(f"{key}/{int(inner)}")
        if kind == "bytes":
            return bytes.fromhex(inner)
        if kind == "tuple":
            return tuple(whole(v) for v in inner)
        return {whole(k): whole(v) for k, v in inner}

    return whole(json.loads(read(key)[()]))
