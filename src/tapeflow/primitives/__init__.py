"""The primitives, by kind. Importing this package fills the table."""

from tapeflow.primitives import array, binary, elementwise, indexing, linalg, reduction, rules, table, unary

__all__ = ["array", "binary", "elementwise", "indexing", "linalg", "reduction", "rules", "table", "unary"]
