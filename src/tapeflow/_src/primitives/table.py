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
from typing import TYPE_CHECKING, Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.placement.remote import beside
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives import dispatch

Noted = tuple[int, Callable[..., Any], tuple[Any, ...]]
"""What a tape notes of a gradient: the identity of the input, the vector-Jacobian product (called as
`rule(g, *kept)`), and what must be kept for it."""

Edge = Callable[[int, int, tuple[Tensor, ...], Any, Any], Noted]
"""How a tape is told of a gradient: by the identity of an input, its position, and the inputs, the output and the
attributes of a finished operation."""


class _Repeated(tuple[Any, ...]):
    """The gradients of a primitive that takes any number of inputs: the same at every position."""

    def __getitem__(self, position: Any) -> Any:
        return super().__getitem__(0)


class Primitive:
    """One row of the table."""

    __slots__ = (
        "call",
        "convert",
        "edges",
        "elementwise",
        "for_strings",
        "gradient_kernel",
        "gradients",
        "inputs",
        "joint",
        "keeps_dtype",
        "kernel",
        "name",
        "numbers_only",
        "one_dtype",
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
        self.gradient_kernel: Callable[..., Any] | None = None  # all steps of its gradient in one
        self.convert: Callable[..., tuple[Tensor, ...]] = _converted  # makes tensors of its inputs
        # What NumPy lets pass and it refuses.
        self.one_dtype = False  # inputs of different dtypes
        self.numbers_only = False  # bools and strings
        self.keeps_dtype = False  # a result of another dtype than the inputs
        self.for_strings: Primitive | None = None  # the row that takes its place for strings
        if name in TABLE:
            raise ValueError(f"the primitive {name!r} is in the table already")
        TABLE[name] = self

    def _edges(
        self, tracked: set[int], inputs: tuple[Tensor, ...], output: Any, attrs: Any
    ) -> Sequence[Noted]:
        """What a tape notes of a finished operation, for each input it follows that has a gradient.

        Elementwise primitives bring a quicker one of their own.
        """
        edges = []
        for position, x in enumerate(inputs):
            identity = x._id
            if identity in tracked:
                edge = self.gradients[position]
                if edge is not None:
                    edges.append(edge(identity, position, inputs, output, attrs))
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
            _, rule, kept = next(filter(None, gradients))(0, 0, inputs, output, attrs)

            def joint(wanted: Sequence[Any], *g: Any) -> list[Any]:
                with beside(g[0]):
                    return rule(g if several else g[0], wanted, *kept)

            return joint
        edges: list[Any] = [
            gradients[i](0, i, inputs, output, attrs) if asked else None
            for i, asked in enumerate(followed)
        ]

        def pullback(wanted: Sequence[Any], *g: Any) -> list[Any]:
            given = g if several else g[0]
            pairs = zip(wanted, edges, strict=True)
            with beside(g[0]):
                return [edge[1](given, *edge[2]) if asked else None for asked, edge in pairs]

        return pullback

    @property
    def differentiable(self) -> bool:
        """Whether any input has a gradient."""
        return any(self.gradients)

    def __repr__(self) -> str:
        return f"<primitive {self.name}({', '.join(self.inputs)})>"


def _converted(*inputs: Any) -> tuple[Tensor, ...]:
    return tuple([convert_to_tensor(x) for x in inputs])


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
    return named(dispatch.quick_call(row), row)


UNLISTED: dict[str, Primitive] = {}
"""Rows that are not in the table, which is about arrays of numbers: those for stacks and for strings, which only the
host runs, and which have no derivative or write it themselves."""


def unlisted(name: str, inputs: str, kernel: Callable[..., Any], **rest: Any) -> Callable[..., Any]:
    """Adds such a row, as `primitive` does."""
    function = primitive(name, inputs, kernel, **rest)
    UNLISTED[name] = TABLE.pop(name)
    return function


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

    def edge(identity: int, i: int, ins: tuple[Tensor, ...], out: Any, attrs: Any) -> Noted:
        nonlocal keep
        if keep is None:
            kept = "".join(f"{_pick(name, inputs)}, " for name in parameters(rule)[given:])
            keep = eval(f"lambda i, ins, out, attrs: ({kept})")
        return identity, rule, keep(i, ins, out, attrs)  # pyright: ignore[reportOptionalCall]

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
