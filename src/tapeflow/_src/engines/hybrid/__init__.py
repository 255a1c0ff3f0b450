"""The hybrid program: large products by BLAS, everything between them by XLA."""
