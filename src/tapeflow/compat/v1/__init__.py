"""`tf.compat.v1`: what libraries of TensorFlow 2's time use of TensorFlow 1; other names are those of `tf`."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: F401

import typing as _typing

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
from tapeflow._src.compat.dimension import Dimension as Dimension
from tapeflow._src.compat.first import (
    Session as InteractiveSession,
    Session as Session,
    colocate_with as colocate_with,
    control_flow_v2_enabled as control_flow_v2_enabled,
    disable_v2_behavior as disable_eager_execution,
    disable_v2_behavior as disable_v2_behavior,
    div as div,
    enable_control_flow_v2 as enable_control_flow_v2,
    enable_v2_behavior as enable_eager_execution,
    enable_v2_behavior as enable_resource_variables,
    enable_v2_behavior as enable_v2_behavior,
    executing_eagerly_outside_functions as executing_eagerly_outside_functions,
    get_default_graph as get_default_graph,
    global_variables_initializer as global_variables_initializer,
    global_variables_initializer as local_variables_initializer,
    global_variables_initializer as tables_initializer,
    is_variable_initialized as is_variable_initialized,
    placeholder as placeholder,
    placeholder_with_default as placeholder_with_default,
    random_normal as random_normal,
    random_uniform as random_uniform,
    reset_default_graph as reset_default_graph,
    set_random_seed as set_random_seed,
    to_double as to_double,
    to_float as to_float,
    to_int32 as to_int32,
    to_int64 as to_int64,
    where as where,
    wrap_function as wrap_function,
)
from tapeflow._src.compat.variables import (
    AUTO_REUSE as AUTO_REUSE,
    get_variable as get_variable,
    get_variable_scope as get_variable_scope,
    variable_scope as variable_scope,
)
from tapeflow._src.core.missing import Missing as _Missing
from tapeflow.compat.v1 import debugging as debugging, logging as logging

# For editors and type checkers: these are imported when they are first asked for.
if _typing.TYPE_CHECKING:
    from tapeflow._src.io.graph_messages import (
        AttrValue as AttrValue,
        GraphDef as GraphDef,
        NodeDef as NodeDef,
    )
    from tapeflow._src.io.tensor_messages import TensorProto as TensorProto

__getattr__ = _Missing(
    "tf.compat.v1",
    names={"io.graph_messages": "AttrValue NodeDef GraphDef", "io.tensor_messages": "TensorProto"},
    like="tapeflow",
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
