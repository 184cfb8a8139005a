"""Read the checks from a validation policy (B11)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import get_args

from compiler.ir.tasks import Check
from runtime_shim.contract.step_builder import checks_of as checks_named
from runtime_shim.contract.step_builder import installed, language_of


@lru_cache(maxsize=16)  # most steps have one of a few policies, and several rules ask for it
def checks_of(policy: str) -> tuple[Check, ...]:
    """Return the checks of a validation. They always include `exists`."""
    named = checks_named(policy)
    return tuple(check for check in get_args(Check) if check in named)


def skipped_checks(policy: str, targets: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield why a run would skip a check for all targets, each with the remedy (B11)."""
    checks, languages = checks_of(policy), {language_of(path) for path in targets}
    for check, program in (("types", "mypy"), ("lint", "ruff")):
        if check in checks and "Python" in languages and not installed(program):
            yield f"{program} is not installed here, so a run here skips its check", f"install {program}"
    is_known = not any("{" in path.rpartition("/")[2] for path in targets)
    if is_known and languages == {""} and not {"ast", "types", "lint"}.isdisjoint(checks):
        problem = f"the checks of `{policy}` skip every file of this step: none is JSON, YAML or Python"
        yield problem, "remove the words that check code, or name other files in validation_targets"
