"""Suggest headers with the number first, for `## Step 2: Test` or for `## Test` without a number."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.frontends.rundown.syntax import Step
from compiler.regex import Regex
from compiler.source import Source

COUNTING_WORDS = frozenset({"step", "stage", "phase", "part", "task"})
"""Words before a number that are rarely meant as names, in lowercase."""

_TITLE = Regex(r"(?P<number>[0-9]{1,9})(?P<mark>[ \t]*[.:)—–→-])?(?:[ \t]+(?P<rest>\S.*))?")
_SUBSTEP = Regex(r"[A-Za-z]+[ \t]+(?P<id>[0-9]{1,9}\.[0-9]{1,9})(?:[.:)—–→ \t-]+(?P<rest>\S.*))?")


def numbered_header(step: Step) -> str | None:
    """Return `## 2. Test` for `## Step 2: Test`, or None if the title does not start with a number.

    `## Phase 2 checks` counts too, because no one names a step `Phase`. `## Release 2 candidates` doesn't.
    """
    if not isinstance(step.id, str) or not step.title[:1].isdigit():
        return None
    match = _TITLE.fullmatch(step.title)
    if match is None or not (match["mark"] or str(step.id).lower() in COUNTING_WORDS):
        return None
    return f"## {match['number']}. {match['rest'] or 'Title'}"


def missing_steps(steps: Sequence[Step]) -> dict[int, Step]:
    """Return named steps by their intended number if no step has it: `## Step 2: Test` is the missing step 2."""
    headers = ((numbered_header(step), step) for step in steps)
    meant = {int(header.split()[1].rstrip(".")): step for header, step in headers if header}
    return {number: step for number, step in meant.items() if all(step.id != number for step in steps)}


def with_number(source: Source, step: Step, number: int) -> str:
    """Return `## 2. Test` for the header `## Test`."""
    return f"## {number}. {heading_of(source, step)}"


def heading_of(source: Source, step: Step) -> str:
    """Return the whole text of a step's heading."""
    return source.lines[step.span.line - 1][step.span.column - 1 : step.span.end_column - 1].rstrip()


def numbered_substep(text: str) -> str | None:
    """Return `### 1.2 Test` for the heading `Step 1.2: Test`, or None if it has no such number."""
    match = _SUBSTEP.fullmatch(text)
    return f"### {match['id']} {match['rest'] or 'Title'}" if match else None
