"""`tf.RaggedTensor` and `tf.ragged`: tensors whose rows have different lengths.

Whichever of the files is imported first, the class has its methods, and ops take it.
"""

from tapeflow._src.ragged import methods as methods
