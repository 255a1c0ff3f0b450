"""`GradientTape.explain`: how a target depends on a source, or why it does not."""
