"""Draw programs: Graphviz lays out a DOT graph as SVG or PNG, and a comment names its source."""

from __future__ import annotations

from itertools import takewhile
from typing import Literal

from backends.dot.styles import stylesheet
from rdc.drawing.pictures import finished_png, finished_svg
from rdc.drawing.renderer import render

Form = Literal["svg", "png"]

_COMMENT = "// "


def draw(graph: str, form: Form, *, adapts: bool, has_marks: bool = False) -> bytes:
    """Return the picture of a graph from the dot target; raises `DrawingError`.

    Args:
        graph: The DOT text. The comments at its start are copied to the picture.
        form: The format.
        adapts: Whether an SVG uses dark colors on dark pages.
        has_marks: Whether the graph may mark changes.
    """
    head = takewhile(lambda line: line.startswith(_COMMENT), graph.split("\n"))
    notes = [line.removeprefix(_COMMENT) for line in head]
    picture = render(graph, form)
    if form == "png":
        return finished_png(picture, notes)
    return finished_svg(picture, notes, stylesheet("dark", has_marks=has_marks) if adapts else "")
