"""Fields of messages: `tf.io.decode_proto` and `tf.io.encode_proto`."""

import struct

from case_helpers import everywhere

# A FileDescriptorSet for a message of every type, by hand: number, type, whether it is repeated, whether it is packed.
_FIELDS = {
    "d": (1, 1, False, False),
    "f": (2, 2, False, False),
    "i64": (3, 3, False, False),
    "u64": (4, 4, False, False),
    "i32": (5, 5, False, False),
    "x64": (6, 6, False, False),
    "x32": (7, 7, False, False),
    "b": (8, 8, False, False),
    "s": (9, 9, False, False),
    "m": (11, 11, False, False),
    "y": (12, 12, False, False),
    "u32": (13, 13, False, False),
    "sx32": (15, 15, False, False),
    "sx64": (16, 16, False, False),
    "s32": (17, 17, False, False),
    "s64": (18, 18, False, False),
    "many": (19, 3, True, False),
    "packed": (20, 5, True, True),
    "floats": (21, 2, True, True),
    "texts": (22, 9, True, False),
    "zigzags": (23, 18, True, True),
}


def _varint(n):
    n %= 2**64
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def _data(number, content):
    content = content.encode() if isinstance(content, str) else content
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _int(number, value):
    return _varint(number << 3) + _varint(value)


def _described():
    fields = b""
    for name, (number, kind, repeated, packed) in _FIELDS.items():
        said = _data(1, name) + _int(3, number) + _int(4, 3 if repeated else 1) + _int(5, kind)
        said += _data(6, ".some.All") if kind == 11 else b""
        said += _data(8, _int(2, 1)) if packed else b""
        fields += _data(2, said)
    message = _data(1, "All") + fields
    file = _data(1, "all.proto") + _data(2, "some") + _data(4, message)
    return b"bytes://" + _data(1, file)


SOURCE = _described()
FULL = (
    _varint(1 << 3 | 1)
    + struct.pack("<d", 1.5)
    + _varint(2 << 3 | 5)
    + struct.pack("<f", -2.5)
    + _int(3, -3)
    + _int(4, 2**64 - 1)
    + _int(5, -5)
    + _varint(6 << 3 | 1)
    + struct.pack("<Q", 2**63 + 1)
    + _varint(7 << 3 | 5)
    + struct.pack("<I", 2**32 - 2)
    + _int(8, 1)
    + _data(9, "text")
    + _data(11, _data(9, "inner"))
    + _data(12, b"\xff\x00")
    + _int(13, 2**32 - 1)
    + _varint(15 << 3 | 5)
    + struct.pack("<i", -15)
    + _varint(16 << 3 | 1)
    + struct.pack("<q", -16)
    + _int(17, 5)
    + _int(18, 8)
    + _int(19, 7)
    + _int(19, -8)
    + _data(20, _varint(1) + _varint(2) + _varint(-1))
    + _data(21, struct.pack("<2f", 0.5, 0.25))
    + _data(22, "a")
    + _data(22, "b")
    + _data(23, _varint(3) + _varint(4))
    + _int(99, 1)  # unknown
)
TYPES = {
    "d": "float64",
    "f": "float32",
    "i64": "int64",
    "u64": "uint64",
    "i32": "int32",
    "x64": "uint64",
    "x32": "uint32",
    "b": "bool",
    "s": "string",
    "m": "string",
    "y": "string",
    "u32": "uint32",
    "sx32": "int32",
    "sx64": "int64",
    "s32": "int32",
    "s64": "int64",
    "many": "int64",
    "packed": "int32",
    "floats": "float32",
    "texts": "string",
    "zigzags": "int64",
}


def _decode(contents, *names, kind="some.All", source=SOURCE, **types):
    def case(tf):
        wanted = {name: types.get(name, TYPES.get(name, "int64")) for name in names}
        dtypes = [getattr(tf, t) for t in wanted.values()]

        def f(x):
            sizes, values = tf.io.decode_proto(x, kind, list(wanted), dtypes, source)
            return [sizes, *values]

        return everywhere(tf, f, contents)

    return case


def round_trip(tf):
    names = list(TYPES)
    dtypes = [getattr(tf, t) for t in TYPES.values()]
    sizes, values = tf.io.decode_proto([FULL, b""], "some.All", names, dtypes, SOURCE)
    messages = tf.io.encode_proto(sizes, values, names, "some.All", SOURCE)
    return messages, list(messages[0].numpy())


def encoded_in_function(tf):
    @tf.function
    def f(sizes, many, text):
        return tf.io.encode_proto(sizes, [many, text], ["many", "s"], "some.All", SOURCE)

    return f(
        tf.constant([[[2, 1]], [[0, 1]]]),
        tf.constant([[[1, 2]], [[3, 4]]], tf.int64),
        tf.constant([[["a"]], [["b"]]]),
    )


def _encode(sizes, values, names, kind="some.All"):
    return lambda tf: tf.io.encode_proto(sizes, values(tf), names, kind, SOURCE)


CASES = {
    "all": _decode(FULL, *TYPES),
    "some_in_a_matrix": _decode([[FULL, b""], [_int(19, 4), FULL]], "many", "s", "d"),
    "nothing": _decode([b"", b""], "many", "s", "i32"),
    "wider": _decode(
        FULL, "i32", "f", "u32", "x32", i32="int64", f="float64", u32="uint64", x32="uint64"
    ),
    "twice": _decode(_int(5, 1) + _int(5, 2), "i32"),
    "packed_and_not": _decode(
        _int(20, 7) + _data(20, _varint(8)) + _data(19, _varint(9)), "packed", "many"
    ),
    "other_dtype": _decode(FULL, "s", s="int64"),
    "narrower": _decode(FULL, "i64", i64="int32"),
    "no_such_field": _decode(FULL, "nothing"),
    "no_such_message": _decode(FULL, "s", kind="some.Other"),
    "damaged": _decode(b"\x0a\xff", "s"),
    "empty_fields": _decode(FULL),
    "encode_other_dtype": _encode([[1]], lambda tf: [tf.constant([[1.0]])], ["many"]),
    "encode_too_many": _encode([[2]], lambda tf: [tf.constant([[1]], tf.int64)], ["many"]),
    "encode_two_of_one": _encode([[2]], lambda tf: [tf.constant([["a", "b"]])], ["s"]),
    "encode_unsorted": _encode(
        [[1, 1]], lambda tf: [tf.constant([["a"]]), tf.constant([[1.5]], tf.float64)], ["s", "d"]
    ),
    "encode_nothing_there": _encode([[1]], lambda tf: [tf.constant([["a"]])], ["q"]),
}
