"""Drawing pictures with Graphviz."""
