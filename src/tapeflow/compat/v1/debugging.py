"""`tf.compat.v1.debugging`: assertions with TensorFlow 1's arguments."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.compat.checks import (
        assert_equal as assert_equal, assert_none_equal as assert_none_equal,
        assert_less as assert_less, assert_less_equal as assert_less_equal,
        assert_greater as assert_greater, assert_greater_equal as assert_greater_equal,
        assert_negative as assert_negative, assert_positive as assert_positive,
        assert_non_negative as assert_non_negative, assert_non_positive as assert_non_positive,
        assert_rank as assert_rank, assert_rank_at_least as assert_rank_at_least
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.compat.v1.debugging",
    names={
        "compat.checks": "assert_equal assert_none_equal assert_less assert_less_equal assert_greater assert_greater_equal assert_negative assert_positive assert_non_negative assert_non_positive assert_rank assert_rank_at_least"
    },
    like="tapeflow.debugging",
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
