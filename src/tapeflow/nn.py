"""`tf.nn`: activations, losses and simple layers."""

from tapeflow.core.missing import Missing as _Missing
from tapeflow.ops.losses import (
    l2_loss as l2_loss,
    log_poisson_loss as log_poisson_loss,
    log_softmax as log_softmax,
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
    softmax as softmax,
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
)
from tapeflow.ops.math import (
    sigmoid as sigmoid,
    softplus as softplus,
    softsign as softsign,
    tanh as tanh,
)
from tapeflow.ops.nn import (
    batch_normalization as batch_normalization,
    bias_add as bias_add,
    crelu as crelu,
    dropout as dropout,
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

__getattr__ = _Missing("tf.nn")
