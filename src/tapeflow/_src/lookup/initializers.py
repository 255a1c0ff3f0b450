"""What is in a table from the beginning: keys and values that are given, or the lines of a file."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype, int64, string
from tapeflow._src.core.errors import OutOfRangeError, invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.interpreter import concrete
from tapeflow._src.core.system.files import translating_os_errors
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.effects.host import bytes_array


class Contents(NamedTuple):
    """Keys and values, one for each."""

    keys: np.ndarray
    values: np.ndarray


class TableInitializer:
    """What fills a table when it is made."""

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self._key_dtype, self._value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        """The dtype of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of the values."""
        return self._value_dtype

    def contents(self) -> Contents:
        """The keys and values."""
        raise NotImplementedError

    def initialize(self, table: Any) -> None:
        """Fills a table. The table calls it when it is made; an initializer of one's own may leave it empty."""
        table._fill(self.contents())


@export("lookup.KeyValueTensorInitializer")
class KeyValueTensorInitializer(TableInitializer):
    """Keys and values from two tensors.

    >>> init = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
    >>> init.key_dtype, init.value_dtype
    (tf.string, tf.int32)

    Args:
      keys: a tensor.
      values: a tensor with as many elements.
      key_dtype: the dtype of the keys, if it is not theirs.
      value_dtype: the dtype of the values, if it is not theirs.
      name: accepted for compatibility.
    """

    def __init__(
        self,
        keys: Any,
        values: Any,
        key_dtype: Any = None,
        value_dtype: Any = None,
        name: str | None = None,
    ) -> None:
        self._keys = convert_to_tensor(keys, key_dtype)
        self._values = convert_to_tensor(values, value_dtype)
        super().__init__(self._keys.dtype, self._values.dtype)

    def contents(self) -> Contents:
        """The keys and values."""
        keys, values = (np.asarray(concrete(x)._array).ravel() for x in (self._keys, self._values))
        if keys.shape != values.shape:
            raise invalid(
                f"KeyValueTensorInitializer: there are {keys.size} keys and {values.size} values"
            )
        return Contents(keys, values)


@export("lookup.TextFileIndex")
class TextFileIndex:
    """What of a line is meant by `tf.lookup.TextFileInitializer`, besides the number of a column.

    >>> tf.lookup.TextFileIndex.WHOLE_LINE
    -2
    """

    WHOLE_LINE = -2
    LINE_NUMBER = -1


@export("lookup.TextFileInitializer")
class TextFileInitializer(TableInitializer):
    r"""Keys and values from the lines of a file.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "vocabulary.txt")
    >>> with open(path, "w") as file:
    ...     _ = file.write("the\nquick\nfox\n")
    >>> init = tf.lookup.TextFileInitializer(
    ...     path, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
    ... )
    >>> tf.lookup.StaticHashTable(init, -1).lookup(tf.constant(["fox", "dog"])).numpy()
    array([ 2, -1])

    Args:
      filename: the path of the file.
      key_dtype: the dtype of the keys.
      key_index: the column where keys are, or one of `tf.lookup.TextFileIndex`.
      value_dtype: the dtype of the values.
      value_index: the same for values.
      vocab_size: how many lines are read, if not all.
      delimiter: what is between columns, one character.
      name: accepted for compatibility.
      value_index_offset: what is added to line numbers.
    """

    def __init__(
        self,
        filename: Any,
        key_dtype: Any,
        key_index: int,
        value_dtype: Any,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
        value_index_offset: int = 0,
    ) -> None:
        super().__init__(key_dtype, value_dtype)
        if hasattr(filename, "__tf_tensor__"):  # an asset, which stands for its path
            filename = convert_to_tensor(filename)
        if not isinstance(filename, (Tensor, os.PathLike)) and not filename:
            raise ValueError("TextFileInitializer: filename is needed, and is empty")
        _check_column("key", key_index, self.key_dtype)
        _check_column("value", value_index, self.value_dtype)
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"TextFileInitializer: vocab_size must be positive, got {vocab_size}")
        if len(delimiter) != 1:
            raise ValueError(
                f"TextFileInitializer: delimiter must be one character, got {shown(delimiter)}"
            )
        self._filename = filename
        self._columns = (key_index, value_index)
        self._count, self._delimiter = vocab_size, delimiter.encode()
        self._offset = value_index_offset

    def contents(self) -> Contents:
        """The keys and values. The file is read now."""
        path = self._filename
        if isinstance(path, Tensor):
            path = concrete(path)._array
            path = np.asarray(path).item()
        with translating_os_errors(os.fspath(path)), open(path, "rb") as file:
            lines = file.read().split(b"\n")
        if lines[-1] == b"":
            lines.pop()
        lines = [line.removesuffix(b"\r") for line in lines]
        if not lines:
            raise OutOfRangeError(
                None, None, f"TextFileInitializer: the file {shown(path)} has no lines"
            )
        count = len(lines) if self._count is None else self._count
        if count > len(lines):
            raise invalid(
                f"TextFileInitializer: vocab_size is {count}, and the file {shown(path)} has {len(lines)} lines"
            )
        lines = lines[:count]
        key, value = self._columns
        return Contents(
            self._column(lines, key, self.key_dtype, 0),
            self._column(lines, value, self.value_dtype, self._offset),
        )

    def _column(self, lines: list[bytes], column: int, dtype: DType, offset: int) -> np.ndarray:
        if column == TextFileIndex.LINE_NUMBER:
            return np.arange(len(lines)) + offset
        if column == TextFileIndex.WHOLE_LINE:
            texts = lines
        else:
            rows = [line.split(self._delimiter) for line in lines]
            for number, row in enumerate(rows):
                if len(row) <= column:
                    raise invalid(
                        f"TextFileInitializer: line {number} of {shown(self._filename)} ({lines[number]!r}) has "
                        f"{len(row)} columns, and column {column} is asked for"
                    )
            texts = [row[column] for row in rows]
        if dtype is string:
            return bytes_array(texts, (len(texts),))
        return np.array([self._number(*each, dtype) for each in enumerate(texts)], dtype.np_dtype)

    def _number(self, line: int, text: bytes, dtype: DType) -> Any:
        try:
            return int(text) if dtype.is_integer else float(text)
        except ValueError:
            raise invalid(
                f"TextFileInitializer: {text!r} in line {line} of {shown(self._filename)} is no {dtype.name}"
            ) from None


def _check_column(what: str, column: int, dtype: DType) -> None:
    if column < TextFileIndex.WHOLE_LINE:
        raise ValueError(
            f"TextFileInitializer: {what}_index must be a column from 0 on, or one of tf.lookup.TextFileIndex, got "
            f"{column}"
        )
    if column == TextFileIndex.LINE_NUMBER and dtype is not int64:
        raise ValueError(
            f"TextFileInitializer: {what}_dtype must be int64 where {what}_index is LINE_NUMBER, got {dtype.name}"
        )
    if column == TextFileIndex.WHOLE_LINE and not (dtype.is_integer or dtype is string):
        raise ValueError(
            f"TextFileInitializer: {what}_dtype must be string or an integer where {what}_index is WHOLE_LINE, got "
            f"{dtype.name}"
        )


KEYS = (dtypes.int32, dtypes.int64, dtypes.string)
"""The dtypes that keys may have."""
