"""`tf.data.Dataset`: how datasets are made and read. What can be done with them is in the classes it is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes, nest
from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import OnlyEagerlyError, invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.data import in_function
from tapeflow._src.data.iterator import NumpyIterator, OwnedIterator, made_in_function
from tapeflow._src.data.nodes import joining, mixing, sources
from tapeflow._src.data.options import Options
from tapeflow._src.data.order import Arrangement
from tapeflow._src.data.runtime.node import INFINITE, UNKNOWN, Node, Randomness, node_of
from tapeflow._src.data.storing import Storing
from tapeflow._src.data.transformations import Transformations


@export("data.Dataset")
class Dataset(Transformations, Arrangement, Storing):
    """A sequence of elements, each a structure of tensors, which are produced when you iterate over it.

    >>> data = tf.data.Dataset.from_tensor_slices([8, 3, 0, 8])
    >>> for batch in data.map(lambda x: x + 1).batch(2):
    ...     print(batch.numpy())
    [9 4]
    [1 9]

    Datasets are made by the functions `from_tensor_slices`, `from_generator`, ...; the class is not called directly.
    """

    def __init__(self, node: Any = None) -> None:
        if not isinstance(node, Node):
            raise TypeError(
                "tf.data.Dataset is not called directly. Make a dataset with Dataset.from_tensor_slices, "
                "Dataset.from_generator, Dataset.range, ..."
            )
        self._node = node
        self._options = Options()
        # As in TensorFlow, a dataset lives as long as one that is made of it: programs tie files to its life.
        self._made_of: Dataset | None = None

    def _with(self, node: Node) -> Dataset:
        """Another dataset, with the options of this one."""
        new = Dataset(node)
        new._options = self._options
        new._made_of = self
        return new

    # Making.

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """Gives the slices of tensors along their first dimension.

        >>> data = tf.data.Dataset.from_tensor_slices({"x": [[1.0, 2.0], [3.0, 4.0]], "y": [0, 1]})
        >>> next(iter(data))["x"].numpy()
        array([1., 2.], dtype=float32)

        Args:
          tensors: a structure (tuples and dicts) of tensors or arrays with the same first dimension. A list counts as
            one tensor.
          name: accepted for compatibility.
        """
        return Dataset(sources.Slices(tensors))

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """Gives one element.

        >>> [x.numpy().tolist() for x in tf.data.Dataset.from_tensors([1, 2])]
        [[1, 2]]

        Args:
          tensors: the element: a structure of tensors or arrays.
          name: accepted for compatibility.
        """
        return Dataset(sources.Tensors(tensors))

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """Gives what a Python generator yields.

        >>> def count(stop):
        ...     for i in range(stop):
        ...         yield i, [i] * 2
        >>> spec = (tf.TensorSpec((), tf.int32), tf.TensorSpec((2,), tf.float32))
        >>> data = tf.data.Dataset.from_generator(count, args=(2,), output_signature=spec)
        >>> [(int(i), x.numpy().tolist()) for i, x in data]
        [(0, [0.0, 0.0]), (1, [1.0, 1.0])]

        Args:
          generator: a function that returns something to iterate over. It is called for each iteration.
          output_types: the dtypes, in the structure of the elements. `output_signature` is the newer way.
          output_shapes: the shapes that belong to them.
          args: what to call `generator` with: tensors, which it gets as NumPy arrays.
          output_signature: a `tf.TensorSpec` for each component, in the structure of the elements.
          name: accepted for compatibility.
        """
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        spec = sources.signature(output_types, output_shapes, output_signature)
        return Dataset(sources.Generated(generator, spec, args))

    @staticmethod
    def range(*args: Any, output_type: Any = dtypes.int64, name: str | None = None) -> Dataset:
        """Gives the numbers of a range: `stop`, or `start, stop` and perhaps `step`.

        >>> [int(x) for x in tf.data.Dataset.range(1, 8, 3)]
        [1, 4, 7]

        Args:
          *args: integers, as for Python's `range`.
          output_type: the dtype of the elements.
          name: accepted for compatibility.
        """
        return Dataset(sources.Range(args, output_type))

    @staticmethod
    def random(
        seed: Any = None, rerandomize_each_iteration: bool | None = None, name: str | None = None
    ) -> Dataset:
        """Gives random integers from 0 to 2**32 - 1, without end.

        >>> [int(x) < 2**32 for x in tf.data.Dataset.random(seed=4).take(2)]
        [True, True]

        Args:
          seed: an integer.
          rerandomize_each_iteration: whether the numbers are others each time; False by default.
          name: accepted for compatibility.
        """
        return Dataset(sources.RandomNumbers(seed, bool(rerandomize_each_iteration)))

    @staticmethod
    def counter(
        start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64, name: str | None = None
    ) -> Dataset:
        """Counts from `start` on, without end.

        >>> [int(x) for x in tf.data.Dataset.counter(5, 2).take(3)]
        [5, 7, 9]

        Args:
          start: the first number.
          step: how far the numbers are apart.
          dtype: the dtype of the elements.
          name: accepted for compatibility.
        """
        return Dataset(joining.Numbers(start, step, dtype))

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """Gives elements of several datasets side by side, as many as the shortest has.

        >>> a, b = tf.data.Dataset.range(3), tf.data.Dataset.range(10, 12)
        >>> [(int(x), int(y)) for x, y in tf.data.Dataset.zip(a, b)]
        [(0, 10), (1, 11)]

        Args:
          *args: datasets, or one structure (tuples and dicts) of datasets.
          datasets: that structure, by name.
          name: accepted for compatibility.
        """
        if not args and datasets is None:
            raise TypeError("Must pass at least one dataset to `zip`.")
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        structure = datasets if not args else args[0] if len(args) == 1 else args
        if _has_list(structure):
            raise TypeError(
                "Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` objects. "
                "Python `list` is not supported and you should use `tuple` instead."
            )
        found = nest.flatten(structure)
        for dataset in found:
            if not isinstance(dataset, Dataset):
                raise TypeError(
                    "Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` "
                    f"objects but encountered object of type {type(dataset)}."
                )
        plain = nest.map_structure(lambda _: 0, structure)
        return Dataset(joining.Zipped(plain, [dataset._node for dataset in found]))

    @staticmethod
    def choose_from_datasets(
        datasets: Sequence[Dataset],
        choice_dataset: Dataset,
        stop_on_empty_dataset: bool = True,
        name: str | None = None,
    ) -> Dataset:
        """Takes each element from the dataset whose number another dataset gives.

        >>> a, b = tf.data.Dataset.range(3), tf.data.Dataset.range(10, 13)
        >>> choices = tf.data.Dataset.from_tensor_slices(tf.constant([1, 1, 0], tf.int64))
        >>> [int(x) for x in tf.data.Dataset.choose_from_datasets([a, b], choices)]
        [10, 11, 0]

        Args:
          datasets: what to choose from.
          choice_dataset: gives scalars of dtype int64.
          stop_on_empty_dataset: whether to end where a dataset has no more elements. If not, it is passed over.
          name: accepted for compatibility.
        """
        op = "choose_from_datasets"
        nodes = [node_of(op, "each of datasets", dataset) for dataset in datasets]
        choices = node_of(op, "choice_dataset", choice_dataset)
        return Dataset(mixing.Directed(choices, nodes, stop_on_empty_dataset))

    @staticmethod
    def sample_from_datasets(
        datasets: Sequence[Dataset],
        weights: Any = None,
        seed: Any = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Takes each element from a dataset that is chosen by chance.

        >>> a, b = tf.data.Dataset.range(3), tf.data.Dataset.range(10, 13)
        >>> sorted(int(x) for x in tf.data.Dataset.sample_from_datasets([a, b], [0.5, 0.5], seed=1))
        [0, 1, 2, 10, 11, 12]

        Args:
          datasets: what to choose from.
          weights: how likely each dataset is, or a dataset that tells it for each choice; all the same by default.
          seed: an integer.
          stop_on_empty_dataset: whether to end where a dataset has no more elements. If not, it is passed over.
          rerandomize_each_iteration: whether the choices are others each time; False by default.
          name: accepted for compatibility.
        """
        randomness = Randomness(seed, bool(rerandomize_each_iteration))
        if isinstance(weights, Dataset):
            nodes = [node_of("sample_from_datasets", "each of datasets", d) for d in datasets]
            return Dataset(
                mixing.Directed(None, nodes, stop_on_empty_dataset, weights._node, randomness)
            )
        count = len(datasets)
        share = np.asarray([1.0] * count if weights is None else weights, np.float64)
        if share.shape != (count,) or not (share >= 0).all() or not share.sum() > 0:
            raise ValueError(
                f"Dataset.sample_from_datasets: weights must be {count} numbers >= 0, one for each dataset, got "
                f"{weights}"
            )
        found = [node_of("sample_from_datasets", "each of datasets", d) for d in datasets]
        kept = [(node, w) for node, w in zip_(found, share) if w > 0]
        nodes, shares = [node for node, _ in kept], np.array([w for _, w in kept])
        return Dataset(
            mixing.Directed(None, nodes, stop_on_empty_dataset, shares / shares.sum(), randomness)
        )

    # Reading.

    @property
    def element_spec(self) -> Any:
        """What the elements are like: a `tf.TensorSpec` for each component, in their structure.

        >>> tf.data.Dataset.range(3).batch(2).element_spec
        TensorSpec(shape=(None,), dtype=tf.int64, name=None)
        """
        return self._node.spec

    def cardinality(self) -> Tensor:
        """How many elements there are, `tf.data.INFINITE_CARDINALITY` or `tf.data.UNKNOWN_CARDINALITY`.

        >>> tf.data.Dataset.range(5).batch(2).cardinality().numpy()
        np.int64(3)
        """
        return convert_to_tensor(self._node.cardinality(), dtypes.int64)

    def __len__(self) -> int:
        size = self._node.cardinality()
        if size == INFINITE:
            raise TypeError("The dataset is infinite.")
        if size == UNKNOWN:
            raise TypeError("The dataset length is unknown.")
        return size

    def __bool__(self) -> bool:
        return True  # a dataset is something, also if it is empty or its length is not known

    def __iter__(self) -> OwnedIterator:
        if context.tracer is not None:
            raise OnlyEagerlyError(
                "Inside tf.function, `for x in dataset` and `iter(dataset)` need AutoGraph: write them in the function "
                "itself, and leave autograph on. list() and the like would have to know the number of elements: use "
                "dataset.reduce, or a tf.TensorArray."
            )
        iterator = OwnedIterator(self._node)
        iterator.dataset = self
        return iterator

    def as_numpy_iterator(self) -> NumpyIterator:
        """Gives the elements as NumPy arrays.

        >>> list(tf.data.Dataset.range(3).as_numpy_iterator())
        [np.int64(0), np.int64(1), np.int64(2)]
        """
        if context.tracer is not None:
            raise OnlyEagerlyError(
                "`as_numpy_iterator()` is only supported when executing eagerly."
            )
        return NumpyIterator(self._node)

    def get_single_element(self, name: str | None = None) -> Any:
        """Gives the only element of a dataset that has one.

        >>> tf.data.Dataset.range(5).batch(9).get_single_element().numpy()
        array([0, 1, 2, 3, 4])

        Args:
          name: accepted for compatibility.

        Raises:
          tf.errors.InvalidArgumentError: if there are none, or several.
        """
        if context.tracer is not None:
            return in_function.get_single_element(*self._made(), self._node.spec)
        found = list(self.take(2))
        if len(found) != 1:
            raise invalid(
                "Dataset was empty." if not found else "Dataset had more than one element."
            )
        return found[0]

    def __tf_iterate__(self) -> in_function.Loop:
        """For loops inside `tf.function`."""
        return in_function.Loop(*self._made(), self._node.spec)

    def __tf_iterator__(self) -> OwnedIterator:
        """For `iter` inside `tf.function`: another iterator whenever the function runs."""
        return made_in_function(*self._made(), self._node.spec)

    def _made(self) -> tuple[Callable[..., OwnedIterator], list[Tensor]]:
        """How a graph makes an iterator: a function, and the tensors that it takes when the graph runs."""
        node = self._node
        tensors = node.symbols()

        def make(*values: Tensor) -> OwnedIterator:
            if not values:
                return OwnedIterator(node, on_host=True)
            pairs = zip_(map(id, tensors), values)
            return OwnedIterator(node.substituted(dict(pairs)), on_host=True)

        return make, tensors

    def __repr__(self) -> str:
        return f"<{self._node.name} element_spec={self._node.spec}>"


def zip_(*columns: Any) -> list[Any]:
    """Python's `zip`, whose name is a method here."""
    return list(zip(*columns, strict=True))


def _has_list(structure: Any) -> bool:
    if isinstance(structure, list):
        return True
    if isinstance(structure, dict):
        return any(map(_has_list, structure.values()))
    return isinstance(structure, tuple) and any(map(_has_list, structure))
