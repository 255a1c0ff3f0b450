"""`tf.quantization`: numbers rounded to a few levels, and training that knows of it."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.ops.quantization.fake import (
        fake_quant_with_min_max_args as fake_quant_with_min_max_args,
        fake_quant_with_min_max_args_gradient as fake_quant_with_min_max_args_gradient,
        fake_quant_with_min_max_vars as fake_quant_with_min_max_vars,
        fake_quant_with_min_max_vars_gradient as fake_quant_with_min_max_vars_gradient,
        fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel,
        fake_quant_with_min_max_vars_per_channel_gradient as fake_quant_with_min_max_vars_per_channel_gradient
    )
    from tapeflow._src.ops.quantization.integers import (
        quantize as quantize, dequantize as dequantize, quantized_concat as quantized_concat,
        quantize_and_dequantize_v2 as quantize_and_dequantize_v2,
        quantize_and_dequantize as quantize_and_dequantize
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.quantization",
    names={
        "ops.quantization.fake": "fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient fake_quant_with_min_max_vars fake_quant_with_min_max_vars_gradient fake_quant_with_min_max_vars_per_channel fake_quant_with_min_max_vars_per_channel_gradient",
        "ops.quantization.integers": "quantize dequantize quantized_concat quantize_and_dequantize_v2 quantize_and_dequantize",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
