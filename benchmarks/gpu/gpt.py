"""Times one training step of a GPT with 124 million parameters on a GPU.

    python benchmarks/gpu/gpt.py tapeflow            # or tapeflow-eager, jax, torch, torch-compile
    GPT_SMALL=1 python benchmarks/gpu/gpt.py jax     # a tiny one, to try it on a CPU

Prints the milliseconds of a step (median), the first call, and the losses of the first steps, which agree between the
libraries up to rounding.
"""

from __future__ import annotations

import statistics
import sys
import time

import gpt_config


def main(library: str, steps: int = 40) -> None:
    c = gpt_config.config()
    if library.startswith("tapeflow"):
        import gpt_tapeflow

        step = gpt_tapeflow.make(c, compiled=library == "tapeflow")
    elif library == "jax":
        import gpt_jax

        step = gpt_jax.make(c)
    else:
        import gpt_torch

        step = gpt_torch.make(c, compiled=library == "torch-compile")
    start = time.perf_counter()
    losses = [float(step())]
    first = time.perf_counter() - start
    losses += [float(step()) for _ in range(4)]
    times = []
    for _ in range(steps // 10):
        start = time.perf_counter()
        for _ in range(10):  # the device works on several steps in a row, as in training
            loss = step()
        float(loss)
        times.append((time.perf_counter() - start) / 10)
    shown = ", ".join(f"{x:.4f}" for x in losses)
    print(
        f"{library}: {statistics.median(times) * 1e3:.2f} ms a step, first call {first:.1f} s, losses {shown}"
    )


if __name__ == "__main__":
    main(sys.argv[1])
