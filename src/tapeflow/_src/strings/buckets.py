"""Numbers that stand for strings: hashes, and fingerprints of any data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import int64, uint8
from tapeflow._src.core.errors import invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.strings.hashes import farmhash, murmur, siphash
from tapeflow._src.strings.rows import elementwise, listed, row, scalar_of, strings_of, the
from tapeflow._src.strings.structures import on_values


def _bucket(hash_of: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    def kernel(x: Any, *, num_buckets: int) -> np.ndarray:
        return _within(hash_of(listed(x)), num_buckets).reshape(np.shape(x))

    return kernel


def _strong_kernel(x: Any, *, num_buckets: int, key: tuple[int, int]) -> np.ndarray:
    return _within(siphash(listed(x), key), num_buckets).reshape(np.shape(x))


def _within(hashes: np.ndarray, count: int) -> np.ndarray:
    return (hashes % np.uint64(count)).astype(np.int64)


_plain = elementwise("to_hash_bucket", "input", _bucket(murmur), int64)
_fast = elementwise("to_hash_bucket_fast", "input", _bucket(farmhash), int64)
_strong = elementwise("to_hash_bucket_strong", "input", _strong_kernel, int64)


def _count(op: str, num_buckets: Any) -> int:
    count = integer(op, "num_buckets", num_buckets)
    if count < 1:
        raise invalid(f"{op}: num_buckets must be positive, got {count}")
    return count


@export("strings.to_hash_bucket")
def to_hash_bucket(input: Any, num_buckets: int, name: str | None = None) -> Tensor:
    """A number below `num_buckets` for each string, the same in every process.

    >>> tf.strings.to_hash_bucket(["Hello", "TensorFlow", "2.x"], 3).numpy()
    array([2, 0, 1])

    Args:
      input: strings.
      num_buckets: how many numbers there are.
      name: accepted for compatibility.
    """
    op = "to_hash_bucket"
    count = _count(op, num_buckets)
    return on_values(lambda x: _plain(strings_of(op, "input", x), num_buckets=count), input)


@export("strings.to_hash_bucket_fast")
def to_hash_bucket_fast(input: Any, num_buckets: int, name: str | None = None) -> Tensor:
    """The same by another hash, FarmHash, which is quicker and spreads better.

    >>> tf.strings.to_hash_bucket_fast(["Hello", "TensorFlow", "2.x"], 3).numpy()
    array([0, 2, 2])

    Args:
      input: strings.
      num_buckets: how many numbers there are.
      name: accepted for compatibility.
    """
    op = "to_hash_bucket_fast"
    count = _count(op, num_buckets)
    return on_values(lambda x: _fast(strings_of(op, "input", x), num_buckets=count), input)


@export("strings.to_hash_bucket_strong")
def to_hash_bucket_strong(
    input: Any, num_buckets: int, key: Any, name: str | None = None
) -> Tensor:
    """The same by SipHash: who does not know the key cannot find strings with one number.

    >>> tf.strings.to_hash_bucket_strong(["Hello", "TF"], 3, [1, 2]).numpy()
    array([2, 0])

    Args:
      input: strings.
      num_buckets: how many numbers there are.
      key: two integers.
      name: accepted for compatibility.
    """
    op = "to_hash_bucket_strong"
    count = _count(op, num_buckets)
    if not isinstance(key, (list, tuple)):
        raise TypeError(f"{op}: key must be a list of two integers, got {shown(key)}")
    if len(key) != 2:
        raise invalid(f"{op}: key must have two elements, got {shown(key)}")
    pair = tuple(integer(op, "key", k) for k in key)
    return on_values(
        lambda x: _strong(strings_of(op, "input", x), num_buckets=count, key=pair), input
    )


# Fingerprints.


def _fingerprint_kernel(data: Any, method: Any) -> np.ndarray:
    data = np.asarray(data)
    if the(method) != b"farmhash64":
        raise invalid(f"fingerprint: method must be 'farmhash64', got {the(method)!r}")
    rows = len(data)
    if data.dtype.kind == "O":
        hashes = farmhash(listed(data))
        if data.ndim > 1:  # of the fingerprints of each row
            hashes = farmhash([row.tobytes() for row in hashes.reshape(rows, -1).astype("<u8")])
    else:
        flat = np.ascontiguousarray(data).reshape(rows, -1)
        hashes = farmhash([row.tobytes() for row in flat])
    return hashes.astype("<u8").view(np.uint8).reshape(rows, 8)


def _fingerprint_result(data: ArraySpec, method: ArraySpec) -> ArraySpec:
    if not data.shape:
        raise invalid("fingerprint: data must have at least one dimension, got a scalar")
    return ArraySpec((data.shape[0], 8), uint8)


_fingerprint = row("fingerprint", "data method", _fingerprint_kernel, _fingerprint_result)


@export("fingerprint")
def fingerprint(data: Any, method: Any = "farmhash64", name: str | None = None) -> Tensor:
    """Eight bytes for each row of a tensor, which are the same where the row is.

    >>> tf.fingerprint(["a", "b"]).numpy()[0]
    array([227, 117, 223, 182, 101,  66,  69, 179], dtype=uint8)

    Args:
      data: of any dtype, of rank 1 or higher.
      method: `"farmhash64"`.
      name: accepted for compatibility.
    """
    return _fingerprint(convert_to_tensor(data), scalar_of("fingerprint", "method", method))
