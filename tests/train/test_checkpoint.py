"""What `tf.train.Checkpoint` saves, it restores: values, names and answers as TensorFlow gives them."""

import collections
import os
import threading

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.data
import tapeflow.train
from tapeflow._src.core.dtypes import float8_e4m3fn, float8_e5m2
from tapeflow._src.train import tensor_file


class Net(tf.Module):
    def __init__(self, value=1.0):
        super().__init__()
        self.w = tf.Variable([value, value + 1], name="w")
        self.parts = [tf.Variable(int(value)), {"a": tf.Variable(value)}]
        self.pair = (tf.Variable(value),)
        self.number = 5
        self.text = "not saved"


def test_save_gives_the_path_with_the_number(tmp_path):
    checkpoint = tf.train.Checkpoint(net=Net(), step=tf.Variable(7))
    assert checkpoint.save_counter.numpy() == 0
    assert checkpoint.save(tmp_path / "ck") == str(tmp_path / "ck-1")
    assert checkpoint.save(str(tmp_path / "ck")) == str(tmp_path / "ck-2")
    assert checkpoint.save_counter.numpy() == 2
    assert checkpoint.save_counter.dtype is tf.int64
    assert (tmp_path / "checkpoint").read_text() == (
        'model_checkpoint_path: "ck-2"\nall_model_checkpoint_paths: "ck-2"\n'
    )


def test_names_are_those_of_tensorflow(tmp_path):
    path = tf.train.Checkpoint(m=Net(), step=tf.Variable(7)).save(tmp_path / "ck")
    assert tf.train.list_variables(path) == [
        ("_CHECKPOINTABLE_OBJECT_GRAPH", []),
        ("m/pair/0/.ATTRIBUTES/VARIABLE_VALUE", []),
        ("m/parts/0/.ATTRIBUTES/VARIABLE_VALUE", []),
        ("m/parts/1/a/.ATTRIBUTES/VARIABLE_VALUE", []),
        ("m/w/.ATTRIBUTES/VARIABLE_VALUE", [2]),
        ("save_counter/.ATTRIBUTES/VARIABLE_VALUE", []),
        ("step/.ATTRIBUTES/VARIABLE_VALUE", []),
    ]
    assert tf.train.list_variables(tmp_path) == tf.train.list_variables(path)


def test_a_name_with_a_slash_or_a_dot_is_escaped(tmp_path):
    path = tf.train.Checkpoint(d={"x/y": tf.Variable(1.0), "p.q": tf.Variable(2.0)}).write(
        tmp_path / "ck"
    )
    names = [name for name, _ in tf.train.list_variables(path)]
    assert names[1:] == [
        "d/p..q/.ATTRIBUTES/VARIABLE_VALUE",
        "d/x.Sy/.ATTRIBUTES/VARIABLE_VALUE",
    ]


def test_restore_puts_everything_back(tmp_path):
    path = tf.train.Checkpoint(net=Net(1.0), step=tf.Variable(7)).save(tmp_path / "ck")
    net, step = Net(9.0), tf.Variable(0)
    checkpoint = tf.train.Checkpoint(net=net, step=step)
    status = checkpoint.restore(path)
    assert status.assert_consumed() is status
    assert step.numpy() == 7
    assert net.w.numpy().tolist() == [1.0, 2.0]
    assert net.parts[0].numpy() == 1
    assert net.parts[1]["a"].numpy() == 1.0
    assert net.pair[0].numpy() == 1.0
    assert checkpoint.save_counter.numpy() == 1
    assert repr(status) == f"<CheckpointLoadStatus of {path!r}: 6 of 6 values restored>"


def test_a_root_is_saved_as_if_it_were_the_checkpoint(tmp_path):
    path = tf.train.Checkpoint(Net(), more=tf.Variable(3)).save(tmp_path / "ck")
    names = [
        name.removesuffix("/.ATTRIBUTES/VARIABLE_VALUE")
        for name, _ in tf.train.list_variables(path)
    ]
    assert names[1:] == ["more", "pair/0", "parts/0", "parts/1/a", "save_counter", "w"]
    net, more = Net(9.0), tf.Variable(0)
    tf.train.Checkpoint(net, more=more).restore(path).assert_consumed()
    assert net.w.numpy().tolist() == [1.0, 2.0]
    assert more.numpy() == 3


def test_a_keyword_that_the_root_has_already_is_refused():
    with pytest.raises(ValueError, match=r"root\.w already exists"):
        tf.train.Checkpoint(Net(), w=tf.Variable(1.0))


@pytest.mark.parametrize("value", [5, "x", None, object(), np.zeros(2)])
def test_what_has_no_state_is_refused(value):
    with pytest.raises(ValueError, match="expecting a to be a trackable object"):
        tf.train.Checkpoint(a=value)
    with pytest.raises(ValueError, match="expecting a to be a trackable object"):
        tf.train.Checkpoint(a=tf.constant(1.0))


def test_keys_that_are_not_strings_are_refused(tmp_path):
    with pytest.raises(ValueError, match="the keys must be strings"):
        tf.train.Checkpoint(d={1: tf.Variable(1.0)}).save(tmp_path / "ck")
    tf.train.Checkpoint(d={1: "no state"}).save(tmp_path / "ck")


@pytest.mark.parametrize(
    "value",
    [
        np.float32([1.5, -2.0]),
        np.float64(3.25),
        np.array([1, 2], np.int8),
        np.array([2**63], np.uint64),
        np.array([True, False]),
        np.array([1 + 2j, -3j], np.complex64),
        np.array([[1 + 2j]], np.complex128),
        np.zeros([0, 3], np.float32),
        np.float16([1.5]),
        np.array([b"abc", b"", "é".encode()], object),
    ],
    ids=lambda value: str(value.dtype),
)
def test_every_dtype_comes_back(tmp_path, value):
    variable = tf.Variable(value)
    checkpoint = tf.train.Checkpoint(v=variable)
    path = checkpoint.save(tmp_path / "ck")
    variable.assign(
        tf.zeros_like(variable) if value.dtype != object else np.array([b"x"] * 3, object)
    )
    checkpoint.restore(path).assert_consumed()
    assert variable.numpy().dtype == value.dtype
    assert variable.shape == value.shape
    np.testing.assert_array_equal(variable.numpy(), value)


@pytest.mark.parametrize("dtype", [tf.bfloat16, float8_e4m3fn, float8_e5m2], ids=str)
def test_small_floats_come_back(tmp_path, dtype):
    variable = tf.Variable(tf.cast([1.0, -0.5, 2.0], dtype))
    checkpoint = tf.train.Checkpoint(v=variable)
    path = checkpoint.save(tmp_path / "ck")
    variable.assign(tf.cast([0.0, 0.0, 0.0], dtype))
    checkpoint.restore(path).assert_consumed()
    assert variable.dtype is dtype
    assert variable.numpy().astype(np.float32).tolist() == [1.0, -0.5, 2.0]


def test_an_object_reached_twice_is_saved_once(tmp_path):
    shared = tf.Variable(1.0)
    net = tf.Module()
    net.me = net
    net.a = shared
    path = tf.train.Checkpoint(a=shared, b=[shared], net=net).write(tmp_path / "ck")
    assert len(tf.train.list_variables(path)) == 2


def test_what_was_shared_and_is_not_any_more_is_told(tmp_path, caplog):
    shared = tf.Variable(5.0)
    path = tf.train.Checkpoint(a=shared, b=shared).save(tmp_path / "ck")
    a, b = tf.Variable(0.0), tf.Variable(0.0)
    status = tf.train.Checkpoint(a=a, b=b).restore(path)
    assert (a.numpy(), b.numpy()) == (5.0, 0.0)
    assert "Inconsistent references" in caplog.text
    with pytest.raises(AssertionError, match="Found 1 Python objects"):
        status.assert_consumed()


def test_two_objects_that_became_one_take_the_first_value(tmp_path):
    path = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable(2.0)).save(tmp_path / "ck")
    one = tf.Variable(0.0)
    tf.train.Checkpoint(a=one, b=one).restore(path).assert_consumed()
    assert one.numpy() == 1.0


def test_fewer_objects_than_in_the_checkpoint(tmp_path):
    path = tf.train.Checkpoint(m=Net(), step=tf.Variable(7)).save(tmp_path / "ck")
    step = tf.Variable(0)
    status = tf.train.Checkpoint(step=step).restore(path).expect_partial()
    assert step.numpy() == 7
    status.assert_existing_objects_matched()
    status.assert_nontrivial_match()
    with pytest.raises(AssertionError, match=r"Unresolved object in checkpoint \(root\)\.m\.w"):
        status.assert_consumed()


def test_more_objects_than_in_the_checkpoint(tmp_path):
    path = tf.train.Checkpoint(step=tf.Variable(7)).save(tmp_path / "ck")
    status = tf.train.Checkpoint(step=tf.Variable(0), extra=tf.Variable(1.0)).restore(path)
    for question in (status.assert_consumed, status.assert_existing_objects_matched):
        with pytest.raises(AssertionError, match=r"Found 1 Python objects.*numpy=1\.0"):
            question()
    status.assert_nontrivial_match()


def test_nothing_in_common(tmp_path):
    path = tf.train.Checkpoint(a=tf.Variable(7)).write(tmp_path / "ck")
    status = tf.train.Checkpoint(b=tf.Variable(0)).read(path).expect_partial()
    with pytest.raises(AssertionError, match="Nothing except the root object matched"):
        status.assert_nontrivial_match()


def test_no_checkpoint_is_no_mistake_until_somebody_asks():
    status = tf.train.Checkpoint(a=tf.Variable(1.0)).restore(None)
    assert status.expect_partial() is status
    for question in (
        status.assert_consumed,
        status.assert_existing_objects_matched,
        status.assert_nontrivial_match,
    ):
        with pytest.raises(AssertionError, match="No checkpoint specified"):
            question()


def test_write_and_read_leave_the_count_alone(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tmp_path / "ck")
    assert path == str(tmp_path / "ck")
    assert not (tmp_path / "checkpoint").exists()
    tf.train.Checkpoint(v=tf.Variable(0.0)).read(path).assert_consumed()
    with pytest.raises(AssertionError, match="save_counter"):
        tf.train.Checkpoint(v=tf.Variable(0.0)).restore(path).assert_consumed()
    saved = tf.train.Checkpoint(v=tf.Variable(1.0)).save(tmp_path / "s")
    later = tf.train.Checkpoint(v=tf.Variable(0.0))
    later.read(saved)
    assert later.save_counter.numpy() == 1


def test_other_shapes_and_dtypes_are_refused(tmp_path):
    path = tf.train.Checkpoint(step=tf.Variable(7)).save(tmp_path / "ck")
    with pytest.raises(
        ValueError, match=r"shape \(\) when attempting to restore variable with shape \(2,\)"
    ):
        tf.train.Checkpoint(step=tf.Variable([1, 2])).restore(path)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"int32 at 'step/.* dtype float32"):
        tf.train.Checkpoint(step=tf.Variable(1.0)).restore(path)


def test_a_path_that_is_wrong_is_told_what_is_there(tmp_path):
    checkpoint = tf.train.Checkpoint(step=tf.Variable(7))
    checkpoint.save(tmp_path / "ck")
    with pytest.raises(tf.errors.NotFoundError, match="there is ck-1"):
        checkpoint.restore(tmp_path / "ck")
    with pytest.raises(tf.errors.NotFoundError, match="this is a folder"):
        checkpoint.restore(tmp_path)
    with pytest.raises(tf.errors.NotFoundError, match="there is no folder"):
        checkpoint.restore(tmp_path / "nowhere" / "ck-1")
    checkpoint.restore(str(tmp_path / "ck-1.safetensors")).assert_consumed()


def test_a_generator_goes_on_where_it_was(tmp_path):
    generator = tf.random.Generator.from_seed(3)
    checkpoint = tf.train.Checkpoint(g=generator)
    path = checkpoint.save(tmp_path / "ck")
    expected = generator.normal([3]).numpy()
    generator.normal([5])
    checkpoint.restore(path).assert_consumed()
    np.testing.assert_array_equal(generator.normal([3]).numpy(), expected)


class Counting:
    """An iterator with a state, as those of datasets have."""

    def __init__(self):
        self.state = {"at": 0, "buffer": np.arange(3), "inner": [(1, b"x", None), {"k": 2.5}]}

    def _checkpoint_state(self):
        return self.state

    def _restore_state(self, state):
        self.state = state


def test_an_iterator_goes_on_where_it_was(tmp_path):
    iterator = Counting()
    iterator.state["at"] = 17
    path = tf.train.Checkpoint(it=iterator).save(tmp_path / "ck")
    assert ("it/.ATTRIBUTES/ITERATOR_STATE", []) in tf.train.list_variables(path)
    other = Counting()
    tf.train.Checkpoint(it=other).restore(path).assert_consumed()
    assert other.state["at"] == 17
    assert other.state["inner"] == iterator.state["inner"]
    np.testing.assert_array_equal(other.state["buffer"], [0, 1, 2])


def test_a_named_tuple_and_an_ordered_dictionary(tmp_path):
    pair = collections.namedtuple("Pair", "x y")
    made = pair(tf.Variable(1.0), tf.Variable(2.0))
    ordered = collections.OrderedDict(b=tf.Variable(3.0))
    path = tf.train.Checkpoint(p=made, o=ordered).save(tmp_path / "ck")
    made.y.assign(0.0)
    ordered["b"].assign(0.0)
    tf.train.Checkpoint(p=made, o=ordered).restore(path).assert_consumed()
    assert (made.y.numpy(), ordered["b"].numpy()) == (2.0, 3.0)


def test_functions_and_constants_are_left_out(tmp_path):
    net = tf.Module()
    net.f = tf.function(lambda x: x * net.v)
    net.c = tf.constant(1.0)
    net.v = tf.Variable(1.0)
    net.concrete = net.f.get_concrete_function(tf.TensorSpec([], tf.float32))
    path = tf.train.Checkpoint(m=net).write(tmp_path / "ck")
    assert [name for name, _ in tf.train.list_variables(path)][1:] == [
        "m/v/.ATTRIBUTES/VARIABLE_VALUE"
    ]


def test_a_value_taken_before_is_not_changed_by_restoring(tmp_path):
    v = tf.Variable([1.0, 2.0])
    checkpoint = tf.train.Checkpoint(v=v)
    path = checkpoint.save(tmp_path / "ck")
    v.assign([3.0, 4.0])
    before = v.read_value()
    checkpoint.restore(path)
    assert before.numpy().tolist() == [3.0, 4.0]
    v.assign_add([1.0, 1.0])  # the restored value is the variable's own, and the file can go
    os.unlink(f"{path}.safetensors")
    assert v.numpy().tolist() == [2.0, 3.0]


def test_saving_inside_a_function_is_refused(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))

    @tf.function
    def f():
        checkpoint.write(tmp_path / "ck")

    with pytest.raises(NotImplementedError, match=r"inside tf\.function"):
        f()


def test_reading_without_objects(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).save(tmp_path / "ck")
    reader = tf.train.load_checkpoint(path)
    key = "v/.ATTRIBUTES/VARIABLE_VALUE"
    assert reader.has_tensor(key)
    assert not reader.has_tensor("v")
    assert reader.get_variable_to_shape_map()[key] == [2]
    assert reader.get_variable_to_dtype_map()[key] is tf.float32
    assert tf.train.load_variable(tmp_path, key).tolist() == [1.0, 2.0]
    with pytest.raises(
        tf.errors.NotFoundError, match=f"Key v not found in checkpoint. There is {key}"
    ):
        tf.train.load_variable(path, "v")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="Couldn't find 'checkpoint' file"):
        tf.train.list_variables(tmp_path / "empty")


def test_an_iterator_state_that_makes_no_sense_is_refused(tmp_path):
    data = tf.data.Dataset.range(10)
    path = tf.train.Checkpoint(it=iter(data)).write(tmp_path / "ck") + ".safetensors"
    file = tensor_file.opened(path)
    key = "it/.ATTRIBUTES/ITERATOR_STATE"
    arrays = {name: file.read(name) for name in file.entries}
    for wrong in (
        b"{",
        b"5",
        b"[]",
        b'{"dict": []}',
        b'{"array": 99}',
        b'{"a": 1, "b": 2}',
        b"[" * 10**5,
    ):
        text = np.empty((), object)
        text[()] = wrong
        tensor_file.write(path, {**arrays, key: text}, {"objects": file.texts["objects"]})
        with pytest.raises(tf.errors.DataLossError, match=r"ck\.safetensors.*ITERATOR_STATE"):
            tf.train.Checkpoint(it=iter(data)).read(path)


def test_a_variable_is_read_once(tmp_path, monkeypatch):
    """Its shape, its bytes and its checksum are those of one value, whatever is assigned in the meantime."""
    v = tf.Variable([1.0, 2.0, 3.0], shape=[None])
    keras_variable = tf.keras.Variable([4.0, 5.0])
    bytes_of = tensor_file._bytes_of

    def meanwhile(array, dtype):
        v.assign(np.zeros(7, np.float32))
        keras_variable.assign([0.0, 0.0])
        return bytes_of(array, dtype)

    monkeypatch.setattr(tensor_file, "_bytes_of", meanwhile)
    path = tf.train.Checkpoint(v=v, k=keras_variable).write(tmp_path / "ck")
    monkeypatch.undo()
    assert v.numpy().shape == (7,)
    reader = tf.train.load_checkpoint(path)
    assert reader.get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE").tolist() == [1.0, 2.0, 3.0]
    assert reader.get_tensor("k/.ATTRIBUTES/VARIABLE_VALUE").tolist() == [4.0, 5.0]


def test_saving_while_another_thread_trains(tmp_path):
    """Every file that was reported as saved can be read."""
    variables = [tf.Variable(np.zeros(50_000)) for _ in range(4)]
    stop = threading.Event()

    def train():
        while not stop.is_set():
            for v in variables:
                v.assign_add(np.ones(50_000))

    thread = threading.Thread(target=train)
    thread.start()
    try:
        checkpoint = tf.train.Checkpoint(variables=variables)
        saved = [checkpoint.save(tmp_path / "ck") for _ in range(10)]
    finally:
        stop.set()
        thread.join()
    for path in saved:
        tensor_file.TensorFile(f"{path}.safetensors").verify()
    checkpoint.restore(saved[-1]).assert_consumed()


def test_saving_leaves_no_mark_on_a_tape(tmp_path):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        tf.train.Checkpoint(v=v).write(tmp_path / "ck")
        assert tape.watched_variables() == ()
        y = v * v
    assert tape.gradient(y, v).numpy() == 6.0
