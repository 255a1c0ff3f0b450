"""The sum of strings: one after the other.

It takes the place of `add`, which is for numbers: `ops/methods.py` says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import string
from tapeflow._src.primitives import rules
from tapeflow._src.primitives.elementwise.builders import coerce
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import UNLISTED, unlisted


def _kernel(a: Any, b: Any) -> np.ndarray:
    # NumPy gives the element alone where there is only one.
    return np.asarray(np.add(a, b), object)


def _result(a: ArraySpec, b: ArraySpec) -> ArraySpec:
    rules.check_same_dtype("add", a, b)
    return ArraySpec(rules.broadcast_or_raise("add", a, b), string)


unlisted("add_strings", "a b", _kernel, result=_result)
ADD_STRINGS = UNLISTED["add_strings"]
ADD_STRINGS.convert = coerce
ADD_STRINGS.elementwise = True
