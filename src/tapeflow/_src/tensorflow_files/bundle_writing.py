"""Writing a bundle, which is there whole or not at all.

The data goes to a file that the index in place does not name, and the index is renamed into its place last. So that
there is such a name, a bundle that replaces another calls its data file the second of two, and the next one that
replaces it the only one again.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from tapeflow._src.core.dtypes import from_numpy, string
from tapeflow._src.core.system.files import remove_leftovers, replacing
from tapeflow._src.io import wire
from tapeflow._src.io.crc32c import crc32c, mask
from tapeflow._src.tensorflow_files import table
from tapeflow._src.tensorflow_files.bundle import SUFFIX, lengths_as_summed
from tapeflow._src.tensorflow_files.schemas import ENTRY, HEADER

_PIECE = 2**22


def write(prefix: str, tensors: Mapping[str, Any]) -> None:
    """Writes arrays by name as a bundle."""
    number, count = 0, 1
    if os.path.exists(_data_path(prefix, number, count)):
        number, count = 1, 2
    path = _data_path(prefix, number, count)
    remove_leftovers(prefix)
    rows: list[tuple[bytes, bytes]] = []
    position = 0
    with replacing(path) as file:
        for name in sorted(tensors, key=str.encode):
            array = np.asarray(tensors[name])
            dtype = from_numpy(array.dtype)
            size, checksum = _strings(array, file) if dtype is string else _numbers(array, file)
            said = {
                "dtype": dtype.as_datatype_enum,
                "shape": {"dim": [{"size": n} if n else {} for n in array.shape]},
                "shard_id": number or None,
                "offset": position or None,
                "size": size or None,
                "crc32c": mask(checksum),
            }
            rows.append((name.encode(), ENTRY.encoded(said)))
            position += size
    header = HEADER.encoded({"num_shards": count, "version": {"producer": 1}})
    with replacing(prefix + SUFFIX) as file:
        file.write(table.table([(b"", header), *rows]))
    _remove_data(prefix, but=path)
    _remove_orphans(prefix)


def _data_path(prefix: str, number: int, count: int) -> str:
    return f"{prefix}.data-{number:05d}-of-{count:05d}"


def _numbers(array: np.ndarray, file: BinaryIO) -> tuple[int, int]:
    little = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False))
    content = little.reshape(-1).view(np.uint8)
    checksum = 0
    for at in range(0, len(content), _PIECE):
        piece = content[at : at + _PIECE].tobytes()  # what is summed is what is written
        checksum = crc32c(piece, checksum)
        file.write(piece)
    return len(content), checksum


def _strings(array: np.ndarray, file: BinaryIO) -> tuple[int, int]:
    parts = [x if isinstance(x, bytes) else str(x).encode() for x in array.reshape(-1).tolist()]
    lengths = [len(x) for x in parts]
    checksum = crc32c(lengths_as_summed(lengths))
    rest = mask(checksum).to_bytes(4, "little") + b"".join(parts)
    head = b"".join(map(wire.varint, lengths))
    file.write(head + rest)
    return len(head) + len(rest), crc32c(rest, checksum)


def remove(prefix: str) -> None:
    """Removes a bundle: first its index, without which there is none."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(prefix + SUFFIX)
    _remove_data(prefix)


def _remove_data(prefix: str, but: str = "") -> None:
    folder, name = os.path.split(prefix)
    pattern = re.compile(rf"{re.escape(name)}\.data-\d{{5}}-of-\d{{5}}")
    for found in filter(None, map(pattern.fullmatch, os.listdir(folder or "."))):
        path = os.path.join(folder, found[0])
        if path != but:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


def _remove_orphans(prefix: str) -> None:
    """Removes data without an index, of bundles whose names differ by a smaller number, which nobody writes any more.

    It is what a process has left that was killed before the index was there, or after it was removed.
    """
    folder, name = os.path.split(prefix)
    stem, dash, own = name.rpartition("-")
    if not dash or not own.isdecimal():
        return
    pattern = re.compile(rf"({re.escape(stem)}-(\d+))\.data-\d{{5}}-of-\d{{5}}")
    for found in filter(None, map(pattern.fullmatch, os.listdir(folder or "."))):
        other = os.path.join(folder, found[1])
        if int(found[2]) < int(own) and not os.path.exists(other + SUFFIX):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, found[0]))
