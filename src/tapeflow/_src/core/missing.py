"""What a namespace answers when it is asked for a name that it does not have.

A module becomes a public namespace by ending with one line, which says how TensorFlow calls it:

    __getattr__ = _Missing("tf.nn")

Python calls it only when a lookup has failed, so names that are there cost nothing.
"""

import importlib
import sys
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

_COORDINATED = (
    "It belongs to parameter servers and to the coordinator that drives their workers, which are left out. Use "
    "tf.distribute.MultiWorkerMirroredStrategy, whose workers run in step. tf.distribute.experimental.rpc calls "
    "functions of other processes."
)
_TPU = "Use tf.distribute.MirroredStrategy, or keras.distribution: they run on the devices jax has."

ADVICE = {
    "tf.placeholder": "It belongs to TensorFlow 1. Write a function, and call it with tensors.",
    "tf.Session": "It belongs to TensorFlow 1. Ops run at once, and x.numpy() is the value.",
    "tf.distribute.Server": _COORDINATED,
    "tf.train.Server": _COORDINATED,
    "tf.distribute.coordinator.RemoteValue": _COORDINATED,
    "tf.distribute.coordinator.PerWorkerValue": _COORDINATED,
    "tf.distribute.coordinator.experimental_get_current_worker_index": _COORDINATED,
    "tf.distribute.experimental.coordinator.RemoteValue": _COORDINATED,
    "tf.distribute.experimental.coordinator.PerWorkerValues": _COORDINATED,
    "tf.config.experimental_connect_to_cluster": _COORDINATED,
    "tf.config.experimental_connect_to_host": _COORDINATED,
    "tf.tpu": _TPU,
    "tf.distribute.cluster_resolver.TPUClusterResolver": _TPU,
}
"""What to write meanwhile, for the names that are asked for most."""

INTERNAL = "__internal__"
"""A namespace of TensorFlow's that is there where `import tensorflow` gives tapeflow."""


class Missing:
    """The `__getattr__` of the module that stands for TensorFlow's `namespace`.

    >>> tf.reduce_summ
    Traceback (most recent call last):
    AttributeError: tapeflow does not have tf.reduce_summ yet. Did you mean tf.reduce_sum...
    """

    def __init__(
        self,
        namespace: str,
        later: str = "",
        elsewhere: Mapping[str, str] | None = None,
        names: Mapping[str, str] | None = None,
        like: str = "",
    ) -> None:
        self.namespace = namespace
        # What is inside of it and is imported when it is first asked for: namespaces of ours, modules of Keras, and for
        # places in `_src` the names that are defined there, as in "ops.array.creation": "fill range:range_", where the
        # second one has another name there.
        self.later = later.split()
        self.elsewhere = dict(elsewhere or {})
        pairs = [(place, word) for place, words in (names or {}).items() for word in words.split()]
        self.names = {
            word.partition(":")[0]: (place, word.rpartition(":")[2]) for place, word in pairs
        }
        self.like = like  # a module that is asked for what is not here

    @property
    def module(self) -> str:
        """The name of the module that it belongs to."""
        return self.namespace.replace("tf", "tapeflow", 1)

    def offered(self, held: Mapping[str, Any]) -> list[str]:
        """What `dir` shows: what the module holds, and what it would import."""
        return sorted({*held, *self.names, *self.later, *self.elsewhere})

    def __call__(self, name: str) -> Any:
        """Raises the error that says what is missing."""
        if name in self.elsewhere:
            return importlib.import_module(self.elsewhere[name])
        if name in self.names:
            module, own = self.names[name]
            value = self._defined(name, _imported(f"tapeflow._src.{module}"), own)
            setattr(sys.modules[self.module], name, value)  # not to be asked again
            return value
        if name in self.later:
            return importlib.import_module(f"{self.module}.{name}")
        hidden = name.startswith("_")
        if self.like and (not hidden or name == INTERNAL):
            found = getattr(importlib.import_module(self.like), name, self)
            if found is not self:
                return found
        # Python and its tools look for __path__, _mock_name and the like all the time, and expect none.
        if hidden:
            raise AttributeError(f"module {self.namespace!r} has no attribute {name!r}", name=name)
        text = message(f"{self.namespace}.{name}")
        if _is_import(sys._getframe(1)):
            raise ImportError(text, name=name)
        # Only `name` is given: with the module too, Python would add a guess of its own to ours.
        raise AttributeError(text, name=name)

    def _defined(self, name: str, module: ModuleType, own: str) -> Any:
        """What a module defines: all of it, unless this very thread is in the middle of importing the module."""
        try:
            return getattr(module, own)
        except AttributeError:
            if not getattr(module.__spec__, "_initializing", False):
                raise
        raise AttributeError(
            f"{self.namespace}.{name} is asked for by a signal handler, or by what else runs while this thread is "
            "importing it: it can only be had when the import has ended. Use it once before the handler is installed.",
            name=name,
        )


def _imported(place: str) -> ModuleType:
    """A module, and before it the whole of its folder.

    Python goes on with a folder that another thread is just importing. The two would begin at two ends of it, and each
    meet what the other has begun.
    """
    importlib.import_module(place.rpartition(".")[0])
    return importlib.import_module(place)


def _is_import(frame: Any) -> bool:
    """Whether `frame` is in a `from ... import name`.

    That statement turns an AttributeError into an ImportError that says nothing, but lets an
    ImportError pass.
    """
    import dis

    return frame.f_code.co_code[frame.f_lasti] == dis.opmap["IMPORT_FROM"]


def message(name: str) -> str:
    """Says that the dotted `name` is not there, and what is nearest to it."""
    sentences = [f"tapeflow does not have {name} yet."]
    if name in ADVICE:
        sentences.append(ADVICE[name])
    elif near := nearest(name):
        *others, last = near
        sentences.append(f"Did you mean {', '.join(others)}{' or ' if others else ''}{last}?")
    sentences.append("What is there: docs/compatibility.md")
    return " ".join(sentences)


def nearest(name: str, count: int = 3) -> list[str]:
    """The public names most like the dotted `name`, the best first."""
    import difflib

    place, _, wanted = name.rpartition(".")
    names = {where: public_names(module) for where, module in namespaces()}
    here = names.get(place, [])
    others = ("tf.compat.", "tf.experimental.numpy")  # names of NumPy's, and of before
    places = [w for w in names if wanted in names[w] and not w.startswith(others)]
    found = [f"{w}.{wanted}" for w in sorted(places, key=lambda w: (w.count("."), w))]
    found += [f"{place}.{other}" for other in difflib.get_close_matches(wanted, here, count, 0.82)]
    if len(wanted) > 2:  # as in tf.mean, which is tf.reduce_mean
        longer = sorted((other for other in here if wanted in other), key=len)
        found += [f"{place}.{other}" for other in longer]
    return list(dict.fromkeys(found))[:count]


def namespaces() -> Iterator[tuple[str, ModuleType]]:
    """The public namespaces, as `("tf.nn", module)`, `tf` first."""
    waiting = [sys.modules["tapeflow"]]
    while waiting:
        module = waiting.pop(0)
        place = namespace_of(module)
        if place is not None:
            yield place, module
            for name in vars(module)["__getattr__"].later:
                getattr(module, name)
            inner = [value for value in vars(module).values() if isinstance(value, ModuleType)]
            waiting += [m for m in inner if (namespace_of(m) or "").startswith(f"{place}.")]


def namespace_of(module: ModuleType) -> str | None:
    """What TensorFlow calls `module`, if it is a public namespace."""
    answer = vars(module).get("__getattr__")
    return answer.namespace if isinstance(answer, Missing) else None


def public_names(module: ModuleType) -> list[str]:
    """The names that a namespace offers: not what it imported for its own use."""
    held = vars(module)
    names = [name for name in held.get("__all__", held) if _is_public(name, held[name])]
    answer = held.get("__getattr__")
    late = answer.names if isinstance(answer, Missing) else {}
    return names + [name for name in late if name not in held]


def _is_public(name: str, value: Any) -> bool:
    if name.startswith("_"):
        return False
    if isinstance(value, ModuleType):
        return namespace_of(value) is not None
    home = getattr(value, "__module__", None)
    return not isinstance(home, str) or home.partition(".")[0] == "tapeflow"
