"""Which version this is, and which TensorFlow it is like.

Scripts compare `tf.version.VERSION` to find out what they can call, so it is the version of TensorFlow that is
followed. The version of tapeflow itself is `tf.__version__`, and part of `GIT_VERSION`.

>>> tf.version.VERSION
'2.21.0'
"""

import sys

from tapeflow._src.core.export import export_value

__version__ = "0.1.0"

VERSION = "2.21.0"
GIT_VERSION = f"tapeflow-{__version__}"
COMPILER_VERSION = f"Python {sys.version.split()[0]}"  # nothing of it is compiled before it runs

export_value("VERSION", "version.VERSION")
export_value("GIT_VERSION", "version.GIT_VERSION")
export_value("COMPILER_VERSION", "version.COMPILER_VERSION")
export_value("__version__", "__version__")
