"""Commands: run by a shell in a process group of their own, of which nothing is left behind (M2, R5)."""

import errno
import os
import shutil
import signal
from contextlib import suppress
from typing import Optional

from runtime_shim.display import one_line
from runtime_shim.foreground import Foreground
from runtime_shim.journal import Record
from runtime_shim.leftover import end_group, is_alive, signal_group, ticks
from runtime_shim.program import RefusedError, Table
from runtime_shim.session import PERFORMERS, Done, Performer, Session, Waiting
from runtime_shim.signals import FORWARDED, Interrupted
from runtime_shim.walk import attempt_of, filled, instances_of

LINES = 6  # of what a prompt says, before its command runs
PATIENCE = 10  # seconds from a stop signal to SIGKILL
IGNORED_HERE = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTTOU)  # by Python and by this runner
KEYS = (-signal.SIGINT, -signal.SIGQUIT, 128 + signal.SIGINT)


def in_words(code: int) -> str:
    """Say how a command ended."""
    if code >= 0:
        return f"exit code {code}" if code else ""
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


class Commands(Performer):
    """Runs shell units."""

    recovers = True

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._environment = {**os.environb, b"RDC_RUN_ID": session.state.begin["run"].encode()}
        self._shells: dict[str, Optional[str]] = {}
        self._foreground = Foreground()
        self._is_stopping = False

    def perform(self, name: str, unit: Table) -> Done:
        """Run the command of a unit: exit code 0 is PASS, all else FAIL (M2)."""
        shell = unit["shell"]
        if shell not in self._shells:
            self._shells[shell] = shutil.which(shell)
        path = self._shells[shell]
        if path is None:
            return Done("fail", f"there is no {shell} here")
        self._show(unit)
        self.session.heed()
        try:
            group = self._spawn(path, unit)
        except FileNotFoundError:
            return Done("fail", f"there is no {shell} here any more")
        except OSError as error:
            raise self._not_begun(name, error) from None
        code = self._watch(group)
        return Done("pass" if code == 0 else "fail", in_words(code))

    def _show(self, unit: Table) -> None:
        """Show what the unit says to a person, once per visit; a log has the document for it."""
        display, lines = self.session.display, self.session.texts(unit, "prompt")
        if display.is_terminal and attempt_of(unit, self.session.state.registers) == 1:
            for line in lines[:LINES] + [f"    {display.more}"][: len(lines) > LINES]:
                display.line(display.paint(line, "dim"))

    def _spawn(self, path: str, unit: Table) -> int:
        registers = self.session.state.registers
        variables = {"RDC_ATTEMPT": attempt_of(unit, registers), **instances_of(unit, registers)}
        own = {key.encode(): b"%d" % value for key, value in variables.items()}
        return os.posix_spawn(
            path,
            [unit["shell"].encode(), b"-c", filled(unit, unit["command"], registers).encode()],
            {**self._environment, **own},
            setpgroup=0,
            setsigmask=self.session.signals.before,
            setsigdef=IGNORED_HERE,
        )

    def _not_begun(self, name: str, error: OSError) -> RefusedError:
        """Leave a unit to be resumed whose shell the system could not start: its command has no outcome (M2)."""
        self.session.rest()
        hint = "once the system can start processes again"
        if error.errno == errno.E2BIG:
            size = sum(len(key) + len(value) + 2 for key, value in self._environment.items())
            hint = f"the environment has {size:,} bytes; unset what is large in it"
        reason = f"{self.session.label(name)} was not begun: its shell cannot be started: {error.strerror}"
        return RefusedError(f"{hint}, then: {self.session.call('resume')}", reason)

    def _watch(self, group: int) -> int:
        """Wait for a command; one that was told to end, or ended by a key, interrupts the run."""
        reaped = False
        try:
            if self.session.is_interactive:
                self._foreground.lend(group)
            with suppress(RefusedError):  # a full disk is no reason to end a command half-way; its outcome will tell
                self.session.record({"kind": "process", "pid": group, "since": ticks()}, sync=False)
            code = self._wait(group)
            reaped = True
        finally:
            had_keys = self._foreground.take_back()
            if not reaped:
                signal_group(group, signal.SIGKILL)
                os.waitpid(group, 0)
        if self._is_stopping or (had_keys and code in KEYS):
            signal_group(group, signal.SIGKILL)  # R5: what of the group has outlived its leader
            raise Interrupted
        return code

    def _wait(self, group: int) -> int:
        while True:
            number = self.session.signals.wait()
            if number == signal.SIGALRM and self.session.signals.has_timer:
                signal_group(group, signal.SIGKILL)
            elif number in self.session.signals.stops:
                if not self._is_stopping:
                    self.session.signals.wake_after(PATIENCE)
                self._is_stopping = True
                signal_group(group, number if number in FORWARDED else signal.SIGTERM)
                signal_group(group, signal.SIGCONT)
            elif number == signal.SIGCHLD:
                pid, status = os.waitpid(group, os.WNOHANG | os.WUNTRACED)
                if pid and not os.WIFSTOPPED(status):
                    return os.waitstatus_to_exitcode(status)
                if pid and self._foreground.exists():
                    self._stopped(group, os.WSTOPSIG(status))

    def _stopped(self, group: int, number: int) -> None:
        """Stop with the command (Ctrl-Z) and go on with it; one that asked for the terminal gets it."""
        self._foreground.take_back()
        if number not in (signal.SIGTTIN, signal.SIGTTOU) or not self._foreground.is_ours():
            signal_group(os.getpgrp(), signal.SIGTSTP)
        self._foreground.lend(group, again=True)
        signal_group(group, signal.SIGCONT)

    @staticmethod
    def still_runs(process: Optional[Record]) -> bool:
        """Tell whether a command that was interrupted goes on without the run."""
        return is_alive(process)

    def recover(self, name: str) -> Optional[Done]:
        """Decide about a command that was interrupted: as the options say, or as the operator does (R2)."""
        session, options, process = self.session, self.session.options, self.session.state.process
        label = session.label(name)
        again, assume = session.call("resume", "--rerun-interrupted"), session.call("resume", "--assume")
        if process is not None and self.still_runs(process):
            still = f"{label}: its command still runs (pid {process['pid']})"
            if options.rerun_interrupted:
                session.display.line(f"{still}; ending it")
                end_group(process)
                return None
            if options.assume:
                raise RefusedError(f"{still}; wait for its end, or end it and run it again: {again}")
            raise Waiting(still, "wait for its end and resume, or end it and run it again:", f"  {again}")
        if options.rerun_interrupted:
            return None
        if options.assume:
            return Done(options.assume, "as assumed")
        choice = None
        if session.is_interactive:
            place = one_line(session.program["units"][name]["at"])
            session.display.line(f"{label} ({place}) was interrupted; rdc cannot tell whether it finished.")
            choice = session.ask("Did it pass, did it fail, or run it again?", "pass/fail/again")
        if choice is None:
            raise Waiting(
                f"{label} was interrupted; rdc cannot tell whether it finished. To decide:",
                f"  run it again:   {again}",
                f"  it passed:      {assume} pass",
                f"  it failed:      {assume} fail",
            )
        return None if choice == "again" else Done(choice, "as the operator says")


PERFORMERS["shell"] = Commands
