"""Random choices that a seed and a case number repeat, on any machine and any Python."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")


class Dice(random.Random):
    """Random choices for one case of one part."""

    def __init__(self, part: str, seed: int, case: int) -> None:
        super().__init__(f"{part} {seed} {case}")  # a text is hashed the same way everywhere

    def __reduce__(self) -> Any:
        # The state of the base class is enough for nobody here.
        raise TypeError("dice are not copied")

    def chance(self, probability: float) -> bool:
        """True with a probability."""
        return self.random() < probability

    def weighted(self, weights: dict[T, float]) -> T:
        """One of the keys, by its weight."""
        return self.choices(list(weights), list(weights.values()))[0]

    def several(self, things: Sequence[T], most: int) -> list[T]:
        """Up to `most` of the things, at least one."""
        return self.sample(list(things), self.randint(1, min(most, len(things))))
