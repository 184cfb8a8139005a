"""Pictures of programs: Graphviz lays out a graph in DOT, and the SVG or PNG is told where it comes from."""

from __future__ import annotations

from itertools import takewhile
from typing import Literal

from backends.dot.styles import stylesheet
from rdc.drawing.pictures import finished_png, finished_svg
from rdc.drawing.renderer import render

Form = Literal["svg", "png"]

_COMMENT = "// "


def draw(graph: str, form: Form, *, adapts: bool, has_marks: bool = False) -> bytes:
    """A picture of a graph that the dot target wrote; raises `DrawingError`.

    Args:
        graph: The text in DOT. The comments at its head say where it comes from, and the picture will too.
        form: What to draw.
        adapts: Whether an SVG takes dark colors where the page that shows it is dark.
        has_marks: Whether the graph may have marks on what changed.
    """
    head = takewhile(lambda line: line.startswith(_COMMENT), graph.split("\n"))
    notes = [line.removeprefix(_COMMENT) for line in head]
    picture = render(graph, form)
    if form == "png":
        return finished_png(picture, notes)
    return finished_svg(picture, notes, stylesheet("dark", has_marks=has_marks) if adapts else "")
