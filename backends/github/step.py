"""A step of a job, as data; the template writes it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

PLAIN_SHELL = "bash {0}"
"""Bash as M2 wants it: without `-e` and `pipefail`."""


class Step(Struct, frozen=True):
    """One step. Texts are as they are meant; `condition` is an expression, empty for none, `timeout` is in minutes."""

    name: str
    id: str = ""
    comments: tuple[str, ...] = ()
    condition: str = ""
    tolerated: bool = False
    timeout: int = 0
    uses: str = ""
    version: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    shell: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    run: str = ""


LIMITED = '"$RUNNER_TEMP/rdc/limited"'
"""Runs a command for so many seconds at most; a step before writes it."""


VALUED = '"$RUNNER_TEMP/rdc/valued"'
"""Runs a command, and hands on its outputs."""


def within(seconds: int, *, valued: bool) -> str:
    """The words before a command whose time is limited, or which may give outputs."""
    return f"{f'{VALUED} ' if valued else ''}{f'{LIMITED} {seconds} ' if seconds else ''}"


def escaped(words: str) -> str:
    """Words of a command within the double quotes of a `shell`."""
    return words.replace('"', '\\"')


def noting(interpreter: str) -> str:
    """A shell template that runs a script by an interpreter and leaves a line about it in the journal."""
    return (
        f'bash -c "{interpreter} \\"$0\\"; code=$?; '
        'echo \\"$GITHUB_ACTION 1 $code $SECONDS\\" >> \\"$RUNNER_TEMP/rdc-journal\\"; exit $code" {0}'
    )
