"""Names at the root of TensorFlow that are ops of other namespaces, or hints."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import ints
from tapeflow._src.ops.array.creation import zeros
from tapeflow._src.ops.array.moving import concat, pad, stack
from tapeflow._src.ops.array.shaping import cast, identity
from tapeflow._src.ops.linalg.matrix_functions import sqrtm
from tapeflow._src.ops.signal import fourier


@export("AggregationMethod")
class AggregationMethod:
    """How `tf.gradients` adds gradients up: all give the same sums.

    >>> tf.AggregationMethod.ADD_N == tf.AggregationMethod.DEFAULT
    True
    """

    ADD_N = 0
    DEFAULT = 0
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


@export("guarantee_const")
def guarantee_const(input: Any, name: str | None = None) -> Tensor:
    """The tensor as it is: a promise that it never changes, of which nothing is made.

    >>> tf.guarantee_const([1, 2]).numpy()
    array([1, 2], dtype=int32)
    """
    return identity(input)


@export("parallel_stack")
def parallel_stack(values: Any, name: str | None = "parallel_stack") -> Tensor:
    """The same as `tf.stack`, inside of functions only.

    >>> tf.function(lambda: tf.parallel_stack([[1, 2], [3, 4]]), autograph=False)().shape
    TensorShape([2, 2])
    """
    if context.tracer is None:
        raise RuntimeError("tf.parallel_stack() is not compatible with eager execution.")
    return stack(values)


@export("matrix_square_root")
def matrix_square_root(input: Any, name: str | None = None) -> Tensor:
    """The same as `tf.linalg.sqrtm`.

    >>> tf.matrix_square_root([[4.0, 0.0], [0.0, 9.0]]).numpy()
    array([[2., 0.],
           [0., 3.]], dtype=float32)
    """
    return sqrtm(input)


@export("fftnd")
def fftnd(input: Any, fft_length: Any, axes: Any, name: str | None = None) -> Tensor:
    """The same as `tf.signal.fftnd`.

    >>> tf.fftnd([1.0 + 0j, 1.0], [2], [0]).numpy()
    array([2.+0.j, 0.+0.j], dtype=complex64)
    """
    return fourier.fftnd(input, fft_length, axes)


@export("ifftnd")
def ifftnd(input: Any, fft_length: Any, axes: Any, name: str | None = None) -> Tensor:
    """The same as `tf.signal.ifftnd`.

    >>> tf.ifftnd([2.0 + 0j, 0.0], [2], [0]).numpy()
    array([1.+0.j, 1.+0.j], dtype=complex64)
    """
    return fourier.ifftnd(input, fft_length, axes)


@export("rfftnd")
def rfftnd(
    input: Any,
    fft_length: Any,
    axes: Any,
    Tcomplex: Any = dtypes.complex64,
    name: str | None = None,
) -> Tensor:
    """The same as `tf.signal.rfftnd`.

    >>> tf.rfftnd([1.0, 1.0], [2], [0]).numpy()
    array([2.+0.j, 0.+0.j], dtype=complex64)
    """
    return cast(fourier.rfftnd(input, fft_length, axes), Tcomplex)


@export("irfftnd")
def irfftnd(
    input: Any, fft_length: Any, axes: Any, Treal: Any = dtypes.float32, name: str | None = None
) -> Tensor:
    """The same as `tf.signal.irfftnd`.

    >>> tf.irfftnd(tf.constant([2.0, 0.0], tf.complex64), [2], [0]).numpy()
    array([1., 1.], dtype=float32)
    """
    return cast(fourier.irfftnd(input, fft_length, axes), Treal)


@export("required_space_to_batch_paddings")
def required_space_to_batch_paddings(
    input_shape: Any, block_shape: Any, base_paddings: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """What `tf.space_to_batch` must add for blocks to fit, and what `tf.batch_to_space` must cut off again.

    >>> added, cut = tf.required_space_to_batch_paddings([5, 5], [2, 3])
    >>> added.numpy().tolist(), cut.numpy().tolist()
    ([[0, 1], [0, 1]], [[0, 1], [0, 1]])
    """
    op = "required_space_to_batch_paddings"
    sizes, blocks = ints(op, "input_shape", input_shape), ints(op, "block_shape", block_shape)
    if len(sizes) != len(blocks):
        raise ValueError(
            f"{op}: input_shape and block_shape must have one length, got {len(sizes)} and {len(blocks)}"
        )
    given = [[0, 0]] * len(sizes) if base_paddings is None else convert_to_tensor(base_paddings)
    rows = [list(map(int, row)) for row in given]
    added, cut = [], []
    for size, block, (before, after) in zip(sizes, blocks, rows, strict=True):
        more = -(size + before + after) % block
        added.append([before, after + more])
        cut.append([0, more])
    return convert_to_tensor(added, dtypes.int32), convert_to_tensor(cut, dtypes.int32)


@export("extract_volume_patches")
def extract_volume_patches(
    input: Any, ksizes: Any, strides: Any, padding: str, name: str | None = None
) -> Tensor:
    """Boxes of a volume, each in one row of the last dimension.

    >>> volume = tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1])
    >>> tf.extract_volume_patches(volume, [1, 2, 2, 2, 1], [1, 1, 1, 1, 1], "VALID").numpy()[0, 0, 0, 0]
    array([0., 1., 2., 3., 4., 5., 6., 7.], dtype=float32)

    Args:
      input: `[batch, planes, rows, columns, channels]`.
      ksizes: the sizes of a box, with 1 at both ends.
      strides: how far boxes are apart, with 1 at both ends.
      padding: "VALID", or "SAME" for boxes that reach beyond the edges, where there are zeros.
      name: accepted for compatibility.
    """
    op = "extract_volume_patches"
    x = convert_to_tensor(input)
    window, steps = ints(op, "ksizes", ksizes), ints(op, "strides", strides)
    if (
        len(x._array.shape) != 5
        or len(window) != 5
        or len(steps) != 5
        or padding not in ("SAME", "VALID")
    ):
        raise invalid(
            f"{op}: input must have 5 dimensions, ksizes and strides 5 numbers, and padding be 'SAME' or 'VALID'; got "
            f"{x.shape}, {list(window)}, {list(steps)} and {padding!r}"
        )
    counts = []
    for axis in (1, 2, 3):
        size = x._array.shape[axis]
        if padding == "SAME":
            count = -(-size // steps[axis])
            missing = max((count - 1) * steps[axis] + window[axis] - size, 0)
            pairs = [[0, 0]] * 5
            pairs[axis] = [missing // 2, missing - missing // 2]
            x = pad(x, pairs)
        else:
            count = (size - window[axis]) // steps[axis] + 1
        counts.append(max(count, 0))
    if not all(counts):
        depth = window[1] * window[2] * window[3] * x._array.shape[4]
        return zeros([x._array.shape[0], *counts, depth], x.dtype)
    parts = []
    for i in range(window[1]):
        for j in range(window[2]):
            for k in range(window[3]):
                spans = [
                    slice(at, at + (count - 1) * step + 1, step)
                    for at, count, step in zip((i, j, k), counts, steps[1:4], strict=True)
                ]
                parts.append(x[:, spans[0], spans[1], spans[2], :])
    return concat(parts, -1)


@export("CriticalSection")
class CriticalSection:
    """What only one thread runs at a time: inside of functions each time they run.

    >>> section, v = tf.CriticalSection(), tf.Variable(1.0)
    >>> section.execute(lambda: v.assign_add(1.0)).numpy()
    np.float32(2.0)

    Args:
      name: of the section.
      shared_name: accepted for compatibility.
      critical_section_def: accepted for compatibility.
      import_scope: accepted for compatibility.
    """

    def __init__(
        self,
        name: str | None = None,
        shared_name: str | None = None,
        critical_section_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        self._name = name or "critical_section"
        self._lock = threading.RLock()

    @property
    def name(self) -> str:
        """The name of the section."""
        return self._name

    def execute(
        self, fn: Callable[[], Any], exclusive_resource_access: bool = True, name: str | None = None
    ) -> Any:
        """Runs a function while no other thread is in the section. In a traced function, steps are in order anyway."""
        if context.tracer is not None:
            return fn()
        with self._lock:
            return fn()
