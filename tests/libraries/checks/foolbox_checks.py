"""Foolbox's attacks on a small network: where they are not random, they find what they find on TensorFlow."""

from __future__ import annotations

import eagerpy as ep
import foolbox as fb
import keras
import numpy as np
import pytest
import tensorflow as tf
from foolbox import attacks


@pytest.fixture
def model():
    """A network with weights that are known."""
    network = keras.Sequential(
        [
            keras.layers.Input((8, 8, 3)),
            keras.layers.Conv2D(4, 3, activation="relu"),
            keras.layers.GlobalAveragePooling2D(),
            keras.layers.Dense(5),
        ]
    )
    rng = np.random.default_rng(0)
    network.set_weights([rng.normal(size=w.shape).astype("float32") for w in network.get_weights()])
    return fb.TensorFlowModel(network, bounds=(0, 1), preprocessing={"mean": 0.5, "std": 0.5})


@pytest.fixture
def images(model):
    """Images, and what the network takes them for."""
    given = tf.constant(np.random.default_rng(1).uniform(size=(4, 8, 8, 3)).astype("float32"))
    return given, tf.argmax(model(given), axis=1)


STEADY = {
    "fgsm": attacks.FGSM(),
    "fgm": attacks.FGM(),
    "l2_pgd": attacks.L2PGD(rel_stepsize=0.2, steps=5, random_start=False),
    "linf_pgd": attacks.LinfPGD(rel_stepsize=0.2, steps=5, random_start=False),
    "l2_basic_iterative": attacks.L2BasicIterativeAttack(steps=5),
    "linf_basic_iterative": attacks.LinfBasicIterativeAttack(steps=5),
    "deepfool_l2": attacks.L2DeepFoolAttack(steps=4),
    "deepfool_linf": attacks.LinfDeepFoolAttack(steps=4),
    "newton_fool": attacks.NewtonFoolAttack(steps=5),
    "ead": attacks.EADAttack(binary_search_steps=2, steps=5),
    "carlini_wagner": attacks.L2CarliniWagnerAttack(binary_search_steps=2, steps=5),
    "ddn": attacks.DDNAttack(steps=5),
    "inversion": attacks.InversionAttack(distance=fb.distances.linf),
    "contrast": attacks.L2ContrastReductionAttack(),
    "linear_search_contrast": attacks.LinearSearchContrastReductionAttack(
        distance=fb.distances.linf, steps=5
    ),
    "binary_search_contrast": attacks.BinarySearchContrastReductionAttack(
        distance=fb.distances.linf, binary_search_steps=5
    ),
    "blur": attacks.GaussianBlurAttack(distance=fb.distances.l2, steps=5),
    "fmn_l2": attacks.L2FMNAttack(steps=5),
    "fmn_linf": attacks.LInfFMNAttack(steps=5),
    "l1_sparse": attacks.SparseL1DescentAttack(steps=5, random_start=False),
}

RANDOM = {
    "gaussian_noise": attacks.L2AdditiveGaussianNoiseAttack(),
    "uniform_noise": attacks.LinfAdditiveUniformNoiseAttack(),
    "repeated_noise": attacks.L2RepeatedAdditiveGaussianNoiseAttack(repeats=3),
    "salt_and_pepper": attacks.SaltAndPepperNoiseAttack(steps=5),
    "boundary": attacks.BoundaryAttack(
        steps=3, init_attack=attacks.SaltAndPepperNoiseAttack(steps=20)
    ),
    "hop_skip_jump": attacks.HopSkipJumpAttack(
        steps=1, initial_gradient_eval_steps=5, max_gradient_eval_steps=5
    ),
    "genattack": attacks.GenAttack(steps=2, population=3),
    "pgd_random_start": attacks.LinfPGD(steps=3),
    "virtual_adversarial": attacks.VirtualAdversarialAttack(steps=2),
    "spatial": attacks.SpatialAttack(num_translations=2, num_rotations=2),
}


@pytest.mark.parametrize("name", STEADY)
def test_steady_attacks(name: str, model, images, record_property) -> None:
    """The attack's images are TensorFlow's."""
    given, labels = images
    _, clipped, success = STEADY[name](model, given, labels, epsilons=[0.05, 0.3, 2.0])
    assert all(bool(ep.astensor(c).isnan().any().logical_not()) for c in clipped)
    record_property("images", [float(tf.reduce_sum(tf.abs(c - given))) for c in clipped])
    record_property("success", success.numpy().tolist())


@pytest.mark.parametrize("name", RANDOM)
def test_random_attacks(name: str, model, images) -> None:
    """The attack runs, and stays within bounds."""
    given, labels = images
    criterion = fb.criteria.Misclassification(labels)
    if name == "genattack":
        criterion = fb.criteria.TargetedMisclassification((labels + 1) % 5)
    _, clipped, success = RANDOM[name](model, given, criterion, epsilons=0.3)
    assert success.shape == (4,)
    if clipped is not None:
        low, high = float(tf.reduce_min(clipped)), float(tf.reduce_max(clipped))
        assert -1e-5 <= low <= high <= 1 + 1e-5


def test_models_and_accuracy(model, images, record_property) -> None:
    """Bounds are changed, accuracies counted, gradients flow through the model."""
    given, labels = images
    assert fb.accuracy(model, given, labels) == 1.0
    wider = model.transform_bounds((0, 255))
    np.testing.assert_allclose(
        wider(given * 255).numpy(), model(given).numpy(), rtol=1e-3, atol=1e-4
    )
    value, gradient = ep.value_and_grad(
        lambda x: ep.astensor(model(x.raw)).sum(), ep.astensor(given)
    )
    record_property("value", float(value.item()))
    record_property("gradient", float(gradient.abs().sum().item()))


def test_distances(images, record_property) -> None:
    """Distances between images."""
    given, _ = images
    for name in ("l0", "l1", "l2", "linf", "LpDistance(3)"):
        distance = fb.distances.LpDistance(3) if "(" in name else getattr(fb.distances, name)
        record_property(name, distance(given, given * 0.5).numpy().astype(float).tolist())
