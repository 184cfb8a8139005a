"""The first step of a job: it ends the run where a secret that the document needs is not set (I26)."""

from __future__ import annotations

from collections.abc import Iterable

from backends.github.rendering import secrets_sh
from backends.github.scalar import Expression
from backends.github.step import PLAIN_SHELL, Step
from backends.github.triggers import OF_PULL_REQUESTS

FORK = Expression(
    "${{ github.event.pull_request && github.event.pull_request.head.repo.full_name != github.repository || false }}"
)


def missing(names: Iterable[str]) -> Expression:
    """The names of those secrets that are not set: a step that is given them sees no value."""
    return Expression("".join(f"${{{{ secrets.{name} == '' && '{name} ' || '' }}}}" for name in names))


def secrets_step(names: Iterable[str], environment: str, events: Iterable[str]) -> Step:
    """The step; `names` are what GitHub calls the secrets. It is given these alone, and no value."""
    env: dict[str, str] = {"MISSING": missing(names)}
    if environment:
        env["PLACE"] = f"repository, or of the environment {environment}"
    if not OF_PULL_REQUESTS.isdisjoint(events):
        env["FORK"] = FORK
    return Step(
        name="Check the secrets",
        comments=("Ends the run where a secret is not set, before anything is done. It sees names, and no values.",),
        shell=PLAIN_SHELL,
        env=env,
        run=secrets_sh(),
    )
