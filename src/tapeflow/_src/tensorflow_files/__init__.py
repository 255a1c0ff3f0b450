"""TensorFlow's own files: checkpoints and SavedModels, read and written without TensorFlow."""
