"""`python -m tests.keras_suite`: runs the tests that Keras's wheel carries, on tapeflow and on JAX.

    python -m tests.keras_suite                        both backends, all files, and the table in docs/keras.md
    python -m tests.keras_suite --backends tapeflow    one of them; the other's last results are taken
    python -m tests.keras_suite ops/numpy_test.py layers/rnn      some files or folders of keras/src
    python -m tests.keras_suite --check                the selection that every change must pass, without TensorFlow

It needs TensorFlow, which many of the tests import, JAX and Keras in one environment: `make keras-suite` makes one.
Results are kept in build/keras-suite, test by test.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict
from pathlib import Path

from tests.keras_suite.conftest import with_our_sparse_tensors

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
RESULTS = ROOT / "build" / "keras-suite"
PAGE = ROOT / "docs" / "keras.md"
BACKENDS = ("tapeflow", "jax")
LIMIT_SECONDS = 300
SELECTION = [
    "distribution",
    *("layers/attention", "layers/core/dense_test.py", "layers/core/embedding_test.py"),
    *("layers/convolutional/conv_test.py", "layers/normalization", "layers/pooling", "layers/rnn"),
    *("losses/losses_test.py", "models/functional_test.py", "models/model_test.py"),
    *("models/sequential_test.py", "ops/core_test.py", "ops/math_test.py", "ops/nn_test.py"),
    *("optimizers", "random", "saving/saving_lib_test.py"),
]
"""What stays within a few minutes, and needs no TensorFlow."""

ACCEPTED = {
    "layers.core.dense_test.DenseTest.test_quantize_float8": "knows backends by name",
    "models.model_test.ModelTest.test_export_error": "we export what it wants to be refused",
    "ops.nn_test.NNOpsDtypeTest.test_hard_shrink": "needs PyTorch",
    "ops.nn_test.NNOpsDtypeTest.test_soft_shrink": "needs PyTorch",
    "ops.nn_test.NNOpsDtypeTest.test_tanh_shrink": "needs PyTorch",
    "ops.nn_test.NNOpsDtypeTest.test_threshold": "needs PyTorch",
    "random.random_test.RandomBehaviorTest.test_beta_tf_data_compatibility": "needs TensorFlow",
    "saving.saving_lib_test.SavingBattleTest.test_legacy_load": "its file is not in the wheel",
    "saving.saving_lib_test.SavingBattleTest.test_remove_weights_only": "needs TensorFlow",
    "saving.saving_lib_test.SavingDiskIOStoreTest.test_disk_io_store_remote": "needs TensorFlow",
    "saving.saving_lib_test.SavingTest.test_save_model_exception_raised": "a save that fails leaves "
    "the file that was there, or none, where Keras leaves an archive without weights",
}
"""How the names of tests begin that cannot pass where the selection is run, and why."""

_NO_BACKEND = 'else:\n    raise ImportError(f"Invalid backend'
_TF_GENERATOR = 'elif generator_type == "tf":\n        '
_ONLY_RAGGED = [
    f'backend() != "{name}",\n        reason="Only tensorflow supports raggeds"'
    for name in ("tensorflow", "tapeflow")
]
_TRAINS_RAGGED = "def test_trainer_with_raggeds(self, model_class):\n        "
_IF_TF, _IF_OURS = [
    f'if backend.backend() == "{name}":\n            ' for name in ("tensorflow", "tapeflow")
]
_RAGGED_INDICES = "import tensorflow as tf\n\n            indices = tf.ragged"
_GIVES_RAGGED = "def test_ragged_tensors(self):\n        "
_RAGGED_CLASS = "\n            expected_class = tf.RaggedTensor"
EDITS = {
    "trainers/trainer_test.py": {
        _NO_BACKEND: 'elif backend.backend() == "tapeflow":\n'
        f"    from tapeflow._src.keras.backend.trainer import TapeflowTrainer as Trainer\n{_NO_BACKEND}",
        '"jax": "cpu:0",': '"tapeflow": "cpu:0", "jax": "cpu:0",',
        f"{_TF_GENERATOR}import tensorflow as tf": f"{_TF_GENERATOR}import tapeflow as tf",
        _ONLY_RAGGED[0]: _ONLY_RAGGED[1],
        f"{_TRAINS_RAGGED}from keras.src.utils.module_utils import tensorflow as tf": (
            f"{_TRAINS_RAGGED}import tapeflow as tf"
        ),
    },
    "ops/numpy_test.py": {
        # What TensorFlow cannot multiply is skipped there.
        'and dtype in ("float16", "int32")': "and dtype in ()",
        f"{_IF_TF}{_RAGGED_INDICES}": f"{_IF_OURS}{_RAGGED_INDICES}",
    },
    "trainers/data_adapters/generator_data_adapter_test.py": {
        f"{_GIVES_RAGGED}x = tf": f"{_GIVES_RAGGED}import tapeflow as tf\n\n        x = tf",
        f"{_IF_TF}it = adapter.get_tf_dataset(){_RAGGED_CLASS}": (
            f"{_IF_OURS}it = adapter.get_numpy_iterator(){_RAGGED_CLASS}"
        ),
    },
    "distribution/distribution_lib_test.py": {
        'backend.backend() != "jax"': 'backend.backend() not in ("jax", "tapeflow")',
        "import tensorflow as tf": "import tapeflow as tf",
    },
}
"""What is changed in tests that know backends by their names. Where they take datasets of TensorFlow's, ours do."""

_SPARSE = (
    *("layers/core/dense_test.py", "layers/core/embedding_test.py"),
    "layers/merging/merging_test.py",
    *("layers/reshaping/flatten_test.py", "layers/reshaping/permute_test.py"),
    *("ops/core_test.py", "ops/nn_test.py", "ops/numpy_test.py"),
    "optimizers/optimizer_sparse_test.py",
)
"""Files with tests of sparse and ragged tensors, which they make of TensorFlow's class or of JAX's: here of ours."""

BEGIN, END = "<!-- suite -->", "<!-- end -->"


def main() -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(description="Runs Keras's own tests.")
    parser.add_argument("what", nargs="*", help="files or folders of keras/src; by default all")
    parser.add_argument("--backends", nargs="+", default=BACKENDS, choices=BACKENDS)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--table", action="store_true", help="run nothing, write the table")
    parser.add_argument("--check", action="store_true", help="run the selection of every change")
    options = parser.parse_args()
    if options.check:
        return check(options.processes)
    if not options.table:
        for backend in options.backends:
            outcomes = run(backend, options.what, options.processes)
            merge(backend, outcomes, everything=not options.what)
    found = {backend: load(backend) for backend in BACKENDS}
    print(table(found))
    print(verdict(found))
    if not options.what:
        write(found)
    return 0


def check(processes: int) -> int:
    """Runs the selection on tapeflow, and says whether it passes."""
    outcomes = run("tapeflow", SELECTION, processes)
    accepted = tuple(ACCEPTED)
    failed = sorted(n for n, o in outcomes.items() if o == "failed" and not n.startswith(accepted))
    print(f"{Counter(outcomes.values())['passed']:,} of Keras's tests pass, {len(failed)} fail.")
    print(*failed, sep="\n")
    return int(bool(failed) or not outcomes)


def run(backend: str, what: list[str], processes: int) -> dict[str, str]:
    """What became of each test: passed, failed or skipped."""
    spec = importlib.util.find_spec("keras")
    assert spec is not None and spec.origin is not None, "Keras is not installed"
    sources = Path(spec.origin).parent / "src"
    RESULTS.mkdir(parents=True, exist_ok=True)
    report = RESULTS / f"{backend}.xml"
    report.unlink(missing_ok=True)
    paths = [str(ROOT / "src"), str(HERE), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {
        "KERAS_BACKEND": backend,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "JAX_PLATFORMS": "cpu",
    }
    files = [str(sources / name) for name in what or ["."]]
    for name in edited_names() if backend == "tapeflow" else ():
        if any((sources / name).is_relative_to(f) for f in list(files)):
            files = [f for f in files if f != str(sources / name)]
            files += ["--ignore", str(sources / name), str(edited(sources, name))]
    subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-c", str(HERE / "pytest.ini")),
            *(
                "--rootdir",
                str(sources.parents[1]),
                "-q",
                "--no-header",
                "--tb=no",
                "-n",
                str(processes),
            ),
            *("--dist", "loadfile", "--timeout", str(LIMIT_SECONDS), f"--junitxml={report}"),
            *files,
        ],
        env=environment,
        cwd=RESULTS,
        check=False,
    )
    return outcomes_of(report)


def edited_names() -> list[str]:
    """The files of tests that are changed."""
    return sorted({*EDITS, *_SPARSE})


def edited(sources: Path, name: str) -> Path:
    """A file of tests with our backend among those it knows."""
    text = (sources / name).read_text(encoding="utf-8")
    for before, after in EDITS.get(name, {}).items():
        assert before in text, f"{name} is not what it was"
        text = text.replace(before, after)
    text = with_our_sparse_tensors(text) if name in _SPARSE else text
    path = RESULTS / "edited" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def edited_file_of(kind: str) -> str:
    """The file, as the name of a module, that has a class of tests, of those that were edited."""
    texts = {name: (RESULTS / "edited" / name) for name in edited_names()}
    return next(
        name.removesuffix(".py").replace("/", ".")
        for name, path in texts.items()
        if path.exists() and f"class {kind}(" in path.read_text(encoding="utf-8")
    )


def outcomes_of(report: Path) -> dict[str, str]:
    """The outcomes in a report of pytest, by the names of the tests."""
    outcomes = {}
    for case in ElementTree.parse(report).iter("testcase"):
        place = case.get("classname", "").removeprefix("keras.src.")
        if place.startswith("."):  # what lies elsewhere
            place = f"{edited_file_of(place[1:])}{place}"
        name = f"{place}.{case.get('name')}".removeprefix(".").removeprefix("keras.src.")
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            outcomes[name] = "failed"
        else:
            outcomes[name] = "skipped" if "skipped" in kinds else "passed"
    return outcomes


def merge(backend: str, outcomes: dict[str, str], everything: bool) -> None:
    """Keeps the outcomes, beside those of tests that were not run this time."""
    kept = {} if everything else load(backend)
    path = RESULTS / f"{backend}.json"
    path.write_text(json.dumps(kept | outcomes, indent=0, sort_keys=True), encoding="utf-8")


def load(backend: str) -> dict[str, str]:
    """The outcomes of the last run."""
    path = RESULTS / f"{backend}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def table(found: dict[str, dict[str, str]]) -> str:
    """Passed, failed and skipped for each folder."""
    counts: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for backend, outcomes in found.items():
        for name, outcome in outcomes.items():
            for folder in (name.partition(".")[0], "all"):
                counts[folder][backend][outcome] += 1
    lines = [
        "| folder | passed | failed | skipped | passed on JAX | failed on JAX | skipped on JAX |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for folder in sorted(counts, key=lambda name: (name == "all", name)):
        cells = [
            f"{counts[folder][backend][kind]:,}" if counts[folder][backend] else "–"
            for backend in BACKENDS
            for kind in ("passed", "failed", "skipped")
        ]
        lines.append(f"| {folder} | {' | '.join(cells)} |")
    return "\n".join(lines)


def verdict(found: dict[str, dict[str, str]]) -> str:
    """What becomes here of the tests that pass on JAX."""
    ours, theirs = found["tapeflow"], found["jax"]
    passing = [name for name, outcome in theirs.items() if outcome == "passed"]
    became = Counter(ours.get(n, "not run") for n in passing)
    return (
        f"{len(passing):,} tests pass on JAX. Of these, {became['passed']:,} pass on tapeflow "
        f"({became['passed'] / max(len(passing), 1):.1%}), {became['failed']:,} fail, Keras itself skips "
        f"{became['skipped']:,} on a backend that it does not know by name, and {became['not run']:,} were not run."
    )


def write(found: dict[str, dict[str, str]]) -> None:
    """Puts the table into the page on Keras."""
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(BEGIN)[1].split(END, 1)[1]
    PAGE.write_text(
        f"{before}{BEGIN}\n{verdict(found)}\n\n{table(found)}\n{END}{after}", encoding="utf-8"
    )


raise SystemExit(main())
