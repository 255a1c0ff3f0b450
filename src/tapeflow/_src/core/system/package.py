"""Which files are tapeflow's own."""

import os

_BELOW = os.path.join("_src", "core", "system", "package.py")

FOLDER = os.path.abspath(__file__).removesuffix(_BELOW)
"""Where they are: what their names begin with."""
