"""Files: what the operating system says about them in TensorFlow's words, and files that are whole or not there at all.

A file is written under another name in the same folder, brought to the disk, and only then renamed, which the
operating system does in one step. Whatever happens to the process that writes, there is the old file or the new one. A
process that is killed before the renaming leaves a file with the other name behind, which the next one that writes
there removes.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import itertools
import os
import re
import shutil
import stat
import time
from collections.abc import Iterator
from typing import Any, BinaryIO, NoReturn

from tapeflow._src.core import errors
from tapeflow._src.core.log import get_logger

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None

# Errors.

_KINDS: dict[int, type[errors._CodedError]] = {
    **dict.fromkeys((errno.ENOENT, errno.ENXIO, errno.ENODEV), errors.NotFoundError),
    errno.EEXIST: errors.AlreadyExistsError,
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), errors.PermissionDeniedError),
    **dict.fromkeys(
        (errno.EISDIR, errno.ENOTDIR, errno.ENOTEMPTY, errno.EBUSY, errno.EBADF),
        errors.FailedPreconditionError,
    ),
    **dict.fromkeys(
        (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.EMLINK, errno.ENOMEM),
        errors.ResourceExhaustedError,
    ),
    **dict.fromkeys((errno.ENAMETOOLONG, errno.EINVAL, errno.ELOOP), errors.InvalidArgumentError),
    **dict.fromkeys((errno.EFBIG, errno.EOVERFLOW), errors.OutOfRangeError),
    **dict.fromkeys((errno.ENOSYS, errno.EOPNOTSUPP, errno.EXDEV), errors.UnimplementedError),
    **dict.fromkeys((errno.EAGAIN, errno.EINTR), errors.UnavailableError),
    errno.ESTALE: errors.AbortedError,
}


@functools.cache
def _both(kind: type[errors._CodedError], of_system: type[OSError]) -> type[Any]:
    """A class for those who catch TensorFlow's errors and for those who catch Python's."""

    def text(self: Any) -> str:
        return self.message

    def reduced(self: Any) -> Any:
        return _restored, (kind, of_system, self.message, self.errno, self.strerror, self.filename)

    own = {"__module__": kind.__module__, "__doc__": kind.__doc__, "__str__": text}
    return type(kind.__name__, (kind, of_system), {**own, "__reduce__": reduced})


def _restored(
    kind: type[errors._CodedError], of_system: type[OSError], message: str, *about: Any
) -> Exception:
    new = _both(kind, of_system)(None, None, message)
    new.errno, new.strerror, new.filename = about
    return new


def os_error(error: OSError, path: Any, note: str = "") -> Exception:
    """An error of the operating system as one of `tf.errors`, which names the path. It is an `OSError`, too."""
    number = error.errno or 0
    kind = _KINDS.get(number, errors.UnknownError)
    reason = error.strerror or str(error)
    message = f"{_text(path)}; {reason}{'. ' if note else ''}{note}"
    return _restored(kind, type(error), message, number, reason, _text(path))


def _text(path: Any) -> str:
    return os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else str(path)


class translating_os_errors:
    """A block in which errors of the operating system become those of `tf.errors`, with the path they are about."""

    def __init__(self, path: Any) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, OSError) and not isinstance(error, errors.OpError):
            raise os_error(error, self._path) from error


def checked_path(path: Any) -> str:
    """A path as a text that the operating system can be given."""
    text = os.fsdecode(path)
    if "\0" in text:
        raise errors.InvalidArgumentError(
            None, None, f"a path cannot contain a zero character, got {text!r}"
        )
    return text


# Files that are damaged.


class Refusable:
    """A file that is open for reading, and says why it cannot be used.

    Attributes:
      path: of the file.
      instead: what can be used in its place.
      copied: what helps if copying has damaged it.
    """

    path: str
    instead: str
    copied = "Copy the file again if it was copied"

    def refuse(self, reason: str) -> NoReturn:
        """Says why the file cannot be used, and what to do."""
        raise self.refused(reason)

    def refused(self, reason: str) -> errors.DataLossError:
        """What says so."""
        text = f"{self.path} cannot be used: {reason}. {self.copied}, or use {self.instead}."
        return errors.DataLossError(None, None, text)


# Files that are whole or not there at all.

_numbers = itertools.count()
_ours: set[str] = set()  # what this process is writing now
_HOST = re.sub(r"[^\w-]", "_", os.uname().nodename if hasattr(os, "uname") else "host")[:40]
_NAME = re.compile(r"\.([\w-]+)\.(\d+)\.(\d+)\.tapeflow\.tmp(\.weights)?(\.h5)?$")
_LONGEST = 255  # bytes in a name, on nearly every file system
_FORGOTTEN = 3600.0  # after as many seconds a file that nobody holds is written to by nobody
_LONG_FORGOTTEN = 24 * 3600.0  # the same where nobody can tell whether somebody holds it
_tidied: set[str] = set()


class Replacement:
    """A file that is being written, and takes the place of another in the end.

    Args:
      path: what it will be called. A link is followed; a device or a pipe is written to as it is.
      folders: whether folders that are missing are made.
      suffix: for who writes by the name and not to `file`: what that has to end with.

    Attributes:
      file: what to write to.
      temporary: its name for the time being, None if the file is written to as it is.
    """

    def __init__(self, path: Any, folders: bool = True, suffix: str = "") -> None:
        self.path = checked_path(path)
        with translating_os_errors(self.path):
            self._goal = os.path.realpath(self.path) if os.path.islink(self.path) else self.path
            folder, name = os.path.split(self._goal)
            self._folder = folder or "."
            if folders:
                make_folder(self._folder)
            mode = self._mode_of_old()
            self.temporary: str | None = None
            if mode is not None and not stat.S_ISREG(mode):
                self.file: BinaryIO = open(self._goal, "wb")  # noqa: SIM115
                return
            _tidy(self._folder)
            if suffix:  # who looks for files that end so must not find it
                name = f".{name}"
            self.temporary = for_the_time_being(folder, name, suffix)
            try:
                self.file = open(self.temporary, "xb")  # noqa: SIM115
                if not suffix:  # HDF5 holds its files itself
                    _hold(self.file)
                if mode is not None:
                    os.chmod(self.temporary, stat.S_IMODE(mode))
            except BaseException:
                self.discard()
                raise

    def _mode_of_old(self) -> int | None:
        try:
            mode = os.stat(self._goal).st_mode
        except FileNotFoundError:
            return None
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), self.path)
        return mode

    def commit(self) -> None:
        """Brings it to the disk and gives it its name. If that fails, the old file stays, and nothing else."""
        try:
            self.file.flush()
            if self.temporary is not None:
                os.fsync(self.file.fileno())
            self.file.close()
            if self.temporary is not None:
                os.replace(self.temporary, self._goal)
                _ours.discard(self.temporary)
                bring_to_disk(self._folder)
        except BaseException as error:
            self.discard()
            if isinstance(error, OSError):
                raise self.explained(error) from error
            raise

    def discard(self) -> None:
        """Removes what was written."""
        file = getattr(self, "file", None)
        if file is not None:
            with contextlib.suppress(OSError):  # what is still in its buffer is not wanted
                file.close()
        if self.temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(self.temporary)
            _ours.discard(self.temporary)

    def explained(self, error: OSError) -> Exception:
        """What went wrong, with what is there now."""
        if isinstance(error, errors.OpError) or error.filename not in (None, self.temporary):
            return error  # about another file
        note = ""
        if self.temporary is not None:
            there = os.path.lexists(self.path)
            note = "The file that was there is as it was" if there else "No file was made"
            note += ", and nothing else was left behind."
        return os_error(error, self.path, note)


def for_the_time_being(folder: str, name: str, suffix: str = "") -> str:
    """The path under which something is written that will have another name. `forget` it then."""
    ending = f".{_HOST}.{os.getpid()}.{next(_numbers)}.tapeflow.tmp{suffix}"
    begin = os.fsencode(name)[: _LONGEST - len(ending)].decode(errors="ignore")
    path = os.path.join(folder, begin + ending)
    _ours.add(path)
    return path


def forget(path: str) -> None:
    """Says that nothing is written under such a path any more."""
    _ours.discard(path)


@contextlib.contextmanager
def replacing(path: Any, folders: bool = True) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of `path` when the block ends without an exception."""
    new = Replacement(path, folders)
    try:
        yield new.file
    except BaseException as error:
        new.discard()
        if isinstance(error, OSError):
            raise new.explained(error) from error
        raise
    new.commit()


def make_folder(folder: str) -> None:
    """Makes a folder, if it is not there."""
    try:
        os.makedirs(folder, exist_ok=True)
    except FileExistsError:  # a file has this name
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder) from None


def bring_to_disk(folder: str) -> None:
    """Makes the new name last, too, where the system lets a folder be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# What killed processes leave behind.


def removed(path: str) -> None:
    """Removes a file, or a folder with what is in it."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def newer(path: str, other: str) -> str:
    """Which of two files was written last: the first one, if there is no other. It is said if there are both."""
    try:
        found, others = os.stat(path).st_mtime_ns, os.stat(other).st_mtime_ns
    except OSError:
        return path if os.path.exists(path) or not os.path.exists(other) else other
    newest, older = (path, other) if found >= others else (other, path)
    get_logger().warning("%s is read, and not %s, which is older", newest, older)
    return newest


def remove_leftovers(prefix: str) -> None:
    """Removes what killed processes have left of files whose names begin with `prefix`."""
    folder, begin = os.path.split(prefix)
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return
    for name in names:
        if name.startswith((begin, f".{begin}")) and _NAME.search(name):
            path = os.path.join(folder, name)
            if path not in _ours and _is_forgotten(path):
                with contextlib.suppress(OSError):
                    removed(path)


def _tidy(folder: str) -> None:
    """Removes leftovers from a folder, the first time that this process writes there."""
    if folder not in _tidied:
        if len(_tidied) >= 10_000:
            _tidied.clear()
        _tidied.add(folder)
        remove_leftovers(os.path.join(folder, ""))


def _is_forgotten(path: str) -> bool:
    """Whether whoever wrote to a file is gone."""
    found = _NAME.search(path)
    if found is None:
        return False  # not one of ours
    host, process = found[1], int(found[2])
    held = _is_held(path)
    if held:
        return False
    if host == _HOST and not _lives(process):
        return True
    # Another machine's process, or one that has got the number of a dead one.
    try:
        age = time.time() - os.path.getmtime(path)
    except OSError:
        return False
    return age > (_LONG_FORGOTTEN if held is None else _FORGOTTEN)


def _lives(process: int) -> bool:
    if process == os.getpid():
        return False  # what it writes now is in `_ours`: this is from an earlier process of that number
    if os.name == "nt":  # where a signal cannot be used to ask
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it belongs to somebody else
        return True
    return True


def _hold(file: BinaryIO) -> None:
    """Shows other processes that somebody is writing. The system forgets it with the process."""
    if fcntl is not None:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_held(path: str) -> bool | None:
    """Whether a process is writing to a file. None if that cannot be known."""
    if fcntl is None:
        return None
    try:
        with open(path, "rb") as file:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    return False
