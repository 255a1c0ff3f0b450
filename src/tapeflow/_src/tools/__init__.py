"""The command line, progress bars, test cases, and scripts written for TensorFlow."""
