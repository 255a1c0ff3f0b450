"""Files that were altered are refused with a reason, whatever was altered. None is executed, none takes all memory.

Checkpoints have checksums: what is not refused is as it was written. A `saved_model.pb` has none: what is not refused
is a graph, which is run as any other.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.tensorflow_files import models
from tests.tensorflow_files.test_checkpoints import values

import tapeflow as tf
from tapeflow._src.tensorflow_files import table
from tapeflow._src.tensorflow_files.schemas import ENTRY

EACH, AT_ONCE = 500, 20
DOCUMENTED = (tf.errors.OpError, ValueError, TypeError, NotImplementedError)


def altered(data: bytes, chance: random.Random) -> bytes:
    """Bytes of which some are others, missing, or too many."""
    at = chance.randrange(len(data))
    size = min(chance.choice([1, 1, 2, 4, 8, 100]), len(data) - at)
    kind = chance.choice(["bit", "bytes", "ones", "zeros", "cut", "more", "less", "moved"])
    piece = data[at : at + size]
    if kind == "bit":
        piece = bytes([piece[0] ^ 1 << chance.randrange(8)]) + piece[1:]
    elif kind == "bytes":
        piece = chance.randbytes(size)
    elif kind in ("ones", "zeros"):
        piece = (b"\xff" if kind == "ones" else b"\0") * size
    elif kind == "cut":
        return data[:at]
    elif kind == "more":
        piece = chance.randbytes(size) + piece
    elif kind == "less":
        piece = b""
    else:
        other = chance.randrange(len(data))
        piece = data[other : other + size]
    return data[:at] + piece + data[at + size :]


def attempts(group: int, path: Path, use: Callable[[], None], change=altered) -> int:
    """Alters a file, uses it, and puts it back, again and again. Returns how often it was refused."""
    whole = path.read_bytes()
    refused = 0
    for number in range(group * AT_ONCE, (group + 1) * AT_ONCE):
        new = change(whole, random.Random(number))
        if new == whole:
            continue
        path.write_bytes(new)
        try:
            use()
        except DOCUMENTED:
            refused += 1
        except Exception as error:
            raise AssertionError(f"altered file {number} of {path.name}") from error
    path.write_bytes(whole)
    return refused


def used_checkpoint(prefix: str, expected: dict[str, np.ndarray]) -> None:
    """Restores a checkpoint, and compares all it has."""
    reader = tf.train.load_checkpoint(prefix)
    assert reader.get_variable_to_shape_map().keys() == expected.keys()
    for key, value in expected.items():
        np.testing.assert_array_equal(reader.get_tensor(key), value)
    tf.train.Checkpoint(module=values()).restore(prefix).expect_partial()


@pytest.mark.sample(8)
@pytest.mark.parametrize("group", range(EACH // AT_ONCE))
@pytest.mark.parametrize("suffix", ["index", "data-00000-of-00001"])
def test_an_altered_checkpoint_is_refused(recorded, suffix, group):
    prefix = str(recorded("values").folder / "ckpt-1")
    reader = tf.train.load_checkpoint(prefix)
    expected = {key: reader.get_tensor(key) for key, _ in tf.train.list_variables(prefix)}

    def use() -> None:
        # What is refused is refused as damaged.
        with contextlib.suppress(tf.errors.DataLossError):
            used_checkpoint(prefix, expected)
            return
        raise tf.errors.DataLossError(None, None, "refused")

    refused = attempts(group, Path(f"{prefix}.{suffix}"), use)
    assert refused >= AT_ONCE // 2


def resealed(data: bytes, chance: random.Random) -> bytes:
    """An index of which an entry is altered, with checksums that fit."""
    pairs = table.entries(data)
    at = chance.randrange(len(pairs))
    key, value = pairs[at]
    if chance.random() < 0.2 and key:
        key = altered(key, chance)
    elif value:
        value = altered(value, chance)
    changed = {**dict(pairs[:at] + pairs[at + 1 :]), key: value}
    return table.table(sorted(changed.items()))


@pytest.mark.sample(8)
@pytest.mark.parametrize("group", range(EACH // AT_ONCE))
@pytest.mark.parametrize("name", ["ckpt-1", "sliced"])
def test_an_index_that_somebody_made_up_is_refused_or_read(recorded, name, group):
    prefix = str(recorded("values").folder / name)

    def use() -> None:
        reader = tf.train.load_checkpoint(prefix)
        for key in reader.get_variable_to_shape_map():
            reader.get_tensor(key)
        if name == "ckpt-1":
            tf.train.Checkpoint(module=values()).restore(prefix).expect_partial()

    attempts(group, Path(f"{prefix}.index"), use, resealed)


@pytest.mark.sample(32)
@pytest.mark.parametrize("group", range(EACH // AT_ONCE))
@pytest.mark.parametrize("name", ["program", "mlp"])
def test_an_altered_saved_model_is_refused_or_run(recorded, name, group):
    folder = recorded(name).saved_model
    x = models.batch("mlp")[0]

    def use() -> None:
        loaded = tf.saved_model.load(folder)
        if name == "mlp":
            loaded.serve(x)
        else:
            loaded.branches(tf.constant([1.0]))
            loaded.structured(x[:, :2])

    attempts(group, Path(folder, "saved_model.pb"), use)


def test_sizes_are_checked_before_memory_is_taken(recorded):
    prefix = str(recorded("values").folder / "sliced")
    path = Path(f"{prefix}.index")
    pairs = dict(table.entries(path.read_bytes()))
    pairs[b"w"] = ENTRY.encoded({"dtype": 1, "shape": {"dim": [{"size": 2**46}]}, "size": 4})
    path.write_bytes(table.table(sorted(pairs.items())))
    with pytest.raises(
        tf.errors.DataLossError, match=r"the tensor 'w' of shape \[70368744177664\]"
    ):
        tf.train.load_checkpoint(prefix)
