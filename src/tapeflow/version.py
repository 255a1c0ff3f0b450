"""`tf.version`: which TensorFlow this is like.

Scripts compare `VERSION` to find out what they can call, so it is the version of TensorFlow that is followed.
The version of tapeflow itself is `tf.__version__`, and part of `GIT_VERSION`.

>>> tf.version.VERSION
'2.21.0'
"""

import sys as _sys

import tapeflow as _tapeflow
from tapeflow.core.missing import Missing as _Missing

VERSION = "2.21.0"
GIT_VERSION = f"tapeflow-{_tapeflow.__version__}"
COMPILER_VERSION = f"Python {_sys.version.split()[0]}"  # nothing of it is compiled before it runs

__getattr__ = _Missing("tf.version")
