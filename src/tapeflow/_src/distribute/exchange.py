"""Tensors of several workers: their sums, and collections of them, eagerly and in traced functions.

XLA moves the numbers (`engines.xla.across`). In a traced function an exchange is a node. If all workers are about to
run the same function on values of the same shapes, it is part of one program that they run together
(`engines.xla.replicas`); they ask one another at each call (`agree`). Else the host runs it, in the order of the
program, which is the same in all workers. The first time that values of some kinds and sizes are exchanged so, the
workers compare them, and the programs that have come to it: otherwise one would wait for what the others never send.
"""

from __future__ import annotations

import itertools
import threading
import zlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from tapeflow._src.autodiff.backprop import Call, record_call
from tapeflow._src.core.context import context
from tapeflow._src.core.dtypes import int64
from tapeflow._src.core.errors import InternalError
from tapeflow._src.core.system import jax_loading
from tapeflow._src.core.system.loading import loaded
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.data.runtime.node import Node
from tapeflow._src.distribute.job import Job
from tapeflow._src.graph.workers import Exchanged
from tapeflow._src.primitives.specs import ArraySpec


class Exchange:
    """What the workers of a job exchange.

    Args:
      job: the job.

    Attributes:
      number: of this worker.
      count: how many there are.
      devices: those of this worker's replicas, by their names.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.number, self.count = job.number, job.count
        self.devices: tuple[str, ...] = ()
        jax_loading.load()
        self._across: Any = loaded("tapeflow._src.engines.xla.across")
        self._seen: set[str] = set()
        self._numbers = itertools.count()
        self._steps = itertools.count()
        self._are_alike = True  # the functions that all workers run now, as far as they have said
        self._one_at_a_time = threading.RLock()

    # Tensors.

    def summed(self, tensors: Sequence[Tensor], of_one: bool) -> list[Tensor]:
        """The sums over all workers.

        Args:
          tensors: those of this worker.
          of_one: whether the sums count as values that there is one of, and so do their gradients; otherwise each
            worker has its own, whose gradients are added up.
        """
        specs = [ArraySpec(x._array.shape, x.dtype) for x in tensors]
        sums = self._made("all_reduce", 0, self._sums, tensors, specs)

        def pullback(*gradients: Tensor) -> list[Tensor]:
            return list(gradients) if of_one else self.summed(gradients, of_one)

        smooth = [i for i, x in enumerate(tensors) if x.dtype.is_differentiable]
        if smooth:
            inputs, outputs = [tensors[i] for i in smooth], [sums[i] for i in smooth]
            record_call(Call("all_reduce", inputs, outputs, pullback))
        return sums

    def gathered(self, x: Tensor, axis: int) -> tuple[Tensor, Tensor]:
        """The values of all workers, put together along an axis, and where that of this one begins."""
        shape: Any = list(x._array.shape)
        rank = len(shape)
        axis = axis + rank if axis < 0 else axis
        if not 0 <= axis < rank:
            raise ValueError(f"gather: there is no axis {axis} in values of rank {rank}")
        shape[axis] = None
        specs = [ArraySpec(tuple(shape), x.dtype), ArraySpec((), int64)]
        whole, before = self._made(
            "all_gather", axis, lambda a: self._collection(a, axis), [x], specs
        )
        return whole, before

    def _made(
        self,
        name: str,
        axis: int,
        function: Callable[..., Sequence[np.ndarray]],
        tensors: Sequence[Tensor],
        specs: Sequence[ArraySpec],
    ) -> list[Tensor]:
        tracer = context.tracer
        if tracer is None:
            where = "outside of tf.function"
        else:
            names = " ".join(node.primitive.name for node in tracer.graph.nodes)
            where = (
                f"after {len(tracer.graph.nodes)} ops of the function {tracer.graph.name!r} "
                f"(checksum {zlib.crc32(names.encode()):08x})"
            )

        def run(*arrays: np.ndarray) -> list[np.ndarray]:
            with self._one_at_a_time:
                about = f" along axis {axis}" if name == "all_gather" else ""
                self._compare(name + about, arrays, where)
                with self.job.exchanging():
                    return list(function(*arrays))

        if tracer is not None:
            call = Exchanged(name, axis, self, run)
            return list(tracer.python(name, call, tensors, specs, of_users=False))
        return [Tensor(a) for a in run(*[np.asarray(x._array) for x in tensors])]

    def _compare(self, what: str, arrays: Sequence[np.ndarray], where: str) -> None:
        """Whether all workers are about to exchange the same. They are asked once for each kind of values."""
        shapes = [a.shape if what == "all_reduce" else a.ndim for a in arrays]
        mine = f"{what} of {[f'{a.dtype}{s}' for a, s in zip(arrays, shapes, strict=True)]}"
        if mine in self._seen:
            return
        self._seen.add(mine)
        told = self.job.told(
            f"program {len(self._seen)}",
            [mine, where],
            f"the others to come to where it exchanges what it has not before, {mine} {where}",
        )
        for number, (other, there) in enumerate(told):
            # With parts of other shapes, such as an empty one, a worker may have traced other ops on the way here.
            if other != told[0][0] or (there != told[0][1] and self._are_alike):
                raise InternalError(
                    None,
                    None,
                    f"The workers run different programs. Where workers exchange values, worker 0 has {told[0][0]} "
                    f"{told[0][1]}, and worker {number} has {other} {there}. Each worker must make the same calls, "
                    "with values of the same shapes.",
                )

    # Programs that all workers run together: see `graph.workers`.

    def turn(self) -> AbstractContextManager[Any]:
        """Within this context no other thread of this process exchanges anything."""
        return self._one_at_a_time

    def agree(self, mine: Any, what: str) -> list[Any]:
        """What all workers have to say before they run a program together, in their order."""
        self.job.exchanges += 1
        told = self.job.told(f"step {next(self._steps)}", mine, what)
        self._are_alike = all(each == told[0] for each in told)
        return told

    def exchanging(self) -> AbstractContextManager[Any]:
        """Within this context numbers travel between the workers."""
        return self.job.exchanging()

    # What is not computed with.

    def questions(self, what: str) -> Callable[[Any], list[Any]]:
        """A function that tells all workers something small, and gives what they have told, one after another.

        All workers ask for it, in the same order.
        """
        name = f"{what} {next(self._numbers)}"
        count = itertools.count()
        return lambda value: self.job.told(f"{name}, {next(count)}", value)

    def agree_on_order(self, node: Node) -> None:
        """Lets a dataset be shuffled in the same way by all workers, unless it has a seed: then it is."""
        found = [n.randomness for n in node.walk() if n.randomness is not None]
        if found:
            (first, *_) = self.questions("the order of a dataset")([r.entropy for r in found])
            for randomness, entropy in zip(found, first, strict=True):
                randomness.entropy = entropy

    # Arrays.

    def _sums(self, *arrays: np.ndarray) -> list[np.ndarray]:
        """The sums. What has one dtype travels together."""
        packs: dict[Any, list[np.ndarray]] = {}
        for a in arrays:
            packs.setdefault(a.dtype, []).append(a.reshape(-1))
        whole = [np.concatenate(pack) for pack in packs.values()]
        rest = dict(zip(packs, self._across.summed(whole), strict=True))
        found = []
        for a in arrays:
            total = rest[a.dtype]
            rest[a.dtype] = total[a.size :]
            found.append(np.array(total[: a.size].reshape(a.shape), a.dtype))
        return found

    def _collection(self, array: np.ndarray, axis: int) -> list[np.ndarray]:
        """Arrays that may differ in size along an axis, as bytes."""
        if array.dtype.kind == "O":
            raise NotImplementedError("gather: strings of several workers cannot be put together")
        moved = np.ascontiguousarray(np.moveaxis(array, axis, 0))
        sizes = self._across.collected(np.array(moved.shape, np.int64))
        if (sizes[:, 1:] != sizes[0, 1:]).any():
            raise InternalError(
                None,
                None,
                f"gather: the values of the workers must have the same sizes but along axis {axis}; without it they "
                f"have {[tuple(s[1:].tolist()) for s in sizes]}",
            )
        rows = sizes[:, 0]
        width = _width(moved)
        padded = np.zeros(_room(int(rows.max()), rows) * width, np.uint8)
        padded[: moved.nbytes] = moved.reshape(-1).view(np.uint8)
        parts = self._across.collected(padded)
        whole = np.concatenate([p[: n * width] for p, n in zip(parts, rows, strict=True)])
        found = whole.view(array.dtype).reshape([int(rows.sum()), *moved.shape[1:]])
        before = np.array(rows[: self.job.number].sum(), np.int64)
        return [np.ascontiguousarray(np.moveaxis(found, 0, axis)), before]

    def of_first(self, array: np.ndarray) -> np.ndarray:
        """What the first worker has, bit by bit."""
        if array.dtype.kind == "O" or not array.size:
            return array
        with self._one_at_a_time:
            self._compare("all_reduce", [array], "where a variable is made")
            bits = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
            if self.job.number:
                bits = np.zeros_like(bits)
            with self.job.exchanging():
                (found,) = self._across.summed([bits])
        return np.array(found, np.uint8).view(array.dtype).reshape(array.shape)


def _width(rows: np.ndarray) -> int:
    return int(np.prod(rows.shape[1:], dtype=np.int64)) * rows.dtype.itemsize


def _room(most: int, rows: np.ndarray) -> int:
    """For how many rows there is room: XLA compiles for each, so there are few of them where sizes differ."""
    return most if (rows == most).all() else 1 << max(most - 1, 0).bit_length()
