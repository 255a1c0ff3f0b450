"""`tf.audio`: sound in WAV files."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.io.audio import decode_wav as decode_wav, encode_wav as encode_wav

__getattr__ = _Missing("tf.audio")
