"""Draw the graph on standard input with the Graphviz in the package pygraphviz. Runs as a program."""

import sys

from pygraphviz import AGraph


def main(form: str, resolution: str) -> None:
    """Write the picture to standard output."""
    graph = AGraph(string=sys.stdin.buffer.read().decode())
    graph.graph_attr["dpi"] = resolution
    sys.stdout.buffer.write(graph.draw(format=form, prog="dot"))


if __name__ == "__main__":
    main(*sys.argv[1:])
