"""`tf.io.decode_csv`."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import string
from tapeflow._src.core.export import export
from tapeflow._src.io.csv_fields import Format, columns, picked
from tapeflow._src.ops.effects.host import on_host
from tapeflow._src.primitives.specs import ArraySpec


@export("io.decode_csv")
def decode_csv(
    records: Any,
    record_defaults: Any,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Any = None,
    name: str | None = None,
) -> list[Any]:
    """The fields of records of comma-separated values, as a tensor for each field.

    >>> numbers, words = tf.io.decode_csv(["1,one", "2,two"], record_defaults=[[0], [""]])
    >>> numbers.numpy(), words.numpy()
    (array([1, 2], dtype=int32), array([b'one', b'two'], dtype=object))

    Args:
      records: strings, each of which is a record.
      record_defaults: for each field a list with what stands for a missing value, which also says the dtype (float32,
        float64, int32, int64 or string); an empty tensor where a value is required.
      field_delim: what stands between fields.
      use_quote_delim: whether fields may be quoted.
      na_value: what stands for a missing value, besides nothing.
      select_cols: which fields are read, in increasing order; all by default.
      name: accepted for compatibility.
    """
    op = "decode_csv"
    if select_cols is not None:
        select_cols = [int(number) for number in select_cols]
        if any(a >= b for a, b in itertools.pairwise(select_cols)):
            raise ValueError(f"{op}: select_cols must be strictly increasing, got {select_cols}")
        if select_cols and select_cols[0] < 0:
            raise ValueError(f"{op}: select_cols must not be negative, got {select_cols}")
        if len(select_cols) != len(record_defaults):
            raise ValueError(
                f"{op}: there are {len(select_cols)} of select_cols and {len(record_defaults)} record_defaults"
            )
    form = Format(op, field_delim, use_quote_delim, na_value)
    wanted = columns(op, record_defaults, select_cols)
    given = convert_to_tensor(records, string)

    def run(array: np.ndarray) -> list[Any]:
        split = [form.fields(text, number) for number, text in enumerate(array.ravel().tolist())]
        parts = picked(split, wanted, select_cols is not None, form, 0)
        return [
            column.converted(texts, form.na_value, 0).reshape(array.shape)
            for column, texts in zip(wanted, parts, strict=True)
        ]

    specs = [ArraySpec(given._array.shape, column.dtype) for column in wanted]
    return on_host(op, run, [given], specs)
