"""Draw pictures with Graphviz."""
