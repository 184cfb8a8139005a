"""Slots as environment variables of what a unit calls (I7)."""

from typing import Optional

from runtime_shim.dialog import words_of
from runtime_shim.interrupted import VARIABLES
from runtime_shim.program import Table
from runtime_shim.session import BEFORE, Done, Session
from runtime_shim.slots import LARGEST_VARIABLE
from runtime_shim.walk import Registers


def texts_of(unit: Table, registers: Registers) -> dict[str, str]:
    """Return the environment variables that slots give a unit; one that is unset gives none."""
    places = unit.get("texts", {}).items()
    return {variable: registers[slot] for variable, slot in places if registers[slot] is not None}


def no_answer(unit: Table) -> str:
    """Return the word of a unit that could not be done."""
    return "failed" if "failed" in words_of(unit) else "fail"


def check_texts(session: Session, name: str) -> Optional[Done]:
    """Fail a unit whose variables do not fit into an environment, instead of beginning it."""
    unit = session.program["units"][name]
    for variable, value in texts_of(unit, session.state.registers).items():
        if "\0" in value:
            return Done(no_answer(unit), f"{variable} has a NUL character, which no environment variable can have")
        if len(value.encode()) > LARGEST_VARIABLE:
            return Done(no_answer(unit), f"{variable} is longer than {LARGEST_VARIABLE:,} bytes")
    return None


VARIABLES.append(texts_of)
BEFORE.append(check_texts)
