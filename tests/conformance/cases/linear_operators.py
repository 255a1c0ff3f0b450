"""`tf.linalg.LinearOperator` and its kin, in eager mode, in functions, with gradients."""

import functools
import logging

import numpy as np

_rng = np.random.default_rng(17)
A = _rng.uniform(-1.0, 1.0, (3, 3)) + 3.0 * np.eye(3)
S = A @ A.T
WIDE = _rng.uniform(-1.0, 1.0, (2, 3))
DIAGONAL = _rng.uniform(1.0, 2.0, (2, 3))
THREE = _rng.uniform(-0.5, 0.5, (3, 3)) + np.array([[0.0], [2.0], [0.0]])
THIN, OTHER = _rng.uniform(-1.0, 1.0, (2, 3, 2))
X = _rng.uniform(-1.0, 1.0, (3, 2))
AXIS = _rng.uniform(-1.0, 1.0, (2, 3))
SPECTRUM = _rng.uniform(1.0, 2.0, 3) + 1j * _rng.uniform(-0.5, 0.5, 3)
PLANE = _rng.uniform(1.0, 2.0, (2, 3)) + 1j * _rng.uniform(-0.5, 0.5, (2, 3))

MAKE = {
    "identity": lambda la: la.LinearOperatorIdentity(3, dtype="float64"),
    "identities": lambda la: la.LinearOperatorIdentity(3, [2], dtype="float64"),
    "scaled": lambda la: la.LinearOperatorScaledIdentity(3, np.array([2.0, -3.0])),
    "diagonal": lambda la: la.LinearOperatorDiag(DIAGONAL),
    "diagonal_positive": lambda la: la.LinearOperatorDiag(DIAGONAL, is_positive_definite=True),
    "full": lambda la: la.LinearOperatorFullMatrix(A),
    "full_positive": lambda la: la.LinearOperatorFullMatrix(
        S, is_self_adjoint=True, is_positive_definite=True
    ),
    "triangular": lambda la: la.LinearOperatorLowerTriangular(A),
    "three_diagonals": lambda la: la.LinearOperatorTridiag(THREE),
    "three_diagonals_apart": lambda la: la.LinearOperatorTridiag(list(THREE), "sequence"),
    "three_diagonals_of_a_matrix": lambda la: la.LinearOperatorTridiag(
        np.tril(np.triu(A, -1), 1), "matrix"
    ),
    "reflection": lambda la: la.LinearOperatorHouseholder(AXIS),
    "permutation": lambda la: la.LinearOperatorPermutation([2, 0, 1], dtype="float64"),
    "circulant": lambda la: la.LinearOperatorCirculant(SPECTRUM, "complex128"),
    "circulant_real": lambda la: la.LinearOperatorCirculant(np.array([1.0, 2.0, 2.0]), "float64"),
    "circulant_2d": lambda la: la.LinearOperatorCirculant2D(PLANE, "complex128"),
    "toeplitz": lambda la: la.LinearOperatorToeplitz(
        np.array([3.0, 1.0, 0.5]), np.array([3.0, 0.2, 0.1])
    ),
    "composition": lambda la: la.LinearOperatorComposition(
        [la.LinearOperatorFullMatrix(A), la.LinearOperatorDiag(DIAGONAL)]
    ),
    "adjoint": lambda la: la.LinearOperatorAdjoint(la.LinearOperatorFullMatrix(A)),
    "inversion": lambda la: la.LinearOperatorInversion(la.LinearOperatorFullMatrix(A)),
    "kronecker": lambda la: la.LinearOperatorKronecker(
        [la.LinearOperatorFullMatrix(A), la.LinearOperatorLowerTriangular(S[:2, :2])]
    ),
    "low_rank": lambda la: la.LinearOperatorLowRankUpdate(
        la.LinearOperatorDiag(DIAGONAL[0]), THIN, np.array([1.0, 2.0]), is_diag_update_positive=True
    ),
    "low_rank_of_two": lambda la: la.LinearOperatorLowRankUpdate(
        la.LinearOperatorFullMatrix(A), THIN, None, OTHER
    ),
    "blocks": lambda la: la.LinearOperatorBlockDiag(
        [la.LinearOperatorFullMatrix(A), la.LinearOperatorDiag(DIAGONAL[0])]
    ),
    "blocks_below": lambda la: la.LinearOperatorBlockLowerTriangular(
        [
            [la.LinearOperatorFullMatrix(A)],
            [la.LinearOperatorFullMatrix(S), la.LinearOperatorLowerTriangular(A)],
        ]
    ),
}
HINTS = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")


def _operand(operator, dense):
    x = np.resize(X, (dense.shape[-1], 2))
    return x.astype(operator.dtype.as_numpy_dtype)


def _described(make):
    def case(tf):
        operator = make(tf.linalg)
        dense = operator.to_dense()
        return {
            "hints": [getattr(operator, hint) for hint in HINTS],
            "shapes": [str(operator.shape), str(operator.batch_shape), operator.tensor_rank],
            "sizes": [
                int(operator.domain_dimension),
                int(operator.range_dimension),
                operator.dtype.name,
            ],
            "sizes_later": [operator.shape_tensor(), operator.range_dimension_tensor()],
            "dense": dense,
            "diagonal": [operator.diag_part(), operator.trace()],
        }

    return case


def _applied(make):
    def case(tf):
        operator = make(tf.linalg)
        x = _operand(operator, operator.to_dense())

        def f(x):
            return [
                operator.matmul(x),
                operator.matmul(x, adjoint=True),
                operator.matmul(tf.linalg.adjoint(x), adjoint_arg=True),
                operator.matvec(x[:, 0]),
                operator.add_to_tensor(operator.to_dense() + tf.matmul(x, x, transpose_b=True)),
                *([] if operator.dtype.is_complex else [operator.adjoint().to_dense()]),
            ]

        x = tf.constant(x)
        return f(x), tf.function(f, autograph=False)(x)

    return case


def _solved(make):
    def case(tf):
        operator = make(tf.linalg)
        x = _operand(operator, operator.to_dense())

        def f(x):
            return [
                operator.solve(x),
                operator.solve(x, adjoint=True),
                operator.solvevec(x[:, 0]),
                operator.inverse().to_dense(),
                operator.determinant(),
                operator.log_abs_determinant(),
            ]

        x = tf.constant(x)
        return f(x), tf.function(f, autograph=False)(x)

    return case


def _gradients(build, *values):
    def case(tf):
        variables = [tf.Variable(v) for v in values]
        operator = build(tf.linalg, *variables)
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(operator.matvec(X[:, 0]) ** 2)
            y += tf.reduce_sum(operator.solvevec(X[:, 1]) * X[:, 0]) + tf.reduce_sum(
                operator.log_abs_determinant()
            )
        found = tape.gradient(y, variables)
        return [y, *found, len(operator.trainable_variables)]

    return case


def _passed(make):
    """As an argument, a result, and taken apart: an operator is made of its tensors."""

    def case(tf):
        operator = make(tf.linalg)
        returned = tf.function(lambda o: o)(operator)
        parts = tf.nest.flatten(operator, expand_composites=True)
        again = tf.nest.pack_sequence_as(operator, parts, expand_composites=True)
        return [
            type(returned).__name__,
            [getattr(returned, hint) for hint in HINTS],
            returned.to_dense(),
            again.to_dense(),
            len(parts),
            tf.is_tensor(operator),
        ]

    return case


def _traces(tf):
    traced = []

    @tf.function
    def apply(operator):
        traced.append(type(operator).__name__)
        return operator.matvec([1.0, 1.0])

    diagonals = [tf.linalg.LinearOperatorDiag([float(i), 2.0]) for i in range(3)]
    variable = tf.linalg.LinearOperatorDiag(tf.Variable([5.0, 6.0]))
    found = [apply(o) for o in [*diagonals, tf.linalg.LinearOperatorIdentity(2), variable]]
    variable.diag.assign([7.0, 8.0])
    return [*found, apply(variable), traced]


def _argument_gradients(tf):
    apply = tf.function(lambda o: tf.reduce_sum(o.matvec([1.0, 3.0]) ** 2))
    variable, constant = tf.Variable([1.0, 2.0]), tf.constant([3.0, 4.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(constant)
        y = apply(tf.linalg.LinearOperatorDiag(variable))
        z = apply(tf.linalg.LinearOperatorDiag(constant))
    return [y, z, tape.gradient(y, variable), tape.gradient(z, constant)]


def _returned_with_a_variable(tf):
    variable = tf.Variable([1.0, 2.0])
    found = tf.function(lambda: tf.linalg.LinearOperatorDiag(variable))()
    return [found.diag, isinstance(found.diag, tf.Variable)]


def _refused(build):
    return lambda tf: str(build(tf.linalg).shape)


def _quietly(case):
    """TensorFlow warns of its own casts, and of dense matrices."""

    @functools.wraps(case)
    def quiet(tf):
        logging.disable(logging.WARNING)
        try:
            return case(tf)
        finally:
            logging.disable(logging.NOTSET)

    return quiet


CASES = {
    **{f"{name}_described": _described(make) for name, make in MAKE.items()},
    **{f"{name}_applied": _applied(make) for name, make in MAKE.items()},
    **{f"{name}_passed": _passed(make) for name, make in MAKE.items()},
    **{f"{name}_solved": _solved(make) for name, make in MAKE.items()},
    "zeros_described": _described(lambda la: la.LinearOperatorZeros(3, dtype="float64")),
    "zeros_applied": _applied(lambda la: la.LinearOperatorZeros(3, dtype="float64")),
    "zeros_not_square": lambda tf: tf.linalg.LinearOperatorZeros(
        2, 3, is_square=False, is_self_adjoint=False
    ).matmul(tf.ones([3, 1])),
    "traced_once_for_a_kind": _traces,
    "gradients_of_arguments": _argument_gradients,
    "in_a_loop": lambda tf: (
        tf.while_loop(
            lambda i, o: i < 3,
            lambda i, o: (i + 1, tf.linalg.LinearOperatorDiag(o.diag * 2.0)),
            (0, tf.linalg.LinearOperatorDiag([1.0, 2.0])),
        )[1].diag
    ),
    "of_a_variable_returned": _returned_with_a_variable,
    "diagonal_gradients": _gradients(lambda la, d: la.LinearOperatorDiag(d), DIAGONAL),
    "triangular_gradients": _gradients(lambda la, a: la.LinearOperatorLowerTriangular(a), A),
    "full_gradients": _gradients(lambda la, a: la.LinearOperatorFullMatrix(a), A),
    "toeplitz_gradients": _gradients(
        lambda la, c, r: la.LinearOperatorToeplitz(c, r),
        np.array([3.0, 1.0, 0.5]),
        np.array([3.0, 0.2, 0.1]),
    ),
    "reflection_gradients": lambda tf: _gradients(
        lambda la, v: la.LinearOperatorHouseholder(v), AXIS[0]
    )(tf)[0],
    "cholesky": lambda tf: MAKE["full_positive"](tf.linalg).cholesky().to_dense(),
    "cholesky_of_a_diagonal": lambda tf: MAKE["diagonal_positive"](tf.linalg).cholesky().to_dense(),
    "cholesky_without_hints": lambda tf: MAKE["full"](tf.linalg).cholesky(),
    "eigenvalues": lambda tf: MAKE["full_positive"](tf.linalg).eigvals(),
    "eigenvalues_of_a_diagonal": lambda tf: MAKE["diagonal"](tf.linalg).eigvals(),
    "condition": lambda tf: [
        MAKE[n](tf.linalg).cond() for n in ("full", "full_positive", "diagonal")
    ],
    "products": lambda tf: [
        MAKE[a](tf.linalg).matmul(MAKE[b](tf.linalg)).to_dense()
        for a, b in (
            ("diagonal", "diagonal"),
            ("full", "triangular"),
            ("identity", "full"),
            ("toeplitz", "full"),
        )
    ],
    "products_kinds": lambda tf: [
        type(MAKE[a](tf.linalg).matmul(MAKE[b](tf.linalg))).__name__
        for a, b in (
            ("diagonal", "diagonal"),
            ("identity", "full"),
            ("triangular", "triangular"),
            ("full", "toeplitz"),
        )
    ],
    "inverses_kinds": lambda tf: [
        type(MAKE[a](tf.linalg).inverse()).__name__
        for a in ("diagonal", "identity", "full", "blocks")
    ],
    "dispatch": lambda tf: [
        tf.linalg.matmul(MAKE["full"](tf.linalg), X),
        tf.linalg.matvec(MAKE["full"](tf.linalg), X[:, 0]),
        tf.linalg.solve(MAKE["full"](tf.linalg), X),
        tf.linalg.det(MAKE["full"](tf.linalg)),
        tf.linalg.trace(MAKE["full"](tf.linalg)),
        tf.linalg.diag_part(MAKE["full"](tf.linalg)),
        tf.linalg.inv(MAKE["full"](tf.linalg)).to_dense(),
        tf.linalg.adjoint(MAKE["full"](tf.linalg)).to_dense(),
        tf.linalg.matmul(X.T, MAKE["full"](tf.linalg)),
    ],
    "solve_of_singular": lambda tf: tf.linalg.LinearOperatorFullMatrix(
        A, is_non_singular=False
    ).solve(X),
    "wrong_size": lambda tf: MAKE["full"](tf.linalg).matmul(np.ones((2, 2))),
    "wrong_dtype": lambda tf: MAKE["full"](tf.linalg).matmul(tf.ones([3, 2], tf.float32)),
    "hint_contradicted": _refused(lambda la: la.LinearOperatorDiag([1.0], is_self_adjoint=False)),
    "hint_positive_singular": _refused(
        lambda la: la.LinearOperatorFullMatrix(A, is_positive_definite=True, is_non_singular=False)
    ),
    "hint_identity": _refused(lambda la: la.LinearOperatorIdentity(2, is_self_adjoint=False)),
    "vector_for_a_matrix": _refused(lambda la: la.LinearOperatorFullMatrix([1.0, 2.0])),
    "ints_for_floats": _refused(lambda la: la.LinearOperatorDiag([1, 2])),
    "assert_singular": lambda tf: tf.linalg.LinearOperatorDiag([1.0, 0.0]).assert_non_singular(),
    "assert_not_positive": lambda tf: tf.linalg.LinearOperatorDiag(
        [1.0, -1.0]
    ).assert_positive_definite(),
    "conjugate_gradient": lambda tf: tf.linalg.experimental.conjugate_gradient(
        MAKE["full_positive"](tf.linalg), tf.constant(X[:, 0]), tol=1e-12, max_iter=3
    )[1],
    "conjugate_gradient_without_hints": lambda tf: tf.linalg.experimental.conjugate_gradient(
        MAKE["full"](tf.linalg), tf.constant(X[:, 0])
    ),
}
CASES = {name: _quietly(case) for name, case in CASES.items()}
