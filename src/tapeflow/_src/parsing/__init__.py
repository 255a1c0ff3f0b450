"""Examples of TFRecord files as tensors: `tf.io.parse_example` and its like."""
