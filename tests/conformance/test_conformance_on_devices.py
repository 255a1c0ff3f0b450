"""The same on another device, a GPU or a second logical CPU: every tensor of a case is there, and results stay there.

Each op of a case is a program to compile, so the ordinary part has one case of many.
"""

from __future__ import annotations

from typing import Any

import case_helpers
import comparison
import pytest
from accepted import ACCEPTED
from test_conformance import CASES, EXPECTED, differences_of

import tapeflow as tf

pytestmark = pytest.mark.usefixtures("three_devices")

NAME = "GPU:0" if tf.config.list_physical_devices("GPU") else "CPU:1"
DEVICE = f"/job:localhost/replica:0/task:0/device:{NAME}"

NOT_LOOKED_AT = {
    "an index or label that is out of range": (
        "array_ops/scatter_nd_out_of_range",
        "indexed_slices/scatter_out_of_range",
        "indexing/gather_out_of_range",
        "indexing/gather_negative",
        "indexing/gather_nd_out_of_range",
        "nn_ops/sparse_cross_entropy_label_too_large",
        "nn_ops/sparse_cross_entropy_label_negative",
        "nn_ops/embedding_lookup_out_of_range",
        "segments/confusion_out_of_bound",
        "segments/confusion_negative",
        "segments/id_too_large",
        "segments/reverse_sequence_too_long",
        "segments/invert_permutation_twice",
        "segments/invert_permutation_beyond",
        "segments/unravel_beyond",
        "ragged_ops/tf.gather(a,[5])",
        "sets_and_sequences/tf.ragged_fill_empty_rows([0, 5], [1.0, 2.0], 4, -1.0)",
    ),
    "an integer that is divided by 0, or has a negative power": (
        "operators/int_floordiv_zero",
        "operators/int_mod_zero",
        "operators/int_pow_negative",
    ),
    "a matrix that is singular or has NaN": (
        "decompositions/det_of_singular_has_no_gradient",
        "decompositions/inv_of_singular",
        "decompositions/solve_singular",
        "decompositions/lu_of_singular",
        "decompositions/eigh_of_nan",
    ),
    "bounds with nothing between them": ("segments/histogram_bad_range",),
}
"""Values that are an error on the host. To find them on a device, the program would have to wait for it."""

OTHERWISE_ON_A_GPU = {
    "its name": (
        "tensor_methods/device_is_a_string",
        "variables/device",
        "constants/[tf.test.is_built_with_rocm(), tf.test.gpu_device_name()]",
    ),
    "the precision of products, which is set for these tests": (
        "constants/tf.config.experimental.tensor_float_32_execution_enabled()",
    ),
    "which of two updates of one row is the last": ("indexed_slices/scatter_update",),
    # Without CuPy. A level, or a pixel, that is half-way between two goes to the other one.
    "XLA's quotients, which are two units of the last place off": (
        "bits_and_levels/vars_positive",
        "bits_and_levels/channels",
        "bits_and_levels/channels_gradient",
        "images/resize_with_pad_down",
    ),
}
"""What differs there from what TensorFlow gives on a processor, and may."""

ON_THE_HOST = {
    "threads/tape_inside_a_thread",  # a scope is one of its thread, as in TensorFlow
    "rarer_names/on_device",  # asks for it
    "raw_calls/BroadcastArgs",  # a shape, which is known there
}
"""What they give is not on the device of the scope."""


@pytest.fixture(autouse=NAME == "GPU:0")
def whole_products():
    """Products of float32 by all of its bits, and not by those of TensorFloat-32, as a GPU does by default."""
    tf.config.experimental.enable_tensor_float_32_execution(False)
    yield
    tf.config.experimental.enable_tensor_float_32_execution(True)


def on_device(key: str, case: Any) -> tuple[dict[str, Any], list[Any]]:
    """What a case gives in a scope, described, and the tensors among it."""
    found: list[Any] = []

    def run(library: Any) -> Any:
        result = case(library)
        found.extend(_tensors(result))
        return result

    with tf.device(NAME):
        return comparison.run_case(tf, run), found


def _tensors(value: Any) -> list[Any]:
    """Those that can be on a device: not strings, of which XLA has none."""
    if isinstance(value, tf.IndexedSlices):
        value = [value.values, value.indices]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [x for item in value for x in _tensors(item)]
    is_one = isinstance(value, (tf.Tensor, tf.Variable)) and value.dtype != tf.string
    return [value] if is_one else []


@pytest.mark.sample(360)
@pytest.mark.parametrize("key", list(CASES))
def test_gives_the_same_there(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case_helpers, "EAGERLY", True)
    area, name, case = CASES[key]
    actual, tensors = on_device(key, case)
    expected = ACCEPTED[key].outcome if key in ACCEPTED else EXPECTED[area][name]
    if any(key in cases for cases in NOT_LOOKED_AT.values()):
        assert "raises" in expected and "result" in actual
        return
    problems = differences_of(expected, actual)
    if NAME == "GPU:0" and any(key in cases for cases in OTHERWISE_ON_A_GPU.values()):
        assert "result" in actual
        return
    if problems:
        raise AssertionError("\n".join(problems)) from actual.get("error")
    if key not in ON_THE_HOST and not key.startswith(
        "distribut"
    ):  # replicas have devices of their own
        assert {x.device for x in tensors} <= {DEVICE}


def test_values_that_are_not_looked_at_name_cases() -> None:
    tables = (NOT_LOOKED_AT, OTHERWISE_ON_A_GPU)
    named = [key for table in tables for cases in table.values() for key in cases]
    assert {*named, *ON_THE_HOST} - CASES.keys() == set()
