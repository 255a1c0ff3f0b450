"""Profiles of training steps, for the callback that writes files for TensorBoard."""

from __future__ import annotations

from typing import Any

import tapeflow as tf


def start_trace(logdir: str) -> None:
    """Begins a profile."""
    tf.profiler.experimental.start(logdir)


def stop_trace(save: bool) -> None:
    """Ends it, and writes it."""
    tf.profiler.experimental.stop(save=save)


def start_batch_trace(batch: int) -> Any:
    """Begins the part of a profile that is one batch."""
    part = tf.profiler.experimental.Trace("Profiled batch", step_num=batch)
    part.__enter__()
    return part


def stop_batch_trace(batch_trace_context: Any) -> None:
    """Ends it."""
    batch_trace_context.__exit__(None, None, None)
