"""Texts about the part at a position, and the lens above a document that shows its flow.

A document may be hostile, so its strings are in code blocks or escaped: an editor would load images and follow links.
"""

import re
from collections.abc import Iterator

from lsprotocol import types as lsp

from compiler.diagnostics.issues import page
from compiler.frontends.common.marks import Kind, Mark, Role, of_same_part
from compiler.ir.edges import Keep
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Shell, Task, task_texts
from compiler.text.source import Span
from rdc.documents.hints import hints_at
from rdc.lsp.documents import SETTINGS
from rdc.lsp.question import Question
from rdc.terminal.cells import visible
from runtime_shim.operator.report import in_markdown

SHOW_FLOW = "rdc.showFlow"
"""The command of the lens. The editor runs `rdc view --open` with the document's path."""

MOST_LINES, LONGEST_LINE, MOST_TRANSITIONS = 12, 200, 12


def lenses(question: Question) -> list[lsp.CodeLens]:
    """Return the lens above a document that has steps."""
    steps = any(one.kind is Kind.STEP and one.role is Role.DEFINITION for one in question.marks)
    if not (steps and question.version.path):
        return []
    top = question.lines.range(None)
    return [lsp.CodeLens(top, lsp.Command("Show the flow", SHOW_FLOW, arguments=[question.version.uri]))]


def hover(question: Question) -> lsp.Hover | None:
    """Return the explanations of the diagnostics at a position, and a text about the step, name or key there."""
    mark = question.mark
    sections = [*_explanations(question)]
    hints = None if mark and mark.kind is not Kind.KEY else hints_at(question.opened, SETTINGS, *question.place)
    if mark and mark.kind is not Kind.KEY:
        sections.insert(0, "\n\n".join(filter(None, _about(question, mark))))
    elif hints and hints.description:
        sections.insert(0, f"**{in_markdown(hints.path[-1])}**\n\n{in_markdown(hints.description, 1000)}")
    span = mark.span if mark else hints.span if hints else None
    if not any(sections):
        return None
    content = lsp.MarkupContent(lsp.MarkupKind.Markdown, "\n\n---\n\n".join(filter(None, sections)))
    return lsp.Hover(content, question.lines.range(span) if span else None)


def _explanations(question: Question) -> Iterator[str]:
    result = question.result
    found, place = result.checked.diagnostics if result else (), Span(*question.place, *question.place)
    here = (one.code for one in found if one.path == question.version.name and one.span and one.span.has(place))
    for code in dict.fromkeys(here):
        title, _, rest = page(code).removeprefix("# ").partition("\n")
        meaning, _, more = rest.partition("\n## Why it matters\n")
        why = more.partition("\n## ")[0]
        yield f"**{title}**\n\n{meaning.replace('## Meaning', '').strip()}\n\n{why.strip()}"


def _about(question: Question, mark: Mark) -> Iterator[str]:
    """Yield the paragraphs about a part that the document defines, from the last good program."""
    parts = of_same_part(question.marks, mark)
    if not any(one.role is Role.DEFINITION for one in parts):
        return
    title = next((one.title for one in parts if one.title), "")
    yield f"**{in_markdown(mark.kind)} {in_markdown(mark.name)}** {in_markdown(title)}".strip()
    program = question.good.program if question.good else None
    if program and mark.kind is Kind.STEP:
        yield from _about_step(program, mark.id)
    elif program:
        yield from _about_value(program, mark.id)
    uses = sum(one.role is Role.REFERENCE for one in parts)
    yield f"Used in {uses} place{'' if uses == 1 else 's'}."


def _about_step(program: Program, name: str) -> Iterator[str]:
    node = next((one for one in program.nodes if one.id == name), None)
    if node:
        yield _content(node.task)
        yield "\n".join(_transitions(node))
    elif group := next((one for one in program.groups if one.id == name), None):
        inside = [one for one in program.nodes if one.group == group.id and not one.is_passed]
        yield "\n".join(f"- {in_markdown(one.id)} {in_markdown(one.title)}" for one in inside[:MOST_TRANSITIONS])


def _transitions(node: Node) -> Iterator[str]:
    lines: dict[str, None] = {}
    for edge in node.edges:
        words = [test.word.upper() for test in edge.guard if test.kind == "outcome"]
        label = edge.label or f"→ {edge.target}"
        lines[f"- {in_markdown(', '.join(words) or 'else')}: {in_markdown(label)}"] = None
    return iter([*lines][:MOST_TRANSITIONS])


def _about_value(program: Program, name: str) -> Iterator[str]:
    if given := next((one for one in program.inputs if one.name == name), None):
        options = f", one of {', '.join(map(in_markdown, given.options))}" if given.options else ""
        default = "" if given.default is None else f", by default {in_markdown(given.default) or 'empty'}"
        yield f"{given.type}{options}{default}"
        yield in_markdown(given.description, 1000)
    kept = [one for one in program.nodes if any(_keeps(effect, name) for edge in one.edges for effect in edge.effects)]
    if kept:
        yield f"Written by {', '.join(in_markdown(one.id) for one in kept[:MOST_TRANSITIONS])}."


def _keeps(effect: object, name: str) -> bool:
    return isinstance(effect, Keep) and effect.slot == name


def _content(task: Task) -> str:
    """Return the work of a step as a code block that its lines can't close."""
    sections = [task.command] if isinstance(task, Shell) else [*task_texts(task)]
    lines = "\n\n".join(str(one).strip() for one in sections if one).split("\n")
    shown = [visible(line[:LONGEST_LINE]) for line in lines[:MOST_LINES]] + ["…"] * (len(lines) > MOST_LINES)
    ticks = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", "\n".join(shown)))])
    language = task.interpreter if isinstance(task, Shell) else "text"
    return "\n".join([f"{ticks}{language}", *shown, ticks]) if any(shown) else ""
