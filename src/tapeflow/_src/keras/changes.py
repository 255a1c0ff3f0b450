"""What is different in modules of Keras with tapeflow as the backend. `hook` calls it when they are imported.

Files are written as all others are: beside the old ones, brought to the disk, and renamed. A process that is killed
while it saves a model leaves the model that was there before.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import IO, Any

import numpy as np

from tapeflow._src.core.context import context
from tapeflow._src.core.scopes import setting
from tapeflow._src.core.system.files import Replacement, replacing
from tapeflow._src.keras.hook import NAME
from tapeflow._src.keras.library import Library
from tapeflow._src.tools import redirect


def change(module: ModuleType) -> None:
    """Changes a module of Keras."""
    _CHANGES[module.__name__](module)


def _legacy(module: Any) -> None:
    """Lets the functions of Keras 2's `tf.keras.backend` use tapeflow's ops."""
    library: Any = Library(lambda: sys.modules[NAME])
    library.compat = SimpleNamespace(v1=_of_tensorflow_1())
    library.__internal__ = SimpleNamespace(tf2=SimpleNamespace(enabled=lambda: True))
    library.RaggedTensor = _Ragged  # asked about; the class itself would be loaded for that
    module.tf = library
    module.is_sparse = lambda tensor: isinstance(tensor, library.SparseTensor)


def _of_tensorflow_1() -> Any:
    """What tapeflow has, but for those that took other arguments in TensorFlow 1."""

    def convolution(input: Any, filter: Any, dilation_rate: Any, **options: Any) -> Any:
        return found.nn.convolution(input, filter, dilations=dilation_rate, **options)

    def ctc_loss(labels: Any, inputs: Any, sequence_length: Any) -> Any:
        rows = found.sparse.to_dense(labels)
        ones = found.ones_like(labels.values)
        lengths = found.math.unsorted_segment_sum(ones, labels.indices[:, 0], found.shape(rows)[0])
        return found.nn.ctc_loss(rows, inputs, lengths, sequence_length, blank_index=-1)

    found: Any = Library(lambda: sys.modules[NAME])
    older: Any = Library(lambda: sys.modules[NAME])
    nn: Any = Library(lambda: found.nn)
    math: Any = Library(lambda: found.math)
    nn.convolution, nn.ctc_loss = convolution, ctc_loss
    math.in_top_k = lambda predictions, targets, k: found.math.in_top_k(targets, predictions, k)
    older.nn, older.math = nn, math
    older.assign = lambda variable, value: variable.assign(value)
    older.assign_add = lambda variable, value: variable.assign_add(value)
    older.assign_sub = lambda variable, value: variable.assign_sub(value)
    older.sparse_concat = lambda axis, tensors: found.sparse.concat(axis, tensors)
    return older


class _AsksWhetherRagged(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return importlib.import_module("tapeflow._src.keras.backend.sparse.kinds").is_ragged(
            instance
        )


class _Ragged(metaclass=_AsksWhetherRagged):
    """What all ragged tensors are instances of."""


def _names(module: Any) -> None:
    """Libraries that find tapeflow where they look for TensorFlow go TensorFlow's way in Keras, too.

    They ask the public `keras.backend.backend()`. Keras itself asks another one, and chooses by tapeflow's name.
    """
    own = module.backend

    @functools.wraps(own)
    def backend() -> str:
        return "tensorflow" if own() == NAME and redirect.is_installed() else own()

    module.backend = backend


def _dtypes(module: Any) -> None:
    """Layers and losses compute float64 in float64, as on TensorFlow; JAX, whose rules these are, has 32 bits."""
    module.BIT64_TO_BIT32_DTYPE["float64"] = "float64"


def _data_layers(module: Any) -> None:
    """Layers that may be called in datasets compare names of backends: those that Keras itself uses."""
    module.keras = _SeenFromInside(module.keras)


class _SeenFromInside:
    """Keras, with the backend that its own modules see."""

    def __init__(self, keras: Any) -> None:
        self._keras = keras

    def __getattr__(self, name: str) -> Any:
        return getattr(self._keras.src if name == "backend" else self._keras, name)


def _distributions(module: Any) -> None:
    """`distribution.distribute_dataset` divides datasets of tapeflow among processes."""
    distribute = module.Distribution.distribute_dataset

    @functools.wraps(distribute)
    def distribute_dataset(self: Any, dataset: Any) -> Any:
        data: Any = sys.modules.get(f"{NAME}.data")
        if not self._is_multi_process or not self.auto_shard_dataset:
            return dataset
        if data is None or not isinstance(dataset, data.Dataset):
            return distribute(self, dataset)
        size = _batch_size(dataset)
        parts = min(self.num_processes, self.num_model_replicas)
        if parts == 1:  # each process needs all of each batch
            return dataset.prefetch(data.AUTOTUNE)
        if size % parts:
            raise ValueError(
                "distribute_dataset: Global batch size must be divisible by the number of parts that the processes "
                f"take of it. It is {size}, and there are {parts} of them ({self.num_processes} processes, "
                f"{self.num_model_replicas} replicas)"
            )
        mine = dataset.rebatch(size // parts).shard(parts, self.data_shard_id)
        return mine.prefetch(data.AUTOTUNE)

    module.Distribution.distribute_dataset = distribute_dataset


def _splits(module: Any) -> None:
    """`split_dataset` divides datasets of tapeflow, and knows, as of TensorFlow's, which were just batched."""
    is_theirs, is_batched, size = module.is_tf_dataset, module.is_batched, module.get_batch_size

    def size_of(dataset: Any) -> int | None:
        from tapeflow._src.data.nodes.batching import Batch, RaggedBatch

        node = dataset._node
        return (
            node.number(0)
            if isinstance(node, Batch) and not isinstance(node, RaggedBatch)
            else None
        )

    def is_ours(dataset: Any) -> bool:
        data: Any = sys.modules.get(f"{NAME}.data")
        return data is not None and isinstance(dataset, data.Dataset)

    def is_tf_dataset(dataset: Any) -> bool:
        return is_ours(dataset) or is_theirs(dataset)

    def is_batched_too(dataset: Any) -> bool:
        return size_of(dataset) is not None if is_ours(dataset) else is_batched(dataset)

    def get_batch_size(dataset: Any) -> Any:
        return size_of(dataset) if is_ours(dataset) else size(dataset)

    module.is_tf_dataset = is_tf_dataset
    module.is_batched, module.get_batch_size = is_batched_too, get_batch_size


def _batch_size(dataset: Any) -> int:
    from tapeflow._src.data.nodes.batching import batch_size_of

    size = batch_size_of(dataset._node)
    if size is None:
        raise ValueError(
            "distribute_dataset: the batch size of the dataset is unknown. Call batch(...) on it, with the number of "
            "rows of all processes together."
        )
    return size


# Files.


def _models(module: Any) -> None:
    """`model.save("x.keras")`, `model.save_weights("x.weights.h5")`, and the callbacks that call them."""
    skipped = module.get_attr_skipset

    def get_attr_skipset(kind: Any) -> Any:
        # It makes an optimizer to look at. A variable of a strategy would be one of all workers, who may not be here.
        with setting(context, strategy=None):
            return skipped(kind)

    module.get_attr_skipset = get_attr_skipset
    save, save_weights = module.save_model, module.save_weights_only
    is_remote = module.file_utils.is_remote_path

    @functools.wraps(save)
    def save_model(model: Any, filepath: Any, *args: Any, **kwargs: Any) -> Any:
        path = _path(filepath)
        zipped = (args[1:] or [kwargs.get("zipped", True)])[0]
        if not path.endswith(".keras") or not zipped or is_remote(path):
            return save(model, filepath, *args, **kwargs)
        with replacing(path, folders=False) as file:
            return save(model, file, *args, **kwargs)

    @functools.wraps(save_weights)
    def save_weights_only(
        model: Any, filepath: Any, max_shard_size: Any = None, *args: Any, **kwargs: Any
    ) -> Any:
        path = _path(filepath)
        if not path.endswith(".weights.h5") or max_shard_size is not None or is_remote(path):
            return save_weights(model, filepath, max_shard_size, *args, **kwargs)
        with _beside(path, ".weights.h5", folders=False) as new:
            return save_weights(model, new, None, *args, **kwargs)

    module.save_model, module.save_weights_only = save_model, save_weights_only


def _path(filepath: Any) -> str:
    """A path as a text. Empty for what is none: Keras says what is wrong with it."""
    return os.fspath(filepath) if isinstance(filepath, (str, os.PathLike)) else ""


def _old_models(module: Any) -> None:
    """`model.save("x.h5")`."""
    save = module.save_model_to_hdf5

    @functools.wraps(save)
    def save_model_to_hdf5(
        model: Any, filepath: Any, overwrite: bool = True, include_optimizer: bool = True
    ) -> Any:
        path = _path(filepath)
        if not path or (not overwrite and os.path.isfile(path)):
            return save(model, filepath, overwrite, include_optimizer)
        with _beside(path, ".h5") as new:
            return save(model, new, True, include_optimizer)

    module.save_model_to_hdf5 = save_model_to_hdf5


@contextlib.contextmanager
def _beside(path: str, suffix: str, folders: bool = True) -> Iterator[str]:
    """A path to write to, whose file takes the place of another one if all goes well. For HDF5, which wants paths."""
    new = Replacement(path, folders=folders, suffix=suffix)
    try:
        yield new.temporary or path
    except BaseException as error:
        new.discard()
        # HDF5 has the number of the operating system in its text, under errors of several kinds.
        found = re.search(r"errno = (\d+)", str(error))
        number = int(found[1]) if found else getattr(error, "errno", None)
        if isinstance(error, (OSError, RuntimeError)) and number:
            raise new.explained(OSError(number, os.strerror(number))) from error
        raise
    new.commit()


class _Files:
    """Keras's functions about files, of which those that write do it beside."""

    def __init__(self, files: ModuleType) -> None:
        self._files = files

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)

    def File(self, path: Any, mode: str = "r") -> Any:
        """A file to be used in a `with` statement."""
        if mode != "w" or self.is_remote_path(path):
            return self._files.File(path, mode)  # pyright: ignore[reportAttributeAccessIssue]
        return _text_file(path)

    def copy(self, src: Any, dst: Any) -> None:
        """Copies a file."""
        if self.is_remote_path(src) or self.is_remote_path(dst):
            self._files.copy(src, dst)  # pyright: ignore[reportAttributeAccessIssue]
            return
        import shutil

        with open(src, "rb") as file, replacing(dst, folders=False) as new:
            shutil.copyfileobj(file, new)


@contextlib.contextmanager
def _text_file(path: Any) -> Iterator[IO[str]]:
    with replacing(path, folders=False) as file:
        text = io.TextIOWrapper(file, encoding="utf-8")
        yield text
        text.flush()
        text.detach()


def _backups(module: Any) -> None:
    """`keras.callbacks.BackupAndRestore`. Of several workers the first saves, and all get what it restores."""
    module.file_utils = _Files(module.file_utils)
    cls = module.BackupAndRestore
    begin = cls.on_train_begin

    def on_train_begin(self: Any, logs: Any = None) -> None:
        strategy = self.model.distribute_strategy
        exchange = getattr(strategy.extended, "exchange", None)
        if exchange is None:
            begin(self, logs)
            return
        if exchange.job.number:
            # It saves, too, because some values have to be added up for that, and forgets it.
            elsewhere = cls(tempfile.mkdtemp(prefix="tapeflow-backup-"))
            vars(self).update(
                {name: text for name, text in vars(elsewhere).items() if isinstance(text, str)},
                save_freq=self.save_freq,
                delete_checkpoint=True,
            )
        there = exchange.questions("a backup")(os.path.exists(self._weights_path))[0]
        optimizer = self.model.optimizer
        if there and optimizer is not None and not optimizer.built:  # in all workers, together
            optimizer.build(self.model.trainable_variables)
        begin(self, logs)
        if there:
            _share(self.model, strategy, exchange)

    cls.on_train_begin = on_train_begin


def _share(model: Any, strategy: Any, exchange: Any) -> None:
    """Gives all workers the weights of the first one, and the number of the epoch that it goes on with."""
    model._initial_epoch = exchange.questions("an epoch")(model._initial_epoch)[0]
    held = [*model.variables, *(model.optimizer.variables if model.optimizer is not None else ())]
    with strategy.scope():
        for variable in {id(v): v for v in held}.values():
            variable.assign(exchange.of_first(np.asarray(variable)))


# Replicas of `tf.distribute`.


def _losses(module: Any) -> None:
    """A replica's loss is its part of the mean over all: the sum over the replicas is that of the whole batch."""

    def replicas() -> int:
        return 1 if context.strategy is None else context.strategy.num_replicas_in_sync

    def scale_loss_for_distribution(value: Any) -> Any:
        count = replicas()
        return value if count == 1 else value * module.ops.cast(1.0 / count, value.dtype)

    def unscale_loss_for_distribution(value: Any) -> Any:
        count = replicas()
        return value if count == 1 else value * module.ops.cast(count, value.dtype)

    module.scale_loss_for_distribution = scale_loss_for_distribution
    module.unscale_loss_for_distribution = unscale_loss_for_distribution


def _onnx(module: Any) -> None:
    """`model.export(path, format="onnx")` writes what `tf.export.to_onnx` gives."""

    def export_onnx(
        model: Any,
        filepath: Any,
        verbose: bool | None = None,
        input_signature: Any = None,
        opset_version: int | None = None,
        **kwargs: Any,
    ) -> None:
        from tapeflow._src.exporting.onnx.export import OPSET, to_onnx

        if kwargs:
            raise ValueError(f"The tapeflow backend has no options {sorted(kwargs)} for ONNX.")
        if opset_version not in (None, OPSET):
            raise ValueError(
                f"model.export: the tapeflow backend writes opset {OPSET} of ONNX, and opset_version={opset_version} "
                "is asked for. Leave it out; onnx.version_converter makes others of it."
            )
        if input_signature is None:
            input_signature = module.get_input_signature(model)
        archive = module.ExportArchive()
        name = module.DEFAULT_ENDPOINT_NAME
        endpoint = archive.track_and_add_endpoint(name, model, input_signature)
        to_onnx(endpoint.get_concrete_function(), path=filepath)
        if verbose is not False:
            module.io_utils.print_msg(f"Saved artifact at '{filepath}'.")

    module.export_onnx = export_onnx


_CHANGES: dict[str, Callable[[Any], None]] = {
    "keras.src.backend.common.dtypes": _dtypes,
    "keras.src.callbacks.backup_and_restore": _backups,
    "keras.src.distribution.distribution_lib": _distributions,
    "keras.src.export.onnx": _onnx,
    "keras.src.layers.preprocessing.data_layer": _data_layers,
    "keras.src.legacy.backend": _legacy,
    "keras.src.losses.loss": _losses,
    "keras.src.legacy.saving.legacy_h5_format": _old_models,
    "keras.src.saving.saving_lib": _models,
    "keras.src.utils.dataset_utils": _splits,
    **dict.fromkeys(("keras.backend", "keras.config"), _names),
    **dict.fromkeys(("keras._tf_keras.keras.backend", "keras._tf_keras.keras.config"), _names),
}
