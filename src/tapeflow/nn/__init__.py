"""`tf.nn`: activations, losses and simple layers."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.ops.elementwise.functions import (
    sigmoid as sigmoid,
    softplus as softplus,
    softsign as softsign,
    tanh as tanh,
)
from tapeflow._src.ops.nn.activations import (
    batch_normalization as batch_normalization,
    bias_add as bias_add,
    crelu as crelu,
    elu as elu,
    embedding_lookup as embedding_lookup,
    gelu as gelu,
    in_top_k as in_top_k,
    l2_normalize as l2_normalize,
    leaky_relu as leaky_relu,
    moments as moments,
    relu as relu,
    relu6 as relu6,
    selu as selu,
    silu as silu,
    swish as swish,
    top_k as top_k,
    zero_fraction as zero_fraction,
)
from tapeflow._src.ops.nn.attention import (
    scaled_dot_product_attention as scaled_dot_product_attention,
)
from tapeflow._src.ops.nn.blocks import (
    depth_to_space as depth_to_space,
    space_to_batch as space_to_batch,
    space_to_depth as space_to_depth,
)
from tapeflow._src.ops.nn.candidates import (
    all_candidate_sampler as all_candidate_sampler,
    fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler,
)
from tapeflow._src.ops.nn.conv import (
    atrous_conv2d as atrous_conv2d,
    conv1d as conv1d,
    conv2d as conv2d,
    conv3d as conv3d,
    convolution as convolution,
    depthwise_conv2d as depthwise_conv2d,
    separable_conv2d as separable_conv2d,
)
from tapeflow._src.ops.nn.conv_transpose import (
    atrous_conv2d_transpose as atrous_conv2d_transpose,
    conv1d_transpose as conv1d_transpose,
    conv2d_transpose as conv2d_transpose,
    conv3d_transpose as conv3d_transpose,
    conv_transpose as conv_transpose,
)
from tapeflow._src.ops.nn.ctc import ctc_loss as ctc_loss
from tapeflow._src.ops.nn.dropout import dropout as dropout
from tapeflow._src.ops.nn.losses import (
    l2_loss as l2_loss,
    log_poisson_loss as log_poisson_loss,
    log_softmax as log_softmax,
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
    softmax as softmax,
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
)
from tapeflow._src.ops.nn.morphology import dilation2d as dilation2d, erosion2d as erosion2d
from tapeflow._src.ops.nn.pooling import (
    avg_pool as avg_pool,
    avg_pool1d as avg_pool1d,
    avg_pool2d as avg_pool2d,
    avg_pool3d as avg_pool3d,
    local_response_normalization as local_response_normalization,
    lrn as lrn,
    max_pool as max_pool,
    max_pool1d as max_pool1d,
    max_pool2d as max_pool2d,
    max_pool3d as max_pool3d,
    max_pool_with_argmax as max_pool_with_argmax,
    pool as pool,
)
from tapeflow._src.ops.nn.sampled_losses import (
    compute_accidental_hits as compute_accidental_hits,
    nce_loss as nce_loss,
    sampled_softmax_loss as sampled_softmax_loss,
)
from tapeflow._src.ops.nn.statistics import (
    batch_norm_with_global_normalization as batch_norm_with_global_normalization,
    compute_average_loss as compute_average_loss,
    normalize_moments as normalize_moments,
    scale_regularization_loss as scale_regularization_loss,
    sufficient_statistics as sufficient_statistics,
    weighted_moments as weighted_moments,
)
from tapeflow.nn import experimental as experimental

# For editors and type checkers: these are imported when they are first asked for.
if _typing.TYPE_CHECKING:
    from tapeflow._src.ops.nn.approximate import (
        approx_max_k as approx_max_k,
        approx_min_k as approx_min_k,
    )
    from tapeflow._src.ops.nn.backprops import (
        depthwise_conv2d_backprop_filter as depthwise_conv2d_backprop_filter,
        depthwise_conv2d_backprop_input as depthwise_conv2d_backprop_input,
    )
    from tapeflow._src.ops.nn.fractional import (
        fractional_avg_pool as fractional_avg_pool,
        fractional_max_pool as fractional_max_pool,
    )
    from tapeflow._src.ops.nn.isotonic import isotonic_regression as isotonic_regression
    from tapeflow._src.ops.nn.labels import (
        collapse_repeated as collapse_repeated,
        ctc_unique_labels as ctc_unique_labels,
    )
    from tapeflow._src.ops.root.convolving import with_space_to_batch as with_space_to_batch
    from tapeflow._src.sparse.ctc_decoding import (
        ctc_beam_search_decoder as ctc_beam_search_decoder,
        ctc_greedy_decoder as ctc_greedy_decoder,
    )
    from tapeflow._src.sparse.embedding import (
        embedding_lookup_sparse as embedding_lookup_sparse,
        safe_embedding_lookup_sparse as safe_embedding_lookup_sparse,
    )

__getattr__ = _Missing(
    "tf.nn",
    names={
        "ops.nn.approximate": "approx_max_k approx_min_k",
        "ops.nn.backprops": "depthwise_conv2d_backprop_input depthwise_conv2d_backprop_filter",
        "ops.nn.fractional": "fractional_max_pool fractional_avg_pool",
        "ops.nn.isotonic": "isotonic_regression",
        "ops.nn.labels": "collapse_repeated ctc_unique_labels",
        "ops.root.convolving": "with_space_to_batch",
        "sparse.ctc_decoding": "ctc_greedy_decoder ctc_beam_search_decoder",
        "sparse.embedding": "embedding_lookup_sparse safe_embedding_lookup_sparse",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
