"""`tf.compat.v1.io.tf_record_iterator`, by which TensorBoard reads files that are still being written."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterator
from typing import Any

from tapeflow._src.core.export import export
from tapeflow._src.io.records import TFRecordOptions, records
from tapeflow._src.io.streams import Stream, checked_compression


class RecordIterator(Iterator[bytes]):
    """The records of a file. Where it ends, it may be asked again later: the file may have grown."""

    def __init__(self, path: Any, compression: str) -> None:
        self._path, self._compression = path, compression
        self._done = 0
        self._open()

    def _open(self) -> None:
        stream = Stream(self._path, self._compression)
        self._records: Iterator[bytes] | None = records(stream, str(self._path))
        collections.deque(itertools.islice(self._records, self._done), maxlen=0)

    def __next__(self) -> bytes:
        if self._records is None:
            self._open()
        assert self._records is not None
        try:
            record = next(self._records)
        except BaseException:
            self._records = None  # also of a record that is not there as a whole yet
            raise
        self._done += 1
        return record

    def reopen(self) -> None:
        """Goes on in the file that has this name now."""
        self._records = None


@export("compat.v1.io.tf_record_iterator")
def tf_record_iterator(path: Any, options: TFRecordOptions | None = None) -> RecordIterator:
    """The records of a TFRecord file, one after the other.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/some.tfrecord"
    >>> with tf.io.TFRecordWriter(path) as writer:
    ...     writer.write(b"one")
    >>> list(tf.compat.v1.io.tf_record_iterator(path))
    [b'one']

    Args:
      path: of the file.
      options: how it is compressed.
    """
    compression = options.compression_type if options is not None else ""
    return RecordIterator(path, checked_compression("tf_record_iterator", compression))
