"""The formats of checkpoints: tapeflow's own, one safetensors file, and TensorFlow's, an index and data files.

Both are read. Whoever writes one replaces that of the same name in the other format. TensorFlow does not know ours, and
leaves it: so where there are two, the newer one counts.
"""

from __future__ import annotations

import contextlib
import os
from typing import Any

from tapeflow._src.core.errors import DataLossError, NotFoundError, UnimplementedError, shown
from tapeflow._src.core.system.files import newer, translating_os_errors
from tapeflow._src.tensorflow_files import bundle, bundle_writing
from tapeflow._src.tensorflow_files.bundle import Bundle
from tapeflow._src.train import parts
from tapeflow._src.train.parts import PartedFile, remove_parts
from tapeflow._src.train.tensor_file import SUFFIX, TensorFile, verified

SAFETENSORS = "safetensors"
TENSORFLOW = "tensorflow"
SUFFIXES = (SUFFIX, bundle.SUFFIX)

File = TensorFile | PartedFile | Bundle


def checked(where: str, name: Any) -> str:
    """The name of a format, which some options were given."""
    if name not in (SAFETENSORS, TENSORFLOW):
        raise ValueError(
            f"{where}: format must be {SAFETENSORS!r} or {TENSORFLOW!r}, got {shown(name)}"
        )
    return name


def opened(prefix: str) -> File:
    """The file of a checkpoint, every byte of which was checked. NotFoundError if there is none."""
    if newer(prefix + SUFFIX, prefix + bundle.SUFFIX).endswith(bundle.SUFFIX):
        return verified(prefix, Bundle(prefix))
    return parts.opened(prefix + SUFFIX)


def flaw(prefix: str) -> str | None:
    """Why a checkpoint cannot be used, or None if it can."""
    try:
        opened(prefix)
    except (NotFoundError, DataLossError, UnimplementedError) as error:
        return error.message
    return None


def replace_tensorflows(prefix: str) -> None:
    """Removes what has this name in TensorFlow's format, once ours is there: TensorFlow would go on reading it."""
    if bundle.exists(prefix):
        bundle_writing.remove(prefix)


def exists(prefix: str) -> bool:
    """Whether there is a checkpoint of this name, in whatever state."""
    return any(os.path.exists(prefix + suffix) for suffix in SUFFIXES)


def prefixes_in(folder: str) -> list[str]:
    """The checkpoints in a folder, the oldest first."""
    times: dict[str, int] = {}
    for name in os.listdir(folder):
        stem, suffix = os.path.splitext(name)
        if suffix in SUFFIXES:
            with contextlib.suppress(FileNotFoundError):
                time = os.stat(os.path.join(folder, name)).st_mtime_ns
                prefix = os.path.join(folder, stem)
                times[prefix] = max(time, times.get(prefix, 0))
    return sorted(times, key=lambda prefix: times[prefix])


def remove(prefix: str) -> None:
    """Removes a checkpoint."""
    if os.path.exists(prefix + SUFFIX):
        with contextlib.suppress(FileNotFoundError), translating_os_errors(prefix + SUFFIX):
            os.unlink(prefix + SUFFIX)
    remove_parts(prefix)
    if bundle.exists(prefix):
        with translating_os_errors(prefix):
            bundle_writing.remove(prefix)
