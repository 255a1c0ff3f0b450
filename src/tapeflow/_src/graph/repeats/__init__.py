"""Parts of a graph that come again and again, and loops that they can be."""
