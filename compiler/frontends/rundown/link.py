"""Find all runbooks that a document includes, and reject inclusions that leave the project or repeat."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

from msgspec import Struct

from compiler.diagnostics.model import Diagnostic, Related
from compiler.frontends.rundown.parse.document import Parsed
from compiler.frontends.rundown.syntax import Reference, Runbook, all_steps
from compiler.ir.graph import cycle_in, loop_regions
from compiler.project.options import Options
from compiler.project.project import Located
from compiler.text.files import FileIssue
from compiler.text.regex import Regex
from compiler.text.source import Source, Span
from compiler.text.suggestions import nearest_name

Find = Callable[[Source, str], Located | FileIssue]
"""Looks up the document that another document refers to by path."""

Parse = Callable[[Source], Parsed]


class Document(Struct, frozen=True):
    """A parsed document, whole if its tree is complete, and the names of the documents that it includes, by path."""

    source: Source
    runbook: Runbook
    includes: Mapping[str, str]
    is_whole: bool


class Linked(Struct, frozen=True):
    """A program's documents by name, and the main document's options; `is_endless` if documents include each other."""

    documents: Mapping[str, Document]
    sources: Mapping[str, Source]
    diagnostics: list[Diagnostic]
    options: Options
    is_endless: bool


def references(runbook: Runbook) -> Iterator[Reference]:
    """Return every reference to another runbook in document order."""
    return (reference for step in all_steps(runbook) for reference in step.runbooks)


def link(source: Source, find: Find, parse: Parse, must_exist: bool) -> Linked:
    """Load a document and everything that it includes, each once (V11)."""
    documents: dict[str, Document] = {}
    sources = {source.name: source}
    diagnostics: list[Diagnostic] = []
    options = Options()
    pending = [source]
    while pending:
        current = pending.pop()
        runbook, found, own, is_whole = parse(current)
        diagnostics += found
        if current is source:
            options = own
        if runbook is None:
            continue
        includes: dict[str, str] = {}
        for reference in references(runbook):
            if reference.path in includes:
                continue
            located = find(current, reference.path)
            result = located if isinstance(located, FileIssue) else sources.get(located.name) or located.read()
            if isinstance(result, Source):
                includes[reference.path] = result.name
                if result.name not in sources:
                    sources[result.name] = result
                    pending.append(result)
            elif must_exist or result.code != "RD301":
                diagnostics.append(Diagnostic(result.code, current.path, reference.span, result.message, result.help))
        diagnostics += _named_otherwise(current, runbook, find if must_exist else None)
        documents[current.name] = Document(current, runbook, includes, is_whole)
    cycles = list(_cycles(documents.values()))
    return Linked(documents, sources, diagnostics + cycles, options, bool(cycles))


_ITEM = Regex(
    r"\s*[-*+][ \t]+(?P<path>(?P<stem>[\w./-]{1,200}?)(?:\.(?P<kind>[A-Za-z]{5,10}))?\.?(?:md|MD|markdown)?)\s*"
)
"""Matches a list item that is only a path, with the word that may be a misspelled `runbook`."""

_STEP = Regex(
    r"^##[ \t]+\d[^\n]*\n(?:(?!##[ \t])[^\n]*\n)*?(?:```(?:bash|sh|shell)$|- (?:PASS|FAIL|YES|NO)\b)", re.MULTILINE
)
"""Matches a numbered step with a command or transition, which other numbered chapters don't have."""

MOST_ITEMS = 50  # the most items of a document to look up as files


def _named_otherwise(source: Source, runbook: Runbook, find: Find | None) -> Iterator[Diagnostic]:
    """Warn about items that name a runbook without its ending, which are text (G2); `find` is None without links."""
    lines = ((step, line) for step in all_steps(runbook) if "." in step.prompt for line in step.prompt.split("\n"))
    items = ((step, match) for step, line in lines if "." in line and (match := _ITEM.fullmatch(line)))
    for step, match in islice(items, MOST_ITEMS):
        if remedy := _meant(source, match, find):
            rest = enumerate(source.lines[step.span.line :], step.span.line + 1)
            line = next(number for number, text in rest if text.rstrip() == match[0].rstrip())
            span = Span(line, match.start("path") + 1, line, match.end("path") + 1)
            problem = f"`{match['path']}` is part of the prompt, because a runbook's name ends in `.runbook.md`"
            yield Diagnostic("RD044", source.path, span, problem, remedy)


def _meant(source: Source, item: re.Match[str], find: Find | None) -> str:
    """Return the remedy for an item that is a misspelled runbook, a runbook or beside one, or ""."""
    path, stem = item["path"], item["stem"]
    if item["kind"] and nearest_name(item["kind"].lower(), ["runbook"], 0.8):
        return "" if path.endswith(".runbook.md") else f"to include the runbook, write `- {stem}.runbook.md`"
    if find is None or not path.endswith(".md"):
        return ""
    stem = path.removesuffix(".md")
    if isinstance(find(source, f"{stem}.runbook.md"), Located):
        return f"to include the runbook, write `- {stem}.runbook.md`"
    found = find(source, path)
    text = found.read() if isinstance(found, Located) else None
    if not isinstance(text, Source) or not _STEP.search(text.text):
        return ""
    return f"to include it, rename the file to `{stem}.runbook.md`, and write `- {stem}.runbook.md`"


def _cycles(documents: Iterable[Document]) -> Iterator[Diagnostic]:
    inclusions = [(document, path, name) for document in documents for path, name in document.includes.items()]
    if not inclusions:
        return
    including: dict[str, dict[str, None]] = {}
    for document, _, name in inclusions:
        including.setdefault(name, {})
        including.setdefault(document.source.name, {})[name] = None
    for region in loop_regions(including):
        yield _cycle(inclusions, cycle_in(including, region))


def _cycle(inclusions: list[tuple[Document, str, str]], cycle: list[str]) -> Diagnostic:
    related = []
    for name, included in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
        document, path = next((d, p) for d, p, n in inclusions if (d.source.name, n) == (name, included))
        reference = next(item for item in references(document.runbook) if item.path == path)
        related.append(Related(document.source.path, reference.span, f"{name} includes {included}"))
    first = related[0]
    problem = "circular inclusion: " + " → ".join([*cycle, cycle[0]])
    remedy = "remove one of these inclusions; to repeat steps, use GOTO or RETRY"
    return Diagnostic("RD303", first.path, first.span, problem, remedy, tuple(related[1:]))
