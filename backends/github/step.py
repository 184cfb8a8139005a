"""Jobs and their steps as data. The template writes them."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from backends.scheduling.condition import TRUE, Literal, expression
from backends.scheduling.places import Place
from backends.scheduling.plan import Plan

CALLING_SHELL = "bash -p {0}"
"""Bash that ignores BASH_ENV and functions in the environment."""

PLAIN_SHELL = "bash {0}"
"""Bash as M2 wants it: without `-e` and `pipefail`."""


class Limit(Struct, frozen=True):
    """A time limit in minutes, 0 for none, and how it comes about, for a comment."""

    minutes: int = 0
    why: str = ""


class Step(Struct, frozen=True):
    """One step. `condition` is an expression, empty for none."""

    name: str
    id: str = ""
    comments: tuple[str, ...] = ()
    condition: str = ""
    tolerated: bool = False
    limit: Limit = Limit()
    uses: str = ""
    version: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    shell: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    run: str = ""


LIMITED = '"$RUNNER_TEMP/rdc/limited"'
"""Runs a command with a time limit in seconds. An earlier step writes this script."""


VALUED = '"$RUNNER_TEMP/rdc/valued"'
"""Runs a command and passes on its outputs."""


def within(seconds: int, *, valued: bool) -> str:
    """Return the words before a command that has a time limit or may set outputs."""
    return f"{f'{VALUED} ' if valued else ''}{f'{LIMITED} {seconds} ' if seconds else ''}"


def escaped(words: str) -> str:
    """Return a command's words for use inside the double quotes of a `shell`."""
    return words.replace('"', '\\"')


def noting(interpreter: str) -> str:
    """Return a shell template that runs a script by an interpreter and adds a line to the journal."""
    return (
        f'bash -c "{interpreter} \\"$0\\"; code=$?; '
        'echo \\"$GITHUB_ACTION 1 $code $SECONDS\\" >> \\"$RUNNER_TEMP/rdc-journal\\"; exit $code" {0}'
    )


# --- When a step of a plan runs ---------------------------------------------------------------------------------------


def when_reached(plan: Plan, place: Place) -> str:
    """Return the expression for when a place is reached; empty if it always is."""
    condition = plan.flow.reached[place.name]
    return "" if condition == TRUE else expression(condition, compare)


def compare(literal: Literal) -> str:
    """Return a comparison as an expression."""
    value = literal.value if isinstance(literal.value, int) else f"'{literal.value}'"
    return f"{fact(literal.step, literal.property)} {literal.operator} {value}"


def fact(step: str, name: str) -> str:
    """Return the expression for a property of a step."""
    return f"steps.{step}.{name}"


class Job(Struct, frozen=True):
    """A job with its steps. `permissions` are scope, access and reason; `comments` appear above the job.

    `timeout` is in minutes; 0 means the value of the option. `matrix` has a label for each entry of a parallel step.
    Each entry then runs as a separate job.
    """

    id: str
    name: str
    steps: tuple[Step, ...]
    condition: str = ""
    needs: tuple[str, ...] = ()
    environment: str = ""
    permissions: tuple[tuple[str, str, str], ...] = ()
    outputs: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    shell: str = ""
    matrix: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()
    timeout: int = 0
