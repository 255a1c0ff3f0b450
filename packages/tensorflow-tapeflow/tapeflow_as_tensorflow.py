"""Lets Keras, whose backend is TensorFlow unless somebody says otherwise, take tapeflow. A .pth file imports this."""

import os
import sys


class _BeforeKeras:
    """Imports tapeflow, whose hook adds a backend to Keras, as soon as Keras is imported: not in every process."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname == "keras":
            sys.meta_path.remove(self)
            if os.environ.get("KERAS_BACKEND", "tensorflow") == "tensorflow":
                os.environ["KERAS_BACKEND"] = "tapeflow"
                import tapeflow  # noqa: F401


sys.meta_path.insert(0, _BeforeKeras())
