"""Where tapeflow differs from TensorFlow on purpose, with the reason.

Each entry names a case and says what tapeflow gives instead, so that the difference itself is
tested. An entry whose case has come to agree with TensorFlow fails: it should be removed.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Accepted(NamedTuple):
    """What tapeflow gives for a case instead of TensorFlow's result, and why."""

    outcome: dict[str, Any]
    why: str


def _raises(exception: str, why: str, *cases: str) -> dict[str, Accepted]:
    return {case: Accepted({"raises": exception}, why) for case in cases}


ACCEPTED: dict[str, Accepted] = {
    **_raises(
        "TypeError",
        "TensorFlow fails inside with an AttributeError; the mistake is the argument's type",
        "tape_sources/python_float_as_source",
        "tape_sources/python_int_as_source",
        "tape_sources/numpy_array_as_source",
        "tensor_methods/index_of_float",
        "tensor_methods/index_of_bool",
        "tensor_methods/index_of_str",
    ),
    **_raises(
        "ValueError",
        "TensorFlow fails inside with an IndexError; the mistake is the argument's shape",
        "jacobians/batch_of_a_scalar",
    ),
    **_raises(
        "TypeError",
        "TensorFlow silently makes another number of it: 300 becomes 44, 2**40 becomes 0",
        "tensor_creation/int_out_of_range",
        "tensor_creation/negative_as_unsigned",
        "tensor_creation/int_out_of_int32",
        "operators/int_plus_large_python_int",
        "operators/bool_times_float",
    ),
    **_raises(
        "ValueError",
        "TensorFlow silently drops or makes up the gradients that do not match the targets",
        "tape_sources/output_gradients_as_python_list",
        "tape_sources/output_gradients_of_another_length",
    ),
}
