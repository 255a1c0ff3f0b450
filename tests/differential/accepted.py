"""Where the generated calls differ from TensorFlow on purpose, with the reason.

`docs/compatibility.md` is made from this table and from the one of the recorded cases.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from tests.differential.compare import (
    Difference,
    Failure,
    Looseness,
    Slices,
    differing,
    is_rounding,
)

SIGNATURES: dict[str, str] = {
    "tf.meshgrid": "its `indexing` is among TensorFlow's `**kwargs`",
    "tf.print": "its options are among TensorFlow's `**kwargs`",
    "tf.autodiff.GradientMismatch": "an addition",
    "tf.nn.scaled_dot_product_attention": "an addition; in TensorFlow, it is in Keras alone",
    "tf.autodiff.check_gradients": "an addition",
    "tf.autodiff.gauss_newton_product": "an addition",
    "tf.autodiff.hessian": "an addition",
    "tf.autodiff.hvp": "an addition",
    "tf.dtypes.float8_e4m3fn": "in TensorFlow, it is in `tf.dtypes.experimental`",
    "tf.dtypes.float8_e5m2": "in TensorFlow, it is in `tf.dtypes.experimental`",
}
"""Public names that TensorFlow does not have, or that take other parameters, with the reason."""


@dataclass(frozen=True)
class Accepted:
    """A kind of difference: what it is called, why it is right, and which calls show it."""

    title: str
    why: str
    when: Callable[[Difference], bool]
    ops: tuple[str, ...] = ("*",)

    def covers(self, difference: Difference) -> bool:
        name = difference.call.entry.name
        return any(fnmatch.fnmatchcase(name, op) for op in self.ops) and self.when(difference)


def fails_there(*words: str) -> Callable[[Difference], bool]:
    """TensorFlow raises an error with one of these words in it, and a result comes here."""

    def when(difference: Difference) -> bool:
        theirs = difference.theirs
        if not isinstance(theirs, Failure) or isinstance(difference.ours, Failure):
            return False
        return any(word in str(theirs) for word in words)

    return when


def both_fail(there: str, *here: str) -> Callable[[Difference], bool]:
    """TensorFlow raises an error with this word in it, and one of these is raised here."""

    def when(difference: Difference) -> bool:
        ours, theirs = difference.ours, difference.theirs
        if not (isinstance(ours, Failure) and isinstance(theirs, Failure)):
            return False
        return there in str(theirs) and any(name in ours.names for name in here)

    return when


def is_complex(difference: Difference) -> bool:
    return any("complex" in array.dtype for array in difference.call.arrays.values())


def refused(difference: Difference) -> bool:
    """A deliberate mistake, which is named here and passes there."""
    ours, theirs = difference.ours, difference.theirs
    if not isinstance(ours, Failure) or isinstance(theirs, Failure):
        return False
    return difference.call.is_bad and bool(USAGE & {*ours.names})


def is_in_slices(difference: Difference) -> bool:
    """One of the two gradients is IndexedSlices, the other is the same and dense."""
    a, b = difference.ours, difference.theirs
    if isinstance(a, Slices) == isinstance(b, Slices):
        return False
    a, b = (x.dense if isinstance(x, Slices) else x for x in (a, b))
    return differing(a, b, Looseness(10.0, 0.1), True) is None


def second_is_none(difference: Difference) -> bool:
    """The second gradient is None here, and zeros, or empty, there."""
    is_none = difference.step == "second gradient" and difference.ours is None
    return is_none and not np.any(difference.theirs)


def only_there_is_none(difference: Difference) -> bool:
    return difference.step != "result" and difference.aspect == "type" and difference.theirs is None


def in_gradient(difference: Difference) -> bool:
    return difference.step != "result" and difference.aspect == "values"


NO_KERNEL = "Could not find device for node"
USAGE = {
    "InvalidArgumentError",
    "ValueError",
    "TypeError",
    "UnimplementedError",
    "FailedPreconditionError",
}

ACCEPTED: tuple[Accepted, ...] = (
    Accepted(
        "More dtypes",
        "TensorFlow has no CPU kernel for some pairs of an op and a dtype. Here an op takes every "
        "dtype for which it means something.",
        fails_there(
            NO_KERNEL,
            "is not in the list of allowed values",
            "was expected to be a bfloat16 tensor but is a bool tensor",
            "No OpKernel was registered",
        ),
    ),
    Accepted(
        "More dtypes in histogram_fixed_width_bins",
        "TensorFlow makes float32 of the range and then cannot compare it with values of float64.",
        fails_there("was expected to be a double tensor but is a float tensor"),
        ("histogram_fixed_width*",),
    ),
    Accepted(
        "Wrong dtypes",
        "Where TensorFlow has no kernel for a dtype it raises `NotFoundError`, about devices. Here "
        "it is the `InvalidArgumentError`, and `TypeError`, of any other wrong dtype.",
        both_fail(NO_KERNEL, "InvalidArgumentError"),
    ),
    Accepted(
        "More gradients",
        "Some of TensorFlow's gradients fail inside, or are missing. Here they are there.",
        lambda d: d.step != "result" and fails_there("Error")(d),
    ),
    Accepted(
        "More gradients of colours",
        "TensorFlow has no gradient for the conversion from HSV.",
        only_there_is_none,
        ("image.hsv_to_rgb", "image.*adjust_hue", "image.*adjust_saturation"),
    ),
    Accepted(
        "Lists, numbers and NumPy arrays",
        "A few functions of TensorFlow read `x.dtype` or `x.shape` before they make a tensor of "
        "`x`, and so fail with an `AttributeError` for a list or an array. Here they take it.",
        lambda d: (
            fails_there("AttributeError: '", "for unary -: 'list'")(d)
            or both_fail("AttributeError: '", *USAGE)(d)
        ),
    ),
    Accepted(
        "Rounding",
        "The order of a sum may differ, and so the last bits. Next to a number of 1e30 that "
        "cancels, the last bits are large.",
        is_rounding,
        (
            *("*sum*", "reduce_*", "math.reduce_*", "*norm*", "nn.*", "math.*segment*"),
            *("einsum", "matmul", "tensordot", "x @ *", "linalg.*", "signal.*", "image.*"),
        ),
    ),
    Accepted(
        "Complex gradients of products",
        "In the gradients of `cumprod` and `det`, and so in the second of `reduce_prod`, TensorFlow "
        "leaves out the conjugate that its own convention asks for, and in that of `slogdet` the "
        "part of the sign.",
        lambda d: in_gradient(d) and is_complex(d),
        ("math.cumprod", "reduce_prod", "linalg.det", "linalg.slogdet"),
    ),
    Accepted(
        "Gradients of products at zero and infinity",
        "TensorFlow divides by the input, and so loses what a zero or an infinity hides.",
        in_gradient,
        ("math.cumprod", "math.*segment_prod"),
    ),
    Accepted(
        "Second derivative of cross-entropy by its labels",
        "TensorFlow leaves out that the first gradient by the logits depends on the labels.",
        lambda d: d.step == "second gradient",
        ("nn.softmax_cross_entropy_with_logits",),
    ),
    Accepted(
        "Gradient of weighted cross-entropy at zero",
        "TensorFlow writes the loss with `abs` and `relu`, whose bends at zero cancel in the loss "
        "but not in its gradient. Here it is the derivative.",
        in_gradient,
        ("nn.weighted_cross_entropy_with_logits",),
    ),
    Accepted(
        "Second derivative of moments",
        "TensorFlow takes the mean for a constant where it enters the variance. That is right for "
        "the first derivative only.",
        lambda d: d.step == "second gradient",
        ("nn.moments",),
    ),
    Accepted(
        "Derivative of bessel_i1 at zero",
        "It is a half, for which TensorFlow has one.",
        in_gradient,
        ("math.bessel_i*", "math.special.bessel_i*"),
    ),
    Accepted(
        "Equal values in max_pool3d and rgb_to_hsv",
        "Of equal values, the first is the largest here, as in `max_pool2d`. TensorFlow gives the "
        "whole gradient to each of them in three dimensions, and another one in a grey pixel.",
        in_gradient,
        ("nn.max_pool3d", "nn.pool", "nn.max_pool", "image.rgb_to_hsv", "image.adjust_*"),
    ),
    Accepted(
        "Limits and poles",
        "At infinity and at poles, special functions give their limit. TensorFlow gives NaN in places: "
        "`erf` of infinity in double precision, `spence` of infinity, `zeta` at its poles.",
        lambda d: d.aspect == "values" and bool(np.any(np.isnan(d.theirs) & ~np.isnan(d.ours))),
        (
            "math.zeta",
            "math.polygamma",
            "math.betainc",
            "math.igamma*",
            "math.erf*",
            "math.special.*",
        ),
    ),
    Accepted(
        "Slope of dawsn far out",
        "It goes to zero. TensorFlow gives one where the function has become too small to tell.",
        in_gradient,
        ("math.special.dawsn",),
    ),
    Accepted(
        "Largest of infinities",
        "The maximum of minus infinity alone is minus infinity. TensorFlow gives the lowest finite "
        "number, with which it begins.",
        lambda d: any(np.isinf(a.values).any() for a in d.call.arrays.values()),
        ("math.unsorted_segment_max", "math.unsorted_segment_min", "nn.*max_pool*"),
    ),
    Accepted(
        "Variables read before tape.reset()",
        "What was read from a variable stays the variable's, also when the reset came in between.",
        lambda d: d.aspect in ("values", "type") and ".reset()" in d.call.source,
        ("program",),
    ),
    Accepted(
        "Second derivative of spence at one",
        "It is one half. TensorFlow gives NaN.",
        lambda d: d.step == "second gradient",
        ("math.special.spence",),
    ),
    Accepted(
        "Transforms of empty signals",
        "They are zero. TensorFlow gives what was in memory.",
        lambda d: any(array.values.size == 0 for array in d.call.arrays.values()),
        ("signal.*fft*",),
    ),
    Accepted(
        "stack of NumPy integers",
        "They stay int64. TensorFlow makes int32 of them, and of floats what they are.",
        lambda d: d.aspect == "dtype",
        ("stack",),
    ),
    Accepted(
        "Square roots as powers",
        "`x ** 0.5` is the square root, also of minus infinity, which is NaN.",
        lambda d: any(np.isinf(a.values).any() for a in d.call.arrays.values()),
        ("x ** 0.5",),
    ),
    Accepted(
        "Mean of no complex numbers",
        "It is NaN, as it is of no real numbers. TensorFlow gives zero.",
        lambda d: is_complex(d) and any(a.values.size == 0 for a in d.call.arrays.values()),
        ("reduce_mean",),
    ),
    Accepted(
        "crop_and_resize has no gradient by its boxes",
        "It is missing. TensorFlow has it for the bilinear method.",
        lambda d: d.step == "gradient" and d.ours is None,
        ("image.crop_and_resize",),
    ),
    Accepted(
        "Second derivatives that are zero",
        "Where a first gradient does not depend on the input at all, as in max pooling or for an "
        "empty tensor, the second is None here and zeros in TensorFlow.",
        second_is_none,
        ("nn.*pool*", "math.cumulative_logsumexp", "math.*segment_*", "image.*"),
    ),
    Accepted(
        "gelu in double precision",
        "TensorFlow rounds the square root of two to float32. Here it has the precision of x.",
        lambda d: d.aspect == "values" and "float64" in d.call.arguments["features"].dtype,
        ("nn.gelu",),
    ),
    Accepted(
        "l2_normalize of zeros in float16",
        "The epsilon of 1e-12 is zero in float16, and the gradient 0/0 or 1/0.",
        in_gradient,
        ("nn.l2_normalize",),
    ),
    Accepted(
        "shape_n of several dtypes",
        "TensorFlow wants tensors of one dtype, of which it then takes no notice.",
        fails_there("Error"),
        ("shape_n",),
    ),
    Accepted(
        "cast of a variable to its own dtype",
        "Gives a tensor here, and the variable itself in TensorFlow, which is then no target.",
        lambda d: d.step == "gradient" and d.theirs == "nothing",
        ("cast", "saturate_cast"),
    ),
    Accepted(
        "NumPy arrays in double precision",
        "A few functions of TensorFlow make single precision of them. Here they stay what they are.",
        lambda d: d.aspect == "dtype" and any(a.form == "numpy" for a in d.call.arrays.values()),
        ("nn.max_pool*", "nn.pool", "signal.*", "image.*"),
    ),
    Accepted(
        "Nothing to do",
        "`unravel_index` of no indices, or a histogram of values that are NaN, is refused there.",
        fails_there("received empty tensor indices", "Histogram values must not contain NaN"),
        ("unravel_index", "histogram_fixed_width*"),
    ),
    Accepted(
        "Bools as complex numbers",
        "TensorFlow takes True for 1.0, and not for 1+0j.",
        fails_there("Cannot convert True to EagerTensor of dtype complex"),
        ("constant",),
    ),
    Accepted(
        "IndexedSlices or dense",
        "`gather` along the last axis of a vector gives slices, as along the first, which it is. "
        "What `vectorized_map` gathers is dense: it takes all rows. Slices become dense where they "
        "pass through another op; in TensorFlow, they pass through `negative` and `identity`.",
        is_in_slices,
        ("gather", "tf.vectorized_map*", "program"),
    ),
    Accepted(
        "NaN in scatter_max and scatter_min",
        "NaN stays NaN, as in `tf.maximum`. TensorFlow drops it, or not, depending on the order.",
        lambda d: d.aspect == "values" and has_nan(d),
        ("*v.scatter_m*", "tensor_scatter_nd_m*"),
    ),
    Accepted(
        "Division by zero in scatter_div",
        "Gives infinity, as everywhere else for floats. TensorFlow refuses.",
        fails_there("updates must not contain 0"),
        ("*v.scatter_div*",),
    ),
    Accepted(
        "Mistakes that TensorFlow does not see",
        "It rounds an axis or a size of 1.5, takes a bool for a length, and does not look at the "
        "noise shape of a dropout that drops nothing. Here each is an error.",
        refused,
        (
            *("nn.dropout", "nn.*pool*", "nn.*conv*", "image.*", "signal.*", "linalg.*"),
            *("squeeze", "sequence_mask", "*slice", "gather", "gather_nd", "*sort", "*stack"),
        ),
    ),
    Accepted(
        "Mistakes that TensorFlow sees",
        "A fraction as the number of a diagonal, integers as colours, a number as the hint of a dtype "
        "that is not needed, norms that make a tensor larger, and assertions about two dtypes are "
        "taken as they are.",
        lambda d: d.call.is_bad and fails_there("Cannot convert", "Shapes", "cannot compute")(d),
        (
            *("linalg.diag*", "linalg.set_diag", "image.*", "convert_to_tensor", "clip_by_norm"),
            "debugging.assert_*",
        ),
    ),
    Accepted(
        "Kinds of mistakes",
        "Whether a wrong shape or number is a `ValueError`, an `InvalidArgumentError` or a "
        "`TypeError` depends in TensorFlow on who finds it first. In a few ops another does here.",
        lambda d: d.call.is_bad and both_usage(d),
        (
            *("image.*", "signal.*", "nn.*conv*", "nn.*pool*", "math.*segment*"),
            *("reduce_any", "reduce_all", "logical_*", "math.logical_*", "unstack"),
            *("debugging.*", "math.confusion_matrix"),
        ),
    ),
    Accepted(
        "Variables are tensors",
        "`assert_proper_iterable` refuses tensors in TensorFlow, but not variables.",
        lambda d: isinstance(d.ours, Failure),
        ("debugging.assert_proper_iterable",),
    ),
    Accepted(
        "Sources behind an op that has no derivative",
        "`round`, `floor`, `zeros_like` and their like end what a tape follows here, so that their "
        "result is a constant to it. TensorFlow goes on recording, and gives a gradient by such a "
        "result, but not by what it was made from. `tape.watch` says that it is wanted.",
        lambda d: d.ours is None or (d.aspect in ("type", "values") and not np.any(d.ours)),
        ("program",),
    ),
)


def both_usage(difference: Difference) -> bool:
    """Both raise, and the two exceptions say the same: the arguments are wrong."""
    both = (difference.ours, difference.theirs)
    return all(isinstance(one, Failure) and USAGE & {*one.names} for one in both)


def has_nan(difference: Difference) -> bool:
    arrays = difference.call.arrays.values()
    return any(np.isnan(a.values).any() for a in arrays if a.dtype.startswith("float"))


def reason(difference: Difference) -> str | None:
    """The title of the first entry that covers the difference."""
    return next((a.title for a in ACCEPTED if a.covers(difference)), None)
