"""Control flow, and functions over the rows of tensors."""
