"""`tf.data.experimental.service`: datasets that servers compute, for several programs that train.

Servers are threads of one process, which is where datasets have to be made: they are Python objects, and are not sent
anywhere. Their elements are: whoever knows the address reads a dataset that was registered there.
"""
