"""Makes `import tensorflow` give tapeflow, for scripts that are run as they stand.

>>> from tapeflow._src.tools import redirect
>>> redirect.install()
>>> import tensorflow
>>> tensorflow is tf
True
>>> redirect.uninstall()
"""

import functools
import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from tapeflow._src.core.missing import INTERNAL, message, namespace_of
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.core.versions import VERSION, __version__


class _Redirect(MetaPathFinder, Loader):
    """Finds `tensorflow.x` where `tapeflow.x` is: one module under two names, not a copy."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in ("tensorflow", "tf_keras"):
            return None
        # None would let Python go on, and look for a file of that name among ours.
        if _find(fullname) is None:
            name = "tf" + fullname.removeprefix("tensorflow")
            raise ModuleNotFoundError(message(name), name=fullname)
        return ModuleSpec(fullname, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        # Python takes what is in sys.modules after this call, so another may be put in its place.
        found = _find(module.__name__)
        assert found is not None
        sys.modules[module.__name__] = found


def _find(fullname: str) -> ModuleType | None:
    """Our module for `tensorflow` or `tensorflow.x`, if there is one."""
    parent, _, name = fullname.rpartition(".")
    if fullname.startswith("tf_keras"):  # Keras as it was before it was a library of its own
        return _keras_of_before(fullname)
    if not parent:
        return importlib.import_module("tapeflow")
    if parent == "tensorflow" and name == INTERNAL:
        from tapeflow._src.tools.internals import modules

        return modules.internal_namespace()
    if parent == "tensorflow" and name == "tpu":
        from tapeflow._src.tools.internals import tpu

        return tpu.namespace()
    if fullname.startswith("tensorflow.python"):
        from tapeflow._src.tools.internals import modules

        return modules.find(fullname)
    if fullname.startswith("tensorflow.keras"):
        return importlib.import_module(fullname.replace("tensorflow", "tapeflow", 1))
    # Namespaces are attributes. Where their files are, and what else there is, is our business.
    inside = vars(sys.modules[parent])
    if name in getattr(inside.get("__getattr__"), "later", ()):
        return getattr(sys.modules[parent], name)
    found = inside.get(name)
    return found if isinstance(found, ModuleType) and namespace_of(found) else None


def _keras_of_before(fullname: str) -> ModuleType | None:
    """Our module for `tf_keras.x`: Keras 3's, which has the names that libraries use."""
    from tapeflow._src.tools.internals import modules

    _, _, inside = fullname.partition(".")
    if modules.is_of_keras(inside):
        return modules.of_keras(fullname, inside)
    return importlib.import_module(f"tapeflow.keras.{inside}")


_redirect = _Redirect()

_ONLY_HERE = (INTERNAL, "tpu")  # namespaces that are there under TensorFlow's name alone

_HOMES = {kind: kind.__module__ for kind in (Variable, Tensor, *Tensor.__subclasses__())}
_NAMES = dict.fromkeys(_HOMES, "EagerTensor") | {Variable: "ResourceVariable"}

WHAT_IT_IS = f"tapeflow {__version__} in the place of TensorFlow {VERSION}."


@functools.cache
def _documentation() -> str:
    """What `tapeflow` says of itself."""
    return importlib.import_module("tapeflow").__doc__ or ""


def install() -> None:
    """From now on `import tensorflow` gives tapeflow in this process."""
    real = sys.modules.get("tensorflow")
    if real is not None and real is not sys.modules["tapeflow"]:
        raise ImportError(
            f"the real TensorFlow ({getattr(real, '__file__', None) or real!r}) is imported "
            "already, and modules that hold it would go on using it. Start a fresh process."
        )
    if _redirect not in sys.meta_path:
        sys.meta_path.insert(0, _redirect)
    ours = importlib.import_module("tapeflow")
    # Some libraries know tensors by the name of the module that their class is from.
    for kind in _HOMES:
        kind.__module__ = "tensorflow"
    # And some print the name of the class. Pickles go by `__qualname__`.
    for kind, name in _NAMES.items():
        kind.__name__ = name
    # What few programs ask for is made when they do: here, and through this in `tf.compat.v1` and `tf.compat.v2`.
    vars(ours)["__getattr__"].elsewhere.update({n: f"tensorflow.{n}" for n in _ONLY_HERE})
    # Programs that ask want to know which of TensorFlow's names and rules they find.
    vars(ours).update(__version__=VERSION, __doc__=f"{WHAT_IT_IS}\n\n{_documentation()}")


def is_installed() -> bool:
    """Whether programs of this process find tapeflow where they look for TensorFlow."""
    return _redirect in sys.meta_path or "tapeflow_as_tensorflow" in sys.modules


def uninstall() -> None:
    """Gives the name `tensorflow` back."""
    if _redirect in sys.meta_path:
        sys.meta_path.remove(_redirect)
    ours = vars(importlib.import_module("tapeflow"))
    ours.update(__version__=__version__, __doc__=_documentation())
    for kind, home in _HOMES.items():
        kind.__module__ = home
    for kind in _NAMES:
        kind.__name__ = kind.__qualname__
    for name in _ONLY_HERE:
        ours["__getattr__"].elsewhere.pop(name, None)
        ours.pop(name, None)  # where Python has put it, if it was asked for
    for name in [n for n in sys.modules if n.partition(".")[0] == "tensorflow"]:
        del sys.modules[name]
