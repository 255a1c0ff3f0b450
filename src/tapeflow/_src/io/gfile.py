"""`tf.io.gfile`: files and folders of this machine, under TensorFlow's names.

Paths are texts, bytes or `pathlib` paths. Addresses such as `gs://` are not understood.
"""

from __future__ import annotations

import os as _os
import stat as _stat
from collections.abc import Callable, Iterator
from typing import IO, Any, NamedTuple

from tapeflow._src.core import errors as _errors
from tapeflow._src.core.export import export
from tapeflow._src.core.system import files as _files


def _path(path: Any) -> str:
    value = path.numpy() if hasattr(path, "numpy") else path
    text = _files.checked_path(value)
    if "://" in text:
        raise _errors.UnimplementedError(
            None, None, f"tf.io.gfile reads and writes local files, and {text!r} is an address"
        )
    return text


@export("io.gfile.GFile")
class GFile:
    r"""A file, read and written as in Python's `open`.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/notes.txt"
    >>> with tf.io.gfile.GFile(path, "w") as file:
    ...     file.write("one\ntwo\n")
    >>> with tf.io.gfile.GFile(path) as file:
    ...     file.readlines()
    ['one\n', 'two\n']

    Args:
      name: the path. The file is opened when it is first used.
      mode: `"r"`, `"w"`, `"a"`, `"r+"`, `"w+"` or `"a+"`, with `"b"` for bytes.
    """

    def __init__(self, name: Any, mode: str = "r") -> None:
        if not isinstance(mode, str) or mode.replace("b", "", 1) not in (
            "r",
            "w",
            "a",
            "r+",
            "w+",
            "a+",
        ):
            raise _errors.invalid(
                f"GFile: mode must be r, w, a, r+, w+ or a+, with b for bytes, got {mode!r}"
            )
        self._name = _path(name)
        self._mode = mode
        self._file: IO[Any] | None = None

    @property
    def name(self) -> str:
        """The path."""
        return self._name

    @property
    def mode(self) -> str:
        """How it is opened."""
        return self._mode

    def _opened(self) -> IO[Any]:
        if self._file is None:
            encoding = None if "b" in self._mode else "utf-8"
            newline = None if "b" in self._mode else ""
            with _files.translating_os_errors(self._name):
                self._file = open(self._name, self._mode, encoding=encoding, newline=newline)  # noqa: SIM115
        return self._file

    def _allowed(self, letter: str, doing: str) -> IO[Any]:
        if letter not in self._mode and "+" not in self._mode:
            raise _errors.PermissionDeniedError(
                None, None, f"{self._name}: a file of mode {self._mode!r} is not open for {doing}"
            )
        return self._opened()

    def _readable(self) -> IO[Any]:
        return self._allowed("r", "reading")

    def read(self, n: int = -1) -> Any:
        """As many characters, or bytes; by default all that are left."""
        if isinstance(n, int) and n >= 2**31 and n >= self.size():
            n = -1  # memory is taken for as many as are asked for
        with _files.translating_os_errors(self._name):
            return self._readable().read(n)

    def readline(self) -> Any:
        """The next line, empty at the end."""
        with _files.translating_os_errors(self._name):
            return self._readable().readline()

    def readlines(self) -> list[Any]:
        """The lines that are left."""
        with _files.translating_os_errors(self._name):
            return self._readable().readlines()

    def write(self, file_content: Any) -> None:
        """Adds a text, or bytes."""
        file = self._opened() if "a" in self._mode else self._allowed("w", "writing")
        if "b" in self._mode and isinstance(file_content, str):
            file_content = file_content.encode()
        with _files.translating_os_errors(self._name):
            file.write(file_content)

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Goes to a place in the file."""
        for each in (offset, position):
            if isinstance(each, (int, float)) and not -(2**63) <= each < 2**63:
                raise _errors.invalid(f"GFile.seek: no file has a place {each}")
        offset = position if offset is None else offset
        if offset is None:
            raise TypeError("GFile.seek: the offset is missing")
        with _files.translating_os_errors(self._name):
            self._opened().seek(offset, whence)

    def tell(self) -> int:
        """The place in the file."""
        return self._opened().tell()

    def seekable(self) -> bool:
        """Whether `seek` works: always."""
        return True

    def size(self) -> int:
        """How many bytes the file has."""
        with _files.translating_os_errors(self._name):
            if self._file is not None and self._mode[0] != "r":
                self._file.flush()
            return _os.path.getsize(self._name)

    def flush(self) -> None:
        """Hands what was written to the operating system."""
        if self._file is not None:
            with _files.translating_os_errors(self._name):
                self._file.flush()

    def close(self) -> None:
        """Ends the use of the file."""
        file, self._file = self._file, None
        if file is not None:
            with _files.translating_os_errors(self._name):
                file.close()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._readable())

    def __next__(self) -> Any:
        with _files.translating_os_errors(self._name):
            return next(self._readable())

    def next(self) -> Any:
        """The next line."""
        return self.__next__()

    def __enter__(self) -> GFile:
        if "r" not in self._mode:
            self._opened()  # a file that nothing is written to is there, too
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


@export("io.gfile.exists")
def exists(path: Any) -> bool:
    """Whether there is a file or folder.

    >>> tf.io.gfile.exists("no/such/file")
    False
    """
    return _os.path.exists(_path(path))


@export("io.gfile.isdir")
def isdir(path: Any) -> bool:
    """Whether there is a folder.

    >>> tf.io.gfile.isdir(".")
    True
    """
    return _os.path.isdir(_path(path))


@export("io.gfile.join")
def join(path: Any, *paths: Any) -> Any:
    """Parts of a path, joined.

    >>> tf.io.gfile.join("logs", "train")
    'logs/train'
    """
    return _os.path.join(path, *paths)


@export("io.gfile.glob")
def glob(pattern: Any) -> list[str]:
    """The paths that match a pattern, or one of a list of them, sorted.

    >>> tf.io.gfile.glob("no/such/*.file")
    []
    """
    patterns = pattern if isinstance(pattern, (list, tuple)) else [pattern]
    return [p for one in patterns for p in _matching(_path(one))]


def _matching(pattern: str) -> list[str]:
    import glob as paths

    found = sorted(paths.glob(pattern, include_hidden=True))
    if paths.escape(first := pattern.split(_os.sep, 1)[0]) == first:
        return found
    return [_os.path.join(".", p) for p in found]  # as TensorFlow begins what no folder begins


@export("io.gfile.listdir")
def listdir(path: Any) -> list[str]:
    """The names of what is in a folder.

    >>> import tempfile
    >>> tf.io.gfile.listdir(tempfile.mkdtemp())
    []
    """
    with _files.translating_os_errors(path):
        return _os.listdir(_path(path))


@export("io.gfile.mkdir")
def mkdir(path: Any) -> None:
    """Makes a folder, whose parent must be there.

    >>> import tempfile
    >>> tf.io.gfile.mkdir(tempfile.mkdtemp() + "/a")
    """
    if not isdir(path):
        with _files.translating_os_errors(path):
            _os.mkdir(_path(path))


@export("io.gfile.makedirs")
def makedirs(path: Any) -> None:
    """Makes a folder and those around it that are missing.

    >>> import tempfile
    >>> tf.io.gfile.makedirs(tempfile.mkdtemp() + "/a/b")
    """
    with _files.translating_os_errors(path):
        _os.makedirs(_path(path), exist_ok=True)


@export("io.gfile.copy")
def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copies a file.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.io.write_file(folder + "/a", "text")
    >>> tf.io.gfile.copy(folder + "/a", folder + "/b")
    >>> tf.io.read_file(folder + "/b").numpy()
    b'text'

    Args:
      src: the file.
      dst: where the copy goes.
      overwrite: whether it may take the place of another file.
    """
    import shutil

    _refuse_existing(dst, overwrite)
    with _files.translating_os_errors(dst):
        _os.stat(_os.path.dirname(_path(dst)) or ".")
    with (
        _files.translating_os_errors(src),
        open(_path(src), "rb") as file,
        _files.replacing(_path(dst)) as new,
    ):
        shutil.copyfileobj(file, new)


@export("io.gfile.rename")
def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Gives a file or folder another name, or place.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.io.write_file(folder + "/a", "text")
    >>> tf.io.gfile.rename(folder + "/a", folder + "/b")
    >>> tf.io.gfile.listdir(folder)
    ['b']

    Args:
      src: what to rename.
      dst: its new path.
      overwrite: whether it may take the place of another file.
    """
    _refuse_existing(dst, overwrite)
    with _files.translating_os_errors(src):
        _os.replace(_path(src), _path(dst))


def _refuse_existing(dst: Any, overwrite: bool) -> None:
    if not overwrite and _os.path.exists(_path(dst)):
        raise _errors.AlreadyExistsError(
            None, None, f"file already exists: {_path(dst)}. Pass overwrite=True to replace it."
        )


@export("io.gfile.remove")
def remove(path: Any) -> None:
    """Deletes a file.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.io.write_file(folder + "/a", "text")
    >>> tf.io.gfile.remove(folder + "/a")
    """
    with _files.translating_os_errors(path):
        _os.remove(_path(path))


@export("io.gfile.rmtree")
def rmtree(path: Any) -> None:
    """Deletes a folder and all that is in it.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.io.gfile.rmtree(folder)
    >>> tf.io.gfile.exists(folder)
    False
    """
    import shutil

    with _files.translating_os_errors(path):
        shutil.rmtree(_path(path))


class _Statistics(NamedTuple):
    """What is known of a file."""

    length: int
    mtime_nsec: int
    is_directory: bool


@export("io.gfile.stat")
def stat(path: Any) -> _Statistics:
    """What is known of a file: `length`, `mtime_nsec` (when it was changed), `is_directory`.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.io.write_file(folder + "/a", "text")
    >>> tf.io.gfile.stat(folder + "/a").length
    4
    """
    with _files.translating_os_errors(path):
        found = _os.stat(_path(path))
    return _Statistics(found.st_size, found.st_mtime_ns, _stat.S_ISDIR(found.st_mode))


@export("io.gfile.walk")
def walk(
    top: Any, topdown: bool = True, onerror: Callable[[OSError], None] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """The folders from `top` on, each with the names of the folders and files in it.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.io.write_file(folder + "/a/b", "text")
    >>> [(len(folders), files) for _, folders, files in tf.io.gfile.walk(folder)]
    [(1, []), (0, ['b'])]

    Args:
      top: a folder.
      topdown: whether a folder comes before those inside of it.
      onerror: called with the error for a folder that cannot be read. By default it is left out.
    """
    return _os.walk(_path(top), topdown, onerror)


@export("io.gfile.get_registered_schemes")
def get_registered_schemes() -> list[str]:
    """What addresses may begin with: local paths are all there is.

    >>> tf.io.gfile.get_registered_schemes()
    ['']
    """
    return [""]
