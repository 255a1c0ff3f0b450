"""`tf.function`: a Python function that is traced once for each kind of arguments, and then runs without Python."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core import nest
from tapeflow.core.log import warn_once
from tapeflow.core.tensor import Tensor
from tapeflow.core.variable import Variable
from tapeflow.function import passes, settings
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.function.retracing import RetracingWatch
from tapeflow.function.signature import Signature, TensorKey, is_tensor, key_of, prepared


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

    Another trace is made for tensors of another shape or dtype and for other Python values. `input_signature` fixes
    what the tensors are like, with `None` for sizes that vary.

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
      jit_compile: True compiles with XLA, False never does. By default whichever is faster is used.
      reduce_retracing: whether to trace for unknown sizes when the shapes of arguments vary.
      experimental_implements: accepted for compatibility.
      experimental_autograph_options: accepted for compatibility.
      experimental_attributes: accepted for compatibility.
      experimental_relax_shapes: an older name of `reduce_retracing`.
      experimental_compile: an older name of `jit_compile`.
      experimental_follow_type_hints: accepted for compatibility.
    """
    if experimental_relax_shapes is not None:
        reduce_retracing = experimental_relax_shapes
    if experimental_compile is not None:
        jit_compile = experimental_compile

    def decorated(inner: Callable[..., Any]) -> Function:
        return Function(
            inner,
            input_signature=input_signature,
            autograph=autograph,
            jit_compile=jit_compile,
            reduce_retracing=reduce_retracing,
        )

    return decorated if func is None else decorated(func)


class Function:
    """What `tf.function` returns: a callable with a cache of traces."""

    def __init__(
        self,
        python_function: Callable[..., Any],
        *,
        input_signature: Any = None,
        autograph: bool = True,
        jit_compile: bool | None = None,
        reduce_retracing: bool = False,
    ) -> None:
        if not callable(python_function):
            raise TypeError(f"tf.function takes a callable, got {python_function!r}")
        if isinstance(python_function, Function):
            python_function = python_function.python_function
        self._python_function = python_function
        self._options = {
            "input_signature": input_signature,
            "autograph": autograph,
            "jit_compile": jit_compile,
            "reduce_retracing": reduce_retracing,
        }
        self._signature: Signature | None = None
        self._cache: dict[Any, list[ConcreteFunction]] = {}
        self._traces: list[tuple[Any, ConcreteFunction]] = []
        self._count = 0
        self._created_variables = False
        self._in_progress: set[Any] = set()
        self._watch = RetracingWatch(self)
        self._bound: dict[int, tuple[Any, Function]] = {}
        functools.update_wrapper(self, python_function, updated=())

    @property
    def python_function(self) -> Callable[..., Any]:
        """The Python function inside."""
        return self._python_function

    @property
    def signature(self) -> Signature:
        """Its parameters."""
        if self._signature is None:
            self._signature = Signature(self._python_function, self._options["input_signature"])
        return self._signature

    @property
    def input_signature(self) -> Any:
        """The input signature it was given."""
        return self.signature.input_signature

    @property
    def name(self) -> str:
        """The name of the Python function."""
        return self.signature.name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """As a method: each object has traces of its own, which do not keep it alive."""
        if instance is None:
            return self
        found = self._bound.get(id(instance))
        if found is not None and found[0]() is instance:
            return found[1]
        method = Function(_method(self._python_function, instance), **self._options)
        key = id(instance)
        reference = weakref.ref(instance, lambda _: self._bound.pop(key, None))
        self._bound[key] = (reference, method)
        return method

    # Calling.

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if settings.run_eagerly:
            return self._python_function(*args, **kwargs)
        concrete, leaves = self._found(args, kwargs)
        return concrete.call_flat([x for x in leaves if isinstance(x, Tensor)])

    def _found(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[ConcreteFunction, Any]:
        args, kwargs, leaves, key = self._keyed(args, kwargs)
        for concrete in self._cache.get(key, ()):
            if concrete.fits(leaves):
                return concrete, leaves
        return self._traced(args, kwargs, leaves, key), leaves

    def _keyed(self, args: Any, kwargs: Any) -> tuple[Any, Any, list[Any], Any]:
        args, kwargs = self.signature.bound(args, kwargs)
        if self.signature.input_signature is not None:
            args = self.signature.cast(args, kwargs)
        leaves = list(map(prepared, nest.flatten((args, kwargs))))
        form = (
            nest.map_structure(lambda _: None, (args, kwargs))
            if _nested(args, kwargs)
            else len(args)
        )
        key = (_hashable(form), *map(key_of, leaves))
        return args, kwargs, leaves, key

    def _traced(self, args: Any, kwargs: Any, leaves: list[Any], key: Any) -> ConcreteFunction:
        general = self._general(key, leaves)
        if general is not None:
            self._cache.setdefault(key, []).append(general)
            return general
        if key in self._in_progress:
            raise RuntimeError(
                f"tf.function: {self.name} calls itself while it is traced. A traced function cannot be recursive on "
                "tensors, because its graph would have no end: write a loop (tf.while_loop), or recurse in a plain "
                "Python function on Python numbers."
            )
        specs, wide = self._specs(leaves, key)
        self._in_progress.add(key)
        try:
            concrete = self._trace(args, kwargs, specs, leaves)
        finally:
            self._in_progress.discard(key)
        self._cache.setdefault(key, []).append(concrete)
        self._traces.append((wide, concrete))
        self._watch.traced(key)
        return concrete

    def _general(self, key: Any, leaves: list[Any]) -> ConcreteFunction | None:
        """A trace for a wider kind of arguments that these are of, too."""
        for other, concrete in self._traces:
            if (
                len(other) == len(key)
                and other[0] == key[0]
                and all(
                    mine.covers(theirs) if type(mine) is TensorKey else mine == theirs
                    for mine, theirs in zip(other[1:], key[1:], strict=True)
                )
                and concrete.fits(leaves)
            ):
                return concrete
        return None

    def _specs(self, leaves: list[Any], key: Any) -> tuple[list[Any], Any]:
        """For each argument what to trace it for, and the key of that."""
        keys = list(key[1:])
        if self.signature.input_signature is not None:
            for i, spec in enumerate(nest.flatten(self.signature.input_signature)):
                keys[i] = key_of(spec)
        elif self._options["reduce_retracing"]:
            for other, _ in self._traces:
                if len(other) != len(key) or other[0] != key[0]:
                    continue
                pairs = list(zip(other[1:], keys, strict=True))
                widened = [a.widened(b) if type(a) is TensorKey else a for a, b in pairs]
                if all(
                    w is not None and (type(w) is TensorKey or w == b)
                    for w, (_, b) in zip(widened, pairs, strict=True)
                ):
                    keys = widened
        return keys, (key[0], *keys)

    def _trace(
        self, args: Any, kwargs: Any, specs: Sequence[Any], leaves: list[Any]
    ) -> ConcreteFunction:
        from tapeflow.core.spec import TensorSpec

        flat = [
            TensorSpec(spec.shape, spec.dtype, spec.name) if type(spec) is TensorKey else leaf
            for spec, leaf in zip(specs, leaves, strict=True)
        ]
        names = self._argument_names(args, kwargs)
        flat = [
            TensorSpec(x.shape, x.dtype, x.name or name) if isinstance(x, TensorSpec) else x
            for x, name in zip(flat, names, strict=True)
        ]
        new_args, new_kwargs = nest.pack_sequence_as((args, kwargs), flat)
        inner = self._converted()
        while True:
            self._count += 1
            concrete = ConcreteFunction(
                inner,
                self.name,
                new_args,
                new_kwargs,
                jit_compile=self._options["jit_compile"],
                creation_allowed=not self._created_variables,
                hints=leaves,
            )
            concrete.text = self._text(concrete)
            if not concrete.created:
                return concrete
            # Variables were made in this trace, which must not be made again in each call: from now on they exist.
            self._created_variables = True

    def _converted(self) -> Callable[..., Any]:
        if not self._options["autograph"]:
            return self._python_function
        from tapeflow.function.autograph import convert

        return convert(self._python_function)

    def _argument_names(self, args: Any, kwargs: Any) -> list[str | None]:
        names: list[str | None] = []
        parameters = list(self.signature.parameters.parameters)
        for i, arg in enumerate(args):
            name = parameters[i] if i < len(parameters) else f"args_{i}"
            count = len(nest.flatten(arg))
            names += [name] if count == 1 else [f"{name}_{j}" for j in range(count)]
        for name in sorted(kwargs):
            count = len(nest.flatten(kwargs[name]))
            names += [name] if count == 1 else [f"{name}_{j}" for j in range(count)]
        return names

    # What it is.

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for arguments of this kind: tensors, or `tf.TensorSpec`s in their place.

        >>> f = tf.function(lambda x: x + 1.0)
        >>> f.get_concrete_function(tf.TensorSpec([None], tf.float32)).structured_outputs
        TensorSpec(shape=(None,), dtype=tf.float32, name=None)
        """
        if not args and not kwargs and self.signature.input_signature is not None:
            args = self.signature.input_signature
        return self._found(args, kwargs)[0]

    def experimental_get_tracing_count(self) -> int:
        """How many times the Python function was traced."""
        return self._count

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """The signatures of all traces, as text."""
        return "\n\n".join(concrete.text for _, concrete in self._traces)

    def graph(self, optimized: bool = False) -> str:
        """The graphs of all traces, as text: as they were traced, or as they run.

        >>> f = tf.function(lambda x: tf.sin(x) * 2.0)
        >>> _ = f(tf.constant(1.0))
        >>> print(f.graph())  # doctest: +ELLIPSIS
        <lambda>(x: float32[]) {
          a = 2.0: float32[]
          b = sin(x): float32[]...
          c = multiply(b, a): float32[]...
          return c
        }

        Args:
          optimized: whether to show the graphs after all passes.
        """
        graphs = [concrete.graph for _, concrete in self._traces]
        return "\n\n".join(str(passes.optimized(g) if optimized else g) for g in graphs)

    def report(self) -> str:
        """How each trace runs: which executor was chosen, and why."""
        return "\n\n".join(concrete.report() for _, concrete in self._traces)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that its traces use."""
        found = {id(v): v for _, c in self._traces for v in c.variables}
        return tuple(found.values())

    def _text(self, concrete: ConcreteFunction) -> str:
        arguments, keywords = concrete.structured_input_signature
        parameters = list(self.signature.parameters.parameters)
        texts = []
        for i, value in enumerate(arguments):
            name = parameters[i] if i < len(parameters) else f"args_{i}"
            texts.append(f"{name}: {_described(value)}")
        texts += [f"{name}: {_described(value)}" for name, value in keywords.items()]
        return f"{self.name}({', '.join(texts)}) -> {_described(concrete.structured_outputs)}"

    def __repr__(self) -> str:
        return f"<tapeflow.function {self.name}{self.signature.parameters}>"


def _described(value: Any) -> str:
    from tapeflow.core.spec import TensorSpec

    if isinstance(value, TensorSpec):
        return repr(TensorSpec(value.shape, value.dtype))
    if nest.is_nested(value):
        return str(nest.map_structure(_Text.of, value))
    return f"Literal[{value!r}]" if value is not None else "None"


class _Text:
    """Prints as it is told."""

    def __init__(self, text: str) -> None:
        self._text = text

    @classmethod
    def of(cls, value: Any) -> _Text:
        return cls(_described(value))

    def __repr__(self) -> str:
        return self._text


def _method(python_function: Callable[..., Any], instance: Any) -> Callable[..., Any]:
    """A method bound to an object that it does not keep alive."""
    reference = weakref.ref(instance)

    bound = python_function.__get__(instance, type(instance))

    @functools.wraps(python_function)
    def method(*args: Any, **kwargs: Any) -> Any:
        return python_function(reference(), *args, **kwargs)

    import inspect

    method.__signature__ = inspect.signature(bound)  # pyright: ignore[reportAttributeAccessIssue]
    return method


def _nested(args: Any, kwargs: Any) -> bool:
    return bool(kwargs) or any(nest.is_nested(x) for x in args)


def _hashable(form: Any) -> Any:
    """A structure as something that can be a key."""
    if isinstance(form, dict):
        return (type(form), *((k, _hashable(form[k])) for k in sorted(form, key=repr)))
    if isinstance(form, (list, tuple)):
        return (type(form), *map(_hashable, form))
    return form


__all__ = ["Function", "function", "is_tensor", "warn_once"]
