"""`tf.saved_model`: models that are loaded and served without the Python code that made them."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow.saved_model import experimental as experimental

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.saved_model.assets import Asset as Asset
    from tapeflow._src.saved_model.loading import (
        contains_saved_model as contains_saved_model, load as load
    )
    from tapeflow._src.saved_model.options import (
        SaveOptions as SaveOptions, LoadOptions as LoadOptions,
        ASSETS_DIRECTORY as ASSETS_DIRECTORY, ASSETS_KEY as ASSETS_KEY,
        CLASSIFY_INPUTS as CLASSIFY_INPUTS, CLASSIFY_METHOD_NAME as CLASSIFY_METHOD_NAME,
        CLASSIFY_OUTPUT_CLASSES as CLASSIFY_OUTPUT_CLASSES,
        CLASSIFY_OUTPUT_SCORES as CLASSIFY_OUTPUT_SCORES, DEBUG_DIRECTORY as DEBUG_DIRECTORY,
        DEBUG_INFO_FILENAME_PB as DEBUG_INFO_FILENAME_PB,
        DEFAULT_SERVING_SIGNATURE_DEF_KEY as DEFAULT_SERVING_SIGNATURE_DEF_KEY, GPU as GPU,
        PREDICT_INPUTS as PREDICT_INPUTS, PREDICT_METHOD_NAME as PREDICT_METHOD_NAME,
        PREDICT_OUTPUTS as PREDICT_OUTPUTS, REGRESS_INPUTS as REGRESS_INPUTS,
        REGRESS_METHOD_NAME as REGRESS_METHOD_NAME, REGRESS_OUTPUTS as REGRESS_OUTPUTS,
        SAVED_MODEL_FILENAME_PB as SAVED_MODEL_FILENAME_PB,
        SAVED_MODEL_FILENAME_PBTXT as SAVED_MODEL_FILENAME_PBTXT,
        SAVED_MODEL_SCHEMA_VERSION as SAVED_MODEL_SCHEMA_VERSION, SERVING as SERVING, TPU as TPU,
        TRAINING as TRAINING, VARIABLES_DIRECTORY as VARIABLES_DIRECTORY,
        VARIABLES_FILENAME as VARIABLES_FILENAME
    )
    from tapeflow._src.saved_model.saving import save as save
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.saved_model",
    names={
        "saved_model.assets": "Asset",
        "saved_model.loading": "contains_saved_model load",
        "saved_model.options": "SaveOptions LoadOptions ASSETS_DIRECTORY ASSETS_KEY CLASSIFY_INPUTS CLASSIFY_METHOD_NAME CLASSIFY_OUTPUT_CLASSES CLASSIFY_OUTPUT_SCORES DEBUG_DIRECTORY DEBUG_INFO_FILENAME_PB DEFAULT_SERVING_SIGNATURE_DEF_KEY GPU PREDICT_INPUTS PREDICT_METHOD_NAME PREDICT_OUTPUTS REGRESS_INPUTS REGRESS_METHOD_NAME REGRESS_OUTPUTS SAVED_MODEL_FILENAME_PB SAVED_MODEL_FILENAME_PBTXT SAVED_MODEL_SCHEMA_VERSION SERVING TPU TRAINING VARIABLES_DIRECTORY VARIABLES_FILENAME",
        "saved_model.saving": "save",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
