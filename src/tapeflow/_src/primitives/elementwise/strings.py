"""The sum of strings: one after the other. It takes the place of `add`, which is for numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import string
from tapeflow._src.primitives import rules
from tapeflow._src.primitives.elementwise.builders import coerce
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import TABLE, UNLISTED, unlisted


def _kernel(a: Any, b: Any) -> np.ndarray:
    # NumPy gives the element alone where there is only one.
    return np.asarray(np.add(a, b), object)


def _result(a: ArraySpec, b: ArraySpec) -> ArraySpec:
    rules.check_same_dtype("add", a, b)
    return ArraySpec(rules.broadcast_or_raise("add", a, b), string)


add_strings = unlisted("add_strings", "a b", _kernel, result=_result)
UNLISTED["add_strings"].convert = coerce
UNLISTED["add_strings"].elementwise = True
TABLE["add"].for_strings = UNLISTED["add_strings"]
