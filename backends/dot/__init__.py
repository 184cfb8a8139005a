"""The DOT target: a graph for review, which Graphviz draws."""

from typing import ClassVar

from pydantic import Field

from backends.base import Emission
from backends.common.remarks import printable
from backends.dot.graph import Graph, spread_ends
from backends.picture.looks import Theme, with_legend
from backends.picture.sheet import PictureBackend, PictureOptions, Sheet


class DotOptions(PictureOptions):
    """`theme`: the colors, for a light or a dark page."""

    theme: Theme = Field(default="light", description="The colors: for a light or a dark page.")


class DotBackend(PictureBackend[DotOptions]):
    """Graphs in the language of Graphviz. They show everything that matters to a reviewer, and cannot run."""

    name: ClassVar[str] = "dot"
    summary: ClassVar[str] = "a graph for review, drawn by Graphviz; `rdc graph` converts it to SVG or PNG"
    suffix: ClassVar[str] = ".dot"
    options = DotOptions

    def draw(self, sheet: Sheet, options: DotOptions) -> Emission:
        """Return the graph, below comments that show its origin."""
        drawn = spread_ends(sheet.drawn)
        drawn = with_legend(drawn) if options.legend else drawn
        graph = Graph(drawn, sheet.title, sheet.notes, options.theme, options.link_base)
        return Emission("\n".join((*(f"// {printable(line)}" for line in sheet.head()), *graph.lines(), "")))
