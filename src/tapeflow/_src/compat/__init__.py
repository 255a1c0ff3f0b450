"""`tf.compat`: names for programs that run on several versions of TensorFlow."""
