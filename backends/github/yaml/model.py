"""Jobs and their steps as data. The template writes them."""

from collections.abc import Mapping

from msgspec import Struct, field

from backends.scheduling.condition import TRUE, Literal, expression
from backends.scheduling.flow import Words
from backends.scheduling.places import Place
from backends.scheduling.plan import Plan

CALLING_SHELL = "bash -p {0}"
"""Bash that ignores BASH_ENV and functions in the environment."""

PLAIN_SHELL = "bash {0}"
"""Bash for the commands of runbooks: without `-e` and `pipefail`."""


WORDS = Words("outcome", "success", "failure", "skipped", "outputs.")
"""GitHub's words for conditions."""


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


def shell_of(interpreter: str, before: str = "", *, noted: bool) -> str:
    """Return the shell template for a script in an interpreter's language, with the words `before` in front of it.

    A step that is `noted` adds a line to the journal.
    """
    words = before.replace('"', '\\"') + interpreter
    if not noted:
        return f'bash -c "{words} \\"$0\\"" {{0}}' if before else f"{interpreter} {{0}}"
    return (
        f'bash -c "{words} \\"$0\\"; code=$?; '
        'echo \\"$GITHUB_ACTION 1 $code $SECONDS\\" >> \\"$RUNNER_TEMP/rdc-journal\\"; exit $code" {0}'
    )


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
