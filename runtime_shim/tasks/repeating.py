"""Which options a run was given: whoever answers by hand is reminded of them, and their values are kept nowhere."""

import types
from typing import Any

from runtime_shim.data.agreed import AGREES, agreed
from runtime_shim.engine.command_line import OPTIONS
from runtime_shim.engine.session import Session
from runtime_shim.tasks.waiting import HINTS

REMINDED = (
    "--agent",
    "--agent-for",
    "--tool",
    "--agent-model",
    "--agent-timeout",
    "--agent-retries",
    "--mock",
    "--out",
)


def options_of(options: types.SimpleNamespace, _before: Any) -> Any:  # noqa: ANN401 (names, or nothing)
    """Return the options of this call that a later one has to repeat."""
    known = {name for _, name, _, _ in OPTIONS}
    found = [name for name in REMINDED if name in known and getattr(options, name[2:].replace("-", "_"), None)]
    return found or None


def reminder(session: Session) -> str:
    """Name the options that the run was given last."""
    given = agreed(session.state).get("given", ())
    return f"   (with {', '.join(given)}, as before)" if given else ""


AGREES["given"] = options_of
HINTS.append(reminder)
