"""Commands: run by a shell (M2), and what is left to decide where one was interrupted half done (R2)."""

import errno
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple, Optional

from runtime_shim.engine.lifecycle import Done, Extension, Performer, Waiting
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.session import Session
from runtime_shim.engine.signals import end_groups, started_at
from runtime_shim.engine.texts import BINARY, duration, one_line
from runtime_shim.engine.walk import attempt_of, variables_of
from runtime_shim.tasks.process import Processes, in_words

MEANT = {"pass": "it passed", "fail": "it failed"}


class Command(NamedTuple):
    """A shell, what it is to do, and with which environment."""

    shell: str
    text: str
    environment: Mapping[bytes, bytes]


def run_command(processes: Processes, command: Command, seconds: int = 0) -> Done:
    """Run a command: exit code 0 is PASS, all else FAIL (M2), and so is one that takes more seconds than it may.

    Knows no run, and is safe in a thread whose `processes` wait for no signal. Raises OSError where it cannot begin.
    """
    words = [command.shell.encode(), b"-c", command.text.encode()]
    try:
        group = processes.spawn(command.shell, words, command.environment)
    except FileNotFoundError:
        return Done("fail", f"there is no {command.shell} here")
    (code,) = processes.watch([group], seconds)
    if code is None:
        return Done("fail", f"timeout after {duration(seconds)}")
    return Done("pass" if code == 0 else "fail", in_words(code))


class Calling(Performer):
    """Does steps by calling processes."""

    noun = "command"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.common = {**os.environb, b"RDC_RUN_ID": session.state.begin["run"].encode()}
        self.processes = Processes(session.signals, session.is_interactive, self._began)

    def _began(self, group: int) -> None:
        with suppress(RefusedError):  # a full disk is no reason to end a command half-way; its outcome will tell
            self.session.record({"kind": "process", "pid": group, "since": started_at(group)}, sync=False)

    def environment(self, node: Table, **more: str) -> dict[bytes, bytes]:
        """Return the environment of what a step calls (M4, I7)."""
        now = self.session.state.registers
        found: Table = {**variables_of(self.session.state.node, node, now), **more}
        for look in self.session.at("variables"):
            found = {**look(node, now), **found}
        return {**self.common, **{key.encode(): str(value).encode() for key, value in found.items()}}

    def not_begun(self, name: str, error: OSError) -> RefusedError:
        """Leave a step whose process could not be started: it has no outcome (M2)."""
        self.session.rest()
        size = sum(len(key) + len(value) + 2 for key, value in self.common.items())
        large = f"the environment has {size:,} bytes; unset what is large in it"
        hint = large if error.errno == errno.E2BIG else "once the system can start processes again"
        reason = f"{self.session.label(name)} was not begun: its shell cannot be started: {error.strerror}"
        return RefusedError(f"{hint}, then: {self.session.call('resume')}", reason)

    def recover(self, name: str) -> Optional[Done]:
        """Decide about a step that was interrupted, as options or the operator say (R2)."""
        session, options, label = self.session, self.session.options, self.session.label(name)
        again, running = session.call("resume", "--rerun-interrupted"), session.state.left_behind()
        if running:  # then nothing can be decided, unless the options say that it is to be ended
            still = f"{label}: its {self.noun} still runs (pid {', '.join(str(one['pid']) for one in running)})"
            if options.assume:
                raise RefusedError(f"{still}; wait until it ends, or stop it and run it again: {again}")
            if not options.rerun_interrupted:
                raise Waiting(still, "wait until it ends and resume, or stop it and run it again:", f"  {again}")
            session.display.line(f"{still}; ending it")
            end_groups(running)
        if options.rerun_interrupted or options.assume:  # of which there is only one
            return self.assumed(name, options.assume) if options.assume else None
        node, unknown = session.program["nodes"][name], "rdc cannot tell whether it finished."
        if session.is_interactive and "words" not in node:
            session.display.line(f"{label} ({one_line(node['at'])}) was interrupted; {unknown}")
            choice = session.ask("Did it pass, did it fail, or run it again?", "pass/fail/again")
            if choice is not None:
                return None if choice == "again" else Done(choice, "as the operator says")
        words = node.get("words", BINARY)
        choices = [f"  {MEANT.get(word, word) + ':':15} {session.call('resume', '--assume', word)}" for word in words]
        raise Waiting(f"{label} was interrupted; {unknown} To decide:", f"  run it again:   {again}", *choices)

    def assumed(self, name: str, word: str) -> Done:
        """Take the word of the operator for what came of a step (I16)."""
        if word not in self.session.program["nodes"][name].get("words", BINARY):
            raise RefusedError(f"{name} cannot have the outcome {word}")
        return Done(word, "as assumed")


class Commands(Calling):
    """Runs shell steps."""

    keys = ("command",)

    def perform(self, name: str, node: Table) -> Done:
        """Run the command of a step: exit code 0 is PASS, all else FAIL (M2)."""
        display = self.session.display
        if display.is_terminal and attempt_of(node, self.session.state.registers) == 1:  # a log has the document for it
            for line in self.session.texts(node, "prompt"):
                display.line(display.paint(line, "dim"))
        self.session.heed()
        command = Command(node["shell"], self.session.filled(node, "command"), self.environment(node))
        try:
            return run_command(self.processes, command, node.get("timeout", 0))
        except OSError as error:
            raise self.not_begun(name, error) from None


class Shell(Extension):
    """Programs with commands."""

    performers = {"shell": Commands}
