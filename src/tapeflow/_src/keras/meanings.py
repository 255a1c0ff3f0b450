"""What `tensorflow` means in modules of Keras that use it for its ops, shapes, dtypes and datasets."""

from __future__ import annotations

import ast
from typing import Any

LAYERS_OF_STRINGS = (
    *("feature_space", "hashed_crossing", "hashing", "index_lookup", "integer_lookup"),
    *("string_lookup", "text_vectorization"),
)
"""Modules of preprocessing layers that compute with strings."""


def mean_tapeflow(tree: ast.Module, module: str, beside: bool) -> bool:
    """Makes Keras's lazy `tensorflow` mean tapeflow in a module. Says whether there was anything to change.

    Args:
      tree: the module's code, which is changed.
      module: its name.
      beside: whether TensorFlow is used beside tapeflow.
    """
    of_strings = module.endswith((*LAYERS_OF_STRINGS, "tf_utils"))
    if of_strings and beside:
        return True  # TensorFlow computes with strings then, as for other backends
    compared = of_strings or module.endswith("tfsm_layer")  # the layer that loads a saved model
    ours = compared or module.endswith(("legacy.layers", "serialization_lib", "rng_utils"))
    found = False
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and compared:
            node.comparators = [_renamed(c) for c in node.comparators]
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.name != "tensorflow":
                    continue
                if node.module == "keras.src.utils.module_utils":
                    node.module, found = "tapeflow._src.keras.library", True
                    alias.name = "ours" if ours else "either"
                elif node.module == "keras.src.backend":
                    node.module = "tapeflow._src.keras.library"
                    alias.name = "backend_of_tensorflow"
    return found


def _renamed(value: ast.expr) -> ast.expr:
    """What a backend is compared with."""
    is_it = isinstance(value, ast.Constant) and value.value == "tensorflow"
    return ast.copy_location(ast.Constant("tapeflow"), value) if is_it else value


def leave_ragged(utils: Any) -> None:
    """Lets `convert_tf_tensor` of Keras's `backend_utils` leave ragged tensors of layers for strings as they are."""
    convert = utils.convert_tf_tensor

    def convert_tf_tensor(outputs: Any, dtype: Any = None) -> Any:
        ragged = hasattr(outputs, "flat_values") and type(outputs).__module__.startswith("tapeflow")
        return outputs if ragged else convert(outputs, dtype)

    utils.convert_tf_tensor = convert_tf_tensor


_WRITERS = {
    "tensorflow.summary": "tapeflow.summary",
    "tensorflow.compat.v1": "tapeflow._src.summary.metadata",
}
"""Where the callback for TensorBoard finds what it writes with."""


def write_with_tapeflow(tree: ast.Module) -> bool:
    """Lets the callback for TensorBoard write with tapeflow's summaries, and profile with tapeflow as the backend."""
    found = False
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                found = found or name.name in _WRITERS
                name.name = _WRITERS.get(name.name, name.name)
        elif isinstance(node, ast.ImportFrom):
            found = found or node.module in _WRITERS
            node.module = _WRITERS.get(node.module or "", node.module)
        elif isinstance(node, ast.Tuple) and [getattr(e, "value", None) for e in node.elts] == [
            "jax",
            "tensorflow",
        ]:  # the backends whose steps can be profiled
            node.elts.append(ast.copy_location(ast.Constant("tapeflow"), node.elts[0]))
    return found
