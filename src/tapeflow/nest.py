"""`tf.nest`: nested structures of lists, tuples and dictionaries."""

from tapeflow.core.missing import Missing as _Missing
from tapeflow.core.nest import (
    assert_same_structure as assert_same_structure,
    flatten as flatten,
    is_nested as is_nested,
    map_structure as map_structure,
    pack_sequence_as as pack_sequence_as,
)

__getattr__ = _Missing("tf.nest")
