"""What `tf.DType` promises; the values are TensorFlow's."""

import copy
import math
import operator
import pickle

import ml_dtypes
import numpy as np
import pytest

from tapeflow._src.core import dtypes
from tapeflow._src.core.dtypes import DType, as_dtype, from_numpy

ALL = [value for value in vars(dtypes).values() if isinstance(value, DType)]
HANDLES = [dtypes.resource, dtypes.variant]
UNIQUE = [d for d in {dtype.name: dtype for dtype in ALL}.values() if d not in HANDLES]

# name: (NumPy type, number, floating, integer, unsigned, numeric, size)
EXPECTED = {
    "float16": (np.float16, 19, True, False, False, True, 2),
    "bfloat16": (ml_dtypes.bfloat16, 14, True, False, False, True, 2),
    "float32": (np.float32, 1, True, False, False, True, 4),
    "float64": (np.float64, 2, True, False, False, True, 8),
    "float8_e4m3fn": (ml_dtypes.float8_e4m3fn, 25, True, False, False, False, 1),
    "float8_e5m2": (ml_dtypes.float8_e5m2, 24, True, False, False, False, 1),
    "float8_e4m3fnuz": (ml_dtypes.float8_e4m3fnuz, 26, True, False, False, False, 1),
    "float8_e4m3b11fnuz": (ml_dtypes.float8_e4m3b11fnuz, 27, True, False, False, False, 1),
    "float8_e5m2fnuz": (ml_dtypes.float8_e5m2fnuz, 28, True, False, False, False, 1),
    "float4_e2m1fn": (ml_dtypes.float4_e2m1fn, 33, True, False, False, False, 1),
    "int4": (ml_dtypes.int4, 29, False, True, False, False, 1),
    "uint4": (ml_dtypes.uint4, 30, False, True, True, False, 1),
    "int2": (ml_dtypes.int2, 31, False, True, False, False, 1),
    "uint2": (ml_dtypes.uint2, 32, False, True, True, False, 1),
    "qint8": (np.int8, 11, False, False, False, True, 1),
    "qint16": (np.int16, 15, False, False, False, True, 2),
    "qint32": (np.int32, 13, False, False, False, True, 4),
    "quint8": (np.uint8, 12, False, False, False, True, 1),
    "quint16": (np.uint16, 16, False, False, False, True, 2),
    "int8": (np.int8, 6, False, True, False, True, 1),
    "int16": (np.int16, 5, False, True, False, True, 2),
    "int32": (np.int32, 3, False, True, False, True, 4),
    "int64": (np.int64, 9, False, True, False, True, 8),
    "uint8": (np.uint8, 4, False, True, True, True, 1),
    "uint16": (np.uint16, 17, False, True, True, True, 2),
    "uint32": (np.uint32, 22, False, True, True, True, 4),
    "uint64": (np.uint64, 23, False, True, True, True, 8),
    "bool": (np.bool_, 10, False, False, False, False, 1),
    "complex64": (np.complex64, 8, False, False, False, True, 8),
    "complex128": (np.complex128, 18, False, False, False, True, 16),
    "string": (object, 7, False, False, False, False, 0),
}


def test_every_type_is_in_the_table():
    assert {dtype.name for dtype in UNIQUE} == set(EXPECTED)
    assert dtypes.half is dtypes.float16
    assert dtypes.double is dtypes.float64


def test_handles_are_types_that_no_array_has():
    assert [d.as_datatype_enum for d in HANDLES] == [20, 21]
    for dtype in HANDLES:
        assert not dtype.is_numpy_compatible and not dtype.is_numeric
        assert as_dtype(dtype.name) is dtype
        with pytest.raises(TypeError):
            as_dtype(dtype.np_dtype)


@pytest.mark.parametrize("name", EXPECTED)
def test_attributes(name):
    dtype = as_dtype(name)
    scalar, enum, floating, integer, unsigned, numeric, size = EXPECTED[name]
    assert dtype.name == name
    assert dtype.as_numpy_dtype is scalar
    assert dtype.np_dtype == np.dtype(scalar)
    assert dtype.as_datatype_enum == int(dtype) == enum
    assert dtype.is_floating is floating
    assert dtype.is_integer is integer
    assert dtype.is_unsigned is unsigned
    assert dtype.is_numeric is numeric
    assert dtype.size == size
    assert dtype.is_bool is (name == "bool")
    assert dtype.is_complex is name.startswith("complex")
    assert dtype.is_differentiable is (dtype.is_floating or dtype.is_complex)
    assert dtype.is_numpy_compatible
    assert dtype.is_quantized is name.startswith("q") is (dtype in dtypes.QUANTIZED_DTYPES)
    assert dtype.base_dtype is dtype
    assert repr(dtype) == f"tf.{name}"
    assert str(dtype) == f"{dtype}" == f"<dtype: '{name}'>"


@pytest.mark.parametrize("dtype", UNIQUE, ids=repr)
def test_copies_and_numbers_lead_to_the_same_object(dtype):
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert copy.copy(dtype) is dtype
    assert copy.deepcopy([dtype])[0] is dtype
    assert DType(dtype.as_datatype_enum) is dtype
    assert as_dtype(dtype) is dtype and dtype == dtype.name
    assert {dtype: 1}[as_dtype(dtype.name)] == 1


@pytest.mark.parametrize("dtype", [d for d in UNIQUE if not d.is_quantized], ids=repr)
def test_arrays_have_one_type(dtype):
    assert as_dtype(dtype.np_dtype) is as_dtype(dtype.as_numpy_dtype) is dtype
    assert from_numpy(dtype.np_dtype) is dtype
    assert dtype == dtype.np_dtype and dtype == dtype.as_numpy_dtype


def test_infinity_is_no_number_of_a_dtype():
    with pytest.raises(TypeError, match="Cannot convert inf"):
        DType(math.inf)


def test_equality_with_other_things():
    equal = [(dtypes.float32, float), (dtypes.bool_, bool), (dtypes.string, object)]
    for dtype, other in [*equal, (dtypes.float32, "float32")]:
        assert operator.eq(dtype, other) and not operator.ne(dtype, other)
    assert dtypes.float32 in ["float32"]
    for other in ["foo", None, 3, np.float64, dtypes.float64, [1], object()]:
        assert operator.ne(dtypes.float32, other) and not operator.eq(dtypes.float32, other)
    for dtype, other in [(dtypes.int32, int), (dtypes.string, str), (dtypes.string, "object")]:
        assert operator.ne(dtype, other)


@pytest.mark.parametrize(
    ("name", "least", "greatest"),
    [
        ("float16", -65504.0, 65504.0),
        ("float32", -3.4028235e38, 3.4028235e38),
        ("float64", -1.7976931348623157e308, 1.7976931348623157e308),
        ("float8_e4m3fn", -448, 448),
        ("float8_e5m2", -57344, 57344),
        ("int8", -128, 127),
        ("int64", -(2**63), 2**63 - 1),
        ("uint8", 0, 255),
        ("uint64", 0, 2**64 - 1),
    ],
)
def test_min_and_max(name, least, greatest):
    dtype = as_dtype(name)
    assert dtype.min == dtype.as_numpy_dtype(least)
    assert dtype.max == dtype.as_numpy_dtype(greatest)
    assert isinstance(dtype.max, int if dtype.is_integer else dtype.as_numpy_dtype)


@pytest.mark.parametrize("name", ["bool", "string", "complex64", "complex128"])
def test_no_min_and_max(name):
    with pytest.raises(TypeError, match=f"tf.{name} has no minimum"):
        as_dtype(name).min
    with pytest.raises(TypeError, match=f"tf.{name} has no maximum"):
        as_dtype(name).max


def test_limits():
    assert dtypes.uint8.limits == (0, 255)
    assert dtypes.int8.limits == (0, 127)
    assert dtypes.float32.limits == dtypes.float64.limits == (0, 1)
    assert dtypes.bool_.limits == (0, True)
    for dtype in (dtypes.float16, dtypes.bfloat16, dtypes.complex64, dtypes.string):
        with pytest.raises(ValueError, match=f"{dtype!r} has no limits"):
            dtype.limits


def test_real_dtype():
    assert dtypes.complex64.real_dtype is dtypes.float32
    assert dtypes.complex128.real_dtype is dtypes.float64
    assert dtypes.float16.real_dtype is dtypes.float16
    assert dtypes.string.real_dtype is dtypes.string


def test_compatibility():
    assert dtypes.float32.is_compatible_with("float32")
    assert not dtypes.float32.is_compatible_with(dtypes.float64)
    assert dtypes.float32.is_subtype_of(dtypes.float32)
    assert not dtypes.float32.is_subtype_of(dtypes.float64)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (float, "float32"),
        (int, "int32"),
        (bool, "bool"),
        (complex, "complex128"),
        (str, "string"),
        (bytes, "string"),
        (object, "string"),
        ("half", "float16"),
        ("float", "float32"),
        ("double", "float64"),
        (np.str_, "string"),
        (np.bytes_, "string"),
        (np.dtype("U3"), "string"),
        (np.dtype("S3"), "string"),
        (np.dtype(">f4"), "float32"),
        (np.intc, "int32"),
        (np.longlong, "int64"),
        (np.zeros(3), "float64"),
        (np.float32(1), "float32"),
        (1, "float32"),
        (19, "float16"),
    ],
)
def test_as_dtype(value, name):
    assert as_dtype(value).name == name


@pytest.mark.parametrize(
    "value",
    [
        *("foo", "int", "f4", "str", "object", None, [1], dict, 1000),
        *(np.datetime64, np.dtype("M8[s]"), np.longdouble, np.floating, np.dtype("V4")),
    ],
)
def test_as_dtype_refuses(value):
    with pytest.raises(TypeError, match=r"Cannot convert .* to a tf.DType"):
        as_dtype(value)


def test_from_numpy():
    assert from_numpy(np.dtype("longlong")) is dtypes.int64
    assert from_numpy(np.array(["ab"]).dtype) is dtypes.string
    assert from_numpy(np.array([b"ab"]).dtype) is dtypes.string
    assert from_numpy(np.dtype(">i8")) is dtypes.int64
    with pytest.raises(TypeError, match=r"'datetime64\[s\]'.*astype\(np.int64\)"):
        from_numpy(np.dtype("M8[s]"))
    with pytest.raises(TypeError, match=r"astype\(np.float64\)"):
        from_numpy(np.dtype("longdouble"))
