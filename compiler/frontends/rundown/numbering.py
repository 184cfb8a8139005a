"""What to write for a header whose number does not stand first: `## Step 2: Test`, or `## Test` without any number."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.frontends.rundown.syntax import Step
from compiler.regex import Regex
from compiler.source import Source

COUNTING_WORDS = frozenset({"step", "stage", "phase", "part", "task"})
"""Names that are hardly meant as such before a number, in lowercase letters."""

_TITLE = Regex(r"(?P<number>[0-9]{1,9})(?P<mark>[ \t]*[.:)—–→-])?(?:[ \t]+(?P<rest>\S.*))?")
_SUBSTEP = Regex(r"[A-Za-z]+[ \t]+(?P<id>[0-9]{1,9}\.[0-9]{1,9})(?:[.:)—–→ \t-]+(?P<rest>\S.*))?")


def numbered_header(step: Step) -> str | None:
    """`## 2. Test` for `## Step 2: Test`; None if the title of a step does not begin with its number.

    `## Phase 2 checks` has one too, since nobody calls a step `Phase`; `## Release 2 candidates` has none.
    """
    if not isinstance(step.id, str) or not step.title[:1].isdigit():
        return None
    match = _TITLE.fullmatch(step.title)
    if match is None or not (match["mark"] or str(step.id).lower() in COUNTING_WORDS):
        return None
    return f"## {match['number']}. {match['rest'] or 'Title'}"


def missing_steps(steps: Sequence[Step]) -> dict[int, Step]:
    """The named steps that were meant to have a number that no step has: `## Step 2: Test` is the missing step 2."""
    headers = ((numbered_header(step), step) for step in steps)
    meant = {int(header.split()[1].rstrip(".")): step for header, step in headers if header}
    return {number: step for number, step in meant.items() if all(step.id != number for step in steps)}


def with_number(source: Source, step: Step, number: int) -> str:
    """`## 2. Test` for the header `## Test`."""
    return f"## {number}. {heading_of(source, step)}"


def heading_of(source: Source, step: Step) -> str:
    """The whole text of a step's heading."""
    return source.lines[step.span.line - 1][step.span.column - 1 : step.span.end_column - 1].rstrip()


def numbered_substep(text: str) -> str | None:
    """`### 1.2 Test` for the heading `Step 1.2: Test`; None if there is no such number in it."""
    match = _SUBSTEP.fullmatch(text)
    return f"### {match['id']} {match['rest'] or 'Title'}" if match else None
