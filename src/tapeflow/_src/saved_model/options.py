"""Options of saving and loading, and the names that TensorFlow's saved models use."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow._src.core.export import export, export_value
from tapeflow._src.train.formats import SAFETENSORS, checked


@export("saved_model.experimental.VariablePolicy")
class VariablePolicy(enum.Enum):
    """What is saved of where variables were."""

    NONE = None
    SAVE_VARIABLE_DEVICES = "save_variable_devices"
    EXPAND_DISTRIBUTED_VARIABLES = "expand_distributed_variables"


@export("saved_model.SaveOptions")
class SaveOptions:
    """How `tf.saved_model.save` saves.

    A SavedModel that TensorFlow loads is written if it is asked for:

    >>> import os, tempfile
    >>> model, folder = tf.Module(), tempfile.mkdtemp()
    >>> model.w = tf.Variable(3.0)
    >>> tf.saved_model.save(model, folder, options=tf.saved_model.SaveOptions(format="tensorflow"))
    >>> sorted(os.listdir(folder))
    ['saved_model.pb', 'variables']

    The others that are not named below are about TensorFlow's clusters. All are accepted, and none changes a file here.

    Args:
      experimental_custom_gradients: whether a function keeps gradients that were written for it, or for what it calls,
        with `tf.custom_gradient`. If not, a function that is loaded has those of its operations.
      format: `"safetensors"`, tapeflow's own, or `"tensorflow"`.
    """

    __slots__ = (
        *("namespace_whitelist", "save_debug_info", "function_aliases"),
        *("experimental_debug_stripper", "experimental_io_device", "experimental_variable_policy"),
        *("experimental_custom_gradients", "experimental_image_format", "experimental_skip_saver"),
        *("experimental_sharding_callback", "extra_tags", "format"),
    )

    def __init__(
        self,
        namespace_whitelist: Sequence[str] | None = None,
        save_debug_info: bool = False,
        function_aliases: Mapping[str, Any] | None = None,
        experimental_debug_stripper: bool = False,
        experimental_io_device: str | None = None,
        experimental_variable_policy: Any = None,
        experimental_custom_gradients: bool = True,
        experimental_image_format: bool = False,
        experimental_skip_saver: bool = False,
        experimental_sharding_callback: Any = None,
        extra_tags: Any = None,
        *,
        format: str = SAFETENSORS,
    ) -> None:
        self.format = checked("SaveOptions", format)
        self.namespace_whitelist = list(namespace_whitelist or [])
        self.save_debug_info = save_debug_info
        self.function_aliases = function_aliases or {}
        self.experimental_debug_stripper = experimental_debug_stripper
        self.experimental_io_device = experimental_io_device
        self.experimental_variable_policy = VariablePolicy(experimental_variable_policy)
        self.experimental_custom_gradients = experimental_custom_gradients
        self.experimental_image_format = experimental_image_format
        self.experimental_skip_saver = experimental_skip_saver
        self.experimental_sharding_callback = experimental_sharding_callback
        self.extra_tags = extra_tags


@export("saved_model.LoadOptions")
class LoadOptions:
    """How `tf.saved_model.load` loads.

    >>> import tempfile
    >>> folder, model = tempfile.mkdtemp(), tf.Module()
    >>> model.w = tf.Variable(3.0)
    >>> tf.saved_model.save(model, folder)
    >>> tf.saved_model.load(folder, options=tf.saved_model.LoadOptions()).w.numpy()
    np.float32(3.0)

    The options are about TensorFlow's files and clusters. All are accepted, and none changes what is loaded here.
    """

    __slots__ = (
        *("allow_partial_checkpoint", "experimental_io_device", "experimental_skip_checkpoint"),
        *("experimental_variable_policy", "experimental_load_function_aliases"),
    )

    def __init__(
        self,
        allow_partial_checkpoint: bool = False,
        experimental_io_device: str | None = None,
        experimental_skip_checkpoint: bool = False,
        experimental_variable_policy: Any = None,
        experimental_load_function_aliases: bool = False,
    ) -> None:
        self.allow_partial_checkpoint = allow_partial_checkpoint
        self.experimental_io_device = experimental_io_device
        self.experimental_skip_checkpoint = experimental_skip_checkpoint
        self.experimental_variable_policy = VariablePolicy(experimental_variable_policy)
        self.experimental_load_function_aliases = experimental_load_function_aliases


# Names in TensorFlow's saved models. Programs compare with them; files here have names of their own.

ASSETS_DIRECTORY = "assets"
ASSETS_KEY = "saved_model_assets"
CLASSIFY_INPUTS = "inputs"
CLASSIFY_METHOD_NAME = "tensorflow/serving/classify"
CLASSIFY_OUTPUT_CLASSES = "classes"
CLASSIFY_OUTPUT_SCORES = "scores"
DEBUG_DIRECTORY = "debug"
DEBUG_INFO_FILENAME_PB = "saved_model_debug_info.pb"
DEFAULT_SERVING_SIGNATURE_DEF_KEY = "serving_default"
GPU = "gpu"
PREDICT_INPUTS = "inputs"
PREDICT_METHOD_NAME = "tensorflow/serving/predict"
PREDICT_OUTPUTS = "outputs"
REGRESS_INPUTS = "inputs"
REGRESS_METHOD_NAME = "tensorflow/serving/regress"
REGRESS_OUTPUTS = "outputs"
FILE = "saved_model.safetensors"  # tapeflow's own
SAVED_MODEL_FILENAME_PB = "saved_model.pb"
SAVED_MODEL_FILENAME_PBTXT = "saved_model.pbtxt"
SAVED_MODEL_SCHEMA_VERSION = 1
SERVING = "serve"
TPU = "tpu"
TRAINING = "train"
VARIABLES_DIRECTORY = "variables"
VARIABLES_FILENAME = "variables"

export_value("ASSETS_DIRECTORY", "saved_model.ASSETS_DIRECTORY")
export_value("ASSETS_KEY", "saved_model.ASSETS_KEY")
export_value("CLASSIFY_INPUTS", "saved_model.CLASSIFY_INPUTS")
export_value("CLASSIFY_METHOD_NAME", "saved_model.CLASSIFY_METHOD_NAME")
export_value("CLASSIFY_OUTPUT_CLASSES", "saved_model.CLASSIFY_OUTPUT_CLASSES")
export_value("CLASSIFY_OUTPUT_SCORES", "saved_model.CLASSIFY_OUTPUT_SCORES")
export_value("DEBUG_DIRECTORY", "saved_model.DEBUG_DIRECTORY")
export_value("DEBUG_INFO_FILENAME_PB", "saved_model.DEBUG_INFO_FILENAME_PB")
export_value("DEFAULT_SERVING_SIGNATURE_DEF_KEY", "saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY")
export_value("GPU", "saved_model.GPU")
export_value("PREDICT_INPUTS", "saved_model.PREDICT_INPUTS")
export_value("PREDICT_METHOD_NAME", "saved_model.PREDICT_METHOD_NAME")
export_value("PREDICT_OUTPUTS", "saved_model.PREDICT_OUTPUTS")
export_value("REGRESS_INPUTS", "saved_model.REGRESS_INPUTS")
export_value("REGRESS_METHOD_NAME", "saved_model.REGRESS_METHOD_NAME")
export_value("REGRESS_OUTPUTS", "saved_model.REGRESS_OUTPUTS")
export_value("SAVED_MODEL_FILENAME_PB", "saved_model.SAVED_MODEL_FILENAME_PB")
export_value("SAVED_MODEL_FILENAME_PBTXT", "saved_model.SAVED_MODEL_FILENAME_PBTXT")
export_value("SAVED_MODEL_SCHEMA_VERSION", "saved_model.SAVED_MODEL_SCHEMA_VERSION")
export_value("SERVING", "saved_model.SERVING")
export_value("TPU", "saved_model.TPU")
export_value("TRAINING", "saved_model.TRAINING")
export_value("VARIABLES_DIRECTORY", "saved_model.VARIABLES_DIRECTORY")
export_value("VARIABLES_FILENAME", "saved_model.VARIABLES_FILENAME")
