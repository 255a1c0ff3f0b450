"""Checkpoints of several processes that hold parts of values.

Each process writes the parts that it holds, *boxes*, to a file of its own. When all of these are on the disk, the first
process writes the checkpoint's file, which names them: until then there is no checkpoint, and a process that is killed
leaves the one before it. The files of parts have names that no other save uses, so that a checkpoint which is written
again under its name is replaced at once. Whole values are in the checkpoint's file, as ever.

Reading needs none of the processes: the boxes are put together, whoever reads, on any number of devices.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import zlib
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.errors import AbortedError, DataLossError, NotFoundError
from tapeflow._src.core.placement.layouts import mesh_of
from tapeflow._src.core.placement.remote import RemoteTensor
from tapeflow._src.core.system.loading import loaded
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.train import tensor_file
from tapeflow._src.train.tensor_file import SUFFIX, Entry, TensorFile

_PARTS = "parts"  # what the checkpoint's file calls its list of them
_BOXES = "boxes"
_TOKEN = "token"


def is_of_several_processes(value: Tensor) -> bool:
    """Whether several processes hold a value, each of them all of it or a part."""
    if type(value) is not RemoteTensor or mesh_of(value._array.device) is None:
        return False
    return not value._buffer.is_fully_addressable


def is_in_parts(value: Tensor) -> bool:
    """Whether no process holds all of a value."""
    return is_of_several_processes(value) and not value._buffer.is_fully_replicated  # type: ignore[attr-defined]


# Writing.


class Together:
    """A save that several processes make at once.

    Args:
      prefix: of the checkpoint.
      in_parts: buffers by name of which this process has a part.

    Attributes:
      writes: whether this process writes the checkpoint's file: the first one, or each one if they have names of their
        own for it.
    """

    def __init__(self, prefix: str, in_parts: Mapping[str, Any]) -> None:
        self._sharding = loaded("tapeflow._src.engines.xla.sharding")
        self._prefix = prefix
        self._in_parts = in_parts
        mine = zlib.crc32(os.path.abspath(prefix).encode())
        token = int.from_bytes(os.urandom(4), "little")
        told = self._sharding.of_all_processes(np.array([[mine, token, len(in_parts)]], np.int64))
        self._token = f"{int(told[0, 1]):08x}"
        self._number, self._count = self._sharding.process(), len(told)
        together = bool((told[:, 0] == mine).all())
        if not together and told[:, 2].any():
            raise ValueError(
                f"tf.train.Checkpoint: the processes save under different names, this one as {prefix}, and there are "
                "variables of which each has a part. Save under one name, in a folder that all of them can reach."
            )
        self.writes = not together or self._number == 0

    def write_parts(self) -> dict[str, str]:
        """Writes what this process has of values that are in parts. Gives the notes for the checkpoint's file."""
        if not self._in_parts:
            return {}
        boxes: dict[str, Any] = {}
        places: dict[str, Any] = {}
        for key, buffer in self._in_parts.items():
            for box in self._sharding.boxes(buffer):
                name = f"{key}#{len(boxes)}"
                boxes[name], places[name] = np.asarray(box.values), [key, list(box.begin)]
        path = self._path(self._number)
        with self._all_or_none("wrote its part", path):
            tensor_file.write(
                path, boxes, {_BOXES: json.dumps(places), _TOKEN: f"{self._token}.{self._number}"}
            )
        told = {
            "token": self._token,
            "files": [os.path.basename(self._path(i)) for i in range(self._count)],
            "tensors": {
                key: [str(buffer.dtype), list(buffer.shape)]
                for key, buffer in self._in_parts.items()
            },
        }
        return {_PARTS: json.dumps(told)}

    def commit(self, write: Any) -> None:
        """Writes the checkpoint's file, when all parts are there, and removes the parts of one that it has replaced."""
        with self._all_or_none("wrote the checkpoint", None):
            if self.writes:
                write()
        if self.writes:
            remove_parts(self._prefix, but=self._token if self._in_parts else None)

    def wait(self) -> None:
        """Waits until all processes have come to this place."""
        self._sharding.of_all_processes(np.zeros((1, 1), np.int64))

    def _path(self, number: int) -> str:
        return f"{self._prefix}.{self._token}.{number}of{self._count}{SUFFIX}"

    @contextlib.contextmanager
    def _all_or_none(self, what: str, path: str | None) -> Any:
        """Within this context a process writes. If one of them fails, all of them do."""
        failure = None
        try:
            yield
        except Exception as error:
            failure = error
        failed = self._sharding.of_all_processes(np.array([[failure is not None]], np.int64))
        if failed.any():
            if path is not None:
                with contextlib.suppress(OSError):
                    os.unlink(path)
            raise failure or AbortedError(
                None,
                None,
                f"tf.train.Checkpoint: {self._prefix} was not saved: process {int(np.argmax(failed))} failed before it "
                f"{what}; see its own error. The checkpoint before it is as it was.",
            )


def remove_parts(prefix: str, but: str | None = None) -> None:
    """Removes the parts of a checkpoint, all but those of one save.

    And those of a save that was interrupted before there was a checkpoint, if its name differs only by a number.
    """
    folder, name = os.path.split(prefix)
    stem = re.sub(r"\d+$", "", name) if "-" in name else name
    pattern = re.compile(rf"({re.escape(stem)}\d*)\.([0-9a-f]{{8}})\.\d+of\d+{re.escape(SUFFIX)}")
    for found in filter(None, map(pattern.fullmatch, os.listdir(folder or "."))):
        owner = os.path.join(folder, found[1])
        unused = found[2] != but if owner == prefix else not os.path.exists(owner + SUFFIX)
        if unused:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, found[0]))


# Reading.


class PartedFile:
    """A checkpoint's file with those of its parts, which reads as if all were in it.

    Args:
      file: the checkpoint's own.
    """

    def __init__(self, file: TensorFile) -> None:
        self.path, self.texts = file.path, file.texts
        self._file = file
        self._boxes: dict[str, list[tuple[TensorFile, str, tuple[int, ...]]]] = {}
        self.entries = dict(file.entries)
        try:
            told = json.loads(file.texts[_PARTS])
            for key, (dtype, shape) in told["tensors"].items():
                self.entries[key] = Entry(as_dtype(dtype), tuple(map(int, shape)), 0, 0, 0)
                self._boxes[key] = []
            names = enumerate(map(str, told["files"]))
            files = [self._part(name, f"{told['token']}.{i}") for i, name in names]
            for part in files:
                for name, (key, begin) in json.loads(part.texts[_BOXES]).items():
                    self._boxes[key].append((part, name, tuple(map(int, begin))))
        except (KeyError, ValueError, TypeError, AttributeError, RecursionError):
            self.refuse("it does not say where the parts of its tensors are")
        for key in self._boxes:
            self._check(key)

    def read(self, name: str) -> np.ndarray:
        """The tensor of a name, put together."""
        if name not in self._boxes:
            return self._file.read(name)
        entry = self.entries[name]
        found = np.empty(entry.shape, entry.dtype.np_dtype)
        for part, inside, begin in self._boxes[name]:
            found[_place(begin, part.entries[inside].shape)] = part.read(inside)
        return found

    def refuse(self, reason: str) -> NoReturn:
        """Says why the checkpoint cannot be used, and what to do."""
        self._file.refuse(reason)

    def refused(self, reason: str) -> DataLossError:
        """What says so."""
        return self._file.refused(reason)

    def _part(self, name: str, token: str) -> TensorFile:
        path = os.path.join(os.path.dirname(self.path), os.path.basename(name))
        try:
            part = tensor_file.opened(path)
        except NotFoundError:
            self.refuse(f"its part {name} is not there")
        if part.texts.get(_TOKEN) != token:
            self.refuse(f"its part {name} is that of another process, or of another checkpoint")
        return part

    def _check(self, key: str) -> None:
        """Whether the boxes of a tensor lie in it, and together have its size. They were written as parts of one."""
        entry = self.entries[key]
        size = 0
        for part, name, begin in self._boxes[key]:
            box = part.entries.get(name)
            if box is None or box.dtype is not entry.dtype or len(box.shape) != len(entry.shape):
                self.refuse(f"a part of the tensor {key!r} does not fit it")
            ends = [b + n for b, n in zip(begin, box.shape, strict=False)]
            if len(begin) != len(box.shape) or any(b < 0 for b in begin):
                self.refuse(f"it does not say where the parts of the tensor {key!r} are")
            if any(end > n for end, n in zip(ends, entry.shape, strict=True)):
                self.refuse(f"a part of the tensor {key!r} lies outside of it")
            size += int(np.prod(box.shape))
        places = {begin for _, _, begin in self._boxes[key]}
        if size != int(np.prod(entry.shape)) or len(places) != len(self._boxes[key]):
            self.refuse(f"parts of the tensor {key!r} are missing")


def _place(begin: tuple[int, ...], shape: tuple[int, ...]) -> tuple[slice, ...]:
    return tuple(slice(b, b + n) for b, n in zip(begin, shape, strict=True))


def opened(path: str) -> TensorFile | PartedFile:
    """A checkpoint's file whose every byte was checked, with those of its parts."""
    file = tensor_file.opened(path)
    return PartedFile(file) if _PARTS in file.texts else file
