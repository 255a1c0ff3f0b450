"""Functions as graphs of ONNX's operators: `tf.export.to_onnx`."""
