"""The DOT target: a graph for review, which Graphviz draws."""

from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from backends.base import Emission
from backends.common.remarks import printable
from backends.dot.graph import Graph, spread_ends
from backends.picture.looks import Theme, with_legend
from backends.picture.model import Picture, picture
from backends.picture.sheet import PictureBackend, PictureOptions, Sheet
from compiler.ir.program import Program


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

    @staticmethod
    def numbered(program: Program) -> tuple[Picture, Iterator[str]]:
        """Return the picture of a program without a legend, and its graph, where boxes and arrows have ids."""
        drawn = spread_ends(picture(program))
        return drawn, Graph(drawn, program.title or program.name, drawn.notes, is_numbered=True).lines()
