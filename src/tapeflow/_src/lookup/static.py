"""Tables that do not change once they are made."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype, int64, string
from tapeflow._src.core.errors import FailedPreconditionError, invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.tracked import Tracked
from tapeflow._src.lookup.initializers import KEYS, Contents, TableInitializer
from tapeflow._src.ops.arguments import integer
from tapeflow._src.ops.array import shaping
from tapeflow._src.ops.control.scopes import init_scope
from tapeflow._src.ops.elementwise.logic import equal
from tapeflow._src.ops.indexing.gathering import where
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import unlisted
from tapeflow._src.strings.buckets import to_hash_bucket_fast
from tapeflow._src.strings.numbers import as_string
from tapeflow._src.strings.structures import on_values

_indices: dict[int, tuple[weakref.ref[np.ndarray], dict[Any, int]]] = {}


def index_of(keys: np.ndarray) -> dict[Any, int]:
    """The place of each key, which is found once for an array."""
    known = _indices.get(id(keys))
    if known is not None and known[0]() is keys:
        return known[1]
    index = {key: place for place, key in enumerate(keys.tolist())}
    number = id(keys)
    _indices[number] = (weakref.ref(keys, lambda _: _indices.pop(number, None)), index)
    return index


def _find_kernel(keys: Any, known: Any, values: Any, default: Any) -> np.ndarray:
    keys = np.asarray(keys)
    find = index_of(known).get
    places = [find(key, -1) for key in keys.ravel().tolist()]
    with_default = np.append(values, default)  # which is the last, and so at -1
    return with_default[np.array(places, np.int64)].reshape(keys.shape)


def _find_result(
    keys: ArraySpec, known: ArraySpec, values: ArraySpec, default: ArraySpec
) -> ArraySpec:
    return ArraySpec(keys.shape, values.dtype)


_find = unlisted("lookup.find", "keys known values default", _find_kernel, result=_find_result)


def _refuse_kernel(keys: Any, default: Any) -> np.ndarray:
    raise FailedPreconditionError(
        None,
        None,
        "StaticHashTable: nothing was put into the table. A Keras layer needs its vocabulary before it is called: give "
        "it one, or call adapt() with data first.",
    )


# Not before it runs: a model may be described before its layers know their words.
_refuse = unlisted(
    "lookup.refuse",
    "keys default",
    _refuse_kernel,
    result=lambda keys, default: ArraySpec(keys.shape, default.dtype),
)


class Table(Tracked):
    """A table from keys to values."""

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self._key_dtype, self._value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        if self._key_dtype not in KEYS:
            raise invalid(
                f"{type(self).__name__}: keys must be strings, int32 or int64, got {self._key_dtype.name}"
            )

    @property
    def key_dtype(self) -> DType:
        """The dtype of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of the values."""
        return self._value_dtype

    @property
    def name(self) -> str | None:
        """Tables have no names, as in TensorFlow's eager mode."""
        return None

    def _keys(self, keys: Any) -> Tensor:
        """Keys as a tensor, of the dtype that they must have."""
        is_tensor = isinstance(keys, Tensor) or hasattr(keys, "dtype")
        tensor = convert_to_tensor(keys, None if is_tensor else self._key_dtype)
        if tensor.dtype is not self._key_dtype:
            raise TypeError(
                f"{type(self).__name__}: the keys of this table are of dtype {self._key_dtype.name}, got "
                f"{tensor.dtype.name}. Use tf.cast, tf.strings.as_string or tf.strings.to_number."
            )
        return tensor

    lookup: Callable[..., Any]

    def __getitem__(self, keys: Any) -> Any:
        return self.lookup(keys)


def _check_initializer(table: str, initializer: Any) -> None:
    if not hasattr(initializer, "initialize"):
        raise TypeError(
            f"{table}: initializer must be a table initializer, such as tf.lookup.KeyValueTensorInitializer, "
            f"got {shown(initializer)}"
        )


@export("lookup.StaticHashTable")
class StaticHashTable(Table):
    """A table that is filled when it is made.

    >>> init = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
    >>> table = tf.lookup.StaticHashTable(init, default_value=-1)
    >>> table.lookup(tf.constant(["b", "c"])).numpy()
    array([ 2, -1], dtype=int32)

    Args:
      initializer: what is in it: a `tf.lookup.KeyValueTensorInitializer` or a `tf.lookup.TextFileInitializer`.
      default_value: the value of all other keys.
      name: accepted for compatibility.
      experimental_is_anonymous: accepted for compatibility.
    """

    def __init__(
        self,
        initializer: TableInitializer,
        default_value: Any,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        _check_initializer("StaticHashTable", initializer)
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        with init_scope():  # a function that is traced takes the contents as constants
            self._default = convert_to_tensor(default_value, self._value_dtype)
            if self._default.shape.rank:
                raise ValueError(
                    f"StaticHashTable: default_value must be a scalar, got shape {self._default.shape}"
                )
            dtypes = self._key_dtype.np_dtype, self._value_dtype.np_dtype
            self._fill(Contents(*[np.empty(0, dtype) for dtype in dtypes]))
            self._is_filled = False
            initializer.initialize(self)

    def _fill(self, contents: Contents) -> None:
        self._is_filled = True
        keys, values = contents
        if len(index_of(keys)) < len(keys):
            keys, values = _without_repetitions(keys, values)
        self._known, self._values = Tensor(keys), Tensor(values)

    @property
    def default_value(self) -> Tensor:
        """The value of keys that are not in the table."""
        return self._default

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys, in the shape of these.

        Args:
          keys: a tensor, a ragged tensor or a sparse one.
          name: accepted for compatibility.
        """

        def found(part: Any) -> Tensor:
            if not self._is_filled:
                return _refuse(self._keys(part), self._default)
            return _find(self._keys(part), self._known, self._values, self._default)

        return on_values(found, keys)

    def size(self, name: str | None = None) -> Tensor:
        """How many keys there are."""
        return convert_to_tensor(self._known._array.size, int64)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys and their values."""
        return self._known, self._values


def _without_repetitions(keys: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    first: dict[Any, Any] = {}
    for key, value in zip(keys.tolist(), values.tolist(), strict=True):
        if first.setdefault(key, value) != value:
            raise FailedPreconditionError(
                None,
                None,
                f"StaticHashTable: the key {key!r} has two values, {first[key]!r} and {value!r}",
            )
    kept = np.empty(len(first), keys.dtype)
    kept[:] = list(first)
    given = np.empty(len(first), values.dtype)
    given[:] = list(first.values())
    return kept, given


@export("lookup.StaticVocabularyTable")
class StaticVocabularyTable(Table):
    """A table from words to numbers, in which words that it does not have get numbers, too, by their hashes.

    >>> init = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64))
    >>> table = tf.lookup.StaticVocabularyTable(init, num_oov_buckets=3)
    >>> table.lookup(tf.constant(["b", "q", "r"])).numpy()
    array([1, 4, 3])

    Args:
      initializer: the words, and as values of dtype int64 their numbers from 0 on. None for no words.
      num_oov_buckets: how many numbers there are for other words.
      lookup_key_dtype: the dtype of keys, if it is not that of the initializer.
      name: accepted for compatibility.
      experimental_is_anonymous: accepted for compatibility.
    """

    def __init__(
        self,
        initializer: TableInitializer | None,
        num_oov_buckets: int,
        lookup_key_dtype: Any = None,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        if initializer is not None:
            _check_initializer("StaticVocabularyTable", initializer)
        num_oov_buckets = integer("StaticVocabularyTable", "num_oov_buckets", num_oov_buckets)
        if num_oov_buckets <= 0:
            raise ValueError(
                f"StaticVocabularyTable: num_oov_buckets must be positive, got {num_oov_buckets}. Use StaticHashTable "
                "where no other words occur."
            )
        own = string if initializer is None else initializer.key_dtype
        wanted = own if lookup_key_dtype is None else as_dtype(lookup_key_dtype)
        super().__init__(wanted, int64)
        if initializer is not None:
            if initializer.value_dtype is not int64:
                raise TypeError(
                    f"StaticVocabularyTable: the values must be int64, got {initializer.value_dtype.name}"
                )
            if own.is_integer != wanted.is_integer:
                raise TypeError(
                    f"StaticVocabularyTable: keys of dtype {wanted.name} cannot be looked up among those of dtype "
                    f"{own.name}"
                )
        self._table = None if initializer is None else StaticHashTable(initializer, -1)
        self._count = num_oov_buckets

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The numbers of words.

        Args:
          keys: a tensor, a ragged tensor or a sparse one.
          name: accepted for compatibility.
        """
        return on_values(self._found, keys)

    def _found(self, keys: Any) -> Tensor:
        words = self._keys(keys)
        texts = words if words.dtype is string else as_string(words)
        others = to_hash_bucket_fast(texts, self._count)
        if self._table is None:
            return others
        if words.dtype is not self._table.key_dtype:
            words = shaping.cast(words, self._table.key_dtype)
        known = self._table.lookup(words)
        return where(equal(known, self._table.default_value), others + self._table.size(), known)

    def size(self, name: str | None = None) -> Tensor:
        """How many numbers there are."""
        known = 0 if self._table is None else int(self._table.size())
        return convert_to_tensor(known + self._count, int64)
