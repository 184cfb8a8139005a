"""Complete names of parts, words of transitions, and keys and values of frontmatter, YAML and `rdc.toml`."""

from collections.abc import Iterable, Iterator
from re import Pattern

from lsprotocol import types as lsp

from compiler.frontends import recognize
from compiler.frontends.common.marks import Kind, names
from compiler.text.regex import Regex
from compiler.text.source import Source, Span
from rdc.documents.hints import Hints, hints_at
from rdc.lsp.documents import SETTINGS
from rdc.lsp.question import Question

OPTIONS = lsp.CompletionOptions(trigger_characters=[" ", ":", "{", "$", "@", "."])

_ITEM = r"\s{0,3}[-*+][ \t]+"
_OUTCOME = rf"{_ITEM}(?:PASS|FAIL|YES|NO)(?:[ \t]+(?:ALL|ANY))?[ \t]*:[ \t]*"
_RETRY = r"(?:RETRY[ \t]+(?:\d+[ \t]+)?)"

VALUES = (Kind.INPUT, Kind.OUTPUT)

Words = tuple[str, ...]

PLACES: dict[str, tuple[tuple[Pattern[str], Words, tuple[Kind, ...]], ...]] = {
    "rundown": (
        (Regex(rf"{_OUTCOME}{_RETRY}?GOTO[ \t]+(?:NEXT[ \t]+)?(?P<word>[\w.{{}}]*)"), ("NEXT",), (Kind.STEP,)),
        (Regex(rf"{_OUTCOME}{_RETRY}(?P<word>\w*)"), ("CONTINUE", "COMPLETE", "STOP", "GOTO "), ()),
        (Regex(rf"{_OUTCOME}(?P<word>\w*)"), ("CONTINUE", "COMPLETE", "STOP", "GOTO ", "RETRY "), ()),
        (Regex(rf"{_ITEM}(?:PASS|FAIL|YES|NO)[ \t]+(?P<word>\w*)"), ("ALL: ", "ANY: "), ()),
        (Regex(rf"{_ITEM}(?P<word>[A-Z]+)"), ("PASS: ", "FAIL: ", "YES: ", "NO: "), ()),
        (Regex(r".*\{\{(?P<word>\w*)"), (), VALUES),
        (Regex(r".*\$\{?(?P<word>\w*)"), (), (*VALUES, Kind.SECRET)),
    ),
    "playbook": (
        (Regex(r"\s*@(?P<word>\w*)"), ("output(", "elicit(", "prompt(", "tool("), ()),
        (Regex(r"\s*@elicit\((?P<word>\w*)"), ("input, ", "confirm, ", "select, "), ()),
        (Regex(r"\s*`{3,}(?:if|elif)[ \t]+(?P<word>\w*)"), (), VALUES),
        (Regex(r".*\{\{(?P<word>\w*)"), (), VALUES),
    ),
    "stepspec": ((Regex(r".*\{(?P<word>\w*)"), (), VALUES),),
}
"""The completions behind the start of a line, by format: words, and the names of parts of some kinds."""

ICONS = {
    Kind.STEP: lsp.CompletionItemKind.Function,
    Kind.INPUT: lsp.CompletionItemKind.Variable,
    Kind.OUTPUT: lsp.CompletionItemKind.Field,
    Kind.SECRET: lsp.CompletionItemKind.Constant,
    Kind.AGENT: lsp.CompletionItemKind.Class,
}


def complete(question: Question) -> list[lsp.CompletionItem]:
    """Return the completions at a position."""
    hints = hints_at(question.opened, SETTINGS, *question.place)
    if hints and (hints.choices or hints.names):
        return [*_hinted(question, hints)]
    before = question.lines.before(question.params.position)
    for pattern, words, kinds in PLACES.get(_format(question), ()):
        if found := pattern.fullmatch(before):
            return [*_placed(question, found["word"], words, kinds)]
    return []


def _format(question: Question) -> str:
    def recognized() -> str:
        source = question.opened.source
        form = recognize(source) if isinstance(source, Source) else None
        return form.name if form else ""

    return question.version.once("format", recognized)


def _hinted(question: Question, hints: Hints) -> Iterator[lsp.CompletionItem]:
    span = question.lines.range(hints.span)
    kind = lsp.CompletionItemKind.Property if hints.is_key else lsp.CompletionItemKind.Value
    for one in hints.choices:
        yield lsp.CompletionItem(
            one.name, kind=kind, documentation=one.description or None, text_edit=lsp.TextEdit(span, one.text)
        )
    if hints.names:
        yield from _names(question, (hints.names,), span, ": " if hints.is_key else "")


def _placed(question: Question, word: str, words: Words, kinds: tuple[Kind, ...]) -> Iterator[lsp.CompletionItem]:
    line, column = question.place
    row = question.lines.rows[line - 1]
    rest = row[column - 1 :]
    after = next((index for index, one in enumerate(rest) if not (one.isalnum() or one == "_")), len(rest))
    span = question.lines.range(Span(line, column - len(word), line, column + after))
    for one in words:
        yield lsp.CompletionItem(
            one.rstrip(" (:,"), kind=lsp.CompletionItemKind.Keyword, text_edit=lsp.TextEdit(span, one)
        )
    opened = row[: column - len(word) - 1]
    close = "}" * (len(opened) - len(opened.rstrip("{")))
    missing = close[len(rest[after:]) - len(rest[after:].lstrip("}")) :]
    yield from _names(question, kinds, span, missing)


def _names(question: Question, kinds: Iterable[Kind], span: lsp.Range, behind: str) -> Iterator[lsp.CompletionItem]:
    """Yield the names of the parts that the document defines, each once."""
    for one in names(question.marks, *kinds).values():
        name = one.id if one.kind is Kind.STEP else one.name
        yield lsp.CompletionItem(
            name, kind=ICONS.get(one.kind), detail=one.title or None, text_edit=lsp.TextEdit(span, name + behind)
        )
