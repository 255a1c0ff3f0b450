"""Examples are parsed, whatever they are: damaged ones are errors that say so. Conformance has the rest."""

import base64
import json

import numpy as np
import pytest

import tapeflow as tf

WANTED = {
    "n": tf.io.FixedLenFeature([], tf.int64, -1),
    "f": tf.io.FixedLenFeature([3], tf.float32, [0, 0, 0]),
    "t": tf.io.FixedLenFeature([], tf.string, ""),
    "s": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
}


def example(rng):
    message = tf.train.Example()
    feature = message.features.feature
    feature["n"].int64_list.value.append(
        int(rng.integers(-(2**40), 2**40)) >> int(rng.integers(41))
    )
    feature["f"].float_list.value.extend(rng.random(3))
    feature["t"].bytes_list.value.append(rng.bytes(int(rng.integers(300))))
    feature["s"].int64_list.value.extend(rng.integers(0, 1000, int(rng.integers(70))))
    feature["unused" * 30].bytes_list.value.append(b"nothing")
    return message


def test_a_batch_and_its_examples_give_the_same():
    rng = np.random.default_rng(0)
    messages = [example(rng) for _ in range(64)]
    data = [m.SerializeToString() for m in messages]
    whole = tf.io.parse_example(data, WANTED)
    for i, (text, message) in enumerate(zip(data, messages, strict=True)):
        one = tf.io.parse_single_example(text, WANTED)
        feature = message.features.feature
        assert one["n"].numpy() == whole["n"][i].numpy() == feature["n"].int64_list.value[0]
        assert (
            one["f"].numpy().tolist()
            == whole["f"][i].numpy().tolist()
            == feature["f"].float_list.value
        )
        assert one["t"].numpy() == whole["t"][i].numpy() == feature["t"].bytes_list.value[0]
        count = len(one["s"])
        assert one["s"].numpy().tolist() == whole["s"][i, :count].numpy().tolist()
        assert one["s"].numpy().tolist() == feature["s"].int64_list.value
        assert not whole["s"][i, count:].numpy().any()


@pytest.mark.parametrize("seed", range(4))
def test_damage_is_an_error_or_other_values_and_nothing_else(seed):
    rng = np.random.default_rng(seed)
    whole = [example(rng).SerializeToString() for _ in range(20)]
    for _ in range(60):
        data = bytearray(whole[0])
        for _ in range(int(rng.integers(1, 4))):
            data[int(rng.integers(len(data)))] = int(rng.integers(256))
        cut = bytes(data[: int(rng.integers(1, len(data) + 1))])
        for given in (tf.constant(cut), tf.constant([*whole, cut])):
            try:
                tf.io.parse_example(given, WANTED)
            except tf.errors.InvalidArgumentError as error:
                assert "parse_example" in str(error)


def test_a_length_that_is_made_up_is_an_error():
    for data in (
        b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
        b"\x0a\x04\x0a\xff\xff\x7f",
        b"\x0b",
        b"\x0a\x80",
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match="could not parse example 0"):
            tf.io.parse_single_example(data, WANTED)
        with pytest.raises(tf.errors.InvalidArgumentError, match="could not parse example 3"):
            tf.io.parse_example([b""] * 3 + [data] * 30, WANTED)


def test_names_of_examples_are_in_messages():
    wanted = {"n": tf.io.FixedLenFeature([], tf.int64)}
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"example 1 \(two\) does not have it"):
        good = example(np.random.default_rng(0)).SerializeToString()
        tf.io.parse_example([good, b""], wanted, example_names=["one", "two"])


def test_sequences_that_are_damaged():
    message = tf.train.SequenceExample()
    message.feature_lists.feature_list["t"].feature.add().int64_list.value.extend([1, 2])
    data = message.SerializeToString()
    wanted = {"t": tf.io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True)}
    for size in range(1, len(data)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="parse_single_sequence_example"):
            tf.io.parse_single_sequence_example(data[:size], sequence_features=wanted)


def test_examples_as_json():
    said = {
        "a": {"int64List": {"value": ["5", 6]}},
        "b": {"float_list": {"value": [0.5, "NaN", "-Infinity"]}},
        "c": {"bytesList": {"value": [base64.b64encode(b"\x01\xff").decode()]}},
        "d": {"bytesList": {}},
    }
    found = tf.io.decode_json_example(json.dumps({"features": {"feature": said}})).numpy()
    feature = tf.train.Example.FromString(found).features.feature
    assert feature["a"].int64_list.value == [5, 6]
    assert str(feature["b"]).split()[3:9] == ["0.5", "value:", "nan", "value:", "-inf", "}"]
    assert feature["c"].bytes_list.value == [b"\x01\xff"]
    assert feature["d"].WhichOneof("kind") == "bytes_list"
    assert tf.io.decode_json_example(["{}", '{"features": {}}']).numpy().tolist() == [
        b"",
        b"\n\x00",
    ]
    for wrong in (
        "junk",
        '{"features": 3}',
        '{"x": 1}',
        '{"features": {"feature": {"a": {"int64List": {"value": [0.5]}}}}}',
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not an Example in JSON"):
            tf.io.decode_json_example(wrong)


def test_records_of_examples_are_read_in_a_pipeline(tmp_path):
    rng = np.random.default_rng(1)
    messages = [example(rng) for _ in range(40)]
    path = str(tmp_path / "examples")
    with tf.io.TFRecordWriter(path, "GZIP") as writer:
        for message in messages:
            writer.write(message.SerializeToString())
    data = (
        tf.data.TFRecordDataset(path, "GZIP")
        .batch(20)
        .map(lambda x: tf.io.parse_example(x, WANTED))
    )
    numbers = [int(n) for batch in data for n in batch["n"]]
    assert numbers == [m.features.feature["n"].int64_list.value[0] for m in messages]


def test_googles_text_and_json_formats():
    text_format = pytest.importorskip("google.protobuf.text_format")
    json_format = pytest.importorskip("google.protobuf.json_format")
    text = """features {
        feature { key: "colors" value { bytes_list { value: ["red", "blue"] } } }
        feature { key: "empty" value { int64_list { } } }
        feature { key: "ages" value { int64_list { value: [7] } } } }"""
    example = text_format.Merge(text, tf.train.Example())
    assert example.features.feature["colors"].bytes_list.value == [b"red", b"blue"]
    assert example.features.feature["empty"].WhichOneof("kind") == "int64_list"
    assert text_format.Parse(text_format.MessageToString(example), tf.train.Example()) == example
    assert json_format.Parse(json_format.MessageToJson(example), tf.train.Example()) == example
    assert json_format.MessageToDict(example)["features"]["feature"]["ages"] == {
        "int64List": {"value": ["7"]}
    }
    assert tf.train.Example.DESCRIPTOR.full_name == "tensorflow.Example"
    with pytest.raises(text_format.ParseError, match='no field named "featured"'):
        text_format.Parse("featured {}", tf.train.Example())


def test_features_come_by_their_kinds_then_by_name():
    features = {
        "c": tf.io.FixedLenFeature([], tf.int64, 0),
        "r": tf.io.RaggedFeature(tf.int64),
        "v": tf.io.VarLenFeature(tf.int64),
        "a": tf.io.SparseFeature("at", "of", tf.int64, 3),
        "b": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
        "p": tf.io.RaggedFeature(tf.int64, value_key="q"),
        "u": tf.io.VarLenFeature(tf.string),
    }
    example = tf.train.Example().SerializeToString()
    assert list(tf.io.parse_example([example], features)) == ["u", "v", "b", "c", "r", "a", "p"]
