"""`tf.experimental.numpy`: each function against what TensorFlow's gives."""

import functools
import math

import numpy as np

_rng = np.random.default_rng(23)
A = _rng.uniform(-2.0, 2.0, (3, 4)).round(3)
B = _rng.uniform(0.5, 2.0, (3, 4)).round(3)
V = _rng.uniform(-2.0, 2.0, 4).round(3)
K = _rng.integers(-5, 6, (3, 4))
J = _rng.integers(1, 6, (3, 4))
Z = A + 1j * B
M = A > 0
N = np.where(M, A, np.nan)
SMALL = K.astype(np.int8)
SCOPE = {
    "np": np,
    "math": math,
    **{k: v for k, v in globals().items() if len(k) < 6 and k.isupper()},
}

TEXTS = """
abs(K), abs(Z), absolute(A), fabs(A), negative(A), positive(A), square(K), sqrt(B), cbrt(B), reciprocal(B)
sign(K), sign(A), floor(A), ceil(A), fix(A), exp(A), exp2(A), expm1(A), log(B), log2(B), log10(B), log1p(B)
sin(A), cos(A), tan(A), arcsin(A / 3), arccos(A / 3), arctan(A), sinh(A), cosh(A), tanh(A), arcsinh(A)
arccosh(B + 1), arctanh(A / 3), deg2rad(A), sinc(A), conj(Z), conjugate(Z), isnan(N), isfinite(N)
iscomplex(Z), isreal(Z), signbit(A), logical_not(K), bitwise_not(K), angle(Z), angle(Z, deg=True), real(Z)
imag(Z), add(A, K), add(K, J), add(SMALL, 1), add(SMALL, 1.5), add(SMALL, A), subtract(A, V), multiply(K, A)
multiply(M, M), true_divide(K, J), divide(A, B), floor_divide(K, J), mod(K, J), remainder(A, B), power(J, 2)
power(B, A), maximum(K, J), minimum(A, V), arctan2(A, B), hypot(A, B), logaddexp(A, B), logaddexp2(A, B)
heaviside(A, B), nextafter(A, B), gcd(K, J), lcm(K, J), divmod(K, J), equal(K, J), not_equal(K, J), less(A, K)
less_equal(A, K), greater(A, K), greater_equal(A, K), logical_and(K, M), logical_or(K, M), logical_xor(K, M)
bitwise_and(K, J), bitwise_or(K, J), bitwise_xor(K, J), array([1, 2]), array([1.5]), array(3, ndmin=2)
asarray(A), asarray([True]), zeros([2, 3]), ones([2], np.int8), zeros_like(K), ones_like(A), full([2, 2], 7)
full_like(A, 3), arange(4), arange(1, 7, 2), arange(3.0), arange(0.0, 1.0, 0.25), linspace(0, 1, 5)
linspace(0, 1, 4, endpoint=False), logspace(0, 2, 3), geomspace(1.0, 8.0, 4), eye(3), eye(2, 3, 1)
identity(2), tri(3), tri(2, 3, 1), vander(V), vander(V, 3, increasing=True), diag_indices(3)
ix_([0, 1], [2, 3]), shape(A), ndim(A), reshape(A, [4, 3]), ravel(A), expand_dims(A, 1), squeeze(A[None])
transpose(A), transpose(A[None], [1, 2, 0]), swapaxes(A, 0, 1), moveaxis(A[None], 0, 2)
broadcast_to(V, [2, 4]), atleast_1d(3), atleast_2d(V), atleast_3d(A), concatenate([A, K])
concatenate([A, B], 1), append(V, V), append(A, B, 0), stack([A, B]), stack([A, B], 1), vstack([V, V])
hstack([V, V]), hstack([A, B]), dstack([A, B]), split(A, 2, 1), split(V, [1, 3]), hsplit(A, 2), vsplit(A, 3)
dsplit(A[None], 2), flip(A), flip(A, 1), flipud(A), fliplr(A), rot90(A), rot90(A, 2), rot90(A, 3), roll(A, 1)
roll(A, 1, 0), repeat(V, 2), repeat(A, 2, 1), tile(V, 2), tile(A, [2, 1]), pad(A, [[1, 0], [0, 2]], "reflect")
diag(V), diag(A), diag(V, 1), diagflat(V), diagonal(A), diagonal(A, 1), tril(A), triu(A), tril(A, 1)
triu(A, -1), sum(K), sum(A, 0), sum(SMALL), sum(M), sum(A, (0, 1), keepdims=True), prod(B), prod(K, 1)
mean(K), mean(A, 0), var(A), std(A), std(K, 0), max(A), max(K, 1), min(A, 0), amax(A), amin(K), ptp(A, 1)
all(M), all(K, 0), any(M, 1), count_nonzero(K), count_nonzero(K, 0), average(A), average(A, 1, weights=V)
nansum(N), nansum(N, 0), nanprod(N), nanmean(N), nanmean(N, 1), cumsum(A), cumsum(K, 0), cumprod(A)
cumprod(B, 1), argmax(A), argmax(A, 1), argmin(A, 0), sort(A), sort(A, 0), sort(A, None), argsort(A), diff(A)
diff(A, 2, 1), clip(A, -1, 1), clip(K, 0, 3), nonzero(K), where(M), where(M, A, K), where(M, 1, 2)
select([M], [A], 9), compress([True, False, True], A, 0), take(V, [0, 2]), take(A, [0, 5], 1), take(A, [1], 0)
take_along_axis(A, np.argsort(A, 1), 1), matmul(A, B.T), matmul(V, V), matmul(A, V), dot(A, V), dot(A, B.T)
dot(3, V), vdot(A, B), inner(A, B), outer(V, V), tensordot(A, B, 2), tensordot(A, B.T, 1)
einsum("ij,kj->ik", A, B), kron(A, [[1, 2]]), kron(V, V), cross(A[:, :3], B[:, :3]), trace(A), trace(A, 1)
polyval(V, B), isclose(A, A + 1e-9), isclose(N, N, equal_nan=True), allclose(A, B), array_equal(A, A)
iscomplexobj(Z), isrealobj(Z), isscalar(3), result_type(np.int8, np.float16), result_type(np.float32, 1.5)
result_type(1, 1.5), promote_types(np.int32, np.float32), meshgrid(V, V), meshgrid(V, V, indexing="ij")
pad(A, [[1, 1], [1, 1]], "constant"), rad2deg(tf.constant(A)), isinf(tf.constant(N)), float_power(B, 2.0)
"""


def _case(text, tf):
    tnp = tf.experimental.numpy
    names = {name: getattr(tnp, name) for name in dir(tnp) if not name.startswith("_")}
    found = eval(text, {**SCOPE, "tf": tf, **{k: v for k, v in names.items() if callable(v)}})
    return found.name if hasattr(found, "name") and not hasattr(found, "shape") else found


def _texts():
    for line in TEXTS.strip().split("\n"):
        depth, begin = 0, 0
        for i, sign in enumerate(f"{line}, "):
            depth += (sign in "([") - (sign in ")]")
            if sign == "," and not depth:
                yield line[begin:i].strip()
                begin = i + 1


def _gradient(name, *inputs):
    def case(tf):
        xs = [tf.constant(x) for x in inputs]
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = getattr(tf.experimental.numpy, name)(*xs)
        return tape.gradient(y, xs)

    return case


def in_function(tf):
    tnp = tf.experimental.numpy

    @tf.function(autograph=False)
    def f(x, i):
        return tnp.sum(tnp.add(x, i), axis=0), tnp.concatenate([x, i]), tnp.mean(i), tnp.cumsum(x)

    return f(tf.constant(A), tf.constant(K))


CASES = {
    **{text: functools.partial(_case, text) for text in _texts()},
    **{
        f"gradient of {name}": _gradient(name, *inputs)
        for name, inputs in {
            "multiply": (A, B),
            "matmul": (A, B.T),
            "logaddexp": (A, B),
            "hypot": (A, B),
            "cumsum": (A,),
            "sort": (V,),
            "var": (A,),
            "kron": (V, V),
            "nansum": (A,),
        }.items()
    },
}
