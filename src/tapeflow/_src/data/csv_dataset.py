"""Datasets of comma-separated values: `tf.data.experimental.CsvDataset` and `make_csv_dataset`."""

from __future__ import annotations

import collections
import csv
import io
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, string
from tapeflow._src.core.errors import invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.data.dataset import Dataset
from tapeflow._src.data.nodes.csv_files import CsvFiles
from tapeflow._src.data.readers import paths_node
from tapeflow._src.data.runtime.background import cores
from tapeflow._src.io import gfile
from tapeflow._src.io.csv_fields import Format, columns
from tapeflow._src.io.streams import Stream, checked_compression
from tapeflow._src.ops.arguments import integer


@export("data.experimental.CsvDataset")
class CsvDataset(Dataset):
    r"""The records of files of comma-separated values, each a tuple of its fields.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/some.csv"
    >>> tf.io.write_file(path, "number,word\n1,one\n2,\n")
    >>> data = tf.data.experimental.CsvDataset(path, [tf.int32, ["none"]], header=True)
    >>> [(int(number), word.numpy()) for number, word in data]
    [(1, b'one'), (2, b'none')]

    Args:
      filenames: a name, several, or a dataset of names.
      record_defaults: for each field its dtype, or a list with what stands for a missing value: float32, float64,
        int32, int64 or string.
      compression_type: `"GZIP"`, `"ZLIB"`, or `""` for none.
      buffer_size: accepted for compatibility.
      header: whether the first line of each file is left out.
      field_delim: what stands between fields.
      use_quote_delim: whether fields may be quoted.
      na_value: what stands for a missing value, besides nothing.
      select_cols: the numbers of the fields that are read, in increasing order; all by default.
      exclude_cols: the numbers of the fields that are not read, instead.
    """

    def __init__(
        self,
        filenames: Any,
        record_defaults: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        header: bool = False,
        field_delim: str = ",",
        use_quote_delim: bool = True,
        na_value: str = "",
        select_cols: Any = None,
        exclude_cols: Any = None,
    ) -> None:
        op = "CsvDataset"
        selected = _selected(op, record_defaults, select_cols, exclude_cols)
        form = Format(op, field_delim, use_quote_delim, na_value)
        wanted = columns(op, record_defaults, selected)
        compression = checked_compression(op, compression_type)
        paths = paths_node(op, filenames)
        super().__init__(
            CsvFiles(paths, wanted, selected is not None, form, bool(header), compression)
        )


def _selected(op: str, defaults: Any, chosen: Any, excluded: Any) -> list[int] | None:
    if chosen is not None and excluded is not None:
        raise invalid(f"{op}: either select_cols or exclude_cols can be given, not both")
    given = chosen if chosen is not None else excluded
    if given is None:
        return None
    numbers = [int(number) for number in given]
    if any(a >= b for a, b in itertools.pairwise(numbers)) or min(numbers, default=0) < 0:
        name = "select_cols" if chosen is not None else "exclude_cols"
        raise invalid(f"{op}: {name} must be strictly increasing numbers of fields, got {numbers}")
    if excluded is not None:
        found = [n for n in range(len(defaults) + len(numbers)) if n not in numbers]
        return found[: len(defaults)]
    if len(numbers) != len(defaults):
        raise invalid(
            f"{op}: there are {len(numbers)} of select_cols and {len(defaults)} record_defaults"
        )
    return numbers


@export("data.experimental.make_csv_dataset")
def make_csv_dataset(
    file_pattern: Any,
    batch_size: Any,
    column_names: Sequence[str] | None = None,
    column_defaults: Any = None,
    label_name: str | None = None,
    select_columns: Sequence[Any] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: Any = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: Any = None,
    ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Dataset:
    r"""Batches of records of files of comma-separated values: dicts of columns, and perhaps labels.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/some.csv"
    >>> tf.io.write_file(path, "age,name\n30,Ada\n40,Alan\n")
    >>> data = tf.data.experimental.make_csv_dataset(path, 2, label_name="name", shuffle=False, num_epochs=1)
    >>> features, labels = next(iter(data))
    >>> features["age"].numpy(), labels.numpy()
    (array([30, 40], dtype=int32), array([b'Ada', b'Alan'], dtype=object))

    Args:
      file_pattern: a path with `*`, `?` and `[...]`, or several.
      batch_size: how many records make a batch.
      column_names: the names of the columns; by default the first line of the first file has them.
      column_defaults: for each column that is read its dtype, or a list with what stands for a missing value; by
        default dtypes are found by looking at the first records.
      label_name: the column that is given beside the dict of the others.
      select_columns: the names or numbers of the columns that are read; all by default.
      field_delim: what stands between fields.
      use_quote_delim: whether fields may be quoted.
      na_value: what stands for a missing value, besides nothing.
      header: whether the first line of each file has the names of its columns.
      num_epochs: how often the records are gone through; without end by default, and then all batches are full.
      shuffle: whether files and records are shuffled.
      shuffle_buffer_size: see `Dataset.shuffle`.
      shuffle_seed: see `Dataset.shuffle`.
      prefetch_buffer_size: how many batches are read ahead; 1 by default.
      num_parallel_reads: how many files are read in turn; 1 by default.
      sloppy: accepted for compatibility: the order is always the same.
      num_rows_for_inference: how many records are looked at to find dtypes; None for all.
      compression_type: `"GZIP"`, `"ZLIB"`, or `""` for none.
      ignore_errors: whether records that are wrong are left out.
      encoding: of the names of columns.
    """
    op = "make_csv_dataset"
    if num_parallel_reads is None:
        reads = 1
    else:
        reads = integer(op, "num_parallel_reads", num_parallel_reads)
        reads = cores() if reads == -1 else reads
    compression = checked_compression(op, compression_type)
    files = _files(file_pattern)
    paths = Dataset.from_tensor_slices(files)
    if shuffle:
        paths = paths.shuffle(len(files), shuffle_seed)
    look = _Look(files, compression, field_delim, use_quote_delim, encoding)
    if column_names is None:
        if not header:
            raise ValueError("Expected `column_names` or `header` arguments. Neither is provided.")
        names = look.names()
    else:
        names = list(column_names)
    if len(names) != len(set(names)):
        twice = {name for name in names if names.count(name) > 1}
        raise ValueError(
            f"Either `column_names` argument or CSV header row contains duplicate column names: {twice}."
        )
    numbers = _numbers(names, select_columns)
    if column_defaults is None:
        defaults: Any = look.defaults(numbers, len(names), na_value, header, num_rows_for_inference)
    elif len(column_defaults) != (len(names) if select_columns is None else len(numbers)):
        defaults = list(column_defaults)
        numbers = list(range(len(defaults)))
    else:
        defaults = list(column_defaults)
    chosen = None if select_columns is None else numbers
    kept = [names[n] for n in numbers]
    if label_name is not None and label_name not in kept:
        raise ValueError(
            f"`label_name` provided must be one of the columns: {kept}. Received: {label_name}."
        )

    def one_file(name: Any) -> Dataset:
        data: Dataset = CsvDataset(
            name,
            defaults,
            compression_type,
            header=header,
            field_delim=field_delim,
            use_quote_delim=use_quote_delim,
            na_value=na_value,
            select_cols=chosen,
        )
        return data.ignore_errors() if ignore_errors else data

    def named(*values: Any) -> Any:
        features = collections.OrderedDict(zip(kept, values, strict=True))
        if label_name is None:
            return features
        label = features.pop(label_name)
        return features, label

    data = paths.interleave(one_file, reads)
    if shuffle:
        data = data.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        data = data.repeat(num_epochs)
    data = data.batch(batch_size, drop_remainder=num_epochs is None).map(named)
    return data.prefetch(1 if prefetch_buffer_size is None else prefetch_buffer_size)


def _files(pattern: Any) -> list[str]:
    if isinstance(pattern, (list, tuple)):
        if not pattern:
            raise ValueError("Argument `file_pattern` should not be empty.")
        found = [name for one in pattern for name in gfile.glob(one)]
    else:
        found = list(gfile.glob(pattern))
    if not found:
        raise ValueError(f"No files match `file_pattern` {pattern}.")
    return sorted(found)


def _numbers(names: Sequence[str], chosen: Sequence[Any] | None) -> list[int]:
    """The numbers of the columns that are read."""
    if chosen is None:
        return list(range(len(names)))
    if not chosen:
        raise ValueError("Column name (if specified) cannot be empty: `select_columns` is [].")
    if len(set(chosen)) != len(chosen):
        raise ValueError(f"`select_columns` contains duplicate columns: {list(chosen)}.")
    if all(isinstance(n, (int, np.integer)) for n in chosen):
        if min(chosen) < 0 or max(chosen) >= len(names):
            raise ValueError(
                f"`select_columns` must be numbers below {len(names)}, got {list(chosen)}."
            )
        return sorted(int(n) for n in chosen)
    for name in chosen:
        if name not in names:
            raise ValueError(
                f"Value {shown(name)} in `select_columns` is not a column name: {list(names)}."
            )
    return sorted(names.index(name) for name in chosen)


class _Look:
    """A look at files before they are read."""

    def __init__(
        self, files: list[str], compression: str, delim: str, quotes: bool, encoding: str
    ) -> None:
        self._files, self._compression, self._encoding = files, compression, encoding
        self._delim = delim
        self._quoting: Any = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE

    def _records(self, file: str) -> Iterator[list[str]]:
        raw = io.BufferedReader(_Raw(Stream(file, self._compression)))
        lines = io.TextIOWrapper(raw, self._encoding, newline="")
        return csv.reader(lines, delimiter=self._delim, quoting=self._quoting)

    def names(self) -> list[str]:
        """The first line of the first file; the others must have the same."""
        first = next(self._records(self._files[0]), None)
        if first is None:
            raise ValueError(f"Files don't have a header: {self._files[0]} is empty.")
        for file in self._files[1:]:
            if next(self._records(file), None) != first:
                raise ValueError("All input CSV files don't have the same header row.")
        return first

    def defaults(
        self, numbers: list[int], count: int, na_value: str, header: bool, most: int | None
    ) -> list[Any]:
        """What stands for missing values in the columns, of dtypes that fit the first records."""
        found: list[DType | None] = [None] * len(numbers)
        seen = 0
        for file in self._files:
            for line, record in enumerate(self._records(file)):
                if header and not line:
                    continue
                if most is not None and seen >= most:
                    break
                seen += 1
                if len(record) != count:
                    raise ValueError(
                        f"Problem inferring types: CSV row {line + 1} has {len(record)} number of fields. Expected: "
                        f"{count}."
                    )
                found = [
                    _wider(dtype, record[n], na_value)
                    for dtype, n in zip(found, numbers, strict=True)
                ]
        kinds = [dtype or string for dtype in found]
        return [convert_to_tensor([""] if t is string else [0], t) for t in kinds]


class _Raw(io.RawIOBase):
    """A stream as Python's files are."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """The next bytes."""
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


_ORDER = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string)


def _wider(dtype: DType | None, text: str, na_value: str) -> DType | None:
    """The first dtype, from one on, that a text fits into."""
    if text in ("", na_value):
        return dtype
    for other in _ORDER[0 if dtype is None else _ORDER.index(dtype) :]:
        if _fits(text, other):
            return other
    return string


def _fits(text: str, dtype: DType) -> bool:
    if dtype is string:
        return True
    try:
        if dtype.is_integer:
            return dtype.min <= int(text) <= dtype.max
        value = float(text)
    except ValueError:
        return False
    return not math.isfinite(value) or dtype.min <= value <= dtype.max
