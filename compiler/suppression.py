"""Ignore warnings and notes at the request of a document or project, and report ignore comments without effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from compiler.comments import Comment, comments_in
from compiler.diagnostic import CODES, Diagnostic, Fix, Severity
from compiler.options import Place
from compiler.source import IGNORE, Source, Span, Spans
from compiler.suggestions import did_you_mean

OF_TARGETS = "RD5"
"""The start of codes that only targets and commands report; a comment for such a code may be useful."""


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
        return tuple(item for item in found if not self._ignores(item))

    def _ignores(self, item: Diagnostic) -> bool:
        if item.severity is Severity.ERROR:
            return False
        return item.code in self.codes or any(
            item.code in map(code_of, comment.words)
            for comment in self.comments.get(item.path, ())
            if _is_for(comment, item)
        )

    def useless(self, path: str, found: Iterable[Diagnostic], *, is_complete: bool) -> Iterator[Diagnostic]:
        """Warn about each code in a document's comments that ignores none of these diagnostics.

        This is only known if the diagnostics are complete, because an error hides later ones.
        """
        found = [item for item in found if item.path == path]
        for comment in self.comments.get(path, ()):
            if not comment.words:
                yield _useless(path, comment, "", "this comment has no diagnostic code", "add a code, such as RD405")
            for word in comment.words:
                yield from _problem(path, comment, word, found, is_complete=is_complete)


def code_of(word: str) -> str | None:
    """Return the code for `RD405` or its name `tolerated-failure`, or None if there is none."""
    if word in CODES:
        return word
    return next((code for code, known in CODES.items() if known.name == word), None)


def read_check(value: object, place: Place, spans: Spans) -> tuple[frozenset[str], list[Diagnostic]]:
    """Return the codes that a project ignores (`ignore` in its table `check`), and the diagnostics for them."""
    if not isinstance(value, Mapping):
        remedy = 'write `[check]` with `ignore = ["RD405"]` below it'
        return frozenset(), [place.finding("`check` must be a table", remedy)]
    found: list[Diagnostic] = []
    for key in value:
        if key != "ignore":
            own = Place(place.code, place.path, spans.get((str(key),), place.span))
            problem = f"there is no key `{key}` in `check`{did_you_mean(str(key), ['ignore'])}"
            found.append(own.finding(problem, "use the key `ignore`"))
    own = Place(place.code, place.path, spans.get(("ignore",), place.span))
    words = value.get("ignore", [])
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return frozenset(), [*found, own.finding("`ignore` must be a list of codes", 'write `ignore = ["RD405"]`')]
    refused = filter(None, map(_refusal, words))
    found += [own.finding(reason, "use the code of a warning or note, for example RD405") for reason in refused]
    return frozenset(code for word in words if (code := code_of(word)) and not _refusal(word)), found


def _is_for(comment: Comment, item: Diagnostic) -> bool:
    return comment.is_first if item.span is None else item.span.line == comment.target


def _refusal(word: str) -> str:
    """Return why a code cannot be ignored, or "" if it can."""
    code = code_of(word)
    if code is None:
        known = [known.name for known in CODES.values()]
        return f"there is no diagnostic `{word}`{did_you_mean(word, known)}"
    return f"{word} is an error, and errors cannot be ignored" if CODES[code].severity is Severity.ERROR else ""


def _problem(
    path: str, comment: Comment, word: str, found: Iterable[Diagnostic], *, is_complete: bool
) -> Iterator[Diagnostic]:
    if reason := _refusal(word):
        yield _useless(path, comment, word, reason, "use a warning or note of the next line, or remove the code")
        return
    code = code_of(word) or ""
    is_known = is_complete and not code.startswith(OF_TARGETS)
    if is_known and not any(item.code == code and _is_for(comment, item) for item in found):
        where = f"line {comment.target}" if comment.target else "the end of the document"
        yield _useless(path, comment, word, f"this comment has no effect: {where} has no {word}", "remove it")


def _useless(path: str, comment: Comment, word: str, problem: str, remedy: str) -> Diagnostic:
    rest = [other for other in comment.words if other != word]
    line = comment.span.line
    whole = Fix.by(Span(line, 1, line + 1, 1), "", is_safe=True) if comment.target else None
    fix = Fix.by(comment.place, f" {', '.join(rest)}", is_safe=True) if rest else whole
    return Diagnostic("RD007", path, comment.span, problem, remedy, fix=fix)
