"""`tf.io.decode_json_example`: examples that are written as JSON, in the names that protocol buffers have there."""

from __future__ import annotations

import base64
import json
import math
from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import string
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.io.example import Example, Floats, Integers
from tapeflow._src.io.messages import Message
from tapeflow._src.ops.effects.host import each, on_host
from tapeflow._src.primitives.specs import ArraySpec

_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


@export("io.decode_json_example")
def decode_json_example(json_examples: Any, name: str | None = None) -> Tensor:
    r"""Serialized `tf.train.Example` from JSON.

    >>> tf.io.decode_json_example('{"features": {"feature": {"a": {"int64List": {"value": ["5"]}}}}}').numpy()
    b'\n\x0c\n\n\n\x01a\x12\x05\x1a\x03\n\x01\x05'

    Args:
      json_examples: strings.
      name: accepted for compatibility.
    """
    texts = convert_to_tensor(json_examples, string)

    def decode(text: bytes) -> bytes:
        try:
            example = Example()
            _fill(example, json.loads(text))
        except (ValueError, TypeError, RecursionError) as error:
            raise invalid(f"decode_json_example: not an Example in JSON: {error}") from None
        return example.SerializeToString()

    spec = ArraySpec(texts._array.shape, string)
    return on_host("decode_json_example", lambda array: [each(decode, array)], [texts], [spec])[0]


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(part.capitalize() for part in others)


def _fill(message: Message, said: Any) -> None:
    """Puts what JSON says into a message."""
    if not isinstance(said, dict):
        raise ValueError(f"a {type(message).__name__} is an object, got {said!r}")
    names = {alias: name for name in message.FIELDS for alias in (name, _camel(name))}
    for key, value in said.items():
        if key not in names:
            raise ValueError(f"a {type(message).__name__} has no field {key!r}")
        if value is None:
            continue
        name = names[key]
        field = message.FIELDS[name]
        held = getattr(message, name)
        if field.kind == "message":
            message.MergeFrom(
                type(message)(**{name: field.of()})
            )  # it counts as set, even if it is empty
            _fill(getattr(message, name), value)
        elif field.kind == "map":
            if not isinstance(value, dict):
                raise ValueError(f"the field {name} is an object, got {value!r}")
            for entry, inside in value.items():
                _fill(held[entry], inside)
        elif not isinstance(value, list):
            raise ValueError(f"the field {name} is an array, got {value!r}")
        elif field.kind is Integers:
            held.extend([_integer(item) for item in value])
        elif field.kind is Floats:
            held.extend([_SPECIAL[x] if x in _SPECIAL else float(x) for x in value])
        else:
            held.extend(
                [base64.b64decode(item.replace("-", "+").replace("_", "/")) for item in value]
            )


def _integer(value: Any) -> int:
    if isinstance(value, float) and not value.is_integer():
        raise ValueError(f"{value} is no integer")
    return int(value)
