"""Writes the public files of the package from the `@export` lines in `src/tapeflow/_src`.

    python scripts/exports.py            writes them
    python scripts/exports.py --check    says whether they are up to date

Nothing is imported: the lines are read as text, so that the files can be written however broken they are.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
import tempfile
import textwrap
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src/tapeflow"


class Namespace(NamedTuple):
    """What a public file holds besides exported names."""

    says: str  # its docstring
    inside: tuple[str, ...] = ()  # namespaces that are there from the beginning
    later: tuple[str, ...] = ()  # namespaces that are imported when they are first asked for
    elsewhere: tuple[tuple[str, str], ...] = ()  # names that stand for modules of Keras
    setup: tuple[str, ...] = ()  # modules that are imported for what they do
    like: str = ""  # a module of ours that has the names that are not here


MADE_BY = "# Written by scripts/exports.py, from the lines in _src that export these names."

# Modules whose names are there from the beginning: what every program uses, and what that needs anyway. All other names
# are imported when they are first asked for, so that a program pays for what it uses.
EARLY = (
    "autodiff.tape",
    "core.context",
    "core.convert",
    "core.dtypes",
    "core.errors",
    "core.indexed_slices",
    "core.placement.devices",
    "core.shapes",
    "core.spec",
    "core.tensor",
    "core.variables.variable",
    "core.versions",
    "function.decorator",
    "ops.array.shaping",
    "ops.indexing.gathering",
    "ops.indexing.scattering",
    "ops.indexing.slicing",
)

KERAS = ("initializers", "losses", "metrics", "optimizers")

NAMESPACES = {
    "": Namespace(
        """tapeflow: TensorFlow's GradientTape system as a readable, fast Python library.

>>> import tapeflow as tf
>>> x = tf.Variable(3.0)
>>> with tf.GradientTape() as tape:
...     y = x**2
>>> tape.gradient(y, x)
<tf.Tensor: shape=(), dtype=float32, numpy=6.0>
""",
        later=(
            "audio",
            "autodiff",
            "autograph",
            "bitwise",
            "compat",
            "config",
            "data",
            "debugging",
            "distribute",
            "dtypes",
            "errors",
            "experimental",
            "export",
            "feature_column",
            "graph_util",
            "image",
            "io",
            "linalg",
            "lookup",
            "math",
            "mlir",
            "nest",
            "nn",
            "profiler",
            "quantization",
            "queue",
            "ragged",
            "random",
            "raw_ops",
            "saved_model",
            "sets",
            "signal",
            "sparse",
            "strings",
            "summary",
            "sysconfig",
            "test",
            "train",
            "types",
            "version",
            "xla",
        ),
        elsewhere=(("keras", "tapeflow.keras"), *((n, f"tapeflow.keras.{n}") for n in KERAS)),
        setup=("ops.methods", "keras.hook"),
    ),
    "audio": Namespace("`tf.audio`: sound in WAV files."),
    "autodiff": Namespace(
        "`tf.autodiff`: forward mode, products with Hessians, and checks of gradients."
    ),
    "autograph": Namespace(
        "`tf.autograph`: Python's control flow inside `tf.function`.", inside=("experimental",)
    ),
    "autograph.experimental": Namespace("`tf.autograph.experimental`: what to convert, and how."),
    "bitwise": Namespace("`tf.bitwise`: logic and shifts on the bits of integers."),
    "compat": Namespace(
        "`tf.compat`: names for programs that run on several versions of TensorFlow.",
        later=("v1", "v2"),
    ),
    "compat.v1": Namespace(
        "`tf.compat.v1`: what libraries of TensorFlow 2's time use of TensorFlow 1; other names are those of `tf`.",
        inside=("debugging", "logging"),
        later=("io", "random"),
        like="tapeflow",
    ),
    "compat.v1.debugging": Namespace(
        "`tf.compat.v1.debugging`: assertions with TensorFlow 1's arguments.",
        like="tapeflow.debugging",
    ),
    "compat.v1.io": Namespace(
        "`tf.compat.v1.io`: how TensorFlow 1 reads records; other names are those of `tf.io`.",
        like="tapeflow.io",
    ),
    "compat.v1.logging": Namespace("`tf.compat.v1.logging`: what goes to `tf.get_logger()`."),
    "compat.v1.random": Namespace(
        "`tf.compat.v1.random`: TensorFlow 1's name for setting the seed; other names are those of `tf.random`.",
        like="tapeflow.random",
    ),
    "compat.v2": Namespace("`tf.compat.v2`: the names of `tf`.", like="tapeflow"),
    "config": Namespace(
        "`tf.config`: settings for the whole program.",
        inside=("experimental", "optimizer", "threading"),
    ),
    "config.experimental": Namespace(
        "`tf.config.experimental`: memory and details of devices, and older names of what is in `tf.config`."
    ),
    "config.optimizer": Namespace(
        "`tf.config.optimizer`: how `tf.function` makes programs of graphs."
    ),
    "config.threading": Namespace("`tf.config.threading`: how many threads compute."),
    "data": Namespace(
        """`tf.data`: input pipelines.

>>> data = tf.data.Dataset.from_tensor_slices([1, 2, 3, 4]).shuffle(4).batch(2).prefetch(tf.data.AUTOTUNE)
>>> sum(int(tf.reduce_sum(batch)) for batch in data)
10
""",
        inside=("experimental",),
    ),
    "data.experimental": Namespace(
        "`tf.data.experimental`: older names of what `tf.data.Dataset` offers as methods.",
        later=("service",),
    ),
    "data.experimental.service": Namespace(
        "`tf.data.experimental.service`: datasets that servers compute, for several programs that train."
    ),
    "debugging": Namespace(
        "`tf.debugging`: assertions, and the search for NaN.", later=("experimental",)
    ),
    "debugging.experimental": Namespace(
        "`tf.debugging.experimental`: files that tell what every op gave."
    ),
    "distribute": Namespace(
        """`tf.distribute`: one program on several replicas.

>>> strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
>>> strategy.num_replicas_in_sync
2
""",
        inside=("cluster_resolver", "experimental"),
        later=("coordinator",),
    ),
    "distribute.coordinator": Namespace(
        "`tf.distribute.coordinator`: what drives workers, which is not here; asked for, it says what to use."
    ),
    "distribute.experimental.coordinator": Namespace(
        "`tf.distribute.experimental.coordinator`: older names of `tf.distribute.coordinator`."
    ),
    "distribute.experimental.rpc": Namespace(
        "`tf.distribute.experimental.rpc`: functions that other processes call."
    ),
    "distribute.experimental.partitioners": Namespace(
        "`tf.distribute.experimental.partitioners`: into how many pieces a variable is cut."
    ),
    "distribute.cluster_resolver": Namespace(
        "`tf.distribute.cluster_resolver`: who belongs to a job of several processes."
    ),
    "distribute.experimental": Namespace(
        "`tf.distribute.experimental`: how replicas talk, and what a program does when its machine is taken away.",
        later=("coordinator", "partitioners", "rpc"),
    ),
    "dtypes": Namespace(
        "`tf.dtypes`: the types of elements, and converting between them.", inside=("experimental",)
    ),
    "dtypes.experimental": Namespace("`tf.dtypes.experimental`: numbers of a few bits."),
    "errors": Namespace("`tf.errors`: the exceptions ops raise."),
    "experimental": Namespace(
        "`tf.experimental`: classes of users as tensors, and the exchange of values with other libraries.",
        inside=("dlpack", "extension_type"),
        later=("numpy",),
    ),
    "experimental.numpy": Namespace(
        "`tf.experimental.numpy`: NumPy's names and its rules for dtypes, on tensors.",
        inside=("random",),
    ),
    "experimental.numpy.random": Namespace(
        "`tf.experimental.numpy.random`: random numbers, by NumPy's names."
    ),
    "experimental.extension_type": Namespace(
        "`tf.experimental.extension_type`: what there is to know of extension types."
    ),
    "experimental.dlpack": Namespace(
        "`tf.experimental.dlpack`: values as capsules of DLPack, for other libraries and from them."
    ),
    "feature_column": Namespace(
        "`tf.feature_column`: features described, to be read from examples."
    ),
    "graph_util": Namespace("`tf.graph_util`: graphs that TensorFlow wrote."),
    "image": Namespace(
        "`tf.image`: resizing, cropping and recolouring images, and measuring them."
    ),
    "export": Namespace("`tf.export`: functions in the formats of other programs."),
    "io": Namespace("`tf.io`: files, records, serialized tensors and images.", inside=("gfile",)),
    "io.gfile": Namespace("`tf.io.gfile`: files and folders of this machine."),
    "linalg": Namespace(
        "`tf.linalg`: products, decompositions, linear systems, diagonals and norms of matrices.",
        later=("experimental",),
    ),
    "linalg.experimental": Namespace("`tf.linalg.experimental`: systems solved by products alone."),
    "lookup": Namespace("`tf.lookup`: tables from keys to values.", inside=("experimental",)),
    "lookup.experimental": Namespace("`tf.lookup.experimental`: tables that change."),
    "math": Namespace(
        "`tf.math`: elementwise math, comparison and reductions.", inside=("special",)
    ),
    "math.special": Namespace("`tf.math.special`: Bessel functions and integrals."),
    "mlir": Namespace("`tf.mlir`: programs as texts of MLIR.", later=("experimental",)),
    "mlir.experimental": Namespace(
        "`tf.mlir.experimental`: functions as texts of MLIR, and passes over such texts."
    ),
    "nest": Namespace("`tf.nest`: nested structures of lists, tuples and dictionaries."),
    "nn": Namespace("`tf.nn`: activations, losses and simple layers.", inside=("experimental",)),
    "nn.experimental": Namespace("`tf.nn.experimental`: dropout that a seed decides."),
    "profiler": Namespace(
        "`tf.profiler`: where the time of a program goes.", inside=("experimental",)
    ),
    "profiler.experimental": Namespace("`tf.profiler.experimental`: profiles of what runs."),
    "quantization": Namespace(
        "`tf.quantization`: numbers rounded to a few levels, and training that knows of it."
    ),
    "ragged": Namespace("`tf.ragged`: tensors whose rows have different lengths."),
    "queue": Namespace("`tf.queue`: queues of tensors between threads."),
    "random": Namespace("`tf.random`: random numbers.", inside=("experimental",)),
    "random.experimental": Namespace(
        "`tf.random.experimental`: other names for what is in `tf.random`, and shuffles that a seed decides."
    ),
    "raw_ops": Namespace(
        "`tf.raw_ops`: ops by the names and arguments that TensorFlow's graphs have for them."
    ),
    "saved_model": Namespace(
        "`tf.saved_model`: models that are loaded and served without the Python code that made them.",
        inside=("experimental",),
    ),
    "saved_model.experimental": Namespace(
        "`tf.saved_model.experimental`: what is saved of where variables were."
    ),
    "sets": Namespace("`tf.sets`: the last dimension of tensors as sets."),
    "signal": Namespace(
        "`tf.signal`: Fourier and cosine transforms, frames and windows of signals."
    ),
    "sparse": Namespace("`tf.sparse`: tensors of which only some elements are kept."),
    "strings": Namespace("`tf.strings`: what is computed with tensors of strings."),
    "summary": Namespace(
        "`tf.summary`: what a training run is like, written to event files that TensorBoard shows.",
        inside=("experimental",),
    ),
    "summary.experimental": Namespace(
        "`tf.summary.experimental`: the default step, and messages as they are."
    ),
    "sysconfig": Namespace("`tf.sysconfig`: what this installation can do."),
    "test": Namespace(
        "`tf.test`: a test case that compares tensors, and what the tests may count on.",
        inside=("experimental",),
    ),
    "test.experimental": Namespace("`tf.test.experimental`: waiting for devices."),
    "train": Namespace(
        "`tf.train`: checkpoints, and moving averages of variables.", inside=("experimental",)
    ),
    "train.experimental": Namespace(
        "`tf.train.experimental`: what checkpoints hold besides variables, and in which files."
    ),
    "types": Namespace("`tf.types`: what things are.", inside=("experimental",)),
    "types.experimental": Namespace(
        "`tf.types.experimental`: what is a function, and what can become a tensor.",
        later=("distributed",),
    ),
    "types.experimental.distributed": Namespace(
        "`tf.types.experimental.distributed`: values of several replicas."
    ),
    "xla": Namespace("`tf.xla`: computations that XLA compiles.", inside=("experimental",)),
    "xla.experimental": Namespace("`tf.xla.experimental`: computations that XLA compiles."),
    "version": Namespace("`tf.version`: which TensorFlow this is like."),
}


class Export(NamedTuple):
    """One public name, and where what it means is defined."""

    public: str
    module: str
    name: str

    @property
    def is_late(self) -> bool:
        """Whether it is imported when it is first asked for."""
        return self.module.removeprefix("tapeflow._src.") not in EARLY


def main() -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(description="Writes the public files of tapeflow.")
    parser.add_argument(
        "--check", action="store_true", help="only compare, and fail if they differ"
    )
    options = parser.parse_args()
    files = written()
    stale = [p for p, text in files.items() if not p.exists() or p.read_text("utf-8") != text]
    stale += [p for p in public_files() if p not in files]
    if options.check:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is not what the exports say. Run: make exports")
        return int(bool(stale))
    for path in stale:
        if path in files:
            path.parent.mkdir(exist_ok=True)
            path.write_text(files[path], "utf-8")
        else:
            path.unlink()
    return 0


def public_files() -> Iterator[Path]:
    """The files that are there outside of `_src`."""
    for path in PACKAGE.rglob("*.py"):
        inside = path.relative_to(PACKAGE).parts
        if inside[0] not in ("_src", "_examples", "__main__.py"):
            yield path


def written() -> dict[Path, str]:
    """The public files as they should be."""
    by_place: dict[str, list[Export]] = defaultdict(list)
    homes: dict[str, str] = {}
    for each in exports():
        if homes.setdefault(each.public, each.module) != each.module:
            raise SystemExit(
                f"tf.{each.public} is exported by two modules: {homes[each.public]}, {each.module}"
            )
        by_place[each.public.rpartition(".")[0]].append(each)
    unknown = by_place.keys() - NAMESPACES.keys()
    if unknown:
        raise SystemExit(f"exported to namespaces that scripts/exports.py does not know: {unknown}")
    return formatted({path_of(place): text_of(place, by_place[place]) for place in NAMESPACES})


def exports() -> Iterator[Export]:
    """All public names, from the lines that declare them."""
    for path in sorted((PACKAGE / "_src").rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                for call in node.decorator_list:
                    for public in texts(call, "export"):
                        yield Export(public, module, node.name)
            elif isinstance(node, ast.Expr):
                name, *publics = texts(node.value, "export_value") or [""]
                for public in publics:
                    yield Export(public, module, name)


def texts(call: ast.expr, function: str) -> list[str]:
    """The arguments of a call of a function that takes texts, or none if it is another one."""
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == function:
        return [ast.literal_eval(argument) for argument in call.args]
    return []


def path_of(place: str) -> Path:
    """The file of a namespace: a folder where it has others inside."""
    folder = PACKAGE.joinpath(*filter(None, place.split(".")))
    if not place or any(other.startswith(f"{place}.") for other in NAMESPACES):
        return folder / "__init__.py"
    return folder.with_suffix(".py")


def text_of(place: str, names: list[Export]) -> str:
    """The text of a public file."""
    says, inside, later, elsewhere, setup, like = NAMESPACES[place]
    here = f"tapeflow.{place}".rstrip(".")
    lines = [f'"""{says}"""', "", MADE_BY]
    late = [each for each in names if each.is_late]
    found: dict[str, str] = {}  # by module, so that the file stays short
    for public, module, name in late:
        short, where = public.rpartition(".")[2], module.removeprefix("tapeflow._src.")
        word = short if short == name else f"{short}:{name}"
        found[where] = f"{found.get(where, '')} {word}".strip()
    # As ruff will write it.
    entries = [f'        "{p}": "{words}",' for p, words in found.items()]
    is_wide = any(len(line) > 120 for line in [*entries, f'    later="{" ".join(later)}",'])
    codes = ["E501"] if is_wide else []
    if setup or any(name != public.rpartition(".")[2] for public, _, name in names):
        # Else ruff takes names that are given to others for unused.
        codes.insert(0, "F401")
    lines += [f"# ruff: noqa: {', '.join(codes)}"] if codes else []
    lines.append("")
    names = [each for each in names if not each.is_late]
    lines += ["import typing as _typing"] if later or late else []
    lines += [f"from {here} import {name} as {name}" for name in inside]
    lines += ["from tapeflow._src.core.missing import Missing as _Missing"]
    for module in setup:
        folder, _, name = f"tapeflow._src.{module}".rpartition(".")
        lines.append(f"from {folder} import {name} as _{name}")
    for public, module, name in names:
        lines.append(f"from {module} import {name} as {public.rpartition('.')[2]}")
    if later or late:
        lines += [
            "",
            "# For editors and type checkers: these are imported when they are first asked for.",
            "# isort: off",
            "# fmt: off",
            "if _typing.TYPE_CHECKING:",
        ]
        by_module: dict[str, list[str]] = defaultdict(list)
        by_module["keras"] = [f"{n} as {n}" for n, _ in elsewhere if n != "keras"]
        by_module[here] = [f"{name} as {name}" for name in later]
        for public, module, name in late:
            by_module[module].append(f"{name} as {public.rpartition('.')[2]}")
        lines += ["    import keras as keras"] if elsewhere else []
        for module, words in by_module.items():
            lines += imports(module, words) if words else []
        lines += ["# fmt: on", "# isort: on"]
    arguments: list[Any] = [repr(f"tf.{place}".rstrip("."))]
    arguments += [f"later={' '.join(later)!r}"] if later else []
    arguments += [f"elsewhere={dict(elsewhere)!r}"] if elsewhere else []
    arguments += [f"names={found!r}"] if late else []
    arguments += [f"like={like!r}"] if like else []
    lines += ["", f"__getattr__ = _Missing({', '.join(arguments)})", ""]
    if late:
        lines += ["def __dir__() -> list[str]:", "    return __getattr__.offered(globals())", ""]
    return "\n".join(lines)


def imports(module: str, words: list[str]) -> list[str]:
    """The indented lines that import names from a module: as few as there can be, because many names would be many."""
    line = f"    from {module} import {', '.join(words)}"
    if len(line) <= 100:
        return [line]
    kept_together = ", ".join(words).replace(" as ", "~as~")
    inside = [
        f"        {line}".replace("~", " ")
        for line in textwrap.wrap(kept_together, 92, break_long_words=False)
    ]
    return [f"    from {module} import (", *inside, "    )"]


def formatted(files: dict[Path, str]) -> dict[Path, str]:
    """The texts as `make format` leaves them."""
    with tempfile.TemporaryDirectory() as folder:
        copies = {path: Path(folder) / f"{i}.py" for i, path in enumerate(files)}
        for path, copy in copies.items():
            copy.write_text(files[path], "utf-8")
        for command in (["check", "--select", "I", "--fix"], ["format"]):
            arguments = ["--quiet", "--no-cache", "--config", "pyproject.toml", folder]
            subprocess.run(
                [sys.executable, "-m", "ruff", *command, *arguments], check=True, cwd=ROOT
            )
        return {path: copy.read_text("utf-8") for path, copy in copies.items()}


if __name__ == "__main__":
    sys.exit(main())
