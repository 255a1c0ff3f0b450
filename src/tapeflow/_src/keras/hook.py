"""How Keras finds tapeflow: `tf.keras` is the real Keras, with `tapeflow._src.keras.backend` as its backend.

Keras has a fixed list of backends, and a handful of its modules choose from it by name. While they are imported, this
hook adds one branch to each choice. It adds another name, too: `tapeflow.keras`, and all that is below, is what
Keras offers as `tf.keras`.

    import tapeflow as tf; tf.keras.layers.Dense(2)      # nothing has to be set
    KERAS_BACKEND=tapeflow python train.py               # Keras alone: tapeflow_keras.pth installs the hook
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import TYPE_CHECKING, Any

# Whoever imports tapeflow imports this file. What only Keras needs is imported when Keras is.
if TYPE_CHECKING:
    import ast
    from importlib.abc import Loader, MetaPathFinder
else:
    Loader = MetaPathFinder = object

NAME = "tapeflow"
SUPPORTED = (3, 15)
"""The minor version of Keras whose backend contract is implemented."""

_INSTALL = "pip install 'tapeflow[keras]'"
_BRANCHES = {
    "keras.src.backend": (
        "from tapeflow._src.keras.backend import *",
        "from tapeflow._src.keras.backend.core import Variable as BackendVariable",
    ),
    "keras.src.layers.layer": (
        "from tapeflow._src.keras.backend.layer import TapeflowLayer as BackendLayer",
    ),
    "keras.src.models.model": (
        "from tapeflow._src.keras.backend.trainer import TapeflowTrainer as Trainer",
    ),
    "keras.src.export.saved_model": (
        "from tapeflow._src.keras.backend.export import"
        " TapeflowExportArchive as BackendSavedModelExportArchive",
    ),
    "keras.src.optimizers.optimizer": (
        "from tapeflow._src.keras.backend.optimizer import TapeflowOptimizer as BackendOptimizer",
    ),
}
"""What each module that chooses a backend by its name imports if the name is ours."""

_SLOW_IMPORTS = (
    "keras.src.callbacks.orbax_checkpoint",
    *(f"keras.src.visualization.plot_{name}_gallery" for name in ("bounding_box", "image")),
)
"""Modules that import jax or matplotlib, if they are there, and hardly anybody uses: half of Keras's import time."""

_BOARD = "keras.src.callbacks.tensorboard"

_TORCH = "keras.src.backend.torch"
_WITH_TENSORFLOW = (
    *(
        f"keras.src.layers.preprocessing.{name}"
        for name in (
            *("discretization", "feature_space", "hashed_crossing", "hashing", "index_lookup"),
            *("integer_lookup", "normalization", "string_lookup", "text_vectorization"),
        )
    ),
    *(f"keras.src.{n}" for n in ("export.tfsm_layer", "legacy.layers", "saving.serialization_lib")),
    *(f"keras.src.utils.{kind}_dataset_utils" for kind in ("audio", "image", "text", "timeseries")),
    *("keras.src.utils.rng_utils", "keras.src.utils.tf_utils"),
)
"""Modules for which TensorFlow's shapes, dtypes, datasets and ops are tapeflow's."""

_CHANGED = (
    "keras.src.backend.common.dtypes",
    "keras.src.callbacks.backup_and_restore",
    "keras.src.distribution.distribution_lib",
    "keras.src.export.onnx",
    "keras.src.layers.preprocessing.data_layer",
    "keras.src.losses.loss",
    "keras.src.legacy.backend",
    "keras.src.legacy.saving.legacy_h5_format",
    "keras.src.saving.saving_lib",
    *(
        f"keras.{within}{name}"
        for within in ("", "_tf_keras.keras.")
        for name in ("backend", "config")
    ),
)
_TRACEBACKS = "keras.src.utils.traceback_utils"

_CONFIG = "keras.src.backend.config"
_DYNAMIC = "keras.src.utils.backend_utils"
_VARIABLE = "KERAS_BACKEND"
_ALIAS = "tapeflow.keras"
_TARGET = "keras._tf_keras.keras"  # Keras, and a few names that only tf.keras has
_forced = False  # whether Keras is being imported as tf.keras


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == _ALIAS or fullname.startswith(f"{_ALIAS}."):
            return ModuleSpec(fullname, _AliasLoader())
        if fullname.startswith(_TORCH) and _is_active():
            return _stand_in_for_torch(fullname)
        kind = _loaders.get(fullname)
        if kind is None:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = kind(fullname, spec.loader.path)
        return spec


class _ConfigLoader(SourceFileLoader):
    """Lets Keras read its settings, once it is decided whether the backend is ours."""

    def exec_module(self, module: ModuleType) -> None:
        if not _is_chosen():
            super().exec_module(module)
            return
        _check_version()
        # Not after it was read: the module imports others at its end. And not for longer, so that programs that are
        # started from this one decide for themselves.
        before = os.environ.get(_VARIABLE)
        os.environ[_VARIABLE] = NAME
        try:
            super().exec_module(module)
        finally:
            if before is None:
                del os.environ[_VARIABLE]
            else:
                os.environ[_VARIABLE] = before


class _EditingLoader(SourceFileLoader):
    """Changes a module's code while it is imported, unless Keras uses another backend."""

    def get_code(self, fullname: str) -> Any:
        # Not that of the base class: it would read, and write, what Python keeps in __pycache__.
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)

    def source_to_code(self, data: Any, path: Any, **options: Any) -> Any:
        import ast

        tree = ast.parse(data)
        undecided = _CONFIG not in sys.modules
        if (undecided or _is_active()) and not self.edit(tree):
            _note_unlike(self.name)
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)

    def edit(self, tree: ast.Module) -> bool:
        """Changes the tree, and says whether there was anything to change."""
        raise NotImplementedError


def _note_unlike(module: str) -> None:
    from tapeflow._src.insides.fallback import lacking

    lacking(f"{module} is not as in the versions of Keras that were tried", "it is used as it is")


class _BranchLoader(_EditingLoader):
    """Adds our branch to `if backend() == "tensorflow": ... elif ...` at the top of a module."""

    def edit(self, tree: ast.Module) -> bool:
        import ast

        for position, statement in enumerate(tree.body):
            if isinstance(statement, ast.If) and len(statement.orelse) == 1 and _asks(statement):
                ours = ast.parse("\n".join(_BRANCHES[self.name])).body
                test = ast.parse(f"{ast.unparse(statement.test.left)} == {NAME!r}").body[0]  # pyright: ignore
                branch = ast.If(test.value, ours, [statement])  # pyright: ignore
                tree.body[position] = ast.copy_location(branch, statement)
                return True
        return False


def _asks(statement: ast.If) -> bool:
    """Whether this is the choice between backends, and not a test for a single one."""
    import ast

    return (
        isinstance(statement.test, ast.Compare)
        and ast.unparse(statement.test.left).endswith("backend()")
        and ast.unparse(statement.test.comparators[0]) == "'tensorflow'"
    )


class _LazyLoader(_EditingLoader):
    """Puts off `try: import library`: the library is imported when it is used."""

    def edit(self, tree: ast.Module) -> bool:
        import ast

        found = False
        for position, statement in enumerate(tree.body):
            if isinstance(statement, ast.Try):
                found = True
                lazy = [line for part in statement.body for line in _put_off(part)]
                imported = ast.parse("\n".join([_LAZY_MODULE, *lazy])).body
                tree.body[position : position + 1] = [
                    ast.copy_location(i, statement) for i in imported
                ]
        return found


_LAZY_HOME = "keras.src.utils.module_utils"
_LAZY_MODULE = f"from {_LAZY_HOME} import LazyModule"


def _put_off(statement: ast.stmt) -> list[str]:
    import ast

    if not isinstance(statement, (ast.Import, ast.ImportFrom)):
        return []
    place = f"{statement.module}." if isinstance(statement, ast.ImportFrom) else ""
    return [f"{n.asname or n.name} = LazyModule({place + n.name!r})" for n in statement.names]


class _DynamicLoader(SourceFileLoader):
    """Lets preprocessing layers find ours: they look up their backend at each call, as it is another inside tf.data."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        utils: Any = module
        others, in_graph = utils.DynamicBackend.__getattr__, utils.in_tf_graph

        def find(self: Any, name: str) -> Any:
            # Inside tf.data the backend is TensorFlow's: that is ours, unless there is a real one.
            if self._backend == NAME or (self._backend == "tensorflow" and _is_ours("tensorflow")):
                return getattr(importlib.import_module("tapeflow._src.keras.backend"), name)
            return others(self, name)

        def in_tf_graph() -> bool:
            # Under `tapeflow run` the module tensorflow is tapeflow, whose functions are no graphs of TensorFlow.
            return sys.modules.get("tensorflow") is not sys.modules.get(NAME) and in_graph()

        importlib.import_module("tapeflow._src.keras.meanings").leave_ragged(utils)
        utils.DynamicBackend.__getattr__ = find
        utils.in_tf_graph = in_tf_graph


class _TensorFlowLoader(_EditingLoader):
    """Makes Keras's lazy `tensorflow` mean tapeflow in a module."""

    def edit(self, tree: ast.Module) -> bool:
        from tapeflow._src.keras.meanings import mean_tapeflow

        return mean_tapeflow(tree, self.name, beside=_is_beside())


class _ChangedLoader(SourceFileLoader):
    """Changes a module when it is there, unless Keras uses another backend: see `keras.changes`."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        if _is_active():
            importlib.import_module("tapeflow._src.keras.changes").change(module)


class _SplitsLoader(_ChangedLoader, _TensorFlowLoader):
    """Does both for the module that divides datasets."""


class _BoardLoader(_EditingLoader):
    """Lets the callback for TensorBoard write with `tf.summary` of tapeflow."""

    def edit(self, tree: ast.Module) -> bool:
        from tapeflow._src.keras.meanings import write_with_tapeflow

        return write_with_tapeflow(tree)


def _renamed(value: ast.expr) -> ast.expr:
    import ast

    is_it = isinstance(value, ast.Constant) and value.value == "tensorflow"
    return ast.copy_location(ast.Constant(NAME), value) if is_it else value


class _TracebackLoader(_EditingLoader):
    """Lets an error of an op keep its type, and tensors be called so, when Keras adds the arguments of a layer."""

    def edit(self, tree: ast.Module) -> bool:
        import ast

        found = False
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare):
                node.comparators = [_renamed(c) for c in node.comparators]
            elif isinstance(node, ast.ImportFrom) and node.module == "tensorflow":
                node.module, found = NAME, True
        return found


_loaders: dict[str, type[SourceFileLoader]] = {
    _CONFIG: _ConfigLoader,
    _DYNAMIC: _DynamicLoader,
    **dict.fromkeys(_BRANCHES, _BranchLoader),
    **dict.fromkeys(_SLOW_IMPORTS, _LazyLoader),
    **dict.fromkeys(_WITH_TENSORFLOW, _TensorFlowLoader),
    _BOARD: _BoardLoader,
    **dict.fromkeys(_CHANGED, _ChangedLoader),
    "keras.src.utils.dataset_utils": _SplitsLoader,
    _TRACEBACKS: _TracebackLoader,
}


def _is_active() -> bool:
    config = sys.modules.get(_CONFIG)
    return config is not None and config.backend() == NAME


def _stand_in_for_torch(fullname: str) -> ModuleSpec | None:
    """Files written with PyTorch name its optimizers by these modules: here they are Keras's own."""
    from importlib.util import find_spec

    below = fullname.removeprefix(_TORCH)
    if below.startswith(".optimizers."):
        return ModuleSpec(fullname, _OptimizersLoader())
    if below == ".optimizers" or (below == "" and find_spec("torch") is None):
        return ModuleSpec(fullname, _EmptyLoader(), is_package=True)
    return None


class _EmptyLoader(Loader):
    """A package with nothing in it."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        pass


class _OptimizersLoader(_EmptyLoader):
    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = importlib.import_module("keras.optimizers")


class _AliasLoader(_EmptyLoader):
    """One module under two names, not a copy."""

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        sys.modules[name] = _keras() if name == _ALIAS else _submodule(name)


def _submodule(name: str) -> ModuleType:
    try:
        return importlib.import_module(name.replace(_ALIAS, _TARGET, 1))
    except ModuleNotFoundError as error:
        missing = name.replace("tapeflow", "tf", 1)
        raise ModuleNotFoundError(f"Keras has no {missing}: {error}", name=name) from None


def _keras() -> ModuleType:
    """Keras with our backend, or an error that says what to do."""
    global _forced
    loaded: Any = sys.modules.get(_CONFIG)
    if loaded is None:
        named = os.environ.get(_VARIABLE, "")
        if named and not _is_ours(named):
            raise ImportError(
                f"tf.keras is Keras with tapeflow as its backend, and the environment variable KERAS_BACKEND asks "
                f"for {named!r}. Unset it, or set KERAS_BACKEND=tapeflow."
            )
        _forced = True
        try:
            return importlib.import_module(_TARGET)
        except ModuleNotFoundError as error:
            if error.name == "keras":
                raise ImportError(f"tf.keras needs Keras: {_INSTALL}", name="keras") from None
            raise
        finally:
            _forced = False
    if loaded.backend() != NAME:
        raise ImportError(
            f"Keras is loaded already, with {loaded.backend()!r} as its backend, and a process has one backend. Start "
            "a new one and import tapeflow before keras, or set the environment variable KERAS_BACKEND=tapeflow."
        )
    return importlib.import_module(_TARGET)


def _is_ours(backend: str) -> bool:
    """Whether a name means tapeflow. TensorFlow's does under `tapeflow run`, and where there is no TensorFlow."""
    if backend != "tensorflow":
        return backend == NAME
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is None:
        return NAME in sys.modules and PathFinder.find_spec("tensorflow") is None
    return tensorflow is sys.modules.get(NAME)


def _is_chosen() -> bool:
    """Whether Keras is to use tapeflow."""
    named = os.environ.get(_VARIABLE, "")
    if named:
        return _is_ours(named)
    # TensorFlow is what Keras's settings say if nobody ever changed them. Whoever imported tapeflow, and not
    # TensorFlow, does not mean that.
    return _forced or _configured() == NAME or (_configured() == "tensorflow" and not _is_beside())


def _is_beside() -> bool:
    """Whether the program uses TensorFlow, too. Who has it installed, and did not import it, does not mean it."""
    tensorflow = sys.modules.get("tensorflow")
    return tensorflow is not None and tensorflow is not sys.modules.get(NAME)


def _configured() -> str:
    """The backend that Keras's settings on the disk name."""
    import json

    folder = os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")
    try:
        with open(os.path.join(folder, "keras.json")) as file:
            return json.load(file).get("backend", "tensorflow")
    except (OSError, ValueError, AttributeError):
        return "tensorflow"


def _check_version() -> None:
    from importlib.metadata import version as version_of  # takes long to import

    version = version_of("keras")
    if tuple(int(part) for part in version.split(".")[:2]) != SUPPORTED:
        wanted = ".".join(map(str, SUPPORTED))
        raise ImportError(
            f"tapeflow is a backend for Keras {wanted}, and Keras {version} is installed. {_INSTALL}"
        )


def install() -> None:
    """From now on Keras can be imported with tapeflow as its backend."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


install()
