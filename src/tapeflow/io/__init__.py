"""`tf.io`: files, records, serialized tensors and images."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.io.decode_csv import decode_csv as decode_csv
from tapeflow._src.io.files import (
    decode_base64 as decode_base64,
    decode_compressed as decode_compressed,
    decode_raw as decode_raw,
    encode_base64 as encode_base64,
    match_filenames_once as match_filenames_once,
    matching_files as matching_files,
    read_file as read_file,
    write_file as write_file,
)
from tapeflow._src.io.images import (
    decode_bmp as decode_bmp,
    decode_gif as decode_gif,
    decode_image as decode_image,
    decode_jpeg as decode_jpeg,
    decode_png as decode_png,
    encode_jpeg as encode_jpeg,
    encode_png as encode_png,
    is_jpeg as is_jpeg,
)
from tapeflow._src.io.records import (
    TFRecordOptions as TFRecordOptions,
    TFRecordWriter as TFRecordWriter,
)
from tapeflow._src.io.tensor_proto import (
    parse_tensor as parse_tensor,
    serialize_tensor as serialize_tensor,
)
from tapeflow._src.parsing.features import (
    FixedLenFeature as FixedLenFeature,
    FixedLenSequenceFeature as FixedLenSequenceFeature,
)
from tapeflow._src.parsing.json_example import decode_json_example as decode_json_example
from tapeflow._src.parsing.parse_example import (
    parse_example as parse_example,
    parse_single_example as parse_single_example,
)
from tapeflow._src.parsing.ragged_features import RaggedFeature as RaggedFeature
from tapeflow._src.parsing.sequences import (
    parse_sequence_example as parse_sequence_example,
    parse_single_sequence_example as parse_single_sequence_example,
)
from tapeflow._src.parsing.sparse_features import (
    SparseFeature as SparseFeature,
    VarLenFeature as VarLenFeature,
)
from tapeflow.io import gfile as gfile

# For editors and type checkers: these are imported when they are first asked for.
if _typing.TYPE_CHECKING:
    from tapeflow._src.io.graph_messages import write_graph as write_graph
    from tapeflow._src.io.jpeg import (
        decode_and_crop_jpeg as decode_and_crop_jpeg,
        extract_jpeg_shape as extract_jpeg_shape,
    )
    from tapeflow._src.sparse.serializing import (
        deserialize_many_sparse as deserialize_many_sparse,
        serialize_many_sparse as serialize_many_sparse,
        serialize_sparse as serialize_sparse,
    )

__getattr__ = _Missing(
    "tf.io",
    names={
        "io.graph_messages": "write_graph",
        "io.jpeg": "extract_jpeg_shape decode_and_crop_jpeg",
        "sparse.serializing": "serialize_sparse serialize_many_sparse deserialize_many_sparse",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
