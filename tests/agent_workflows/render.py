"""The document of an agent workflow: YAML with every text in double quotes, or in a block where that is possible."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.agent_workflows.model import Flow, Report, Step

_BLOCK = re.compile(r"[A-Za-z][\x21-\x7e ]*(?:\n(?:[\x21-\x7e][\x20-\x7e]*)?)*\n[A-Za-z.]+")
"""What a literal block can be: it begins and ends with a word."""


def document(flow: Flow) -> str:
    """The YAML of a workflow."""
    return "\n".join(_lines(flow)) + "\n"


def quoted(text: str) -> str:
    """A text in double quotes."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def _lines(flow: Flow) -> Iterator[str]:
    yield f"name: {quoted(flow.name)}"
    if flow.description is not None:
        yield f"description: {quoted(flow.description)}"
    if flow.max_steps is not None:
        yield f"rdc: {{max-steps: {flow.max_steps}}}"
    yield "steps:"
    for step in flow.steps:
        yield from _step(step)


def _step(step: Step) -> Iterator[str]:
    yield f"  - name: {step.name}"
    if step.entries:
        yield f"    check: {step.check}"
        yield "    parallel:"
        for agent, prompt in step.entries:
            yield f"      - agent: {quoted(agent)}"
            yield f"        prompt: {_text(prompt, 10)}"
    else:
        yield from ((f"    agent: {quoted(step.agent)}",) if step.agent else ())
        yield f"    prompt: {_text(step.prompt, 6)}"
    if step.report:
        yield from _report(step.report)
    yield from (("    human: true",) if step.human else ())
    yield from ((f"    next: {step.next}",) if step.next else ())
    yield from (("    end: true",) if step.end else ())
    if step.conditions:
        yield "    conditions:"
        yield from (f"      - {{keyword: {quoted(word)}, goto: {target}}}" for word, target in step.conditions)


def _report(report: Report) -> Iterator[str]:
    yield f"    report: {{name: {report.name}, format: {quoted(report.format)}"
    yield f"      {', validation: ' + quoted(report.validation) if report.validation else ''}}}"


def _text(text: str, indent: int) -> str:
    if not _BLOCK.fullmatch(text):
        return quoted(text)
    return "|\n" + "\n".join(" " * indent + line if line else "" for line in text.split("\n"))
