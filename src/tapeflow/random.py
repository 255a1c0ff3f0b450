"""`tf.random`: random numbers."""

from tapeflow.ops.random import categorical as categorical
from tapeflow.ops.random import normal as normal
from tapeflow.ops.random import set_seed as set_seed
from tapeflow.ops.random import shuffle as shuffle
from tapeflow.ops.random import stateless_categorical as stateless_categorical
from tapeflow.ops.random import stateless_normal as stateless_normal
from tapeflow.ops.random import stateless_truncated_normal as stateless_truncated_normal
from tapeflow.ops.random import stateless_uniform as stateless_uniform
from tapeflow.ops.random import truncated_normal as truncated_normal
from tapeflow.ops.random import uniform as uniform
