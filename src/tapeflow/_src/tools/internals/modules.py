"""Which of TensorFlow's modules that are not public there are, and where their names are found."""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import logging
from collections.abc import Callable, Mapping
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

from tapeflow._src.compat import first
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.tensor import Reference
from tapeflow._src.core.variables.spec import VariableSpec
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.data.iterator import OwnedIterator
from tapeflow._src.ops.array.shaping import get_static_value, is_tensor
from tapeflow._src.tools.internals import (
    decorators,
    eager,
    framework,
    gradients,
    keras_two,
    specs,
    structures,
)


class Internal(NamedTuple):
    """A module of TensorFlow's.

    Attributes:
      namespaces: where its names are public, the first that has one wins; "" is `tf` itself.
      own: names that are public nowhere.
    """

    namespaces: tuple[str, ...] = ()
    own: Mapping[str, Any] = {}


def _also(module: Any, **more: Any) -> dict[str, Any]:
    return {name: each for name, each in vars(module).items() if not name.startswith("__")} | more


def _on_first_use(module: str, name: str) -> Callable[..., Any]:
    """A function of this folder whose file is loaded when it is called."""

    def call(*args: Any, **kwargs: Any) -> Any:
        found = importlib.import_module(f"tapeflow._src.tools.internals.{module}")
        return getattr(found, name)(*args, **kwargs)

    return call


_TENSORS = ("", "compat.v1", "raw_ops")
_UTIL = _also(decorators)

MODULES: dict[str, Internal] = {
    "client.device_lib": Internal(("config",)),
    "data.ops.dataset_ops": Internal(("data", "compat.v1.data")),
    "data.ops.iterator_ops": Internal(("data",), {"OwnedIterator": OwnedIterator}),
    "eager.backprop": Internal(("", "autodiff"), {"record_gradient": gradients.record_gradient}),
    "eager.context": Internal(("", "config"), _also(eager)),
    "eager.def_function": Internal(("",)),
    "eager.execute": Internal((), {"record_gradient": gradients.record_gradient}),
    "eager.monitoring": Internal(
        (), dict.fromkeys(("BoolGauge", "StringGauge", "Counter", "Sampler"), eager.Gauge)
    ),
    "eager.record": Internal((), _also(eager)),
    "eager.tape": Internal((), _also(eager)),
    "framework.composite_tensor": Internal((), {"CompositeTensor": CompositeTensor}),
    "framework.config": Internal(
        ("config", "config.experimental"),
        {
            "is_op_determinism_enabled": framework.is_op_determinism_enabled,
            "disable_op_determinism": framework.disable_op_determinism,
        },
    ),
    "framework.constant_op": Internal(("",)),
    "framework.dtypes": Internal(("dtypes", "")),
    "framework.errors": Internal(("errors",)),
    "framework.errors_impl": Internal(("errors",)),
    "framework.func_graph": Internal(("",)),
    "framework.indexed_slices": Internal(("",)),
    "framework.ops": Internal(
        _TENSORS,
        {
            "EagerTensor": eager.EagerTensor,
            "_gradient_registry": gradients.registry,
            "convert_to_tensor_or_composite": framework.convert_to_tensor_or_composite,
            "executing_eagerly_outside_functions": lambda: True,
            "inside_function": framework.inside_function,
        },
    ),
    "framework.random_seed": Internal(("random", "compat.v1")),
    "framework.smart_cond": Internal((), _also(framework)),
    "framework.sparse_tensor": Internal(("", "sparse")),
    "framework.tensor": Internal(("",)),
    "framework.tensor_conversion": Internal(("",)),
    "framework.tensor_conversion_registry": Internal(("",)),
    "framework.tensor_shape": Internal(
        ("", "compat", "compat.v1"), {"as_shape": TensorShape, "unknown_shape": framework.unknown}
    ),
    "framework.tensor_spec": Internal(("",), {"DenseSpec": specs.DenseSpec}),
    "framework.tensor_util": Internal(
        ("",),
        {
            "constant_value": get_static_value,
            "constant_value_as_shape": framework.constant_value_as_shape,
            "is_tf_type": is_tensor,
            "try_evaluate_constant": get_static_value,
        },
    ),
    "framework.test_util": Internal(("test", "compat.v1.test")),
    "framework.type_spec": Internal(
        ("",),
        {
            "BatchableTypeSpec": specs.BatchableTypeSpec,
            "type_spec_from_value": specs.type_spec_from_value,
            "register": framework.register,
            "register_type_spec_from_value_converter": lambda *_: None,
        },
    ),
    "framework.type_spec_registry": Internal(
        (),
        {
            "register": framework.register,
            "_NAME_TO_TYPE_SPEC": {},
            "_TYPE_SPEC_TO_NAME": {},
        },
    ),
    "keras.backend": Internal(("keras.backend",), {"get_graph": first.get_default_graph}),
    "module.module": Internal(("",)),
    "ops.array_ops": Internal(_TENSORS, {"prevent_gradient": framework.prevent_gradient}),
    "ops.array_ops_stack": Internal(("",)),
    "ops.check_ops": Internal(("debugging", "")),
    "ops.clip_ops": Internal(("",)),
    "ops.cond": Internal(("",)),
    "ops.control_flow_assert": Internal(("",)),
    "ops.control_flow_case": Internal(("",), {"_case_helper": framework.case_by}),
    "ops.control_flow_ops": Internal(("", "compat.v1")),
    "ops.control_flow_util": Internal(
        (),
        {
            "GraphOrParentsInXlaContext": framework.in_xla_context,
            "EnableControlFlowV2": lambda graph: True,
            "ENABLE_CONTROL_FLOW_V2": True,
        },
    ),
    "ops.custom_gradient": Internal(("",)),
    "ops.functional_ops": Internal(("",)),
    "ops.gen_array_ops": Internal(_TENSORS),
    "ops.gen_math_ops": Internal(("math", *_TENSORS)),
    "ops.gen_nn_ops": Internal(("nn", "raw_ops", "")),
    "ops.gen_sparse_ops": Internal(("sparse", "raw_ops")),
    "ops.gradients_impl": Internal(("", "compat.v1")),
    "ops.gradients_util": Internal(("", "compat.v1")),
    "ops.image_ops": Internal(("image",)),
    "ops.init_ops": Internal(("compat.v1", "")),
    "ops.init_ops_v2": Internal(("",)),
    "ops.linalg.linalg": Internal(("linalg",)),
    "ops.linalg.linalg_impl": Internal(("linalg",)),
    "ops.linalg.linear_operator": Internal(
        ("linalg",), {"make_composite_tensor": lambda cls, module_name=None: cls}
    ),
    "ops.linalg.linear_operator_addition": Internal(
        (), {"add_operators": _on_first_use("operators", "add_operators")}
    ),
    "ops.linalg.sparse.sparse": Internal(
        ("sparse",),
        {name: _on_first_use("sparse_matrices", name) for name in ("CSRSparseMatrix", "matmul")},
    ),
    "ops.linalg_ops": Internal(("linalg", "")),
    "ops.logging_ops": Internal(("",)),
    "ops.map_fn": Internal(("",)),
    "ops.math_ops": Internal(("math", *_TENSORS)),
    "ops.nn": Internal(("nn",)),
    "ops.nn_impl": Internal(("nn",)),
    "ops.nn_ops": Internal(("nn", "")),
    "ops.parallel_for.control_flow_ops": Internal(("",), {"pfor": framework.pfor}),
    "ops.ragged.ragged_tensor": Internal(("", "ragged")),
    "ops.random_ops": Internal(
        ("random",),
        {"parameterized_truncated_normal": framework.parameterized_truncated_normal},
    ),
    "ops.resource_variable_ops": Internal(
        ("",),
        {
            "ResourceVariable": Variable,
            "BaseResourceVariable": Variable,
            "VariableSpec": VariableSpec,
            "is_resource_variable": lambda var: isinstance(var, Variable),
        },
    ),
    "ops.script_ops": Internal(("",)),
    "ops.sparse_ops": Internal(("sparse",)),
    "ops.special_math_ops": Internal(("math", "math.special", "")),
    "ops.state_ops": Internal(("compat.v1", "")),
    "ops.stateless_random_ops": Internal(("random",)),
    "ops.string_ops": Internal(("strings", "")),
    "ops.tensor_array_ops": Internal(("",)),
    "ops.variable_scope": Internal(("compat.v1", "")),
    "ops.variables": Internal(("", "compat.v1")),
    "ops.while_loop": Internal(("",)),
    "platform.gfile": Internal(("io.gfile",)),
    "platform.test": Internal(("test",)),
    "platform.tf_logging": Internal(
        (), _also(logging, warn=logging.warning, log_first_n=lambda *_: None)
    ),
    "saved_model.nested_structure_coder": Internal(
        (), {"register_codec": framework.register_codec}
    ),
    "saved_model.load": Internal(("saved_model",)),
    "saved_model.save": Internal(("saved_model",)),
    "summary.summary": Internal(("summary",)),
    "tf2": Internal((), {"enabled": lambda: True}),
    "trackable.autotrackable": Internal(("",)),
    "trackable.base": Internal(("train", "")),
    "trackable.data_structures": Internal((), _also(framework)),
    "training.checkpoint_utils": Internal(("train",)),
    "training.moving_averages": Internal(("train",)),
    "util.compat": Internal(("compat",)),
    "util.deprecation": Internal((), _UTIL),
    "util.dispatch": Internal(
        ("experimental",), {"add_dispatch_support": lambda target=None: target or (lambda f: f)}
    ),
    "util.variable_utils": Internal((), _also(framework)),
    "util.nest": Internal(
        ("nest",),
        _also(
            structures,
            _is_namedtuple=structures.is_namedtuple,
            _yield_value=structures.values_of,
            _yield_sorted_items=structures.items_of,
            _sequence_like=structures.like,
        ),
    ),
    "util.object_identity": Internal((), {"Reference": Reference}),
    "util.tf_contextlib": Internal((), {"contextmanager": contextlib.contextmanager}),
    "util.tf_decorator": Internal((), _UTIL),
    "util.tf_export": Internal((), _UTIL),
    "util.tf_inspect": Internal(
        (), _also(inspect, _inspect=inspect, getfullargspec=decorators.getfullargspec)
    ),
}


def internal_namespace() -> ModuleType:
    """`tf.__internal__`, which is public by its name only."""
    name = "tensorflow.__internal__"
    tracking = Internal((), {"no_automatic_dependency_tracking": lambda method: method})
    own = {
        "CompositeTensor": CompositeTensor,
        "EagerTensor": eager.EagerTensor,
        "nest": StandIn(f"{name}.nest", MODULES["util.nest"]),
        "tracking": StandIn(f"{name}.tracking", tracking),
    }
    return StandIn(name, Internal(("",), own))


_OF_KERAS = ("__internal__", "api", "optimizers", "src")


def is_of_keras(inside: str) -> bool:
    """Whether a module of `tf_keras` is the package itself or one of its insides, and not a public namespace."""
    return not inside or inside.partition(".")[0] in _OF_KERAS


def of_keras(fullname: str, inside: str) -> ModuleType:
    """One of the insides of `tf_keras`: the public names of Keras, below any folder."""
    folders = ("_v1", "_v2", "api", "keras", "legacy", "src", "__internal__")
    public = [part for part in inside.split(".") if part not in folders]
    found = StandIn(fullname, Internal((".".join(["keras", *public]),), _KERAS_OWN.get(inside, {})))
    found.__path__ = []
    if not inside:  # `from tf_keras import *` takes what is there
        keras = importlib.import_module("tapeflow.keras")
        vars(found).update({n: x for n, x in vars(keras).items() if not n.startswith("_")})
        vars(found)["__internal__"] = of_keras(f"{fullname}.__internal__", "__internal__")
        vars(found)["optimizers"] = of_keras(f"{fullname}.optimizers", "optimizers")
    if inside == "optimizers":
        vars(found)["Optimizer"] = keras_two.optimizer_class()
    return found


_KERAS_OWN: dict[str, dict[str, Any]] = {
    # Keras 3 takes any class for what a layer returns, without being told of it.
    "__internal__": {"utils": SimpleNamespace(register_symbolic_tensor_type=lambda cls: None)},
}


class StandIn(ModuleType):
    """A module of TensorFlow's, whose names are looked up where they are public."""

    def __init__(self, name: str, internal: Internal) -> None:
        super().__init__(
            name, "A module of TensorFlow's that is not public, as far as libraries use it."
        )
        self.__dict__.update(internal.own)
        self._namespaces = internal.namespaces

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            # TensorFlow has imported what is in a folder by the time somebody looks.
            if "__path__" in vars(self) and find(f"{self.__name__}.{name}") is not None:
                return importlib.import_module(f"{self.__name__}.{name}")
            for namespace in self._namespaces:
                try:
                    found = functools.reduce(
                        getattr,
                        filter(None, namespace.split(".")),
                        importlib.import_module("tapeflow"),
                    )
                    return getattr(found, name)
                except AttributeError:
                    continue
        raise AttributeError(
            f"{self.__name__}.{name} is an inside of TensorFlow's that tapeflow does not have. "
            "What is there: docs/migrate.md"
        )


def find(fullname: str) -> ModuleType | None:
    """Our module for one of TensorFlow's below `tensorflow.python`, or for a folder of such."""
    inside = fullname.removeprefix("tensorflow.").removeprefix("python").removeprefix(".")
    if not fullname.startswith("tensorflow.python"):
        return None
    if (
        inside.partition(".")[0] == "autograph"
    ):  # malt is TensorFlow's own code, in a package of its own
        return importlib.import_module("malt" + inside.removeprefix("autograph"))
    if inside in MODULES:
        return StandIn(fullname, MODULES[inside])
    if not inside or any(name.startswith(f"{inside}.") for name in MODULES):
        folder = StandIn(fullname, Internal())
        folder.__path__ = []
        return folder
    return None
