"""`tf.autodiff`: forward mode, products with Hessians, and checks of gradients."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.autodiff.tape import GradientTape as GradientTape
from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.autodiff.check import (
        GradientMismatch as GradientMismatch, check_gradients as check_gradients
    )
    from tapeflow._src.autodiff.forward import ForwardAccumulator as ForwardAccumulator
    from tapeflow._src.autodiff.hessians import (
        hessian as hessian, hvp as hvp, gauss_newton_product as gauss_newton_product
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.autodiff",
    names={
        "autodiff.check": "GradientMismatch check_gradients",
        "autodiff.forward": "ForwardAccumulator",
        "autodiff.hessians": "hessian hvp gauss_newton_product",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
