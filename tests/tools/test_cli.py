"""`tapeflow run` runs scripts as `python` would, with tapeflow under TensorFlow's name; `demo` runs the examples."""

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import tapeflow as tf
from tapeflow._src.tools import cli, redirect

TAPEFLOW = (sys.executable, "-m", "tapeflow")


@pytest.fixture
def call(tmp_path):
    def call(*command, **options):
        command = [str(part) for part in command]
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=600, **options
        )

    return call


@pytest.fixture
def script(tmp_path):
    def script(source, name="script.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(source))
        return path

    return script


# What is run.


def test_a_script_written_for_tensorflow_runs_as_it_stands(call, script):
    path = script(
        """
        import tensorflow as tf

        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = x**2
        print(tape.gradient(y, x))
        """
    )
    done = call(*TAPEFLOW, "run", path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "tf.Tensor(6.0, shape=(), dtype=float32)\n"


def test_every_form_of_import_gives_the_same_modules(call, script):
    path = script(
        """
        import sys

        import tensorflow as tf
        import tensorflow.nn
        from tensorflow import nn
        from tensorflow import errors, nest
        from tensorflow.math import sin
        import tensorflow.errors as errors_again

        import tapeflow

        assert tf is tensorflow is tapeflow
        assert nn is tf.nn is sys.modules["tapeflow.nn"] is sys.modules["tensorflow.nn"]
        assert sin is tapeflow.math.sin
        assert errors is errors_again is tapeflow.errors
        assert tf.__spec__.name == "tapeflow" and nn.__spec__.name == "tapeflow.nn"
        print("all the same")
        """
    )
    done = call(*TAPEFLOW, "run", path)
    assert (done.stdout, done.stderr) == ("all the same\n", "")


def test_a_script_may_import_its_neighbours_which_import_tensorflow(call, script):
    script("import tensorflow as tf\nseven = tf.constant(7)", "project/neighbour.py")
    path = script("import neighbour\nprint(int(neighbour.seven))", "project/script.py")
    assert call(*TAPEFLOW, "run", path).stdout == "7\n"


def test_code_runs(call):
    done = call(*TAPEFLOW, "run", "-c", "import tensorflow as tf; print(tf.__name__)")
    assert done.stdout == "tapeflow\n"


# It does not notice us.

SURROUNDINGS = """
    '''Its docstring.'''
    import sys
    print(__name__, __doc__, __package__, sys.argv, sys.path[0])
    print(globals().get("__file__"), type(__loader__).__name__, __spec__ and __spec__.name)
    print(sys.modules["__main__"].__dict__ is globals())
"""


def test_a_script_finds_what_python_gives_it(call, script):
    script(SURROUNDINGS, "project/script.py")
    arguments = ["project/script.py", "--version", "-m", "--", "-h", "a b"]
    done = call(*TAPEFLOW, "run", *arguments)
    assert done.stdout == call(sys.executable, *arguments).stdout
    assert done.stdout.startswith("__main__ Its docstring.")


def test_a_module_finds_what_python_gives_it(call, script):
    script(SURROUNDINGS, "project/part.py")
    arguments = ["-m", "project.part", "-m", "--version"]
    done = call(*TAPEFLOW, "run", *arguments)
    assert done.stdout == call(sys.executable, *arguments).stdout
    assert "project.part" in done.stdout


def test_code_finds_what_python_gives_it(call):
    code = "import sys; print(sys.argv, repr(sys.path[0]), __name__, '__file__' in globals())"
    done = call(*TAPEFLOW, "run", "-c", code, "-c", "x")
    assert done.stdout == call(sys.executable, "-c", code, "-c", "x").stdout


@pytest.mark.parametrize(
    "ending",
    ["pass", "raise SystemExit", "raise SystemExit(3)", "raise SystemExit('so long')", "1 / 0"],
)
@pytest.mark.sample(3)
def test_the_exit_status_is_the_scripts(call, script, ending):
    path = script(ending)
    done, expected = call(*TAPEFLOW, "run", path), call(sys.executable, path)
    assert (done.returncode, done.stderr) == (expected.returncode, expected.stderr)


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    1 / 0\nf()",
        "x = = 1",
        "try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise ValueError",
        "import os.no_such_module",
        "import sys\nsys.excepthook = lambda *error: print('mine', *error[:2])\n1 / 0",
    ],
)
@pytest.mark.sample(3)
def test_the_traceback_is_the_scripts(call, script, source):
    path = script(source)
    done, expected = call(*TAPEFLOW, "run", path), call(sys.executable, path)
    assert (done.stdout, done.stderr) == (expected.stdout, expected.stderr)
    assert done.stdout + done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to end a process by")
def test_an_interrupt_ends_the_script_as_it_ends_python(call, script):
    path = script("import signal\nsignal.raise_signal(signal.SIGINT)")
    done = call(*TAPEFLOW, "run", path)
    assert done.returncode == -signal.SIGINT
    assert "tapeflow" not in done.stderr


def test_functions_that_run_at_exit_still_see_the_script(call, script):
    path = script("import atexit\nname = 'still here'\natexit.register(lambda: print(name))")
    assert call(*TAPEFLOW, "run", path).stdout == "still here\n"


def test_objects_of_the_scripts_own_classes_can_be_pickled(call, script):
    path = script("import pickle\nclass C: pass\nprint(type(pickle.loads(pickle.dumps(C()))) is C)")
    assert call(*TAPEFLOW, "run", path).stdout == "True\n"


# What goes wrong.


@pytest.mark.parametrize("command", ["run", "profile", "inspect"])
def test_a_missing_file_is_named(call, command):
    done = call(*TAPEFLOW, command, "nowhere.py")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "tapeflow: can't open 'nowhere.py': No such file or directory\n"


def test_a_missing_module_is_named(call):
    done = call(*TAPEFLOW, "run", "-m", "nowhere.at_all")
    assert done.returncode == 1
    assert done.stderr == "tapeflow: no module named 'nowhere.at_all'\n"


def test_what_a_package_misses_is_not_blamed_on_the_module(call, script):
    script("import tensorflow.lite", "project/__init__.py")
    script("", "project/part.py")
    done = call(*TAPEFLOW, "run", "-m", "project.part")
    assert "tapeflow does not have tf.lite yet" in done.stderr


def test_the_command_alone_shows_its_help(call):
    done = call(*TAPEFLOW)
    assert done.returncode == 2
    assert done.stderr == call(*TAPEFLOW, "--help").stdout


@pytest.mark.parametrize("command", ["run", "profile", "inspect"])
def test_nothing_to_run_is_said(call, command):
    done = call(*TAPEFLOW, command)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.strip().endswith("name a script, or give -m module or -c code")


@pytest.mark.parametrize(
    "statement",
    [
        "import tensorflow.lite",
        "import tensorflow.lite.experimental",
        "from tensorflow.lite import Interpreter",
        "from tensorflow import lite",
        "import tensorflow as tf; tf.lite",
    ],
)
@pytest.mark.sample(3)
def test_a_missing_namespace_says_so_in_the_users_line(call, script, statement):
    path = script(statement)
    done = call(*TAPEFLOW, "run", path)
    assert done.returncode == 1
    assert "tapeflow does not have tf.lite yet" in done.stderr
    # One frame, the script's own.
    assert done.stderr.count("File ") == 1
    assert f'File "{path}", line 1' in done.stderr


def test_the_inside_of_the_package_does_not_pass_for_tensorflows(call):
    done = call(*TAPEFLOW, "run", "-c", "import tensorflow.core")
    assert "tapeflow does not have tf.core yet" in done.stderr


def test_a_script_can_ask_whether_a_namespace_is_there(call):
    code = """if True:
        try:
            import tensorflow.lite
        except ImportError:
            print("without")
    """
    assert call(*TAPEFLOW, "run", "-c", code).stdout == "without\n"


# The redirection by itself.


@pytest.fixture
def clean_modules(monkeypatch):
    monkeypatch.delitem(sys.modules, "tensorflow", raising=False)
    yield
    redirect.uninstall()


def test_the_redirection_can_be_taken_back(clean_modules):
    finders = list(sys.meta_path)
    redirect.install()
    redirect.install()
    import tensorflow  # pyright: ignore[reportMissingImports]

    assert tensorflow is tf
    redirect.uninstall()
    assert sys.meta_path == finders
    assert "tensorflow" not in sys.modules


def test_tensorflow_itself_is_not_pushed_aside(clean_modules, monkeypatch):
    real = type(sys)("tensorflow")
    real.__file__ = "site-packages/tensorflow/__init__.py"
    monkeypatch.setitem(sys.modules, "tensorflow", real)
    with pytest.raises(ImportError, match=r"real TensorFlow \('site-packages.*fresh process"):
        redirect.install()
    assert sys.modules["tensorflow"] is real


# The command.


def test_the_version_is_the_packages(call):
    done = call(*TAPEFLOW, "--version")
    assert (done.returncode, done.stdout) == (0, f"tapeflow {tf.__version__}\n")


def test_help_names_the_commands(call):
    assert "run a script written for TensorFlow" in call(*TAPEFLOW, "--help").stdout
    assert "-m module" in call(*TAPEFLOW, "run", "--help").stdout


# The examples.


@pytest.fixture
def examples(tmp_path, monkeypatch):
    """Two examples in the place where a wheel puts them, and a file that is none."""
    folder = tmp_path / "tapeflow" / "_examples"
    folder.mkdir(parents=True)
    (folder / "good.py").write_text(
        textwrap.dedent(
            '''
            """Draws something good.

            And more about it.
            """
            from pathlib import Path

            def main(output: Path = Path("demo-output"), quick: bool = False) -> dict[str, float]:
                output.mkdir(parents=True, exist_ok=True)
                (output / "good.png").write_text("quick" if quick else "slow")
                print("drawn")
                return {}
            '''
        ).lstrip()
    )
    (folder / "bad.py").write_text(
        '"""Fails."""\n\n\ndef main(output, quick=False):\n    raise ValueError("a bad day")\n'
    )
    (folder / "helper.py").write_text('"""No example."""\n\n\ndef main(arguments):\n    pass\n')
    monkeypatch.setattr(cli, "__file__", str(folder.parent / "_src/tools/cli.py"))
    return tmp_path / "pictures"


def test_demo_lists_the_examples(examples, capsys):
    cli.main(["demo"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["bad   Fails.", "good  Draws something good."]
    assert not any(line.startswith("helper") for line in lines)


@pytest.mark.parametrize("quick", [True, False])
def test_demo_runs_an_example_and_says_where_its_picture_is(examples, capsys, quick):
    cli.main(["demo", "good", "--output", str(examples), *["--quick"] * quick])
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == ["good", "drawn"]
    assert said[2].startswith(f"picture: {examples / 'good.png'} (")
    assert (examples / "good.png").read_text() == ("quick" if quick else "slow")


def test_demo_all_goes_on_after_a_failure_and_reports_it(examples, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["demo", "all", "--output", str(examples)])
    said = capsys.readouterr()
    assert stopped.value.code == 1
    assert (examples / "good.png").exists()
    assert "good (2 of 2)" in said.out
    assert "ValueError: a bad day" in said.err
    assert said.err.endswith("tapeflow: 1 of 2 failed: bad\n")


def test_demo_suggests_a_name(examples, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["demo", "godo"])
    assert stopped.value.code == 2
    assert "there is no example 'godo'; did you mean 'good'?" in capsys.readouterr().err


def test_demo_says_what_to_install(examples, capsys, monkeypatch):
    path = Path(cli.__file__).parents[2] / "_examples" / "good.py"
    path.write_text(f"import matplotlib\n{path.read_text()}")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SystemExit):
        cli.main(["demo", "good"])
    assert "pip install 'tapeflow[plot]'" in capsys.readouterr().err


def test_demo_finds_the_examples_of_the_repository(capsys):
    cli.main(["demo"])
    said = capsys.readouterr().out
    names = {line.split()[0] for line in said.splitlines() if line and line[0] != " "}
    assert {"linear_regression", "gradient_clipping", "mixed_precision"} <= names


# Profiles.


def test_profile_says_where_the_time_went(call, script, tmp_path):
    path = script(
        """
        import tensorflow as tf

        x = tf.ones([200, 200])
        for _ in range(10):
            x = tf.tanh(x @ x)
        print("done")
        raise SystemExit(3)
        """
    )
    done = call(*TAPEFLOW, "profile", "--rows", 5, path)
    assert done.returncode == 3, done.stderr
    assert done.stdout.startswith("done\n")
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("matmul"))
    assert line.split()[1] == "10"
    assert line.endswith("forward")
    assert "script.py:6" in done.stdout
    assert (tmp_path / "tapeflow.trace.json.gz").exists()


def test_options_that_the_script_gets_are_named(call, script):
    path = script("import tapeflow as tf, sys; tf.ones([2]) + 1.0; print(sys.argv[1:])")
    done = call(*TAPEFLOW, "profile", "--trace", "", path, "--rows", 3)
    assert "['--rows', '3']" in done.stdout
    assert "--rows went to the script" in done.stderr and "--trace" not in done.stderr


def test_profile_writes_no_trace_where_none_is_wanted(call, tmp_path):
    code = "import tapeflow as tf; tf.sin(1.0)"
    done = call(*TAPEFLOW, "profile", "--by", "op", "--trace", "", "-c", code)
    assert done.returncode == 0, done.stderr
    assert "sin" in done.stdout
    assert "line  " not in done.stdout
    assert not list(tmp_path.glob("*.gz"))
