"""`tf.io`: files, records, serialized tensors and images."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow.io import gfile as gfile

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.io.decode_csv import decode_csv as decode_csv
    from tapeflow._src.io.files import (
        read_file as read_file, write_file as write_file, matching_files as matching_files,
        match_filenames_once as match_filenames_once, decode_raw as decode_raw,
        decode_compressed as decode_compressed, encode_base64 as encode_base64,
        decode_base64 as decode_base64
    )
    from tapeflow._src.io.graph_messages import write_graph as write_graph
    from tapeflow._src.io.images import (
        decode_image as decode_image, decode_png as decode_png, decode_jpeg as decode_jpeg,
        decode_bmp as decode_bmp, decode_gif as decode_gif, decode_webp as decode_webp,
        encode_png as encode_png, encode_jpeg as encode_jpeg, is_jpeg as is_jpeg
    )
    from tapeflow._src.io.jpeg import (
        extract_jpeg_shape as extract_jpeg_shape, decode_and_crop_jpeg as decode_and_crop_jpeg
    )
    from tapeflow._src.io.proto_fields import (
        decode_proto as decode_proto, encode_proto as encode_proto
    )
    from tapeflow._src.io.records import (
        TFRecordOptions as TFRecordOptions, TFRecordWriter as TFRecordWriter
    )
    from tapeflow._src.io.tensor_proto import (
        serialize_tensor as serialize_tensor, parse_tensor as parse_tensor
    )
    from tapeflow._src.parsing.features import (
        FixedLenFeature as FixedLenFeature, FixedLenSequenceFeature as FixedLenSequenceFeature
    )
    from tapeflow._src.parsing.json_example import decode_json_example as decode_json_example
    from tapeflow._src.parsing.parse_example import (
        parse_example as parse_example, parse_single_example as parse_single_example
    )
    from tapeflow._src.parsing.ragged_features import RaggedFeature as RaggedFeature
    from tapeflow._src.parsing.sequences import (
        parse_sequence_example as parse_sequence_example,
        parse_single_sequence_example as parse_single_sequence_example
    )
    from tapeflow._src.parsing.sparse_features import (
        VarLenFeature as VarLenFeature, SparseFeature as SparseFeature
    )
    from tapeflow._src.sparse.serializing import (
        serialize_sparse as serialize_sparse, serialize_many_sparse as serialize_many_sparse,
        deserialize_many_sparse as deserialize_many_sparse
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.io",
    names={
        "io.decode_csv": "decode_csv",
        "io.files": "read_file write_file matching_files match_filenames_once decode_raw decode_compressed encode_base64 decode_base64",
        "io.graph_messages": "write_graph",
        "io.images": "decode_image decode_png decode_jpeg decode_bmp decode_gif decode_webp encode_png encode_jpeg is_jpeg",
        "io.jpeg": "extract_jpeg_shape decode_and_crop_jpeg",
        "io.proto_fields": "decode_proto encode_proto",
        "io.records": "TFRecordOptions TFRecordWriter",
        "io.tensor_proto": "serialize_tensor parse_tensor",
        "parsing.features": "FixedLenFeature FixedLenSequenceFeature",
        "parsing.json_example": "decode_json_example",
        "parsing.parse_example": "parse_example parse_single_example",
        "parsing.ragged_features": "RaggedFeature",
        "parsing.sequences": "parse_sequence_example parse_single_sequence_example",
        "parsing.sparse_features": "VarLenFeature SparseFeature",
        "sparse.serializing": "serialize_sparse serialize_many_sparse deserialize_many_sparse",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
