"""Writing a bundle, which is there whole or not at all.

The data goes to a file that the index in place does not name, and the index is renamed into its place last. So that
there is such a name, a bundle that replaces another calls its data file the second of two, and the next one that
replaces it the only one again.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from tapeflow._src.core.dtypes import from_numpy, string
from tapeflow._src.core.system.files import remove_leftovers, replacing
from tapeflow._src.io import wire
from tapeflow._src.io.crc32c import crc32c, mask
from tapeflow._src.tensorflow_files import slices, table
from tapeflow._src.tensorflow_files.bundle import SUFFIX, lengths_as_summed
from tapeflow._src.tensorflow_files.schemas import ENTRY, HEADER

_PIECE = 2**22


class Part(NamedTuple):
    """A tensor, or some of it."""

    array: np.ndarray
    shape: Sequence[int] = ()  # of the whole, where it is a part
    extents: Sequence[tuple[int, int]] | None = (
        None  # where it begins and how long it is, in each dimension
    )


def write(prefix: str, tensors: Mapping[str, Any]) -> None:
    """Writes arrays by name as a bundle."""
    write_files(prefix, [{name: [Part(np.asarray(x))] for name, x in tensors.items()}])


def write_files(prefix: str, files: Sequence[Mapping[str, Sequence[Part]]]) -> None:
    """Writes a bundle whose data are several files, for each of which there are arrays, or parts of them, by name."""
    first, count = 0, len(files)
    if any(os.path.exists(_data_path(prefix, i, count)) for i in range(count)):
        first, count = 1, count + 1
    remove_leftovers(prefix)
    rows: dict[bytes, bytes] = {}
    cut: dict[str, list[Part]] = {}
    paths: list[str] = []
    for number, tensors in enumerate(files, first):
        paths.append(_data_path(prefix, number, count))
        position = 0
        with replacing(paths[-1]) as file:
            for name in sorted(tensors, key=str.encode):
                for part in tensors[name]:
                    dtype = from_numpy(part.array.dtype)
                    put = _strings if dtype is string else _numbers
                    size, checksum = put(part.array, file)
                    said = {
                        **_kind(part.array, part.array.shape),
                        "shard_id": number or None,
                        "offset": position or None,
                        "size": size or None,
                        "crc32c": mask(checksum),
                    }
                    key = name.encode()
                    if part.extents is not None:
                        key = slices.key(name, part.extents)
                        cut.setdefault(name, []).append(part)
                    rows[key] = ENTRY.encoded(said)
                    position += size
    for name, parts in cut.items():
        places = [[{"start": s or None, "length": n} for s, n in p.extents or ()] for p in parts]
        said = {**_kind(parts[0].array, parts[0].shape), "slices": [{"extent": e} for e in places]}
        rows[name.encode()] = ENTRY.encoded(said)
    header = HEADER.encoded({"num_shards": count, "version": {"producer": 1}})
    with replacing(prefix + SUFFIX) as file:
        file.write(table.table([(b"", header), *sorted(rows.items())]))
    _remove_data(prefix, but=paths)
    _remove_orphans(prefix)


def _kind(array: np.ndarray, shape: Sequence[int]) -> dict[str, Any]:
    return {
        "dtype": from_numpy(array.dtype).as_datatype_enum,
        "shape": {"dim": [{"size": n} if n else {} for n in shape]},
    }


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


def _remove_data(prefix: str, but: Sequence[str] = ()) -> None:
    folder, name = os.path.split(prefix)
    pattern = re.compile(rf"{re.escape(name)}\.data-\d{{5}}-of-\d{{5}}")
    for found in filter(None, map(pattern.fullmatch, os.listdir(folder or "."))):
        path = os.path.join(folder, found[0])
        if path not in but:
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
