"""Measurements beside tests."""

import subprocess
import sys

import pytest

import tapeflow as tf

PROGRAM = """
import tapeflow as tf
class One(tf.test.Benchmark):
    def benchmark_it(self):
        result = self.run_op_benchmark(None, lambda: tf.constant(1.0) + 1.0, min_iters=2, mbs=1.0)
        print("ran", result["name"], result["iters"], sorted(result["extras"]))
class Test(tf.test.TestCase):
    def test_it(self):
        print("tested")
tf.test.main()
"""


def _run(tmp_path, *arguments, **environment):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    import os

    return subprocess.run(
        [sys.executable, str(program), *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


def test_benchmarks_run_when_they_are_asked_for(tmp_path):
    asked = _run(
        tmp_path, "--benchmark_filter=One", TEST_REPORT_FILE_PREFIX=str(tmp_path / "report-")
    )
    assert asked.stdout == "ran benchmark_it 2 ['wall_time_mean', 'wall_time_stdev']\n"
    report = (tmp_path / "report-One.benchmark_it").read_bytes()
    assert b"One.benchmark_it" in report and report[0] == 0x0A
    again = _run(
        tmp_path, "--benchmark_filter=One", TEST_REPORT_FILE_PREFIX=str(tmp_path / "report-")
    )
    assert again.returncode and "reported before" in again.stderr
    nobody = _run(tmp_path, "--benchmark_filter=nobody")
    assert nobody.returncode and "No benchmarks matched" in nobody.stderr


def test_arguments_are_checked():
    class Some(tf.test.Benchmark):
        pass

    assert tf.test.Benchmark.is_abstract() and not Some.is_abstract()
    some = Some()
    with pytest.raises(TypeError, match="extras"):
        some.report_benchmark(extras=3, name="a")  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="'value'"):
        some.report_benchmark(metrics=[{"name": "a"}], name="a")
    with pytest.raises(TypeError, match="function"):
        some.run_op_benchmark(None, tf.constant(1.0))
    with pytest.raises(ValueError, match="pass a name"):
        some.report_benchmark(iters=1)
    assert some.evaluate([tf.constant(1.0)])[0].dtype == "float32"
