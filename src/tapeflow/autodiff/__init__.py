"""Automatic differentiation, and `tf.autodiff`."""

from tapeflow.autodiff.forward import ForwardAccumulator as ForwardAccumulator
from tapeflow.autodiff.tape import GradientTape as GradientTape
from tapeflow.core.missing import Missing as _Missing

__getattr__ = _Missing("tf.autodiff")
