"""`tf.train.CheckpointManager` and `tf.train.latest_checkpoint`."""

import os
import threading

import pytest

import tapeflow as tf
import tapeflow.train


def _names(paths):
    return [os.path.basename(path) for path in paths]


@pytest.fixture
def step():
    return tf.Variable(0)


@pytest.fixture
def checkpoint(step):
    return tf.train.Checkpoint(step=step)


def test_only_the_newest_are_kept(checkpoint, tmp_path):
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=2, checkpoint_name="cc")
    assert manager.latest_checkpoint is None
    assert manager.checkpoints == []
    saved = [manager.save() for _ in range(4)]
    assert _names(saved) == ["cc-1", "cc-2", "cc-3", "cc-4"]
    assert manager.checkpoints == saved[2:]
    assert manager.latest_checkpoint == saved[3]
    assert manager.directory == str(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["cc-3.safetensors", "cc-4.safetensors", "checkpoint"]
    again = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=2)
    assert again.checkpoints == saved[2:]


def test_all_are_kept_without_a_limit(checkpoint, tmp_path):
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=None)
    saved = [manager.save() for _ in range(4)]
    assert manager.checkpoints == saved


def test_one_is_kept_for_good_every_few_hours(checkpoint, tmp_path, monkeypatch):
    now = 1e9
    monkeypatch.setattr("tapeflow._src.train.manager.time.time", lambda: now)
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, 1, keep_checkpoint_every_n_hours=2)
    for _ in range(6):
        manager.save()
        now += 3600
    assert _names(manager.checkpoints) == ["ckpt-6"]
    files = sorted(name for name in os.listdir(tmp_path) if name.startswith("ckpt"))
    assert files == ["ckpt-3.safetensors", "ckpt-5.safetensors", "ckpt-6.safetensors"]


def test_saving_waits_for_the_interval(checkpoint, step, tmp_path):
    manager = tf.train.CheckpointManager(
        checkpoint, tmp_path, 5, step_counter=step, checkpoint_interval=2
    )
    saved = []
    for _ in range(5):
        saved.append(manager.save())
        step.assign_add(1)
    assert [path and os.path.basename(path) for path in saved] == [
        "ckpt-1",
        None,
        "ckpt-2",
        None,
        "ckpt-3",
    ]
    assert manager.checkpoint_interval == 2
    assert os.path.basename(manager.save(checkpoint_number=77, check_interval=False)) == "ckpt-77"
    assert manager.save() is None


@pytest.mark.parametrize("number", [float("inf"), 1.5, "a"])
def test_checkpoint_numbers_are_integers(tmp_path, number):
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(), tmp_path, max_to_keep=2)
    with pytest.raises(TypeError, match="checkpoint_number must be an int"):
        manager.save(number)


def test_restore_or_initialize_tells_which(checkpoint, step, tmp_path):
    called = []
    first = tf.train.CheckpointManager(checkpoint, tmp_path, 3, init_fn=lambda: called.append(1))
    assert first.restore_or_initialize() is None
    assert called == [1]
    step.assign(5)
    path = first.save()
    step.assign(0)
    other = tf.train.CheckpointManager(checkpoint, tmp_path, 3, init_fn=lambda: called.append(2))
    assert other.restore_or_initialize() == path
    assert step.numpy() == 5
    assert called == [1]
    assert os.path.basename(other.save()) == "ckpt-2"


@pytest.mark.parametrize("number", [0, -1])
def test_mistakes_are_named(checkpoint, tmp_path, number):
    with pytest.raises(ValueError, match="positive integer or `None` for `max_to_keep`"):
        tf.train.CheckpointManager(checkpoint, tmp_path, number)
    with pytest.raises(ValueError, match="`step_counter` should be passed"):
        tf.train.CheckpointManager(checkpoint, tmp_path, 1, checkpoint_interval=2)


def _damage(path):
    with open(path + ".safetensors", "r+b") as file:
        file.seek(-1, os.SEEK_END)
        last = file.read(1)
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last[0] ^ 1]))


def test_a_damaged_newest_checkpoint_is_passed_over(checkpoint, step, tmp_path, caplog):
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, 3)
    saved = []
    for number in range(3):
        step.assign(number)
        saved.append(manager.save())
    _damage(saved[2])
    os.truncate(saved[1] + ".safetensors", 20)
    assert tf.train.latest_checkpoint(tmp_path) == saved[0]
    assert f"{saved[2]}.safetensors cannot be used" in caplog.text
    assert f"Taken instead: {saved[0]}" in caplog.text
    resumed = tf.train.CheckpointManager(checkpoint, tmp_path, 3)
    assert resumed.restore_or_initialize() == saved[0]
    assert step.numpy() == 0


def test_checkpoints_that_save_wrote_are_found_behind_a_damaged_one(checkpoint, tmp_path):
    saved = [checkpoint.save(tmp_path / "ck") for _ in range(11)]
    _damage(saved[-1])
    assert tf.train.latest_checkpoint(tmp_path) == saved[-2]


def test_nothing_but_damage_is_an_error_and_not_a_fresh_start(checkpoint, tmp_path):
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, 3)
    _damage(manager.save())
    with pytest.raises(tf.errors.DataLossError, match="None of the checkpoints"):
        tf.train.latest_checkpoint(tmp_path)
    with pytest.raises(tf.errors.DataLossError, match="None of the checkpoints"):
        manager.restore_or_initialize()


def test_no_folder_no_state_and_no_file_give_none(checkpoint, tmp_path, caplog):
    assert tf.train.latest_checkpoint(tmp_path / "nowhere") is None
    assert tf.train.latest_checkpoint(tmp_path) is None
    assert not caplog.text
    path = checkpoint.save(tmp_path / "ck")
    os.unlink(path + ".safetensors")
    assert tf.train.latest_checkpoint(tmp_path) is None
    assert "not there any more" in caplog.text


def test_a_folder_can_be_moved(checkpoint, tmp_path):
    manager = tf.train.CheckpointManager(checkpoint, tmp_path / "here", 3)
    manager.save()
    os.rename(tmp_path / "here", tmp_path / "there")
    assert tf.train.latest_checkpoint(tmp_path / "there") == str(tmp_path / "there" / "ckpt-1")


def test_the_state_of_a_folder(checkpoint, tmp_path):
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, 2)
    saved = [manager.save() for _ in range(3)]
    state = tf.train.get_checkpoint_state(tmp_path)
    assert state.model_checkpoint_path == saved[2]
    assert state.all_model_checkpoint_paths == saved[1:]
    assert len(state.all_model_checkpoint_timestamps) == 2
    (tmp_path / "checkpoint").write_bytes(b"\x00\xff nonsense")
    assert tf.train.get_checkpoint_state(tmp_path) is None


def test_moving_averages(tmp_path):
    v = tf.Variable(1.0, name="v")
    averages = tf.train.ExponentialMovingAverage(0.9)
    assert averages.average(v) is None
    averages.apply([v])
    v.assign(2.0)
    averages.apply([v])
    assert averages.average(v).numpy() == pytest.approx(1.1)
    assert averages.average_name(v) == "v/ExponentialMovingAverage"
    assert averages.average(v).name == "v/ExponentialMovingAverage:0"
    early = tf.train.ExponentialMovingAverage(0.9, num_updates=3)
    early.apply([v])
    v.assign(1.0)
    early.apply([v])
    assert early.average(v).numpy() == pytest.approx(2.0 - (1 - 4 / 13))
    step = tf.Variable(0, dtype=tf.int64)
    counted = tf.train.ExponentialMovingAverage(0.9, num_updates=step)
    counted.apply([v])
    v.assign(2.0)
    step.assign(3)
    counted.apply([v])
    assert counted.average(v).numpy() == pytest.approx(2.0 - 4 / 13)
    with pytest.raises(TypeError, match="half, float, or double"):
        averages.apply([tf.Variable(1)])
    with pytest.raises(TypeError, match="not tensors"):
        averages.apply([tf.constant(1.0)])
    path = tf.train.Checkpoint(ema=averages).write(tmp_path / "ck")
    assert len(tf.train.list_variables(path)) == 2


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"\x00\xff nonsense",
        b"model_checkpoint_path: [",
        b'model_checkpoint_path: "ckpt-2',
        b"model_checkpoint_path: []",
        b'model_checkpoint_path: ""',
        b'model_checkpoint_path: "a\\u0000b"',
    ],
    ids=repr,
)
def test_a_damaged_state_is_not_a_fresh_start(checkpoint, step, tmp_path, damage, caplog):
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, 2)
    for number in range(3):
        step.assign(number)
        newest = manager.save()
    (tmp_path / "checkpoint").write_bytes(damage)
    assert tf.train.latest_checkpoint(tmp_path) == newest
    assert str(tmp_path / "checkpoint") in caplog.text
    resumed = tf.train.CheckpointManager(checkpoint, tmp_path, 2)
    step.assign(77)
    assert resumed.restore_or_initialize() == newest
    assert step.numpy() == 2
    assert resumed.save() == str(tmp_path / "ckpt-4")


@pytest.mark.parametrize(
    "line",
    [
        "last_preserved_timestamp: [",
        "last_preserved_timestamp: []",
        "last_preserved_timestamp: NaN",
        'last_preserved_timestamp: "x"',
        "all_model_checkpoint_timestamps: {}",
        "all_model_checkpoint_timestamps: oops",
        "all_model_checkpoint_paths: 5",
        "all_model_checkpoint_paths: " + "[" * 100_000,
        "all_model_checkpoint_timestamps: " + "9" * 5_000,
    ],
    ids=lambda line: line[:40],
)
def test_a_damaged_line_of_the_state_is_left_out(checkpoint, tmp_path, line):
    newest = tf.train.CheckpointManager(checkpoint, tmp_path, 2).save()
    (tmp_path / "checkpoint").write_text(f'model_checkpoint_path: "ckpt-1"\n{line}\n')
    assert tf.train.latest_checkpoint(tmp_path) == newest
    assert tf.train.CheckpointManager(checkpoint, tmp_path, 2).latest_checkpoint == newest


def test_threads_that_save_get_numbers_of_their_own(checkpoint, tmp_path):
    """In the background of each other, and each file is there."""
    saved: list[str] = []

    def save():
        for _ in range(5):
            saved.append(checkpoint.save(tmp_path / "ck"))

    threads = [threading.Thread(target=save) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(saved) == sorted(str(tmp_path / f"ck-{n}") for n in range(1, 21))
    assert all(os.path.exists(f"{path}.safetensors") for path in saved)


def test_paths_that_no_system_takes():
    with pytest.raises(tf.errors.InvalidArgumentError, match="zero character"):
        tf.train.latest_checkpoint("\0")
    with pytest.raises(tf.errors.InvalidArgumentError, match="zero character"):
        tf.train.CheckpointManager(tf.train.Checkpoint(), "\0", max_to_keep=1)


def test_a_step_is_not_saved_twice(tmp_path):
    step = tf.Variable(5)
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(step=step), tmp_path, 3, step_counter=step, checkpoint_interval=4
    )
    assert manager.save() and manager.save(check_interval=False) is None
    step.assign(6)
    assert manager.save() is None and manager.save(check_interval=False)
