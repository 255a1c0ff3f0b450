"""What a step is, to look at: its ops, times, memory and gradients as a page. `tapeflow.inspect`."""
