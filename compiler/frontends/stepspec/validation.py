"""Read the checks from a validation policy (B11)."""

from __future__ import annotations

from functools import lru_cache
from typing import get_args

from compiler.ir.tasks import Check
from runtime_shim.contract.step_builder import checks_of as checks_named


@lru_cache(maxsize=16)  # most steps have one of a few policies, and several rules ask for it
def checks_of(policy: str) -> tuple[Check, ...]:
    """Return the checks of a validation. They always include `exists`."""
    named = checks_named(policy)
    return tuple(check for check in get_args(Check) if check in named)
