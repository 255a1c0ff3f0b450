"""`tf.function`: a Python function that is traced once for each kind of arguments, and then runs without Python."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Concatenate, Generic, NamedTuple, ParamSpec, Self, TypeVar, overload

from tapeflow._src.core import settings
from tapeflow._src.core.context import context, new_id
from tapeflow._src.core.errors import shown
from tapeflow._src.core.placement.device_tensor import DeviceTensor
from tapeflow._src.core.scopes import setting
from tapeflow._src.core.system.timeline import now
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.function import alternatives, description, trace_types
from tapeflow._src.function.concrete import ConcreteFunction
from tapeflow._src.function.function_spec import FunctionSpec
from tapeflow._src.function.retracing import RetracingWatch, watch_for
from tapeflow._src.function.signature import Signature, TensorKey, flattened, form_of, keys_of
from tapeflow._src.function.traces import Traces
from tapeflow._src.function.tracing.late_ranks import UnknownRankError
from tapeflow._src.function.tracing.tracer import tracing_lock
from tapeflow._src.function.unknown_ranks import RankFreeFunction, has_unknown_rank
from tapeflow._src.graph import passes

_REMEMBERED = 1000

P = ParamSpec("P")
R = TypeVar("R")
Owner = TypeVar("Owner")
Rest = ParamSpec("Rest")


class Function(Generic[P, R]):
    """What `tf.function` returns: a callable with a cache of traces.

    >>> double = tf.function(lambda x: x * 2.0, autograph=False)
    >>> isinstance(double, tf.types.experimental.PolymorphicFunction), double(tf.constant(3.0)).numpy()
    (True, np.float32(6.0))
    """

    _traced_as: type[ConcreteFunction] = ConcreteFunction  # what a trace is made as

    def __init__(
        self,
        python_function: Callable[P, R],
        *,
        input_signature: Any = None,
        autograph: bool = True,
        jit_compile: bool | None = None,
        reduce_retracing: bool = False,
        attributes: Mapping[str, Any] | None = None,
        watch: RetracingWatch | None = None,
    ) -> None:
        if not callable(python_function):
            raise TypeError(f"tf.function takes a callable, got {shown(python_function)}")
        self._python_function = python_function
        self._options = {
            "input_signature": input_signature,
            "autograph": autograph,
            "jit_compile": jit_compile,
            "reduce_retracing": reduce_retracing,
            "attributes": attributes or {},
        }
        self._parsed: Signature | None = None
        self._traces = Traces()
        # For calls on tensors alone, by their shapes and dtypes.
        self._seen: dict[Any, ConcreteFunction] = {}
        # Arguments with tensors of unknown rank, for which somebody has asked for a concrete function.
        self._unknown_ranks: dict[str, Any] = {}
        self._count = 0
        self._tracing_time = 0  # nanoseconds that tracing has taken
        self._last_names: list[str] = []
        self._created_variables = False
        self._in_progress: frozenset[Any] = frozenset()
        self._number = new_id()  # which `id` is not: it may be that of one that is gone
        self._watch = watch_for(python_function) if watch is None else watch
        self._bound: dict[int, tuple[Any, Function]] = {}
        functools.update_wrapper(self, python_function, updated=())
        # Of an object that can be called too: a module's weights are found on the function made of it.
        if not isinstance(python_function, type):
            for name, value in getattr(python_function, "__dict__", {}).items():
                vars(self).setdefault(name, value)

    @property
    def python_function(self) -> Callable[P, R]:
        """The Python function inside."""
        return self._python_function

    def _decorate(self, decorator: Callable[..., Any]) -> None:
        """Puts a decorator around the Python function inside, as libraries do before the first call."""
        if self._count:
            raise ValueError("Functions cannot be decorated after they have been traced.")
        self._python_function = decorator(self._python_function)
        self._parsed = None

    @property
    def _signature(self) -> Signature:
        """Its parameters."""
        if self._parsed is None:
            self._parsed = Signature(self._python_function, self._options["input_signature"])
        return self._parsed

    @property
    def function_type(self) -> trace_types.FunctionType:
        """Its parameters, with what the input signature says of them."""
        return description.function_type(self._signature)

    @property
    def function_spec(self) -> FunctionSpec:
        """Its parameters and their defaults."""
        return FunctionSpec(self._signature, self._options["jit_compile"])

    @property
    def input_signature(self) -> Any:
        """The input signature it was given."""
        return self._signature.input_signature

    @property
    def name(self) -> str:
        """The name of the Python function."""
        return self._signature.name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...

    @overload
    def __get__(
        self: Function[Concatenate[Owner, Rest], R], instance: Owner, owner: type | None = None
    ) -> Function[Rest, R]: ...

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """As a method: each object has traces of its own, which do not keep it alive."""
        if instance is None:
            return self
        key = id(instance)
        found = self._bound.get(key)
        if found is not None and found[0]() is instance:
            return found[1]
        reference = weakref.ref(instance, lambda _: self._bound.pop(key, None))
        method = Function(
            _method(self._python_function, instance), watch=self._watch, **self._options
        )
        self._bound[key] = (reference, method)
        return method

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._python_function, self._options)  # copies and pickles trace anew

    # Calling.

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The results: of a trace for such arguments, which is made if there is none yet."""
        self._watch.calls += 1
        if not kwargs:  # the short way, for tensors of shapes and dtypes that were seen before
            kinds: list[Any] = []
            for x in args:
                if type(x) is Tensor:
                    array = x._array
                elif type(x) is DeviceTensor:
                    array = x._buffer
                else:
                    break
                kinds.append(array.shape)
                kinds.append(array.dtype)
            else:
                concrete = self._seen.get(tuple(kinds))
                if concrete is not None and not settings.eagerly and context.replica is None:
                    return concrete._call_tensors(args)  # pyright: ignore[reportArgumentType]
        if settings.eagerly:
            return self._python_function(*args, **kwargs)
        concrete, leaves = self._found(args, kwargs)
        attributes = self._options["attributes"]
        short = concrete._is_plain and not kwargs and len(leaves) == len(args) and not attributes
        if short and context.replica is None:
            self._remember(args, leaves, concrete)
        result = concrete._call_leaves(leaves)
        if attributes:
            alternatives.note_call(attributes, result)
        return result

    def _remember(
        self, args: Sequence[Any], leaves: Sequence[Any], concrete: ConcreteFunction
    ) -> None:
        """Makes the next call with such tensors short."""
        kinds: list[Any] = []
        for x, leaf in zip(args, leaves, strict=True):
            if x is not leaf or type(x) not in (Tensor, DeviceTensor):
                return
            array = x._array if type(x) is Tensor else x._buffer
            kinds += [array.shape, array.dtype]
        if len(self._seen) >= _REMEMBERED:
            self._seen.clear()
        self._seen[tuple(kinds)] = concrete

    def _found(
        self, args: Any, kwargs: Any, named: bool = False
    ) -> tuple[ConcreteFunction, list[Any]]:
        args, kwargs = self._signature.bound(args, kwargs)
        if self._signature.input_signature is not None:
            args = self._signature.cast(args, kwargs)
        structure = (args, kwargs)
        leaves = flattened(structure)
        key = (_in_replica(form_of(structure)), *keys_of(leaves))
        find = self._traces.find_named if named else self._traces.find
        concrete = find(key, leaves)
        if concrete is None:
            with tracing_lock:  # while one thread traces, others wait for what it finds
                concrete = find(key, leaves)
                if concrete is None:
                    concrete = self._traced(structure, leaves, key)
                    # A trace around this one has to rely on the same answers.
                    concrete._fits(leaves)
        return concrete, leaves

    # Tracing.

    def _traced(self, structure: tuple[Any, Any], leaves: list[Any], key: Any) -> ConcreteFunction:
        if key in self._in_progress:
            raise RuntimeError(
                f"tf.function: {self.name} calls itself while it is traced. A traced function cannot be recursive on "
                "tensors, because its graph would have no end: write a loop (tf.while_loop), or recurse in a plain "
                "Python function on Python numbers."
            )
        wide = self._widened(key)
        begun = now()
        with setting(self, _in_progress=self._in_progress | {key}):
            concrete = self._trace(structure, leaves, wide[1:])
        concrete.graph.is_later = len(self._traces) > 0
        self._tracing_time += now() - begun
        reduced = self._options["reduce_retracing"]
        self._traces.add(concrete, key, wide, reduced)
        self._seen.clear()  # so that traces that are in use are found again, which tells them from old ones
        self._last_names = concrete._leaf_names
        if context.replica is None or not context.replica.index:  # each replica traces for itself
            self._watch.traced(self, key)
        if context.witness is not None:
            context.witness.traced(self, concrete)
        return concrete

    def _widened(self, key: Any) -> Any:
        """The key to trace for: that of the input signature, or one that covers the shapes of earlier calls, too."""
        if self._signature.input_signature is not None:
            keys = list(key[1:])
            wide = keys_of(flattened(self._signature.input_signature))
            for i, signed in enumerate(wide):
                keys[i] = _ranked(signed, keys[i])
            return (key[0], *keys)
        return self._traces.widened(key) if self._options["reduce_retracing"] else key

    def _trace(
        self, structure: tuple[Any, Any], leaves: list[Any], keys: Sequence[Any]
    ) -> ConcreteFunction:
        inner = self._converted()
        by_identity = False
        while True:
            self._count += 1
            concrete = self._traced_as(
                inner,
                self._signature,
                structure,
                leaves,
                keys,
                jit_compile=self._options["jit_compile"],
                creation_allowed=not self._created_variables,
                by_identity=by_identity,
            )
            if concrete._created:
                # Variables were made in this trace, which must not be made again: from now on they exist.
                self._created_variables = True
            elif not by_identity and concrete._mixes(leaves):
                # It uses a variable under two names, and has to know that it is one.
                by_identity = True
            else:
                return concrete

    def _converted(self) -> Callable[..., Any]:
        """The Python function inside, with its control flow converted if that was asked for."""
        if not self._options["autograph"]:
            return self._python_function
        try:
            from tapeflow._src.function.autograph import convert
        except ImportError:
            return self._python_function

        return convert(self._python_function)

    def _argument_name(self, position: int) -> str:
        """The name of the argument that a leaf belongs to, in the last trace."""
        names = self._last_names
        return names[position] if position < len(names) else f"{position}"

    # What it is.

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for arguments of this kind: tensors, or `tf.TensorSpec`s in their place.

        >>> f = tf.function(lambda x: x + 1.0)
        >>> f.get_concrete_function(tf.TensorSpec([None], tf.float32)).structured_outputs
        TensorSpec(shape=(None,), dtype=tf.float32, name=None)
        """
        if not args and not kwargs and self._signature.input_signature is not None:
            args = self._signature.input_signature
        structure = self._signature.bound(args, kwargs)
        if has_unknown_rank(structure):
            self._unknown_ranks[repr(structure)] = structure
            return RankFreeFunction(self, structure)  # pyright: ignore[reportReturnType]
        try:
            return self._trace_for(args, kwargs, named=self._signature.input_signature is None)
        except UnknownRankError:  # of something inside
            return RankFreeFunction(self, structure)  # pyright: ignore[reportReturnType]

    def _trace_for(self, args: Any, kwargs: Any, named: bool = False) -> ConcreteFunction:
        """The trace for these arguments, or specs of them, with their names if it is to be `named`.

        An UnknownRankError, if it has to wait for a call.
        """
        concrete, leaves = self._found(args, kwargs, named)
        if self._options["attributes"]:
            concrete._alternative = functools.partial(
                alternatives.take_place, self._options["attributes"], concrete, leaves
            )
        return concrete

    def experimental_get_tracing_count(self) -> int:
        """How many times the Python function was traced."""
        return self._count

    def why_retraced(self) -> str:
        """Which argument changed between the last two traces, and what to do; nothing if there were not two of late.

        >>> f = tf.function(lambda x, n: x * n)
        >>> _ = f(tf.constant(1.0), 2), f(tf.constant(1.0), 3)
        >>> f.why_retraced()
        "The Python value of the argument 'n' changes (2, then 3): pass it as a tensor, tf.constant(3)."
        """
        return self._watch.why(self)

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """The signatures of all traces, as text."""
        return "\n\n".join(c.pretty_printed_signature(verbose) for c in self._traces)

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
        graphs = [concrete.graph for concrete in self._traces]
        return "\n\n".join(str(passes.optimized(g) if optimized else g) for g in graphs)

    def report(self) -> str:
        """How each trace runs: which program was chosen, and why."""
        return "\n\n".join(concrete.report() for concrete in self._traces)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that its traces use."""
        found = {id(v): v for c in self._traces for v in c.variables}
        return tuple(found.values())

    def __repr__(self) -> str:
        return f"<tapeflow._src.function {self.name}{self._signature.parameters}>"


class InReplica(NamedTuple):
    """The form of arguments, where a replica of `tf.distribute` is running: a trace has its copies of variables."""

    form: Any
    strategy: Any
    number: int
    leads: bool


def _in_replica(form: Any) -> Any:
    replica = context.replica
    if replica is None:
        return form
    return InReplica(form, replica.strategy, replica.index, replica.leads)


def _ranked(signed: Any, given: Any) -> Any:
    """The key of an argument of a signature: one for each rank where that does not say any, for ops depend on it."""
    unsaid = type(signed) is TensorKey and signed.shape is None and type(given) is TensorKey
    if not unsaid or given.shape is None:
        return signed
    return TensorKey((None,) * len(given.shape), signed.dtype, signed.name)


def _restored(python_function: Callable[..., Any], options: dict[str, Any]) -> Function:
    return Function(python_function, **options)


def _method(python_function: Callable[..., Any], instance: Any) -> Callable[..., Any]:
    """A method bound to an object that it does not keep alive."""
    reference = weakref.ref(instance)
    bound = python_function.__get__(instance, type(instance))

    @functools.wraps(python_function)
    def method(*args: Any, **kwargs: Any) -> Any:
        owner = reference()
        return python_function(_DeadInstance() if owner is None else owner, *args, **kwargs)

    method.__signature__ = inspect.signature(bound)  # pyright: ignore[reportAttributeAccessIssue]
    return method


class _DeadInstance:
    """In the place of an object that does not exist any more, when its method is traced."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"tf.function: the object whose {name!r} a method wants is gone. A tf.function that is a method does not "
            "keep its object alive: hold the object in a variable while its methods are called."
        )
