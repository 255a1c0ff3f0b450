"""How elements travel through a pipeline: rows, passes, threads."""
