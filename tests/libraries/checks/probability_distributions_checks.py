"""TensorFlow Probability's distributions: densities, moments, samples with a seed, gradients, in functions too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp
from checks.probability_numbers import plain

tfd, tfb = tfp.distributions, tfp.bijectors
kernels = tfp.math.psd_kernels


def f(*values: Any) -> np.ndarray:
    """An array of float32."""
    return np.array(values, np.float32)


LOC, SCALE, POSITIVE, UNIT = f(0.3, -1.2, 2), f(0.5, 1, 2.5), f(0.7, 1.5, 3.2), f(0.2, 0.5, 0.9)
NEAR, SIMPLEX, UP = LOC + f(0.4), f(0.2, 0.3, 0.5), f(0, 0, 1)
ON_SPHERE, SMALL, CUTS, FACTOR = f(0.6, 0, 0.8), f(0.1, 0.2, 0.3), f(-2, 0, 2), f([1], [0.5], [0.2])
COUNTS, BITS = f(0, 2, 5), np.array([0, 1, 1])
TRIL = f([1, 0, 0], [0.5, 2, 0], [0.1, -0.3, 0.7])
COVARIANCE, ZEROS = TRIL @ TRIL.T, np.zeros((3, 3), np.float32)
CORRELATION = f([1, 0.3, 0.1], [0.3, 1, -0.2], [0.1, -0.2, 1])
POINTS, AT_POINTS = np.linspace(-1, 1, 5, dtype=np.float32)[:, None], f(0, 0.2, 0.4, 0.6, 0.8)


def lower() -> Any:
    """A lower triangular operator."""
    return tf.linalg.LinearOperatorLowerTriangular(TRIL)


def kernel() -> Any:
    """A kernel of a Gaussian process."""
    return kernels.ExponentiatedQuadratic(f(1)[0], f(0.5)[0])


def hidden_markov() -> Any:
    """A model of hidden states, two of them."""
    first = tfd.Categorical(probs=f(0.8, 0.2))
    then = tfd.Categorical(probs=f([0.7, 0.3], [0.2, 0.8]))
    return tfd.HiddenMarkovModel(first, then, tfd.Normal(f(0, 15), f(5, 10)), 4)


def state_space() -> Any:
    """A walk in two dimensions, seen with noise."""
    still, noise = tf.linalg.LinearOperatorIdentity(2), tfd.MultivariateNormalDiag
    return tfd.LinearGaussianStateSpaceModel(
        4,
        still,
        noise(scale_diag=f(0.5, 0.5)),
        still,
        noise(scale_diag=f(1, 1)),
        noise(scale_diag=f(1, 1)),
    )


# How a distribution is made, and a value of it.
DISTRIBUTIONS = {
    "Autoregressive": (
        lambda: tfd.Autoregressive(
            lambda x: tfd.Independent(tfd.Normal(tf.cumsum(x) * 0.1, 1.0), 1),
            tf.zeros(3),
            num_steps=3,
        ),
        LOC,
    ),
    "Bates": (lambda: tfd.Bates(f(2, 3, 5)), UNIT),
    "BatchBroadcast": (lambda: tfd.BatchBroadcast(tfd.Normal(0.0, 1.0), [3]), LOC),
    "BatchReshape": (lambda: tfd.BatchReshape(tfd.Normal(LOC, SCALE), [3, 1]), f(0.4)),
    "Bernoulli": (lambda: tfd.Bernoulli(probs=UNIT), BITS),
    "Bernoulli_logits": (lambda: tfd.Bernoulli(logits=LOC), BITS),
    "Beta": (lambda: tfd.Beta(POSITIVE, SCALE), UNIT),
    "BetaBinomial": (lambda: tfd.BetaBinomial(10.0, POSITIVE, SCALE), f(0, 3, 9)),
    "BetaQuotient": (lambda: tfd.BetaQuotient(POSITIVE, SCALE, POSITIVE, SCALE), POSITIVE),
    "Binomial": (lambda: tfd.Binomial(10.0, probs=UNIT), f(0, 3, 9)),
    "Blockwise": (
        lambda: tfd.Blockwise([tfd.MultivariateNormalDiag(LOC, SCALE)] * 2),
        f(*LOC, *NEAR),
    ),
    "Categorical": (lambda: tfd.Categorical(logits=LOC), np.array([0, 1, 2])),
    "Cauchy": (lambda: tfd.Cauchy(LOC, SCALE), NEAR),
    "Chi": (lambda: tfd.Chi(POSITIVE), POSITIVE),
    "Chi2": (lambda: tfd.Chi2(POSITIVE), POSITIVE),
    "CholeskyLKJ": (lambda: tfd.CholeskyLKJ(3, 1.5), np.linalg.cholesky(CORRELATION)),
    "ContinuousBernoulli": (lambda: tfd.ContinuousBernoulli(probs=UNIT), UNIT),
    "DeterminantalPointProcess": (
        lambda: tfd.DeterminantalPointProcess(f(0.5, 1, 2), np.eye(3, dtype=np.float32)),
        np.array([1, 0, 1], np.int32),
    ),
    "Deterministic": (lambda: tfd.Deterministic(LOC), LOC),
    "Dirichlet": (lambda: tfd.Dirichlet(POSITIVE), SIMPLEX),
    "DirichletMultinomial": (lambda: tfd.DirichletMultinomial(5.0, POSITIVE), f(2, 1, 2)),
    "DoublesidedMaxwell": (lambda: tfd.DoublesidedMaxwell(LOC, SCALE), NEAR),
    "Empirical": (lambda: tfd.Empirical(LOC), f(0.3)[0]),
    "ExpGamma": (lambda: tfd.ExpGamma(POSITIVE, SCALE), LOC),
    "ExpInverseGamma": (lambda: tfd.ExpInverseGamma(POSITIVE, SCALE), LOC),
    "ExpRelaxedOneHotCategorical": (
        lambda: tfd.ExpRelaxedOneHotCategorical(0.5, logits=LOC),
        np.log(SIMPLEX),
    ),
    "Exponential": (lambda: tfd.Exponential(SCALE), POSITIVE),
    "ExponentiallyModifiedGaussian": (
        lambda: tfd.ExponentiallyModifiedGaussian(LOC, SCALE, POSITIVE),
        NEAR,
    ),
    "FiniteDiscrete": (lambda: tfd.FiniteDiscrete(f(1, 2, 4), probs=SIMPLEX), f(1, 2, 4)),
    "Gamma": (lambda: tfd.Gamma(POSITIVE, SCALE), POSITIVE),
    "GammaGamma": (lambda: tfd.GammaGamma(POSITIVE, SCALE + 1, POSITIVE), POSITIVE),
    "GaussianProcess": (
        lambda: tfd.GaussianProcess(kernel(), POINTS, observation_noise_variance=0.1),
        AT_POINTS,
    ),
    "GaussianProcessRegressionModel": (
        lambda: tfd.GaussianProcessRegressionModel(
            kernel(), POINTS + 0.1, POINTS, np.sin(POINTS[:, 0]), observation_noise_variance=0.1
        ),
        AT_POINTS,
    ),
    "GeneralizedExtremeValue": (lambda: tfd.GeneralizedExtremeValue(LOC, SCALE, SMALL), NEAR),
    "GeneralizedNormal": (lambda: tfd.GeneralizedNormal(LOC, SCALE, POSITIVE), NEAR),
    "GeneralizedPareto": (lambda: tfd.GeneralizedPareto(LOC, SCALE, SMALL), NEAR),
    "Geometric": (lambda: tfd.Geometric(probs=UNIT), f(0, 2, 3)),
    "Gumbel": (lambda: tfd.Gumbel(LOC, SCALE), NEAR),
    "HalfCauchy": (lambda: tfd.HalfCauchy(LOC, SCALE), NEAR),
    "HalfNormal": (lambda: tfd.HalfNormal(SCALE), POSITIVE),
    "HalfStudentT": (lambda: tfd.HalfStudentT(POSITIVE + 2, LOC, SCALE), NEAR),
    "HiddenMarkovModel": (hidden_markov, f(1, 4, 10, 2)),
    "Horseshoe": (lambda: tfd.Horseshoe(SCALE), LOC),
    "Independent": (lambda: tfd.Independent(tfd.Normal(LOC, SCALE), 1), NEAR),
    "InverseGamma": (lambda: tfd.InverseGamma(POSITIVE, SCALE), POSITIVE),
    "InverseGaussian": (lambda: tfd.InverseGaussian(POSITIVE, SCALE), POSITIVE),
    "JohnsonSU": (lambda: tfd.JohnsonSU(LOC, POSITIVE, LOC, SCALE), NEAR),
    "JointDistributionNamed": (
        lambda: tfd.JointDistributionNamed(
            {"z": tfd.Normal(0.0, 1.0), "x": lambda z: tfd.Normal(z, 2.0)}
        ),
        {"z": f(0.1)[0], "x": f(1)[0]},
    ),
    "JointDistributionSequential": (
        lambda: tfd.JointDistributionSequential(
            [
                tfd.Normal(0.0, 1.0),
                lambda z: tfd.Normal(z, 2.0),
                lambda a, b: tfd.Gamma(2.0, tf.exp(a + b)),
            ]
        ),
        [f(0.1)[0], f(0.5)[0], f(1)[0]],
    ),
    "Kumaraswamy": (lambda: tfd.Kumaraswamy(POSITIVE, SCALE), UNIT),
    "LambertWNormal": (lambda: tfd.LambertWNormal(LOC, SCALE, SMALL), NEAR),
    "Laplace": (lambda: tfd.Laplace(LOC, SCALE), NEAR),
    "LinearGaussianStateSpaceModel": (
        state_space,
        np.arange(8, dtype=np.float32).reshape(4, 2) / 4,
    ),
    "LKJ": (lambda: tfd.LKJ(3, 1.5), CORRELATION),
    "LogLogistic": (lambda: tfd.LogLogistic(LOC, SCALE), POSITIVE),
    "LogNormal": (lambda: tfd.LogNormal(LOC, SCALE), POSITIVE),
    "Logistic": (lambda: tfd.Logistic(LOC, SCALE), NEAR),
    "LogitNormal": (lambda: tfd.LogitNormal(LOC, SCALE), UNIT),
    "MarkovChain": (
        lambda: tfd.MarkovChain(tfd.Normal(0.0, 1.0), lambda _, x: tfd.Normal(x, 0.5), num_steps=4),
        f(0.1, 0.2, 0.4, 0.3),
    ),
    "Masked": (lambda: tfd.Masked(tfd.Normal(LOC, SCALE), [True, False, True]), NEAR),
    "MatrixNormal": (lambda: tfd.MatrixNormalLinearOperator(ZEROS, lower(), lower()), COVARIANCE),
    "MatrixT": (lambda: tfd.MatrixTLinearOperator(5.0, ZEROS, lower(), lower()), COVARIANCE),
    "Mixture": (
        lambda: tfd.Mixture(
            tfd.Categorical(probs=f(0.3, 0.7)), [tfd.Normal(0.0, 1.0), tfd.Normal(3.0, 0.5)]
        ),
        f(0.8)[0],
    ),
    "MixtureSameFamily": (
        lambda: tfd.MixtureSameFamily(tfd.Categorical(probs=SIMPLEX), tfd.Normal(LOC, SCALE)),
        f(0.8)[0],
    ),
    "Moyal": (lambda: tfd.Moyal(LOC, SCALE), NEAR),
    "Multinomial": (lambda: tfd.Multinomial(5.0, logits=LOC), f(2, 1, 2)),
    "MultivariateNormalDiag": (lambda: tfd.MultivariateNormalDiag(LOC, SCALE), NEAR),
    "MultivariateNormalDiagPlusLowRankCovariance": (
        lambda: tfd.MultivariateNormalDiagPlusLowRankCovariance(LOC, SCALE, FACTOR),
        NEAR,
    ),
    "MultivariateNormalFullCovariance": (
        lambda: tfd.MultivariateNormalFullCovariance(LOC, COVARIANCE),
        NEAR,
    ),
    "MultivariateNormalLinearOperator": (
        lambda: tfd.MultivariateNormalLinearOperator(LOC, lower()),
        NEAR,
    ),
    "MultivariateNormalTriL": (lambda: tfd.MultivariateNormalTriL(LOC, TRIL), NEAR),
    "MultivariateStudentT": (
        lambda: tfd.MultivariateStudentTLinearOperator(5.0, LOC, lower()),
        NEAR,
    ),
    "NegativeBinomial": (lambda: tfd.NegativeBinomial(POSITIVE, probs=UNIT), COUNTS),
    "NoncentralChi2": (lambda: tfd.NoncentralChi2(POSITIVE, SCALE), POSITIVE),
    "Normal": (lambda: tfd.Normal(LOC, SCALE), NEAR),
    "NormalInverseGaussian": (
        lambda: tfd.NormalInverseGaussian(LOC, SCALE + 2, SMALL, POSITIVE),
        NEAR,
    ),
    "OneHotCategorical": (lambda: tfd.OneHotCategorical(logits=LOC), np.array([0, 1, 0])),
    "OneHotCategoricalStraightThrough": (
        lambda: tfd.OneHotCategoricalStraightThrough(logits=LOC),
        f(0, 1, 0),
    ),
    "OrderedLogistic": (lambda: tfd.OrderedLogistic(CUTS, 0.3), np.array([0, 1, 3])),
    "PERT": (lambda: tfd.PERT(LOC - 1, LOC, LOC + 2), NEAR),
    "Pareto": (lambda: tfd.Pareto(POSITIVE, SCALE), SCALE + 1),
    "PlackettLuce": (lambda: tfd.PlackettLuce(POSITIVE), np.array([2, 0, 1])),
    "Poisson": (lambda: tfd.Poisson(POSITIVE), COUNTS),
    "PowerSpherical": (lambda: tfd.PowerSpherical(UP, 2.0), ON_SPHERE),
    "ProbitBernoulli": (lambda: tfd.ProbitBernoulli(probits=LOC), BITS),
    "QuantizedDistribution": (
        lambda: tfd.QuantizedDistribution(tfd.Normal(LOC, SCALE), low=-3.0, high=4.0),
        f(0, -1, 2),
    ),
    "RelaxedBernoulli": (lambda: tfd.RelaxedBernoulli(0.5, logits=LOC), UNIT),
    "RelaxedOneHotCategorical": (lambda: tfd.RelaxedOneHotCategorical(0.5, logits=LOC), SIMPLEX),
    "Sample": (lambda: tfd.Sample(tfd.Normal(0.0, 2.0), 3), LOC),
    "SigmoidBeta": (lambda: tfd.SigmoidBeta(POSITIVE, SCALE), LOC),
    "SinhArcsinh": (lambda: tfd.SinhArcsinh(LOC, SCALE, LOC * f(0.1), POSITIVE), NEAR),
    "Skellam": (lambda: tfd.Skellam(POSITIVE, SCALE), f(0, 2, -1)),
    "SphericalUniform": (lambda: tfd.SphericalUniform(3), ON_SPHERE),
    "StoppingRatioLogistic": (lambda: tfd.StoppingRatioLogistic(CUTS, 0.3), np.array([0, 1, 3])),
    "StudentT": (lambda: tfd.StudentT(POSITIVE + 2, LOC, SCALE), NEAR),
    "StudentTProcess": (
        lambda: tfd.StudentTProcess(5.0, kernel(), POINTS, observation_noise_variance=0.1),
        AT_POINTS,
    ),
    "TransformedDistribution": (
        lambda: tfd.TransformedDistribution(tfd.Normal(LOC, SCALE), tfb.Exp()),
        POSITIVE,
    ),
    "Triangular": (lambda: tfd.Triangular(LOC - 1, LOC + 2, LOC), NEAR),
    "TruncatedCauchy": (lambda: tfd.TruncatedCauchy(LOC, SCALE, LOC - 1, LOC + 2), NEAR),
    "TruncatedNormal": (lambda: tfd.TruncatedNormal(LOC, SCALE, LOC - 1, LOC + 2), NEAR),
    "TwoPieceNormal": (lambda: tfd.TwoPieceNormal(LOC, SCALE, POSITIVE), NEAR),
    "TwoPieceStudentT": (lambda: tfd.TwoPieceStudentT(POSITIVE + 2, LOC, SCALE, POSITIVE), NEAR),
    "Uniform": (lambda: tfd.Uniform(LOC, LOC + SCALE), LOC + f(0.3)),
    "VectorDeterministic": (lambda: tfd.VectorDeterministic(LOC), LOC),
    "VonMises": (lambda: tfd.VonMises(LOC, SCALE), NEAR),
    "VonMisesFisher": (lambda: tfd.VonMisesFisher(UP, 2.0), ON_SPHERE),
    "Weibull": (lambda: tfd.Weibull(POSITIVE, SCALE), POSITIVE),
    "Wishart": (lambda: tfd.WishartLinearOperator(5.0, lower()), COVARIANCE),
    "WishartTriL": (lambda: tfd.WishartTriL(5.0, TRIL), COVARIANCE),
    "ZeroInflatedNegativeBinomial": (
        lambda: tfd.ZeroInflatedNegativeBinomial(POSITIVE, probs=UNIT, inflated_loc_probs=UNIT),
        COUNTS,
    ),
    "Zipf": (lambda: tfd.Zipf(POSITIVE + 2), f(1, 2, 5)),
}
SEED = [3, 7]


def gradient(d: Any, x: Any) -> Any:
    """The gradient of a density, in the value where it is real, and in the distribution's parameters."""
    x = tf.nest.map_structure(tf.constant, x)
    sources = [v for v in tf.nest.flatten([x, d], expand_composites=True) if v.dtype == tf.float32]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        # The distribution is put together anew from tensors that the tape watches.
        watched = iter(sources)
        parts = [
            next(watched) if part.dtype == tf.float32 else part
            for part in tf.nest.flatten([x, d], expand_composites=True)
        ]
        value, made = tf.nest.pack_sequence_as([x, d], parts, expand_composites=True)
        density = tf.reduce_sum(made.log_prob(value))
    return tape.gradient(density, sources)


ASKED = {
    "log_prob": lambda d, x: d.log_prob(x),
    "cdf": lambda d, x: [d.cdf(x), d.survival_function(x)],
    "moments": lambda d, x: [d.mean(), d.variance()],
    "covariance": lambda d, x: d.covariance(),
    "mode": lambda d, x: d.mode(),
    "entropy": lambda d, x: d.entropy(),
    "quantile": lambda d, x: d.quantile(UNIT),
    "sample": lambda d, x: d.sample(4, seed=tf.constant(SEED)),
    "sample_in_function": lambda d, x: tf.function(lambda: d.sample(4, seed=tf.constant(SEED)))(),
    "kl_divergence": lambda d, x: tfd.kl_divergence(d, d.copy()),
    "gradient": gradient,
    "argument_of_function": lambda d, x: tf.function(lambda d, x: d.log_prob(x))(d, x),
    "to_unconstrained": lambda d, x: d.experimental_default_event_space_bijector().inverse(x),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distribution(name: str, asked: str, record_property) -> None:
    """What is asked of the distribution has TensorFlow's numbers."""
    make, x = DISTRIBUTIONS[name]
    try:
        found = ASKED[asked](make(), x)
    except NotImplementedError:
        pytest.skip("TensorFlow Probability does not have it")
    record_property("found", plain(found))
