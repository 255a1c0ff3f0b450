"""Files, memory, signals, and the loading of large libraries."""
