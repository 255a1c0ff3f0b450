"""What tensors do not have although other libraries' arrays do: the error names the op to use instead."""

from __future__ import annotations

from typing import Any, NoReturn


class Absent:
    """Stands for an attribute that does not exist: looking it up is an AttributeError with advice.

    So `hasattr` is false, and `dir` leaves it out. A `__getattr__` on the class could give the same advice, but would
    make every attribute of every tensor slower to read.
    """

    def __init__(self, name: str, advice: str) -> None:
        self.name = name
        self.advice = advice
        self.__doc__ = f"Not there. {advice}"  # for `help`, which shows whatever a class holds

    def __get__(self, instance: Any, owner: type) -> NoReturn:
        raise AttributeError(
            f"{owner.__name__!r} object has no attribute {self.name!r}. {self.advice}"
        )


_GRADIENTS = "Record the computation in a tf.GradientTape, and call tape.gradient(loss, x)."

ABSENT = {
    "T": "Use tf.transpose(x).",
    "astype": "Use tf.cast(x, dtype).",
    "backward": _GRADIENTS,
    "detach": "Use tf.stop_gradient(x).",
    "flatten": "Use tf.reshape(x, [-1]).",
    "grad": _GRADIENTS,
    "item": "Use float(x), int(x) or x.numpy().item().",
    "max": "Use tf.reduce_max(x, axis).",
    "mean": "Use tf.reduce_mean(x, axis).",
    "min": "Use tf.reduce_min(x, axis).",
    "permute": "Use tf.transpose(x, perm).",
    "ravel": "Use tf.reshape(x, [-1]).",
    "requires_grad": "Use tf.Variable, or tape.watch(x) inside a tf.GradientTape.",
    "reshape": "Use tf.reshape(x, shape).",
    "size": "Use tf.size(x), or x.shape.num_elements() for a Python number.",
    "squeeze": "Use tf.squeeze(x, axis).",
    "sum": "Use tf.reduce_sum(x, axis).",
    "tolist": "Use x.numpy().tolist().",
    "transpose": "Use tf.transpose(x, perm).",
    "unsqueeze": "Use tf.expand_dims(x, axis).",
    "view": "Use tf.reshape(x, shape).",
}
"""What people try who come from NumPy or PyTorch."""

ABSENT_OF_TENSORS = dict.fromkeys(
    ("assign", "assign_add", "assign_sub"), "A tensor never changes: make it a tf.Variable."
)


def without_absent(self: Any) -> list[str]:
    """What `dir` shows: a name that is not there only if a program, or NumPy's behavior, has put something there."""
    absent = {*ABSENT, *ABSENT_OF_TENSORS}
    return [name for name in object.__dir__(self) if name not in absent or hasattr(self, name)]


def refuse_item_of_tensor(self: Any, key: Any, value: Any) -> NoReturn:
    """`x[i] = y`."""
    raise TypeError(
        f"{type(self).__name__!r} object does not support item assignment: a tensor never changes. Use "
        "tf.tensor_scatter_nd_update(x, indices, updates) or tf.where, or keep the value in a tf.Variable: "
        "v[i].assign(y)."
    )


def refuse_item_of_variable(self: Any, key: Any, value: Any) -> NoReturn:
    """`v[i] = y`, and `v[i] += y`."""
    raise TypeError(
        f"{type(self).__name__!r} object does not support item assignment. Use v[i].assign(y), v[i].assign_add(y) or "
        "v[i].assign_sub(y)."
    )
