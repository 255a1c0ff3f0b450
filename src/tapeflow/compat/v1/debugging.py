"""`tf.compat.v1.debugging`: assertions with TensorFlow 1's arguments."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.compat.checks import (
    assert_equal as assert_equal,
    assert_greater as assert_greater,
    assert_greater_equal as assert_greater_equal,
    assert_less as assert_less,
    assert_less_equal as assert_less_equal,
    assert_negative as assert_negative,
    assert_non_negative as assert_non_negative,
    assert_non_positive as assert_non_positive,
    assert_none_equal as assert_none_equal,
    assert_positive as assert_positive,
    assert_rank as assert_rank,
    assert_rank_at_least as assert_rank_at_least,
)
from tapeflow._src.core.missing import Missing as _Missing

__getattr__ = _Missing("tf.compat.v1.debugging", like="tapeflow.debugging")
