"""Tables that change."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import int64
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.interpreter import concrete
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.lookup.static import Table
from tapeflow._src.ops.effects.host import on_host
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.strings.structures import on_values

_SCALAR = [ArraySpec((), int64)]


class ChangingTable(Table):
    """Keys, and an array with a value for each. Inside of a function it changes whenever that runs."""

    def __init__(
        self, key_dtype: Any, value_dtype: Any, default_value: Any, checkpoint: bool
    ) -> None:
        super().__init__(key_dtype, value_dtype)
        self._default = convert_to_tensor(default_value, self._value_dtype)
        self._saved = checkpoint
        self._lock = threading.Lock()  # datasets look up in several threads
        self._restart()

    def _restart(self) -> None:
        self._places: dict[Any, int] = {}
        self._free: list[int] = []
        element = self._default._array.shape
        self._held = np.empty((8, *element), self._value_dtype.np_dtype)

    # What is done to the arrays.

    def _find(self, keys: Any, default: Any) -> list[np.ndarray]:
        keys = np.asarray(keys)
        element = self._held.shape[1:]
        with self._lock:
            find = self._places.get
            places = np.array([find(key, -1) for key in keys.ravel().tolist()], np.int64)
            found = self._held[places]
        if (places < 0).any():
            given = np.broadcast_to(default, (len(places), *element))
            missing = places < 0
            found[missing] = given[missing]
        return [found.reshape(*keys.shape, *element)]

    def _put(self, keys: Any, values: Any) -> list[np.ndarray]:
        keys, values = np.asarray(keys), np.asarray(values)
        element = self._held.shape[1:]
        if values.shape != (*keys.shape, *element):
            raise invalid(
                f"{type(self).__name__}.insert: values must have shape {[*keys.shape, *element]}, got "
                f"{list(values.shape)}"
            )
        self._check_keys(keys.ravel().tolist())
        with self._lock:
            places = np.array([self._place(key) for key in keys.ravel().tolist()], np.int64)
            if len(places) and places.max() >= len(self._held):
                more = np.empty((2 * int(places.max()), *element), self._held.dtype)
                more[: len(self._held)] = self._held
                self._held = more
            self._held[places] = values.reshape(len(places), *element)
        return []

    def _place(self, key: Any) -> int:
        place = self._places.get(key)
        if place is None:
            place = self._free.pop() if self._free else len(self._places)
            self._places[key] = place
        return place

    def _drop(self, keys: Any) -> list[np.ndarray]:
        dropped = np.asarray(keys).ravel().tolist()
        self._check_keys(dropped)
        with self._lock:
            there = self._places.keys() & dropped
            self._free += [self._places.pop(key) for key in there]
        return []

    def _all(self) -> list[np.ndarray]:
        with self._lock:
            keys = np.empty(len(self._places), self._key_dtype.np_dtype)
            keys[:] = list(self._places)
            return [keys, self._held[np.array(list(self._places.values()), np.int64)]]

    def _check_keys(self, keys: list[Any]) -> None:
        """Raises for keys that may not be in the table."""

    # What users call.

    def _found(self, keys: Any, default: Any) -> Any:
        element = self._default._array.shape

        def found(part: Any) -> Tensor:
            tensor = convert_to_tensor(part, self._key_dtype)
            spec = ArraySpec((*tensor._array.shape, *element), self._value_dtype)
            return on_host(f"{type(self).__name__}.lookup", self._find, [tensor, default], [spec])[
                0
            ]

        return on_values(found, keys)

    def size(self, name: str | None = None) -> Tensor:
        """How many keys there are."""
        count = lambda: [np.array(len(self._places))]  # noqa: E731
        return on_host(f"{type(self).__name__}.size", count, [], _SCALAR)[0]

    def insert(self, keys: Any, values: Any, name: str | None = None) -> None:
        """Puts values in the table, in the place of those that their keys had.

        Args:
          keys: a tensor.
          values: a tensor with one for each of them.
          name: accepted for compatibility.
        """
        inputs = [
            convert_to_tensor(keys, self._key_dtype),
            convert_to_tensor(values, self._value_dtype),
        ]
        on_host(f"{type(self).__name__}.insert", self._put, inputs, [])

    def remove(self, keys: Any, name: str | None = None) -> None:
        """Takes keys out of the table. What is not there is passed over.

        Args:
          keys: a tensor.
          name: accepted for compatibility.
        """
        on_host(f"{type(self).__name__}.remove", self._drop, [self._keys(keys)], [])

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys and their values."""
        sizes: Any = (None,)
        specs = [
            ArraySpec(sizes, self._key_dtype),
            ArraySpec((*sizes, *self._default._array.shape), self._value_dtype),
        ]
        keys, values = on_host(f"{type(self).__name__}.export", self._all, [], specs)
        return keys, values

    # Checkpoints.

    def _checkpoint_state(self) -> Any:
        return tuple(self._all()) if self._saved else None

    def _restore_state(self, state: Any) -> None:
        if state is not None:
            keys, values = (np.asarray(part) for part in state)
            self._refill(keys, values)

    def _refill(self, keys: np.ndarray, values: np.ndarray) -> None:
        with self._lock:
            self._restart()
        self._put(keys, values)

    # In TensorFlow's checkpoints.

    def _exported_for_tensorflow(self, where: str) -> list[np.ndarray] | None:
        return self._all() if self._saved else None

    def _import_from_tensorflow(self, keys: np.ndarray, values: np.ndarray) -> None:
        if keys.dtype != self._key_dtype.np_dtype or values.dtype != self._value_dtype.np_dtype:
            raise ValueError(f"it has {keys.dtype} for {values.dtype}")
        self._refill(keys.reshape(-1), values)


@export("lookup.experimental.MutableHashTable")
class MutableHashTable(ChangingTable):
    """A table to which keys are added, and from which they are taken.

    >>> table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, default_value=-1)
    >>> table.insert(["a", "b"], [1, 2])
    >>> table.lookup(["a", "c"]).numpy()
    array([ 1, -1])

    Args:
      key_dtype: the dtype of keys.
      value_dtype: the dtype of values.
      default_value: the value of keys that are not there. Its shape is that of each value.
      name: accepted for compatibility.
      checkpoint: whether checkpoints hold what is in it.
      experimental_is_anonymous: accepted for compatibility.
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        name: str | None = "MutableHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(key_dtype, value_dtype, default_value, checkpoint)

    def lookup(self, keys: Any, dynamic_default_values: Any = None, name: str | None = None) -> Any:
        """The values of keys.

        Args:
          keys: a tensor, a ragged tensor or a sparse one.
          dynamic_default_values: a value for each key that is not there, or one for all, if not the default of the
            table.
          name: accepted for compatibility.
        """
        default = self._default
        if dynamic_default_values is not None:
            default = convert_to_tensor(dynamic_default_values, self._value_dtype)
        return self._found(keys, default)


@export("lookup.experimental.DenseHashTable")
class DenseHashTable(ChangingTable):
    """A table in which two keys cannot be: one that stands for nothing, and one for what was taken out.

    >>> table = tf.lookup.experimental.DenseHashTable(
    ...     tf.string, tf.int64, default_value=-1, empty_key="", deleted_key="$"
    ... )
    >>> table.insert(["a"], tf.constant([1], tf.int64))
    >>> table.lookup(tf.constant(["a", "c"])).numpy()
    array([ 1, -1])

    Args:
      key_dtype: the dtype of keys.
      value_dtype: the dtype of values.
      default_value: the value of keys that are not there. Its shape is that of each value.
      empty_key: a key that is not used.
      deleted_key: another one.
      initial_num_buckets: a power of two, for compatibility: the table grows as needed.
      name: accepted for compatibility.
      checkpoint: whether checkpoints hold what is in it.
      experimental_is_anonymous: accepted for compatibility.
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        initial_num_buckets: int | None = None,
        name: str | None = "MutableDenseHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(key_dtype, value_dtype, default_value, checkpoint)
        reserved = [convert_to_tensor(key, self._key_dtype) for key in (empty_key, deleted_key)]
        self._reserved = [np.asarray(concrete(key)._array).item() for key in reserved]
        if self._reserved[0] == self._reserved[1]:
            raise invalid(
                f"DenseHashTable: empty_key and deleted_key must differ, got {self._reserved[0]!r} for both"
            )
        count = initial_num_buckets
        if count is not None and (count < 4 or count & (count - 1)):
            raise invalid(
                f"DenseHashTable: initial_num_buckets must be a power of two from 4 on, got {count}"
            )

    def _check_keys(self, keys: list[Any]) -> None:
        for key in self._reserved:
            if key in keys:
                raise invalid(f"DenseHashTable: the key {key!r} is reserved, and cannot be used")

    def _exported_for_tensorflow(self, where: str) -> list[np.ndarray] | None:
        if not self._saved:
            return None
        raise ValueError(
            f"A checkpoint in TensorFlow's format cannot hold the DenseHashTable at {where}, which TensorFlow reads in "
            "the order of its hashes: use a MutableHashTable, or make it with checkpoint=False."
        )

    def _import_from_tensorflow(self, keys: np.ndarray, values: np.ndarray) -> None:
        flat = keys.reshape(-1)
        used = np.array([key not in self._reserved for key in flat.tolist()], bool)
        super()._import_from_tensorflow(flat[used], values[used])

    def _find(self, keys: Any, default: Any) -> list[np.ndarray]:
        self._check_keys(np.asarray(keys).ravel().tolist())
        return super()._find(keys, default)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys.

        Args:
          keys: a tensor, a ragged tensor or a sparse one.
          name: accepted for compatibility.
        """
        return self._found(keys, self._default)

    def insert_or_assign(self, keys: Any, values: Any, name: str | None = None) -> None:
        """The same as `insert`."""
        self.insert(keys, values, name)

    def erase(self, keys: Any, name: str | None = None) -> None:
        """The same as `remove`."""
        self.remove(keys, name)
