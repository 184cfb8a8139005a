"""Print a syntax tree as a document that parses to the same tree."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from compiler.frontends.rundown import Layout
from compiler.frontends.rundown.parse.lines import print_transition
from compiler.frontends.rundown.syntax import Code, Runbook, Step, Substep, Transition, spell


def print_runbook(runbook: Runbook, layout: Layout = "after-body") -> str:
    """Return the document of an error-free tree in a layout (V7), with a newline at its end.

    Details that the tree doesn't keep are lost: comments, rules between steps, and the style of lists and headings.
    """
    parts = list(_head(runbook))
    for step in runbook.steps:
        separator = " " if isinstance(step.id, str) or not step.title else ". "
        parts.append(f"## {spell(step.id)}{separator}{step.title}".rstrip())
        parts += _parts(step, layout)
        for substep in step.substeps:
            parts.append(f"### {spell(substep.parent)}.{spell(substep.id)} {substep.title}".rstrip())
            parts += _parts(substep, layout)
    return "\n\n".join(parts) + "\n"


def _head(runbook: Runbook) -> Iterator[str]:
    if runbook.metadata:
        yield _frontmatter(runbook.metadata)
    if runbook.title:
        yield f"# {runbook.title}"
    if runbook.description:
        yield runbook.description


def _frontmatter(metadata: Mapping[str, Any]) -> str:
    return f"---\n{yaml.safe_dump(dict(metadata), sort_keys=False, allow_unicode=True)}---"


def _parts(step: Step | Substep, layout: Layout) -> list[str]:
    content = [step.prompt, _code(step.code), "\n".join(f"- {item.path}" for item in step.runbooks)]
    transitions = _transitions(step.transitions)
    ordered = [transitions, *content] if layout == "after-header" else [*content, transitions]
    return [part for part in ordered if part]


def _code(code: Code | None) -> str:
    if code is None:
        return ""
    mark = "~" if "`" in code.language else "`"
    longest = max((len(run) for run in re.findall(f"{mark}+", code.text)), default=0)
    fence = mark * max(3, longest + 1)
    info = " ".join(part for part in (code.language, "prompt" if code.prompt else "") if part)
    return f"{fence}{info}\n{code.text}{fence}"


def _transitions(transitions: Sequence[Transition]) -> str:
    return "\n".join(f"- {print_transition(transition)}" for transition in transitions)
