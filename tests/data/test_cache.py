"""cache: the second iteration does no work, and files hold what was put into them."""

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.data

Dataset = tapeflow.data.Dataset


def counted(calls, rows):
    def generator():
        calls.append(1)
        yield from rows

    return generator


def numbers(calls, n=5):
    return Dataset.from_generator(
        counted(calls, range(n)), output_signature=tf.TensorSpec((), tf.int64)
    )


@pytest.fixture(params=["memory", "file"])
def filename(request, tmp_path):
    return "" if request.param == "memory" else str(tmp_path / "kept")


def test_elements_are_computed_once(filename):
    calls = []
    data = numbers(calls).cache(filename)
    for _ in range(3):
        assert [int(x) for x in data] == [0, 1, 2, 3, 4]
    assert len(calls) == 1


def test_a_part_is_not_kept(filename):
    calls = []
    data = numbers(calls).cache(filename)
    assert [int(x) for x in data.take(2)] == [0, 1]
    assert [int(x) for x in data] == [0, 1, 2, 3, 4]
    assert [int(x) for x in data] == [0, 1, 2, 3, 4]
    assert len(calls) == 2


def test_repeat_after_cache(filename):
    calls = []
    assert [int(x) for x in numbers(calls, 3).cache(filename).repeat(3)] == [0, 1, 2] * 3
    assert len(calls) == 1


def test_elements_of_many_kinds(filename):
    rows = [(1.5, ["a", "bc"], [[True]]), (2.5, ["", "ü"], [[False], [True]])]
    spec = (
        tf.TensorSpec((), tf.bfloat16),
        tf.TensorSpec((2,), tf.string),
        tf.TensorSpec((None, 1), tf.bool),
    )
    data = Dataset.from_generator(lambda: iter(rows), output_signature=spec).cache(filename)
    first, second = list(data), list(data)
    for a, b in zip(first, second, strict=True):
        for x, y in zip(a, b, strict=True):
            assert x.dtype is y.dtype and x.shape == y.shape
            assert x.numpy().tolist() == y.numpy().tolist()
    assert second[1][1].numpy().tolist() == [b"", "ü".encode()]


def test_what_is_in_memory_is_shuffled_and_batched(filename):
    data = Dataset.range(20).map(lambda x: x * x).cache(filename)
    squares = [i * i for i in range(20)]
    for _ in range(2):
        batches = list(data.shuffle(20).batch(6))
        assert sorted(np.concatenate([b.numpy() for b in batches]).tolist()) == squares


def test_an_empty_dataset(filename):
    calls = []
    data = numbers(calls, 0).cache(filename)
    assert list(data) == list(data) == []
    assert len(calls) == 1


def test_files_are_for_other_datasets_too(tmp_path):
    assert [int(x) for x in Dataset.range(3).cache(str(tmp_path / "x"))] == [0, 1, 2]
    assert [int(x) for x in Dataset.range(9).cache(str(tmp_path / "x"))] == [0, 1, 2]
    assert [p.name for p in tmp_path.iterdir()] == ["x.data"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="another kind"):
        list(Dataset.from_tensors(1.0).cache(str(tmp_path / "x")))


def test_a_file_that_is_cut_short_is_refused(tmp_path):
    data = Dataset.range(3).cache(str(tmp_path / "x"))
    list(data)
    whole = (tmp_path / "x.data").read_bytes()
    (tmp_path / "x.data").write_bytes(whole[:-5])
    with pytest.raises(tf.errors.DataLossError, match="ends too early"):
        list(data)


def test_an_iteration_that_is_broken_off_leaves_no_file(tmp_path):
    it = iter(Dataset.range(3).map(lambda x: x).cache(str(tmp_path / "x")))
    next(it)
    del it
    assert list(tmp_path.iterdir()) == []
