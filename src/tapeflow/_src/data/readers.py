"""Datasets of what is in files: `tf.data.TFRecordDataset`, `TextLineDataset`, `FixedLengthRecordDataset`."""

from __future__ import annotations

import os
from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import string
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.data.dataset import Dataset
from tapeflow._src.data.nodes import files
from tapeflow._src.data.nodes.sources import Slices
from tapeflow._src.data.runtime import background
from tapeflow._src.data.runtime.node import Node
from tapeflow._src.data.transformations import AUTOTUNE
from tapeflow._src.io.streams import checked_compression
from tapeflow._src.ops.arguments import integer
from tapeflow._src.ops.array.shaping import reshape


def paths_node(op: str, filenames: Any) -> Node:
    """The names of files as a dataset: it may be one already, or a tensor or a list of names."""
    if isinstance(filenames, Dataset):
        spec = filenames.element_spec
        if not isinstance(spec, TensorSpec) or spec.dtype is not string:
            raise TypeError(f"{op}: the dataset `filenames` must give strings, and gives {spec}.")
        if spec.shape.rank not in (0, None):
            raise TypeError(
                f"{op}: the dataset `filenames` must give scalars, and gives elements of shape {spec.shape}."
            )
        return filenames._node
    if isinstance(filenames, (list, tuple)):
        filenames = [_text(name) for name in filenames]
    empty = isinstance(filenames, list) and not filenames
    tensor = convert_to_tensor(_text(filenames), string if empty else None)
    if tensor.dtype is not string:
        raise TypeError(
            f"{op}: the `filenames` argument must contain `tf.string` elements. Got `tf.{tensor.dtype.name}` elements."
        )
    return Slices(reshape(tensor, [-1]))


def _text(name: Any) -> Any:
    return os.fspath(name) if isinstance(name, os.PathLike) else name


def _cycle(op: str, num_parallel_reads: Any) -> int | None:
    if num_parallel_reads is None:
        return None
    count = integer(op, "num_parallel_reads", num_parallel_reads)
    if count == AUTOTUNE:
        return background.cores()
    if count <= 0:
        raise invalid(f"{op}: num_parallel_reads must be greater than zero, got {count}")
    return count


@export("data.TFRecordDataset")
class TFRecordDataset(Dataset):
    """The records of TFRecord files, as scalar strings.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/some.tfrecord"
    >>> with tf.io.TFRecordWriter(path) as writer:
    ...     writer.write("one")
    ...     writer.write("two")
    >>> list(tf.data.TFRecordDataset(path).as_numpy_iterator())
    [b'one', b'two']

    Checksums are verified: damage is a `tf.errors.DataLossError`, after which reading goes on with the next file.

    Args:
      filenames: a name, several, or a dataset of names.
      compression_type: `"GZIP"`, `"ZLIB"`, or `""` for none.
      buffer_size: accepted for compatibility: files are read in blocks of half a megabyte.
      num_parallel_reads: how many files are read in turn, each by a thread; by default one after the other.
      name: accepted for compatibility.
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        op = "TFRecordDataset"
        reader = files.records(checked_compression(op, compression_type))
        paths, cycle = paths_node(op, filenames), _cycle(op, num_parallel_reads)
        super().__init__(files.Files("TFRecordDatasetV2", paths, reader, cycle))


@export("data.TextLineDataset")
class TextLineDataset(Dataset):
    r"""The lines of text files, without the ends of lines.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/some.txt"
    >>> tf.io.write_file(path, "one\ntwo\n")
    >>> list(tf.data.TextLineDataset(path).as_numpy_iterator())
    [b'one', b'two']

    Args:
      filenames: a name, several, or a dataset of names.
      compression_type: `"GZIP"`, `"ZLIB"`, or `""` for none.
      buffer_size: accepted for compatibility.
      num_parallel_reads: how many files are read in turn, each by a thread; by default one after the other.
      name: accepted for compatibility.
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        op = "TextLineDataset"
        reader = files.lines(checked_compression(op, compression_type))
        paths, cycle = paths_node(op, filenames), _cycle(op, num_parallel_reads)
        super().__init__(files.Files("TextLineDatasetV2", paths, reader, cycle))


@export("data.FixedLengthRecordDataset")
class FixedLengthRecordDataset(Dataset):
    """Pieces of files that all have the same length, as scalar strings.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/some.bin"
    >>> tf.io.write_file(path, "#abcd")
    >>> list(tf.data.FixedLengthRecordDataset(path, 2, header_bytes=1).as_numpy_iterator())
    [b'ab', b'cd']

    Args:
      filenames: a name, several, or a dataset of names.
      record_bytes: how long a piece is.
      header_bytes: how much is left out at the beginning of each file.
      footer_bytes: how much is left out at its end.
      buffer_size: accepted for compatibility.
      compression_type: `"GZIP"`, `"ZLIB"`, or `""` for none.
      num_parallel_reads: how many files are read in turn, each by a thread; by default one after the other.
      name: accepted for compatibility.
    """

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        op = "FixedLengthRecordDataset"
        size = integer(op, "record_bytes", record_bytes)
        header = 0 if header_bytes is None else integer(op, "header_bytes", header_bytes)
        footer = 0 if footer_bytes is None else integer(op, "footer_bytes", footer_bytes)
        if size < 1 or header < 0 or footer < 0:
            raise invalid(
                f"{op}: record_bytes must be positive, and header_bytes and footer_bytes not negative, got {size}, "
                f"{header} and {footer}"
            )
        reader = files.pieces(size, header, footer, checked_compression(op, compression_type))
        paths, cycle = paths_node(op, filenames), _cycle(op, num_parallel_reads)
        super().__init__(files.Files("FixedLengthRecordDatasetV2", paths, reader, cycle))
