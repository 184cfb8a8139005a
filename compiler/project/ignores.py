"""Ignore warnings and notes at the request of a document or project, and report ignore comments without effect."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import islice

from msgspec import Struct

from compiler.diagnostics.issues import OptionSource, diagnostics
from compiler.diagnostics.model import CODES, Diagnostic, Fix, Issue, Severity
from compiler.reading.comments import Comment, comments_in
from compiler.text.source import IGNORE, Source, Span, Spans
from compiler.text.suggestions import did_you_mean

OF_TARGETS = "RD5"
"""The start of codes that only targets and commands report; a comment for such a code may be useful."""


_BY_NAME = {known.name: code for code, known in CODES.items()}

MOST_CODES = 50  # the most codes that are checked in a comment

MOST_SUGGESTIONS = 100  # the most unknown words that get a suggestion: finding one takes time


class Ignores(Struct, frozen=True):
    """The ignored codes of a project, and the ignore comments by file."""

    codes: frozenset[str]
    comments: Mapping[str, tuple[Comment, ...]]

    @classmethod
    def of(cls, codes: frozenset[str], sources: Iterable[Source], markdown: frozenset[str]) -> Ignores:
        """Return the ignores of a project and of sources; `markdown` are the paths of Markdown sources."""
        found = {
            source.path: tuple(comments_in(source, is_markdown=source.path in markdown or source.path.endswith(".md")))
            for source in sources
            if IGNORE in source.text
        }
        return cls(codes, found)

    def kept(self, found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Return the diagnostics that are not ignored; errors are always kept."""
        named = {
            (path, code_of(word), line)
            for path, comments in self.comments.items()
            for comment in comments
            for word in comment.words
            for line in _lines_of(comment)
        }
        return tuple(
            item
            for item in found
            if item.severity is Severity.ERROR
            or not (item.code in self.codes or (item.path, item.code, _line_of(item)) in named)
        )

    def useless(self, path: str, found: Iterable[Diagnostic], *, is_complete: bool) -> Iterator[Diagnostic]:
        """Warn about each code in a document's comments that ignores none of these diagnostics.

        This is only known if the diagnostics are complete, because an error hides later ones.
        """
        there = {(item.code, _line_of(item)) for item in found if item.path == path}
        comments = self.comments.get(path, ())
        words = dict.fromkeys(word for comment in comments for word in comment.words if code_of(word) is None)
        compared = frozenset(islice(words, MOST_SUGGESTIONS))
        for comment in comments:
            if not comment.words:
                yield _useless(path, comment, "", "this comment has no diagnostic code", "add a code, such as RD405")
            if len(comment.words) > MOST_CODES:
                problem = f"this comment has more than {MOST_CODES} codes"
                yield Diagnostic("RD007", path, comment.span, problem, "name only the codes of the next line")
                continue
            for word in comment.words:
                yield from _diagnostic(path, comment, word, there, is_complete=is_complete, suggests=word in compared)


def code_of(word: str) -> str | None:
    """Return the code for `RD405` or its name `tolerated-failure`, or None if there is none."""
    return word if word in CODES else _BY_NAME.get(word)


def read_check(value: object, place: OptionSource, spans: Spans) -> tuple[frozenset[str], list[Diagnostic]]:
    """Return the codes that a project ignores (`ignore` in its table `check`), and the diagnostics for them."""
    words = value.get("ignore", []) if isinstance(value, Mapping) else []
    is_list = isinstance(words, list) and all(isinstance(word, str) for word in words)
    found = diagnostics(_issues(value, words if is_list else None), place.around(spans))
    codes = (code_of(word) for word in words if not _issue(word)) if is_list else ()
    return frozenset(filter(None, codes)), found


def _issues(value: object, words: list[str] | None) -> Iterator[Issue]:
    if not isinstance(value, Mapping):
        yield Issue((), "`check` must be a table", 'write `[check]` with `ignore = ["RD405"]` below it')
        return
    for key in map(str, value):
        if key != "ignore":
            problem = f"there is no key `{key}` in `check`{did_you_mean(key, ['ignore'])}"
            yield Issue((key,), problem, "use the key `ignore`")
    if words is None:
        yield Issue(("ignore",), "`ignore` must be a list of codes", 'write `ignore = ["RD405"]`')
    for reason in filter(None, map(_issue, words or ())):
        yield Issue(("ignore",), reason, "use the code of a warning or note, for example RD405")


def _line_of(item: Diagnostic) -> int | None:
    return item.span.line if item.span else None


def _lines_of(comment: Comment) -> tuple[int | None, ...]:
    """Return the lines of the diagnostics that a comment is for; None for the whole file."""
    return (comment.target, None) if comment.is_first else (comment.target,)


def _issue(word: str, *, suggests: bool = True) -> str:
    code = code_of(word)
    if code is None:
        return f"there is no diagnostic `{word}`{did_you_mean(word, _BY_NAME) if suggests else ''}"
    return f"{word} is an error, and errors cannot be ignored" if CODES[code].severity is Severity.ERROR else ""


def _diagnostic(
    path: str,
    comment: Comment,
    word: str,
    there: Container[tuple[str, int | None]],
    *,
    is_complete: bool,
    suggests: bool,
) -> Iterator[Diagnostic]:
    if reason := _issue(word, suggests=suggests):
        yield _useless(path, comment, word, reason, "use a warning or note of the next line, or remove the code")
        return
    code = code_of(word) or ""
    is_known = is_complete and not code.startswith(OF_TARGETS)
    if is_known and not any((code, line) in there for line in _lines_of(comment)):
        where = f"line {comment.target}" if comment.target else "the end of the document"
        yield _useless(path, comment, word, f"this comment has no effect: {where} has no {word}", "remove it")


def _useless(path: str, comment: Comment, word: str, problem: str, remedy: str) -> Diagnostic:
    rest = [other for other in comment.words if other != word]
    line = comment.span.line
    whole = Fix.by(Span(line, 1, line + 1, 1), "", is_safe=True) if comment.target else None
    fix = Fix.by(comment.place, f" {', '.join(rest)}", is_safe=True) if rest else whole
    return Diagnostic("RD007", path, comment.span, problem, remedy, fix=fix)
