"""What operators can ask for besides: the code that does it is loaded where a call asks for it."""

from collections.abc import Sequence

from runtime_shim.engine.command_line import ASKS, COMMANDS, OPTIONS, Subcommands
from runtime_shim.engine.late import load
from runtime_shim.engine.state import KEPT, MODES

LATER = ("answer", "goto", "history")
WITH: tuple[str, ...] = ("--agent", "--agent-for", "--tool")  # what printed commands to go on repeat
WITH += ("--agent-model", "--agent-timeout", "--agent-retries")  # for: agent tool parallel


def load_for(words: Sequence[str]) -> None:
    """Load the operator's part for a call with a word that the rest of the program does not know."""
    given = {word.partition("=")[0] for word in words[1:] if word.startswith("-")}
    known = {option for _, option, _, _ in OPTIONS if option not in WITH}
    if not set(words[:1]).isdisjoint(LATER) or not given <= known:
        load()


ASKS.append(load_for)
COMMANDS.setdefault("answer", ("answer a step of a run by hand", Subcommands.status))  # until it is loaded
COMMANDS["goto"] = ("move the run to another step", Subcommands.status)
COMMANDS["history"] = ("list and prune archived runs", Subcommands.status)
MODES.append("prompted")  # a program without this part would execute the commands
KEPT.extend(("logs", "prompts", "answers"))
