"""Several runs of one document, each with a name and a state directory; hints repeat a call's options."""

import os
import re
from typing import ClassVar

from runtime_shim.engine.program import UsageError
from runtime_shim.engine.session import Extension, Session, Subcommands
from runtime_shim.engine.state import OURS, Store
from runtime_shim.engine.status import status
from runtime_shim.engine.texts import one_line
from runtime_shim.operator.history import place_of

REPEATED = (
    *("--agent", "--agent-for", "--tool", "--log-limit"),
    *("--agent-model", "--agent-timeout", "--agent-retries", "--executor"),
)  # options that printed commands repeat

OF_NAMED = "run resume status steps reset answer approve goto"


def list_runs(session: Session) -> int:
    """List all runs of the document."""
    name, lines, folder = session.program["name"], [], os.path.join(session.host.home, OURS)
    for each in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        own, _, label = each.partition("@")
        store = Store(os.path.join(folder, each))
        if own != name or not os.path.lexists(store.path):
            continue
        try:
            word, where, state = place_of(store.path, session.store.modes, store.is_busy())
            lines.append(f"{label or '-'}  {word}  {state.begin['run']}  {where}")
        except (UsageError, OSError, IndexError):
            lines.append(f"{label or '-'}  DAMAGED  {store.path}")
    return session.display.say([one_line(line) for line in lines] or ["No run has started here."])


def status_of_all(session: Session) -> int:
    """Print the status of the run, or a list of all runs."""
    if not session.options.all:
        return status(session)
    if session.options.state_dir or session.options.json:
        raise UsageError("status --all takes no other options")
    return list_runs(session)


class NamedRuns(Extension):
    """Programs that may have several runs."""

    commands: ClassVar[Subcommands] = {"status": ("show the run's state and what to do next", status_of_all)}
    options = (
        (f"{OF_NAMED} timeline history report", "--as", "NAME", "the name of the run"),
        ("status", "--all", "", "list all runs of the document"),
    )

    def prepare(self) -> None:
        """Set the state directory of a named run; no program's name has an @."""
        options, name = self.session.options, getattr(self.session.options, "as")
        if name is None:
            return
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
            rule = "use up to 64 letters, digits, `.`, `_` and `-`, with a letter or digit first"
            raise UsageError(f"--as {one_line(name)!a}: {rule}")
        if options.state_dir:
            raise UsageError("use --as or --state-dir, not both")
        options.state_dir = os.path.join(self.session.host.home, OURS, f"{self.session.program['name']}@{name}")

    def repeat(self, command: str) -> tuple[str, ...]:
        """Return the options that a printed command repeats, to mean this run and continue like this call."""
        options, label = self.session.options, getattr(self.session.options, "as")
        found = ["--as", label] if label else ["--state-dir", options.state_dir] if options.state_dir else []
        like = command.replace("retry", "resume")  # it has the same options
        known = [(name, takes) for owners, name, takes, _ in options.known if like in owners.split()]
        for option, takes in known if command != "run" else ():
            given = getattr(options, option[2:].replace("-", "_")) if option in REPEATED else None
            for value in given if isinstance(given, list) else filter(None, [given]):
                found += [option, value] if takes else [option]
        return tuple(found)
