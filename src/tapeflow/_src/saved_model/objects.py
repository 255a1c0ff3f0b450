"""What loaded models are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tapeflow._src.core.module import Module
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.function.concrete import ConcreteFunction
from tapeflow._src.function.unknown_ranks import RankFreeFunction, with_ranks_unknown
from tapeflow._src.saved_model.restored import RestoredFunction


class SignatureFunction(ConcreteFunction):
    """A signature of a loaded model: what it takes and what it returns have names."""

    @property
    def structured_input_signature(self) -> Any:
        """The arguments by name, also the only one of a signature, which can be given without it."""
        args, kwargs = self._arguments
        by_name = dict(zip(self._signature.parameters.parameters, args, strict=False)) | kwargs
        return (), {n: by_name[n] for n in self._signature.parameters.parameters if n in by_name}

    @property
    def structured_outputs(self) -> Any:
        """What it returns by name, with a `tf.TensorSpec` for each tensor."""
        found = super().structured_outputs
        if not isinstance(found, dict):
            return found
        return {n: TensorSpec(x.shape, x.dtype, n) for n, x in found.items()}


class SignatureMap(Mapping[str, ConcreteFunction]):
    """The signatures of a loaded model by name."""

    def __init__(self, functions: Mapping[str, RestoredFunction]) -> None:
        self._functions = functions
        for function in functions.values():
            function._traced_as = SignatureFunction

    def __getitem__(self, name: str) -> ConcreteFunction:
        function = self._functions[name]
        several = function.saved_signatures
        if len({repr(takes) for takes in several}) > 1:  # one for each rank
            return RankFreeFunction(function, with_ranks_unknown(several))  # pyright: ignore[reportReturnType]
        return function.get_concrete_function()

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def __repr__(self) -> str:
        return f"_SignatureMap({dict(self)})"


class LoadedModule(Module):
    """An object from a saved model: its variables, its parts, and its functions as attributes."""

    signatures: SignatureMap

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function that was the object's `__call__`."""
        function = vars(self).get("__call__")
        if function is None:
            names = [name for name, x in vars(self).items() if isinstance(x, RestoredFunction)]
            raise TypeError(
                "The loaded object cannot be called: its class had no tf.function named __call__. It has "
                f"{', '.join(names) or 'no functions'}."
            )
        return function(*args, **kwargs)
