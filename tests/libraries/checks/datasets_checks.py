"""Datasets of Hugging Face: TensorFlow's format, and `to_tf_dataset`, whose batches have to be TensorFlow's."""

from __future__ import annotations

from typing import Any

import datasets
import keras
import numpy as np
import pytest
import tensorflow as tf

ROWS = 10
RNG = np.random.default_rng(0)
COLUMNS = {
    "ints": list(range(ROWS)),
    "floats": [i / 4 for i in range(ROWS)],
    "bools": [i % 3 == 0 for i in range(ROWS)],
    "text": [f"row {i}" for i in range(ROWS)],
    "vectors": RNG.integers(0, 9, (ROWS, 3)).astype(np.float32).tolist(),
    "matrices": RNG.integers(0, 9, (ROWS, 2, 3)).tolist(),
    "uneven": [list(range(i % 4 + 1)) for i in range(ROWS)],
    "label": [i % 2 for i in range(ROWS)],
}
ALIKE = ["ints", "floats", "bools", "text", "vectors", "matrices", "label"]


def rows() -> Any:
    """A dataset with columns of several kinds."""
    return datasets.Dataset.from_dict(COLUMNS)


def plain(value: Any) -> Any:
    """A structure of tensors as what the outcomes of a check can hold: dtypes, shapes and values."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in sorted(value.items())}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, tf.RaggedTensor):
        return ["ragged", value.dtype.name, str(value.to_list())]
    value = value.numpy() if tf.is_tensor(value) else value
    return [type(value).__name__, str(np.asarray(value).dtype), str(np.asarray(value).tolist())]


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("key", [0, slice(1, 4)], ids=["row", "rows"])
def test_format(column: str, key: Any, record_property) -> None:
    """Rows in TensorFlow's format."""
    record_property("found", plain(rows().with_format("tf")[key][column]))


@pytest.mark.parametrize("column", COLUMNS)
def test_format_of_a_column(column: str, record_property) -> None:
    """A column in TensorFlow's format."""
    record_property("found", plain(rows().with_format("tf")[column][:]))


@pytest.mark.parametrize("dtype", ["float64", "int32", "float16"])
def test_format_with_a_dtype(dtype: str, record_property) -> None:
    """Arguments of the format are those of `tf.convert_to_tensor`."""
    formatted = rows().with_format("tf", columns=["ints"], dtype=getattr(tf, dtype))
    record_property("found", plain(formatted[:3]))


def test_format_of_features(record_property) -> None:
    """Declared features decide the dtypes."""
    features = datasets.Features(
        {
            "x": datasets.Array2D((2, 2), "float32"),
            "y": datasets.ClassLabel(names=["a", "b"]),
            "z": {"inner": datasets.Value("int8")},
        }
    )
    data = {"x": np.ones((3, 2, 2)).tolist(), "y": [0, 1, 0], "z": [{"inner": i} for i in range(3)]}
    formatted = datasets.Dataset.from_dict(data, features=features).with_format("tf")
    record_property("found", plain([formatted[0], formatted[:2]]))


def test_mapping_in_the_format(record_property) -> None:
    """A function that is mapped takes and gives tensors."""
    doubled = rows().select_columns(["vectors"]).with_format("tf")
    doubled = doubled.map(lambda row: {"twice": row["vectors"] * 2 + tf.reduce_sum(row["vectors"])})
    record_property("found", plain(doubled[:3]))


def test_iterating_in_the_format(record_property) -> None:
    """A stream of rows, and of batches."""
    stream = rows().select_columns(["ints", "vectors"]).to_iterable_dataset().with_format("tf")
    record_property("found", plain([*stream.take(2), *stream.batch(4).take(1)]))


CALLS: dict[str, dict[str, Any]] = {
    "all_columns": {"columns": ALIKE, "batch_size": 4},
    "one_column": {"columns": "vectors", "batch_size": 4},
    "one_column_in_a_list": {"columns": ["vectors"], "batch_size": 4},
    "labels": {"columns": ["ints", "vectors"], "label_cols": "label", "batch_size": 4},
    "several_labels": {"columns": "ints", "label_cols": ["label", "bools"], "batch_size": 4},
    "dropped_remainder": {"columns": ["ints", "text"], "batch_size": 4, "drop_remainder": True},
    "no_batches": {"columns": ["ints", "matrices"], "batch_size": None},
    "no_prefetching": {"columns": ["ints"], "batch_size": 3, "prefetch": False},
    "uneven": {"columns": ["uneven"], "batch_size": 1},
}


@pytest.mark.parametrize("name", CALLS)
def test_batches(name: str, record_property) -> None:
    """The batches, and what the dataset says of them."""
    made = rows().to_tf_dataset(**CALLS[name])
    assert isinstance(made, tf.data.Dataset)
    specs = [(s.dtype.name, str(s.shape)) for s in tf.nest.flatten(made.element_spec)]
    record_property("specs", specs)
    record_property("batches", plain(list(made)))
    record_property("cardinality", int(made.cardinality()))


def test_shuffled_batches() -> None:
    """Every row once, in another order the next time."""
    made = rows().to_tf_dataset(columns="ints", batch_size=5, shuffle=True)
    for _ in range(2):
        assert sorted(np.concatenate([batch.numpy() for batch in made])) == COLUMNS["ints"]


def test_collating(record_property) -> None:
    """A function that puts rows together pads them."""

    def padded(batch: Any, to: int) -> Any:
        out = np.zeros((len(batch), to), np.int64)
        for i, row in enumerate(batch):
            out[i, : len(row["uneven"])] = row["uneven"]
        return {"padded": out, "labels": np.array([row["label"] for row in batch])}

    made = rows().to_tf_dataset(
        columns=["padded"],
        label_cols=["labels"],
        batch_size=4,
        collate_fn=padded,
        collate_fn_args={"to": 6},
    )
    record_property("batches", plain(list(made)))


def test_pipelines(record_property) -> None:
    """What is made goes on as any dataset does."""
    made = rows().to_tf_dataset(columns="vectors", label_cols="label", batch_size=2)
    made = made.map(lambda x, y: (tf.reduce_sum(x, axis=1), y + 1)).unbatch().repeat(2).batch(7)
    record_property("batches", plain(list(made)))


def test_training(record_property) -> None:
    """Keras trains from it, with TensorFlow's losses."""
    keras.utils.set_random_seed(1)
    made = rows().to_tf_dataset(columns="vectors", label_cols="label", batch_size=4)
    layer = keras.layers.Dense(1, kernel_initializer="ones", activation="sigmoid")
    model = keras.Sequential([keras.Input((3,)), layer])
    model.compile("sgd", "binary_crossentropy", metrics=["accuracy"])
    history = model.fit(made, epochs=3, verbose=0).history
    record_property("losses", history["loss"])
    record_property("predicted", model.predict(made.map(lambda x, y: x), verbose=0).tolist())


def test_preparing_for_keras(tmp_path, record_property) -> None:
    """What was saved and read again gives the same batches."""
    rows().save_to_disk(tmp_path)
    made = datasets.load_from_disk(tmp_path).to_tf_dataset(columns=["ints", "text"], batch_size=4)
    record_property("batches", plain(list(made)))
