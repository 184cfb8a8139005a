"""Secrets: environment variables that must be set, and whose values are kept and sent nowhere (I26)."""

import os
import re
import types
from typing import Any, Optional

from runtime_shim.hidden import hidden_parts, secret_value, unhidden
from runtime_shim.journal import Record
from runtime_shim.program import RefusedError, Table
from runtime_shim.session import BEGINNINGS, MASKS, OPENS, RECORDS, TAKES, Session, masked
from runtime_shim.state import State
from runtime_shim.walk import Registers

MASK = "***"
MASKED = (
    "title",
    "message",
    "how",
    "answer",
    "by",
    "note",
    "registers",
    "changed",
    "found",
)  # of a record: what holds texts
DOING = ("run", "resume")  # the subcommands that may call something


class Secrets:
    """The values of the secrets that are set, once they are known."""

    def __init__(self) -> None:
        self._pattern: Optional[re.Pattern[str]] = None

    def learn(self, session: Session, _state: Optional[State]) -> None:
        """Take the values."""
        names = list(session.program.get("secrets", ()))
        names += os.environ.get("RDC_SECRETS", "").split()  # for: contract
        self._pattern = hidden_parts(names)

    def mask(self, text: str) -> str:
        """Return a text without them."""
        return self._pattern.sub(MASK, text) if self._pattern else text

    def masked(self, _session: Session, record: Record) -> Record:
        """Return a record or an event without them."""
        return {key: _in(value, key == "found") if key in MASKED else value for key, value in record.items()}


def _in(value: Any, has_names: bool = False) -> Any:  # noqa: ANN401 (texts, by name or in lists)
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, list):
        return [_in(inner, has_names) for inner in value]
    if not hasattr(value, "items"):
        return value
    return {masked(name) if has_names else name: _in(inner, has_names) for name, inner in value.items()}


def refuse_missing(program: Table, options: types.SimpleNamespace) -> Registers:
    """Refuse to call anything where secrets are missing or cannot be hidden, with all their names."""
    if options.command not in DOING or options.dry_run:
        return {}
    names = list(program.get("secrets", ()))
    again = f"then {options.command} again"
    if missing := [name for name in names if not secret_value(name)]:
        raise RefusedError(f"secrets are missing: {', '.join(missing)}; set these environment variables, {again}")
    names += os.environ.get("RDC_SECRETS", "").split()  # for: contract
    if short := unhidden(names):
        told = f"secrets cannot be hidden: {', '.join(short)}"
        raise RefusedError(f"{told}; set environment variables of at least four characters, {again}")
    return {}


def check_secrets(session: Session) -> None:
    """Refuse to go on without secrets."""
    refuse_missing(session.program, session.options)


SECRETS = Secrets()
BEGINNINGS.append(refuse_missing)
TAKES.append(SECRETS.learn)
OPENS.append(check_secrets)
RECORDS.append(SECRETS.masked)
MASKS.append(SECRETS.mask)
