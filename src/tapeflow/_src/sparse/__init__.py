"""`tf.SparseTensor` and `tf.sparse`: tensors of which only some elements are kept.

Whichever of the files is imported first, the class has its operators, and ops take it.
"""

from tapeflow._src.sparse import ctc_labels as ctc_labels, mapping as mapping, methods as methods
