"""Prove that formatting changes nothing that matters: both documents become the same program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.beyond.declarations import StepSettings
from compiler.frontends.rundown.formatting.emit import SEPARATOR
from compiler.frontends.rundown.formatting.pieces import Piece, Section
from compiler.frontends.rundown.link import Document
from compiler.frontends.rundown.lower import lower
from compiler.frontends.rundown.syntax import Runbook
from compiler.sameness import same
from compiler.source import Source


def same_meaning(source: Source, before: Runbook, after: Runbook) -> bool:
    """Return whether two syntax trees have the same program, metadata and scenarios, apart from places.

    Nested runbooks are not read, because they do not depend on the document that includes them.
    """
    return same(_meaning(source, before), _meaning(source, after))


def _meaning(source: Source, runbook: Runbook) -> tuple[object, ...]:
    document = Document(source, runbook, {}, is_whole=True)
    lowered = lower(document, {source.name: document})
    program = lowered.message if isinstance(lowered, Diagnostic) else lowered.program
    metadata = {key: value for key, value in runbook.metadata.items() if key not in {"scenarios", "rdc"}}
    head = runbook.title, runbook.description, runbook.prose, repr(metadata), repr(_options(runbook))
    return program, *head, runbook.scenarios, tuple(map(_said, runbook.declared.steps))


def _options(runbook: Runbook) -> object:
    """Return the options in the frontmatter, with step settings as a plain list."""
    options = runbook.metadata.get("rdc")
    if not isinstance(options, Mapping):
        return options
    said = list(options["steps"].values()) if isinstance(options.get("steps"), Mapping) else None
    return {key: said if key == "steps" else value for key, value in options.items()}


def _said(settings: StepSettings) -> tuple[object, ...]:
    return settings.step, settings.timeout, settings.delay, settings.backoff, tuple(settings.env.items())


def same_content(source: Source, before: Sequence[Section], moved: Source, after: Sequence[Section]) -> bool:
    """Return whether two documents have the same lines, each in the same step and kind of block."""
    return list(_content(source, before)) == list(_content(moved, after))


def _content(source: Source, sections: Sequence[Section]) -> Iterator[tuple[str, str]]:
    for section in sections:
        for piece in section.all():
            lines = source.lines[piece.first - 1 : piece.last]
            yield from ((_kind(piece), line) for line in lines if line.strip() and line != SEPARATOR)


def _kind(piece: Piece) -> str:
    """Return a piece's kind; a comment that moves between two texts becomes part of the prompt, as does a remark."""
    return "TEXT" if piece.kind in {"REST", "REMARK"} else piece.kind
