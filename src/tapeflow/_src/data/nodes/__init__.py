"""What a pipeline is made of: sources, and transformations of other nodes."""
