"""Where the time of a program goes, and its memory: `tf.profiler`, `tapeflow profile`."""
