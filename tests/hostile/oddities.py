"""Arguments that nobody should pass, as the Python that makes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.differential.draw import FORMS, Dice, numbers
from tests.differential.values import Array, Code

INTEGERS = (
    *("0", "1", "2", "3", "-1", "-2", "5", "70", "10**6", "10**9", "-(10**9)"),
    *("2**31 - 1", "2**31", "-(2**31)", "2**62", "2**63 - 1", "-(2**63)"),
    *("2**63", "2**64", "-(2**64)", "10**30", "10**400", "True"),
)
FLOATS = ("nan", "inf", "-inf", "1e308", "-1e308", "1e-320", "-0.0", "0.5", "2.0", "1j", "-1.5")
SHAPES = (
    *("[]", "[0]", "[-1]", "[2, -1]", "[-1, -1]", "[-2]", "[2**62, 4]", "[2**31, 2**31]"),
    *("[10**6, 10**6]", "[0, 2**62]", "[2**63]", "[10**30]", "[None, 3]", "[1.5]", "[[2]]"),
    *("[1] * 70", "[2] * 40", "(3,)", "tf.TensorShape(None)", "tf.TensorShape([2, None])"),
    *("tf.constant([-5])", "tf.constant([2**62, 4])", "np.array([2, 3])", "[tf.constant(2), 3]"),
    *("[True]", "['2']", "range(3)", "[2, 3, 2**40]", "[nan]", "tf.constant(2.0)", "[2**31]"),
)
TEXTS = (
    *("''", "'x'", "'nonsense'", "'SAME'", "'float32'", "'NHWC'", "'\\x00'", "'\\ud800'"),
    *("b''", "b'\\xff\\x00'", "'a,b->c'", "'...'", "'i' * 10**6", "'é'"),
)
CONTAINERS = (
    *("[]", "()", "{}", "set()", "[[]]", "[[], []]", "[[1], [2, 3]]", "[1, 'a']", "[None]"),
    *("{'a': 1}", "{1, 2}", "{1: 2, 'a': 3}", "range(3)", "(i for i in range(3))"),
    *("iter([1.0])", "frozenset([1])", "deque([1.0])", "Pair(1.0, [2.0])", "Pair(1.0, 2.0)"),
    *("nested(70)", "nested(500)", "nested(5000)", "cyclic()", "OrderedDict(b=1, a=2)"),
    *("[[1.0, 2.0]] * 3", "[1.0, [2.0]]", "(1.0, None)", "[tf.constant(1.0), 'a']"),
    *("[tf.constant(1.0), tf.constant([1.0])]", "[1, 2**63]", "[2**64]", "{None: 1.0}"),
    *("[True, 1]", "[1, 2.5, 1j]", "[np.float64(1), 2]", "['a', b'b']", "[[1], 2]"),
)
OBJECTS = (
    *("None", "...", "object()", "object", "int", "Plain()", "Plain", "Index()", "Arrays()"),
    *("Endless()", "np", "tf", "lambda: 0", "lambda *a, **k: None", "lambda x: x", "len"),
    *("lambda *a: int('a')", "Exception('x')", "Decimal('1.5')", "Fraction(1, 3)", "slice(1, 2)"),
    *("memoryview(b'ab')", "bytearray(b'ab')", "array('d', [1.0])", "NotImplemented", "print"),
    *("zip([1], [2])", "type", "property()", "2**63 * 1.0", "{}.keys()", "1 < 2"),
)
ARRAYS = (
    *("np.zeros((0, 3))", "np.zeros((2, 0), 'f4')", "np.array('a')", "np.array([None, 1])"),
    *("np.zeros(3, 'M8[s]')", "np.zeros(2, [('a', 'i4')])", "np.zeros((1,) * 32)", "np.zeros(())"),
    *("np.zeros(3, '>f4')", "np.longdouble(1)", "np.ma.masked_array([1.0, 2.0], [0, 1])"),
    *("np.zeros((4, 4))[::2, ::-1]", "np.uint64(2**64 - 1)", "np.zeros(2, 'V3')", "np.bool_(1)"),
    *("np.array([2**63], 'u8')", "np.str_('a')", "np.bytes_(b'a')", "np.datetime64('NaT')"),
    *("np.zeros((2, 3), 'f2')", "np.matrix([[1.0]])", "np.array([[1], [2, 3]], object)"),
    *("np.clongdouble(1)", "np.int8(-128)", "np.array(['é'])", "np.timedelta64(1, 's')"),
)
KINDS = (
    *("tf.float32", "tf.string", "tf.bfloat16", "tf.int64", "tf.bool", "tf.uint8", "tf.complex64"),
    *("'float33'", "float", "np.float16", "'M8'", "np.dtype('V3')", "tf.uint64", "str", "1", "99"),
)
TENSORS = (
    *("tf.zeros([0])", "tf.zeros([1] * 9)", "tf.constant('a')", "tf.constant([b'a', b''])"),
    *("tf.IndexedSlices(tf.ones([1, 2]), [0], [3, 2])", "tf.TensorSpec([None], tf.float32)"),
    *("tf.TensorArray(tf.float32, 2)", "tf.data.Dataset.range(3)", "tf.constant(2**63 - 1)"),
    *("tf.constant([2**62, 4])", "tf.Variable('a')", "tf.GradientTape()", "tf.errors.OpError"),
    *("tf.IndexedSlices(tf.ones([1]), [5])", "tf.Variable(1.0).assign", "tf.constant", "tf.add"),
    *("tf.random.Generator.from_seed(1)", "tf.function(lambda x: x)", "tf.Module()"),
)
FAMILIES = (INTEGERS, FLOATS, SHAPES, TEXTS, CONTAINERS, OBJECTS, ARRAYS, KINDS, TENSORS)

DTYPES = (
    *("float32", "float64", "float16", "bfloat16", "int32", "int64", "int8", "uint8", "uint16"),
    *("uint32", "uint64", "complex64", "complex128", "bool"),
)
EXTREMES = {"i": (-(2**63), 2**63 - 1, -1, 0, 2**31), "u": (0, 2**64 - 1, 2**63)}


def anything(dice: Dice) -> Any:
    """A value of any kind."""
    if dice.chance(0.15):
        return tensor(dice)
    return Code(odd(dice))


def odd(dice: Dice) -> str:
    """The text of a value of any kind, which may stand before a dot or an operator."""
    text = dice.one(dice.one(FAMILIES))
    return (
        text
        if text.isidentifier() or (text[-1] in ")]}'" and "lambda" not in text)
        else f"({text})"
    )


def tensor(dice: Dice, near: tuple[int, ...] = ()) -> Array:
    """An array of any dtype and shape, or of a shape that is nearly right."""
    sizes = (0, 1, 2, 3, 5)
    shape = tuple(dice.one(sizes) for _ in range(dice.one((0, 1, 1, 2, 2, 3, 4, 5))))
    if near and dice.chance(0.6):
        changed = list(near)
        changed[dice.integer(0, len(near) - 1)] = dice.one(sizes)
        shape = dice.one((tuple(changed), near[1:], (*near, 1), (2, *near), near[:-1], near))
    dtype = dice.one(DTYPES)
    if dice.chance(0.06):
        return Array(np.full(shape, b"a", object))
    values = numbers(dice, shape, dtype, edges=True)
    if values.dtype.kind in EXTREMES and dice.chance(0.4):
        extreme = dice.one(EXTREMES[values.dtype.kind])
        info = np.iinfo(values.dtype)
        values = np.full_like(values, min(max(extreme, info.min), info.max))
    return Array(values, dice.one(("tensor",) if dtype == "bfloat16" else FORMS))


def spoiled(dice: Dice, value: Any, name: str, like: bool = False) -> Any:
    """Something in the place of a value that would have been right; if `like`, an array for an array."""
    if isinstance(value, Array) and like:
        return Array(tensor(dice, value.shape).values, value.form)
    if isinstance(value, Array) and dice.chance(0.6):
        return tensor(dice, value.shape)
    if isinstance(value, list) and value and isinstance(value[0], Array) and dice.chance(0.4):
        return [tensor(dice, value[0].shape), *value[1:]]
    if dice.chance(0.6):
        if "shape" in name or "size" in name or isinstance(value, (list, tuple)):
            return Code(dice.one(SHAPES))
        if "dtype" in name or name.startswith("T"):
            return Code(dice.one(KINDS))
        if isinstance(value, str):
            return Code(dice.one(TEXTS))
        if isinstance(value, int) or "axis" in name:
            return Code(dice.one(INTEGERS))
        if isinstance(value, float):
            return Code(dice.one(FLOATS))
    return anything(dice)
