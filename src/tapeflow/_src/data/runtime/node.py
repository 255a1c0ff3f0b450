"""What a dataset is made of: nodes, each of which turns passes over its inputs into a pass of its own.

`tf.data.Dataset` is the public face of a node. A `Run` is one iteration over a dataset from its beginning: it decides
what is random in it, so that the iteration can be done again.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import NotFoundError, wrong_object
from tapeflow._src.core.placement.devices import Place, on_this_computer
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.data.runtime.rows import ENDLESS, Rows, Table, TableRows
from tapeflow._src.primitives.random.philox import WordStream
from tapeflow._src.primitives.random.streams import seed_word, streams

INFINITE = -1
UNKNOWN = -2


def integer(op: str, argument: str, value: Any) -> Tensor:
    """A scalar integer argument as a tensor: inside `tf.function` it may be symbolic."""
    with on_this_computer():
        tensor = convert_to_tensor(value)
    if not tensor.dtype.is_integer or tensor.shape.rank != 0:
        raise TypeError(
            f"Dataset.{op}: {argument} must be a scalar integer, got {value!r} of dtype {tensor.dtype.name} and shape "
            f"{tensor.shape}"
        )
    return tensor


class Node:
    """A step of an input pipeline.

    Attributes:
      name: what `repr` calls it.
      inputs: the nodes it reads from.
      tensors: the tensors it is made of, if it is a source.
      randomness: where its random numbers come from, if it needs any.
      function: that of the user, if it applies one.
      spec: the element spec.
      destination: the device that its elements are to be on, and how many of them before they are asked for; None
        leaves it to who reads them.
    """

    name = "_Dataset"
    inputs: tuple[Node, ...] = ()
    tensors: tuple[Tensor, ...] = ()
    randomness: Randomness | None = None
    function: Any = None
    spec: Any
    destination: tuple[Place, int] | None = None

    def cardinality(self) -> int:
        """The number of elements, INFINITE or UNKNOWN."""
        table = self.table()
        if table is None:
            return UNKNOWN
        return INFINITE if table.size == ENDLESS else table.size

    def table(self) -> Table | None:
        """The elements in any order, if they are at hand."""
        return None

    def rows(self, run: Run) -> Rows:
        """A pass over the elements."""
        table = self.table()
        assert table is not None
        return TableRows(table)

    def number(self, i: int) -> int | None:
        """The value of an integer among `tensors`, or None while it is symbolic."""
        x = self.tensors[i]
        return None if x.symbolic else int(x._array)

    def known(self, i: int) -> int:
        """The value of an integer among `tensors`, when the dataset is read."""
        return int(self.tensors[i])

    def walk(self) -> Iterator[Node]:
        """This node and all that it depends on, in an order that is always the same."""
        yield self
        for node in self.inputs:
            yield from node.walk()

    def symbols(self) -> list[Tensor]:
        """The tensors of the pipeline that have no values yet, because it was made inside `tf.function`."""
        found = [
            *self.tensors,
            *([] if self.function is None else self.function.captured),
            *[x for node in self.inputs for x in node.symbols()],
        ]
        return [x for x in nest.flatten(found, expand_composites=True) if x.symbolic]

    def substituted(self, values: Mapping[int, Tensor]) -> Node:
        """The same pipeline with other tensors in it, by the `id` of those that are."""
        new = copy.copy(self)
        if self.function is not None:
            new.function = self.function.substituted(values)
        new.inputs = tuple(node.substituted(values) for node in self.inputs)
        new.tensors = nest.map_structure(
            lambda x: values.get(id(x), x), self.tensors, expand_composites=True
        )
        return new


class Alike(Node):
    """A node whose elements are like those of its input."""

    def __init__(self, source: Node) -> None:
        self.inputs = (source,)

    @property
    def source(self) -> Node:
        """The input."""
        return self.inputs[0]

    @property
    def spec(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        """That of the input."""
        return self.source.spec

    @property
    def destination(self) -> tuple[Place, int] | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """That of the input: elements that pass are not touched."""
        return self.source.destination

    def cardinality(self) -> int:
        """That of the input."""
        return self.source.cardinality()


class Randomness:
    """The random numbers of a node: those of each pass follow from two seeds and the number of the pass.

    Args:
      seed: of the user, or None. The other one is that of `tf.random.set_seed`, as for any op.
      anew: whether each pass has random numbers of its own.
    """

    def __init__(self, seed: Any, anew: bool = True) -> None:
        pair = streams.seeds(None if seed is None else seed_word(seed))
        self.entropy = [int.from_bytes(os.urandom(7), "little"), 0] if pair is None else list(pair)
        self.anew = anew
        self.begun = 0  # how many passes there were
        if (
            context.tracer is not None
        ):  # the dataset is made whenever the function runs, and begins again
            context.tracer.python("begin_again", self._begin_again, [], [])

    def _begin_again(self) -> tuple[()]:
        self.begun = 0
        return ()


class Run:
    """One iteration over a dataset.

    Attributes:
      drawn: how far functions of users have drawn random numbers: each iteration begins their streams again.

    Args:
      node: the dataset.
      randomness: what `state` gave for another run, which this one repeats.
    """

    def __init__(self, node: Node, randomness: Sequence[Any] = ()) -> None:
        found = [n.randomness for n in node.walk() if n.randomness is not None]
        self._places = {id(r): i for i, r in enumerate(found)}
        given = list(randomness) or [(r.entropy, r.begun) for r in found]
        if len(given) != len(found):
            raise NotFoundError(
                None,
                None,
                f"The iterator cannot be restored: the dataset draws random numbers in {len(found)} places, and the "
                f"one whose iterator was saved did so in {len(given)}. Is it the same dataset?",
            )
        self._entropy: list[list[int]] = [list(entropy) for entropy, _ in given]
        self._first: list[int] = [first for _, first in given]
        self._next = list(self._first)
        self.drawn: dict[Any, int] = {}
        for r, first in zip(found, self._first, strict=True):
            r.begun = max(r.begun, first + 1)

    def words(self, randomness: Randomness) -> WordStream:
        """The random words for the next pass over a node."""
        i = self._places.get(id(randomness))
        if i is None:  # of a dataset that was made while iterating
            number, entropy = randomness.begun, randomness.entropy
        else:
            number, entropy = self._next[i], self._entropy[i]
            self._next[i] += 1
        randomness.begun = max(randomness.begun, number + 1)
        if not randomness.anew:
            return WordStream(*entropy)
        # Each pass takes the next two words of a stream as its seeds.
        seeds = WordStream(*entropy)
        seeds.skip(2 * number)
        return WordStream(*seeds.take(2).tolist())

    def state(self) -> list[Any]:
        """What is random in this run, as numbers."""
        return [[e, first] for e, first in zip(self._entropy, self._first, strict=True)]


def node_of(op: str, argument: str, dataset: Any) -> Node:
    """What stands behind a dataset that was passed as an argument."""
    node = getattr(dataset, "_node", None)
    if not isinstance(node, Node):
        raise wrong_object(f"Dataset.{op}", argument, "a tf.data.Dataset", dataset)
    return node
