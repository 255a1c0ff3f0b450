"""tapeflow in the place of TensorFlow: this package is replaced by it as soon as it is imported."""

import sys

import tapeflow
from tapeflow._src.tools import redirect

del sys.modules[__name__]  # the redirect would take it for the real TensorFlow
redirect.install()
sys.modules[__name__] = tapeflow
