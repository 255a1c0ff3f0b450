"""`tf.distribute`: one program on several replicas, which meet to add up what they have computed."""
