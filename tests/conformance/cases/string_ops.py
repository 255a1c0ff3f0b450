"""`tf.strings`: eagerly, in functions, and in functions that were traced for unknown sizes."""

import numpy as np

WORDS = ["Hello", "", "  a b\t", "TensorFlow 2.x", "ÄÖÜ€😀", "a,b,,c", "x" * 70]
HASHED = [b"", *(bytes(range(1, n + 1)) for n in (1, 3, 4, 7, 8, 15, 16, 17, 32, 33, 64, 65, 130))]


def _plain(value):
    """Rows as lists, where they may differ in length."""
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    if not hasattr(value, "to_list"):
        return value
    return [type(value).__name__, value.shape.rank, value.to_list()]


def _all(f, *inputs):
    def case(tf):
        xs = [tf.constant(x) for x in inputs]
        specs = [tf.TensorSpec([None] * x.shape.rank, x.dtype) for x in xs]

        def traced(*xs):
            return f(tf, *xs)

        plain = tf.function(traced, autograph=False)
        unknown = tf.function(traced, autograph=False, input_signature=specs)
        return [_plain(y) for y in (traced(*xs), plain(*xs), unknown(*xs))]

    return case


def _one(f):
    return lambda tf: _plain(f(tf, tf.strings))


def _each(op, **variants):
    return {f"{op}_{name}": _one(f) for name, f in variants.items()}


def _matching(pattern, *texts):
    return _one(lambda tf, s: s.regex_full_match(list(texts), pattern))


def _replacing(pattern, rewrite, *texts):
    return _one(
        lambda tf, s: [
            s.regex_replace(list(texts), pattern, rewrite),
            s.regex_replace(list(texts), pattern, rewrite, replace_global=False),
        ]
    )


CASES = {
    "lower": _all(lambda tf, x: tf.strings.lower(x), WORDS),
    "lower_utf8": _all(lambda tf, x: tf.strings.lower(x, encoding="utf-8"), WORDS),
    "upper": _all(lambda tf, x: tf.strings.upper(x), WORDS),
    "upper_utf8": _all(lambda tf, x: tf.strings.upper(x, encoding="utf-8"), ["straße", "éa"]),
    "strip": _all(lambda tf, x: tf.strings.strip(x), WORDS),
    "length": _all(lambda tf, x: tf.strings.length(x), [WORDS, WORDS]),
    "length_characters": _all(lambda tf, x: tf.strings.length(x, "UTF8_CHAR"), [WORDS]),
    "join": _all(lambda tf, x, y: tf.strings.join([x, "-", y], "/"), WORDS, WORDS),
    "sum": _all(lambda tf, x, y: x + y, ["a", "b"], [["c"], ["d"]]),
    "sum_with_text": _all(lambda tf, x: "<" + x + ">", ["a", "b"]),
    "equal": _all(lambda tf, x, y: (x == y, x != y), ["a", "b"], ["a", "c"]),
    "equal_to_text": _all(lambda tf, x: x == "a", ["a", "b"]),
    "reduce_join": _all(lambda tf, x: tf.strings.reduce_join(x, 0, separator=","), [WORDS, WORDS]),
    "reduce_join_all": _all(lambda tf, x: tf.strings.reduce_join(x), [["a", "b"], ["c", "d"]]),
    "segments": _all(
        lambda tf, x, i: tf.strings.unsorted_segment_join(x, i, 3, ":"), ["a", "b", "c"], [2, 0, 2]
    ),
    "substr": _all(
        lambda tf, x, i: tf.strings.substr(x, i, i * 0 + 2), ["hello", "world"], [1, -3]
    ),
    "to_number": _all(lambda tf, x: tf.strings.to_number(x), ["1", "-2.5", " 3e2 ", "inf"]),
    "to_number_int64": _all(
        lambda tf, x: tf.strings.to_number(x, tf.int64), ["1", "-9000000000", " 7 "]
    ),
    "as_string": _all(lambda tf, x: tf.strings.as_string(x), [1.5, -0.0, 1e20, float("inf")]),
    "as_string_int": _all(lambda tf, x: tf.strings.as_string(x), [[1, -2], [3, 4]]),
    "full_match": _all(lambda tf, x: tf.strings.regex_full_match(x, r"[\w .]*\d.x"), WORDS),
    "replace": _all(lambda tf, x: tf.strings.regex_replace(x, r"(\w)(\w)", r"\2\1"), WORDS),
    "bucket": _all(lambda tf, x: tf.strings.to_hash_bucket(x, 1000), HASHED),
    "bucket_fast": _all(lambda tf, x: tf.strings.to_hash_bucket_fast(x, 2**40), HASHED),
    "bucket_strong": _all(
        lambda tf, x: tf.strings.to_hash_bucket_strong(x, 2**40, [7, 12345678901]), HASHED
    ),
    "unicode_encode": _all(
        lambda tf, x: tf.strings.unicode_encode(x, "UTF-8"), [[97, 228], [0x1F600, 8364]]
    ),
    "unicode_transcode": _all(
        lambda tf, x: tf.strings.length(tf.strings.unicode_transcode(x, "UTF-8", "UTF-16-BE")),
        WORDS,
    ),
    "unicode_script": _all(
        lambda tf, x: tf.strings.unicode_script(x), [97, 955, 48, 0x4E00, 0x110000, -1, 0x1F600]
    ),
    "format": _all(lambda tf, x: tf.strings.format("x: {} {}", (x, x)), [[1.5, 2.0], [3.0, 4.25]]),
    **_each(
        "lower",
        encoding=lambda tf, s: s.lower("A", encoding="latin1"),
        ints=lambda tf, s: s.lower([1]),
        int_tensor=lambda tf, s: s.lower(tf.constant([1])),
        bad_utf8=lambda tf, s: s.lower(b"A\xffB", encoding="utf-8"),
    ),
    **_each(
        "strip",
        bytes=lambda tf, s: s.strip(b" \t\n\x0b\x0c\r a b \x1c"),
    ),
    **_each(
        "length",
        unit=lambda tf, s: s.length("a", "x"),
        broken=lambda tf, s: s.length([b"\xff\x80a"], "UTF8_CHAR"),
        scalar=lambda tf, s: s.length("abc"),
        empty=lambda tf, s: s.length(tf.zeros([0], tf.string)),
    ),
    **_each(
        "join",
        nothing=lambda tf, s: s.join([]),
        one=lambda tf, s: s.join(["c"], "-"),
        shapes=lambda tf, s: s.join([["a", "b"], ["c"]]),
        number=lambda tf, s: s.join(["c", 1]),
        rows=lambda tf, s: s.join(tf.constant(["c", "d"]), "-"),
        ragged=lambda tf, s: s.join([tf.ragged.constant([["a", "b"], ["c"]])] * 2, "-").to_list(),
        ragged_and_scalar=lambda tf, s: s.join([tf.ragged.constant([["a"], []]), "x"]).to_list(),
        separator=lambda tf, s: s.join(["c", "d"], tf.constant("-")),
    ),
    **_each(
        "reduce_join",
        ragged=lambda tf, s: s.reduce_join(
            tf.ragged.constant([["a", "b"], [], ["c"]]), axis=1, separator=" "
        ),
        ragged_rows=lambda tf, s: s.reduce_join(tf.ragged.constant([["a", "b"], ["c"]]), axis=0),
        ragged_all=lambda tf, s: s.reduce_join(tf.ragged.constant([["a", "b"], ["c"]])),
        ragged_last=lambda tf, s: s.reduce_join(
            tf.ragged.constant([[["a", "b"], ["c"]], [["d"]]]), axis=-1, separator="-"
        ).to_list(),
        ragged_kept=lambda tf, s: s.reduce_join(
            tf.ragged.constant([["a", "b"], ["c"]]), axis=1, keepdims=True
        ),
    ),
    **_each(
        "sum",
        number=lambda tf, s: tf.constant("a") + tf.constant(1),
        product=lambda tf, s: tf.constant("a") * tf.constant("b"),
        shapes=lambda tf, s: tf.constant(["a", "b"]) + tf.constant(["a", "b", "c"]),
        function=lambda tf, s: tf.add(["a"], ["b"]),
    ),
    **_each(
        "reduce_join",
        order=lambda tf, s: s.reduce_join([["a", "b"], ["c", "d"]], [0, 1]),
        other_order=lambda tf, s: s.reduce_join([["a", "b"], ["c", "d"]], [1, 0]),
        keepdims=lambda tf, s: s.reduce_join([["a", "b"], ["c", "d"]], [1], True),
        no_axes=lambda tf, s: s.reduce_join([["a", "b"], ["c", "d"]], []),
        range=lambda tf, s: s.reduce_join(["a"], 2),
        twice=lambda tf, s: s.reduce_join([["a"]], [0, 0]),
        scalar=lambda tf, s: s.reduce_join("a"),
        empty=lambda tf, s: s.reduce_join(tf.zeros([2, 0], tf.string), 1),
        cube=lambda tf, s: s.reduce_join(
            [[["a", "b"], ["c", "d"]], [["e", "f"], ["g", "h"]]], [2, 0]
        ),
    ),
    **_each(
        "segments",
        matrix=lambda tf, s: s.unsorted_segment_join([["a", "b"], ["c", "d"]], [1, 0], 3),
        flat=lambda tf, s: s.unsorted_segment_join(
            [["a", "b"], ["c", "d"]], [[1, 0], [0, 1]], 3, "-"
        ),
        negative=lambda tf, s: s.unsorted_segment_join(["a", "b"], [-1, 0], 3),
        over=lambda tf, s: s.unsorted_segment_join(["a", "b"], [5, 0], 3),
    ),
    **_each(
        "substr",
        end=lambda tf, s: s.substr("hello", 5, 2),
        over=lambda tf, s: s.substr("hello", 6, 2),
        under=lambda tf, s: s.substr("hello", -6, 2),
        no_length=lambda tf, s: s.substr("hello", 1, -2),
        rows=lambda tf, s: s.substr(["hello", "world"], [[0], [1]], [[2], [3]]),
        places=lambda tf, s: s.substr("hello", [0, 1], [2, 3]),
        shapes=lambda tf, s: s.substr(["hello", "abc"], [0, 1, 2], [2, 3, 1]),
        one_length=lambda tf, s: s.substr(["hello", "abc"], [0, 1], 2),
        characters=lambda tf, s: s.substr("äöü€", -2, 2, "UTF8_CHAR"),
        characters_over=lambda tf, s: s.substr("äöü€", 5, 2, "UTF8_CHAR"),
        characters_end=lambda tf, s: s.substr("äöü€", 4, 2, "UTF8_CHAR"),
        float=lambda tf, s: s.substr("a", 1.0, 2.0),
    ),
    **_each(
        "unicode",
        encodings=lambda tf, s: [
            s.unicode_transcode(b"a\xe4\x80", name, "UTF-8")
            for name in ("UTF-16-BE", "latin1", "US-ASCII", "windows-1252", "UTF-16-LE")
        ],
        encode_surrogate=lambda tf, s: s.unicode_encode([97, 0xD800, 0x110000, -1], "UTF-8"),
        encode_ignore=lambda tf, s: s.unicode_encode([97, 0xD800], "UTF-8", errors="ignore"),
        encode_strict=lambda tf, s: s.unicode_encode([97, 0xD800], "UTF-8", errors="strict"),
        encode_replacement=lambda tf, s: s.unicode_encode([97, -1], "UTF-8", replacement_char=66),
        encode_latin1=lambda tf, s: s.unicode_encode([97], "latin1"),
        encode_scalar=lambda tf, s: s.unicode_encode(97, "UTF-8"),
        encode_cube=lambda tf, s: s.unicode_encode([[[97, 98], [99, 100]]], "UTF-8"),
        no_errors=lambda tf, s: s.unicode_transcode("a", "UTF-8", "UTF-8", errors="x"),
        replacement=lambda tf, s: s.unicode_transcode(
            "a", "UTF-8", "UTF-8", replacement_char=0x110000
        ),
        scripts=lambda tf, s: s.unicode_script(np.arange(0, 0x110000, 997, dtype=np.int32)),
        script_int64=lambda tf, s: s.unicode_script(tf.constant([1], tf.int64)),
    ),
    **_each(
        "bucket",
        none=lambda tf, s: s.to_hash_bucket_fast("a", 0),
        key=lambda tf, s: s.to_hash_bucket_strong("a", 10, [1]),
        negative_key=lambda tf, s: s.to_hash_bucket_strong(["a", "b"], 1000, [-1, 2]),
        tensor_key=lambda tf, s: s.to_hash_bucket_strong("a", 10, tf.constant([1, 2])),
        matrix=lambda tf, s: s.to_hash_bucket_fast([["a"], ["b"]], 10),
    ),
    **_each(
        "format",
        string=lambda tf, s: s.format("{}|{}", (tf.constant([1, 2, 3]), tf.constant("a"))),
        long=lambda tf, s: s.format("{}", tf.range(100)),
        all=lambda tf, s: s.format("{}", tf.range(20), summarize=-1),
        few=lambda tf, s: s.format("{} {}", tf.constant(1)),
        placeholder=lambda tf, s: s.format("%t% b", tf.constant(1), placeholder="%t%"),
        nothing=lambda tf, s: s.format("none", ()),
        bools=lambda tf, s: s.format("{}", tf.constant([True, False])),
        third=lambda tf, s: s.format("{}", tf.constant(1 / 3)),
        matrix=lambda tf, s: s.format("{}", tf.reshape(tf.range(400), [20, 20])),
    ),
}

for _text in (
    *("1", "-1.5", " 1 ", "1e3", "inf", "nan", "0x10", "1_0", "", "abc", "1f", "-Infinity", "1."),
    *("0x1p3", "+1", "1e400", "1 2", ".5", "--1", "1e", "0b1", "3000000000", "-0x.8p1", "+-1"),
):
    for _dtype in ("float32", "float64", "int32", "uint64"):
        CASES[f"to_number {_text!r} {_dtype}"] = _one(
            lambda tf, s, text=_text, dtype=_dtype: s.to_number(text, getattr(tf, dtype))
        )
CASES["to_number_int16"] = _one(lambda tf, s: s.to_number("3", tf.int16))

_VALUES = {
    "int": (np.array([1, -5, 0], np.int32)),
    "uint8": (np.array([7, 200], np.uint8)),
    "uint64": (np.array([2**63], np.uint64)),
    "float": (np.array([2.5, 1e-7, -0.0, 1e20, 123456789.0], np.float32)),
    "double": (np.array([2.5, 1e-7, np.inf, -np.inf, np.nan], np.float64)),
    "bool": np.array([True, False]),
    "complex": np.array([1 + 2j, -1.5j], np.complex64),
    "string": np.array(["abc", ""]),
    "half": np.array([1.5, 65504.0], np.float16),
}
_WAYS = {
    "": {},
    "precision": {"precision": 3},
    "scientific": {"scientific": True},
    "scientific precision": {"scientific": True, "precision": 2},
    "shortest": {"shortest": True},
    "shortest precision": {"shortest": True, "precision": 3},
    "zeros": {"width": 12, "fill": "0"},
    "width": {"width": 12},
    "left": {"width": 12, "fill": "-"},
    "plus": {"width": 8, "fill": "+"},
    "space": {"width": 8, "fill": " "},
    "both": {"scientific": True, "shortest": True},
    "fill": {"width": 8, "fill": "x"},
    "long fill": {"width": 8, "fill": "00"},
}
for _kind, _value in _VALUES.items():
    for _way, _options in _WAYS.items():
        CASES[f"as_string {_kind} {_way}"] = _one(
            lambda tf, s, value=_value, options=_options: s.as_string(value, **options)
        )

for _pattern, _rewrite, _text in (
    *(("a", "b", "banana"), ("b*", "-", "abc"), ("(a)(n)", r"\2\1", "banana"), ("x*", "-", "äb")),
    *(("^a|n", "X", "anan"), (r"\s+", " ", "a \t\n b"), ("[[:punct:]]", "", "a.b,c!")),
    *((r"\pL", "L", "aäß1"), ("(?i)A", "x", "aA"), ("a$", "x", "ba\n"), (".", "x", "aä\n")),
    *(("(", ")", "a"), ("(?=a)", "x", "a"), (r"(a)\1", "x", "aa"), ("a", r"\\", "a")),
    *((r"\d", "D", "1٣"), (r"\w", "W", "aä_"), (r"\b", "|", "ab cd"), ("$", "!", "ab")),
    *(("", ".", "abc"), (r"\z", "!", "ab"), ("a(?i)b", "x", "aB AB"), ("a(?i)b|c", "x", "aB AB C")),
    *(("a++", "x", "aa"), (r"\Qa.b\E", "x", "a.bacb"), ("(?P<n>a)", r"<\1>", "a")),
    *(("(?<n>a)", "x", "a"), (r"[^\s]", "x", "a \x0b"), (r"\p{Greek}", "G", "aλ")),
    *(
        (r"\P{L}", "x", "a1"),
        ("a{2,3}", "x", "aaaa"),
        ("a{,3}", "x", "aa{,3}"),
        ("[]a]", "x", "]a"),
    ),
    *(
        ("(?s).", "x", "\n"),
        ("(?m)^a$", "x", "a\na"),
        ("(?U)a+", "x", "aa"),
        ("[[:^alpha:]]", "x", "a1"),
    ),
    *((r"\x{e4}", "x", "ä"), (r"\141", "x", "a"), ("(?i)ä", "x", "Ä"), ("a|*", "x", "a")),
    *(
        (r"\1", "x", "a"),
        ("[a", "x", "a"),
        (r"\A\w+", "x", "ab ab"),
        ("(a|ab)(c|bcd)", r"[\1]", "abcd"),
    ),
    *((r"[\w]", "x", "ä"), (r"\N", "x", "a"), ("a{1001}", "x", "a"), (r"\u0041", "x", "A")),
    *(
        (r"\'", "x", "'"),
        (r"\_", "x", "_"),
        (r"\ä", "x", "ä"),
        (r"\pN", "x", "1٣"),
        (r"\v", "x", "\x0b"),
    ),
    *((r"[\d\-x]+", "_", "1-x"), ("(?:a)", "x", "a"), ("a*?", "x", "aa"), ("a**", "x", "aa")),
    *((r"[a-\d]", "x", "a"), ("[z-a]", "x", "a"), ("é", "e", "é"), ("(?i)[^a]", "x", "aAb")),
    *(
        ("a{2}{3}", "x", "aa"),
        ("(?i:a)b", "x", "Ab AB"),
        ("a.b", "x", "a\nb"),
        ("(?-s:.)", "x", "\n"),
    ),
    *(
        ("(|b)", "x", "abb"),
        (r"\D+", "-", "a1b"),
        (r"[\D]", "-", "a1"),
        (r"\W", "-", "ä b"),
        ("a)", "x", "a)"),
    ),
    *(
        (r"[[:word:]]+", "w", "ab_1 é"),
        (r"[\pL\d]+", "w", "é1-"),
        ("[^\n]*", "x", "a\nb"),
        ("\\", "x", "a"),
    ),
    *(
        (r"(?i)straße", "x", "STRASSE STRAßE"),
        (r"[a-c-e]", "x", "abc-de"),
        (r"[-a]", "x", "a-"),
        ("{a", "x", "{a"),
    ),
):
    CASES[f"pattern {_pattern!r} {_text!r}"] = _replacing(_pattern, _rewrite, _text)
    CASES[f"matching {_pattern!r} {_text!r}"] = _matching(_pattern, _text, _text * 2)

for _text in (
    *(b"a\xffb", b"\xe2\x82", b"\xed\xa0\x80x", b"\xf4\x90\x80\x80", b"\x00\x01\x1f\x7f\xc2\x80"),
    *(b"\xc0\xaf", b"\xf0\x9f\x98\x80!", b"\xe2\x82x", b"\xf8\x88\x80\x80\x80", b"\xe0\x80\x80"),
):
    CASES[f"strict {_text!r}"] = _one(
        lambda tf, s, text=_text: s.unicode_transcode(text, "UTF-8", "UTF-8", errors="strict")
    )
