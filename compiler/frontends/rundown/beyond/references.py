"""Texts such as `{{ versoin }}` that were probably meant to show an input or output (E1, E2)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.beyond.visible import written
from compiler.frontends.rundown.syntax import AnyStep, Complete, Runbook, Stop, all_steps
from compiler.source import Source, Span

_ANY = re.compile(r"(?<!\$)\{\{([^{}\n]{1,100})\}\}")


def almost_references(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """A warning for each text in double braces whose name is nearly one that the document declares."""
    declared = runbook.declared.slots
    if not declared:
        return
    for step in all_steps(runbook):
        said = {match[0]: match[1] for text in _texts(step) for match in _ANY.finditer(text)}
        for whole, name in said.items():
            if name not in declared and (close := _nearest(name.strip(), declared)):
                problem = f"`{whole}` is shown as it stands; did you mean `{written(close)}`?"
                remedy = f"write `{written(close)}`, without spaces, to show the value of `{close}`"
                yield Diagnostic("RD016", source.path, _place(source, step, whole), problem, remedy)


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
    """Where the text stands first in its step, but for the commands in it; else the step's header."""
    code = step.code.span if step.code and step.code.interpreter else None
    for number, line in enumerate(source.lines[step.span.line - 1 :], step.span.line):
        if whole in line and not (code and code.line <= number <= code.end_line):
            start = line.index(whole) + 1
            return Span(number, start, number, start + len(whole))
    return step.span
