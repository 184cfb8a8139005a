"""Slots as environment variables of what a step calls (I7)."""

from typing import Optional

from runtime_shim.engine.dialog import words_of
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import BEFORE, Done, Perform, Session
from runtime_shim.tasks.interrupted import VARIABLES
from runtime_shim.tasks.values import UnfitError, check_value, texts_of


def no_answer(node: Table) -> str:
    """Return the word of a step that could not be done."""
    return "failed" if "failed" in words_of(node) else "fail"


def check_texts(session: Session, name: str) -> Optional[Perform]:
    """Fail a step whose variables do not fit into an environment, instead of beginning it."""
    node = session.program["nodes"][name]
    for variable, value in texts_of(node, session.state.registers).items():
        try:
            check_value(variable, value)
        except UnfitError as error:
            failed = Done(no_answer(node), str(error))
            return lambda _name, _node: failed
    return None


VARIABLES.append(texts_of)
BEFORE.append(check_texts)
