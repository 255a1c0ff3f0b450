"""TensorFlow's modules that are not public, as far as libraries built on it reach for them.

`tensorflow.python.framework.ops` and its kin exist under the name of TensorFlow only: the redirect makes them from the
table in `modules`. What they hold is public here under another name, or is small and stands in this folder.
"""
