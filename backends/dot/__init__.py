"""The DOT target: a graph that Graphviz draws, for review."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from backends.base import MARK, Backend, Emission
from backends.dot.ends import spread_ends
from backends.dot.graph import Graph
from backends.dot.strings import comment
from backends.dot.styles import SHAPES, Theme
from backends.links import LinkOptions
from backends.picture import picture
from compiler.ir.program import Program
from compiler.version import __version__


class DotOptions(LinkOptions):
    """`theme`: the colours, for a light page or for a dark one."""

    theme: Theme = "light"


class DotBackend(Backend[DotOptions]):
    """Graphs in the language of Graphviz, which say all that matters to a reviewer, and are not run."""

    name: ClassVar[str] = "dot"
    summary: ClassVar[str] = "a graph for review, drawn by Graphviz; `rdc graph` makes SVG and PNG of it"
    suffix: ClassVar[str] = ".dot"
    options = DotOptions
    tasks: ClassVar[frozenset[str]] = frozenset(SHAPES)

    def render(self, program: Program, options: DotOptions) -> Emission:
        """The graph below comments that say where it comes from."""
        drawn = spread_ends(picture(program))
        graph = Graph(drawn, program.title or program.name, options.theme, options.link_base)
        return Emission("\n".join((*_header(program), *graph.lines(), "")))


def _header(program: Program) -> Iterator[str]:
    source = program.sources[0]
    yield comment(f"{MARK} {__version__} from {source.path} (sha256 {source.sha256}).")
    yield comment(f"Do not edit: change {source.path} and compile it again.")
    for included in program.sources[1:]:
        yield comment(f"It includes {included.path} (sha256 {included.sha256}).")
