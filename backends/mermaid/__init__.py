"""The Mermaid target: a flowchart for review, which GitHub and many editors draw."""

from __future__ import annotations

from typing import ClassVar

from backends.base import Emission
from backends.mermaid.chart import MOST_ARROWS, MOST_CHARACTERS, Chart, escaped, is_too_big
from backends.picture.sheet import LinkOptions, PictureBackend, Sheet


class MermaidBackend(PictureBackend[LinkOptions]):
    """Mermaid flowcharts. They show everything that matters to a reviewer, and cannot run."""

    name: ClassVar[str] = "mermaid"
    summary: ClassVar[str] = "a flowchart for review, drawn by GitHub and many editors"
    suffix: ClassVar[str] = ".mmd"
    options = LinkOptions

    def draw(self, sheet: Sheet, options: LinkOptions) -> Emission:
        """Return the diagram, below comments that show its origin."""
        lines = Chart(sheet.drawn, {}, sheet.document, sheet.notes).lines(options.link_base, source_lines=True)
        text = "\n".join((*(f"%% {line}" for line in sheet.head(escaped)), *lines, ""))
        return Emission(f"%% {_TOO_BIG}\n{text}" if is_too_big(text) else text)


_TOO_BIG = (
    f"GitHub does not draw this diagram: it has more than {MOST_ARROWS} arrows or {MOST_CHARACTERS:,} characters."
)
