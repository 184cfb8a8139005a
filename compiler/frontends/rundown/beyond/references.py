"""Find references such as `{{ versoin }}` that probably mean an input or output (E1, E2)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from compiler.diagnostic import Diagnostic, Fix
from compiler.frontends.rundown.beyond.visible import written
from compiler.frontends.rundown.syntax import AnyStep, Complete, Runbook, Stop, all_steps
from compiler.regex import Regex
from compiler.source import Source, Span

_SINGLE = Regex(r"(?P<single>'[^']*')|\"(?:\\.|[^\"\\])*\"|\\.", re.DOTALL)
_ANY = Regex(r"(?<!\$)\{\{([^{}\n]{1,100})\}\}")


def almost_references(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Warn about names in double braces that are close to a declared name."""
    declared = runbook.declared.slots
    if not declared:
        return
    for step in all_steps(runbook):
        said = {match[0]: match[1] for text in _texts(step) for match in _ANY.finditer(text)}
        for whole, name in said.items():
            if name not in declared and (close := _nearest(name.strip(), declared)):
                problem = f"`{whole}` is not a reference, so it is shown unchanged; did you mean `{written(close)}`?"
                remedy = f"to show the value of `{close}`, write `{written(close)}` without spaces"
                span = _place(source, step, whole)
                is_there = span.end_column - span.column == len(whole)
                fix = Fix.by(span, written(close)) if is_there else None
                yield Diagnostic("RD016", source.path, span, problem, remedy, fix=fix)


def references_in_commands(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Report references in commands, which get inputs and outputs as environment variables instead."""
    declared = runbook.declared.slots
    for step in all_steps(runbook) if declared else ():
        command = step.code.text if step.code and step.code.interpreter else ""
        quoted = [match.span() for match in _SINGLE.finditer(command) if match["single"]]
        for match in _ANY.finditer(command):
            name = match[1].strip()
            if name not in declared:
                continue
            problem = f"`{match[0]}` is not replaced in a command: the shell gets it unchanged"
            is_quoted = any(start < match.start() < end for start, end in quoted)
            remedy = f'write `"${name}"`' + (" outside the single quotes" if is_quoted else "")
            span = _within(source, step, match[0])
            yield Diagnostic("RD135" if is_quoted else "RD134", source.path, span, problem, remedy)


def _within(source: Source, step: AnyStep, whole: str) -> Span:
    """Return the first place of a string in a step's block."""
    block, text = (step.code.span, step.code.text) if step.code else (step.span, "")
    for number in range(block.line, block.line + text.count("\n") + 2):
        if whole in (line := source.lines[number - 1]):
            start = line.index(whole) + 1
            return Span(number, start, number, start + len(whole))
    return block


def _texts(step: AnyStep) -> Iterator[str]:
    yield from (step.title, step.prompt)
    if step.code and not step.code.interpreter:
        yield step.code.text
    for transition in step.transitions:
        if isinstance(transition.action, Complete | Stop):
            yield transition.action.message


def _nearest(name: str, declared: Collection[str]) -> str | None:
    if name in declared:
        return name
    folded = {known.casefold().replace("_", "-"): known for known in declared}
    from difflib import get_close_matches  # noqa: PLC0415 (only for a text in double braces)

    plain = name.casefold().replace("_", "-")
    close = [plain] if plain in folded else get_close_matches(plain, folded, 1, 0.75)
    return folded[close[0]] if close else None


def _place(source: Source, step: AnyStep, whole: str) -> Span:
    """Return the first place of a string in a step outside its commands, or the place of the header."""
    code = step.code.span if step.code and step.code.interpreter else None
    for number, line in enumerate(source.lines[step.span.line - 1 :], step.span.line):
        if whole in line and not (code and code.line <= number <= code.end_line):
            start = line.index(whole) + 1
            return Span(number, start, number, start + len(whole))
    return step.span
