"""Where tapeflow differs from TensorFlow on purpose, with the reason.

Each entry names a case and says what tapeflow gives instead, so that the difference itself is
tested. An entry whose case has come to agree with TensorFlow fails: it should be removed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Accepted(NamedTuple):
    """What tapeflow gives for a case instead of TensorFlow's result, and why."""

    outcome: dict[str, Any]
    why: str


def _raises(exception: str, why: str, *cases: str) -> dict[str, Accepted]:
    return {case: Accepted({"raises": exception}, why) for case in cases}


def _vector(*values: float) -> dict[str, Any]:
    return {"tensor": "float32", "shape": [len(values)], "values": list(values)}


def _int(value: int) -> dict[str, Any]:
    return {"numpy scalar": "int32", "shape": [], "values": value}


def _number(value: Any) -> dict[str, Any]:
    return {"tensor": "float32", "shape": [], "values": value}


def _warns(why: str, warnings: list[str], *cases: str) -> dict[str, Accepted]:
    """The result is the same, None, and a warning says why."""
    return {case: Accepted({"result": None, "warns": warnings}, why) for case in cases}


def _rows(values: list[list[float]], indices: list[int]) -> dict[str, Any]:
    return {
        "IndexedSlices": {
            "values": {"tensor": "float32", "shape": [len(values), 2], "values": values},
            "indices": {"tensor": "int32", "shape": [len(indices)], "values": indices},
            "dense_shape": {"tensor": "int32", "shape": [2], "values": [3, 2]},
        }
    }


def _numbers(dtype: str, values: list[Any], kind: str = "tensor", pair: bool = False) -> Any:
    """An array, whose shape is that of the lists. The last dimension may be the parts of complex numbers."""
    shape = np.shape(values)
    return {kind: dtype, "shape": list(shape[:-1] if pair else shape), "values": values}


def _complex(values: list[Any]) -> Any:
    return _numbers("complex128", values, pair=True)


def _everywhere(result: Any, **more: Any) -> dict[str, Any]:
    """The same in eager mode, in a function, and compiled."""
    return {"result": {"list": [result] * 3}, **more}


def _inside(why: str, *cases: str) -> dict[str, Accepted]:
    """All numbers that were drawn lie within the bounds: of three ops, eagerly and in two functions."""
    return {case: Accepted({"result": {"list": [True] * 9}}, why) for case in cases}


_LOGARITHMS = {"list": [_complex([0.0, sign * 3.14159265]) for sign in (1, -1, 1)]}
_SIGNED_ZEROS = "TensorFlow's caches take -0.0 for 0.0: whichever number, or argument, came first is computed with"
_CONJUGATES = "TensorFlow's gradient leaves out the conjugate that its own convention asks for"

_MORE_SLOPES = (
    "TensorFlow has no gradient of this op, or one that fails; here it flows to the values"
)


def _slopes(*values: list[float]) -> dict[str, Any]:
    """The same gradients in eager mode and in a function."""
    found = {"list": [_vector(*each) for each in values]}
    return {"result": {"list": [found, found]}}


ACCEPTED: dict[str, Accepted] = {
    "sparse_ops/gradient_concat": Accepted(_slopes([1, 2, 4], [3, 5, 6]), _MORE_SLOPES),
    "sparse_ops/gradient_maximum": Accepted(_slopes([1, 0, 0], [2, 3, 5]), _MORE_SLOPES),
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
    **_raises(
        "TypeError",
        "TensorFlow fails inside with an AttributeError; the mistake is the argument's type",
        "jacobians/list_of_targets",
    ),
    **_raises(
        "RuntimeError",
        "TensorFlow fails inside with an AttributeError; the mistake is the moment of the call",
        "tape_watching/watch_on_a_tape_never_entered",
    ),
    **_warns(
        "TensorFlow logs this at a level nobody sees; a gradient of None should not be a riddle",
        ["source tensor is not floating"],
        "tape_connections/int_source_is_none",
        "tape_connections/int_variable_source",
        "tape_connections/bool_source_is_none",
    ),
    **_warns(
        "TensorFlow logs this at a level nobody sees; a gradient of None should not be a riddle",
        ["target tensor is not floating"],
        "tape_connections/int_target_is_none",
        "tape_connections/bool_target_is_none",
    ),
    **_warns(
        "TensorFlow logs the other two at a level nobody sees",
        [
            "source tensor is not floating",
            "target tensor is not floating",
            "watched tensor is not floating",
        ],
        "tape_watching/watch_int_tensor",
    ),
    "special_functions/i1_gradient_at_zero": Accepted(
        {
            "result": {
                "list": [
                    {"tensor": "float64", "shape": [1], "values": [0.0]},
                    {"tensor": "float64", "shape": [1], "values": [0.5]},
                ]
            }
        },
        "the slope of I1 at 0 is 1/2; TensorFlow's gradient says 1",
    ),
    "variables/assign_returns": Accepted(
        {"result": {"tuple": [{"variable": "float32", "shape": [], "values": 2.0}, True, True]}},
        "assign returns the variable itself, where TensorFlow returns a stand-in for it",
    ),
    "nests/dict_with_mixed_keys": Accepted(
        {"result": {"list": [3, 1]}}, "keys that cannot be sorted keep an order of their own"
    ),
    "tape_sources/output_gradients_with_a_none": Accepted(
        {"result": {"tensor": "float32", "shape": [], "values": 11.0}},
        "None stands for ones, as when output_gradients is left out",
    ),
    "shapes_and_dtypes/as_dtype_int": Accepted(
        {"result": {"dtype": "int32"}}, "the dtype a Python int becomes"
    ),
    "shapes_and_dtypes/as_dtype_str": Accepted(
        {"result": {"dtype": "string"}}, "the dtype a Python str becomes"
    ),
    "tensor_creation/dtype_by_python_type": Accepted(
        {
            "result": {
                "tuple": [
                    _vector(1.0, 2.0),
                    {"tensor": "int32", "shape": [2], "values": [1, 2]},
                ]
            }
        },
        "Python's int names the dtype that Python ints become",
    ),
    "tensor_creation/mixed_float_complex": Accepted(
        {"result": {"tensor": "complex128", "shape": [2], "values": [[1.0, 0.0], [0.0, 2.0]]}},
        "a float is a complex number, so nothing is lost",
    ),
    "tape_connections/unconnected_zero_of_int_source": Accepted(
        {
            "result": {"tensor": "int32", "shape": [2], "values": [0, 0]},
            "warns": ["source tensor is not floating"],
        },
        "the same zeros, and a warning",
    ),
    "tape_connections/string_source_beside_a_variable": Accepted(
        {
            "result": {"list": [{"tensor": "float32", "shape": [], "values": 2.0}, None]},
            "warns": ["source tensor is not floating"],
        },
        "the same gradients, and a warning",
    ),
    "convolutions/max_pool3d_with_ties": Accepted(
        {
            "result": {
                "tensor": "float32",
                "shape": [1, 1, 2, 2, 1],
                "values": [[[[[1.0], [0.0]], [[0.0], [0.0]]]]],
            }
        },
        "the first maximum gets the gradient, as in 2-D; TensorFlow gives all of it to each in 3-D",
    ),
    "convolutions/max_pool_of_infinities": Accepted(
        {"result": {"tensor": "float32", "shape": [1, 1, 1], "values": [[["-inf"]]]}},
        "the maximum of -inf is -inf; TensorFlow gives the lowest finite number",
    ),
    "convolutions/avg_pool_of_halves": Accepted(
        {"result": {"tensor": "float16", "shape": [1, 1, 1, 1], "values": [[[[40000.0]]]]}},
        "the sum behind a mean is float32 and does not overflow",
    ),
    "casts/complex_constants": Accepted({"result": _LOGARITHMS}, _SIGNED_ZEROS),
    "casts/complex_arguments": Accepted({"result": _LOGARITHMS}, _SIGNED_ZEROS),
    "casts/complex_constants_of_one_function": Accepted(
        _everywhere({"list": _LOGARITHMS["list"][:2]}), _SIGNED_ZEROS
    ),
    "casts/float_arguments": Accepted(
        {"result": {"list": [_number("inf"), _number("-inf"), _number("inf")]}}, _SIGNED_ZEROS
    ),
    "casts/saturate_int32_to_float16": Accepted(
        _everywhere(
            _numbers("float16", [0.0, 1.0, -1.0, 127.0, 128.0, 255.0, 256.0, 65504.0, -65504.0])
        ),
        "the same numbers, without NumPy's warning about TensorFlow's own bounds",
    ),
    "casts/saturate_float64_beyond_int64": Accepted(
        _everywhere(_numbers("int64", [2**63 - 1024])),
        "the nearest number that both dtypes have; TensorFlow's bound is 2**63, which overflows",
    ),
    "edges_of_linalg/tridiagonal_solve_complex": Accepted(
        {
            "result": {
                "tuple": [
                    _numbers(
                        "float64",
                        [[0.0, 0.0, 0.25, -0.25, 0.0, 0.0], [0.0, 0.0, 0.25, 0.25, 0.0, 0.0]],
                        "ndarray",
                    ),
                    _numbers("float64", [[0.0, 0.5], [-0.5, 0.0]], "ndarray"),
                ]
            }
        },
        _CONJUGATES,
    ),
    "edges_of_ops/segment_prod_complex": Accepted(
        _everywhere(
            {
                "list": [
                    _complex([[2.0, 2.0], [0.0, 3.0]]),
                    _complex([[2.0, 0.0], [1.0, -1.0], [2.0, 0.0]]),
                ]
            }
        ),
        _CONJUGATES,
    ),
    "edges_of_linalg/jacobian_gather": Accepted(
        {
            "result": {
                "tuple": [_numbers("float64", np.eye(4)[[0, 1, 0, 1, 2, 3]].tolist(), "ndarray")]
            }
        },
        "TensorFlow's compute_gradient fails inside for complex gradients that are IndexedSlices",
    ),
    "edges_of_linalg/pinv_coinciding": Accepted(
        {
            "result": {
                "tuple": [
                    _numbers("float64", [[0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 1.0]]),
                    _numbers(
                        "float64", [[-0.25, -0.5, -1.5], [-1.0, -1.25, -3.0], [-3.5, -4.0, -9.0]]
                    ),
                ]
            }
        },
        "TensorFlow's gradient goes through the SVD, and loses what equal singular values share",
    ),
    **_raises(
        "InvalidArgumentError",
        "TensorFlow makes eigenvalues up for numbers that are too large",
        "edges_of_linalg/eigh_tridiagonal_beyond",
    ),
    "distributed_variables/passed_to_a_function": Accepted(
        {"result": {"list": [_number(4.0), _number(2.0)]}},
        "TensorFlow runs the second call with the trace, and the copies, of the first variable",
    ),
    "distributed_variables/assign_sum_of_ints": Accepted(
        {
            "result": {
                "list": [
                    {"list": [_int(5), _int(4)]},
                    _int(9),
                    {"tensor": "int32", "shape": [], "values": 10},
                    {"tensor": "int32", "shape": [], "values": 9},
                    {"list": [_int(3), _int(2)]},
                ]
            }
        },
        "TensorFlow's replicas get the quotient: of what cannot be divided, the rest is lost",
    ),
}
