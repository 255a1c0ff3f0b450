"""Writes what TensorFlow gives for every case to `expected/`, one file for each file of cases.

Run by hand, where TensorFlow is installed, after adding or changing a case:

    python tests/conformance/record.py [-v] [area ...]
"""

from __future__ import annotations

import json
import logging
import os
import sys
from typing import Any

import comparison


def _let_warnings_repeat() -> None:
    # TensorFlow logs some warnings for the first few times only; a case must not depend on the
    # ones before it.
    from tensorflow.python.platform import tf_logging  # pyright: ignore[reportMissingImports]

    tf_logging._log_counter_per_token.clear()


def record(tf: Any, area: str, verbose: bool) -> tuple[int, int]:
    """Writes the results of one file of cases; returns how many ran and how many raised."""
    lines: list[str] = []
    raised = 0
    for name, case in comparison.load_cases(area).items():
        _let_warnings_repeat()
        outcome = comparison.run_case(tf, case)
        if "error" in outcome:
            raised += 1
            error = outcome.pop("error")
            if verbose:
                print(f"{area}/{name}: {type(error).__name__}: {str(error)[:150]!r}")
        if verbose and "warns" in outcome:
            print(f"{area}/{name}: warns {outcome['warns']}")
        lines.append(f"{json.dumps(name)}: {json.dumps(outcome)}")
    path = comparison.HERE / "expected" / f"{area}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return len(lines), raised


def main() -> None:
    """Records the areas named on the command line, or all of them."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    import tensorflow as tf  # pyright: ignore[reportMissingImports, reportMissingModuleSource]

    logging.getLogger("tensorflow").propagate = False
    (cpu,) = tf.config.list_physical_devices("CPU")  # for strategies of several replicas
    parts = [tf.config.LogicalDeviceConfiguration()] * 4
    tf.config.set_logical_device_configuration(cpu, parts)
    wanted = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    total = 0
    for area in wanted or comparison.areas():
        count, raised = record(tf, area, "-v" in sys.argv)
        total += count
        print(f"{area}: {count} cases, {raised} of them exceptions")
    print(f"{total} cases recorded with TensorFlow {tf.__version__}")


if __name__ == "__main__":
    main()
