"""Report a playbook in the form of the specification's test cases, for other tools and for comparison."""

from __future__ import annotations

from collections.abc import Iterable

from compiler.diagnostic import Diagnostic, Severity
from compiler.frontends.playbook.references import known_sources
from compiler.frontends.playbook.syntax import Branch, Elicit, Input, Playbook, PromptRef, Step, ToolCall

OF_THE_SPECIFICATION = frozenset({"RD709", "RD710", "RD711", "RD712", "RD720"})
"""Codes of warnings that every playbook parser gives; other warnings are rdc's own."""


def report(playbook: Playbook | None, found: Iterable[Diagnostic]) -> dict[str, object]:
    """Return the parse result of a document; `definition` is None if there are errors."""
    every = list(found)
    errors = [_message(item) for item in every if item.severity is Severity.ERROR]
    return {
        "valid": not errors,
        "definition": None if errors or playbook is None else _definition(playbook),
        "warnings": [_message(item) for item in every if item.code in OF_THE_SPECIFICATION],
        "errors": errors,
    }


def _message(found: Diagnostic) -> dict[str, object]:
    place = {"line": found.span.line} if found.span else {}
    return {**place, "message": found.message}


def _definition(playbook: Playbook) -> dict[str, object]:
    sources = known_sources(playbook)
    return {
        "title": playbook.title,
        "description": playbook.description,
        "system_prompt": playbook.system,
        "inputs": [_input(declared) for declared in playbook.inputs],
        "steps": [_step(step, sources) for step in playbook.steps],
        "artifact_type": playbook.artifact.type if playbook.artifact else "",
    }


def _input(declared: Input) -> dict[str, object]:
    return {
        "name": declared.name,
        "type": declared.type,
        **({} if declared.default is None else {"default": declared.default}),
        **({"options": list(declared.options)} if declared.options else {}),
        "description": declared.description,
        "required": declared.required,
        "line": declared.span.line,
    }


def _step(step: Step, sources: dict[str, str]) -> dict[str, object]:
    output = step.output
    branches = [_branch(step, place, branch, sources) for place, branch in enumerate(step.branches)]
    return {
        "number": step.number,
        "label": step.label,
        "title": step.title,
        "content": step.content,
        "output_var": output.name if output else "",
        **({"output_type": output.type} if output and output.type else {}),
        **({"output_options": list(output.options)} if output and output.options else {}),
        "extract_field": output.extract if output else "",
        **({"elicitation": _elicit(step.elicit)} if step.elicit else {}),
        **({"prompt_ref": _prompt(step.prompt)} if step.prompt else {}),
        **({"tool_call": _tool(step.tool)} if step.tool else {}),
        "is_branching": bool(step.branches),
        **({"branches": branches} if branches else {}),
        "line": step.span.line,
    }


def _branch(step: Step, place: int, branch: Branch, sources: dict[str, str]) -> dict[str, object]:
    condition = branch.condition
    said = condition and {
        "variable": condition.variable,
        "operator": condition.operator,
        "value": condition.value,
        "source": sources.get(condition.variable, "input"),
    }
    named = [_step(item, sources) for item in branch.steps if item.label]
    return {"condition": said, "steps": named or _unnamed(step, place, branch.steps[0], sources)}


def _unnamed(step: Step, place: int, only: Step, sources: dict[str, str]) -> list[dict[str, object]]:
    """Return the unnamed step of a branch with the label of a sub-step, or nothing if the step is empty."""
    if not (only.content or only.elicit or only.prompt or only.tool or only.output):
        return []
    letter = chr(ord("a") + place) if place < 26 else ""
    named = {"label": f"{step.number}{letter}", "title": f"Branch {letter}".strip(), "line": only.span.line + 1}
    return [{**_step(only, sources), **named}]


def _elicit(elicit: Elicit) -> dict[str, object]:
    options = {"options": list(elicit.options)} if elicit.options else {}
    return {"type": elicit.kind, "prompt": elicit.question, **options}


def _prompt(prompt: PromptRef) -> dict[str, object]:
    return {"prompt_id": prompt.written}


def _tool(tool: ToolCall) -> dict[str, object]:
    arguments = {"arguments": tool.arguments} if tool.arguments else {}
    return {"connection_name": tool.connection, "tool_name": tool.tool, **arguments}
