"""A file is whole or not there at all, and what goes wrong is told with its path."""

import errno
import os
import pickle
import subprocess
import sys
import time

import pytest

import tapeflow as tf
from tapeflow._src.core.system import files


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    return path


def _write(path, data=b"new"):
    with files.replacing(path) as file:
        file.write(data)


def test_the_old_file_is_there_until_the_new_one_is(old):
    with files.replacing(old) as file:
        file.write(b"new")
        file.flush()
        assert old.read_bytes() == b"old"
    assert old.read_bytes() == b"new"
    assert os.listdir(old.parent) == ["file"]


@pytest.mark.parametrize(
    "kind", [ValueError, KeyboardInterrupt, FileNotFoundError, tf.errors.DataLossError]
)
def test_an_exception_leaves_the_old_file_and_nothing_else(old, kind):
    error = kind(None, None, "no more") if issubclass(kind, tf.errors.OpError) else kind("no more")
    with pytest.raises(kind) as caught, files.replacing(old) as file:
        file.write(b"half")
        raise error
    assert str(caught.value) == str(error) or kind is FileNotFoundError
    assert old.read_bytes() == b"old"
    assert os.listdir(old.parent) == ["file"]


def _failing(number):
    def fail(*args, **kwargs):
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize(
    ("number", "kind", "of_system"),
    [
        (errno.ENOSPC, tf.errors.ResourceExhaustedError, OSError),
        (errno.EDQUOT, tf.errors.ResourceExhaustedError, OSError),
        (errno.EACCES, tf.errors.PermissionDeniedError, PermissionError),
        (errno.EROFS, tf.errors.PermissionDeniedError, OSError),
        (errno.EIO, tf.errors.UnknownError, OSError),
    ],
)
def test_a_full_disk_and_its_like(old, monkeypatch, step, number, kind, of_system):
    monkeypatch.setattr(os, step, _failing(number))
    with pytest.raises(kind) as caught:
        _write(old)
    error = caught.value
    assert isinstance(error, of_system)
    assert (error.errno, error.filename) == (number, str(old))
    assert str(error).startswith(f"{old}; {os.strerror(number)}")
    assert "The file that was there is as it was, and nothing else was left behind" in str(error)
    assert old.read_bytes() == b"old"
    assert os.listdir(old.parent) == ["file"]
    with pytest.raises(kind, match="No file was made, and nothing else"):
        _write(old.parent / "another")


def test_a_disk_that_fills_up_while_a_file_is_written(old):
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, before[1]))
    try:
        with pytest.raises(tf.errors.OutOfRangeError, match=r"file; File too large.*as it was"):
            _write(old, bytes(2**21))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert old.read_bytes() == b"old"
    assert os.listdir(old.parent) == ["file"]


def test_the_error_survives_a_pickle(old):
    error = files.os_error(OSError(errno.ENOSPC, "full"), old, "Nothing was made.")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), again.errno, again.filename) == (str(error), errno.ENOSPC, str(old))


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("", tf.errors.FailedPreconditionError),
        ("x" * 300, tf.errors.InvalidArgumentError),
        ("file/below", tf.errors.FailedPreconditionError),
        ("a\0b", tf.errors.InvalidArgumentError),
    ],
    ids=["folder", "too long", "below a file", "zero"],
)
def test_paths_that_cannot_be(old, path, kind):
    with pytest.raises(kind, match="zero character" if "\0" in path else str(old.parent)):
        _write(os.path.join(old.parent, path))
    assert os.listdir(old.parent) == ["file"]


def test_folders_that_are_missing_are_made_if_they_are_to_be(tmp_path):
    _write(tmp_path / "a" / "b" / "file")
    with pytest.raises(tf.errors.NotFoundError), files.replacing(tmp_path / "c" / "file", False):
        pass
    assert os.listdir(tmp_path) == ["a"]


def test_a_name_that_leaves_no_room_for_another(tmp_path):
    _write(tmp_path / ("ü" * 127))
    assert os.listdir(tmp_path) == ["ü" * 127]


def test_a_link_stays_a_link(old):
    link = old.parent / "link"
    link.symlink_to("file")
    _write(link)
    assert link.is_symlink()
    assert old.read_bytes() == b"new"


@pytest.mark.skipif(
    not os.path.exists("/dev/null"), reason="there is no device that takes everything"
)
def test_a_device_is_written_to_as_it_is(tmp_path):
    link = tmp_path / "link"
    link.symlink_to("/dev/null")
    _write(link)
    assert not os.path.isfile("/dev/null")
    assert os.listdir(tmp_path) == ["link"]


@pytest.mark.skipif(os.name == "nt", reason="permissions are of another kind on Windows")
def test_permissions_stay(old):
    old.chmod(0o640)
    _write(old)
    assert old.stat().st_mode & 0o777 == 0o640


# Leftovers.


def _left(folder, host=files._HOST, process=2**22 + 5, age=0.0, suffix=""):
    path = folder / f"file.{host}.{process}.0.tapeflow.tmp{suffix}"
    path.write_bytes(b"half")
    os.utime(path, (time.time() - age, time.time() - age))
    return path


def test_what_the_dead_have_left_is_removed(tmp_path):
    left = [_left(tmp_path), _left(tmp_path, suffix=".weights.h5"), _left(tmp_path, suffix=".h5")]
    left += [_left(tmp_path, process=os.getpid())]  # of an earlier process of the same number
    left += [_left(tmp_path, host="elsewhere", age=2 * files._LONG_FORGOTTEN)]
    files.remove_leftovers(str(tmp_path / "file"))
    assert [path.name for path in left if path.exists()] == []


def test_what_somebody_may_still_write_to_is_not(tmp_path):
    kept = [
        _left(tmp_path, process=os.getppid()),
        _left(tmp_path, host="elsewhere", age=60.0),
        tmp_path / "file.notes.tmp",
        tmp_path / "file.1.2.tmp",
    ]
    for path in kept[2:]:
        path.write_bytes(b"mine")
        os.utime(path, (0, 0))
    with files.replacing(tmp_path / "file") as file:
        file.write(b"new")
        files.remove_leftovers(str(tmp_path / "file"))
        assert [path.name for path in kept if not path.exists()] == []
    assert (tmp_path / "file").read_bytes() == b"new"


@pytest.mark.skipif(files.fcntl is None, reason="files are not locked like that on Windows")
def test_a_writer_that_takes_very_long_is_left_alone(tmp_path):
    """Its file is old, and another machine's as far as names tell, but it is held."""
    code = (
        "import sys, tapeflow as tf\n"
        "from tapeflow._src.core.system import files\n"
        "files._HOST = 'elsewhere'\n"
        f"with files.replacing({str(tmp_path / 'file')!r}) as file:\n"
        "    print(file.name, flush=True)\n"
        "    sys.stdin.readline()\n"
        "    file.write(b'new')"
    )
    writer = subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1, text=True)
    path = writer.stdout.readline().strip()
    os.utime(path, (0, 0))
    files.remove_leftovers(str(tmp_path / "file"))
    assert os.path.exists(path)
    writer.communicate("go on\n", timeout=60)
    assert (tmp_path / "file").read_bytes() == b"new"
    os.rename(tmp_path / "file", path)  # as if it had been killed
    os.utime(path, (0, 0))
    files.remove_leftovers(str(tmp_path / "file"))
    assert os.listdir(tmp_path) == []


def test_a_folder_is_tidied_when_a_process_first_writes_there(tmp_path):
    left = _left(tmp_path)
    _write(tmp_path / "something else")
    assert not left.exists()
