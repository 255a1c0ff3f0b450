"""`tf.data.experimental.SqlDataset`: the rows that a query of a database gives."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes, nest
from tapeflow._src.core.dtypes import DType, as_dtype, string
from tapeflow._src.core.errors import UnknownError, invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.data.dataset import Dataset
from tapeflow._src.data.nodes.sources import Generated

_ALLOWED = (
    *(string, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64),
    *(dtypes.uint8, dtypes.uint16, dtypes.bool_, dtypes.float64),
)


@export("data.experimental.SqlDataset")
class SqlDataset(Dataset):
    """The rows that a query gives, each as a tuple of scalars.

    >>> import sqlite3, tempfile
    >>> path = tempfile.mkdtemp() + "/people.db"
    >>> database = sqlite3.connect(path)
    >>> _ = database.execute("create table people (name text, age int)")
    >>> _ = database.execute("insert into people values ('Ada', 36)")
    >>> database.commit(); database.close()
    >>> data = tf.data.experimental.SqlDataset("sqlite", path, "select * from people", (tf.string, tf.int32))
    >>> [(name.numpy(), int(age)) for name, age in data]
    [(b'Ada', 36)]

    Args:
      driver_name: `"sqlite"`.
      data_source_name: the path of the database.
      query: in SQL.
      output_types: the dtypes of the columns: strings, integers, bools or float64.
    """

    def __init__(
        self, driver_name: str, data_source_name: str, query: str, output_types: Any
    ) -> None:
        op = "SqlDataset"
        if driver_name not in ("sqlite", b"sqlite"):
            raise invalid(f"{op}: driver_name must be 'sqlite', got {shown(driver_name)}")
        types = [as_dtype(each) for each in nest.flatten(output_types)]
        for dtype in types:
            if dtype not in _ALLOWED:
                raise invalid(
                    f"{op}: output_types must be strings, integers of up to 64 bits, bools or float64, got {dtype.name}"
                )
        path = (
            data_source_name.decode() if isinstance(data_source_name, bytes) else data_source_name
        )
        text = query.decode() if isinstance(query, bytes) else query
        spec = nest.pack_sequence_as(output_types, [TensorSpec([], t) for t in types])

        def rows() -> Iterator[Any]:
            for row in _rows(path, text, types):
                yield nest.pack_sequence_as(output_types, row)

        super().__init__(Generated(rows, spec, None))


def _rows(path: str, query: str, types: list[DType]) -> Iterator[list[Any]]:
    try:
        # A database that is not there is not made.
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    except sqlite3.Error as error:
        raise invalid(f"SqlDataset: {path!r} cannot be opened: {error}") from None
    try:
        cursor = database.execute(query)
        count = len(cursor.description or ())
        if count != len(types):
            raise invalid(
                f"SqlDataset: the query has {count} columns, and output_types has {len(types)} dtypes"
            )
        for row in cursor:
            yield [_converted(value, dtype) for value, dtype in zip(row, types, strict=True)]
    except sqlite3.Error as error:
        raise UnknownError(None, None, f"SqlDataset: {error}, in the query {query!r}") from None
    finally:
        database.close()


def _converted(value: Any, dtype: DType) -> Any:
    """A value as SQLite gives it to who asks for another type: what is no number is 0."""
    if dtype is string:
        if isinstance(value, bytes):
            return value
        return b"" if value is None else str(value).encode()
    if isinstance(value, (str, bytes)):
        text = value if isinstance(value, str) else value.decode("utf-8", "replace")
        number = re.match(r"\s*[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", text)
        value = float(number[0]) if number else 0
    if dtype is dtypes.float64:
        return np.float64(0.0 if value is None else value)
    whole = 0 if value is None else int(value)
    return bool(whole) if dtype is dtypes.bool_ else np.int64(whole).astype(dtype.np_dtype)
