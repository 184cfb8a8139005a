"""Lines that are text, and were probably meant to be something else (P3, P7, P13, P14)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compiler.diagnostic import Diagnostic
from compiler.frontends.playbook.lines import Line, Scanned
from compiler.frontends.playbook.messages import close
from compiler.source import Source

_FORMS = {
    "output": '@output(name), @output(name: type) or @output(name, extract:"field")',
    "elicit": '@elicit(input, "…"), @elicit(confirm, "…?") or @elicit(select, "…", "one", "another")',
    "prompt": "@prompt(file:PATH), @prompt(library:ID), @prompt(mcp:SERVER/NAME) or @prompt({{name}})",
    "tool": '@tool(connection, tool) or @tool(connection, tool, {"name": "value"})',
}

_CALL = re.compile(r"@(?P<word>\w+)\s*\(")
_MARKER = re.compile(r"`{3,}\s*(?:if|elif|else|elseif|endif|end)\b", re.IGNORECASE)
_STEP = re.compile(r"#+\s+(?:\*\*)?step\s*[0-9]+", re.IGNORECASE)


def hints(source: Source, scanned: Scanned) -> Iterator[Diagnostic]:
    """What is to be said of such lines, in their order."""
    for line in scanned.odd:
        text = source.lines[line.number - 1].strip()
        match text[0]:
            case "-" | "*":
                yield _input(source, line, text)
            case "@":
                yield from _directive(source, line, text)
            case "`":
                yield from _marker(source, line, text)
            case "#":
                yield from _heading(source, line, text)
    for line in scanned.lines:
        if line.kind == "SECTION":
            yield from _heading(source, line, source.lines[line.number - 1])


def _at(source: Source, line: Line, code: str, problem: str, remedy: str) -> Diagnostic:
    return Diagnostic(code, source.path, source.line_span(line.number), problem, remedy)


def _input(source: Source, line: Line, text: str) -> Diagnostic:
    remedy = "write - `name` (type): description, with the name in backquotes"
    if text[0] == "*":
        remedy = "begin the line with `-`: - `name` (type): description"
    return _at(source, line, "RD710", "this line does not declare an input, and is left out", remedy)


def _directive(source: Source, line: Line, text: str) -> Iterator[Diagnostic]:
    found = _CALL.match(text)
    if found is None:
        return
    word = found["word"]
    if word in _FORMS:
        problem = f"this line is not a complete @{word}, so it is text of the step"
        yield _at(source, line, "RD714", problem, f"write {_FORMS[word]}, in one line")
    elif text.endswith(")"):
        known = [f"@{name}" for name in _FORMS]
        problem = f"`@{word}` is not a directive, so the line is text of the step"
        remedy = f"the directives are {', '.join(known)}; if this is meant to be text, put it into a sentence"
        yield _at(source, line, "RD715", f"{problem}{close(f'@{word.lower()}', known)}", remedy)


def _marker(source: Source, line: Line, text: str) -> Iterator[Diagnostic]:
    if _MARKER.match(text):
        problem = "this looks like the marker of a branch, but is text of the step"
        remedy = 'write ```if name == "text"```, ```elif name != "text"```, ```else``` or ```endif```'
        yield _at(source, line, "RD716", problem, remedy)


def _heading(source: Source, line: Line, text: str) -> Iterator[Diagnostic]:
    if _STEP.match(text):
        problem = "this heading looks like that of a step, but is not one"
        remedy = "write `## STEP 1: Title`, with STEP in capitals and a colon after the number"
        yield _at(source, line, "RD713", problem, remedy)
