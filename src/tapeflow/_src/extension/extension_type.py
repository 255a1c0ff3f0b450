"""`tf.experimental.ExtensionType`: a class with typed fields, whose objects are composite tensors."""

from __future__ import annotations

import inspect
import sys
import weakref
from collections.abc import Mapping
from typing import Any, ClassVar

from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import CompositeTensor, no_rows
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.spec import TensorSpec, TypeSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.extension.batch_encoder import ExtensionTypeBatchEncoder
from tapeflow._src.extension.fields import (
    check_annotation,
    converted,
    field_of_spec,
    resolved,
    spec_of_field,
)
from tapeflow._src.ops.array import moving
from tapeflow._src.ops.elementwise import logic
from tapeflow._src.ops.reduction import reducing

_MUTATION = "Cannot mutate attribute `{}` outside the custom constructor of {}."


class _Frozen:
    """Fields are set while an object is made, and never again."""

    _kind: ClassVar[str]

    def _may_set(self, name: str) -> bool:
        return False

    def __setattr__(self, name: str, value: Any) -> None:
        if not self._may_set(name):
            raise AttributeError(_MUTATION.format(name, self._kind))
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        if not self._may_set(name):
            raise AttributeError(_MUTATION.format(name, self._kind))
        object.__delattr__(self, name)


class _Maker(type):
    """Makes objects: converts and checks the fields after `__init__`, and then freezes them."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        self: Any = object.__new__(cls)
        object.__setattr__(self, "_open", True)
        self.__init__(*args, **kwargs)
        self._finish()
        object.__delattr__(self, "_open")
        return self


def _is_method(value: Any) -> bool:
    return callable(value) or hasattr(value, "__get__")


def _of_users(cls: type) -> list[Any]:
    """The classes that it consists of and that users have written, the last one first."""
    return [base for base in cls.__mro__ if "_own_fields" in vars(base)]


def _own_fields(cls: type, strict: bool, names: Mapping[str, Any]) -> dict[str, Any] | None:
    """The annotations of one class. None if they are texts that name what is not defined yet, unless `strict`."""
    found = {}
    for name, annotation in inspect.get_annotations(cls).items():
        known = vars(sys.modules[cls.__module__]) if cls.__module__ in sys.modules else {}
        try:
            annotation = resolved(
                annotation,
                lambda text, known=known: eval(text, {**known, **names}, {cls.__name__: cls}),
            )
        except NameError as error:
            if not strict:
                return None
            raise TypeError(
                f"{name}: Unsupported type annotation {annotation!r}: {error}"
            ) from None
        check_annotation(name, annotation)
        if name in vars(cls):
            converted(annotation, vars(cls)[name], f"default value for {name}")
        found[name] = annotation
    return found


def _add_spec(cls: Any) -> None:
    """The class of specs: what the user has defined as `Spec`, with what every one needs."""
    given = cls.__dict__.get("Spec")
    held = {"_of": cls, "__qualname__": f"{cls.__qualname__}.Spec", "__module__": cls.__module__}
    if given is not None and not issubclass(given, ExtensionTypeSpec):
        own = {k: v for k, v in vars(given).items() if k not in ("__dict__", "__weakref__")}
        held = {**own, **held}
    cls.Spec = _Maker("Spec", (cls._spec_base,), held)
    _by_name[name_of(cls)] = cls.Spec


_by_name: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()


def name_of(cls: type) -> str:
    """By what name an extension type is known in files."""
    return f"{cls.__module__}.{cls.__qualname__}"


def spec_named(name: str) -> Any:
    """The class of specs of the extension type of a name, or None if there is no such class in the program."""
    return _by_name.get(name)


def _signature(cls: Any) -> inspect.Signature:
    """The parameters of the constructor: the fields, and those by name alone that come after one with a default."""
    parameters: list[inspect.Parameter] = []
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    empty = inspect.Parameter.empty
    for name in cls._fields(strict=False):
        default = getattr(cls, name, empty)
        if default is empty and parameters and parameters[-1].default is not empty:
            kind = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(name, kind, default=default))
    return inspect.Signature(parameters)


def _bound(
    cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any], defaults: bool
) -> dict[str, Any]:
    signature = _signature(cls)
    if not defaults:
        plain = [p.replace(default=inspect.Parameter.empty) for p in signature.parameters.values()]
        signature = signature.replace(parameters=plain)
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


@export("experimental.ExtensionTypeSpec")
class ExtensionTypeSpec(_Frozen, TypeSpec, metaclass=_Maker):
    """What is known of an extension type: a `tf.TypeSpec` for each tensor in it, and its other fields as they are.

    >>> class Pair(tf.experimental.ExtensionType):
    ...     x: tf.Tensor
    ...     n: int
    >>> Pair.Spec(tf.TensorSpec([None]), 3)
    Pair.Spec(x=TensorSpec(shape=(None,), dtype=tf.float32, name=None), n=3)
    """

    _kind = "ExtensionTypeSpec"
    _of: ClassVar[Any] = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if type(self)._of is None:
            raise TypeError("ExtensionTypeSpec belongs to no extension type: use the Spec of one.")
        for name, value in _bound(type(self)._of, args, kwargs, defaults=False).items():
            setattr(self, name, value)

    def _may_set(self, name: str) -> bool:
        return "_open" in vars(self)

    def _finish(self) -> None:
        for name, annotation in type(self)._of._fields().items():
            if name not in vars(self):
                raise ValueError(f"Missing required fields: {{{name!r}}}")
            value = converted(annotation, vars(self)[name], name, as_spec=True)
            object.__setattr__(self, name, value)

    @property
    def value_type(self) -> type:
        """The extension type."""
        return type(self)._of

    @classmethod
    def from_value(cls, value: Any) -> Any:
        """The spec of an object."""
        return value._type_spec

    def _values(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in type(self)._of._fields()}

    def _serialize(self) -> tuple[Any, ...]:
        return tuple(self._values().items())

    @classmethod
    def _deserialize(cls, parts: tuple[Any, ...]) -> Any:
        spec = object.__new__(cls)
        vars(spec).update(dict(parts))
        return spec

    def _leaves(self) -> list[Any]:
        return nest.flatten(tuple(self._values().values()))

    @property
    def _component_specs(self) -> tuple[Any, ...]:
        return tuple([leaf for leaf in self._leaves() if isinstance(leaf, TypeSpec)])

    def _to_components(self, value: Any) -> tuple[Any, ...]:
        held = nest.flatten(tuple([getattr(value, name) for name in type(self)._of._fields()]))
        pairs = zip(self._leaves(), held, strict=True)
        return tuple([x for spec, x in pairs if isinstance(spec, TypeSpec)])

    def _from_components(self, components: Any) -> Any:
        rest = iter(components)
        value = object.__new__(type(self)._of)
        for name, spec in self._values().items():
            object.__setattr__(value, name, field_of_spec(spec, rest))
        return value

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self._values().items())
        return f"{type(self).__qualname__}({fields})"


@export("experimental.ExtensionType")
class ExtensionType(_Frozen, CompositeTensor, metaclass=_Maker):
    """A class of the user with typed fields, which ops, functions, datasets and `tf.nest` take for one value.

    >>> class MaskedTensor(tf.experimental.ExtensionType):
    ...     values: tf.Tensor
    ...     mask: tf.Tensor
    ...     def replace_mask(self, fill):
    ...         return tf.where(self.mask, self.values, fill)
    >>> x = MaskedTensor([1, 2, 3], [True, False, True])
    >>> tf.function(lambda x: x.replace_mask(0))(x).numpy()
    array([1, 0, 3], dtype=int32)

    A field may be `tf.Tensor`, a composite tensor, another extension type, `int`, `float`, `bool`, `str`, `bytes`,
    `tf.DType`, `tf.TensorShape`, and `Optional`, `Union`, `tuple[...]` and `Mapping` of them. Objects cannot be
    changed. `__validate__` may check one that was made. `MaskedTensor.Spec` is the `tf.TypeSpec` of the objects.
    """

    _kind = "ExtensionType"
    __hash__ = None  # type: ignore[assignment]

    Spec: ClassVar[Any] = ExtensionTypeSpec
    _spec_base: ClassVar[Any] = ExtensionTypeSpec

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = inspect.get_annotations(cls)
        for name in own:
            if name == "self" or name.startswith("_tf_extension_type"):
                raise ValueError(
                    f"The field annotations for {cls.__name__} are invalid. Field {name!r} is reserved."
                )
        for name, value in cls.__dict__.items():
            if name in own or name.startswith("_") or name == "Spec" or _is_method(value):
                continue
            raise ValueError(
                f"The field annotations for {cls.__name__} are invalid. Field {name} is missing a type annotation."
            )
        _add_spec(cls)
        frame = sys._getframe(1)  # where the class is defined: texts may name what is local there
        cls._own_fields = _own_fields(cls, False, {**frame.f_globals, **frame.f_locals})
        if not any("__init__" in vars(base) for base in _of_users(cls)):
            cls.__signature__ = _signature(cls)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        for name, value in _bound(type(self), args, kwargs, defaults=True).items():
            setattr(self, name, value)

    @classmethod
    def _fields(cls, strict: bool = True) -> dict[str, Any]:
        """The annotations by name, those of base classes first."""
        found: dict[str, Any] = {}
        for base in reversed(_of_users(cls)):
            if base._own_fields is None:
                base._own_fields = _own_fields(base, strict, {})
            found.update(vars(base)["_own_fields"] or {})
        return found

    def _may_set(self, name: str) -> bool:
        return "_open" in vars(self) and (name in type(self)._fields())

    def _finish(self) -> None:
        fields = type(self)._fields()
        missing = {name for name in fields if name not in vars(self)}
        if missing:
            raise ValueError(f"Missing required fields: {missing}")
        for name, annotation in fields.items():
            object.__setattr__(self, name, converted(annotation, vars(self)[name], name))
        self.__validate__()

    def __validate__(self) -> None:
        """Checks an object that was made: raises if something is wrong with it. For classes to override."""

    @property
    def _type_spec(self) -> Any:
        parts = [(name, spec_of_field(getattr(self, name))) for name in type(self)._fields()]
        return type(self).Spec._deserialize(parts)

    def __eq__(self, other: object) -> Any:
        if type(self) is not type(other):
            return False
        spec = self._type_spec
        if not spec.is_compatible_with(other):
            return False
        mine, theirs = (nest.flatten(x, expand_composites=True) for x in (self, other))
        same = [reducing.reduce_all(logic.equal(a, b)) for a, b in zip(mine, theirs, strict=True)]
        return reducing.reduce_all(moving.stack(same)) if same else convert_to_tensor(True)

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        return logic.logical_not(equal) if isinstance(equal, Tensor) else not equal

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in type(self)._fields())
        return f"{type(self).__qualname__}({fields})"


class _BatchableSpec(ExtensionTypeSpec):
    """Batches are made as the encoder of the class says: by default of batches of each field."""

    @property
    def _encoder(self) -> ExtensionTypeBatchEncoder:
        return self.value_type.__batch_encoder__  # pyright: ignore[reportAttributeAccessIssue]

    def _batch(self, size: int | None) -> Any:
        return self._encoder.batch(self, size)

    def _unbatch(self) -> Any:
        return self._encoder.unbatch(self)

    def _stack(self, values: Any) -> Any:
        """Objects as one: each tensor that they are encoded as is stacked."""
        encoded = [self._encoder.encode(self, value) for value in values]
        columns = zip(*[nest.flatten(each) for each in encoded], strict=True)
        specs = nest.flatten(self._encoder.encoding_specs(self))
        stacked = [  # rows of a ragged tensor are tensors, too, of different lengths
            moving.stack(list(column)) if isinstance(spec, TensorSpec) else spec._stack(column)
            for spec, column in zip(specs, columns, strict=True)
        ]
        whole = nest.pack_sequence_as(encoded[0], stacked)
        return self._encoder.decode(self._batch(len(values)), whole)

    def _rows(self, value: Any) -> list[Any]:
        """One object for each row."""
        encoded = self._encoder.encode(self, value, minimum_rank=1)
        columns = [
            list(x) if isinstance(x, Tensor) else x._type_spec._rows(x)
            for x in nest.flatten(encoded)
        ]
        row = self._unbatch()
        return [
            self._encoder.decode(row, nest.pack_sequence_as(encoded, list(parts)))
            for parts in zip(*columns, strict=True)
        ]

    def _cut(self, value: Any, begin: int, end: int) -> Any:
        """Some of the rows, as one object."""
        encoded = self._encoder.encode(self, value, minimum_rank=1)

        def cut(x: Any) -> Any:
            return x[begin:end] if isinstance(x, Tensor) else x._type_spec._cut(x, begin, end)

        found = nest.pack_sequence_as(encoded, [cut(x) for x in nest.flatten(encoded)])
        return self._encoder.decode(self._unbatch()._batch(None), found)

    def _no_rows(self) -> Any:
        """A batch without any."""
        specs = self._encoder.encoding_specs(self)
        empty = [no_rows(spec) for spec in nest.flatten(specs)]
        return self._encoder.decode(self, nest.pack_sequence_as(specs, empty))

    def changed(self, change: Any) -> Any:
        """The spec with others in the place of those inside of it."""

        def of(value: Any) -> Any:
            if isinstance(value, dict):
                return {key: of(item) for key, item in value.items()}
            if isinstance(value, tuple):
                return tuple([of(item) for item in value])
            return change(value) if isinstance(value, (TypeSpec, TensorShape)) else value

        return self._deserialize(tuple([(n, of(v)) for n, v in self._values().items()]))


@export("experimental.BatchableExtensionType")
class BatchableExtensionType(ExtensionType):
    """An extension type whose objects can be stacked to one, and taken apart again: in datasets and `tf.map_fn`.

    >>> class Point(tf.experimental.BatchableExtensionType):
    ...     x: tf.Tensor
    >>> points = tf.data.Dataset.from_tensor_slices(Point([1, 2, 3])).batch(2)
    >>> [p.x.numpy().tolist() for p in points]
    [[1, 2], [3]]
    """

    _spec_base = _BatchableSpec
    __batch_encoder__ = ExtensionTypeBatchEncoder()


@export("experimental.extension_type.as_dict")
def as_dict(value: ExtensionType) -> dict[str, Any]:
    """The fields of an extension type, as a dictionary.

    >>> class Pair(tf.experimental.ExtensionType):
    ...     n: int
    ...     m: int = 2
    >>> tf.experimental.extension_type.as_dict(Pair(1))
    {'n': 1, 'm': 2}
    """
    if not isinstance(value, ExtensionType):
        raise TypeError(f"as_dict: expected a tf.experimental.ExtensionType, got {shown(value)}")
    return {name: getattr(value, name) for name in type(value)._fields()}
