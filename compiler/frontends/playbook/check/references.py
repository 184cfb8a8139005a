"""Check that names in text and conditions are known at their step."""

import re
from collections.abc import Iterable, Iterator
from itertools import takewhile

from msgspec.structs import replace

from compiler.diagnostics.model import Diagnostic, Fix
from compiler.frontends.playbook.lower.nodes import given, names_of, reply_slot
from compiler.frontends.playbook.parse.lines import Line, Scanned, patterns
from compiler.frontends.playbook.parse.messages import close, near
from compiler.frontends.playbook.syntax import Condition, Playbook, Step, every_step
from compiler.text.regex import Regex
from compiler.text.source import Source, Span

_USE = Regex(r"\{\{(?P<before>\s*)(?P<name>\w+)(?P<after>\s*)(?P<hint>:[^{}]*)?\}\}")


Names = set[str] | frozenset[str]

MOST_HINTS = 20  # how many unknown names per document get a suggestion; more of them have another cause

MOST_NAMES = 1000  # the most known names to compare with an unknown one


def check_references(source: Source, playbook: Playbook) -> Iterator[Diagnostic]:
    """Yield diagnostics for placeholders and conditions whose name is unknown at their place."""
    check = _Check(source, playbook)
    if playbook.system_span:
        yield from check.texts(range(playbook.system_span.line, playbook.system_span.end_line + 1), check.every)
    known = {declared.name for declared in playbook.inputs}
    for step in playbook.steps:
        yield from check.step(step, known)
        known |= given(step)
        for branch in step.branches:
            if branch.condition:
                yield from check.condition(branch.condition, known)
        for branch in step.branches:
            inside = set(known)
            for substep in branch.steps:  # it knows the outputs of earlier sub-steps in its branch
                yield from check.step(substep, inside)
                inside |= given(substep)
        known |= {name for branch in step.branches for substep in branch.steps for name in given(substep)}
    if playbook.artifact:
        yield from check.uses(playbook.artifact.span, check.every)


def known_sources(playbook: Playbook) -> dict[str, str]:
    """Return the source of each name in a document, in the terms of the conformance cases."""
    found = dict.fromkeys((name for step in every_step(playbook) for name in sorted(given(step))), "step_output")
    return found | dict.fromkeys((declared.name for declared in playbook.inputs), "input")


class _Check:
    def __init__(self, source: Source, playbook: Playbook) -> None:
        self.source = source
        self.givers: dict[str, Step] = {}
        for step in every_step(playbook):
            for name in given(step):
                self.givers.setdefault(name, step)
        self.every = names_of(playbook)
        self.hints = MOST_HINTS

    def step(self, step: Step, known: Names) -> Iterator[Diagnostic]:
        """Check the placeholders of a step without its branches; its text may use its own reply."""
        if step.elicit:
            yield from self.uses(step.elicit.span, known)
        known = known | {reply_slot(step)} if step.elicit else known
        if step.prompt:
            fails = "the run stops at this step" if step.prompt.scheme == "variable" and not step.tool else ""
            yield from self.uses(step.prompt.span, known, fails)
        if step.tool:
            yield from self.uses(step.tool.span, known)
        yield from self.texts(step.lines, known)

    def texts(self, numbers: Iterable[int], known: Names) -> Iterator[Diagnostic]:
        """Check the placeholders in whole lines."""
        for number in numbers:
            if "{{" in self.source.lines[number - 1]:
                yield from self.uses(self.source.line_span(number), known)

    def uses(self, span: Span, known: Names, otherwise: str = "") -> Iterator[Diagnostic]:
        """Check the placeholders within one line; `otherwise` is the effect of an unknown name (P9, P12)."""
        for found in _USE.finditer(self.source.lines[span.line - 1], span.column - 1, span.end_column - 1):
            place = Span(span.line, found.start() + 1, span.line, found.end() + 1)
            name, written = found["name"], found[0]
            if found["before"] or found["after"]:
                if name in self.every:
                    problem = f"`{written}` is text, because there are spaces inside its braces"
                    meant = f"{{{{{name}{found['hint'] or ''}}}}}"
                    fix = Fix.by(place, meant)
                    yield Diagnostic("RD721", self.source.path, place, problem, f"write {meant}", fix=fix)
            elif name not in known and (found["hint"] or "").count(":") < 2:
                becomes = otherwise or f"`{written}` is not replaced"
                why, remedy = self._missing(name, "{{", f"{found['hint'] or ''}}}}}")
                yield Diagnostic("RD721", self.source.path, place, f"{becomes}: {why}", remedy)

    def condition(self, condition: Condition, known: Names) -> Iterator[Diagnostic]:
        """Check that a condition's variable is an input or an earlier output (P14)."""
        name = condition.variable
        if name not in known:
            place = condition.span.part(0, len(name))
            why, remedy = self._missing(name, "`", "`")
            problem = f"this condition compares an empty string: {why}"
            yield Diagnostic("RD720", self.source.path, place, problem, remedy)

    def _missing(self, name: str, before: str, after: str) -> tuple[str, str]:
        """Return why a name has no value, and the remedy; `before` and `after` surround the name in its use."""
        if name in self.givers:
            giver = self.givers[name]
            why = f"`{name}` is only available after step {giver.label or giver.number}"
            return why, "move that step further up, or declare an input with this name"
        if name.isdecimal():
            remedy = "use a name instead: declare it under ## INPUTS, or write @output(name) in an earlier step"
            return "a number is not a name", remedy
        why = f"there is no input or @output `{name}`"
        if meant := self._meant(name):
            remedy = f"write {before}{meant}{after}, or declare `{name}` under ## INPUTS"
            return f"{why}; did you mean `{meant}`?", remedy
        return why, f"declare it under ## INPUTS, or write @output({name}) in an earlier step"

    def _meant(self, name: str) -> str:
        self.hints -= 1
        return near(name, sorted(self.every)[:MOST_NAMES]) if self.hints >= 0 else ""


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
        if line.kind == "ARTIFACTS" and "TYPE" not in takewhile({"TEXT", "TYPE"}.__contains__, kinds[index + 1 :]):
            problem = "this section has no type, so the last output is not written to a file"
            yield _at(source, line, "RD735", problem, "add a line `type: markdown` below it")


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
    """Return the heading as a step with its number or the one that is due, or as a sub-step if it has a letter."""
    word, digits = found["word"], found["number"] or str(due)
    number = str(_WORDS.index(word.lower()) + 1) if word else digits if digits.isascii() else str(int(digits))
    letter = (found["letter"] or "").lower()
    title = found["title"].strip(" *_`") or "Title"
    return f"{'###' if letter else '##'} STEP {number}{letter}: {title}"
