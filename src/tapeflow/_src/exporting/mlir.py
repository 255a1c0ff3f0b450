"""`tf.mlir.experimental`: functions as texts of MLIR, passes over such texts, and their bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tapeflow._src.core.errors import InvalidArgumentError, UnknownError, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.system.files import replacing
from tapeflow._src.core.system.loading import loaded
from tapeflow._src.exporting.stablehlo import to_stablehlo
from tapeflow._src.function.concrete import ConcreteFunction

STANDARD = "tf-standard-pipeline"
"""What TensorFlow calls the passes that every function goes through; here the program is in its final form already."""


@export("mlir.experimental.convert_function")
def convert_function(
    concrete_function: Any, pass_pipeline: str = STANDARD, show_debug_info: bool = False
) -> str:
    """A traced function as a text of MLIR, in the dialect StableHLO.

    >>> double = tf.function(lambda x: x + x).get_concrete_function(tf.TensorSpec([2], tf.float32))
    >>> "stablehlo.add %arg0, %arg0 : tensor<2xf32>" in tf.mlir.experimental.convert_function(double)
    True

    Args:
      concrete_function: a concrete function.
      pass_pipeline: passes to run over it, as `builtin.module(canonicalize)`. By default there are none.
      show_debug_info: whether the text says from which line each part comes.
    """
    if not isinstance(concrete_function, ConcreteFunction):
        raise TypeError(
            "convert_function: concrete_function must be what get_concrete_function gives, got "
            f"{shown(concrete_function)}"
        )
    text = to_stablehlo(concrete_function).mlir_module()
    return _passed(text, "" if pass_pipeline == STANDARD else pass_pipeline, show_debug_info)


@export("mlir.experimental.run_pass_pipeline")
def run_pass_pipeline(mlir_txt: str, pass_pipeline: str, show_debug_info: bool = False) -> str:
    '''A text of MLIR after passes have gone over it.

    >>> text = """func.func @f() -> tensor<i32> {
    ...   %a = stablehlo.constant dense<1> : tensor<i32>
    ...   %b = stablehlo.constant dense<2> : tensor<i32>
    ...   return %a : tensor<i32>
    ... }"""
    >>> "dense<2>" in tf.mlir.experimental.run_pass_pipeline(text, "builtin.module(canonicalize)")
    False

    Args:
      mlir_txt: the text, of the dialects that jax knows.
      pass_pipeline: the passes, as `builtin.module(canonicalize,cse)`.
      show_debug_info: whether the text says where each part comes from.

    Raises:
      InvalidArgumentError: if there are no such passes.
      UnknownError: if the text is not of MLIR.
    '''
    return _passed(mlir_txt, pass_pipeline, show_debug_info)


@export("mlir.experimental.write_bytecode")
def write_bytecode(filename: Any, mlir_txt: str) -> None:
    r"""Writes a text of MLIR to a file, as the bytes that MLIR's tools read.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "empty.mlirbc")
    >>> tf.mlir.experimental.write_bytecode(str(path), "module {}")
    >>> path.read_bytes()[:4]
    b'ML\xefR'

    Args:
      filename: of the file.
      mlir_txt: the text, of the dialects that jax knows.
    """
    with _parsed(mlir_txt) as module, replacing(filename) as file:
        module.operation.write_bytecode(file)


@contextmanager
def _parsed(text: str) -> Iterator[Any]:
    """A text as a module, while MLIR's context is open."""
    if not isinstance(text, str):
        raise TypeError(f"tf.mlir.experimental: a text of MLIR must be a str, got {shown(text)}")
    mlir = loaded("jax.interpreters.mlir")
    with mlir.make_ir_context():
        try:
            module = mlir.ir.Module.parse(text)
        except mlir.ir.MLIRError as error:
            raise UnknownError(None, None, f"tf.mlir.experimental: no MLIR: {error}") from error
        yield module


def _passed(text: str, pipeline: str, debug: bool) -> str:
    with _parsed(text) as module:
        if pipeline:
            managers = loaded("jaxlib.mlir.passmanager")
            try:
                passes = managers.PassManager.parse(pipeline)
            except ValueError as error:
                raise InvalidArgumentError(
                    None, None, f"Invalid pass_pipeline {pipeline!r}: {error}"
                ) from error
            try:
                passes.run(module.operation)
            except loaded("jax.interpreters.mlir").ir.MLIRError as error:
                raise UnknownError(None, None, f"{pipeline!r} failed: {error}") from error
        return module.operation.get_asm(enable_debug_info=bool(debug))
