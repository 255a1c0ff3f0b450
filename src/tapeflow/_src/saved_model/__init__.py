"""`tf.saved_model`: models that are loaded and served without the Python code that made them."""
