"""Parts of programs as kernels of their own, written in Pallas, where XLA would go through memory several times."""
