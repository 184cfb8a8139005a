"""Report duplicate keys in YAML or JSON, where only the last one counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compiler.diagnostic import Diagnostic, Fix, Related
from compiler.frontends.places import on_one_line
from compiler.source import Repeated, Source, Span


def stand_again(code: str, source: Source, keys: Iterable[Repeated], effect: str = "") -> Iterator[Diagnostic]:
    """Report duplicate keys of a YAML or JSON document; `effect` is appended to each message."""
    return (_again(code, source, key, effect, "remove one of the two") for key in keys)


def stand_twice(source: Source, keys: Iterable[Repeated]) -> Iterator[Diagnostic]:
    """Report duplicate keys in the part of a document that rdc reads."""
    for key in keys:
        where = f" in `{key.path[-2]}`" if key.path[1:] else ""
        yield _again("RD013", source, key, f"{where}; only the last one would count", "remove or rename one of the two")


def _again(code: str, source: Source, key: Repeated, effect: str, remedy: str) -> Diagnostic:
    problem = on_one_line(f"duplicate key `{key.path[-1]}`{effect}")
    related = (Related(source.path, key.first, "first defined here"),)
    return Diagnostic(code, source.path, key.span, problem, remedy, related, _without_one(source, key.first, key.span))


def _without_one(source: Source, first: Span, again: Span) -> Fix | None:
    """Return the fix that removes one of two equal lines with a key and value, or None."""
    texts = [source.lines[span.line - 1][span.column - 1 :].rstrip() for span in (first, again)]
    if texts[0].removesuffix(",") != texts[1].removesuffix(",") or first.line == again.line:
        return None
    is_json = texts[0].startswith('"') and texts[0].endswith(",")
    line = first.line if is_json else again.line  # in JSON, the first line has the comma to remove
    column = (first if is_json else again).column
    before, below = source.lines[line - 1][: column - 1], filter(str.strip, source.lines[line:])
    holds_more = next(below, "")[:column].isspace()  # deeper lines belong to the value
    if before.strip() or texts[0].rstrip(",").endswith((":", "{", "[", "|", ">")) or (holds_more and not is_json):
        return None
    return Fix.by(source.whole_line(line), "", is_safe=True)
