"""`tf.strings` where rows differ in length."""

WORDS = ["Hello", "", "  a b\t", "TensorFlow 2.x", "ÄÖÜ€😀", "a,b,,c", "x" * 70]
SPACED = ["", "a", " a", "a ", "a, b", "  a b c  ", "a\tb\nc\x0bd", "  ", "one  two three four "]


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


CASES = {
    "ngrams": _all(lambda tf, x: tf.strings.ngrams(x, 2), ["a", "b", "c"]),
    "split": _all(lambda tf, x: tf.strings.split(x), WORDS),
    "split_comma": _all(lambda tf, x: tf.strings.split(x, ","), WORDS),
    "split_matrix": _all(lambda tf, x: tf.strings.split(x), [["a b", "c"], ["d", "e f g"]]),
    "bytes_split": _all(lambda tf, x: tf.strings.bytes_split(x), ["abc", "", "d"]),
    "ngrams_of_splits": _all(
        lambda tf, x: tf.strings.ngrams(tf.strings.split(x), [1, 2]), ["a b c", "d", ""]
    ),
    "unicode_decode": _all(lambda tf, x: tf.strings.unicode_decode(x, "UTF-8"), WORDS),
    "unicode_decode_offsets": _all(
        lambda tf, x: tf.strings.unicode_decode_with_offsets(x, "UTF-8"), WORDS
    ),
    "unicode_split": _all(lambda tf, x: tf.strings.unicode_split(x, "UTF-8"), WORDS),
    "unicode_split_matrix": _all(
        lambda tf, x: tf.strings.unicode_split(x, "UTF-8"), [["ab", "ä"], ["", "c"]]
    ),
    "unicode_there_and_back": _all(
        lambda tf, x: tf.strings.unicode_encode(tf.strings.unicode_decode(x, "UTF-8"), "UTF-8"),
        WORDS,
    ),
    **_each(
        "split",
        scalar=lambda tf, s: s.split("a b  c"),
        nothing=lambda tf, s: s.split(""),
        nothing_comma=lambda tf, s: s.split("", ","),
        most=lambda tf, s: s.split("a b c", maxsplit=1),
        most_comma=lambda tf, s: s.split("a,b,c", ",", 1),
        none=lambda tf, s: s.split("a b c", maxsplit=0),
        rest=lambda tf, s: s.split("  a  b  c  ", maxsplit=2),
        **{
            f"most_{most}_{'white' if sep is None else sep}": (
                lambda tf, s, sep=sep, most=most: s.split(SPACED, sep, most)
            )
            for sep in (None, " ", ", ")
            for most in (-2, 0, 1, 2, 3)
        },
        longer=lambda tf, s: s.split("a--b", "--"),
        empty=lambda tf, s: s.split(tf.zeros([0], tf.string)),
        ragged=lambda tf, s: s.split(tf.ragged.constant([["a b", "c"], ["d"]])),
        bytes_of_matrix=lambda tf, s: s.bytes_split([["abc"], ["d"]]),
    ),
    **_each(
        "ngrams",
        widths=lambda tf, s: s.ngrams(["a", "b", "c"], (1, 2), "|"),
        short=lambda tf, s: s.ngrams(["a"], 3),
        padded=lambda tf, s: s.ngrams(["a"], 3, pad_values=("L", "R")),
        preserved=lambda tf, s: s.ngrams(["a"], 3, preserve_short_sequences=True),
        matrix=lambda tf, s: s.ngrams([["a", "b"], ["c", "d"]], 2),
        padding_width=lambda tf, s: s.ngrams(["a", "b"], 3, pad_values="P", padding_width=1),
        zero=lambda tf, s: s.ngrams(["a", "b"], 0),
        scalar=lambda tf, s: s.ngrams("a", 1),
        no_pads=lambda tf, s: s.ngrams(["a"], 2, padding_width=1),
        ragged=lambda tf, s: s.ngrams(tf.ragged.constant([["a", "b", "c"], ["d"]]), 2),
        ragged_padded=lambda tf, s: s.ngrams(
            tf.ragged.constant([["a", "b", "c"], [], ["d"]]), 2, pad_values="_"
        ),
    ),
    **_each(
        "unicode",
        no_encoding=lambda tf, s: s.unicode_decode("a", "foo"),
        offsets_utf16=lambda tf, s: s.unicode_decode_with_offsets(
            ["aä😀".encode("utf-16-be")], "UTF-16-BE"
        ),
        broken_utf16=lambda tf, s: s.unicode_decode_with_offsets(
            [b"\xd8\x00\x00a", b"\x00"], "UTF-16-BE"
        ),
        encode_utf32=lambda tf, s: s.unicode_decode(
            s.unicode_encode([97, 0x1F600], "UTF-32-BE"), "UTF-32-BE"
        ),
        encode_ragged=lambda tf, s: s.unicode_encode(
            tf.ragged.constant([[97, 98], [], [99]]), "UTF-8"
        ),
        encode_deep_ragged=lambda tf, s: s.unicode_encode(
            tf.ragged.constant([[[97, 98], []], [[99]]]), "UTF-8"
        ),
    ),
}

for _text in (
    *(b"a\xffb", b"\xe2\x82", b"\xed\xa0\x80x", b"\xf4\x90\x80\x80", b"\x00\x01\x1f\x7f\xc2\x80"),
    *(b"\xc0\xaf", b"\xf0\x9f\x98\x80!", b"\xe2\x82x", b"\xf8\x88\x80\x80\x80", b"\xe0\x80\x80"),
):
    CASES[f"broken {_text!r}"] = _one(
        lambda tf, s, text=_text: [
            s.unicode_decode_with_offsets(text, "UTF-8"),
            s.unicode_decode_with_offsets([text, "é"], "UTF-8", errors="ignore")[1].to_list(),
            s.unicode_decode(text, "UTF-8", replacement_char=65, replace_control_characters=True),
            s.unicode_split(text, "UTF-8"),
            s.unicode_transcode(text, "UTF-8", "UTF-8", replace_control_characters=True),
            s.unicode_transcode(text, "UTF-8", "UTF-8", errors="ignore"),
        ]
    )
