"""Texts that a run keeps: of answers, and the outputs of commands (I5, I17, I19)."""

from collections.abc import Mapping
from typing import Optional

from runtime_shim.engine.lifecycle import Done, Extension
from runtime_shim.engine.program import Table
from runtime_shim.engine.state import State
from runtime_shim.engine.walk import VERBS, Verbs
from runtime_shim.tasks.reading import extracted

Slot = Optional[str]


def keeping(text: str, values: Mapping[str, str]) -> Verbs:
    """Return the effects of an edge after an outcome with this text and these values (I19)."""

    def keep(before: Slot, what: list[str]) -> Slot:
        if what[0] == "output":
            return values.get(what[1], before)
        return extracted(text, what[1]) if what[0] == "field" else text

    return {**VERBS, "keep": keep}


class Slots(Extension):
    """What a journal and a status know of the texts that a run keeps."""

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether the program keeps any."""
        return any(not isinstance(value, int) for value in program["registers"].values())

    def told(self, done: Done, text: str) -> Done:
        """Return an outcome with its text."""
        return done._replace(verbs=keeping(text, {}))

    def facts(self, state: State) -> Table:
        """Return the slots of a run as its status tells them."""
        return {"slots": {name: value for name, value in state.registers.items() if not isinstance(value, int)}}
