"""`tf.saved_model.experimental`: what is saved of where variables were."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.saved_model.fingerprints import (
        Fingerprint as Fingerprint, read_fingerprint as read_fingerprint
    )
    from tapeflow._src.saved_model.options import VariablePolicy as VariablePolicy
    from tapeflow._src.saved_model.resources import TrackableResource as TrackableResource
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.saved_model.experimental",
    names={
        "saved_model.fingerprints": "Fingerprint read_fingerprint",
        "saved_model.options": "VariablePolicy",
        "saved_model.resources": "TrackableResource",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
