"""What libraries of TensorFlow 2's time use of `tf.compat.v1`, besides names that are the same in both."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import float32, float64, int32, int64
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.function.decorator import function
from tapeflow._src.graph.graph import Graph
from tapeflow._src.ops.array.shaping import cast, reshape
from tapeflow._src.ops.control.grouping import no_op
from tapeflow._src.ops.elementwise.arithmetic import divide, floordiv
from tapeflow._src.ops.indexing import gathering
from tapeflow._src.ops.random import numbers

NO_SESSIONS = (
    "{} belongs to TensorFlow 1's sessions, which are not supported: ops run at once, or in a tf.function. Write a "
    "function, and call it with tensors."
)


@export("compat.v1.Session", "compat.v1.InteractiveSession")
class Session:
    """Sessions are not supported, and the error says so.

    >>> tf.compat.v1.Session()
    Traceback (most recent call last):
    NotImplementedError: tf.compat.v1.Session belongs to TensorFlow 1's sessions, which are not supported: ops...
    """

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        raise NotImplementedError(NO_SESSIONS.format("tf.compat.v1.Session"))


@export("compat.v1.placeholder")
def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> NoReturn:
    """Placeholders are not supported, and the error says so.

    >>> tf.compat.v1.placeholder(tf.float32)
    Traceback (most recent call last):
    NotImplementedError: tf.compat.v1.placeholder belongs to TensorFlow 1's sessions, which are not supported: ops...
    """
    raise NotImplementedError(NO_SESSIONS.format("tf.compat.v1.placeholder"))


@export("compat.v1.placeholder_with_default")
def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """The input: there is no session that could feed another one.

    >>> tf.compat.v1.placeholder_with_default([1.0, 2.0], shape=[None]).numpy()
    array([1., 2.], dtype=float32)
    """
    found = convert_to_tensor(input)
    if not TensorShape(shape).is_compatible_with(found.shape):
        raise ValueError(
            f"placeholder_with_default: the input of shape {found.shape} does not fit {TensorShape(shape)}"
        )
    return found


@export("compat.v1.where")
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """Elements of `x` where a condition holds, and of `y` elsewhere; a vector chooses whole rows.

    >>> tf.compat.v1.where([True, False], [[1, 2], [3, 4]], [[5, 6], [7, 8]]).numpy()
    array([[1, 2],
           [7, 8]], dtype=int32)
    """
    condition = convert_to_tensor(condition)
    if x is None or y is None:
        return gathering.where(condition, x, y)
    x, y = convert_to_tensor(x), convert_to_tensor(y)
    rank = len(x._array.shape)
    if len(condition._array.shape) == 1 and rank > 1:
        condition = reshape(condition, [-1] + [1] * (rank - 1))
    return gathering.where(condition, x, y)


@export("compat.v1.wrap_function")
def wrap_function(fn: Callable[..., Any], signature: Any, name: str | None = None) -> Any:
    """A function as a graph, for tensors of a signature.

    >>> double = tf.compat.v1.wrap_function(lambda x: x * 2.0, [tf.TensorSpec([], tf.float32)])
    >>> double(tf.constant(3.0)).numpy()
    np.float32(6.0)
    """
    for each in signature:
        if not hasattr(each, "shape") or not hasattr(each, "dtype"):
            raise TypeError(
                f"wrap_function: signature must be tf.TensorSpecs, or what has a shape and a dtype, got {shown(each)}"
            )
    specs = [s if isinstance(s, TensorSpec) else TensorSpec(s.shape, s.dtype) for s in signature]
    return function(fn, autograph=False).get_concrete_function(*specs)


@export("compat.v1.to_float")
def to_float(x: Any, name: str | None = "ToFloat") -> Tensor:
    """The tensor as float32.

    >>> tf.compat.v1.to_float([1, 2]).numpy()
    array([1., 2.], dtype=float32)
    """
    return cast(x, float32)


@export("compat.v1.to_double")
def to_double(x: Any, name: str | None = "ToDouble") -> Tensor:
    """The tensor as float64.

    >>> tf.compat.v1.to_double([1, 2]).numpy()
    array([1., 2.])
    """
    return cast(x, float64)


@export("compat.v1.to_int32")
def to_int32(x: Any, name: str | None = "ToInt32") -> Tensor:
    """The tensor as int32.

    >>> tf.compat.v1.to_int32([1.7]).numpy()
    array([1], dtype=int32)
    """
    return cast(x, int32)


@export("compat.v1.to_int64")
def to_int64(x: Any, name: str | None = "ToInt64") -> Tensor:
    """The tensor as int64.

    >>> tf.compat.v1.to_int64([1.7]).numpy()
    array([1])
    """
    return cast(x, int64)


@export("compat.v1.div")
def div(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The quotient; of integers, rounded down, as in Python 2.

    >>> tf.compat.v1.div(7, 2).numpy()
    np.int32(3)
    """
    x = convert_to_tensor(x)
    return floordiv(x, y) if x.dtype.is_integer else divide(x, y)


@export("compat.v1.random_uniform")
def random_uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """The same as `tf.random.uniform`.

    >>> tf.compat.v1.random_uniform([2]).shape
    TensorShape([2])
    """
    return numbers.uniform(shape, minval, maxval, dtype, seed)


@export("compat.v1.random_normal")
def random_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """The same as `tf.random.normal`.

    >>> tf.compat.v1.random_normal([2]).shape
    TensorShape([2])
    """
    return numbers.normal(shape, mean, stddev, dtype, seed)


@export("compat.v1.set_random_seed", "compat.v1.random.set_random_seed")
def set_random_seed(seed: Any) -> None:
    """The same as `tf.random.set_seed`.

    >>> tf.compat.v1.set_random_seed(1)
    """
    numbers.set_seed(seed)


@export(
    "compat.v1.global_variables_initializer",
    "compat.v1.local_variables_initializer",
)
def global_variables_initializer() -> Any:
    """Nothing to do: variables have their values from the beginning.

    >>> tf.compat.v1.global_variables_initializer()
    """
    return no_op()


@export("compat.v1.tables_initializer")
def tables_initializer(name: str = "init_all_tables") -> Any:
    """Nothing to do: tables are filled from the beginning.

    >>> tf.compat.v1.tables_initializer()
    """
    return no_op()


@export("compat.v1.executing_eagerly_outside_functions")
def executing_eagerly_outside_functions() -> bool:
    """True: there are no graphs but those of functions.

    >>> tf.compat.v1.executing_eagerly_outside_functions()
    True
    """
    return True


@export("compat.v1.enable_eager_execution")
def enable_eager_execution(
    config: Any = None, device_policy: Any = None, execution_mode: Any = None
) -> None:
    """Nothing to do: ops run at once.

    >>> tf.compat.v1.enable_eager_execution()
    """


@export("compat.v1.enable_v2_behavior", "compat.v1.enable_resource_variables")
def enable_v2_behavior() -> None:
    """Nothing to do: TensorFlow 2's behaviour is all there is.

    >>> tf.compat.v1.enable_v2_behavior()
    """


@export("compat.v1.disable_v2_behavior", "compat.v1.disable_eager_execution")
def disable_v2_behavior() -> NoReturn:
    """TensorFlow 1's behaviour is not supported, and the error says so.

    >>> tf.compat.v1.disable_v2_behavior()
    Traceback (most recent call last):
    NotImplementedError: tf.compat.v1.disable_v2_behavior belongs to TensorFlow 1's sessions, which are not...
    """
    raise NotImplementedError(NO_SESSIONS.format("tf.compat.v1.disable_v2_behavior"))


@export("compat.v1.is_variable_initialized")
def is_variable_initialized(variable: Variable) -> Tensor:
    """True: variables have their values from the beginning.

    >>> bool(tf.compat.v1.is_variable_initialized(tf.Variable(1.0)))
    True
    """
    return convert_to_tensor(True)


@export("compat.v1.SparseTensorValue")
class SparseTensorValue(NamedTuple):
    """The three arrays of a sparse tensor, by name.

    >>> tf.compat.v1.SparseTensorValue([[0, 1]], [2.0], [2, 2]).values
    [2.0]
    """

    indices: Any
    values: Any
    dense_shape: Any


_default_graph = Graph()


@export("compat.v1.get_default_graph")
def get_default_graph() -> Graph:
    """The graph that ops are added to, or an empty one where they run at once.

    >>> graph = tf.Graph()
    >>> with graph.as_default():
    ...     print(tf.compat.v1.get_default_graph() is graph)
    True
    """
    return _default_graph if context.tracer is None else context.tracer.graph


@export("compat.v1.colocate_with")
def colocate_with(
    op: Any, ignore_existing: bool = False
) -> contextlib.AbstractContextManager[None]:
    """A scope without effect: ops run where their inputs are.

    >>> with tf.compat.v1.colocate_with(tf.constant(1.0)):
    ...     tf.constant(2.0).numpy()
    np.float32(2.0)
    """
    return contextlib.nullcontext()


@export("compat.v1.control_flow_v2_enabled")
def control_flow_v2_enabled() -> bool:
    """Whether branches and loops are functions: always.

    >>> tf.compat.v1.control_flow_v2_enabled()
    True
    """
    return True


@export("compat.v1.enable_control_flow_v2")
def enable_control_flow_v2() -> None:
    """Accepted: branches and loops are functions anyway.

    >>> tf.compat.v1.enable_control_flow_v2()
    """


@export("compat.v1.reset_default_graph")
def reset_default_graph() -> None:
    """Accepted: ops run at once, and no graph is kept.

    >>> tf.compat.v1.reset_default_graph()
    """
