"""Keras's functions for neural networks, by kind."""

from tapeflow._src.keras.backend.nn.activations import (
    celu as celu,
    elu as elu,
    gelu as gelu,
    glu as glu,
    hard_shrink as hard_shrink,
    hard_sigmoid as hard_sigmoid,
    hard_silu as hard_silu,
    hard_tanh as hard_tanh,
    leaky_relu as leaky_relu,
    log_sigmoid as log_sigmoid,
    log_softmax as log_softmax,
    relu as relu,
    relu6 as relu6,
    selu as selu,
    sigmoid as sigmoid,
    silu as silu,
    soft_shrink as soft_shrink,
    softmax as softmax,
    softplus as softplus,
    softsign as softsign,
    sparse_plus as sparse_plus,
    sparse_sigmoid as sparse_sigmoid,
    sparsemax as sparsemax,
    squareplus as squareplus,
    tanh as tanh,
    tanh_shrink as tanh_shrink,
    threshold as threshold,
)
from tapeflow._src.keras.backend.nn.attention import (
    dot_product_attention as dot_product_attention,
    wrap_flash_attention as wrap_flash_attention,
)
from tapeflow._src.keras.backend.nn.convolutions import (
    conv as conv,
    conv_transpose as conv_transpose,
    depthwise_conv as depthwise_conv,
    separable_conv as separable_conv,
)
from tapeflow._src.keras.backend.nn.ctc import ctc_decode as ctc_decode, ctc_loss as ctc_loss
from tapeflow._src.keras.backend.nn.encodings import multi_hot as multi_hot, one_hot as one_hot
from tapeflow._src.keras.backend.nn.folding import (
    depth_to_space as depth_to_space,
    fold as fold,
    space_to_depth as space_to_depth,
    unfold as unfold,
)
from tapeflow._src.keras.backend.nn.losses import (
    binary_crossentropy as binary_crossentropy,
    categorical_crossentropy as categorical_crossentropy,
    sparse_categorical_crossentropy as sparse_categorical_crossentropy,
)
from tapeflow._src.keras.backend.nn.normalization import (
    batch_normalization as batch_normalization,
    moments as moments,
)
from tapeflow._src.keras.backend.nn.pooling import (
    adaptive_average_pool as adaptive_average_pool,
    adaptive_max_pool as adaptive_max_pool,
    average_pool as average_pool,
    max_pool as max_pool,
)
from tapeflow._src.keras.backend.nn.quality import psnr as psnr
