"""What everything else stands on: tensors, variables, dtypes, shapes, structures, errors."""
