"""Automatic differentiation, and `tf.autodiff`."""

from tapeflow.autodiff.check import (
    GradientMismatch as GradientMismatch,
    check_gradients as check_gradients,
)
from tapeflow.autodiff.forward import ForwardAccumulator as ForwardAccumulator
from tapeflow.autodiff.products import (
    gauss_newton_product as gauss_newton_product,
    hessian as hessian,
    hvp as hvp,
)
from tapeflow.autodiff.tape import GradientTape as GradientTape
from tapeflow.core.missing import Missing as _Missing

__getattr__ = _Missing("tf.autodiff")
