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
        label = session.label(name)
        node, running = session.program["nodes"][name], session.state.running_processes()
        if running:  # no decision yet, unless the options end it
            still = f"{label}: its {self.noun} still runs (pid {', '.join(str(one['pid']) for one in running)})"
            if not options.rerun_interrupted:
                advice, known = f"{still}; wait until it ends, or stop it", hints(session, "interrupted")
                raise UsageError(*known, advice) if options.assume else Waiting(advice, *known)
            session.display.line(f"{still}; ending it")
            end_groups(running)
        if not options.assume and (groups := session.state.remaining_groups()):  # maybe not of this run: don't end them
            still = f"{label}: processes of its {self.noun} still run (group {', '.join(map(str, groups))})"
            raise Waiting(f"{still}; wait until they end, or stop them", *hints(session, "interrupted"))
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
