"""Ops of TensorFlow's graphs that are no raw ops here: variables, calls, branches, loops, and lists of tensors."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.convert import constant
from tapeflow._src.core.dtypes import bool_, string
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.ops.array import shaping
from tapeflow._src.ops.control import control_flow
from tapeflow._src.ops.control.scopes import init_scope
from tapeflow._src.ops.control.tensor_array import TensorArray
from tapeflow._src.ops.debugging import assertions
from tapeflow._src.ops.elementwise import logic
from tapeflow._src.ops.indexing import gathering
from tapeflow._src.tensorflow_files.graphs import INPUTS, Library
from tapeflow._src.tensorflow_files.messages import Damage
from tapeflow._src.tensorflow_files.running import SPECIAL, Runner, Special


def _op(*names: str) -> Callable[[Special], Special]:
    def register(function: Special) -> Special:
        for name in names:
            SPECIAL[name] = function
        return function

    return register


@_op("Const")
def _const(runner: Runner, given: Any, attrs: Any) -> Any:
    return constant(attrs["value"])


@_op("Assert")
def _assert(runner: Runner, given: Any, attrs: Any) -> Any:
    return assertions.Assert(given["condition"], given["data"])


@_op("DisableCopyOnRead")
def _nothing(runner: Runner, given: Any, attrs: Any) -> Any:
    return None


@_op("Identity", "PreventGradient")
def _same(runner: Runner, given: Any, attrs: Any) -> Any:
    value = given["input"]  # variables, and lists of tensors, pass through it, too
    return shaping.identity(value) if isinstance(value, Tensor) else value


# Variables.


def _variable(given: Any) -> Variable:
    found = given["resource"]
    if not isinstance(found, Variable):
        raise Damage(f"a variable is wanted where there is a {type(found).__name__}")
    return found


@_op("ReadVariableOp")
def _read(runner: Runner, given: Any, attrs: Any) -> Any:
    return _variable(given).read_value()


@_op("AssignVariableOp")
def _assign(runner: Runner, given: Any, attrs: Any) -> Any:
    _variable(given).assign(given["value"])


@_op("AssignAddVariableOp")
def _assign_add(runner: Runner, given: Any, attrs: Any) -> Any:
    _variable(given).assign_add(given["value"])


@_op("AssignSubVariableOp")
def _assign_sub(runner: Runner, given: Any, attrs: Any) -> Any:
    _variable(given).assign_sub(given["value"])


@_op("VarIsInitializedOp")
def _is_initialized(runner: Runner, given: Any, attrs: Any) -> Any:
    return constant(True)


@_op("VariableShape")
def _variable_shape(runner: Runner, given: Any, attrs: Any) -> Any:
    variable = given["input"]
    return shaping.shape(variable.read_value(), attrs["out_type"])


@_op("ResourceGather")
def _gather(runner: Runner, given: Any, attrs: Any) -> Any:
    batch_dims = attrs.get("batch_dims", 0)
    return gathering.gather(
        _variable(given), given["indices"], axis=batch_dims, batch_dims=batch_dims
    )


# Functions.


@_op("PartitionedCall", "StatefulPartitionedCall")
def _call(runner: Runner, given: Any, attrs: Any) -> Any:
    return runner.call(attrs["f"], given["args"])


@_op("If", "StatelessIf")
def _if(runner: Runner, given: Any, attrs: Any) -> Any:
    inputs = given["input"]
    return control_flow.cond(
        _as_condition(given["cond"]),
        lambda: runner.call(attrs["then_branch"], inputs),
        lambda: runner.call(attrs["else_branch"], inputs),
    )


def _as_condition(x: Tensor) -> Tensor:
    """What an If takes for true: what is not zero, not empty."""
    if x.dtype is bool_ and x.shape.rank == 0:
        return x
    if x.shape.rank:
        return logic.greater(shaping.size(x), 0)
    return logic.not_equal(x, "" if x.dtype is string else 0)


@_op("Case", "StatelessCase")
def _case(runner: Runner, given: Any, attrs: Any) -> Any:
    inputs = given["input"]

    def branch(name: str) -> Callable[[], Any]:
        return lambda: runner.call(name, inputs)

    return control_flow.switch_case(given["branch_index"], [branch(n) for n in attrs["branches"]])


@_op("While", "StatelessWhile")
def _while(runner: Runner, given: Any, attrs: Any) -> Any:
    inputs = list(given["input"])
    # What is handed from turn to turn without a change is no part of the loop: its value, and its sizes, stay known.
    unchanged = _handed_on(runner.library, attrs["body"])
    moving = [i for i in range(len(inputs)) if i not in unchanged]
    shapes = attrs.get("output_shapes") or [None] * len(inputs)

    def whole(values: Any) -> list[Any]:
        row = list(inputs)
        for i, value in zip(moving, values, strict=True):
            row[i] = value
        return row

    def condition(*values: Any) -> Any:
        return _as_condition(runner.call(attrs["cond"], whole(values))[0])

    def body(*values: Any) -> Any:
        row = runner.call(attrs["body"], whole(values))
        return tuple([row[i] for i in moving])

    if len(shapes) != len(inputs):
        raise Damage("a loop does not say what its values are like")
    found = control_flow.while_loop(
        condition,
        body,
        tuple([inputs[i] for i in moving]),
        shape_invariants=tuple([_invariant(inputs[i], shapes[i]) for i in moving]),
    )
    return whole(found)


def _invariant(value: Any, shape: TensorShape | None) -> Any:
    if not isinstance(value, Tensor):
        return TensorShape(None)
    if shape is None or (shape.rank is None and value.shape.rank is not None):
        return value.shape
    return shape


def _handed_on(library: Library, name: str) -> set[int]:
    """The inputs of a function that are its outputs of the same number."""
    function = library[name]
    found: set[int] = set()
    for number, place in enumerate(function.results):
        while place.step != INPUTS and function.steps[place.step].op == "Identity":
            place = function.steps[place.step].inputs["input"]
        if place == (INPUTS, number):
            found.add(number)
    return found


# Lists of tensors.


def _element_shape(given: Any) -> TensorShape:
    said = given.get("element_shape")
    return TensorShape(None) if said is None or said.symbolic else _known_shape(said)


def _known_shape(said: Tensor) -> TensorShape:
    sizes = said.numpy()
    if not sizes.ndim:  # -1: nothing is known
        return TensorShape(None)
    return TensorShape([None if n < 0 else int(n) for n in sizes])


def _list(given: Any, name: str = "input_handle") -> TensorArray:
    found = given[name]
    if not isinstance(found, TensorArray):
        raise Damage(f"a list of tensors is wanted where there is a {type(found).__name__}")
    return found


def _new(dtype: Any, size: Any, given: Any, grows: bool = False) -> TensorArray:
    return TensorArray(
        dtype,
        size,
        dynamic_size=grows,
        clear_after_read=False,
        infer_shape=False,
        element_shape=_element_shape(given),
    )


@_op("TensorListReserve")
def _reserve(runner: Runner, given: Any, attrs: Any) -> Any:
    return _new(attrs["element_dtype"], given["num_elements"], given)


@_op("EmptyTensorList")
def _empty_list(runner: Runner, given: Any, attrs: Any) -> Any:
    return _new(attrs["element_dtype"], 0, given, grows=True)


@_op("TensorListFromTensor")
def _list_of(runner: Runner, given: Any, attrs: Any) -> Any:
    rows = given["tensor"]
    return _new(attrs["element_dtype"], shaping.shape(rows)[0], given).unstack(rows)


@_op("TensorListGetItem")
def _item(runner: Runner, given: Any, attrs: Any) -> Any:
    return _list(given).read(given["index"])


@_op("TensorListSetItem")
def _set_item(runner: Runner, given: Any, attrs: Any) -> Any:
    return _list(given).write(given["index"], given["item"])


@_op("TensorListPushBack")
def _push(runner: Runner, given: Any, attrs: Any) -> Any:
    before = _list(given)
    return before.write(before.size(), given["tensor"])


@_op("TensorListStack")
def _stack(runner: Runner, given: Any, attrs: Any) -> Any:
    rows = _list(given).stack()
    shape = _element_shape(given)
    return rows if shape.rank is None else shaping.ensure_shape(rows, [None, *shape])


@_op("TensorListGather")
def _gather_items(runner: Runner, given: Any, attrs: Any) -> Any:
    return _list(given).gather(given["indices"])


@_op("TensorListLength")
def _length(runner: Runner, given: Any, attrs: Any) -> Any:
    return _list(given).size()


# Tables.


class Resource:
    """What was made by functions of its own when a model is loaded: a table."""

    def __init__(self) -> None:
        self.create: Callable[..., list[Any]] | None = None
        self.initialize: Callable[..., list[Any]] | None = None
        self._found: Any = None

    def made(self) -> Any:
        """The table, which is made and filled when it is first wanted."""
        if self._found is None:
            if self.create is None:
                raise Damage("it does not say what a resource is")
            with init_scope():
                (self._found,) = self.create()
                if self.initialize is not None:
                    self.initialize()
        return self._found


class Table:
    """A table that is filled once."""

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self.dtypes = (key_dtype, value_dtype)
        self.initializer: Any = None
        self._tables: dict[Any, Any] = {}

    def find(self, keys: Any, default: Any) -> Any:
        """The values of keys."""
        from tapeflow._src.lookup.static import StaticHashTable

        if self.initializer is None:
            raise Damage("a table is asked that was never filled")
        known = np.asarray(default._array)[()]
        if known not in self._tables:
            with init_scope():
                self._tables[known] = StaticHashTable(self.initializer, known)
        return self._tables[known].lookup(keys)


@_op("HashTableV2", "AnonymousHashTable")
def _table(runner: Runner, given: Any, attrs: Any) -> Any:
    return Table(attrs["key_dtype"], attrs["value_dtype"])


@_op("LookupTableImportV2", "InitializeTableV2")
def _fill_table(runner: Runner, given: Any, attrs: Any) -> Any:
    from tapeflow._src.lookup.initializers import KeyValueTensorInitializer

    given["table_handle"].initializer = KeyValueTensorInitializer(given["keys"], given["values"])


@_op("InitializeTableFromTextFileV2")
def _fill_table_from_file(runner: Runner, given: Any, attrs: Any) -> Any:
    from tapeflow._src.lookup.initializers import TextFileInitializer

    path = os.path.realpath(given["filename"].numpy().decode())
    inside = os.path.realpath(runner.folder)
    if os.path.commonpath([path, inside]) != inside:
        raise Damage(f"a table is to be filled from a file outside of the model's folder: {path!r}")
    table = given["table_handle"]
    key_dtype, value_dtype = table.dtypes
    table.initializer = TextFileInitializer(
        path,
        key_dtype,
        attrs["key_index"],
        value_dtype,
        attrs["value_index"],
        None if attrs["vocab_size"] < 0 else attrs["vocab_size"],
        attrs["delimiter"],
        value_index_offset=attrs["offset"],
    )


@_op("LookupTableFindV2")
def _find(runner: Runner, given: Any, attrs: Any) -> Any:
    return given["table_handle"].find(given["keys"], given["default_value"])
