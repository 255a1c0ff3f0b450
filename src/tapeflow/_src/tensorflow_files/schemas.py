"""The messages of TensorFlow's checkpoints, by the numbers of their fields."""

from __future__ import annotations

from tapeflow._src.tensorflow_files.messages import BOOL, FIXED32, INT, TEXT, Message

SHAPE = Message(
    "TensorShapeProto",
    dim=(2, [Message("Dim", size=(1, INT), name=(2, TEXT))]),
    unknown_rank=(3, BOOL),
)
VERSIONS = Message("VersionDef", producer=(1, INT), min_consumer=(2, INT), bad_consumers=(3, [INT]))

# A bundle: tensors by name.

HEADER = Message(
    "BundleHeaderProto", num_shards=(1, INT), endianness=(2, INT), version=(3, VERSIONS)
)
SLICE = Message(
    "TensorSliceProto", extent=(1, [Message("Extent", start=(1, INT), length=(2, INT))])
)
ENTRY = Message(
    "BundleEntryProto",
    dtype=(1, INT),
    shape=(2, SHAPE),
    shard_id=(3, INT),
    offset=(4, INT),
    size=(5, INT),
    crc32c=(6, FIXED32),
    slices=(7, [SLICE]),
)

# Which objects a checkpoint holds.

REFERENCE = Message("ObjectReference", node_id=(1, INT), local_name=(2, TEXT))
SERIALIZED = Message(
    "SerializedTensor", name=(1, TEXT), full_name=(2, TEXT), checkpoint_key=(3, TEXT)
)
SLOT = Message(
    "SlotVariableReference",
    original_variable_node_id=(1, INT),
    slot_name=(2, TEXT),
    slot_variable_node_id=(3, INT),
)
OBJECT = Message(
    "TrackableObject",
    children=(1, [REFERENCE]),
    attributes=(2, [SERIALIZED]),
    slot_variables=(3, [SLOT]),
    registered_saver=(4, Message("RegisteredSaver", name=(1, TEXT), object_name=(2, TEXT))),
    has_checkpoint_values=(5, Message("BoolValue", value=(1, BOOL))),
)
OBJECT_GRAPH = Message("TrackableObjectGraph", nodes=(1, [OBJECT]))
