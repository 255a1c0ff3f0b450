"""The XLA engine: every primitive as jax calls, compiled by XLA.

It is imported only where it is used, with jax installed. Importing it fills the table of lowerings.
"""

from __future__ import annotations

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
