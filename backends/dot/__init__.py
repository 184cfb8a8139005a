"""The DOT target: a graph for review, which Graphviz draws."""

from __future__ import annotations

from typing import Annotated, ClassVar

from backends.base import Emission
from backends.dot.graph import Graph, spread_ends
from backends.dot.strings import comment
from backends.dot.styles import Theme
from backends.picture.links import LinkOptions
from backends.picture.sheet import PictureBackend, Sheet


class DotOptions(LinkOptions, frozen=True):
    """`theme`: the colors, for a light or a dark page."""

    theme: Annotated[Theme, "The colors: for a light or a dark page."] = "light"


class DotBackend(PictureBackend[DotOptions]):
    """Graphs in the language of Graphviz. They show everything that matters to a reviewer, and cannot run."""

    name: ClassVar[str] = "dot"
    summary: ClassVar[str] = "a graph for review, drawn by Graphviz; `rdc graph` converts it to SVG or PNG"
    suffix: ClassVar[str] = ".dot"
    options = DotOptions

    def draw(self, sheet: Sheet, options: DotOptions) -> Emission:
        """Return the graph, below comments that show its origin."""
        graph = Graph(spread_ends(sheet.drawn), sheet.title, sheet.notes, options.theme, options.link_base)
        return Emission("\n".join((*map(comment, sheet.head()), *graph.lines(), "")))
