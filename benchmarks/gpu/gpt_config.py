"""The GPT that the GPU benchmarks train: GPT-2's smallest size, one step of AdamW on random tokens."""

from __future__ import annotations

import dataclasses
import os

import numpy as np


@dataclasses.dataclass(frozen=True)
class Config:
    layers: int = 12
    width: int = 768
    heads: int = 12
    tokens: int = 1024
    batch: int = 16
    vocabulary: int = 50304
    learning_rate: float = 3e-4
    beta1: float = 0.9
    beta2: float = 0.95
    epsilon: float = 1e-8
    decay: float = 0.1


def config() -> Config:
    """The full size, or with GPT_SMALL=1 one for trying the scripts on a CPU."""
    if os.environ.get("GPT_SMALL"):
        return Config(layers=2, width=64, heads=2, tokens=32, batch=2, vocabulary=256)
    return Config()


def parameters(c: Config) -> dict[str, np.ndarray]:
    """The initial weights, by name. Layers are told apart by a number at the front."""
    rng = np.random.default_rng(0)

    def normal(*shape: int, scale: float = 0.02) -> np.ndarray:
        return (rng.standard_normal(shape, np.float32) * np.float32(scale)).astype(np.float32)

    residual = 0.02 / (2 * c.layers) ** 0.5
    found = {"wte": normal(c.vocabulary, c.width), "wpe": normal(c.tokens, c.width)}
    for i in range(c.layers):
        found[f"{i}.ln1.g"] = np.ones(c.width, np.float32)
        found[f"{i}.ln1.b"] = np.zeros(c.width, np.float32)
        found[f"{i}.qkv.w"] = normal(c.width, 3 * c.width)
        found[f"{i}.qkv.b"] = np.zeros(3 * c.width, np.float32)
        found[f"{i}.proj.w"] = normal(c.width, c.width, scale=residual)
        found[f"{i}.proj.b"] = np.zeros(c.width, np.float32)
        found[f"{i}.ln2.g"] = np.ones(c.width, np.float32)
        found[f"{i}.ln2.b"] = np.zeros(c.width, np.float32)
        found[f"{i}.up.w"] = normal(c.width, 4 * c.width)
        found[f"{i}.up.b"] = np.zeros(4 * c.width, np.float32)
        found[f"{i}.down.w"] = normal(4 * c.width, c.width, scale=residual)
        found[f"{i}.down.b"] = np.zeros(c.width, np.float32)
    found["lnf.g"] = np.ones(c.width, np.float32)
    found["lnf.b"] = np.zeros(c.width, np.float32)
    return found


def batch(c: Config) -> tuple[np.ndarray, np.ndarray]:
    """Tokens and the tokens that follow them."""
    rng = np.random.default_rng(1)
    text = rng.integers(0, c.vocabulary, (c.batch, c.tokens + 1), dtype=np.int32)
    return text[:, :-1].copy(), text[:, 1:].copy()
