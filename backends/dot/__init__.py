"""The DOT target: a graph that Graphviz draws, for review."""

from __future__ import annotations

from typing import Annotated, ClassVar

from backends.base import Emission
from backends.dot.ends import spread_ends
from backends.dot.graph import Graph
from backends.dot.strings import comment
from backends.dot.styles import Theme
from backends.picture.links import LinkOptions
from backends.picture.sheet import PictureBackend, Sheet


class DotOptions(LinkOptions, frozen=True):
    """`theme`: the colors, for a light page or for a dark one."""

    theme: Annotated[Theme, "The colors: for a light page or for a dark one."] = "light"


class DotBackend(PictureBackend[DotOptions]):
    """Graphs in the language of Graphviz, which say all that matters to a reviewer, and are not run."""

    name: ClassVar[str] = "dot"
    summary: ClassVar[str] = "a graph for review, drawn by Graphviz; `rdc graph` makes SVG and PNG of it"
    suffix: ClassVar[str] = ".dot"
    options = DotOptions

    def draw(self, sheet: Sheet, options: DotOptions) -> Emission:
        """The graph below comments that say where it comes from."""
        graph = Graph(spread_ends(sheet.drawn), sheet.title, sheet.notes, options.theme, options.link_base)
        return Emission("\n".join((*map(comment, sheet.head()), *graph.lines(), "")))
