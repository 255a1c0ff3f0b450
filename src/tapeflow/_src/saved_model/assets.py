"""`tf.saved_model.Asset`: files that go along with a saved model."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow._src.core.context import context
from tapeflow._src.core.convert import constant
from tapeflow._src.core.dtypes import string
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.system.files import replacing, translating_os_errors
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.tracked import Tracked
from tapeflow._src.saved_model.options import ASSETS_DIRECTORY


@export("saved_model.Asset")
class Asset(Tracked):
    """A file that is copied along with a saved model; loaded, it is the path of the copy.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "words.txt").write_text("one two")
    >>> model = tf.Module()
    >>> model.words = tf.saved_model.Asset(folder / "words.txt")
    >>> tf.saved_model.save(model, folder / "model")
    >>> (folder / "words.txt").unlink()
    >>> loaded = tf.saved_model.load(folder / "model")
    >>> tf.io.read_file(loaded.words).numpy()
    b'one two'

    An asset stands for its path wherever a tensor does, also inside of a `tf.function`.

    Args:
      path: of the file, as a text, a path, or a scalar tensor of strings.
    """

    def __init__(self, path: Any) -> None:
        if isinstance(path, os.PathLike):
            path = os.fspath(path)
        found = constant(path, string)
        if found.shape.rank != 0:
            raise ValueError(f"tf.saved_model.Asset: path must be one path, got {shown(path)}")
        self._path = found

    @property
    def asset_path(self) -> Tensor:
        """The path, as a scalar tensor of strings."""
        # Inside of a function it is a symbol, so that what is computed of it follows the file to its new place.
        return self._path if context.tracer is None else context.tracer.capture(self._path)

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Tensor:
        return self.asset_path


def named(assets: Sequence[Asset]) -> dict[str, str]:
    """Names for the files of assets, each with the path of a file. Files of the same name get numbers."""
    found: dict[str, str] = {}
    for asset in assets:
        path = source(asset)
        stem, ending = os.path.splitext(os.path.basename(path))
        name, number = stem + ending, 0
        while found.get(name, path) != path:
            number += 1
            name = f"{stem}_{number}{ending}"
        found[name] = path
    return found


def source(asset: Asset) -> str:
    """The path of an asset's file."""
    return os.fsdecode(asset._path._array[()])


def copy(files: Mapping[str, str], folder: str) -> None:
    """Copies files to the assets of a model, each beside the one of its name, whose place it then takes."""
    for name, path in files.items():
        there = os.path.join(folder, ASSETS_DIRECTORY, name)
        if os.path.realpath(path) == os.path.realpath(there):  # saved where it was loaded from
            continue
        with translating_os_errors(path), open(path, "rb") as file, replacing(there) as copied:
            shutil.copyfileobj(file, copied)


def is_inside(name: Any) -> bool:
    """Whether a name is that of a file inside of the folder of assets."""
    if not isinstance(name, str) or os.path.isabs(name) or "\0" in name:
        return False
    parts = name.replace(os.sep, "/").split("/")
    return ".." not in parts and parts[-1] not in ("", ".")
