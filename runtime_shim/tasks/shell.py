"""Steps that call processes, and the decision about an interrupted one."""

import os
from contextlib import suppress

from runtime_shim.engine.outcomes import Done, Waiting
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Performer, Session
from runtime_shim.engine.signals import end_groups, started_at
from runtime_shim.engine.status import hints
from runtime_shim.engine.texts import one_line, words_of
from runtime_shim.engine.walk import variables_of
from runtime_shim.tasks.process import Processes


class Calling(Performer):
    """Runs steps by calling processes."""

    noun = "command"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.common = {**os.environb, b"RDC_RUN_ID": session.state.begin["run"].encode()}
        self.processes = Processes(session.signals, session.is_interactive, self._began)

    def _began(self, group: int) -> None:
        with suppress(UsageError):  # a full disk does not end a command
            self.session.record({"kind": "process", "pid": group, "since": started_at(group)}, sync=False)

    def environment(self, node: Table, **more: str) -> dict[bytes, bytes]:
        """Return the environment of a step's process."""
        now = self.session.state.registers
        own = {**variables_of(self.session.state.node, node, now), **more}
        found = {**self.session.merged("variables", node, now), **own}
        return {**self.common, **{key.encode(): str(value).encode() for key, value in found.items()}}

    def not_begun(self, name: str, error: OSError) -> UsageError:
        """Return the error for a step whose process could not start; the step has no outcome."""
        self.session.rest()
        size = sum(len(key) + len(value) + 2 for key, value in self.common.items())
        hint = f"shrink the environment ({size:,} bytes) or free resources, then: {self.session.call('resume')}"
        return UsageError(hint, f"{self.session.label(name)} was not started: {error.strerror}")

    def recover(self, name: str) -> "Done | None":
        """Decide about an interrupted step by options or by asking the operator."""
        session, options = self.session, self.session.options
        label, node = session.label(name), session.program["nodes"][name]
        running, left = session.state.running_processes(), session.state.left(self.noun)
        if running and options.rerun_interrupted:
            session.display.line(f"{label}: {left.partition(';')[0]}; ending it")
            end_groups(running)
            left = session.state.left(self.noun)  # maybe not of this run: don't end it
        if left and (running or not options.assume):  # no decision yet
            still, known = f"{label}: {left}", hints(session, "interrupted")
            raise UsageError(*known, still) if options.assume else Waiting(still, *known)
        if options.assume and options.assume not in words_of(node):
            raise UsageError(f"{name} cannot have the outcome {options.assume}")
        if options.rerun_interrupted or options.assume:
            return Done(options.assume, "as assumed") if options.assume else None
        said = f"{label} was interrupted ({one_line(node['at'])}); rdc cannot tell whether it finished."
        if session.is_interactive and "words" not in node:
            session.display.line(said)
            choice = session.ask("Did it pass or fail, or run it again?", "pass/fail/again")
            if choice is not None:
                return None if choice == "again" else Done(choice, "set by the operator")
        raise Waiting(said, *hints(session, "interrupted"))
