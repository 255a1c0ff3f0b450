"""tapeflow: TensorFlow's GradientTape system as a small, readable, fast Python library.

>>> import tapeflow as tf
>>> x = tf.Variable(3.0)
>>> with tf.GradientTape() as tape:
...     y = x**2
>>> tape.gradient(y, x)
<tf.Tensor: shape=(), dtype=float32, numpy=6.0>
"""

from tapeflow.autodiff.custom_gradient import custom_gradient as custom_gradient
from tapeflow.autodiff.custom_gradient import grad_pass_through as grad_pass_through
from tapeflow.autodiff.recompute import recompute_grad as recompute_grad
from tapeflow.autodiff.tape import GradientTape as GradientTape
from tapeflow.autodiff.tape import UnconnectedGradients as UnconnectedGradients
from tapeflow.core import errors as errors
from tapeflow.core import nest as nest
from tapeflow.core.convert import constant as constant
from tapeflow.core.convert import convert_to_tensor as convert_to_tensor
from tapeflow.core.dtypes import *  # noqa: F403
from tapeflow.core.indexed_slices import IndexedSlices as IndexedSlices
from tapeflow.core.module import Module as Module
from tapeflow.core.names import name_scope as name_scope
from tapeflow.core.shapes import TensorShape as TensorShape
from tapeflow.core.spec import TensorSpec as TensorSpec
from tapeflow.core.tensor import Tensor as Tensor
from tapeflow.core.variable import Variable as Variable
from tapeflow.ops import operators as _operators

__version__ = "0.1.0"

del _operators
