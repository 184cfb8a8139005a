"""The document of a playbook, and the files beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.playbooks.model import Book, Elicit, Input, Output, Prompt, Row, Step, Tool

FENCE = "```"


def document(book: Book) -> str:
    """The Markdown of a playbook."""
    return "\n".join(_lines(book)) + "\n"


def row(text: Row) -> str:
    """A text with its placeholders."""
    return "".join(map(str, text))


def _lines(book: Book) -> Iterator[str]:
    yield from ("# Any title", "")
    if book.system:
        yield from ("## SYSTEM", "", row(book.system), "")
    if book.inputs:
        yield from ("## INPUTS", "", *map(_input, book.inputs), "")
    for step in book.steps:
        yield from (f"## STEP {step.label}: {step.title}", "")
        yield from _step(step)
    if book.artifact:
        yield from ("## ARTIFACTS", "", f"type: {book.artifact}")


def _input(declared: Input) -> str:
    value = ", ".join(declared.options) if declared.type == "enum" else declared.default
    return f"- `{declared.name}` ({declared.type}{'' if value is None else f': {value}'}): An input"


def _step(step: Step) -> Iterator[str]:
    if step.prompt:
        yield _prompt(step.prompt)
    if step.content:
        yield from ("", row(step.content), "")
    if step.elicit:
        yield _elicit(step.elicit)
    if step.tool:
        yield _tool(step.tool)
    if step.output:
        yield _output(step.output)
    for place, branch in enumerate(step.branches):
        word = "else" if branch.condition is None else ("elif" if place else "if")
        name, operator, text = branch.condition or ("", "", "")
        yield f'{FENCE}{word} {name} {operator} "{text}"{FENCE}' if name else f"{FENCE}else{FENCE}"
        for inner in branch.steps:
            if inner.label:
                yield from ("", f"### STEP {inner.label}: {inner.title}", "")
            yield from _step(inner)
    if step.branches:
        yield from (f"{FENCE}endif{FENCE}", "")


def _output(output: Output) -> str:
    words = [f"{output.name}: {output.type}" if output.type else output.name]
    words += [f'"{option}"' for option in output.options]
    words += [f'extract:"{output.extract}"'] if output.extract else []
    return f"@output({', '.join(words)})"


def _elicit(elicit: Elicit) -> str:
    quoted = [f'"{row(text)}"' for text in (elicit.question, *elicit.options)]
    return f"@elicit({', '.join([elicit.kind, *quoted])})"


def _prompt(prompt: Prompt) -> str:
    return f"@prompt({{{{{prompt.id}}}}})" if prompt.scheme == "variable" else f"@prompt({prompt.scheme}:{prompt.id})"


def _tool(tool: Tool) -> str:
    if tool.arguments is None:
        return f"@tool({tool.connection}, {tool.tool})"
    fields = (f"{json.dumps(name)}: {_string(value)}" for name, value in tool.arguments)
    return f"@tool({tool.connection}, {tool.tool}, {{{', '.join(fields)}}})"


def _string(value: Row) -> str:
    inside = (json.dumps(part, ensure_ascii=False)[1:-1] if isinstance(part, str) else str(part) for part in value)
    return '"' + "".join(inside) + '"'
