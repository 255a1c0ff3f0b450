"""Linear operators, by what they are for: products, solutions, determinants; and queues."""

from tests.differential.calls import expression
from tests.differential.draw import WIDE, bools, floats, ints

FORMS = ("tensor",)
NO = {"_bad": False, "_second": False, "_loose": 50.0}
D = floats(0.5, 2.0, shape=(3,), dtypes=WIDE, forms=FORMS, edges=0.0)
M = floats(-0.3, 0.3, shape=(3, 3), dtypes=WIDE, forms=FORMS, edges=0.0)
B = floats(-1.0, 1.0, shape=(2, 3, 3), dtypes=WIDE, forms=FORMS, edges=0.0)
R = floats(-1.0, 1.0, shape=(3, 2), dtypes=WIDE, forms=FORMS, edges=0.0)

L = "tf.linalg.LinearOperator"
FULL = f"{L}FullMatrix(m + tf.eye(3, dtype=m.dtype) * 2)"
DIAG = f"{L}Diag(tf.cast(d, m.dtype))"
LOWER = f"{L}LowerTriangular(m + tf.eye(3, dtype=m.dtype) * 2)"
SCALED = f"{L}ScaledIdentity(3, tf.cast(d, m.dtype)[0])"
SPECTRUM = "tf.complex(tf.cast(d, tf.float64), tf.zeros([3], tf.float64))"
OPERATORS = {
    "full": FULL,
    "diag": DIAG,
    "lower": LOWER,
    "scaled": SCALED,
    "identity": f"{L}Identity(3, dtype=m.dtype)",
    "zeros": f"{L}Zeros(3, dtype=m.dtype)",
    "householder": f"{L}Householder(tf.cast(d, m.dtype) / tf.norm(tf.cast(d, m.dtype)))",
    "permutation": f"{L}Permutation([2, 0, 1], dtype=m.dtype)",
    "toeplitz": f"{L}Toeplitz(m[:, 0] + [2, 0, 0], m[:, 0] + [2, 0, 0])",
    "tridiag": f"{L}Tridiag([m[0], m[1] + 2, m[2]], 'sequence')",
    "low rank": f"{L}LowRankUpdate({DIAG}, m[:, :2])",
    "composition": f"{L}Composition([{FULL}, {DIAG}])",
    "kronecker": f"{L}Kronecker([{SCALED}, {L}FullMatrix([[2.0, 1.0], [0.0, 3.0]] + tf.zeros([2, 2], m.dtype))])",
    "block diagonal": f"{L}BlockDiag([{FULL}, {DIAG}])",
    "block lower": f"{L}BlockLowerTriangular([[{FULL}], [{L}FullMatrix(m), {LOWER}]])",
    "adjoint": f"{FULL}.adjoint()",
    "inverse": f"{LOWER}.inverse()",
}
for name, operator in OPERATORS.items():
    size = {"kronecker": 6, "block diagonal": 6, "block lower": 6}.get(name, 3)
    asked = ["to_dense()", "trace()", "diag_part()", "H.to_dense()", "shape", "is_square"]
    asked.append(f"matmul(tf.ones([{size}, 2], m.dtype))")
    asked.append(f"matvec(tf.ones([{size}], m.dtype), adjoint=True)")
    if name != "zeros":
        asked += ["log_abs_determinant()", f"solve(tf.ones([{size}, 2], m.dtype))", "determinant()"]
        asked.append(f"inverse().solvevec(tf.ones([{size}], m.dtype))")
    for question in asked:
        expression(f"{operator}.{question}", m=M, d=D, **NO)
for question in (
    "to_dense()",
    "determinant()",
    "matmul(tf.ones([3, 2], tf.complex128))",
    "trace()",
):
    expression(f"{L}Circulant({SPECTRUM}, input_output_dtype=tf.complex128).{question}", d=D, **NO)
GRID = "tf.complex(tf.ones([2, 2], tf.float64), tf.zeros([2, 2], tf.float64)) * tf.cast(d[0], tf.complex128)"
expression(f"{L}Circulant2D({GRID}, input_output_dtype=tf.complex128).to_dense()", d=D, **NO)
expression(f"{L}Circulant3D(({GRID})[None], input_output_dtype=tf.complex128).trace()", d=D, **NO)
for question in ("to_dense()", "determinant()", "batch_shape", "tensor_rank", "cond()"):
    expression(f"{L}FullMatrix(b + tf.eye(3, dtype=b.dtype) * 4).{question}", b=B, **NO)
expression(
    f"{L}FullMatrix(b, is_self_adjoint=False).matmul(x, adjoint=adjoint)",
    b=M,
    x=R,
    adjoint=bools(),
    **NO,
    _valid=lambda b, x, adjoint: b.dtype == x.dtype,
)
expression(f"{L}Diag(d).matmul({L}FullMatrix(tf.linalg.diag(d))).to_dense()", d=D, **NO)
expression(f"({L}Diag(d) @ {L}Diag(d)).diag", d=D, **NO)

# Queues, from one call to the next.
Q = "tf.queue"
LAST_FIRST = "tf.range(4, dtype=tf.int64)[::-1]"
N = ints(0, 9, shape=(4,), dtypes=("int32", "int64"), forms=FORMS)
for queue, text in (
    (f"{Q}.FIFOQueue(9, [n.dtype], [[]])", "[q.enqueue_many([n]), q.dequeue(), q.dequeue_many(2), q.size()]"),
    (f"{Q}.FIFOQueue(9, [n.dtype])", "[q.enqueue([n]), q.enqueue([n * 2]), q.dequeue(), q.size()]"),
    (f"{Q}.PaddingFIFOQueue(9, [n.dtype], [[None]])", "[q.enqueue([n]), q.enqueue([n[:2]]), q.dequeue_many(2)]"),
    (f"{Q}.PriorityQueue(9, [n.dtype], [[]])", f"[q.enqueue_many([{LAST_FIRST}, n]), q.dequeue_many(4)]"),
    (f"{Q}.RandomShuffleQueue(9, 0, [n.dtype], [[]])", "[q.enqueue_many([n]), tf.sort(q.dequeue_many(4)), q.size()]"),
    (f"{Q}.FIFOQueue(9, [n.dtype], [[]])", "[q.enqueue_many([n]), q.close(), q.dequeue_up_to(9), q.is_closed()]"),
):  # fmt: skip
    expression(f"(lambda q: {text}[1:])({queue})", n=N, _gradients=False, _bad=False)
