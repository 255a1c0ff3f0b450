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

# Of TensorFlow's graphs, which are not read or written here.
GRAPH_DEF_VERSION = 2474
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0

export_value("VERSION", "version.VERSION")
export_value("GRAPH_DEF_VERSION", "version.GRAPH_DEF_VERSION")
export_value("GRAPH_DEF_VERSION_MIN_CONSUMER", "version.GRAPH_DEF_VERSION_MIN_CONSUMER")
export_value("GRAPH_DEF_VERSION_MIN_PRODUCER", "version.GRAPH_DEF_VERSION_MIN_PRODUCER")
export_value("GIT_VERSION", "version.GIT_VERSION")
export_value("COMPILER_VERSION", "version.COMPILER_VERSION")
export_value("__version__", "__version__")
