"""What to convert: the optional features, and how far a conversion goes."""

from __future__ import annotations

import ast
import enum
from typing import Any, NamedTuple

from tapeflow._src.core.errors import wrong_object
from tapeflow._src.core.export import export


@export("autograph.experimental.Feature")
class Feature(enum.Enum):
    """Optional features of AutoGraph, for `experimental_autograph_options` and `to_graph`.

    >>> tf.autograph.experimental.Feature.EQUALITY_OPERATORS in tf.autograph.experimental.Feature.all()
    True

    `BUILTIN_FUNCTIONS` makes `print` a `tf.print` if an argument is symbolic; without it, `print` runs when the
    function is traced. `EQUALITY_OPERATORS` converts `==` and `!=`. Assertions are always converted. The others are
    accepted and change nothing: the order of a program is kept in any case.
    """

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """All features.

        >>> len(tf.autograph.experimental.Feature.all())
        7
        """
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude: Any) -> tuple[Feature, ...]:
        """All features but one or some.

        >>> Feature = tf.autograph.experimental.Feature
        >>> Feature.LISTS in Feature.all_but(Feature.LISTS)
        False
        """
        excluded = exclude if isinstance(exclude, (list, tuple, set)) else (exclude,)
        return tuple(f for f in cls if f not in excluded and f is not cls.ALL)


class Options(NamedTuple):
    """How a function is converted. malt's passes ask it for `uses`, `call_options` and `to_ast`."""

    features: frozenset[str] = frozenset()
    recursive: bool = True

    def uses(self, feature: Any) -> bool:
        """Whether an optional feature is on, ours or malt's of the same name."""
        return "ALL" in self.features or feature.name in self.features

    def call_options(self) -> Options:
        """The options for the functions that a converted function calls."""
        return self

    def to_ast(self) -> ast.expr:
        """What converted code calls its options."""
        return ast.parse("ag__.options", mode="eval").body


def options(features: Any = None, recursive: bool = True) -> Options:
    """Options from what the user gives: None, a feature, or several."""
    if features is None:
        features = ()
    elif isinstance(features, Feature):
        features = (features,)
    features = tuple(features)
    for each in features:
        if not hasattr(each, "name"):
            raise wrong_object(
                "autograph", "each feature", "a tf.autograph.experimental.Feature", each
            )
    return Options(frozenset(f.name for f in features), recursive)
