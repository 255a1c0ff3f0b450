"""`tf.Module`: an object that knows the variables inside it."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from tapeflow._src.core import nest
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.names import name_scope
from tapeflow._src.core.tracked import Tracked
from tapeflow._src.core.variables.variable import Variable

Method = TypeVar("Method", bound=Callable[..., Any])


@export("Module")
class Module(Tracked):
    """The base of models and layers: collects the variables and modules among its attributes.

    Attributes are searched in the order of their names, through lists, tuples, dictionaries and other modules.

    >>> class Dense(tf.Module):
    ...     def __init__(self, inputs, outputs, name=None):
    ...         super().__init__(name=name)
    ...         self.w = tf.Variable(tf.zeros([inputs, outputs]), name="w")
    ...         self.b = tf.Variable(tf.zeros([outputs]), name="b")
    ...     def __call__(self, x):
    ...         return x @ self.w + self.b
    >>> [v.name for v in Dense(2, 3).trainable_variables]
    ['b:0', 'w:0']
    """

    # Attributes that are never searched; subclasses may name more.
    _TF_MODULE_IGNORED_PROPERTIES: frozenset[str] = frozenset()

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = _snake_case(type(self).__name__)
        elif not (isinstance(name, str) and name.isidentifier()):
            raise ValueError(
                f"{shown(name)} is not a valid module name. Module names must be valid Python identifiers (e.g. a "
                "valid class name)."
            )
        self._name = name
        with name_scope(name) as full_name:
            self._name_scope = name_scope(full_name)

    @property
    def name(self) -> str:
        """The name of the module."""
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """The `tf.name_scope` of the module, for the names of its variables."""
        return self._name_scope

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables of the module and of those inside it."""
        return tuple(self._flatten(predicate=_is_variable))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The variables that are trainable: the usual sources of a gradient."""
        return tuple(self._flatten(predicate=lambda x: _is_variable(x) and x.trainable))

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        """The variables that are not trainable."""
        return tuple(self._flatten(predicate=lambda x: _is_variable(x) and not x.trainable))

    @property
    def submodules(self) -> tuple[Module, ...]:
        """All modules inside this one."""
        return tuple(self._flatten(predicate=lambda x: isinstance(x, Module)))

    def _no_dependency(self, value: Any) -> Any:
        """A value that checkpoints need not know of, as it is: they find what they need by looking."""
        return value

    def _flatten(self, predicate: Callable[[Any], bool], recursive: bool = True) -> Iterator[Any]:
        """What satisfies `predicate`: first among the module's own attributes, then inside its modules."""
        return _walk(self, predicate, recursive, {id(self)})

    @classmethod
    def with_name_scope(cls, method: Method) -> Method:
        """Makes a method enter the module's name scope.

        >>> class Scale(tf.Module):
        ...     @tf.Module.with_name_scope
        ...     def __call__(self, x):
        ...         if not hasattr(self, "scale"):
        ...             self.scale = tf.Variable(2.0, name="scale")
        ...         return x * self.scale
        >>> layer = Scale(name="double")
        >>> layer(3.0).numpy()
        np.float32(6.0)
        >>> layer.scale.name
        'double/scale:0'
        """

        @functools.wraps(method)
        def scoped(self: Any, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped  # type: ignore[return-value]


def _is_variable(value: Any) -> bool:
    return isinstance(value, Variable) or isinstance(getattr(value, "handle", None), Variable)


def _walk(
    module: Module, predicate: Callable[[Any], bool], recursive: bool, seen: set[int]
) -> Iterator[Any]:
    inner = []
    attributes = vars(module)
    ignored = module._TF_MODULE_IGNORED_PROPERTIES
    for key in sorted(attributes):
        if key in ignored:
            continue
        for leaf in _leaves(attributes[key]):
            if not isinstance(leaf, Module) and not _is_variable(leaf) and not predicate(leaf):
                continue
            if id(leaf) in seen:
                continue
            seen.add(id(leaf))
            if predicate(leaf):
                yield leaf
            if recursive and isinstance(leaf, Module):
                inner.append(leaf)
    for child in inner:
        yield from _walk(child, predicate, recursive, seen)


def _leaves(value: Any) -> list[Any]:
    return [value] if not isinstance(value, (list, tuple, dict)) else nest.flatten(value)


def _snake_case(name: str) -> str:
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()
