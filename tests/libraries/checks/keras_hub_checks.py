"""Layers of keras-hub: called, trained, saved, used before models; their outputs are TensorFlow's."""

from __future__ import annotations

import keras
import keras_hub
import numpy as np
import pytest
from keras import ops

RNG = np.random.default_rng(0)
SEQUENCE = RNG.normal(size=(2, 6, 8)).astype("float32")
OTHER = RNG.normal(size=(2, 4, 8)).astype("float32")
TOKENS = RNG.integers(0, 10, (2, 6)).astype("int32")
IMAGES = RNG.uniform(size=(2, 16, 16, 3)).astype("float32")
L = keras_hub.layers

LAYERS = {
    "alibi_bias": (lambda: L.AlibiBias(), lambda: RNG.normal(size=(2, 3, 5, 5)).astype("float32")),
    "cached_attention": (
        lambda: L.CachedMultiHeadAttention(2, 4, kernel_initializer=known()),
        lambda: SEQUENCE,
        lambda layer, x: layer(x, x),
    ),
    "f_net_encoder": (
        lambda: L.FNetEncoder(16, kernel_initializer=known()),
        lambda: SEQUENCE,
    ),
    "masked_lm_head": (
        lambda: L.MaskedLMHead(10, kernel_initializer=known()),
        lambda: SEQUENCE,
        lambda layer, x: layer(x, mask_positions=np.array([[0, 2], [1, 3]])),
    ),
    "position_embedding": (
        lambda: L.PositionEmbedding(6, initializer=known()),
        lambda: SEQUENCE,
    ),
    "reversible_embedding": (
        lambda: L.ReversibleEmbedding(10, 4, embeddings_initializer=known()),
        lambda: TOKENS,
        lambda layer, x: layer(layer(x), reverse=True),
    ),
    "rotary_embedding": (lambda: L.RotaryEmbedding(), lambda: SEQUENCE),
    "sine_position_encoding": (lambda: L.SinePositionEncoding(), lambda: SEQUENCE),
    "token_and_position_embedding": (
        lambda: L.TokenAndPositionEmbedding(10, 6, 4, embeddings_initializer=known()),
        lambda: TOKENS,
    ),
    "transformer_decoder": (
        lambda: L.TransformerDecoder(16, 2, kernel_initializer=known()),
        lambda: SEQUENCE,
        lambda layer, x: layer(x, OTHER),
    ),
    "transformer_decoder_alone": (
        lambda: L.TransformerDecoder(16, 2, kernel_initializer=known()),
        lambda: SEQUENCE,
    ),
    "transformer_encoder": (
        lambda: L.TransformerEncoder(16, 2, kernel_initializer=known(), normalize_first=True),
        lambda: SEQUENCE,
    ),
}


def known():
    """Weights that are the same everywhere."""
    return keras.initializers.RandomNormal(stddev=0.2, seed=3)


def called(name: str):
    """A layer, and its output."""
    make, inputs, *call = LAYERS[name]
    layer = make()
    return layer, (call[0] if call else lambda layer, x: layer(x))(layer, inputs())


@pytest.mark.parametrize("name", LAYERS)
def test_outputs(name: str, record_property) -> None:
    """The layer's output is TensorFlow's."""
    _, output = called(name)
    record_property(
        "outputs", np.asarray(ops.convert_to_numpy(output), float).ravel().tolist()[:50]
    )


@pytest.mark.parametrize("name", LAYERS)
def test_configurations(name: str) -> None:
    """A layer made from another one's configuration has the same configuration."""
    layer, _ = called(name)
    assert type(layer).from_config(layer.get_config()).get_config() == layer.get_config()


@pytest.mark.parametrize("name", [n for n in LAYERS if len(LAYERS[n]) == 2])
def test_training_and_saving(name: str, tmp_path, record_property) -> None:
    """The layer trains in a model, whose saved copy gives the same."""
    make, inputs = LAYERS[name]
    x = inputs()
    start = keras.Input(x.shape[1:], dtype=x.dtype)
    model = keras.Model(start, keras.layers.Dense(1, kernel_initializer=known())(make()(start)))
    model.compile(optimizer=keras.optimizers.SGD(0.01), loss="mse")
    y = np.zeros((len(x), *model.output_shape[1:]), "float32")
    history = model.fit(x, y, epochs=2, verbose=0, shuffle=False)
    record_property("losses", [float(v) for v in history.history["loss"]])
    file = tmp_path / "model.keras"
    model.save(file)
    again = keras.models.load_model(file)
    np.testing.assert_allclose(again.predict(x, verbose=0), model.predict(x, verbose=0), rtol=1e-5)


PACKERS = {
    "start_end": (
        lambda: L.StartEndPacker(8, start_value=1, end_value=2, pad_value=0),
        lambda: [[5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15]],
    ),
    "start_end_mask": (
        lambda: L.StartEndPacker(5, start_value=1, end_value=2, return_padding_mask=True),
        lambda: [5, 6, 7],
    ),
    "multi_segment": (
        lambda: L.MultiSegmentPacker(sequence_length=10, start_value=1, end_value=2),
        lambda: ([[5, 6, 7]], [[8, 9, 10, 11]]),
    ),
    "multi_segment_waterfall": (
        lambda: L.MultiSegmentPacker(
            sequence_length=8, start_value=1, end_value=2, truncate="waterfall"
        ),
        lambda: ([[5, 6, 7, 8, 9]], [[8, 9, 10, 11]]),
    ),
    "resizing": (lambda: L.ResizingImageConverter((8, 8)), lambda: IMAGES),
    "converter": (lambda: L.ImageConverter((8, 8), scale=0.5, offset=0.1), lambda: IMAGES),
    "deletion": (
        lambda: L.RandomDeletion(rate=1.0, max_deletions=1, seed=1),
        lambda: ["a", "b"],
    ),
    "swap": (lambda: L.RandomSwap(rate=0.0, max_swaps=1, seed=1), lambda: ["a b"]),
    "masks": (
        lambda: L.MaskedLMMaskGenerator(
            vocabulary_size=20, mask_selection_rate=1.0, mask_token_id=0, mask_selection_length=5
        ),
        lambda: [[5, 6, 7, 8]],
    ),
}
PACKERS["resizing"] = (lambda: L.ImageConverter((4, 4), crop_to_aspect_ratio=False), lambda: IMAGES)


@pytest.mark.parametrize("name", PACKERS)
def test_preprocessing(name: str, record_property) -> None:
    """What comes before a model gives what it gives on TensorFlow, in datasets too."""
    import tensorflow as tf

    make, inputs = PACKERS[name]
    layer, given = make(), inputs()
    if name != "masks":
        record_property("direct", plain(layer(given)))
    if name in ("start_end", "multi_segment", "converter", "resizing"):
        given = tf.ragged.constant(given) if name == "start_end" else given
        data = (
            tf.data.Dataset.from_tensor_slices(given)
            .batch(1)
            .map(lambda *x: layer(x[0] if len(x) == 1 else x))
        )
        record_property("mapped", [plain(each) for each in data])
    assert type(layer).from_config(layer.get_config()).get_config() == layer.get_config()


def plain(value):
    """Numbers and words in lists."""
    flat = keras.tree.flatten(value)
    return [
        np.asarray(ops.convert_to_numpy(x) if ops.is_tensor(x) else x).ravel()[:40].tolist()
        for x in flat
    ]


@pytest.mark.parametrize("sampler", ["greedy", "beam", "top_k", "top_p", "random"])
def test_samplers(sampler: str, record_property) -> None:
    """Sequences that are drawn; those that are not random are TensorFlow's."""
    chosen = {
        "greedy": keras_hub.samplers.GreedySampler,
        "beam": lambda: keras_hub.samplers.BeamSampler(num_beams=2),
        "top_k": lambda: keras_hub.samplers.TopKSampler(k=2, seed=1),
        "top_p": lambda: keras_hub.samplers.TopPSampler(p=0.5, seed=1),
        "random": lambda: keras_hub.samplers.RandomSampler(seed=1),
    }[sampler]()
    table = ops.convert_to_tensor(np.random.default_rng(4).normal(size=(6, 6)).astype("float32"))

    def next_token(prompt, cache, index):
        row = ops.take(table, prompt[:, index - 1], axis=0)
        return row, None, cache

    prompt = ops.convert_to_tensor([[1, 2, 0, 0, 0, 0], [3, 1, 0, 0, 0, 0]])
    output = chosen(next=next_token, prompt=prompt, index=2, hidden_states=None)
    numbers = ops.convert_to_numpy(output)
    assert numbers.shape == (2, 6)
    if sampler in ("greedy", "beam"):
        record_property("tokens", numbers.tolist())
