"""`tf.autodiff`: forward mode, products with Hessians, and checks of gradients."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.autodiff.check import (
    GradientMismatch as GradientMismatch,
    check_gradients as check_gradients,
)
from tapeflow._src.autodiff.forward import ForwardAccumulator as ForwardAccumulator
from tapeflow._src.autodiff.hessians import (
    gauss_newton_product as gauss_newton_product,
    hessian as hessian,
    hvp as hvp,
)
from tapeflow._src.autodiff.tape import GradientTape as GradientTape
from tapeflow._src.core.missing import Missing as _Missing

__getattr__ = _Missing("tf.autodiff")
