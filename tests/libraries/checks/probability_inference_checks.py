"""TensorFlow Probability's Markov chains, variational inference and minimizers, with TensorFlow's numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp
import tf_keras
from checks.probability_numbers import plain

tfd, tfb, mcmc = tfp.distributions, tfp.bijectors, tfp.mcmc
SEED = [1, 2]


def target() -> Any:
    """A normal distribution of two variables that depend on each other."""
    return tfd.MultivariateNormalTriL([1.0, -1.0], [[1.0, 0.0], [0.5, 0.8]])


def density(x: Any) -> Any:
    """The target's density, as chains want it."""
    return target().log_prob(x)


def rosenbrock(x: Any) -> Any:
    """A curved valley, and its gradient."""
    return tfp.math.value_and_gradient(
        lambda x: tf.reduce_sum((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2), x
    )


def hamiltonian(log_prob: Any = density) -> Any:
    """Hamiltonian Monte Carlo."""
    return mcmc.HamiltonianMonteCarlo(log_prob, 0.3, 3)


def no_u_turn() -> Any:
    """The No-U-Turn sampler, with small trees."""
    return mcmc.NoUTurnSampler(density, 0.3, max_tree_depth=3)


KERNELS = {
    "hamiltonian": hamiltonian,
    "simple_step_sizes": lambda: mcmc.SimpleStepSizeAdaptation(hamiltonian(), 5),
    "dual_averaging": lambda: mcmc.DualAveragingStepSizeAdaptation(hamiltonian(), 5),
    "no_u_turn": no_u_turn,
    "no_u_turn_dual_averaging": lambda: mcmc.DualAveragingStepSizeAdaptation(no_u_turn(), 5),
    "random_walk": lambda: mcmc.RandomWalkMetropolis(density),
    "langevin": lambda: mcmc.MetropolisAdjustedLangevinAlgorithm(density, 0.1),
    "uncalibrated_langevin": lambda: mcmc.UncalibratedLangevin(density, 0.1),
    "slice": lambda: mcmc.SliceSampler(density, 0.5, 4),
    "transformed": lambda: mcmc.TransformedTransitionKernel(
        hamiltonian(tfd.Independent(tfd.Gamma([2.0, 3.0], 1.0), 1).log_prob), tfb.Exp()
    ),
    "replica_exchange": lambda: mcmc.ReplicaExchangeMC(density, [1.0, 0.5], hamiltonian),
    "elliptical_slice": lambda: mcmc.EllipticalSliceSampler(
        lambda shape, seed: tf.random.stateless_normal([2], seed),
        lambda x: -tf.reduce_sum((x - 1.0) ** 2),
    ),
}


def chain(kernel: Any, steps: int = 8) -> Any:
    """The states of a chain."""
    return mcmc.sample_chain(
        steps,
        tf.zeros(2),
        kernel=kernel,
        num_burnin_steps=3,
        trace_fn=None,
        seed=tf.constant(SEED),
    )


@pytest.mark.parametrize("name", KERNELS)
def test_chain_in_a_function(name: str, record_property) -> None:
    """The chain goes where TensorFlow's goes."""
    run = tf.function(lambda: chain(KERNELS[name]()), autograph=False)
    record_property("states", plain(run()))


@pytest.mark.parametrize("name", ["hamiltonian", "random_walk"])
def test_chain_without_a_function(name: str, record_property) -> None:
    """The chain goes where TensorFlow's goes."""
    record_property("states", plain(chain(KERNELS[name](), 3)))


@pytest.mark.parametrize("name", ["hamiltonian", "random_walk"])
def test_chain_that_xla_compiles(name: str) -> None:
    """The chain runs; for XLA, TensorFlow draws other numbers than it draws otherwise."""
    states = tf.function(lambda: chain(KERNELS[name]()), autograph=False, jit_compile=True)()
    assert states.shape == [8, 2]
    assert np.isfinite(states).all()


def fitted(log_prob: Any, surrogate: Any) -> Any:
    """The losses of a posterior that is fitted."""
    optimizer = tf_keras.optimizers.Adam(0.05)
    return tfp.vi.fit_surrogate_posterior(
        log_prob, surrogate, optimizer, 10, seed=tf.constant(SEED)
    )


def trainable() -> Any:
    """A normal distribution with variables."""
    q = tfp.experimental.util.make_trainable(tfd.Normal, seed=tf.constant(SEED))
    losses = fitted(tfd.Normal(2.0, 0.5).log_prob, q)
    return [losses, q.mean(), q.stddev()]


def structured() -> Any:
    """A surrogate made from the model's own structure."""
    model = tfd.JointDistributionSequential([tfd.Normal(0.0, 1.0), lambda a: tfd.Normal(a, 2.0)])
    build = tfp.experimental.vi.build_asvi_surrogate_posterior
    return fitted(model.log_prob, build(model, seed=tf.constant(SEED)))


def factored() -> Any:
    """A surrogate whose variables are independent."""
    q = tfp.experimental.vi.build_factored_surrogate_posterior(
        [[], [2]], bijector=[tfb.Softplus(), tfb.Identity()], seed=tf.constant(SEED)
    )
    return fitted(
        lambda a, b: (
            tfd.Gamma(2.0, 1.0).log_prob(a) + tf.reduce_sum(tfd.Normal(a, 1.0).log_prob(b))
        ),
        q,
    )


def affine() -> Any:
    """A surrogate with a triangular matrix."""
    build = tfp.experimental.vi.build_affine_surrogate_posterior
    q = build([[2]], operators="tril", bijector=[tfb.Identity()], seed=tf.constant(SEED))
    return fitted(density, q)


def by_hand() -> Any:
    """A distribution's variables, trained in a loop of one's own."""
    scale = tfp.util.TransformedVariable(1.0, tfb.Softplus())
    d = tfd.Normal(tf.Variable(0.0), scale)
    optimizer = tf_keras.optimizers.Adam(0.1)
    data = tfd.Normal(3.0, 2.0).sample(50, seed=tf.constant(SEED))

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(d.log_prob(data))
        gradients = tape.gradient(loss, d.trainable_variables)
        optimizer.apply_gradients(zip(gradients, d.trainable_variables, strict=True))
        return loss

    return [*(step() for _ in range(10)), d.mean(), d.stddev()]


def minimized() -> Any:
    """`tfp.math.minimize`, with an optimizer of Keras."""
    x = tf.Variable([1.0, -2.0])
    optimizer = tf_keras.optimizers.Adam(0.1)
    return [tfp.math.minimize(lambda: tf.reduce_sum((x - 3.0) ** 2), 10, optimizer), x]


def lbfgs() -> Any:
    """L-BFGS."""
    start = tf.constant([-1.2, 1.0], tf.float64)
    r = tfp.optimizer.lbfgs_minimize(rosenbrock, start, tolerance=1e-10, max_iterations=60)
    return [r.converged, r.position]


def bfgs() -> Any:
    """BFGS, in a function."""
    start = tf.constant([-1.2, 1.0], tf.float64)
    run = tf.function(lambda x: tfp.optimizer.bfgs_minimize(rosenbrock, x, tolerance=1e-8))
    r = run(start)
    return [r.converged, r.position]


def nelder_mead() -> Any:
    """Nelder and Mead's simplex."""
    r = tfp.optimizer.nelder_mead_minimize(
        lambda x: tf.reduce_sum((x - 2.0) ** 2), initial_vertex=tf.zeros(2), func_tolerance=1e-6
    )
    return [r.converged, r.position]


def diagnostics() -> Any:
    """Effective sizes, and whether chains agree."""
    x = tfd.Normal(0.0, 1.0).sample([100, 4], seed=tf.constant(SEED))
    return [mcmc.effective_sample_size(x), mcmc.potential_scale_reduction(x)]


def differential_equation() -> Any:
    """Decay, by Dormand and Prince."""
    solver = tfp.math.ode.DormandPrince()
    return solver.solve(lambda t, y: -y, 0.0, tf.constant([1.0, 2.0]), [0.5, 1.0]).states


def generalized_linear_model() -> Any:
    """The coefficients of a linear model."""
    x = tf.random.stateless_normal([50, 2], SEED)
    return tfp.glm.fit(x, tf.linalg.matvec(x, [1.0, -2.0]), tfp.glm.Normal())[0]


def statistics() -> Any:
    """Percentiles, covariances, histograms."""
    x, stats = tf.random.stateless_normal([50, 2], SEED), tfp.stats
    found = [stats.percentile(x, [25.0, 50.0], axis=0), stats.covariance(x), stats.correlation(x)]
    return [*found, stats.auto_correlation(x, axis=0), stats.histogram(x[:, 0], [-1.0, 0.0, 1.0])]


def coroutine() -> Any:
    """A model written as a generator."""
    root = tfd.JointDistributionCoroutine.Root

    @tfd.JointDistributionCoroutine
    def model() -> Any:
        a = yield root(tfd.Normal(0.0, 1.0, name="a"))
        yield tfd.Poisson(tf.exp(a), name="b")

    s = model.sample(4, seed=tf.constant(SEED))
    return [s, model.log_prob(s)]


PROGRAMS: list[Callable[[], Any]] = [
    *(trainable, structured, factored, affine, by_hand, minimized, lbfgs, bfgs, nelder_mead),
    *(diagnostics, differential_equation, generalized_linear_model, statistics, coroutine),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_program(program: Callable[[], Any], record_property) -> None:
    """The program has TensorFlow's numbers."""
    record_property("found", plain(program()))
