"""`tf.nn`: activations, losses and simple layers."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow.nn import experimental as experimental

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.keras.cell_wrappers import (
        RNNCellDropoutWrapper as RNNCellDropoutWrapper,
        RNNCellResidualWrapper as RNNCellResidualWrapper,
        RNNCellDeviceWrapper as RNNCellDeviceWrapper
    )
    from tapeflow._src.ops.elementwise.functions import (
        tanh as tanh, sigmoid as sigmoid, softplus as softplus, softsign as softsign
    )
    from tapeflow._src.ops.nn.activations import (
        relu as relu, relu6 as relu6, leaky_relu as leaky_relu, crelu as crelu, elu as elu,
        selu as selu, gelu as gelu, silu as silu, l2_normalize as l2_normalize, moments as moments,
        batch_normalization as batch_normalization, zero_fraction as zero_fraction,
        bias_add as bias_add, embedding_lookup as embedding_lookup, top_k as top_k,
        in_top_k as in_top_k, swish as swish
    )
    from tapeflow._src.ops.nn.approximate import (
        approx_max_k as approx_max_k, approx_min_k as approx_min_k
    )
    from tapeflow._src.ops.nn.attention import (
        scaled_dot_product_attention as scaled_dot_product_attention
    )
    from tapeflow._src.ops.nn.backprops import (
        depthwise_conv2d_backprop_input as depthwise_conv2d_backprop_input,
        depthwise_conv2d_backprop_filter as depthwise_conv2d_backprop_filter
    )
    from tapeflow._src.ops.nn.blocks import (
        space_to_depth as space_to_depth, depth_to_space as depth_to_space,
        space_to_batch as space_to_batch
    )
    from tapeflow._src.ops.nn.candidates import (
        fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler,
        all_candidate_sampler as all_candidate_sampler
    )
    from tapeflow._src.ops.nn.conv import (
        conv1d as conv1d, conv2d as conv2d, conv3d as conv3d, convolution as convolution,
        atrous_conv2d as atrous_conv2d, depthwise_conv2d as depthwise_conv2d,
        separable_conv2d as separable_conv2d
    )
    from tapeflow._src.ops.nn.conv_transpose import (
        conv1d_transpose as conv1d_transpose, conv2d_transpose as conv2d_transpose,
        conv3d_transpose as conv3d_transpose, conv_transpose as conv_transpose,
        atrous_conv2d_transpose as atrous_conv2d_transpose
    )
    from tapeflow._src.ops.nn.ctc import ctc_loss as ctc_loss
    from tapeflow._src.ops.nn.dropout import dropout as dropout
    from tapeflow._src.ops.nn.fractional import (
        fractional_max_pool as fractional_max_pool, fractional_avg_pool as fractional_avg_pool
    )
    from tapeflow._src.ops.nn.isotonic import isotonic_regression as isotonic_regression
    from tapeflow._src.ops.nn.labels import (
        collapse_repeated as collapse_repeated, ctc_unique_labels as ctc_unique_labels
    )
    from tapeflow._src.ops.nn.learned_candidates import (
        learned_unigram_candidate_sampler as learned_unigram_candidate_sampler
    )
    from tapeflow._src.ops.nn.losses import (
        softmax as softmax, log_softmax as log_softmax,
        softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
        sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
        sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
        weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
        log_poisson_loss as log_poisson_loss, l2_loss as l2_loss
    )
    from tapeflow._src.ops.nn.morphology import dilation2d as dilation2d, erosion2d as erosion2d
    from tapeflow._src.ops.nn.pooling import (
        max_pool1d as max_pool1d, max_pool2d as max_pool2d, max_pool3d as max_pool3d,
        max_pool as max_pool, max_pool_with_argmax as max_pool_with_argmax,
        avg_pool1d as avg_pool1d, avg_pool2d as avg_pool2d, avg_pool3d as avg_pool3d,
        avg_pool as avg_pool, pool as pool,
        local_response_normalization as local_response_normalization, lrn as lrn
    )
    from tapeflow._src.ops.nn.sampled_losses import (
        compute_accidental_hits as compute_accidental_hits, nce_loss as nce_loss,
        sampled_softmax_loss as sampled_softmax_loss
    )
    from tapeflow._src.ops.nn.statistics import (
        sufficient_statistics as sufficient_statistics, normalize_moments as normalize_moments,
        weighted_moments as weighted_moments,
        batch_norm_with_global_normalization as batch_norm_with_global_normalization,
        compute_average_loss as compute_average_loss,
        scale_regularization_loss as scale_regularization_loss
    )
    from tapeflow._src.ops.root.convolving import with_space_to_batch as with_space_to_batch
    from tapeflow._src.sparse.ctc_decoding import (
        ctc_greedy_decoder as ctc_greedy_decoder, ctc_beam_search_decoder as ctc_beam_search_decoder
    )
    from tapeflow._src.sparse.embedding import (
        embedding_lookup_sparse as embedding_lookup_sparse,
        safe_embedding_lookup_sparse as safe_embedding_lookup_sparse
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.nn",
    names={
        "keras.cell_wrappers": "RNNCellDropoutWrapper RNNCellResidualWrapper RNNCellDeviceWrapper",
        "ops.elementwise.functions": "tanh sigmoid softplus softsign",
        "ops.nn.activations": "relu relu6 leaky_relu crelu elu selu gelu silu l2_normalize moments batch_normalization zero_fraction bias_add embedding_lookup top_k in_top_k swish",
        "ops.nn.approximate": "approx_max_k approx_min_k",
        "ops.nn.attention": "scaled_dot_product_attention",
        "ops.nn.backprops": "depthwise_conv2d_backprop_input depthwise_conv2d_backprop_filter",
        "ops.nn.blocks": "space_to_depth depth_to_space space_to_batch",
        "ops.nn.candidates": "fixed_unigram_candidate_sampler all_candidate_sampler",
        "ops.nn.conv": "conv1d conv2d conv3d convolution atrous_conv2d depthwise_conv2d separable_conv2d",
        "ops.nn.conv_transpose": "conv1d_transpose conv2d_transpose conv3d_transpose conv_transpose atrous_conv2d_transpose",
        "ops.nn.ctc": "ctc_loss",
        "ops.nn.dropout": "dropout",
        "ops.nn.fractional": "fractional_max_pool fractional_avg_pool",
        "ops.nn.isotonic": "isotonic_regression",
        "ops.nn.labels": "collapse_repeated ctc_unique_labels",
        "ops.nn.learned_candidates": "learned_unigram_candidate_sampler",
        "ops.nn.losses": "softmax log_softmax softmax_cross_entropy_with_logits sparse_softmax_cross_entropy_with_logits sigmoid_cross_entropy_with_logits weighted_cross_entropy_with_logits log_poisson_loss l2_loss",
        "ops.nn.morphology": "dilation2d erosion2d",
        "ops.nn.pooling": "max_pool1d max_pool2d max_pool3d max_pool max_pool_with_argmax avg_pool1d avg_pool2d avg_pool3d avg_pool pool local_response_normalization lrn",
        "ops.nn.sampled_losses": "compute_accidental_hits nce_loss sampled_softmax_loss",
        "ops.nn.statistics": "sufficient_statistics normalize_moments weighted_moments batch_norm_with_global_normalization compute_average_loss scale_regularization_loss",
        "ops.root.convolving": "with_space_to_batch",
        "sparse.ctc_decoding": "ctc_greedy_decoder ctc_beam_search_decoder",
        "sparse.embedding": "embedding_lookup_sparse safe_embedding_lookup_sparse",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
