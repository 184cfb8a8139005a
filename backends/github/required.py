"""The first step of a job: it stops the run if a secret that the document needs is missing (I26)."""

from __future__ import annotations

from collections.abc import Iterable

from backends.github.scalar import Expression
from backends.github.step import PLAIN_SHELL, Step
from backends.github.triggers import OF_PULL_REQUESTS
from backends.templating import render

FORK = Expression(
    "${{ github.event.pull_request && github.event.pull_request.head.repo.full_name != github.repository || false }}"
)


def missing(names: Iterable[str]) -> Expression:
    """Return the expression for the names of missing secrets. The step sees names, not values."""
    return Expression("".join(f"${{{{ secrets.{name} == '' && '{name} ' || '' }}}}" for name in names))


def secrets_step(names: Iterable[str], environment: str, events: Iterable[str]) -> Step:
    """Return the step. `names` are the secrets' names on GitHub."""
    env: dict[str, str] = {"MISSING": missing(names)}
    if environment:
        env["PLACE"] = f"repository, or of the environment {environment}"
    if not OF_PULL_REQUESTS.isdisjoint(events):
        env["FORK"] = FORK
    return Step(
        name="Check the secrets",
        comments=("Stops the run before the first command if a secret is missing. It sees only names, not values.",),
        shell=PLAIN_SHELL,
        env=env,
        run=render("github/secrets.sh"),
    )
