"""`tf.experimental.ExtensionType`: classes of users that are composite tensors, and functions that take them.

Whichever of the files is imported first, `tf.map_fn` takes what is batchable.
"""

from tapeflow._src.extension import batching as batching
