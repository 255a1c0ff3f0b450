"""Settings of `tf.function` for the whole program."""

from __future__ import annotations

from tapeflow._src.core.export import export

eagerly = False
deterministic = False
alike = False  # whether other processes run the same functions, and what they compute must not drift apart
tensor_float_32 = True  # whether products of float32 on GPUs may round their factors to 10 bits


@export("config.experimental.enable_op_determinism")
def enable_op_determinism() -> None:
    """From now on the same program with the same seeds gives the same numbers, bit for bit.

    Functions are not run on the executor that is fastest, which may be another one in another run and rounds in
    another way, but on NumPy, or with XLA if `jit_compile=True` says so. And how many threads compute a product is
    decided by its size, not by how busy the machine is.

    >>> tf.config.experimental.enable_op_determinism()  # doctest: +SKIP
    """
    global deterministic
    deterministic = True


@export("config.experimental_run_functions_eagerly", "config.run_functions_eagerly")
def run_functions_eagerly(run_eagerly: bool) -> None:
    """Makes every `tf.function` run its Python code at once, without tracing: for looking at values, and debugging.

    >>> tf.config.run_functions_eagerly(True)
    >>> tf.function(lambda x: x.numpy() * 2)(tf.constant(3.0))
    np.float32(6.0)
    >>> tf.config.run_functions_eagerly(False)
    """
    global eagerly
    eagerly = bool(run_eagerly)


@export("config.experimental_functions_run_eagerly", "config.functions_run_eagerly")
def functions_run_eagerly() -> bool:
    """Whether `run_functions_eagerly` is on.

    >>> tf.config.functions_run_eagerly()
    False
    """
    return eagerly
