"""Where the time of a GPT training step goes on a GPU: the kernels of a step, by their total time.

python benchmarks/gpu/profile_gpt.py tapeflow    # or jax
"""

from __future__ import annotations

import collections
import glob
import gzip
import importlib
import json
import sys
import tempfile
import time

import gpt_config
import jax


def main(library: str) -> None:
    step = importlib.import_module(f"gpt_{library}").make(gpt_config.config())
    for _ in range(3):
        float(step())
    start = time.perf_counter()
    losses = [step() for _ in range(10)]
    dispatch = time.perf_counter() - start
    float(losses[-1])
    total = time.perf_counter() - start
    print(f"{dispatch * 100:.2f} ms to dispatch a step, {total * 100:.2f} ms to finish it")
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            for _ in range(3):
                float(step())
        (path,) = glob.glob(f"{folder}/**/*.trace.json.gz", recursive=True)
        with gzip.open(path) as file:
            events = json.load(file)["traceEvents"]
    processes = {e["pid"]: e["args"]["name"] for e in events if e.get("name") == "process_name"}
    threads = {
        (e["pid"], e["tid"]): e["args"]["name"] for e in events if e.get("name") == "thread_name"
    }
    seconds: collections.Counter[str] = collections.Counter()
    calls: collections.Counter[str] = collections.Counter()
    for e in events:
        on_gpu = "GPU" in processes.get(e.get("pid"), "")
        if on_gpu and "Stream" in threads.get((e["pid"], e.get("tid")), "") and e["ph"] == "X":
            seconds[e["name"]] += e["dur"]
            calls[e["name"]] += 1
    for name, microseconds in seconds.most_common(40):
        print(f"{microseconds / 3e3:8.3f} ms {calls[name] // 3:4d} times  {name[:110]}")
    print(f"{sum(seconds.values()) / 3e3:8.3f} ms in all, {sum(calls.values()) // 3} kernels")


if __name__ == "__main__":
    main(sys.argv[1])
