"""`tf.function`: trace once, run the graph."""
