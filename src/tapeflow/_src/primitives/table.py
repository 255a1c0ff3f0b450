"""The table of primitives: the only things an engine runs and a tape records.

A row says everything about a primitive: its name, the names of its inputs, the kernel that computes it, the rule
that gives the shape and dtype of its result (and names the mistake when there is none), and its gradient with
respect to each input. What must be kept for the backward pass is not said apart: a gradient is a function whose
parameters name what it needs, and a tape keeps just that.

    tanh:     lambda g, y: g * (1 - y * y)      keeps the output, not the input
    multiply: lambda g, b: g * b                keeps `b`, and only if `a` needs a gradient
    reshape:  lambda g, x_shape: ...            keeps a shape and no array

A parameter may name an input, the output (`y`), the shape or dtype of either (`x_shape`, `x_dtype`), or an attribute.
A primitive that takes any number of inputs (`*xs`) has one gradient for all of them, which may also ask for its
position (`i`), for `xs_shapes`, and for `others`: the inputs with a hole at that position.

Where the gradients of several inputs share work, one function gives all of them: its key names these inputs. After `g`
it is told which gradients are wanted, and it returns one for each input of the row, None for the others.

    "matrix rhs": lambda g, wanted, matrix, y: ...      solves one system for both
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tapeflow._src.core.context import apart, context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, from_numpy
from tapeflow._src.core.errors import InvalidArgumentError, OpError
from tapeflow._src.core.interpreter import innermost
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.system.memory import exhausted
from tapeflow._src.core.tensor import Tensor


class ArraySpec(NamedTuple):
    """What a shape rule knows of an input and says of a result."""

    shape: tuple[Any, ...]
    dtype: DType

    def __str__(self) -> str:
        dims = ("...",) if self.shape is None else self.shape  # not even the rank may be known
        return f"{self.dtype.name}[{','.join('?' if d is None else str(d) for d in dims)}]"


Edge = Callable[[int, tuple[Tensor, ...], Any, Any], tuple[Callable[..., Any], tuple[Any, ...]]]
"""How a tape is told of a gradient: for the input at a position, the inputs, the output and the attributes of a
finished operation, it gives the vector-Jacobian product (called as `rule(g, *kept)`) and what must be kept for it."""


class _Repeated(tuple[Any, ...]):
    """The gradients of a primitive that takes any number of inputs: the same at every position."""

    def __getitem__(self, position: Any) -> Any:
        return super().__getitem__(0)


class Primitive:
    """One row of the table."""

    __slots__ = (
        "call",
        "edges",
        "elementwise",
        "gradients",
        "inputs",
        "joint",
        "kernel",
        "name",
        "outputs",
        "result",
        "together",
        "variadic",
    )

    def __init__(
        self,
        name: str,
        inputs: str,
        kernel: Callable[..., Any],
        result: Callable[..., Any],
        gradients: dict[str, Edge],
        outputs: int | None = 1,
    ) -> None:
        self.name = name
        self.variadic = inputs.startswith("*")
        self.inputs = tuple(inputs.lstrip("*").split())
        self.kernel = kernel
        self.result = result
        by_input = {name: edge for key, edge in gradients.items() for name in key.split()}
        edges = [by_input.get(i) for i in self.inputs]
        self.gradients = _Repeated(edges) if self.variadic else tuple(edges)
        self.outputs = outputs  # None: a number that depends on the inputs
        self.together = len(by_input) > len(gradients)  # one rule gives the gradients of all inputs
        self.joint = outputs != 1 or self.together  # whether a tape notes a pullback
        self.edges: Callable[..., Any] = self._joint_edges if self.joint else self._edges
        self.call: Callable[..., Any]  # the function that runs it on tensors
        self.elementwise = False  # whether it works on each element of its broadcast inputs alone
        if name in TABLE:
            raise ValueError(f"the primitive {name!r} is in the table already")
        TABLE[name] = self

    def _edges(
        self, tracked: set[int], inputs: tuple[Tensor, ...], output: Any, attrs: Any
    ) -> list[tuple[int, Callable[..., Any], tuple[Any, ...]]]:
        """What a tape notes of a finished operation.

        For each input it follows that has a gradient: the identity of the input, the rule, and what must be kept for
        it. Elementwise primitives bring a quicker one of their own.
        """
        edges = []
        for position, x in enumerate(inputs):
            if x._id in tracked:
                edge = self.gradients[position]
                if edge is not None:
                    edges.append((x._id, *edge(position, inputs, output, attrs)))
        return edges

    def _joint_edges(
        self, tracked: set[int], inputs: tuple[Tensor, ...], output: Any, attrs: Any
    ) -> tuple[Any, ...]:
        """The same for a row with several outputs, or one rule for all inputs: identities or 0, and a pullback."""
        ids = tuple(
            [
                x._id if x._id in tracked and self.gradients[i] is not None else 0
                for i, x in enumerate(inputs)
            ]
        )
        return (ids, self.pullback(ids, inputs, output, attrs)) if any(ids) else ()

    def pullback(
        self, followed: Sequence[Any], inputs: tuple[Tensor, ...], output: Any, attrs: Any
    ) -> Callable[..., Sequence[Any]]:
        """The vector-Jacobian product of a finished operation, called as `pullback(wanted, *g)`.

        Both `followed` and `wanted` say of each input whether its gradient is asked for: now, which decides what is
        kept, and then.
        """
        several = self.outputs != 1
        gradients: Any = self.gradients
        if self.together:
            rule, kept = next(filter(None, gradients))(0, inputs, output, attrs)
            return lambda wanted, *g: rule(g if several else g[0], wanted, *kept)
        edges: list[Any] = [
            gradients[i](i, inputs, output, attrs) if asked else None
            for i, asked in enumerate(followed)
        ]

        def pullback(wanted: Sequence[Any], *g: Any) -> list[Any]:
            given = g if several else g[0]
            pairs = zip(wanted, edges, strict=True)
            return [edge[0](given, *edge[1]) if asked else None for asked, edge in pairs]

        return pullback

    @property
    def differentiable(self) -> bool:
        """Whether any input has a gradient."""
        return any(self.gradients)

    def __repr__(self) -> str:
        return f"<primitive {self.name}({', '.join(self.inputs)})>"


TABLE: dict[str, Primitive] = {}
"""All primitives by name."""


class Calls:
    """The functions of all primitives by name, for gradients that call one of a subject that builds on their own."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., Any]: ...


calls = Calls()


def primitive(
    name: str,
    inputs: str,
    kernel: Callable[..., Any],
    *,
    result: Callable[..., Any],
    gradients: dict[str, Callable[..., Any]] | None = None,
    outputs: int | None = 1,
) -> Callable[..., Any]:
    """Adds a row and returns the function that runs it on tensors.

    The kernel gets arrays and the attributes as keywords. It may fail in any way it likes: the failure is told again
    by the shape rule, in words. With `outputs` other than 1 the kernel returns a tuple, and gradients get a tuple `g`.
    """
    names = tuple(inputs.lstrip("*").split())
    row = Primitive(
        name,
        inputs,
        kernel,
        result,
        {key: _edge(rule, names, " " in key) for key, rule in (gradients or {}).items()},
        outputs,
    )
    several = outputs != 1

    def call(*inputs: Any, **attrs: Any) -> Any:
        for x in inputs:
            if type(x) is not Tensor:
                inputs = tuple([convert_to_tensor(x) for x in inputs])
                interpreter = innermost(inputs)
                if interpreter is not None:
                    return interpreter.interpret(row, inputs, attrs)
                break
        run, recorders = context.hot
        if recorders and attrs and context.tracer is not None and is_dynamic(attrs):
            return context.tracer.interpret(row, inputs, attrs)
        try:
            array = run(kernel, *[x._array for x in inputs], **attrs)
        except FAILURES as error:
            array = rescued(row, inputs, attrs, run, error)
        output = tuple([Tensor(a) for a in array]) if several else Tensor(array)
        for recorder in recorders:
            recorder.record(row, inputs, output, attrs)
        return output

    def unary_call(x: Any, **attrs: Any) -> Any:
        if type(x) is not Tensor:
            return call(x, **attrs)
        run, recorders = context.hot
        if recorders and attrs and context.tracer is not None and is_dynamic(attrs):
            return context.tracer.interpret(row, (x,), attrs)
        try:
            output = Tensor(run(kernel, x._array, **attrs))
        except FAILURES as error:
            output = Tensor(rescued(row, (x,), attrs, run, error))
        for recorder in recorders:
            recorder.record(row, (x,), output, attrs)
        return output

    def binary_call(a: Any, b: Any, **attrs: Any) -> Any:
        if type(a) is not Tensor or type(b) is not Tensor:
            return call(a, b, **attrs)
        run, recorders = context.hot
        if recorders and attrs and context.tracer is not None and is_dynamic(attrs):
            return context.tracer.interpret(row, (a, b), attrs)
        try:
            output = Tensor(run(kernel, a._array, b._array, **attrs))
        except FAILURES as error:
            output = Tensor(rescued(row, (a, b), attrs, run, error))
        for recorder in recorders:
            recorder.record(row, (a, b), output, attrs)
        return output

    if not names:
        return named(_without_inputs(call, row), row)
    if several or row.variadic or len(names) > 2:
        return named(call, row)
    return named(unary_call if len(names) == 1 else binary_call, row)  # what most rows are


def _without_inputs(call: Callable[..., Any], row: Primitive) -> Callable[..., Any]:
    """No input can tell who is to interpret the primitive, so the context is asked."""

    def asking(**attrs: Any) -> Any:
        active = context.interpreters
        return active[-1].interpret(row, (), attrs) if active else call(**attrs)

    return asking


def named(call: Callable[..., Any], row: Primitive) -> Callable[..., Any]:
    """Gives the function of a row its name, and the row and everybody the way to it."""
    call.__name__ = call.__qualname__ = row.name
    row.call = call
    setattr(calls, row.name, call)
    return call


# What the parameters of a gradient may ask for, and how each is picked from a finished operation.


def _edge(rule: Callable[..., Any], inputs: tuple[str, ...], together: bool) -> Edge:
    """The edge of a rule, written out as code when it is first needed: a loop over pickers would take longer."""
    given = 2 if together else 1  # parameters that are not kept: `g`, and what is wanted
    keep: Callable[..., tuple[Any, ...]] | None = None

    def edge(
        i: int, ins: tuple[Tensor, ...], out: Any, attrs: Any
    ) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        nonlocal keep
        if keep is None:
            kept = "".join(f"{_pick(name, inputs)}, " for name in parameters(rule)[given:])
            keep = eval(f"lambda i, ins, out, attrs: ({kept})")
        return rule, keep(i, ins, out, attrs)  # pyright: ignore[reportOptionalCall]

    return edge


def _pick(name: str, inputs: tuple[str, ...]) -> str:
    """The expression for a parameter's value, in the words of `Edge`."""
    known = {
        "y": "out",
        "y_shape": "out._array.shape",
        "i": "i",
        "xs": "ins",
        "xs_shapes": "tuple([x._array.shape for x in ins])",
        "others": "(*ins[:i], None, *ins[i + 1 :])",
    }
    owner, _, what = name.rpartition("_")
    if name == "xs" or (name in known and name not in inputs):
        return known[name]
    if name in inputs:
        return f"ins[{inputs.index(name)}]"
    if owner in inputs and what == "shape":
        return f"ins[{inputs.index(owner)}]._array.shape"
    if owner in inputs and what == "dtype":
        return f"ins[{inputs.index(owner)}].dtype"
    return f"attrs[{name!r}]"


def parameters(rule: Callable[..., Any]) -> list[str]:
    """The names of a rule's parameters."""
    # A rule is a plain function; `inspect.signature` would take half of the import time.
    code = rule.__code__
    return list(code.co_varnames[: code.co_argcount])


# Failures.

KERNEL_FAILURES = (
    ValueError,
    TypeError,
    IndexError,
    OverflowError,
    ZeroDivisionError,
    AttributeError,
    MemoryError,
    np.linalg.LinAlgError,
    OpError,
)
FAILURES = (*KERNEL_FAILURES, RuntimeError)  # of kernels, and of what runs them


def rescued(
    row: Primitive,
    inputs: tuple[Tensor, ...],
    attrs: dict[str, Any],
    run: Callable[..., Any],
    error: Exception,
) -> Any:
    """What a kernel gives after all, where it could not be run because another one is running; else its failure."""
    if isinstance(error, KERNEL_FAILURES):
        raise retold(row, inputs, attrs, error) from None
    try:
        return apart(run, error, row.kernel, *[x._array for x in inputs], **attrs)
    except KERNEL_FAILURES as failure:
        raise retold(row, inputs, attrs, failure) from None


def retold(
    row: Primitive, inputs: tuple[Tensor, ...], attrs: dict[str, Any], error: Exception
) -> Exception:
    """The failure of a kernel in the user's words.

    The shape rule knows what the op demands, so it is asked first. What it lets pass depends on values (an index out of
    range, a singular matrix), and the kernel's own message says that.
    """
    if isinstance(error, OpError):
        return error
    specs = [ArraySpec(x._array.shape, from_numpy(x._array.dtype)) for x in inputs]
    try:
        row.result(*specs, **attrs)
    except (ValueError, TypeError, OpError) as named_mistake:
        return named_mistake
    except (IndexError, OverflowError) as mistake:  # of an index that no array has
        error = mistake
    inputs_text = f" (inputs: {', '.join(map(str, specs))})"
    if isinstance(error, MemoryError):
        return exhausted(row.name, error, inputs_text)
    return InvalidArgumentError(None, None, f"{row.name}: {error}{inputs_text}")
