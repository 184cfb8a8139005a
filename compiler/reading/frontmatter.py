"""Read the YAML frontmatter at the top of a Markdown document of any format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compiler.diagnostics.model import Diagnostic
from compiler.text.regex import Regex
from compiler.text.source import Source

if TYPE_CHECKING:
    from compiler.reading.yaml import Reading

FENCE = Regex(r"---[ \t]*")


_HEADING = Regex(r"#{1,6}[ \t]")


def block_lines(source: Source) -> range:
    """Return the lines inside the frontmatter; if it isn't closed yet, those above the first heading."""
    lines = source.lines
    if not FENCE.fullmatch(lines[0]):
        return range(1, 1)
    rest = list(enumerate(lines[1:], 2))
    end = next((number for number, line in rest if FENCE.fullmatch(line)), 0)
    return range(2, end or next((number for number, line in rest if _HEADING.match(line)), len(lines) + 1))


def read_block(source: Source) -> tuple[Reading | None, int, list[Diagnostic]]:
    """Return a source's frontmatter or None, the next line of the document, and the diagnostics."""
    lines = source.lines
    if not FENCE.fullmatch(lines[0]):
        return None, 1, []
    end = next((number for number, line in enumerate(lines[1:], 2) if FENCE.fullmatch(line)), None)
    if end is None:
        problem = "the frontmatter is not closed"
        return None, 1, [Diagnostic("RD011", source.path, source.line_span(1), problem, "close it with a `---` line")]
    from compiler.reading.yaml import UnreadableError, read_mapping  # noqa: PLC0415 (most documents have no frontmatter)

    try:
        return read_mapping("\n".join(lines[1 : end - 1]), first_line=2), end + 1, []
    except UnreadableError as error:
        problem = f"the frontmatter is not valid YAML: {error}"
        return None, end + 1, [Diagnostic("RD010", source.path, source.line_span(error.line), problem, error.help)]
