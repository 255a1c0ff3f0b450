"""tapeflow: TensorFlow's GradientTape system as a readable, fast Python library.

>>> import tapeflow as tf
>>> x = tf.Variable(3.0)
>>> with tf.GradientTape() as tape:
...     y = x**2
>>> tape.gradient(y, x)
<tf.Tensor: shape=(), dtype=float32, numpy=6.0>
"""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: F401, E501

import typing as _typing

from tapeflow._src.autodiff.tape import GradientTape as GradientTape
from tapeflow._src.core.context import executing_eagerly as executing_eagerly
from tapeflow._src.core.convert import constant as constant, convert_to_tensor as convert_to_tensor
from tapeflow._src.core.dtypes import (
    DType as DType,
    as_dtype as as_dtype,
    bfloat16 as bfloat16,
    bool_ as bool,
    complex64 as complex64,
    complex128 as complex128,
    double as double,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    half as half,
    int8 as int8,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    qint8 as qint8,
    qint16 as qint16,
    qint32 as qint32,
    quint8 as quint8,
    quint16 as quint16,
    resource as resource,
    string as string,
    uint8 as uint8,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
    variant as variant,
)
from tapeflow._src.core.indexed_slices import (
    IndexedSlices as IndexedSlices,
    IndexedSlicesSpec as IndexedSlicesSpec,
)
from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.core.placement.devices import device as device
from tapeflow._src.core.shapes import (
    TensorShape as TensorShape,
    broadcast_static_shape as broadcast_static_shape,
)
from tapeflow._src.core.spec import TensorSpec as TensorSpec, TypeSpec as TypeSpec
from tapeflow._src.core.tensor import Tensor as Tensor
from tapeflow._src.core.variables.variable import Variable as Variable
from tapeflow._src.core.versions import __version__ as __version__
from tapeflow._src.function.decorator import function as function
from tapeflow._src.keras import hook as _hook
from tapeflow._src.ops import methods as _methods
from tapeflow._src.ops.array.shaping import (
    bitcast as bitcast,
    broadcast_dynamic_shape as broadcast_dynamic_shape,
    broadcast_to as broadcast_to,
    cast as cast,
    ensure_shape as ensure_shape,
    expand_dims as expand_dims,
    get_static_value as get_static_value,
    identity as identity,
    identity_n as identity_n,
    is_tensor as is_tensor,
    rank as rank,
    reshape as reshape,
    shape as shape,
    shape_n as shape_n,
    size as size,
    squeeze as squeeze,
    stop_gradient as stop_gradient,
    transpose as transpose,
    type_spec_from_value as type_spec_from_value,
)
from tapeflow._src.ops.indexing.gathering import (
    boolean_mask as boolean_mask,
    gather as gather,
    gather_nd as gather_nd,
    one_hot as one_hot,
    sequence_mask as sequence_mask,
    where as where,
)
from tapeflow._src.ops.indexing.scattering import (
    dynamic_partition as dynamic_partition,
    dynamic_stitch as dynamic_stitch,
    scatter_nd as scatter_nd,
    tensor_scatter_nd_add as tensor_scatter_nd_add,
    tensor_scatter_nd_max as tensor_scatter_nd_max,
    tensor_scatter_nd_min as tensor_scatter_nd_min,
    tensor_scatter_nd_sub as tensor_scatter_nd_sub,
    tensor_scatter_nd_update as tensor_scatter_nd_update,
)
from tapeflow._src.ops.indexing.slicing import (
    newaxis as newaxis,
    slice_ as slice,
    strided_slice as strided_slice,
)

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    import keras as keras
    from keras import (
        initializers as initializers, losses as losses, metrics as metrics, optimizers as optimizers
    )
    from tapeflow import (
        audio as audio, autodiff as autodiff, autograph as autograph, bitwise as bitwise,
        compat as compat, config as config, data as data, debugging as debugging,
        distribute as distribute, dtypes as dtypes, errors as errors, experimental as experimental,
        export as export, feature_column as feature_column, graph_util as graph_util,
        image as image, io as io, linalg as linalg, lookup as lookup, math as math, mlir as mlir,
        nest as nest, nn as nn, profiler as profiler, quantization as quantization, queue as queue,
        ragged as ragged, random as random, raw_ops as raw_ops, saved_model as saved_model,
        sets as sets, signal as signal, sparse as sparse, strings as strings, summary as summary,
        sysconfig as sysconfig, test as test, train as train, types as types, version as version,
        xla as xla
    )
    from tapeflow._src.autodiff.custom_gradient import (
        custom_gradient as custom_gradient, grad_pass_through as grad_pass_through
    )
    from tapeflow._src.autodiff.graph_gradients import gradients as gradients, hessians as hessians
    from tapeflow._src.autodiff.recompute import recompute_grad as recompute_grad
    from tapeflow._src.autodiff.registered import (
        RegisterGradient as RegisterGradient, no_gradient as no_gradient
    )
    from tapeflow._src.autodiff.targets_and_sources import (
        UnconnectedGradients as UnconnectedGradients
    )
    from tapeflow._src.core.conversions import (
        register_tensor_conversion_function as register_tensor_conversion_function
    )
    from tapeflow._src.core.log import get_logger as get_logger
    from tapeflow._src.core.module import Module as Module
    from tapeflow._src.core.names import (
        name_scope as name_scope, get_current_name_scope as get_current_name_scope
    )
    from tapeflow._src.core.placement.spec import DeviceSpec as DeviceSpec
    from tapeflow._src.core.placement.transfers import transfers as transfers
    from tapeflow._src.core.variables.creators import (
        variable_creator_scope as variable_creator_scope
    )
    from tapeflow._src.core.variables.kinds import (
        VariableAggregation as VariableAggregation,
        VariableSynchronization as VariableSynchronization
    )
    from tapeflow._src.data.optional import OptionalSpec as OptionalSpec
    from tapeflow._src.data.specs import NoneTensorSpec as NoneTensorSpec
    from tapeflow._src.graph.graph import Graph as Graph
    from tapeflow._src.graph.operations import Operation as Operation
    from tapeflow._src.inspector.inspecting import inspect as inspect
    from tapeflow._src.io.tensor_messages import (
        make_tensor_proto as make_tensor_proto, make_ndarray as make_ndarray
    )
    from tapeflow._src.ops.array.creation import (
        zeros as zeros, ones as ones, zeros_like as zeros_like, ones_like as ones_like,
        fill as fill, range as range, linspace as linspace
    )
    from tapeflow._src.ops.array.moving import (
        concat as concat, stack as stack, unstack as unstack, split as split, tile as tile,
        repeat as repeat, pad as pad, reverse as reverse, roll as roll, meshgrid as meshgrid
    )
    from tapeflow._src.ops.control.batch_function import (
        nondifferentiable_batch_function as nondifferentiable_batch_function
    )
    from tapeflow._src.ops.control.control_flow import (
        cond as cond, case as case, switch_case as switch_case, while_loop as while_loop
    )
    from tapeflow._src.ops.control.functional import (
        map_fn as map_fn, scan as scan, foldl as foldl, foldr as foldr
    )
    from tapeflow._src.ops.control.grouping import group as group, no_op as no_op, tuple as tuple
    from tapeflow._src.ops.control.scopes import (
        control_dependencies as control_dependencies, init_scope as init_scope
    )
    from tapeflow._src.ops.control.tensor_array import TensorArray as TensorArray
    from tapeflow._src.ops.control.tensor_array_spec import TensorArraySpec as TensorArraySpec
    from tapeflow._src.ops.control.vectorized_map import vectorized_map as vectorized_map
    from tapeflow._src.ops.debugging.assertions import (
        Assert as Assert, assert_equal as assert_equal, assert_less as assert_less,
        assert_greater as assert_greater
    )
    from tapeflow._src.ops.debugging.shape_assertions import assert_rank as assert_rank
    from tapeflow._src.ops.effects.place import (
        timestamp as timestamp, inside_function as inside_function,
        is_symbolic_tensor as is_symbolic_tensor
    )
    from tapeflow._src.ops.effects.printing import print_ as print
    from tapeflow._src.ops.effects.py_function import (
        py_function as py_function, numpy_function as numpy_function
    )
    from tapeflow._src.ops.elementwise.arithmetic import (
        add as add, subtract as subtract, multiply as multiply, divide as divide,
        truediv as truediv, pow as pow, maximum as maximum, minimum as minimum,
        negative as negative, abs as abs, sign as sign, square as square, sqrt as sqrt,
        floor as floor, round as round, add_n as add_n, scalar_mul as scalar_mul, complex as complex
    )
    from tapeflow._src.ops.elementwise.clip import (
        clip_by_value as clip_by_value, clip_by_norm as clip_by_norm,
        clip_by_global_norm as clip_by_global_norm
    )
    from tapeflow._src.ops.elementwise.functions import (
        exp as exp, sin as sin, cos as cos, tan as tan, asin as asin, acos as acos, atan as atan,
        sinh as sinh, cosh as cosh, tanh as tanh, asinh as asinh, acosh as acosh, atanh as atanh,
        atan2 as atan2, sigmoid as sigmoid
    )
    from tapeflow._src.ops.elementwise.logic import (
        equal as equal, not_equal as not_equal, less as less, less_equal as less_equal,
        greater as greater, greater_equal as greater_equal, logical_and as logical_and,
        logical_or as logical_or, logical_not as logical_not
    )
    from tapeflow._src.ops.elementwise.saturation import saturate_cast as saturate_cast
    from tapeflow._src.ops.indexing.counting import (
        histogram_fixed_width_bins as histogram_fixed_width_bins,
        histogram_fixed_width as histogram_fixed_width
    )
    from tapeflow._src.ops.indexing.sequences import (
        reverse_sequence as reverse_sequence, unravel_index as unravel_index,
        truncatediv as truncatediv, truncatemod as truncatemod, realdiv as realdiv
    )
    from tapeflow._src.ops.linalg.decompositions import eig as eig, eigvals as eigvals
    from tapeflow._src.ops.linalg.diagonals import eye as eye
    from tapeflow._src.ops.linalg.einsum import einsum as einsum
    from tapeflow._src.ops.linalg.norm import norm as norm
    from tapeflow._src.ops.linalg.products import matmul as matmul, tensordot as tensordot
    from tapeflow._src.ops.nn.approximate import approx_top_k as approx_top_k
    from tapeflow._src.ops.nn.backprops import (
        conv2d_backprop_input_v2 as conv2d_backprop_input_v2,
        conv2d_backprop_filter_v2 as conv2d_backprop_filter_v2
    )
    from tapeflow._src.ops.nn.blocks import (
        space_to_batch_nd as space_to_batch_nd, batch_to_space as batch_to_space,
        space_to_batch as space_to_batch
    )
    from tapeflow._src.ops.random.distributions import random_index_shuffle as random_index_shuffle
    from tapeflow._src.ops.random.initializers import (
        zeros_initializer as zeros_initializer, ones_initializer as ones_initializer,
        constant_initializer as constant_initializer,
        random_uniform_initializer as random_uniform_initializer,
        random_normal_initializer as random_normal_initializer
    )
    from tapeflow._src.ops.reduction.reducing import (
        reduce_sum as reduce_sum, reduce_mean as reduce_mean, reduce_max as reduce_max,
        reduce_min as reduce_min, reduce_prod as reduce_prod, reduce_any as reduce_any,
        reduce_all as reduce_all, reduce_logsumexp as reduce_logsumexp, argmax as argmax,
        argmin as argmin, cumsum as cumsum
    )
    from tapeflow._src.ops.reduction.sorting import (
        sort as sort, argsort as argsort, searchsorted as searchsorted, unique as unique,
        unique_with_counts as unique_with_counts
    )
    from tapeflow._src.ops.root.convolving import conv as conv
    from tapeflow._src.ops.root.others import (
        AggregationMethod as AggregationMethod, guarantee_const as guarantee_const,
        parallel_stack as parallel_stack, matrix_square_root as matrix_square_root, fftnd as fftnd,
        ifftnd as ifftnd, rfftnd as rfftnd, irfftnd as irfftnd,
        required_space_to_batch_paddings as required_space_to_batch_paddings,
        extract_volume_patches as extract_volume_patches, CriticalSection as CriticalSection
    )
    from tapeflow._src.ragged.filling import (
        ragged_fill_empty_rows as ragged_fill_empty_rows,
        ragged_fill_empty_rows_grad as ragged_fill_empty_rows_grad
    )
    from tapeflow._src.ragged.spec import RaggedTensorSpec as RaggedTensorSpec
    from tapeflow._src.ragged.tensor import RaggedTensor as RaggedTensor
    from tapeflow._src.sparse.edit_distance import edit_distance as edit_distance
    from tapeflow._src.sparse.tensor import (
        SparseTensor as SparseTensor, SparseTensorSpec as SparseTensorSpec
    )
    from tapeflow._src.strings.buckets import fingerprint as fingerprint
    from tapeflow._src.strings.numbers import as_string as as_string
    from tapeflow._src.tensorflow_files.importing import import_graph_def as import_graph_def
    from tapeflow._src.tools.progress import progress as progress
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf",
    later="audio autodiff autograph bitwise compat config data debugging distribute dtypes errors experimental export feature_column graph_util image io linalg lookup math mlir nest nn profiler quantization queue ragged random raw_ops saved_model sets signal sparse strings summary sysconfig test train types version xla",
    elsewhere={
        "keras": "tapeflow.keras",
        "initializers": "tapeflow.keras.initializers",
        "losses": "tapeflow.keras.losses",
        "metrics": "tapeflow.keras.metrics",
        "optimizers": "tapeflow.keras.optimizers",
    },
    names={
        "autodiff.custom_gradient": "custom_gradient grad_pass_through",
        "autodiff.graph_gradients": "gradients hessians",
        "autodiff.recompute": "recompute_grad",
        "autodiff.registered": "RegisterGradient no_gradient",
        "autodiff.targets_and_sources": "UnconnectedGradients",
        "core.conversions": "register_tensor_conversion_function",
        "core.log": "get_logger",
        "core.module": "Module",
        "core.names": "name_scope get_current_name_scope",
        "core.placement.spec": "DeviceSpec",
        "core.placement.transfers": "transfers",
        "core.variables.creators": "variable_creator_scope",
        "core.variables.kinds": "VariableAggregation VariableSynchronization",
        "data.optional": "OptionalSpec",
        "data.specs": "NoneTensorSpec",
        "graph.graph": "Graph",
        "graph.operations": "Operation",
        "inspector.inspecting": "inspect",
        "io.tensor_messages": "make_tensor_proto make_ndarray",
        "ops.array.creation": "zeros ones zeros_like ones_like fill range linspace",
        "ops.array.moving": "concat stack unstack split tile repeat pad reverse roll meshgrid",
        "ops.control.batch_function": "nondifferentiable_batch_function",
        "ops.control.control_flow": "cond case switch_case while_loop",
        "ops.control.functional": "map_fn scan foldl foldr",
        "ops.control.grouping": "group no_op tuple",
        "ops.control.scopes": "control_dependencies init_scope",
        "ops.control.tensor_array": "TensorArray",
        "ops.control.tensor_array_spec": "TensorArraySpec",
        "ops.control.vectorized_map": "vectorized_map",
        "ops.debugging.assertions": "Assert assert_equal assert_less assert_greater",
        "ops.debugging.shape_assertions": "assert_rank",
        "ops.effects.place": "timestamp inside_function is_symbolic_tensor",
        "ops.effects.printing": "print:print_",
        "ops.effects.py_function": "py_function numpy_function",
        "ops.elementwise.arithmetic": "add subtract multiply divide truediv pow maximum minimum negative abs sign square sqrt floor round add_n scalar_mul complex",
        "ops.elementwise.clip": "clip_by_value clip_by_norm clip_by_global_norm",
        "ops.elementwise.functions": "exp sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh atan2 sigmoid",
        "ops.elementwise.logic": "equal not_equal less less_equal greater greater_equal logical_and logical_or logical_not",
        "ops.elementwise.saturation": "saturate_cast",
        "ops.indexing.counting": "histogram_fixed_width_bins histogram_fixed_width",
        "ops.indexing.sequences": "reverse_sequence unravel_index truncatediv truncatemod realdiv",
        "ops.linalg.decompositions": "eig eigvals",
        "ops.linalg.diagonals": "eye",
        "ops.linalg.einsum": "einsum",
        "ops.linalg.norm": "norm",
        "ops.linalg.products": "matmul tensordot",
        "ops.nn.approximate": "approx_top_k",
        "ops.nn.backprops": "conv2d_backprop_input_v2 conv2d_backprop_filter_v2",
        "ops.nn.blocks": "space_to_batch_nd batch_to_space space_to_batch",
        "ops.random.distributions": "random_index_shuffle",
        "ops.random.initializers": "zeros_initializer ones_initializer constant_initializer random_uniform_initializer random_normal_initializer",
        "ops.reduction.reducing": "reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_any reduce_all reduce_logsumexp argmax argmin cumsum",
        "ops.reduction.sorting": "sort argsort searchsorted unique unique_with_counts",
        "ops.root.convolving": "conv",
        "ops.root.others": "AggregationMethod guarantee_const parallel_stack matrix_square_root fftnd ifftnd rfftnd irfftnd required_space_to_batch_paddings extract_volume_patches CriticalSection",
        "ragged.filling": "ragged_fill_empty_rows ragged_fill_empty_rows_grad",
        "ragged.spec": "RaggedTensorSpec",
        "ragged.tensor": "RaggedTensor",
        "sparse.edit_distance": "edit_distance",
        "sparse.tensor": "SparseTensor SparseTensorSpec",
        "strings.buckets": "fingerprint",
        "strings.numbers": "as_string",
        "tensorflow_files.importing": "import_graph_def",
        "tools.progress": "progress",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
