"""`tf.compat.v1`: what libraries of TensorFlow 2's time use of TensorFlow 1; other names are those of `tf`."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: F401, E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow.compat.v1 import debugging as debugging, logging as logging

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow.compat.v1 import io as io, random as random
    from tapeflow._src.compat.checks import (
        assert_equal as assert_equal, assert_none_equal as assert_none_equal,
        assert_less as assert_less, assert_less_equal as assert_less_equal,
        assert_greater as assert_greater, assert_greater_equal as assert_greater_equal,
        assert_negative as assert_negative, assert_positive as assert_positive,
        assert_non_negative as assert_non_negative, assert_non_positive as assert_non_positive,
        assert_rank as assert_rank, assert_rank_at_least as assert_rank_at_least
    )
    from tapeflow._src.compat.dimension import Dimension as Dimension
    from tapeflow._src.compat.first import (
        Session as Session, Session as InteractiveSession, placeholder as placeholder,
        placeholder_with_default as placeholder_with_default, where as where,
        wrap_function as wrap_function, to_float as to_float, to_double as to_double,
        to_int32 as to_int32, to_int64 as to_int64, div as div, random_uniform as random_uniform,
        random_normal as random_normal, set_random_seed as set_random_seed,
        global_variables_initializer as global_variables_initializer,
        global_variables_initializer as local_variables_initializer,
        tables_initializer as tables_initializer,
        executing_eagerly_outside_functions as executing_eagerly_outside_functions,
        enable_eager_execution as enable_eager_execution, enable_v2_behavior as enable_v2_behavior,
        enable_v2_behavior as enable_resource_variables, disable_v2_behavior as disable_v2_behavior,
        disable_v2_behavior as disable_eager_execution,
        is_variable_initialized as is_variable_initialized, SparseTensorValue as SparseTensorValue,
        get_default_graph as get_default_graph, colocate_with as colocate_with,
        control_flow_v2_enabled as control_flow_v2_enabled,
        enable_control_flow_v2 as enable_control_flow_v2, reset_default_graph as reset_default_graph
    )
    from tapeflow._src.compat.variables import (
        AUTO_REUSE as AUTO_REUSE, variable_scope as variable_scope,
        get_variable_scope as get_variable_scope, get_variable as get_variable
    )
    from tapeflow._src.io.graph_messages import (
        AttrValue as AttrValue, NodeDef as NodeDef, GraphDef as GraphDef
    )
    from tapeflow._src.io.tensor_messages import TensorProto as TensorProto
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.compat.v1",
    later="io random",
    names={
        "compat.checks": "assert_equal assert_none_equal assert_less assert_less_equal assert_greater assert_greater_equal assert_negative assert_positive assert_non_negative assert_non_positive assert_rank assert_rank_at_least",
        "compat.dimension": "Dimension",
        "compat.first": "Session InteractiveSession:Session placeholder placeholder_with_default where wrap_function to_float to_double to_int32 to_int64 div random_uniform random_normal set_random_seed global_variables_initializer local_variables_initializer:global_variables_initializer tables_initializer executing_eagerly_outside_functions enable_eager_execution enable_v2_behavior enable_resource_variables:enable_v2_behavior disable_v2_behavior disable_eager_execution:disable_v2_behavior is_variable_initialized SparseTensorValue get_default_graph colocate_with control_flow_v2_enabled enable_control_flow_v2 reset_default_graph",
        "compat.variables": "AUTO_REUSE variable_scope get_variable_scope get_variable",
        "io.graph_messages": "AttrValue NodeDef GraphDef",
        "io.tensor_messages": "TensorProto",
    },
    like="tapeflow",
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
