"""`tf.function`, the decorator. What it needs is imported when it is first used."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from tapeflow._src.core.export import export

if TYPE_CHECKING:
    from tapeflow._src.function.function import Function

P = ParamSpec("P")
R = TypeVar("R")


@overload
def function(
    func: Callable[P, R],
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> Function[P, R]: ...


@overload
def function(
    func: None = None,
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> Callable[[Callable[P, R]], Function[P, R]]: ...


@export("function")
def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> Any:
    """Compiles a function: it is traced at its first call, and later calls run the graph without its Python code.

    >>> @tf.function
    ... def f(x):
    ...     return tf.reduce_sum(x * x)
    >>> f(tf.constant([1.0, 2.0])).numpy()
    np.float32(5.0)

    Tensors of a new shape or dtype, and new Python values, mean a new trace. `input_signature` fixes what the tensors
    are like, with `None` for sizes that vary.

    >>> @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    ... def mean(x):
    ...     return tf.reduce_sum(x) / tf.cast(tf.shape(x)[0], tf.float32)
    >>> mean(tf.constant([1.0, 2.0])).numpy(), mean(tf.constant([1.0, 2.0, 6.0])).numpy()
    (np.float32(1.5), np.float32(3.0))
    >>> mean.experimental_get_tracing_count()
    1

    Args:
      func: the function, method or other callable. Without it, a decorator is returned.
      input_signature: a `tf.TensorSpec` for each argument, in any structure.
      autograph: whether `if`, `while` and `for` on tensors are converted into graph operations.
      jit_compile: True compiles with XLA, False never does. By default, whatever is measured to be fastest runs it.
      reduce_retracing: whether to switch to unknown sizes when the shapes of arguments vary.
      experimental_implements: accepted for compatibility.
      experimental_autograph_options: accepted for compatibility.
      experimental_attributes: a dict. A function with an `api_preferred_device` can take the place of another that
        has the same `api_implements`: see `ConcreteFunction.add_to_graph`.
      experimental_relax_shapes: an older name of `reduce_retracing`.
      experimental_compile: an older name of `jit_compile`.
      experimental_follow_type_hints: accepted for compatibility.
    """
    if experimental_relax_shapes is not None:
        reduce_retracing = experimental_relax_shapes
    if experimental_compile is not None:
        jit_compile = experimental_compile

    def decorated(inner: Callable[..., Any]) -> Function:
        from tapeflow._src.function.function import Function

        return Function(
            inner,
            input_signature=input_signature,
            autograph=autograph,
            jit_compile=jit_compile,
            reduce_retracing=reduce_retracing,
            attributes=experimental_attributes,
        )

    return decorated if func is None else decorated(func)
