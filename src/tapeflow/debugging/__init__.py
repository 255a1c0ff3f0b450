"""`tf.debugging`: assertions, and the search for NaN."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow.debugging import experimental as experimental
    from tapeflow._src.autodiff.check_numerics import (
        enable_check_numerics as enable_check_numerics,
        disable_check_numerics as disable_check_numerics
    )
    from tapeflow._src.ops.debugging.assertions import (
        Assert as Assert, assert_equal as assert_equal, assert_none_equal as assert_none_equal,
        assert_less as assert_less, assert_less_equal as assert_less_equal,
        assert_greater as assert_greater, assert_greater_equal as assert_greater_equal,
        assert_negative as assert_negative, assert_positive as assert_positive,
        assert_non_negative as assert_non_negative, assert_non_positive as assert_non_positive,
        assert_near as assert_near, assert_all_finite as assert_all_finite,
        check_numerics as check_numerics
    )
    from tapeflow._src.ops.debugging.shape_assertions import (
        assert_rank as assert_rank, assert_rank_at_least as assert_rank_at_least,
        assert_rank_in as assert_rank_in, assert_scalar as assert_scalar,
        assert_type as assert_type, assert_integer as assert_integer,
        assert_same_float_dtype as assert_same_float_dtype,
        assert_proper_iterable as assert_proper_iterable, is_numeric_tensor as is_numeric_tensor,
        assert_shapes as assert_shapes
    )
    from tapeflow._src.ops.debugging.switches import (
        set_log_device_placement as set_log_device_placement,
        get_log_device_placement as get_log_device_placement,
        enable_traceback_filtering as enable_traceback_filtering,
        disable_traceback_filtering as disable_traceback_filtering,
        is_traceback_filtering_enabled as is_traceback_filtering_enabled
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.debugging",
    later="experimental",
    names={
        "autodiff.check_numerics": "enable_check_numerics disable_check_numerics",
        "ops.debugging.assertions": "Assert assert_equal assert_none_equal assert_less assert_less_equal assert_greater assert_greater_equal assert_negative assert_positive assert_non_negative assert_non_positive assert_near assert_all_finite check_numerics",
        "ops.debugging.shape_assertions": "assert_rank assert_rank_at_least assert_rank_in assert_scalar assert_type assert_integer assert_same_float_dtype assert_proper_iterable is_numeric_tensor assert_shapes",
        "ops.debugging.switches": "set_log_device_placement get_log_device_placement enable_traceback_filtering disable_traceback_filtering is_traceback_filtering_enabled",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
