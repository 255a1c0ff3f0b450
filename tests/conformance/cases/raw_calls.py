"""More raw ops, each called once: the pages of the reference have their examples from here."""

import numpy as np

X = np.array([[0.5, -1.0, 2.0], [3.0, 0.0, -0.5]], np.float32)
COLOUR = np.array([[[0.2, 0.4, 0.6]]], np.float32)
VOLUME = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2, 1)
IMAGE = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)
MATRIX = np.array([[2.0, 1.0], [1.0, 3.0]], np.float32)
COMPLEX = np.array([3 + 4j, 1 - 1j], np.complex64)
TRUE = [[True, False], [True, True]]
ROWS = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)
WINDOW = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "VALID"}
GENERATOR = {"key": np.array([3], np.uint64), "counter": np.array([1, 2], np.uint64), "alg": 1}
SOMEWHERE = {"indices": [[0, 1], [1, 2]], "updates": [7.0, -7.0]}

CALLS = {
    "AddN": {"inputs": [X, X, X]},
    "AdjustContrastv2": {"images": COLOUR, "contrast_factor": 2.0},
    "AdjustHue": {"images": COLOUR, "delta": 0.5},
    "AdjustSaturation": {"images": COLOUR, "scale": 0.5},
    "All": {"input": TRUE, "axis": 1},
    "Angle": {"input": COMPLEX},
    "Any": {"input": TRUE, "axis": 0},
    "ApproximateEqual": {"x": [1.0, 2.0], "y": [1.05, 2.5], "tolerance": 0.1},
    "ArgMin": {"input": X, "dimension": 1},
    "AsString": {"input": [1.5, 2.25], "precision": 2},
    "Atan2": {"y": [1.0, -1.0], "x": [1.0, 0.5]},
    "AvgPool3D": {"input": VOLUME, **WINDOW},
    "BatchMatMul": {"x": X, "y": X, "adj_y": True},
    "Betainc": {"a": [1.0, 2.0], "b": [2.0, 3.0], "x": [0.25, 0.5]},
    "Bitcast": {"input": [1.0, 2.0], "type": "int32"},
    "BroadcastArgs": {"s0": [2, 1], "s1": [3]},
    "BroadcastGradientArgs": {"s0": [2, 1], "s1": [1, 3]},
    "CheckNumerics": {"tensor": X, "message": "x"},
    "Complex": {"real": [3.0, 1.0], "imag": [4.0, -1.0]},
    "ComplexAbs": {"x": COMPLEX},
    "Conv2DBackpropInput": {
        "input_sizes": [1, 2, 2, 1],
        "filter": np.ones([2, 2, 1, 2], np.float32),
        "out_backprop": IMAGE,
        "strides": [1, 1, 1, 1],
        "padding": "SAME",
    },
    "Conv3D": {
        "input": VOLUME,
        "filter": np.ones([2, 2, 2, 1, 1], np.float32),
        "strides": [1, 1, 1, 1, 1],
        "padding": "VALID",
    },
    "Cumprod": {"x": X, "axis": 1},
    "DepthToSpace": {"input": np.arange(4, dtype=np.float32).reshape(1, 1, 1, 4), "block_size": 2},
    "DepthwiseConv2dNative": {
        "input": IMAGE,
        "filter": np.ones([1, 1, 2, 1], np.float32),
        "strides": [1, 1, 1, 1],
        "padding": "SAME",
    },
    "Diag": {"diagonal": [1.0, 2.0]},
    "DynamicPartition": {"data": [1.0, 2.0, 3.0], "partitions": [1, 0, 1], "num_partitions": 2},
    "EnsureShape": {"input": X, "shape": [2, None]},
    "Gather": {"params": [10, 20, 30], "indices": [2, 0]},
    "HSVToRGB": {"images": COLOUR},
    "Imag": {"input": COMPLEX},
    "InTopKV2": {"predictions": X, "targets": [2, 1], "k": 1},
    "Invert": {"x": np.array([1, 2, -3], np.int32)},
    "InvertPermutation": {"x": [2, 0, 1]},
    "LRN": {"input": IMAGE, "depth_radius": 1},
    "LinSpace": {"start": 0.0, "stop": 1.0, "num": 3},
    "LogicalAnd": {"x": [True, True], "y": [True, False]},
    "LogicalNot": {"x": [True, False]},
    "LogicalOr": {"x": [False, False], "y": [True, False]},
    "Lu": {"input": MATRIX},
    "MatrixDiag": {"diagonal": [1.0, 2.0]},
    "MatrixDiagPartV3": {"input": X, "k": 1, "padding_value": 0.0},
    "MatrixLogarithm": {"input": np.array([[1, 1], [0, 1]], np.complex64)},
    "MatrixSetDiag": {"input": MATRIX, "diagonal": [7.0, 8.0]},
    "MatrixTriangularSolve": {"matrix": MATRIX, "rhs": [[2.0], [4.0]]},
    "MaxPool3D": {"input": VOLUME, **WINDOW},
    "NextAfter": {"x1": [1.0, 1.0], "x2": [2.0, 0.0]},
    "NoOp": {},
    "Pad": {"input": [1.0, 2.0], "paddings": [[1, 2]]},
    "RGBToHSV": {"images": COLOUR},
    "RaggedTensorToTensor": {
        "shape": [2, 2],
        "values": [1, 2, 3],
        "default_value": 0,
        "row_partition_tensors": [np.array([0, 1, 3], np.int64)],
        "row_partition_types": ["ROW_SPLITS"],
    },
    "Real": {"input": COMPLEX},
    "ReduceJoin": {"inputs": [["a", "b"], ["c", "d"]], "reduction_indices": 1, "separator": "-"},
    "ReverseSequence": {"input": X, "seq_lengths": [2, 3], "seq_dim": 1},
    "Roll": {"input": X, "shift": 1, "axis": 1},
    "SegmentMax": {"data": ROWS, "segment_ids": [0, 0, 1]},
    "SegmentMean": {"data": ROWS, "segment_ids": [0, 0, 1]},
    "SegmentMin": {"data": ROWS, "segment_ids": [0, 0, 1]},
    "SegmentProd": {"data": ROWS, "segment_ids": [0, 0, 1]},
    "SegmentSum": {"data": ROWS, "segment_ids": [0, 0, 1]},
    "Select": {"condition": [True, False], "x": [1.0, 2.0], "y": [3.0, 4.0]},
    "ShapeN": {"input": [X, MATRIX]},
    "Size": {"input": X},
    "SplitV": {"value": X, "size_splits": [1, 2], "axis": 1, "num_split": 2},
    "StatelessRandomGetKeyCounter": {"seed": [1, 2]},
    "StatelessRandomNormal": {"shape": [2], "seed": [1, 2]},
    "StatelessRandomNormalV2": {"shape": [2], **GENERATOR},
    "StatelessRandomUniformIntV2": {"shape": [4], **GENERATOR, "minval": 0, "maxval": 10},
    "StatelessRandomUniformV2": {"shape": [2], **GENERATOR},
    "StatelessTruncatedNormal": {"shape": [2], "seed": [1, 2]},
    "StatelessTruncatedNormalV2": {"shape": [2], **GENERATOR},
    "StringToHashBucketStrong": {"input": ["a", "b"], "num_buckets": 10, "key": [1, 2]},
    "Substr": {"input": ["hello", "tape"], "pos": 1, "len": 2},
    "TensorScatterMax": {"tensor": X, **SOMEWHERE},
    "TensorScatterMin": {"tensor": X, **SOMEWHERE},
    "TensorScatterSub": {"tensor": X, **SOMEWHERE},
    "TensorScatterUpdate": {"tensor": X, **SOMEWHERE},
    "UnicodeScript": {"input": [97, 1072]},
    "UnicodeTranscode": {
        "input": ["aé"],
        "input_encoding": "UTF-8",
        "output_encoding": "UTF-16-BE",
    },
    "Unique": {"x": [3, 1, 3, 2]},
    "UniqueWithCounts": {"x": [3, 1, 3, 2]},
    "Zeta": {"x": [2.0, 4.0], "q": [1.0, 2.0]},
}


def _listed(found):
    """What an op with several results gives, without the class that TensorFlow makes for it."""
    return list(found) if isinstance(found, tuple) else found


def _raw(name, **arguments):
    return lambda tf: _listed(getattr(tf.raw_ops, name)(**arguments))


CASES = {name: _raw(name, **arguments) for name, arguments in CALLS.items()}
