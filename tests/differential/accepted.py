"""Where the generated calls differ from TensorFlow on purpose, with the reason.

`docs/compatibility.md` is made from this table and from the one of the recorded cases. An entry
names its ops, and excuses no more of their calls than its condition says.
"""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.differential.compare import Difference, Slices
from tests.differential.conditions import (
    NO_KERNEL,
    Condition,
    all_of,
    any_of,
    at,
    both_fail,
    cancels,
    differs_in,
    fails_here,
    fails_there,
    has,
    has_dtypes,
    has_empty,
    has_grey_or_zero,
    has_ties,
    in_gradient,
    in_second,
    in_step,
    is_all_there,
    is_bad,
    is_behind,
    is_complex,
    is_in_slices,
    is_none_here,
    is_none_there,
    is_of_a_stopped_tape,
    is_of_the_first_axis,
    is_other_kind,
    is_without_attribute,
    is_zero_or_infinite,
    listed,
    only_at,
    only_nan_here,
    only_nan_there,
    source,
    takes_a_fraction,
    with_values,
    within,
)
from tests.differential.tables import BEHAVIOR, CASTS, KINDS, MORE_DTYPES, MORE_GRADIENTS, UNSEEN


@dataclass(frozen=True)
class Accepted:
    """A kind of difference: what it is called, why it is right, and which calls show it."""

    title: str
    why: str
    when: Condition
    ops: tuple[str, ...] = ("*",)

    def covers(self, difference: Difference) -> bool:
        name = difference.call.entry.name
        return any(fnmatch.fnmatchcase(name, op) for op in self.ops) and self.when(difference)


def named(ops: Any) -> str:
    return ", ".join(f"`{op.rpartition('.')[2]}`" for op in ops)


ACCEPTED: tuple[Accepted, ...] = (
    # Where TensorFlow does less.
    Accepted(
        "More dtypes",
        "TensorFlow has no CPU kernel for some pairs of an op and a dtype that work here: "
        + "; ".join(f"{named([op])} of {', '.join(d)}" for op, d in MORE_DTYPES.items())
        + ".",
        all_of(listed(MORE_DTYPES, has), fails_there(*NO_KERNEL)),
        tuple(MORE_DTYPES),
    ),
    Accepted(
        "bfloat16 and bools",
        "`x + True` is `x + 1` for every dtype of floats. In TensorFlow, not for bfloat16.",
        fails_there("was expected to be a bfloat16 tensor but is a bool tensor"),
        ("(x + 1.5, 1 + x, x + True)",),
    ),
    Accepted(
        "Doubles in histogram_fixed_width_bins",
        "TensorFlow makes float32 of the range and then cannot compare it with values of float64.",
        fails_there("was expected to be a double tensor but is a float tensor"),
        ("histogram_fixed_width_bins",),
    ),
    Accepted(
        "shape_n of several dtypes",
        "TensorFlow wants tensors of one dtype, of which it then takes no notice.",
        all_of(has_dtypes, fails_there("Error: ")),
        ("shape_n",),
    ),
    Accepted(
        "Bools as complex numbers",
        "TensorFlow takes True for 1.0, and not for 1+0j.",
        fails_there("Cannot convert True to EagerTensor of dtype complex"),
        ("constant",),
    ),
    Accepted(
        "Lists, numbers and NumPy arrays",
        "A few functions of TensorFlow read `x.dtype` or `x.shape` before they make a tensor of "
        "`x`, and so fail with an `AttributeError` for a list or an array. Here they take it.",
        is_without_attribute,
    ),
    Accepted(
        "NumPy arrays of bfloat16",
        "TensorFlow makes float32 of a variance that is one, and then cannot multiply it.",
        all_of(
            has("bfloat16"), fails_there("expected to be a float tensor but is a bfloat16 tensor")
        ),
        ("nn.batch_normalization",),
    ),
    Accepted(
        "No indices to unravel",
        "`unravel_index` of no indices is empty. TensorFlow refuses.",
        all_of(has_empty, fails_there("received empty tensor indices")),
        ("unravel_index",),
    ),
    Accepted(
        "Division by zero in scatter_div",
        "Gives infinity, as everywhere else for floats. TensorFlow refuses.",
        fails_there("updates must not contain 0"),
        ("*v.scatter_div*",),
    ),
    Accepted(
        "More gradients",
        "TensorFlow lacks some gradients that are there here, or fails inside for some arguments: "
        f"{named(MORE_GRADIENTS)}.",
        all_of(in_gradient, is_all_there, listed(MORE_GRADIENTS, fails_there)),
        tuple(MORE_GRADIENTS),
    ),
    Accepted(
        "Gradient of hsv_to_rgb",
        "TensorFlow has none, and gives None.",
        is_none_there,
        ("image.hsv_to_rgb",),
    ),
    Accepted(
        "Gradients of unique",
        "There is none. Here it is None, as for other ops without a derivative; TensorFlow "
        "raises a `LookupError`.",
        all_of(is_none_here, fails_there("gradient registry has no entry for: Unique")),
        ("unique", "unique_with_counts"),
    ),
    Accepted(
        "Second derivative of relu",
        "`tf.raw_ops.ReluGrad` does not depend on the sizes of the features: None here, zeros in TensorFlow.",
        is_none_here,
        ("raw_ops.ReluGrad",),
    ),
    Accepted(
        "Second derivatives that are zero",
        "Where a first gradient does not depend on the input, as in resizing, dilation and erosion, the "
        "second is None here. TensorFlow raises a `LookupError`.",
        all_of(in_second, is_none_here, fails_there("gradient registry has no entry")),
        ("nn.dilation2d", "nn.erosion2d", "image.resize"),
    ),
    Accepted(
        "NumPy's names without NumPy's behaviour",
        "Many functions of `tf.experimental.numpy` call methods inside that tensors have only after "
        "`experimental_enable_numpy_behavior`, or ask NumPy's arrays what only tensors know, and fail "
        "for integers, for some arrays, or always. Here they work.",
        fails_there(*BEHAVIOR),
        ("experimental.numpy.*", "tf.experimental.numpy.*"),
    ),
    # Where TensorFlow's values are wrong, or a choice.
    Accepted(
        "isinf of integers",
        "It has the shape of the integers. TensorFlow gives a single False.",
        lambda d: d.aspect in ("type", "shape") and not np.any(d.ours),
        ("experimental.numpy.is*inf",),
    ),
    Accepted(
        "Numbers close to infinity",
        "Only infinity itself is close to infinity, as in NumPy. In TensorFlow, everything is.",
        lambda d: np.isinf(d.call.arguments["y"].values).any(),
        ("experimental.numpy.isclose", "experimental.numpy.allclose"),
    ),
    Accepted(
        "Angles of real numbers",
        "They have the dtype of the number. TensorFlow's are always float32.",
        lambda d: d.aspect == "dtype" and d.theirs == "float32",
        ("experimental.numpy.angle",),
    ),
    Accepted(
        "Diagonals outside of a matrix",
        "They are empty, and their gradient is zero. TensorFlow gives None.",
        is_none_there,
        ("experimental.numpy.diagonal", "experimental.numpy.trace"),
    ),
    Accepted(
        "IndexedSlices of compress",
        "The first axis gives slices. TensorFlow gives a dense gradient.",
        is_in_slices,
        ("experimental.numpy.compress",),
    ),
    Accepted(
        "Rounding next to large numbers",
        "The order of a sum may differ, and so the last bits. Next to a number of 1e30 that "
        "cancels, they are large.",
        cancels,
        ("einsum",),
    ),
    Accepted(
        "expm in single precision",
        "TensorFlow scales large matrices down once too seldom, and the third digit may be wrong. Here "
        "all digits of the dtype are right.",
        all_of(has("float32"), within(5e-3)),
        ("linalg.expm",),
    ),
    Accepted(
        "compute_average_loss in double precision",
        "TensorFlow rounds the weights to float32.",
        all_of(has("float64"), within(1e-6)),
        ("nn.compute_average_loss",),
    ),
    Accepted(
        "gelu in double precision",
        "TensorFlow rounds the square root of two to float32. Here it has the precision of x.",
        all_of(has("float64"), within(1e-6)),
        ("nn.gelu",),
    ),
    Accepted(
        "Complex gradients of products",
        "In the gradients of `cumprod` and `det`, and so in the second of `reduce_prod`, TensorFlow "
        "leaves out the conjugate that its own convention asks for, and in that of `slogdet` the "
        "part of the sign.",
        all_of(in_gradient, is_complex, differs_in("values")),
        ("math.cumprod", "linalg.det", "linalg.slogdet"),
    ),
    Accepted(
        "Complex second gradients of products",
        "The second gradient of `reduce_prod` is made of that of `cumprod`.",
        all_of(in_second, is_complex, differs_in("values")),
        ("reduce_prod",),
    ),
    Accepted(
        "Gradient of cumprod at zero and infinity",
        "TensorFlow divides by the input, and so loses what a zero or an infinity hides.",
        all_of(in_gradient, differs_in("values"), with_values("x", is_zero_or_infinite)),
        ("math.cumprod", "raw_ops.Cumprod"),
    ),
    Accepted(
        "Gradient of segment_prod at infinity and NaN",
        "It is the product of the others. TensorFlow divides by the element, and gives NaN.",
        all_of(in_gradient, only_nan_there, with_values("data", lambda x: ~np.isfinite(x))),
        ("math.segment_prod", "math.unsorted_segment_prod"),
    ),
    Accepted(
        "Second derivative of cross-entropy by its labels",
        "TensorFlow leaves out that the first gradient by the logits depends on the labels.",
        all_of(in_second, lambda d: d.call.arguments["labels"].is_differentiable),
        ("nn.softmax_cross_entropy_with_logits",),
    ),
    Accepted(
        "Gradient of weighted cross-entropy at zero",
        "TensorFlow writes the loss with `abs` and `relu`, whose bends at zero cancel in the loss "
        "but not in its gradient. Here it is the derivative.",
        all_of(in_gradient, at("logits", lambda x: x == 0)),
        ("nn.weighted_cross_entropy_with_logits",),
    ),
    Accepted(
        "Second derivative of moments",
        "TensorFlow takes the mean for a constant where it enters the variance. That is right for "
        "the first derivative only.",
        all_of(in_second, differs_in("values")),
        ("nn.moments",),
    ),
    Accepted(
        "Derivative of bessel_i1 at zero",
        "It is a half, for which TensorFlow has one; the next, of `bessel_i1e`, is zero, for NaN.",
        all_of(in_gradient, at("x", lambda x: x == 0)),
        ("math.bessel_i0", "math.bessel_i1", "math.bessel_i1e"),
    ),
    Accepted(
        "Equal values in max_pool3d",
        "Of equal values, the first is the largest here, as in `max_pool2d`. TensorFlow gives the "
        "whole gradient to each of them in three dimensions.",
        all_of(in_step("gradient"), differs_in("values"), with_values("input", has_ties)),
        ("nn.max_pool3d",),
    ),
    Accepted(
        "Grey and black in rgb_to_hsv",
        "Of equal colours, the first is the largest and the last the smallest here. TensorFlow gives "
        "other shares of the gradient to them, and none to a colour that is zero.",
        all_of(in_step("gradient"), only_at(has_grey_or_zero)),
        ("image.rgb_to_hsv",),
    ),
    Accepted(
        "Accidental hits among repeated samples",
        "All of them are removed. TensorFlow removes one of those that are equal.",
        lambda d: "[1, 1, 3]" in str(d.call) and d.call.arguments["remove_accidental_hits"],
        ("nn.nce_loss", "nn.sampled_softmax_loss"),
    ),
    Accepted(
        "Limits and poles",
        "TensorFlow gives NaN for some limits: `erf` of infinity in double precision, `spence` of "
        "infinity and its second derivative at one, `betainc` with a parameter of 1e30, `bessel_y1` "
        "and the slopes of `bessel_y0` and `bessel_j1` at zero.",
        only_nan_there,
        (
            *("math.erf", "math.betainc", "math.special.spence"),
            *("math.special.bessel_j1", "math.special.bessel_y0", "math.special.bessel_y1"),
        ),
    ),
    Accepted(
        "Slope of dawsn far out",
        "It goes to zero. TensorFlow gives one where the function has become too small to tell.",
        all_of(in_gradient, at("x", lambda x: np.abs(x) > 1e6)),
        ("math.special.dawsn",),
    ),
    Accepted(
        "Transforms of empty signals",
        "They are zero, or empty. TensorFlow gives what was in memory, or does not lengthen them.",
        all_of(
            has_empty, any_of(differs_in("values"), fails_there("must have length of at least"))
        ),
        ("signal.rfft",),
    ),
    Accepted(
        "Mean of no complex numbers",
        "It is NaN, as it is of no real numbers. TensorFlow gives zero.",
        all_of(is_complex, has_empty, only_nan_here),
        ("reduce_mean",),
    ),
    Accepted(
        "NaN in scatter_max and scatter_min",
        "NaN stays NaN, as in `tf.maximum`. TensorFlow drops it, or not, depending on the order.",
        only_nan_here,
        ("*v.scatter_max*", "*v.scatter_min*"),
    ),
    Accepted(
        "NumPy arrays in double precision",
        "In `max_pool`, `hsv_to_rgb` and `fft` they keep their precision, as in other functions. TensorFlow makes "
        "float32 or complex64 of them, in `max_pool` from the second call on.",
        lambda d: (
            d.aspect == "dtype"
            and (d.ours, d.theirs) in (("float64", "float32"), ("complex128", "complex64"))
        ),
        ("nn.max_pool", "nn.max_pool2d", "image.hsv_to_rgb", "signal.fft*", "signal.ifft*"),
    ),
    Accepted(
        "Gradient of isotonic_regression",
        "It has the shape of the input. TensorFlow's has another one if the input is not a matrix.",
        all_of(in_gradient, differs_in("shape")),
        ("nn.isotonic_regression",),
    ),
    Accepted(
        "crop_and_resize has no gradient by its boxes",
        "It is missing. TensorFlow has it for the bilinear method.",
        lambda d: d.step == "gradient" and d.ours is None and source(d) == "boxes",
        ("image.crop_and_resize",),
    ),
    Accepted(
        "IndexedSlices of gather",
        "The axis `-rank` is the first, and so gives slices, too. TensorFlow gives a dense gradient.",
        all_of(is_in_slices, is_of_the_first_axis),
        ("gather",),
    ),
    Accepted(
        "IndexedSlices behind other ops",
        "They become dense where they pass through another op. In TensorFlow, they pass through some: "
        "`negative`, `cast`, and the addition of a number.",
        all_of(is_in_slices, lambda d: isinstance(d.theirs, Slices)),
        ("program",),
    ),
    Accepted(
        "Derivatives of gradients around stop_recording",
        "What an outer tape did not record is a constant to it. Which values a gradient is written with "
        "is not the same: that of a quotient has the quotient here, and the dividend in TensorFlow.",
        all_of(differs_in("values"), is_of_a_stopped_tape),
        ("program",),
    ),
    Accepted(
        "IndexedSlices of vectorized_map",
        "It takes all rows of its input, and so their gradient is dense. TensorFlow gives slices.",
        is_in_slices,
        ("tf.vectorized_map*",),
    ),
    Accepted(
        "Sources behind an op that has no derivative",
        "`round`, `floor`, `zeros_like` and their like end what a tape follows here, so that their "
        "result is a constant to it. TensorFlow goes on recording, and gives a gradient by such a "
        "result, but not by what it was made from. `tape.watch` says that it is wanted.",
        is_behind("tf.round"),
        ("program",),
    ),
    # Mistakes.
    Accepted(
        "Wrong dtypes",
        "Where TensorFlow has no kernel for a dtype it raises `NotFoundError`, about devices. Here "
        "it is the `InvalidArgumentError`, and `TypeError`, of any other wrong dtype.",
        all_of(is_bad, both_fail("InvalidArgumentError", "NotFoundError", NO_KERNEL[0])),
    ),
    Accepted(
        "Fractions for integers",
        "A size, an axis or a step of 1.5 is a `TypeError` here. Some functions of TensorFlow round "
        "it, and some raise another error.",
        all_of(is_bad, takes_a_fraction),
    ),
    Accepted(
        "Mistakes that TensorFlow does not see",
        "A negative step in `signal.frame`, and a range of three numbers in "
        "`histogram_fixed_width_bins`, are errors here.",
        all_of(is_bad, listed(UNSEEN, fails_here)),
        tuple(UNSEEN),
    ),
    Accepted(
        "Kinds of mistakes",
        "A wrong length, rank, number of channels or name is a `ValueError` in some functions of "
        "TensorFlow and an `InvalidArgumentError` in others, and now and then an `IndexError`. In these "
        f"functions, the error here is another: {named(KINDS)}.",
        all_of(is_bad, is_other_kind),
        tuple(KINDS),
    ),
    Accepted(
        "Numbers of another dtype",
        "`crop_and_resize` takes boxes and indices, `clip_by_norm` a norm, and `conv1d` a list of "
        "filters, of any dtype. TensorFlow refuses.",
        all_of(is_bad, listed(CASTS, fails_there)),
        tuple(CASTS),
    ),
    Accepted(
        "Variables are tensors",
        "`assert_proper_iterable` refuses tensors in TensorFlow, but not variables.",
        all_of(
            fails_here("Expected a list or the like, got Variable"),
            lambda d: d.call.arguments["values"].form == "variable",
        ),
        ("debugging.assert_proper_iterable",),
    ),
    Accepted(
        "Hints that are no dtype",
        "A `dtype_hint` that is not needed is not read. TensorFlow refuses 1.5.",
        all_of(is_bad, fails_there("to a TensorFlow DType")),
        ("convert_to_tensor",),
    ),
)


def reason(difference: Difference) -> str | None:
    """The title of the first entry that covers the difference."""
    return next((a.title for a in ACCEPTED if a.covers(difference)), None)
