"""The messages of TensorFlow's graphs and SavedModels, by the numbers of their fields."""

from __future__ import annotations

from tapeflow._src.tensorflow_files.messages import (
    BOOL,
    BYTES,
    DOUBLE,
    FLOAT,
    INT,
    SIGNED,
    TEXT,
    Message,
)
from tapeflow._src.tensorflow_files.schemas import REFERENCE, SHAPE, VERSIONS

# Nodes. A tensor stays bytes until it is wanted: see `io/tensor_proto.py`.

ATTR = Message("AttrValue")
FUNC = Message("NameAttrList", name=(1, TEXT), attr=(2, {TEXT: ATTR}))
ATTR.add(
    s=(2, BYTES),
    i=(3, INT),
    f=(4, FLOAT),
    b=(5, BOOL),
    type=(6, INT),
    shape=(7, SHAPE),
    tensor=(8, BYTES),
    placeholder=(9, TEXT),
    func=(10, FUNC),
    list=(
        1,
        Message(
            "ListValue",
            s=(2, [BYTES]),
            i=(3, [INT]),
            f=(4, [FLOAT]),
            b=(5, [BOOL]),
            type=(6, [INT]),
            shape=(7, [SHAPE]),
            tensor=(8, [BYTES]),
            func=(9, [FUNC]),
        ),
    ),
)
NODE = Message(
    "NodeDef",
    name=(1, TEXT),
    op=(2, TEXT),
    input=(3, [TEXT]),
    device=(4, TEXT),
    attr=(5, {TEXT: ATTR}),
)
ARGUMENT = Message(
    "ArgDef",
    name=(1, TEXT),
    type=(3, INT),
    type_attr=(4, TEXT),
    number_attr=(5, TEXT),
    type_list_attr=(6, TEXT),
)
OP = Message(
    "OpDef",
    name=(1, TEXT),
    input_arg=(2, [ARGUMENT]),
    output_arg=(3, [ARGUMENT]),
    attr=(4, [Message("AttrDef", name=(1, TEXT), type=(2, TEXT), default_value=(3, ATTR))]),
    is_stateful=(17, BOOL),
    control_output=(20, [TEXT]),
)
FUNCTION = Message(
    "FunctionDef",
    signature=(1, OP),
    node_def=(3, [NODE]),
    ret=(4, {TEXT: TEXT}),
    attr=(5, {TEXT: ATTR}),
    control_ret=(6, {TEXT: TEXT}),
)
GRAPH = Message(
    "GraphDef",
    node=(1, [NODE]),
    library=(2, Message("FunctionDefLibrary", function=(1, [FUNCTION]))),
    versions=(4, VERSIONS),
)

# Structures of values.

STRUCTURE = Message("StructuredValue")
_SEQUENCE = Message("Sequence", values=(1, [STRUCTURE]))
TENSOR_SPEC = Message("TensorSpecProto", name=(1, TEXT), shape=(2, SHAPE), dtype=(3, INT))
STRUCTURE.add(
    none_value=(1, Message("NoneValue")),
    float64_value=(11, DOUBLE),
    int64_value=(12, SIGNED),
    string_value=(13, TEXT),
    bool_value=(14, BOOL),
    tensor_shape_value=(31, SHAPE),
    tensor_dtype_value=(32, INT),
    tensor_spec_value=(33, TENSOR_SPEC),
    type_spec_value=(34, Message("TypeSpecProto", type_spec_class_name=(3, TEXT))),
    bounded_tensor_spec_value=(35, TENSOR_SPEC),
    list_value=(51, _SEQUENCE),
    tuple_value=(52, _SEQUENCE),
    dict_value=(53, Message("DictValue", fields=(1, {TEXT: STRUCTURE}))),
    named_tuple_value=(
        54,
        Message(
            "NamedTupleValue",
            name=(1, TEXT),
            values=(2, [Message("PairValue", key=(1, TEXT), value=(2, STRUCTURE))]),
        ),
    ),
    tensor_value=(55, BYTES),
    numpy_value=(56, BYTES),
)

# Objects.

_FUNCTION_SPEC = Message(
    "FunctionSpec", fullargspec=(1, STRUCTURE), is_method=(2, BOOL), input_signature=(5, STRUCTURE)
)
SAVED_OBJECT = Message(
    "SavedObject",
    children=(1, [REFERENCE]),
    user_object=(
        4,
        Message("SavedUserObject", identifier=(1, TEXT), version=(2, VERSIONS), metadata=(3, TEXT)),
    ),
    asset=(5, Message("SavedAsset", asset_file_def_index=(1, INT))),
    function=(
        6,
        Message("SavedFunction", concrete_functions=(1, [TEXT]), function_spec=(2, _FUNCTION_SPEC)),
    ),
    variable=(
        7,
        Message(
            "SavedVariable",
            dtype=(1, INT),
            shape=(2, SHAPE),
            trainable=(3, BOOL),
            synchronization=(4, INT),
            aggregation=(5, INT),
            name=(6, TEXT),
        ),
    ),
    bare_concrete_function=(
        8,
        Message(
            "SavedBareConcreteFunction",
            concrete_function_name=(1, TEXT),
            argument_keywords=(2, [TEXT]),
            allowed_positional_arguments=(3, INT),
        ),
    ),
    constant=(9, Message("SavedConstant", operation=(1, TEXT))),
    resource=(10, Message("SavedResource", device=(1, TEXT))),
    captured_tensor=(
        12,
        Message("CapturedTensor", name=(1, TEXT), concrete_function=(2, TEXT)),
    ),
)
CONCRETE_FUNCTION = Message(
    "SavedConcreteFunction",
    bound_inputs=(2, [INT]),
    canonicalized_input_signature=(3, STRUCTURE),
    output_signature=(4, STRUCTURE),
)
TENSOR_INFO = Message("TensorInfo", name=(1, TEXT), dtype=(2, INT), tensor_shape=(3, SHAPE))
META_GRAPH = Message(
    "MetaGraphDef",
    meta_info_def=(
        1,
        Message(
            "MetaInfoDef",
            stripped_op_list=(2, Message("OpList", op=(1, [OP]))),
            tags=(4, [TEXT]),
            tensorflow_version=(5, TEXT),
        ),
    ),
    graph_def=(2, GRAPH),
    saver_def=(
        3,
        Message(
            "SaverDef",
            filename_tensor_name=(1, TEXT),
            save_tensor_name=(2, TEXT),
            restore_op_name=(3, TEXT),
            version=(7, INT),
        ),
    ),
    collection_def=(
        4,
        {TEXT: Message("CollectionDef", node_list=(1, Message("NodeList", value=(1, [TEXT]))))},
    ),
    signature_def=(
        5,
        {
            TEXT: Message(
                "SignatureDef",
                inputs=(1, {TEXT: TENSOR_INFO}),
                outputs=(2, {TEXT: TENSOR_INFO}),
                method_name=(3, TEXT),
            )
        },
    ),
    asset_file_def=(
        6,
        [Message("AssetFileDef", tensor_info=(1, TENSOR_INFO), filename=(2, TEXT))],
    ),
    object_graph_def=(
        7,
        Message(
            "SavedObjectGraph",
            nodes=(1, [SAVED_OBJECT]),
            concrete_functions=(2, {TEXT: CONCRETE_FUNCTION}),
        ),
    ),
)
SAVED_MODEL = Message(
    "SavedModel", saved_model_schema_version=(1, INT), meta_graphs=(2, [META_GRAPH])
)
