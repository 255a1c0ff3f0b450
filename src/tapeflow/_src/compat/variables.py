"""`tf.compat.v1.get_variable` and `tf.compat.v1.variable_scope`: variables that are found by their names."""

from __future__ import annotations

import math
import threading
from typing import Any

from tapeflow._src.core.dtypes import as_dtype, float32
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export, export_value
from tapeflow._src.core.scopes import Scope
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.ops.array.creation import zeros
from tapeflow._src.ops.random import numbers


class _AutoReuse:
    """Says that a variable is made the first time, and found from then on."""

    def __repr__(self) -> str:
        return "<AUTO_REUSE>"


AUTO_REUSE = _AutoReuse()
export_value("AUTO_REUSE", "compat.v1.AUTO_REUSE")


class VariableScope:
    """What `tf.compat.v1.variable_scope` gives: a name, and whether variables are found or made."""

    def __init__(self, name: str, reuse: Any, initializer: Any = None, dtype: Any = None) -> None:
        self.name, self.reuse = name, reuse
        self.initializer, self.dtype = initializer, dtype
        self.original_name_scope = f"{name}/" if name else ""

    caching_device: Any = None

    def set_caching_device(self, caching_device: Any) -> None:
        """Accepted: the value of a variable is where the variable is."""
        self.caching_device = caching_device

    def reuse_variables(self) -> None:
        """From now on, variables are found."""
        self.reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """From now on, variables begin with this."""
        self.initializer = initializer


class _Store(threading.local):
    """The variables of a thread by name, and the scopes that are open."""

    def __init__(self) -> None:
        self.variables: dict[str, Variable] = {}
        self.scope = VariableScope("", None)


_store = _Store()


@export("compat.v1.variable_scope")
class variable_scope(Scope):
    """Within this context, `get_variable` puts a name before the names of variables.

    >>> with tf.compat.v1.variable_scope("layer", reuse=tf.compat.v1.AUTO_REUSE):
    ...     w = tf.compat.v1.get_variable("w", [2], initializer=tf.zeros_initializer())
    >>> with tf.compat.v1.variable_scope("layer", reuse=True):
    ...     tf.compat.v1.get_variable("w") is w
    True

    Args:
      name_or_scope: a name, or a scope that was open before.
      default_name: the name if the first is `None`.
      values: accepted for compatibility.
      initializer: what variables begin with, unless they are told otherwise.
      regularizer: accepted for compatibility.
      caching_device: accepted for compatibility.
      partitioner: accepted for compatibility.
      custom_getter: accepted for compatibility.
      reuse: `True` to find variables, `None` to make them, `AUTO_REUSE` for either.
      dtype: of variables, unless they are told otherwise.
      use_resource: accepted for compatibility.
      constraint: accepted for compatibility.
      auxiliary_name_scope: whether other names have the prefix, too.
    """

    def __init__(
        self,
        name_or_scope: Any,
        default_name: str | None = None,
        values: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        reuse: Any = None,
        dtype: Any = None,
        use_resource: Any = None,
        constraint: Any = None,
        auxiliary_name_scope: bool = True,
    ) -> None:
        if name_or_scope is None and default_name is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        self._given = default_name if name_or_scope is None else name_or_scope
        self._options = reuse, initializer, dtype
        self._outside: list[VariableScope] = []

    def __enter__(self) -> VariableScope:
        outer = _store.scope
        self._outside.append(outer)
        self._guard = self._latest
        reuse, initializer, dtype = self._options
        if isinstance(self._given, VariableScope):
            name = self._given.name
            reuse = self._given.reuse if reuse is None else reuse
        else:
            name = f"{outer.name}/{self._given}" if outer.name else str(self._given)
        reuse = outer.reuse if reuse is None else reuse
        _store.scope = VariableScope(
            name, reuse, initializer or outer.initializer, dtype or outer.dtype
        )
        return _store.scope

    def _leave(self, *exception: Any) -> None:
        _store.scope = self._outside[-1]
        self._guard = None
        self._outside.pop()


@export("compat.v1.get_variable_scope")
def get_variable_scope() -> VariableScope:
    """The scope that is open.

    >>> tf.compat.v1.get_variable_scope().name
    ''
    """
    return _store.scope


def _glorot(sizes: list[int], dtype: Any) -> Any:
    """Uniform numbers whose spread keeps that of what a layer is given."""
    if not dtype.is_floating:
        return zeros(sizes, dtype)
    field = math.prod(sizes[:-2])
    fans = field * sum(sizes[-2:]) if len(sizes) > 1 else 2 * math.prod(sizes)
    limit = math.sqrt(6.0 / max(1, fans))
    return numbers.uniform(sizes, -limit, limit, dtype)


@export("compat.v1.get_variable")
def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: Any = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: Any = None,
    aggregation: Any = None,
) -> Variable:
    """The variable of a name: it is made, or found if the scope says that variables are reused.

    >>> tf.compat.v1.get_variable("count", initializer=3).numpy()
    np.int32(3)

    Args:
      name: the name, after that of the scope.
      shape: of the variable, unless `initializer` is its value.
      dtype: float32 by default.
      initializer: a value, or an initializer; by default the numbers of Glorot and Bengio.
      regularizer: accepted for compatibility.
      trainable: whether tapes watch it by themselves.
      collections: accepted for compatibility.
      caching_device: accepted for compatibility.
      partitioner: accepted for compatibility.
      validate_shape: accepted for compatibility.
      use_resource: accepted for compatibility.
      custom_getter: accepted for compatibility.
      constraint: what an optimizer applies after each update.
      synchronization: accepted for compatibility.
      aggregation: accepted for compatibility.
    """
    scope = _store.scope
    full = f"{scope.name}/{name}" if scope.name else name
    found = _store.variables.get(full)
    if found is not None:
        if not scope.reuse:
            raise ValueError(
                f"Variable {full} already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in "
                "VarScope?"
            )
        if shape is not None and not found.shape.is_compatible_with(shape):
            raise ValueError(
                f"Trying to share variable {full}, but specified shape {TensorShape(shape)} and found shape "
                f"{found.shape}."
            )
        return found
    if scope.reuse is True:
        raise ValueError(
            f"Variable {full} does not exist, or was not created with tf.get_variable(). Did you mean to set "
            "reuse=tf.AUTO_REUSE in VarScope?"
        )
    initializer = scope.initializer if initializer is None else initializer
    kind = as_dtype(dtype or scope.dtype or float32)
    value: Any = initializer
    if initializer is None or (callable(initializer) and not hasattr(initializer, "__tf_tensor__")):
        if shape is None:
            raise ValueError(
                f"Shape of a new variable ({full}) must be fully defined, got {shown(shape)}."
            )
        maker: Any = _glorot if initializer is None else initializer
        maker = maker() if isinstance(maker, type) else maker
        sizes = TensorShape(shape).as_list()
        value = lambda: maker(sizes, dtype=kind)  # noqa: E731
    variable = Variable(
        value,
        trainable=trainable,
        name=full,
        dtype=None if dtype is None else kind,
        constraint=constraint,
    )
    _store.variables[full] = variable
    return variable
