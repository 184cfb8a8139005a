"""Check that names in text and conditions are known at their step (P9, P14)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from compiler.diagnostic import Diagnostic, Fix
from compiler.frontends.playbook.messages import near
from compiler.frontends.playbook.syntax import Condition, Playbook, Step, every_step
from compiler.regex import Regex
from compiler.source import Source, Span

_USE = Regex(r"\{\{(?P<before>\s*)(?P<name>\w+)(?P<after>\s*)(?P<hint>:[^{}]*)?\}\}")


Names = set[str] | frozenset[str]

MOST_HINTS = 20
"""How many unknown names per document get a suggestion; more of them have another cause."""

MOST_NAMES = 1000
"""The most known names to compare with an unknown one."""


def check_references(source: Source, playbook: Playbook) -> Iterator[Diagnostic]:
    """Yield diagnostics for placeholders and conditions whose name is unknown at their place."""
    check = _Check(source, playbook)
    if playbook.system_span:
        numbers = range(playbook.system_span.line, playbook.system_span.end_line + 1)
        yield from check.texts(numbers, check.every)
    known = {declared.name for declared in playbook.inputs}
    for step in playbook.steps:
        yield from check.step(step, known)
        known |= _given(step)
        for branch in step.branches:
            if branch.condition:
                yield from check.condition(branch.condition, known)
        yield from _branches(check, step, known)
        known |= {name for branch in step.branches for substep in branch.steps for name in _given(substep)}
    if playbook.artifact:
        yield from check.uses(playbook.artifact.span, check.every)


def _branches(check: _Check, step: Step, known: Names) -> Iterator[Diagnostic]:
    """Check the sub-steps of each branch, which know the outputs of earlier sub-steps in it."""
    for branch in step.branches:
        inside = set(known)
        for substep in branch.steps:
            yield from check.step(substep, inside)
            inside |= _given(substep)


def known_sources(playbook: Playbook) -> dict[str, str]:
    """Return the source of each name in a document, in the terms of the conformance cases."""
    found = dict.fromkeys((name for step in every_step(playbook) for name in sorted(_given(step))), "step_output")
    return found | dict.fromkeys((declared.name for declared in playbook.inputs), "input")


def _given(step: Step) -> set[str]:
    """Return the names that a step gives to later steps."""
    return ({step.output.name} if step.output else set()) | _replies(step)


def _replies(step: Step) -> set[str]:
    return {f"__elicit_step_{step.number}"} if step.elicit else set()


class _Check:
    def __init__(self, source: Source, playbook: Playbook) -> None:
        self.source = source
        self.givers: dict[str, Step] = {}
        for step in every_step(playbook):
            for name in _given(step):
                self.givers.setdefault(name, step)
        self.every = frozenset(self.givers) | {declared.name for declared in playbook.inputs}
        self.hints = MOST_HINTS

    def step(self, step: Step, known: Names) -> Iterator[Diagnostic]:
        """Check the placeholders of a step without its branches; its text may use its own reply."""
        if step.elicit:
            yield from self.uses(step.elicit.span, known)
        known = known | _replies(step) if step.elicit else known
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
        line = self.source.lines[span.line - 1]
        for found in _USE.finditer(line, span.column - 1, span.end_column - 1):
            place = Span(span.line, found.start() + 1, span.line, found.end() + 1)
            name, written = found["name"], found[0]
            if found["before"] or found["after"]:
                if name in self.every:
                    problem = f"`{written}` is text, because there are spaces inside its braces"
                    meant = f"{{{{{name}{found['hint'] or ''}}}}}"
                    yield replace(self._unresolved(place, problem, f"write {meant}"), fix=Fix.by(place, meant))
            elif name not in known and (found["hint"] or "").count(":") < 2:
                becomes = otherwise or f"`{written}` is not replaced"
                why, remedy = self._missing(name, "{{", f"{found['hint'] or ''}}}}}")
                yield self._unresolved(place, f"{becomes}: {why}", remedy)

    def condition(self, condition: Condition, known: Names) -> Iterator[Diagnostic]:
        """Check that a condition's variable is an input or an earlier output (P14)."""
        name = condition.variable
        if name not in known:
            span = condition.span
            place = Span(span.line, span.column, span.line, span.column + len(name))
            why, remedy = self._missing(name, "`", "`")
            problem = f"this condition compares an empty string: {why}"
            yield Diagnostic("RD720", self.source.path, place, problem, remedy)

    def _unresolved(self, place: Span, problem: str, remedy: str) -> Diagnostic:
        return Diagnostic("RD721", self.source.path, place, problem, remedy)

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
