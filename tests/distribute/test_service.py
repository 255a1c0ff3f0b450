"""Datasets that servers compute, for readers of this process and of others."""

import subprocess
import sys
import threading

import pytest

import tapeflow as tf

service = tf.data.experimental.service
Policy = service.ShardingPolicy


@pytest.fixture
def cluster():
    started = []

    def start(workers):
        dispatcher = service.DispatchServer()
        address = dispatcher.target.split("://")[1]
        for _ in range(workers):
            service.WorkerServer(service.WorkerConfig(address))
        started.append(dispatcher)
        return dispatcher.target

    yield start
    for dispatcher in started:
        dispatcher.stop()


def _numbers(data):
    return sorted(int(x) for x in data)


@pytest.mark.parametrize(
    "policy", [Policy.DYNAMIC, Policy.DATA, Policy.FILE_OR_DATA, "distributed_epoch"]
)
def test_workers_divide_a_dataset(cluster, policy):
    data = tf.data.Dataset.range(20).map(lambda x: x * 2)
    data = data.apply(service.distribute(policy, cluster(3)))
    for _ in range(2):
        assert _numbers(data) == list(range(0, 40, 2))


def test_or_each_reads_all_of_it(cluster):
    data = tf.data.Dataset.range(4).apply(service.distribute("parallel_epochs", cluster(2)))
    assert _numbers(data) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_files_are_divided(cluster, tmp_path):
    for i in range(4):
        (tmp_path / f"{i}.txt").write_text(f"{i}a\n{i}b\n")
    names = sorted(str(p) for p in tmp_path.iterdir())
    data = tf.data.TextLineDataset(names).apply(service.distribute(Policy.FILE, cluster(2)))
    found = sorted(x.decode() for x in data.as_numpy_iterator())
    assert found == [f"{i}{c}" for i in range(4) for c in "ab"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="reads no files"):
        list(tf.data.Dataset.range(3).apply(service.distribute(Policy.FILE, cluster(2))))


def test_readers_of_one_job_share_its_elements(cluster):
    target = cluster(1)
    name = service.register_dataset(target, tf.data.Dataset.range(50), dataset_id="same")
    data = [
        service.from_dataset_id("distributed_epoch", target, name, job_name="j") for _ in range(2)
    ]
    found: list[list[int]] = [[], []]
    threads = [
        threading.Thread(target=lambda i=i: found[i].extend(_numbers(data[i]))) for i in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found[0] + found[1]) == list(range(50))


def test_consumers_take_turns(cluster):
    target = cluster(1)
    name = service.register_dataset(target, tf.data.Dataset.range(7))
    readers = [
        iter(
            service.from_dataset_id(
                "parallel_epochs", target, name, job_name="j", consumer_index=i, num_consumers=3
            )
        )
        for i in range(3)
    ]
    assert [[int(next(r)) for r in readers] for _ in range(2)] == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(StopIteration):  # there is not one for each
        next(readers[0])


def test_trainers_read_the_same_elements(cluster):
    target = cluster(1)
    numbers = tf.data.Dataset.counter()
    name = service.register_dataset(target, numbers)
    first, second = (
        iter(
            service.from_dataset_id(
                "parallel_epochs",
                target,
                name,
                job_name="j",
                cross_trainer_cache=service.CrossTrainerCache(who),
            )
        )
        for who in ("a", "b")
    )
    assert [int(next(first)) for _ in range(5)] == [0, 1, 2, 3, 4]
    assert [int(next(second)) for _ in range(5)] == [0, 1, 2, 3, 4]


def test_structures_and_composites_arrive(cluster):
    data = tf.data.Dataset.from_tensor_slices(
        {"a": tf.ragged.constant([[1, 2], [3]]), "b": (["x", "y"], [1.0, 2.0])}
    )
    found = list(data.apply(service.distribute("parallel_epochs", cluster(1))))
    assert [x["a"].numpy().tolist() for x in found] == [[1, 2], [3]]
    assert [x["b"][0].numpy() for x in found] == [b"x", b"y"]


def test_another_process_reads(cluster):
    target = cluster(2)
    data = tf.data.Dataset.range(6).map(lambda x: {"x": x, "t": tf.strings.as_string(x)})
    service.register_dataset(target, data, dataset_id="mine")
    code = f"""
import tapeflow as tf
spec = {{"x": tf.TensorSpec([], tf.int64), "t": tf.TensorSpec([], tf.string)}}
service = tf.data.experimental.service
data = service.from_dataset_id("distributed_epoch", {target!r}, "mine", element_spec=spec)
print(sorted((int(e["x"]), e["t"].numpy()) for e in data))
try:
    list(service.from_dataset_id("distributed_epoch", {target!r}, "nothing", element_spec=spec))
except tf.errors.NotFoundError as error:
    print("not found")
try:
    service.register_dataset({target!r}, tf.data.Dataset.range(3))
except tf.errors.UnavailableError as error:
    print("where the servers are" in str(error))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    expected = [(i, str(i).encode()) for i in range(6)]
    assert run.stdout.splitlines() == [str(expected), "not found", "True"]


def test_an_error_of_a_pipeline_reaches_the_reader(cluster):
    data = tf.data.Dataset.range(3).map(
        lambda x: tf.debugging.check_numerics(1.0 / tf.cast(x, tf.float32), "no")
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="no"):
        list(data.apply(service.distribute("parallel_epochs", cluster(1))))


def test_arguments_are_checked(cluster):
    target = cluster(1)
    for options, says in (
        ({"processing_mode": "other"}, "processing mode"),
        ({"job_name": 3}, "job_name"),
        ({"num_consumers": 2}, "neither"),
        ({"num_consumers": 2, "consumer_index": 0}, "job_name"),
        ({"num_consumers": 2, "consumer_index": 2, "job_name": "a"}, "consumer_index"),
        ({"compression": "x"}, "compression"),
        ({"target_workers": "x"}, "target_workers"),
        ({"service": "nowhere"}, "address"),
    ):
        given = {"processing_mode": "parallel_epochs", "service": target, **options}
        with pytest.raises(ValueError, match=says):
            service.distribute(**given)
    with pytest.raises(ValueError, match="trainer ID"):
        service.CrossTrainerCache("")
    with pytest.raises(ValueError, match="work dir"):
        service.DispatchServer(service.DispatcherConfig(fault_tolerant_mode=True))
    with pytest.raises(ValueError, match="dispatcher_address"):
        service.WorkerServer(service.WorkerConfig(""))
    with pytest.raises(tf.errors.UnavailableError, match="in this process"):
        service.WorkerServer(service.WorkerConfig("localhost:1"))
