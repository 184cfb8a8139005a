"""The Mermaid target: a flowchart that GitHub and many editors draw, for review."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from backends.base import MARK, Backend, Emission
from backends.links import LinkOptions
from backends.mermaid.chart import MOST_ARROWS, MOST_CHARACTERS, SHAPES, chart, is_too_big
from backends.mermaid.labels import escaped
from compiler.ir.program import Program
from compiler.version import __version__


class MermaidBackend(Backend[LinkOptions]):
    """Mermaid flowcharts, which say all that matters to a reviewer, and are not run."""

    name: ClassVar[str] = "mermaid"
    summary: ClassVar[str] = "a flowchart for review, drawn by GitHub and many editors"
    suffix: ClassVar[str] = ".mmd"
    options = LinkOptions
    tasks: ClassVar[frozenset[str]] = frozenset(SHAPES)

    def render(self, program: Program, options: LinkOptions) -> Emission:
        """The diagram below comments that say where it comes from."""
        text = "\n".join((*_header(program), chart(program, {}, source_lines=True, link_base=options.link_base)))
        return Emission(f"%% {_TOO_BIG}\n{text}" if is_too_big(text) else text)


_TOO_BIG = f"GitHub does not draw this: it has more than {MOST_ARROWS} arrows or {MOST_CHARACTERS:,} characters."


def _header(program: Program) -> Iterator[str]:
    """Where the diagram comes from, in comments; a path could hold what Mermaid takes for a directive."""
    source = program.sources[0]
    yield f"%% {MARK} {__version__} from {escaped(source.path)} (sha256 {source.sha256})."
    yield f"%% Do not edit: change {escaped(source.path)} and compile it again."
    for included in program.sources[1:]:
        yield f"%% It includes {escaped(included.path)} (sha256 {included.sha256})."
