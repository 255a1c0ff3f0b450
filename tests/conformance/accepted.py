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


def _vector(*values: float) -> dict[str, Any]:
    return {"tensor": "float32", "shape": [len(values)], "values": list(values)}


ACCEPTED: dict[str, Accepted] = {
    **_raises(
        "TypeError",
        "TensorFlow fails inside with an AttributeError; the mistake is the argument's type",
        "tape_sources/python_float_as_source",
        "tape_sources/python_int_as_source",
        "tape_sources/numpy_array_as_source",
        "tape_sources/python_float_as_target",
        "operators/round",
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
    **_raises(
        "ValueError",
        "TensorFlow hands on a gradient that does not have the shape of its input",
        "custom_gradients/gradient_of_a_wrong_shape",
    ),
    "gradients_at_edges/cumprod_with_zero": Accepted(
        {"result": {"list": [_vector(2.0, 0.0, 0.0), _vector(1.0, 8.0, 0.0)]}},
        "TensorFlow's gradient divides by the input and so loses what a zero hides",
    ),
    "variables/len_of_a_variable": Accepted({"result": 2}, "a tensor has a length, too"),
    "tensor_methods/index_of_variable": Accepted(
        {"result": {"list": [0, 1]}}, "an integer tensor can be an index, too"
    ),
}
