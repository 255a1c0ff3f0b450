"""How Keras comes to use tapeflow: in processes of their own, because a process has one backend."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2] / "src"


def run(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "KERAS_BACKEND"} | variables
    environment["PYTHONPATH"] = str(SOURCES)
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )


def printed(code: str, **variables: str) -> str:
    finished = run(code, **variables)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.strip()


def test_importing_tapeflow_does_not_import_keras():
    assert printed("import sys, tapeflow; print('keras' in sys.modules)") == "False"


PLAIN = """
import json, os, sys
import tapeflow as tf
backend = tf.keras.config.backend()
variable = os.environ.get("KERAS_BACKEND")
print(json.dumps({"backend": backend, "variable": variable, "modules": list(sys.modules)}))
"""


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """What a program finds that sets nothing, and the settings it leaves on the disk."""
    home = tmp_path_factory.mktemp("home")
    found = json.loads(printed(PLAIN, KERAS_HOME=str(home)))
    return found | {"settings": (home / "keras.json").read_text()}


def test_nothing_has_to_be_set(plain):
    assert plain["backend"] == "tapeflow"


@pytest.mark.exhaustive
def test_keras_alone_is_told_by_the_variable():
    # What the .pth file of an installation does at the start.
    start = (SOURCES / "tapeflow_keras.pth").read_text()
    code = f"{start}\nimport keras; print(keras.config.backend())"
    assert printed(code, KERAS_BACKEND="tapeflow") == "tapeflow"


def test_the_file_of_an_installation_does_nothing_for_others():
    start = (SOURCES / "tapeflow_keras.pth").read_text()
    assert printed(f"{start}\nimport sys; print('tapeflow' in sys.modules)") == "False"


def test_keras_imported_after_tapeflow_uses_it():
    code = "import tapeflow, keras; print(keras.config.backend())"
    assert printed(code) == "tapeflow"


def test_settings_on_the_disk_keep_another_backend(tmp_path):
    (tmp_path / "keras.json").write_text('{"backend": "numpy"}')
    code = "import tapeflow._src.keras.hook as hook; print(hook._is_chosen())"
    assert printed(code, KERAS_HOME=str(tmp_path)) == "False"


def test_settings_on_the_disk_do_not_name_tapeflow(plain):
    assert "tapeflow" not in plain["settings"]


def test_programs_started_from_here_decide_for_themselves(plain):
    assert plain["variable"] is None


@pytest.mark.parametrize(
    "statement",
    [
        "from tapeflow.keras import layers",
        "from tapeflow.keras.layers import Dense",
        "import tapeflow.keras.layers as layers",
        "import tapeflow.keras",
    ],
)
@pytest.mark.sample(4)
def test_modules_below_can_be_imported(statement):
    code = f"import tapeflow as tf\n{statement}\nimport keras\nprint(tf.keras.layers.Dense is keras.layers.Dense)"
    assert printed(code) == "True"


@pytest.mark.exhaustive
def test_a_module_that_is_not_there():
    error = run("import tapeflow.keras.nothing").stderr
    assert "ModuleNotFoundError: Keras has no tf.keras.nothing" in error


@pytest.mark.exhaustive
def test_scripts_written_for_tensorflow(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import os; os.environ['KERAS_BACKEND'] = 'tensorflow'\n"
        "from tensorflow.keras.layers import Dense\n"
        "import tensorflow.keras.backend as K\n"
        "from tensorflow import keras\n"
        "print(keras.config.backend(), Dense(2)(keras.ops.ones((1, 3))).shape)\n"
    )
    code = f"import sys; from tapeflow._src.tools.cli import main; main(['run', {str(script)!r}])"
    assert printed(code) == "tensorflow (1, 2)"


NAMES = """
import os
os.environ.pop("KERAS_BACKEND", None)
from tapeflow._src.tools import redirect
import tensorflow as tf
import keras
import keras.src.backend
layer = keras.layers.RandomFlip(seed=1)
batches = tf.data.Dataset.from_tensor_slices(tf.ones((4, 2, 2, 3))).batch(2).map(layer)
print(keras.backend.backend(), keras.config.backend(), tf.keras.backend.backend(), tf.keras.config.backend())
print(keras.src.backend.backend(), [b.shape for b in batches], layer(tf.ones((1, 2, 2, 3))).shape)
redirect.uninstall()
print(keras.backend.backend(), keras.config.backend())
"""


def test_where_tapeflow_stands_for_tensorflow_keras_gives_that_name():
    start = "import tapeflow; from tapeflow._src.tools import redirect; redirect.install()\n"
    named, inside, after = printed(start + NAMES).splitlines()
    assert named == "tensorflow tensorflow tensorflow tensorflow"
    assert inside == "tapeflow [TensorShape([2, 2, 2, 3]), TensorShape([2, 2, 2, 3])] (1, 2, 2, 3)"
    assert after == "tapeflow tapeflow"


@pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is not None,
    reason="TensorFlow is installed, so that its name means TensorFlow",
)
@pytest.mark.parametrize("use", ["import keras", "keras = tf.keras"])
@pytest.mark.exhaustive
def test_where_there_is_no_tensorflow_its_name_means_tapeflow(use):
    code = f"import tapeflow as tf; {use}; print(keras.config.backend())"
    assert printed(code, KERAS_BACKEND="tensorflow") == "tapeflow"


def test_a_tensorflow_that_is_only_installed_is_not_used(tmp_path):
    (tmp_path / "tensorflow.py").write_text("raise SystemExit('TensorFlow was imported')")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import tapeflow as tf\n"
        "lookup = tf.keras.layers.StringLookup(vocabulary=['a', 'b'])\n"
        "split = tf.keras.layers.TextVectorization(vocabulary=['a', 'b'])\n"
        "words = tf.data.Dataset.from_tensor_slices(['a b', 'b']).batch(2)\n"
        "print([x.numpy().tolist() for x in next(iter(words.map(lambda x: (split(x), lookup(x)))))])\n"
    )
    assert printed(code) == "[[[2, 3], [3, 0]], [0, 2]]"


def test_the_variable_names_another_backend():
    error = run("import tapeflow as tf; tf.keras", KERAS_BACKEND="jax").stderr
    assert "KERAS_BACKEND asks for 'jax'. Unset it, or set KERAS_BACKEND=tapeflow." in error


def test_another_backend_is_loaded_already():
    code = (
        "import sys, types, tapeflow as tf\n"
        "other = types.ModuleType('keras.src.backend.config')\n"
        "other.backend = lambda: 'jax'\n"
        "sys.modules['keras.src.backend.config'] = other\n"
        "tf.keras\n"
    )
    error = run(code).stderr
    assert "Keras is loaded already, with 'jax' as its backend" in error
    assert "KERAS_BACKEND=tapeflow" in error


def test_a_version_of_keras_that_is_not_supported():
    code = (
        "import importlib.metadata as metadata, tapeflow as tf\n"
        "metadata.version = lambda name: '3.99.0'\n"
        "tf.keras\n"
    )
    error = run(code).stderr
    assert "tapeflow is a backend for Keras 3.15, and Keras 3.99.0 is installed" in error


def test_keras_is_not_installed():
    code = (
        "import sys, tapeflow as tf\n"
        "class Hide:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'keras': raise ModuleNotFoundError('No module named keras', name='keras')\n"
        "sys.meta_path.insert(0, Hide())\n"
        "tf.keras\n"
    )
    error = run(code).stderr
    assert "ImportError: tf.keras needs Keras: pip install 'tapeflow[keras]'" in error


def test_libraries_that_keras_hardly_uses_wait(plain):
    assert {"jax", "matplotlib"} & set(plain["modules"]) == set()


CHANGED = """
import importlib, tapeflow as tf
from tapeflow._src.keras import hook
tf.keras
for name in hook._loaders:
    importlib.import_module(name)
"""


@pytest.mark.exhaustive
def test_all_modules_that_are_changed_are_as_expected(tmp_path):
    finished = run(CHANGED, KERAS_HOME=str(tmp_path))
    assert finished.returncode == 0, finished.stderr
    assert "versions of Keras that were tried" not in finished.stderr


UNLIKE = """
import tapeflow
from tapeflow._src.keras import hook
for loader in (hook._BranchLoader, hook._LazyLoader, hook._TensorFlowLoader, hook._BoardLoader, hook._TracebackLoader):
    for _ in range(2):
        loader(f"keras.src.{loader.__name__}", "module.py").source_to_code(b"x = 1", "module.py")
"""


def test_a_module_with_nothing_to_change_is_noted_once():
    finished = run(UNLIKE)
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr.count("not as in the versions of Keras that were tried") == 5
