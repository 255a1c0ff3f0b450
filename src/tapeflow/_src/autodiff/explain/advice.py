"""Words for `GradientTape.explain`: the names of operations, and what to do where a path ends."""

from __future__ import annotations

INSIDE = "an input"
"""Stands for the name of what has no gradient because of what happens to it inside of a function."""

_PUBLIC_NAMES = {
    "all": "reduce_all",
    "angle_of_real": "angle",
    "any": "reduce_any",
    "cast_to_discrete": "cast",
    "euclidean_norm": "reduce_euclidean_norm",
    "floor_divide": "floordiv",
    "floor_mod": "floormod",
    "gelu_tanh": "gelu",
    "getitem": "slice",
    "logsumexp": "reduce_logsumexp",
    "max": "reduce_max",
    "mean": "reduce_mean",
    "min": "reduce_min",
    "nonzero": "where",
    "power": "pow",
    "prod": "reduce_prod",
    "put": "tensor_scatter_nd_update",
    "random_categorical": "categorical",
    "random_shuffle": "shuffle",
    "scatter_max": "tensor_scatter_nd_max",
    "scatter_min": "tensor_scatter_nd_min",
    "scatter_rows": "scatter_nd",
    "scatter_update": "tensor_scatter_nd_update",
    "select": "where",
    "sigmoid_cross_entropy": "sigmoid_cross_entropy_with_logits",
    "softmax_cross_entropy": "softmax_cross_entropy_with_logits",
    "sparse_softmax_cross_entropy": "sparse_softmax_cross_entropy_with_logits",
    "sum": "reduce_sum",
    "take_along": "gather",
    "top_k_indices": "top_k",
}


def public_name(operation: str) -> str:
    """What TensorFlow calls a primitive.

    >>> public_name("sum"), public_name("matmul")
    ('reduce_sum', 'matmul')
    """
    return _PUBLIC_NAMES.get(operation, operation)


_STEPS = (
    "{op} is flat between its steps. For a gradient that passes straight through, write "
    "x + tf.stop_gradient(tf.{op}(x) - x)."
)
_COMPARISON = (
    "{op} gives a bool, which has no gradient. To choose between values, use "
    "tf.where(condition, a, b)."
)
_SHAPE_ONLY = "{op} uses the shape of its input, and not its values."
_POSITIONS = (
    "{op} gives positions, which do not change smoothly. For the value there, use "
    "tf.{other}; for a smooth choice, tf.nn.softmax."
)
_LOGIC = "{op} works on bools, which have no gradient."

_AT_A_CUT = {
    "stop_gradient": "Remove the tf.stop_gradient, or take the gradient of something before it.",
    "argmax": _POSITIONS.format(op="argmax", other="reduce_max"),
    "argmin": _POSITIONS.format(op="argmin", other="reduce_min"),
    "argsort": _POSITIONS.format(op="argsort", other="sort"),
    **dict.fromkeys(("floor", "ceil", "round", "rint"), _STEPS),
    **dict.fromkeys(
        ("floor_divide",), "{op} is flat between its steps. For a gradient, divide with `/`."
    ),
    **dict.fromkeys(
        ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"), _COMPARISON
    ),
    **dict.fromkeys(("is_nan", "is_inf", "is_finite"), _COMPARISON),
    **dict.fromkeys(("zeros_like", "ones_like", "shape", "size"), _SHAPE_ONLY),
    **dict.fromkeys(
        ("logical_and", "logical_or", "logical_xor", "logical_not", "any", "all"), _LOGIC
    ),
}


def at_cut(operation: str, argument: str, dtype: str, only_input: bool) -> str:
    """What to try where a path ends at an operation without a gradient.

    Args:
      operation: the name of the primitive.
      argument: the name of the input through which the path came.
      dtype: the dtype of the result.
      only_input: whether that is its only input: if not, the op may have a gradient for others.
    """
    name = public_name(operation)
    if argument == INSIDE:
        return (
            f"Inside of {name} nothing that has a gradient leads from it to a result. A tape that is opened there can "
            "tell more, or one here after tf.config.run_functions_eagerly(True)."
        )
    if operation == "cast_to_discrete":
        return f"{dtype} has no gradient: stay with a floating dtype where a gradient has to pass."
    if operation in _AT_A_CUT:
        return _AT_A_CUT[operation].format(op=name)
    if not only_input:
        return (
            f"{name} has no gradient with respect to its argument `{argument}`, which only decides "
            "what is picked."
        )
    return (
        f"{name} has no gradient. To give it one, wrap it in a function with @tf.custom_gradient."
    )
