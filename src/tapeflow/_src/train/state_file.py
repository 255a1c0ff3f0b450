"""The file `checkpoint` in a folder, which says which checkpoint is the newest."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tapeflow._src.core.errors import DataLossError
from tapeflow._src.core.export import export
from tapeflow._src.core.log import get_logger
from tapeflow._src.core.system.files import checked_path, remove_leftovers, replacing
from tapeflow._src.train.formats import exists, flaw, prefixes_in


@dataclass
class CheckpointState:
    """Which checkpoints a folder has: the newest one, and all that are kept."""

    model_checkpoint_path: str
    all_model_checkpoint_paths: list[str] = field(default_factory=list)
    all_model_checkpoint_timestamps: list[float] = field(default_factory=list)
    last_preserved_timestamp: float = 0.0

    def __str__(self) -> str:
        lines = [f"model_checkpoint_path: {json.dumps(self.model_checkpoint_path)}"]
        lines += [
            f"all_model_checkpoint_paths: {json.dumps(p)}" for p in self.all_model_checkpoint_paths
        ]
        lines += [
            f"all_model_checkpoint_timestamps: {t!r}" for t in self.all_model_checkpoint_timestamps
        ]
        if self.last_preserved_timestamp:
            lines.append(f"last_preserved_timestamp: {self.last_preserved_timestamp!r}")
        return "\n".join([*lines, ""])

    __repr__ = __str__

    def mapped(self, change: Any) -> CheckpointState:
        """The same with other paths."""
        return CheckpointState(
            change(self.model_checkpoint_path),
            [change(path) for path in self.all_model_checkpoint_paths],
            self.all_model_checkpoint_timestamps,
            self.last_preserved_timestamp,
        )


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value or "\0" in value:
        raise ValueError
    return value


def _number(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError
    return number


_FIELDS: dict[str, Callable[[Any], Any]] = {
    "model_checkpoint_path": _text,
    "all_model_checkpoint_paths": _text,
    "all_model_checkpoint_timestamps": _number,
    "last_preserved_timestamp": _number,
}


def write_state(folder: str, state: CheckpointState) -> None:
    """Notes which checkpoint is the newest. Paths in the folder are noted without it, so that it can be moved."""

    def short(path: str) -> str:
        return os.path.basename(path) if os.path.dirname(path) == folder else os.path.abspath(path)

    path = os.path.join(folder, "checkpoint")
    remove_leftovers(path)
    with replacing(path) as file:
        file.write(str(state.mapped(short)).encode())


@export("train.get_checkpoint_state")
def get_checkpoint_state(
    checkpoint_dir: Any, latest_filename: str | None = None
) -> CheckpointState | None:
    """What the file `checkpoint` in a folder says, or None if there is none.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).save(f"{folder}/ckpt")
    >>> tf.train.get_checkpoint_state(folder).model_checkpoint_path == path
    True

    Args:
      checkpoint_dir: the folder.
      latest_filename: the name of the file, if it is another one.
    """
    folder = os.fspath(checkpoint_dir)
    path = checked_path(os.path.join(folder, latest_filename or "checkpoint"))
    try:
        with open(path, encoding="utf-8") as file:
            said = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        get_logger().warning("%s cannot be read (%s).", path, error)
        return None
    values: dict[str, list[Any]] = {}
    for name, value in re.findall(r"^(\w+): (.+)$", said, re.MULTILINE):
        try:
            found = _FIELDS[name](json.loads(value)) if name in _FIELDS else None
        except (ValueError, TypeError, RecursionError):
            get_logger().warning("%s: the line of %s cannot be read, and is left out.", path, name)
        else:
            values.setdefault(name, []).append(found)
    if not values.get("model_checkpoint_path"):
        get_logger().warning("%s does not say which checkpoint is the newest.", path)
        return None
    state = CheckpointState(
        values["model_checkpoint_path"][0],
        values.get("all_model_checkpoint_paths", []),
        values.get("all_model_checkpoint_timestamps", []),
        values.get("last_preserved_timestamp", [0.0])[0],
    )
    return state.mapped(lambda p: p if os.path.isabs(p) else os.path.join(folder, p))


def state_or_files(
    checkpoint_dir: Any, latest_filename: str | None = None
) -> CheckpointState | None:
    """The same, or if the file is damaged, what the folder itself tells: a training is not begun anew for that."""
    folder = os.fspath(checkpoint_dir)
    state = get_checkpoint_state(folder, latest_filename)
    path = os.path.join(folder, latest_filename or "checkpoint")
    if state is not None or not os.path.isfile(path):
        return state
    paths = [prefix for prefix in prefixes_in(folder) if re.search(r"-\d+$", prefix)]
    if paths:
        get_logger().warning(
            "The newest of the %d checkpoints beside it is looked for.", len(paths)
        )
    return CheckpointState(paths[-1], paths) if paths else None


@export("train.latest_checkpoint")
def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """The newest checkpoint in a folder that is whole, or None if there is none.

    A file that was truncated or altered is passed over with a warning, and the one before it is taken.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.train.latest_checkpoint(folder)
    >>> tf.train.Checkpoint(v=tf.Variable(1.0)).save(f"{folder}/ckpt") == tf.train.latest_checkpoint(folder)
    True

    Args:
      checkpoint_dir: the folder.
      latest_filename: the name of the file that says which one is the newest, if it is not `checkpoint`.

    Raises:
      DataLossError: if there are checkpoints, and all of them are damaged.
    """
    state = state_or_files(checkpoint_dir, latest_filename)
    if state is None:
        return None
    return newest_whole([*state.all_model_checkpoint_paths, state.model_checkpoint_path])


def newest_whole(paths: list[str]) -> str | None:
    """The last of these checkpoints that is whole, or else an older one that is beside it."""
    newest = paths[-1]
    reason = flaw(newest)
    if reason is None:
        return newest
    for path in dict.fromkeys([*reversed(paths[:-1]), *_older(newest)]):
        if path != newest and flaw(path) is None:
            get_logger().warning(
                "The newest checkpoint is passed over. %s Taken instead: %s", reason, path
            )
            return path
    if any(map(exists, paths)):
        raise DataLossError(
            None,
            None,
            f"None of the checkpoints in {os.path.dirname(newest) or '.'} is whole. {reason} To begin from scratch, "
            "remove the folder or use another one.",
        )
    get_logger().warning(
        "The newest checkpoint is not there any more, and neither is an older one. %s", reason
    )
    return None


def _older(prefix: str) -> list[str]:
    """Checkpoints of the same name with smaller numbers, the largest first."""
    stem, _, number = os.path.basename(prefix).rpartition("-")
    folder = os.path.dirname(prefix)
    if not number.isdigit() or not os.path.isdir(folder or "."):
        return []
    pattern = re.compile(rf"{re.escape(stem)}-(\d+)")
    there = [os.path.basename(prefix) for prefix in prefixes_in(folder or ".")]
    found = filter(None, map(pattern.fullmatch, there))
    numbers = sorted((int(m[1]) for m in found if int(m[1]) < int(number)), reverse=True)
    return [os.path.join(folder, f"{stem}-{n}") for n in numbers]
