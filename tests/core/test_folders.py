"""A folder that is replaced is the old one or the new one, and what does not belong to it stays."""

from __future__ import annotations

import os

import pytest

from tapeflow._src.core.system import folders
from tapeflow._src.core.system.folders import replacing_folder

PARTS = ("model", "values", "old_part")


def write(path, text: str) -> None:
    with replacing_folder(path, PARTS, "model") as new:
        os.makedirs(os.path.join(new, "values"))
        for name in ("model", os.path.join("values", "data")):
            with open(os.path.join(new, name), "w") as file:
                file.write(text)


def contents(path) -> dict[str, str]:
    return {str(p.relative_to(path)): p.read_text() for p in path.rglob("*") if p.is_file()}


@pytest.mark.parametrize("exchanges", [True, False])
def test_a_folder_is_replaced(tmp_path, monkeypatch, exchanges):
    if not exchanges:
        monkeypatch.setattr(folders, "can_exchange", lambda: None)
    elif folders.can_exchange() is None:
        pytest.skip("this system has no exchange of names")
    path = tmp_path / "here" / "folder"
    for text in ("one", "two", "three"):
        write(path, text)
        assert contents(path) == {"model": text, "values/data": text}
    assert os.listdir(tmp_path / "here") == ["folder"]


@pytest.mark.parametrize("exchanges", [True, False])
def test_what_is_not_part_of_it_stays(tmp_path, monkeypatch, exchanges):
    if not exchanges:
        monkeypatch.setattr(folders, "can_exchange", lambda: None)
    path = tmp_path / "folder"
    write(path, "one")
    (path / "notes").mkdir()
    (path / "notes" / "of_mine").write_text("kept")
    (path / "readme").write_text("kept")
    write(path, "two")
    mine = {"notes/of_mine": "kept", "readme": "kept"}
    assert contents(path) == {"model": "two", "values/data": "two", **mine}
    assert os.listdir(tmp_path) == ["folder"]


def test_a_failure_leaves_the_old_folder(tmp_path):
    path = tmp_path / "folder"
    write(path, "one")
    with pytest.raises(ZeroDivisionError), replacing_folder(path, PARTS, "model") as new:
        with open(os.path.join(new, "model"), "w") as file:
            file.write("half")
        _ = 1 / 0
    assert contents(path) == {"model": "one", "values/data": "one"}
    assert os.listdir(tmp_path) == ["folder"]


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(NotADirectoryError):
        write(tmp_path / "file", "one")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_link_is_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    write(tmp_path / "link", "one")
    write(tmp_path / "link", "two")
    assert contents(tmp_path / "real") == {"model": "two", "values/data": "two"}
    assert (tmp_path / "link").is_symlink()
