"""What a journal and a status know of the texts that a run keeps (I5, I19)."""

from runtime_shim.data.kept import keeping
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import TELLS, Done
from runtime_shim.engine.state import State
from runtime_shim.engine.status import FACTS


def keeping_text(done: Done, text: str) -> Done:
    """Return an outcome with its text."""
    return done._replace(verbs=keeping(text, {}))


def slots_of(_program: Table, state: State) -> Table:
    """Return the slots of a run as its status tells them."""
    return {"slots": {name: value for name, value in state.registers.items() if not isinstance(value, int)}}


TELLS.append(keeping_text)
FACTS.append(slots_of)
