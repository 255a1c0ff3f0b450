"""`tf.test`: a test case that compares tensors, and what the tests may count on."""

from __future__ import annotations

import copy
import re
import sys
import tempfile
import unittest
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._src.autodiff.tape import GradientTape
from tapeflow._src.config.build import get_build_info
from tapeflow._src.config.experimental import get_device_details
from tapeflow._src.config.placement import (
    get_visible_devices,
    list_logical_devices,
)
from tapeflow._src.core import nest
from tapeflow._src.core.convert import constant, convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.errors import OpError
from tapeflow._src.core.export import export
from tapeflow._src.ops.random.numbers import set_seed
from tapeflow._src.tools.benchmark import run_matching
from tapeflow._src.tools.test_sessions import WithSessions


@export("test.main")
def main(argv: Sequence[str] | None = None) -> None:
    """Runs the tests of the program, and ends it. With `--benchmark_filter`, it runs benchmarks in their place.

    >>> if __name__ == "never":
    ...     tf.test.main()

    Args:
      argv: what the program was called with; by default `sys.argv`.
    """
    given = list(sys.argv if argv is None else argv)
    pattern = [a.partition("=")[2] for a in given if re.match("--?benchmark_filter=", a)]
    if pattern:
        run_matching(pattern[0])
        sys.exit(0)
    unittest.main(argv=given)


def _array(value: Any) -> np.ndarray:
    array = np.asarray(convert_to_tensor(value) if isinstance(value, (list, tuple)) else value)
    return array.astype(np.float32) if array.dtype.name in ("bfloat16", "float16") else array


def _objects(value: Any) -> np.ndarray:
    """An array of anything: functions too have equals."""
    try:
        return _array(value)
    except (TypeError, ValueError):
        return np.asarray(value, object)


def _map(value: Any) -> Any:
    return nest.map_structure(np.asarray, value)


@export("test.TestCase")
class TestCase(WithSessions):
    """A `unittest.TestCase` with comparisons of tensors, arrays and structures of them.

    >>> class SquareTest(tf.test.TestCase):
    ...     def test_values(self):
    ...         self.assertAllClose(tf.square([1.0, 2.0]), [1.0, 4.0])
    >>> SquareTest("test_values").run().wasSuccessful()
    True

    Before each test, the seeds of `tf.random` and NumPy are set.
    """

    def __init__(self, methodName: str = "runTest") -> None:
        super().__init__(methodName)

    def setUp(self) -> None:
        """Sets the seeds."""
        super().setUp()
        set_seed(1234)
        np.random.seed(1234)

    def evaluate(self, tensors: Any) -> Any:
        """The tensors of a structure as NumPy arrays."""
        return _map(tensors)

    def get_temp_dir(self) -> str:
        """A folder for this test, which is removed after it."""
        if not hasattr(self, "_folder"):
            self._folder = tempfile.TemporaryDirectory()
            self.addCleanup(self._folder.cleanup)
        return self._folder.name

    # Comparisons.

    def assertAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Fails unless two structures have almost the same numbers: |a - b| <= atol + rtol * |b|."""
        for place, (x, y) in self._pairs(a, b, msg):
            x, y = _array(x), _array(y)
            self.assertEqual(x.shape, y.shape, self._message(f"shapes differ{place}", msg))
            if x.dtype.kind in "OSU" or not np.allclose(x, y, rtol, atol, equal_nan=True):
                np.testing.assert_allclose(x, y, rtol, atol, err_msg=self._message(place, msg))

    def assertNotAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Fails if two structures have almost the same numbers."""
        try:
            self.assertAllClose(a, b, rtol, atol, msg)
        except AssertionError:
            return
        self.fail(self._message("the two values are close at all elements", msg))

    def assertAllCloseAccordingToType(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: str | None = None,
    ) -> None:
        """The same as `assertAllClose`, with less to ask of less precise dtypes."""
        limits = {
            "float32": (float_rtol, float_atol),
            "complex64": (float_rtol, float_atol),
            "float16": (half_rtol, half_atol),
            "bfloat16": (bfloat16_rtol, bfloat16_atol),
        }
        for value in (a, b):
            for leaf in nest.flatten(value):
                name = getattr(getattr(leaf, "dtype", None), "name", "")
                more = limits.get(name, (0.0, 0.0))
                rtol, atol = max(rtol, more[0]), max(atol, more[1])
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Fails unless two tensors have the same shape and equal elements. NaN is equal to NaN."""
        x, y = _objects(a), _objects(b)
        self.assertEqual(x.shape, y.shape, self._message("shapes differ", msg))
        if x.dtype.kind in "OSU" or y.dtype.kind in "OSU":
            self.assertEqual(_texts(x), _texts(y), msg)
            return
        np.testing.assert_array_equal(x, y, err_msg=msg or "")

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Fails if two tensors have equal elements."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        self.fail(self._message("the two values are equal at all elements", msg))

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """Fails unless all elements are greater than a number."""
        self._assert_all(a, lambda x: x > comparison_target, f"greater than {comparison_target}")

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """Fails unless all elements are a number or greater."""
        self._assert_all(a, lambda x: x >= comparison_target, f"at least {comparison_target}")

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """Fails unless all elements are less than a number."""
        self._assert_all(a, lambda x: x < comparison_target, f"less than {comparison_target}")

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """Fails unless all elements are a number or less."""
        self._assert_all(a, lambda x: x <= comparison_target, f"at most {comparison_target}")

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: Any,
        upper_bound: Any,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Fails unless all elements are between two bounds."""

        def inside(x: Any) -> Any:
            above = x > lower_bound if open_lower_bound else x >= lower_bound
            return above & (x < upper_bound if open_upper_bound else x <= upper_bound)

        left, right = "(" if open_lower_bound else "[", ")" if open_upper_bound else "]"
        self._assert_all(target, inside, f"in {left}{lower_bound}, {upper_bound}{right}")

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """Fails unless all elements are among some values."""
        self._assert_all(
            target, lambda x: np.isin(x, list(expected_set)), f"in the set {expected_set}"
        )

    def assertNear(self, f1: Any, f2: Any, err: float, msg: str | None = None) -> None:
        """Fails unless two numbers differ by at most `err`."""
        near = f1 == f2 or abs(float(f1) - float(f2)) <= err
        self.assertTrue(near, self._message(f"{f1!r} != {f2!r} +/- {err!r}", msg))

    def assertArrayNear(
        self, farray1: Any, farray2: Any, err: float, msg: str | None = None
    ) -> None:
        """Fails unless two vectors are as long, and their numbers differ by at most `err`."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for one, other in zip(farray1, farray2, strict=True):
            self.assertNear(one, other, err, msg)

    def assertShapeEqual(self, input_a: Any, input_b: Any, msg: str | None = None) -> None:
        """Fails unless two tensors have the same shape."""
        self.assertEqual(tuple(np.shape(input_a)), tuple(np.shape(input_b)), msg)

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """Fails unless a tensor has a dtype."""
        self.assertEqual(as_dtype(np.asarray(target).dtype), as_dtype(expected_dtype))

    # How they tell.

    def _assert_all(self, value: Any, holds: Callable[[Any], Any], what: str) -> None:
        array = _array(value)
        wrong = ~np.asarray(holds(array), bool)
        if wrong.any():
            places = [tuple(map(int, p)) for p in np.argwhere(wrong)[:5]]
            self.fail(
                f"{int(wrong.sum())} of {array.size} elements are not {what}, the first at {places}: "
                f"{array[wrong][:5]}"
            )

    def _pairs(self, a: Any, b: Any, msg: str | None) -> list[tuple[str, tuple[Any, Any]]]:
        """The tensors of two structures, each with where it is."""
        if not isinstance(a, dict) and not isinstance(b, dict):
            try:  # lists of numbers are arrays
                return [("", (_array(a), _array(b)))]
            except (TypeError, ValueError, OpError):
                pass
        if not isinstance(a, (dict, list, tuple)):
            return [("", (a, b))]
        self.assertEqual(isinstance(a, dict), isinstance(b, dict), self._message("structures", msg))
        keys: Any = list(a) if isinstance(a, dict) else range(len(a))
        if isinstance(a, dict):
            self.assertCountEqual(a, b, self._message("the keys differ", msg))
        else:
            self.assertEqual(len(a), len(b), self._message("the lengths differ", msg))
        found: list[tuple[str, tuple[Any, Any]]] = []
        for key in keys:
            for place, pair in self._pairs(a[key], b[key], msg):
                found.append((f" at [{key!r}]" + place.removeprefix(" at "), pair))
        return found

    @staticmethod
    def _message(text: str, msg: str | None) -> str:
        return f"{text}: {msg}" if msg else text


def _texts(array: np.ndarray) -> list[Any]:
    return [x.encode() if isinstance(x, str) else x for x in array.ravel().tolist()]


@export("test.compute_gradient")
def compute_gradient(
    f: Callable[..., Any], x: Sequence[Any], delta: float | None = None
) -> tuple[Any, Any]:
    """The Jacobians of a function, as the tape computes them and as differences do.

    >>> by_tape, by_differences = tf.test.compute_gradient(lambda x: x * x, [tf.constant([1.0, 2.0])])
    >>> by_tape[0]
    array([[2., 0.],
           [0., 4.]], dtype=float32)

    Args:
      f: takes tensors and returns one.
      x: a list of what it takes.
      delta: how far elements are moved for a difference, by default 1/1024.

    Returns:
      Two tuples with a matrix for each input: a row for each element of the result, a column for each of the input. A
      complex number is two of them, its real and its imaginary part.
    """
    if not isinstance(x, (list, tuple)):
        raise ValueError(f"compute_gradient: x must be a list of tensors, got {x!r}")
    inputs = [copy.copy(convert_to_tensor(value)) for value in x]  # one twice is two inputs
    watched = [value for value in inputs if value.dtype.is_differentiable]
    with GradientTape(persistent=True) as tape:
        tape.watch(watched)
        y = convert_to_tensor(f(*inputs))
    for what, value in (*((f"argument {i}", v) for i, v in enumerate(inputs)), ("the result", y)):
        if not value.dtype.is_differentiable:
            raise AssertionError(
                f"compute_gradient: {what} is of dtype {value.dtype.name}, which has no gradients. Use a floating or "
                "complex one, and leave other tensors to `f` itself."
            )
    step = 1 / 1024 if delta is None else delta
    theoretical = tuple(_by_tape(tape, y, value) for value in inputs)
    return theoretical, tuple(_by_differences(f, inputs, i, step) for i in range(len(inputs)))


def _reals(array: Any) -> np.ndarray:
    """A writable vector of real numbers, two for each complex one."""
    flat = np.array(array).reshape(-1)
    return flat.view(np.real(flat).dtype) if flat.dtype.kind == "c" else flat


def _by_tape(tape: Any, y: Any, x: Any) -> np.ndarray:
    unit = _reals(np.zeros_like(y))
    rows = []
    for i in range(unit.size):
        unit[i] = 1
        seed = constant(unit.view(y.dtype.np_dtype).reshape(np.shape(y)))
        found = tape.gradient(y, x, output_gradients=seed, unconnected_gradients="zero")
        rows.append(_reals(convert_to_tensor(found)))
        unit[i] = 0
    return np.stack(rows) if rows else np.zeros((0, _reals(x).size), _reals(x).dtype)


def _by_differences(f: Any, inputs: list[Any], position: int, step: float) -> np.ndarray:
    x = inputs[position]
    columns = []
    for i, number in enumerate(_reals(x)):
        sides = []
        for by in (step, -step):
            moved = _reals(x)
            moved[i] = number + moved.dtype.type(by)
            there = constant(moved.view(x.dtype.np_dtype).reshape(np.shape(x)))
            y = _reals(f(*inputs[:position], there, *inputs[position + 1 :]))
            sides.append((float(moved[i]), y.astype(np.float64)))
        (above, high), (below, low) = sides
        columns.append((high - low) / ((above - below) or 2 * step))  # as far as it has moved
    rows = _reals(f(*inputs)).size
    jacobian = np.stack(columns, 1) if columns else np.zeros((rows, 0))
    return jacobian.astype(x.dtype.real_dtype.np_dtype)


@export("test.is_gpu_available")
def is_gpu_available(
    cuda_only: bool = False, min_cuda_compute_capability: tuple[int, int] | None = None
) -> bool:
    """Whether there is a GPU that functions can be compiled for.

    >>> tf.test.is_gpu_available() == bool(tf.config.list_physical_devices("GPU"))
    True

    Args:
      cuda_only: whether it must be one of NVIDIA.
      min_cuda_compute_capability: the least that it must have.
    """
    for device in get_visible_devices("GPU"):
        capability = get_device_details(device).get("compute_capability")
        if cuda_only and not is_built_with_cuda():
            continue
        if not min_cuda_compute_capability or (capability or ()) >= min_cuda_compute_capability:
            return True
    return False


@export("test.gpu_device_name")
def gpu_device_name() -> str:
    """The name of a GPU, or an empty text.

    >>> isinstance(tf.test.gpu_device_name(), str)
    True
    """
    found = list_logical_devices("GPU")
    return found[0].name if found else ""


@export("test.is_built_with_cuda")
def is_built_with_cuda() -> bool:
    """Whether jax is installed for GPUs of NVIDIA.

    >>> isinstance(tf.test.is_built_with_cuda(), bool)
    True
    """
    return get_build_info()["is_cuda_build"]


@export("test.is_built_with_rocm")
def is_built_with_rocm() -> bool:
    """Whether jax is installed for GPUs of AMD.

    >>> isinstance(tf.test.is_built_with_rocm(), bool)
    True
    """
    return get_build_info()["is_rocm_build"]


@export("test.is_built_with_gpu_support")
def is_built_with_gpu_support() -> bool:
    """Whether jax is installed for GPUs.

    >>> isinstance(tf.test.is_built_with_gpu_support(), bool)
    True
    """
    return is_built_with_cuda() or is_built_with_rocm()


@export("test.is_built_with_xla")
def is_built_with_xla() -> bool:
    """Whether functions can be compiled with XLA: jax is installed.

    >>> isinstance(tf.test.is_built_with_xla(), bool)
    True
    """
    from tapeflow._src.engines.xla.engine import XlaEngine

    return XlaEngine().missing() is None
