"""The Mermaid target: a flowchart for review, which GitHub and many editors draw."""

from typing import ClassVar

from backends.base import Emission
from backends.mermaid.chart import MOST_ARROWS, MOST_CHARACTERS, Chart, escaped, is_too_big
from backends.picture.looks import with_legend
from backends.picture.sheet import PictureBackend, PictureOptions, Sheet


class MermaidBackend(PictureBackend[PictureOptions]):
    """Mermaid flowcharts. They show everything that matters to a reviewer, and cannot run."""

    name: ClassVar[str] = "mermaid"
    summary: ClassVar[str] = "a flowchart for review, drawn by GitHub and many editors"
    suffix: ClassVar[str] = ".mmd"
    options = PictureOptions

    def draw(self, sheet: Sheet, options: PictureOptions) -> Emission:
        """Return the diagram, below comments that show its origin."""
        drawn = with_legend(sheet.drawn) if options.legend else sheet.drawn
        lines = Chart(drawn, {}, sheet.document, sheet.notes).lines(options.link_base, source_lines=True)
        text = "\n".join((*(f"%% {line}" for line in sheet.head(escaped)), *lines, ""))
        if is_too_big(text):
            limits = f"{MOST_ARROWS} arrows or {MOST_CHARACTERS:,} characters"
            text = f"%% GitHub does not draw this diagram: it has more than {limits}.\n{text}"
        return Emission(text)
