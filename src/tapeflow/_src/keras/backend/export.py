"""`model.export` and `keras.export.ExportArchive`: models that are served without their Python code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keras.src import tree
from keras.src.utils import io_utils

from tapeflow._src.core.module import Module
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.function.concrete import ConcreteFunction
from tapeflow._src.function.function import Function
from tapeflow._src.saved_model.saving import DEFAULT, save
from tapeflow._src.train.object_graph import is_tracked, variable_of


class TapeflowExportArchive:
    """What `keras.export.ExportArchive()` makes: endpoints, and the variables that they use.

    The artifact is a saved model of tapeflow: a folder with one file, `saved_model.safetensors`. It holds the values of
    the variables, and in its header the traced graph of each endpoint, as JSON. Reading it runs no code, and serving it
    needs tapeflow and neither Keras nor the code of the model:

        served = tf.saved_model.load("path/to/location")
        served.serve(x)                                      # an endpoint by its name
        served.signatures["serving_default"](inputs=x)       # the first one, with tensors by their names
        served.variables                                     # what was tracked, or used by an endpoint

    Endpoints take what their signatures say, with any size where those say None. They can be differentiated, and assign
    to the variables that the model assigns to. TensorFlow does not read this file; what it reads is written by
    `write_out(folder, options=tf.saved_model.SaveOptions(format="tensorflow"))`.
    """

    def __init__(self) -> None:
        self._root = Module(name="exported")
        self._endpoints: dict[str, Function] = {}
        self._tracked: list[Any] = []
        self._variables: list[Variable] = []

    @property
    def variables(self) -> list[Variable]:
        """The variables of what was tracked."""
        return list(self._variables)

    @property
    def trainable_variables(self) -> list[Variable]:
        """Those of them that are trained."""
        return [v for v in self._variables if v.trainable]

    @property
    def non_trainable_variables(self) -> list[Variable]:
        """Those of them that are not."""
        return [v for v in self._variables if not v.trainable]

    def track(self, resource: Any) -> None:
        """Adds the variables of a layer, a model, or another object that has some."""
        from keras.src import layers

        if isinstance(resource, layers.Layer):
            if not resource.built:
                raise ValueError(
                    "The layer provided has not yet been built. It must be built before export."
                )
            self._add(map(variable_of, resource.variables))
        elif is_tracked(resource):
            self._tracked.append(resource)
        else:
            raise ValueError(
                "Invalid resource type. Expected a Keras `Layer` or `Model`, or a `tf.Module`. Received object "
                f"{resource} of type '{type(resource)}'."
            )

    def add_endpoint(
        self, name: str, fn: Callable[..., Any], input_signature: Any = None, **kwargs: Any
    ) -> Function:
        """Adds a function to be served.

        Args:
          name: what to call it.
          fn: the function. It may use variables that were not tracked.
          input_signature: what each argument is like: structures of `keras.InputSpec`, `tf.TensorSpec`, Keras tensors,
            or tensors, of which all but the first size are meant. It can be left out for a `tf.function` that has been
            called: then it is served for what it has been called with.
          **kwargs: options of other backends, which are refused.
        """
        if name in self._endpoints:
            raise ValueError(f"Endpoint name '{name}' is already taken.")
        if kwargs:
            raise ValueError(f"The tapeflow backend has no options {sorted(kwargs)} for endpoints.")
        if input_signature is not None:
            python = fn.python_function if isinstance(fn, Function) else fn
            signature = tree.map_structure(_spec, input_signature)
            fn = Function(python, input_signature=signature, autograph=False)
            fn.get_concrete_function()
        elif not isinstance(fn, Function):
            raise ValueError(
                "If the `fn` argument provided is not a `tf.function`, you must provide an `input_signature` argument "
                "to specify the shape and dtype of the function arguments, such as "
                "input_signature=[keras.InputSpec(shape=(None, 3), dtype='float32')]."
            )
        elif not fn._traces:
            raise ValueError(
                f"The provided tf.function '{fn}' has never been called. So that the shape and dtype of its arguments "
                "are known, you must either provide a function that has been called at least once, or pass an "
                "`input_signature` to `add_endpoint()`."
            )
        self._endpoints[name] = fn
        return fn

    def track_and_add_endpoint(
        self, name: str, resource: Any, input_signature: Any, **kwargs: Any
    ) -> Function:
        """Tracks a layer or model, and serves its call."""
        self.track(resource)
        return self.add_endpoint(name, resource.__call__, input_signature, **kwargs)

    def add_variable_collection(self, name: str, variables: Any) -> None:
        """Adds variables that the loaded model has as a list of this name."""
        if not isinstance(variables, (list, tuple, set)):
            raise ValueError(
                f"export: `variables` must be a list/tuple/set of variables, got a {type(variables).__name__}"
            )
        found = [variable_of(v) for v in variables]
        if any(v is None for v in found):
            raise ValueError(
                "Expected all elements in `variables` to be variables. Found instead the following types: "
                f"{sorted({type(v).__name__ for v in variables})}"
            )
        setattr(self._root, name, found)

    def write_out(self, filepath: Any, options: Any = None, verbose: bool = True) -> None:
        """Writes the artifact. The first endpoint is the default signature, too, unless another has its name."""
        if not self._endpoints:
            raise ValueError("No endpoints have been set yet. Call add_endpoint().")
        signatures = {name: _concrete(fn) for name, fn in self._endpoints.items()}
        for concrete in signatures.values():
            self._add(concrete.variables)
        for name, fn in self._endpoints.items():
            setattr(self._root, name, fn)
        self._root._tracked_variables = self._variables
        self._root._tracked_objects = self._tracked
        signatures.setdefault(DEFAULT, next(iter(signatures.values())))
        save(self._root, filepath, signatures, options)
        if verbose:
            listed = "\n\n".join(_endpoint_text(name, signatures[name]) for name in self._endpoints)
            io_utils.print_msg(f"Exported to '{filepath}', with these endpoints:\n\n{listed}")

    def _add(self, variables: Any) -> None:
        there = {id(v) for v in self._variables}
        self._variables += {id(v): v for v in variables if id(v) not in there}.values()


def served_by_default(model: Any, named: bool) -> ConcreteFunction | None:
    """A model's call, if it is known what it is called with.

    Args:
      model: the model.
      named: whether its tensors have the names of its inputs, as where Keras exports it. Where `tf.saved_model.save`
        serves it, their name is that of the argument, "inputs", as on TensorFlow.
    """
    from keras.src.export.export_utils import get_input_signature

    try:
        signature: Any = tree.map_structure(
            _spec if named else _unnamed, get_input_signature(model)
        )
    except (TypeError, ValueError):  # it is no model, or has not been built or called
        return None

    def called(inputs: Any) -> Any:
        return model(inputs)

    python = called if len(signature) == 1 else model.__call__
    return Function(python, input_signature=signature, autograph=False).get_concrete_function()


def _spec(x: Any) -> TensorSpec:
    from keras.src.export.export_utils import make_input_spec

    if isinstance(x, TensorSpec):
        return x
    spec = make_input_spec(x)
    return TensorSpec(spec.shape, spec.dtype, spec.name)


def _unnamed(x: Any) -> TensorSpec:
    spec = _spec(x)
    return TensorSpec(spec.shape, spec.dtype)


def _concrete(fn: Function) -> ConcreteFunction:
    return next(iter(fn._traces))


def _endpoint_text(name: str, concrete: ConcreteFunction) -> str:
    lines = concrete.pretty_printed_signature().split("\n")
    return "\n".join([f"* Endpoint '{name}'", *lines[1:]])
