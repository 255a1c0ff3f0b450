"""`tf.audio`: sound in WAV files."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.io.audio import decode_wav as decode_wav, encode_wav as encode_wav
# fmt: on
# isort: on

__getattr__ = _Missing("tf.audio", names={"io.audio": "decode_wav encode_wav"})


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
