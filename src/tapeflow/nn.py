"""`tf.nn`: activations, losses and simple layers."""

from tapeflow.ops.losses import l2_loss as l2_loss
from tapeflow.ops.losses import log_poisson_loss as log_poisson_loss
from tapeflow.ops.losses import log_softmax as log_softmax
from tapeflow.ops.losses import (
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
)
from tapeflow.ops.losses import softmax as softmax
from tapeflow.ops.losses import (
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
)
from tapeflow.ops.losses import (
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
)
from tapeflow.ops.losses import (
    weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
)
from tapeflow.ops.math import sigmoid as sigmoid
from tapeflow.ops.math import softplus as softplus
from tapeflow.ops.math import softsign as softsign
from tapeflow.ops.math import tanh as tanh
from tapeflow.ops.nn import batch_normalization as batch_normalization
from tapeflow.ops.nn import bias_add as bias_add
from tapeflow.ops.nn import crelu as crelu
from tapeflow.ops.nn import dropout as dropout
from tapeflow.ops.nn import elu as elu
from tapeflow.ops.nn import embedding_lookup as embedding_lookup
from tapeflow.ops.nn import gelu as gelu
from tapeflow.ops.nn import in_top_k as in_top_k
from tapeflow.ops.nn import l2_normalize as l2_normalize
from tapeflow.ops.nn import leaky_relu as leaky_relu
from tapeflow.ops.nn import moments as moments
from tapeflow.ops.nn import relu as relu
from tapeflow.ops.nn import relu6 as relu6
from tapeflow.ops.nn import selu as selu
from tapeflow.ops.nn import silu as silu
from tapeflow.ops.nn import swish as swish
from tapeflow.ops.nn import top_k as top_k
from tapeflow.ops.nn import zero_fraction as zero_fraction
