"""`tf.saved_model.experimental.Fingerprint`: whether two saved models are the same."""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

from tapeflow._src.core.export import export
from tapeflow._src.core.system.files import checked_path, newer
from tapeflow._src.io import wire
from tapeflow._src.saved_model.options import FILE, SAVED_MODEL_FILENAME_PB
from tapeflow._src.saved_model.saving import VERSION
from tapeflow._src.train import tensor_file

FINGERPRINT_FILENAME = "fingerprint.pb"
_FIELDS = (
    "saved_model_checksum",
    "graph_def_program_hash",
    "signature_def_hash",
    "saved_object_graph_hash",
    "checkpoint_hash",
)


@export("saved_model.experimental.Fingerprint")
class Fingerprint:
    """Numbers that tell saved models apart: of the whole, of its graph, signatures, objects and values.

    >>> print(tf.saved_model.experimental.Fingerprint(1, 2, 3, 4, 5).singleprint())
    2/3/4/5

    Args:
      saved_model_checksum: of all of the model.
      graph_def_program_hash: of what it computes.
      signature_def_hash: of how it is called.
      saved_object_graph_hash: of its objects.
      checkpoint_hash: of the values of its variables.
      version: of the way in which these were computed.
    """

    def __init__(
        self,
        saved_model_checksum: int | None = None,
        graph_def_program_hash: int | None = None,
        signature_def_hash: int | None = None,
        saved_object_graph_hash: int | None = None,
        checkpoint_hash: int | None = None,
        version: Any = None,
    ) -> None:
        self.saved_model_checksum = saved_model_checksum
        self.graph_def_program_hash = graph_def_program_hash
        self.signature_def_hash = signature_def_hash
        self.saved_object_graph_hash = saved_object_graph_hash
        self.checkpoint_hash = checkpoint_hash
        self.version = version

    @classmethod
    def from_proto(cls, proto: Any) -> Fingerprint:
        """The fingerprint in a message.

        Args:
          proto: a `FingerprintDef`, or its bytes.
        """
        if isinstance(proto, bytes):
            try:
                found = dict(wire.fields(proto))
                numbers = [_number(found.get(i, 0)) for i in range(1, 6)]
                version = dict(wire.fields(_bytes(found.get(6, b"")))).get(1, 0)
            except (ValueError, IndexError):
                raise ValueError("Given proto could not be deserialized as fingerprint.") from None
            return cls(*numbers, version=version)
        try:
            return cls(*(getattr(proto, name) for name in (*_FIELDS, "version")))
        except AttributeError as error:
            raise ValueError(
                f"Given proto could not be deserialized as fingerprint.{error}"
            ) from None

    def singleprint(self) -> str:
        """One text for all but the checksum, which differs between files that say the same."""
        numbers = [getattr(self, name) for name in _FIELDS[1:]]
        if any(not isinstance(n, int) for n in numbers):
            raise ValueError(
                f"Encounted invalid fingerprint values when constructing singleprint: {self!r}"
            )
        return "/".join(map(str, numbers))

    def __eq__(self, other: object) -> bool:
        return all(getattr(other, name, self) == getattr(self, name) for name in _FIELDS)

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __str__(self) -> str:
        lines = [f"  {name}: {getattr(self, name)}" for name in _FIELDS]
        return "\n".join(["SavedModel Fingerprint", *lines])

    def __repr__(self) -> str:
        return f"Fingerprint({', '.join(str(getattr(self, name)) for name in _FIELDS)})"


def _number(value: int | bytes) -> int:
    if not isinstance(value, int):
        raise ValueError("a text, where a number belongs")
    return value


def _bytes(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError("a number, where a message belongs")
    return value


@export("saved_model.experimental.read_fingerprint")
def read_fingerprint(export_dir: Any) -> Fingerprint:
    """The fingerprint of a saved model: as TensorFlow has written it, or made of tapeflow's file.

    >>> import tempfile
    >>> folders = [tempfile.mkdtemp() for _ in range(2)]
    >>> for folder, value in zip(folders, (1.0, 2.0)):
    ...     module = tf.Module()
    ...     module.v = tf.Variable(value)
    ...     tf.saved_model.save(module, folder)
    >>> one, two = map(tf.saved_model.experimental.read_fingerprint, folders)
    >>> one == two, one.graph_def_program_hash == two.graph_def_program_hash
    (False, True)

    Args:
      export_dir: the folder.
    """
    folder = checked_path(export_dir)
    path = os.path.join(folder, FILE)
    is_ours = newer(path, os.path.join(folder, SAVED_MODEL_FILENAME_PB)) == path
    if is_ours and os.path.isfile(path):
        return _of_file(path)
    path = os.path.join(folder, FINGERPRINT_FILENAME)
    if not os.path.isfile(path):
        raise FileNotFoundError(
            f"SavedModel Fingerprint Error: Could not find fingerprint at {path}, nor {FILE}."
        )
    with open(path, "rb") as file:
        return Fingerprint.from_proto(file.read())


def _of_file(path: str) -> Fingerprint:
    file = tensor_file.opened(path)
    try:
        said = json.loads(file.texts["saved_model"])
        parts = [said[key] for key in ("graphs", "signatures", "objects")]
    except (KeyError, ValueError, TypeError):
        file.refuse("it has tensors, but is not a saved model")
    texts = [hashlib.blake2b(json.dumps(p).encode(), digest_size=8) for p in parts]
    values = hashlib.blake2b(digest_size=8)
    for name in sorted(file.entries):  # variables, and constants of the graphs
        array = file.read(name)
        content = array.tobytes() if array.dtype.kind != "O" else repr(array.tolist()).encode()
        where = values if name.startswith("variables/") else texts[0]
        where.update(f"{name} {array.dtype} {array.shape}".encode() + content)
    with open(path, "rb") as whole:
        checksum = hashlib.file_digest(whole, lambda: hashlib.blake2b(digest_size=8))
    return Fingerprint(
        *(int.from_bytes(h.digest(), "little") for h in (checksum, *texts, values)), version=VERSION
    )
