"""`tf.profiler.experimental` and `tf.summary.trace_on`: what is refused, and options."""

from __future__ import annotations

import tempfile
from typing import Any


def _meanwhile(tf: Any, call: Any) -> Any:
    """What a call gives while a profile is open, which is closed afterwards."""
    profiler = tf.profiler.experimental
    profiler.start(tempfile.mkdtemp())
    try:
        return call()
    finally:
        profiler.stop(save=False)


def _traced(tf: Any, call: Any) -> Any:
    """What a call gives while a trace is on, which is off afterwards."""
    tf.summary.trace_on()
    try:
        return call()
    finally:
        tf.summary.trace_off()


def _export_twice(tf: Any) -> None:
    tf.summary.trace_on()
    tf.summary.trace_export("a", step=1)
    tf.summary.trace_export("a", step=1)


def _export_without_step(tf: Any) -> Any:
    with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
        return _traced(tf, lambda: tf.summary.trace_export("a"))


def _annotated(tf: Any) -> Any:
    with tf.profiler.experimental.Trace("step", step_num=1, _r=1):
        return tf.constant(2.0) * 3.0


CASES = {
    "stop_without_start": lambda tf: tf.profiler.experimental.stop(),
    "start_twice": lambda tf: _meanwhile(tf, lambda: tf.profiler.experimental.start("/tmp/no")),
    "computing_meanwhile": lambda tf: _meanwhile(tf, lambda: tf.reduce_sum(tf.ones([3]) * 2.0)),
    "a_function_meanwhile": lambda tf: _meanwhile(
        tf, lambda: tf.function(lambda x: tf.sin(x) * 2.0, autograph=False)(tf.constant(0.0))
    ),
    "a_gradient_meanwhile": lambda tf: _meanwhile(tf, lambda: _gradient(tf)),
    "annotation": _annotated,
    "annotation_without_name": lambda tf: tf.profiler.experimental.Trace(),
    "options": lambda tf: tuple(tf.profiler.experimental.ProfilerOptions()._asdict().items()),
    "options_given": lambda tf: tf.profiler.experimental.ProfilerOptions(
        host_tracer_level=3, delay_ms=5
    )._asdict()["delay_ms"],
    "trace_off_without_trace_on": lambda tf: tf.summary.trace_off(),
    "trace_export_without_trace_on": lambda tf: tf.summary.trace_export("a", step=1),
    "trace_export_twice": _export_twice,
    "trace_export_without_step": _export_without_step,
    "trace_export_without_writer": lambda tf: _traced(
        tf, lambda: tf.summary.trace_export("a", step=1)
    ),
    "a_function_while_tracing": lambda tf: _traced(
        tf, lambda: tf.function(lambda x: x + 1.0, autograph=False)(tf.constant(1.0))
    ),
}


def _gradient(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x)
