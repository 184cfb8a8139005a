"""Notices: call the operator's command when a run waits or ends."""

import json
import os
import signal
import time
from contextlib import suppress

from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import UsageError
from runtime_shim.engine.session import Extension, Session
from runtime_shim.engine.state import State, utc_now
from runtime_shim.engine.texts import one_line
from runtime_shim.tasks.exchange import file_with
from runtime_shim.tasks.process import IGNORED_HERE, in_words, kill

NOTICE_SECONDS = 30


class Notices(Extension):
    """Calls the operator's command. Its result does not affect the run."""

    options = (("run resume", "--notify", "COMMAND", "call when the run waits or ends, with the event on its stdin"),)

    _given = _kept = _command = _shown = ""

    def before_run(self, state: "State | None") -> None:
        """Take the command of this call, or of an earlier one, or of the document."""
        self._given = getattr(self.session.options, "notify", None) or ""
        records = (state.begin, *state.finished[-1:], *state.notes) if state else ()
        earlier = [record["notify"] for record in records if "notify" in record]
        self._kept = self._given or "".join(earlier[-1:])
        self._command = self._kept or self.session.program.get("notify") or ""  # a later `before_run` reads the option

    def record(self, record: Record) -> Record:
        """Keep the command of a call for later calls, unless it has a secret."""
        is_kept = self._kept and record.get("kind") in ("begin", "done", "agreed")
        return {**record, "notify": self._kept} if is_kept and self.session.mask(self._kept) == self._kept else record

    def resumed(self) -> None:
        """Record a command that a resume sets."""
        if self._given:
            self.session.record({"kind": "agreed", "agreed": {}})

    def event(self, event: str, fields: Record) -> None:
        """Send an event to the command."""
        if self._command and event in ("run_waiting", "run_interrupted"):
            self._send(event, fields)

    def end(self) -> None:
        """Send the end of a run, once."""
        state = self.session.state
        if self._command and all(note["kind"] != "sent" for note in state.notes):
            self._send("run_finished", {"result": state.condition, "message": state.message})
            with suppress(UsageError):  # the run has ended, also on a full disk
                self.session.record({"kind": "sent"})

    def _send(self, event: str, fields: Record) -> None:
        session, command = self.session, self._command
        if self._kept and self._kept not in (self._given, self._shown):  # no one sees a journal
            self._shown = self._kept
            session.display.line(f"    notify: {one_line(self._kept)} (kept from an earlier call)")
        about = {"event": event, "time": utc_now(), "run": session.state.begin["run"], **fields}
        about.update(name=session.program["name"], title=session.program["title"])
        given = json.dumps(session.through("record", about)).encode() + b"\n"
        try:
            problem = _told(session, command, given)
        except (OSError, ValueError) as error:
            problem = str(error)
        if problem:
            session.display.line(f"    --notify: {problem}")


def _told(session: Session, command: str, given: bytes) -> str:
    """Run the command with the event on standard input, and return the problem or ""."""
    with file_with(given) as file, open(os.devnull, "wb") as nowhere:  # it may ignore its input
        files = [(os.POSIX_SPAWN_DUP2, each.fileno(), number) for number, each in enumerate((file, nowhere, nowhere))]
        deadline, before = time.monotonic() + NOTICE_SECONDS, signal.sigpending()
        group = os.posix_spawnp(
            "sh", ["sh", "-c", command], os.environ, file_actions=files, setpgroup=0,
            setsigmask=session.signals.before, setsigdef=IGNORED_HERE,
        )  # fmt: skip
    while time.monotonic() < deadline and not session.signals.stops & signal.sigpending() - before:
        time.sleep(0.01)
        pid, status = os.waitpid(group, os.WNOHANG)
        if pid:
            return in_words(os.waitstatus_to_exitcode(status))
    kill([group])
    return f"the command was stopped, by you or after {NOTICE_SECONDS} seconds"
