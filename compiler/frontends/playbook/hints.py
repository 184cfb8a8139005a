"""Warn about text that was probably meant as something else (P3, P7, P13, P14)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

from msgspec.structs import replace

from compiler.diagnostic import Diagnostic, Fix
from compiler.frontends.playbook.lines import Line, Scanned, patterns
from compiler.frontends.playbook.messages import close, near
from compiler.regex import Regex
from compiler.source import Source, Span

_FORMS = {
    "output": '@output(name), @output(name: type) or @output(name, extract:"field")',
    "elicit": '@elicit(input, "…"), @elicit(confirm, "…?") or @elicit(select, "…", "one", "another")',
    "prompt": "@prompt(file:PATH), @prompt(library:ID), @prompt(mcp:SERVER/NAME) or @prompt({{name}})",
    "tool": '@tool(connection, tool) or @tool(connection, tool, {"name": "value"})',
}

_CALL = Regex(r"@(?P<word>\w+)\s*\(")
_MARKER = Regex(r"`{3,}\s*(?:if|elif|else|elseif|endif|end)\b", re.IGNORECASE)
_BARE_INPUT = Regex(r"`\w+`\s*[(:]")
_LISTED_INPUT = Regex(r"(?:\+|[0-9]{1,9}[.)])\s+(?=[`*_]{0,3}\w+[`*_]{0,3}\s*[(:])")
"""Matches the mark of another kind of list before an input."""

_BARE = Regex(r"```(?:if|elif)\s+(\w+)\s*```")
_WORDS = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_COUNTED = rf"(?P<number>\d{{1,9}})(?P<letter>[a-z]?)|(?P<word>{'|'.join(_WORDS)})"
_LETTERED = r"[\s#]{1,4}(?:[ivx]{1,5}|[a-z])(?=[*_`\])]{0,3}\s{0,3}[.:)—–→-])"
_STEP = Regex(
    rf" {{0,3}}#{{1,3}}[^\w#]{{0,6}}step(?:[\s#.:_-]{{0,4}}(?:{_COUNTED})|{_LETTERED})\b"
    r"[*_`\])]{0,3}[\s.:：)—–→-]{0,4}(?P<title>.*)",
    re.IGNORECASE,
)
_NUMBERLESS = Regex(r"(?: {0,3}#{1,3}\s*STEP|##\s+(?i:step))\s*:\s*(?P<title>\S.*)")
_FORM = Regex(r"## *STEP *[0-9]+ *[:.)–—-] *\S", re.IGNORECASE)
"""Matches a heading that was certainly meant as a step: a number and a mark before its title."""
_MEANT = {"else": "else", "endif": "endif", "end": "endif", "end if": "endif"}
_SECTIONS = ("SYSTEM", "INPUTS", "ARTIFACTS")
_READ = {"STEP", "SUBSTEP", "TITLE"}


def hints(source: Source, scanned: Scanned) -> Iterator[Diagnostic]:
    """Yield the hints for these lines, in document order."""
    for line in scanned.odd:
        text = source.lines[line.number - 1].strip()
        match text[0]:
            case "-" | "*":
                yield _input(source, line, text)
            case "+" | "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9":
                if found := _LISTED_INPUT.match(text):
                    yield _input(source, line, text, found.end())
            case "@":
                yield from _directive(source, line, text)
            case "`" if _BARE_INPUT.match(text):
                problem = "this line looks like an input but has no dash, so it is ignored"
                fix = Fix.by(Span(line.number, line.column, line.number, line.column), "- ")
                yield replace(_at(source, line, "RD736", problem, f"write `- {text}`"), fix=fix)
            case "`":
                yield from _marker(source, line, text)
    stray = list(_headings(source, scanned))
    yield from stray
    known = {item.span.line for item in stray if item.span}
    yield from (item for item in _sections(source, scanned) if item.span and item.span.line not in known)
    yield from _artifacts(source, scanned)


def _at(source: Source, line: Line, code: str, problem: str, remedy: str) -> Diagnostic:
    return Diagnostic(code, source.path, source.line_span(line.number), problem, remedy)


def _input(source: Source, line: Line, text: str, end: int = 1) -> Diagnostic:
    """Warn about a list item; `end` is the end of its mark."""
    remedy = "write - `name` (type): description, with the name in backticks"
    found = _at(source, line, "RD710", "this line is not a valid input, so it is ignored", remedy)
    if text[0] == "-":
        return found
    fix = Fix.by(Span(line.number, line.column, line.number, line.column + end), "-" if end == 1 else "- ")
    return replace(found, help="start the line with `-`: - `name` (type): description", fix=fix)


def _directive(source: Source, line: Line, text: str) -> Iterator[Diagnostic]:
    found = _CALL.match(text)
    if found is None:
        return
    word = found["word"]
    if word in _FORMS:
        problem = f"this @{word} is not complete, so it becomes part of the step's text"
        yield _at(source, line, "RD714", problem, f"write {_FORMS[word]} on one line")
    elif text.endswith(")"):
        known = [f"@{name}" for name in _FORMS]
        problem = f"there is no directive `@{word}`, so this line becomes part of the step's text"
        remedy = f"use one of {', '.join(known)}; if this is meant as text, put it in a sentence"
        hint = _at(source, line, "RD715", f"{problem}{close(f'@{word.lower()}', known)}", remedy)
        place = Span(line.number, line.column, line.number, line.column + 1 + len(word))
        yield replace(hint, fix=Fix.respelling(place, f"@{word}", near(f"@{word.lower()}", known)))


def _marker(source: Source, line: Line, text: str) -> Iterator[Diagnostic]:
    if found := _BARE.fullmatch(text):
        problem = f"`{found[1]}` is not a boolean input, so this line becomes part of the step's text"
        yield _at(source, line, "RD716", problem, f'write ```{found[0].strip("` ")} == "text"```')
    elif _MARKER.match(text):
        problem = "this looks like a branch marker but becomes part of the step's text"
        remedy = 'write ```if name == "text"```, ```elif name != "text"```, ```else``` or ```endif```'
        place = Span(line.number, line.column, line.number, line.column + len(text))
        fix = Fix.by(place, f"```{_MEANT[word]}```") if (word := text.strip("` ").lower()) in _MEANT else None
        yield replace(_at(source, line, "RD716", problem, remedy), fix=fix)


def _headings(source: Source, scanned: Scanned) -> Iterator[Diagnostic]:
    """Report each heading with the word step and a number that is not a step."""
    read = {line.number for line in scanned.lines if line.kind in _READ}
    begin = scanned.lines[0].number if scanned.lines else 1
    steps = 0
    places = {line.number for line in scanned.lines if line.kind == "STEP"}
    for number, text in enumerate(source.lines[begin - 1 :], begin):
        steps += number in places
        found = _STEP.match(text)
        if found and not (found["number"] or found["word"] or text.startswith("## ")):
            found = None  # a heading in the text of a step
        if found and number not in read and not patterns()["SUBSTEP"].fullmatch(text.rstrip()):
            problem = "this heading looks like a step but is not one, so it would not run"
            meant = _as_step(found, steps + 1)
            remedy = f"write `{meant}`, or reword the heading if it is not a step"
            fix = Fix.by(_line(number, text), meant, is_safe=bool(_FORM.match(text)))
            yield Diagnostic("RD713", source.path, source.line_span(number), problem, remedy, fix=fix)
        elif (found := _NUMBERLESS.match(text)) and number not in read:
            problem = "this step has no number, so it would not run"
            meant = f"## STEP {steps + 1}: {found['title'].strip()}"
            fix = Fix.by(_line(number, text), meant)
            yield Diagnostic("RD737", source.path, source.line_span(number), problem, f"write `{meant}`", fix=fix)


def _line(number: int, text: str) -> Span:
    return Span(number, 1, number, len(text) + 1)


def _artifacts(source: Source, scanned: Scanned) -> Iterator[Diagnostic]:
    """Warn about an artifact section without a type (P15)."""
    kinds = [line.kind for line in scanned.lines]
    for index, line in enumerate(scanned.lines):
        if line.kind == "ARTIFACTS" and "TYPE" not in takewhile(_is_inside, kinds[index + 1 :]):
            problem = "this section has no type, so the last output is not written to a file"
            yield _at(source, line, "RD735", problem, "add a line `type: markdown` below it")


def _is_inside(kind: str) -> bool:
    return kind in {"TEXT", "TYPE"}


def _sections(source: Source, scanned: Scanned) -> Iterator[Diagnostic]:
    """Note each section that is skipped (P3)."""
    has_title = any(line.kind == "TITLE" for line in scanned.lines)
    for line in scanned.lines if has_title else ():
        if line.kind != "SECTION":
            continue
        title = source.lines[line.number - 1].lstrip("# ").strip()
        problem = f"`{title}` is not a section of a playbook, so it is ignored{close(title.upper(), _SECTIONS)}"
        remedy = "use SYSTEM, INPUTS, STEP 1: Title or ARTIFACTS; keep the section if it is for readers"
        yield _at(source, line, "RD734", problem, remedy)


def _as_step(found: re.Match[str], due: int) -> str:
    """Return the heading in the form of a step, or of a sub-step if its number has a letter.

    Without a number in it, the step gets the number that is due.
    """
    word, digits = found["word"], found["number"] or str(due)
    number = str(_WORDS.index(word.lower()) + 1) if word else digits if digits.isascii() else str(int(digits))
    letter = (found["letter"] or "").lower()
    title = found["title"].strip(" *_`") or "Title"
    return f"{'###' if letter else '##'} STEP {number}{letter}: {title}"
