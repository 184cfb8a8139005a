"""What the steps of a run on GitHub call: commands, agents and tools, none of which may tell the runner anything."""

import os
import re
import secrets
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Callable, Optional

from runtime_shim.legacy.process import Processes, in_words
from runtime_shim.legacy.program import Table
from runtime_shim.legacy.runner_says import one_visible
from runtime_shim.legacy.runner_state import Outcome, Run
from runtime_shim.legacy.signals import Signals
from runtime_shim.legacy.values import UnfitError, check_value, read_output, read_regular, texts_of
from runtime_shim.legacy.walk import attempt_of, instances_of

LONGEST_PAUSE = 10**8  # seconds
LONGEST_TITLE = 16_384  # characters: a variable has 128 KiB at most
SHORTEST_SECRET = 4  # characters; a shorter one is in too many words
SHORTEST_LINE = 8  # characters of a line of a secret that has several
# What the runner believes, or gives to whoever has it; and what rdc itself keeps in the environment of a step.
KEPT_BACK = re.compile(r"GITHUB_(TOKEN|OUTPUT|ENV|PATH|STEP_SUMMARY|STATE)|ACTIONS_.*|RDC_.*")


def failed(unit: Table) -> str:
    """Return the word of a step that could not be done."""
    return "failed" if "failed" in unit.get("words", ()) else "fail"


def masked(text: str, among: Optional[Sequence[str]] = None) -> str:
    """Return a text without the values of secrets, all or some, and without the lines of those that have several."""
    found: set[str] = set()
    for name in os.environ.get("RDC_SECRETS", "").split() if among is None else among:
        value = os.environ.get(name, "")
        found |= {value} if len(value) >= (SHORTEST_SECRET if among is None else 1) else set()
        lines = [line.strip() for line in value.splitlines()]
        found |= (
            {line for line in lines if len(line) >= (SHORTEST_LINE if among is None else 1)}
            if len(lines) > 1
            else set()
        )
    for part in sorted(found, key=len, reverse=True):  # one may stand in another
        text = text.replace(part, "***")
    return text


class Waiting(Exception):  # noqa: N818 (it is no error)
    """A question that nobody has answered yet."""


@contextmanager
def stopped_commands() -> Iterator[None]:
    """Have the runner take for a text whatever is said inside the block."""
    token = secrets.token_hex(16)
    print(f"::stop-commands::{token}", flush=True)
    try:
        yield
    finally:
        print(f"\n::{token}::", flush=True)


def say(lines: str) -> None:
    """Show lines of an answer, in which nothing steers a terminal; the log is UTF-8 whatever the locale."""
    shown = "\n".join(one_visible(line.rstrip("\r")) for line in lines.split("\n"))
    sys.stdout.buffer.write(shown.encode("utf-8", "replace") + b"\n")
    sys.stdout.buffer.flush()


class Caller:
    """Does the steps of a run that call something."""

    def __init__(self, run: Run, processes: Processes, folder: Path, place: str) -> None:
        self.run = run
        self.processes = processes
        self.folder = folder
        self.suffix = "" if len(run.program["places"].get(place, ())) < 2 else "_" + run.token

    def written(self, field: str) -> str:
        """Return a text of the step as its author wrote it: from the environment of the step, or the program."""
        name = f"RDC_{field.upper()}{self.suffix}"
        return os.environ[name] if name in os.environ else str(self.run.unit.get(field, ""))

    def text(self, field: str) -> str:
        """Return a text of the step, filled in."""
        return self.run.text(self.written(field))

    def environment(self, names: Optional[list[str]], **more: str) -> dict[bytes, bytes]:
        """Return what a called process finds; of the secrets those with these names, and those of the step.

        Without names for either it finds all.

        Raises UnfitError for a value that no environment variable can have.
        """
        run, unit = self.run, self.run.unit
        given = None if names is None and "secrets" not in unit else {*(names or ()), *unit.get("secrets", ())}
        hidden = set() if given is None else set(os.environ.get("RDC_SECRETS", "").split()) - given
        found = {
            name: value for name, value in os.environ.items() if not KEPT_BACK.fullmatch(name) and name not in hidden
        }
        found |= {
            "RDC_STEP": run.node,
            "RDC_TITLE": run.text(unit["title"]).replace("\0", "\ufffd")[:LONGEST_TITLE],
            "RDC_RUN_ID": run.number,
            "RDC_ATTEMPT": str(attempt_of(unit, run.registers)),
        }
        found |= {name: str(value) for name, value in instances_of(unit, run.registers).items()}
        texts = texts_of(unit, run.registers)
        for name, value in texts.items():
            check_value(name, value)
        found |= {**unit.get("constants", {}), **texts, **more}
        return {name.encode("utf-8", "surrogateescape"): in_bytes(value) for name, value in found.items()}

    def run_command(self, script: Optional[str]) -> Outcome:
        """Run a command (I9). `script` is the file that it stands in, if it has one."""
        run, unit = self.run, self.run.unit
        shell = shutil.which(unit["shell"])
        if shell is None:
            raise UnfitError(f"there is no {unit['shell']} here")
        written = Path(script).read_text(encoding="utf-8") if script else self.written("command")
        path = self.folder / "output"
        given = {"RDC_OUTPUT": str(path)} if "outputs" in unit else {}
        environment = self.environment(None, **given)
        summary = os.environ.get("GITHUB_STEP_SUMMARY")
        if summary:
            environment[b"GITHUB_STEP_SUMMARY"] = os.fsencode(summary)
        with suppress(OSError):
            path.unlink()
        words = [unit["shell"].encode(), b"-c", in_bytes(run.text(written))]
        with stopped_commands():
            group = self.processes.spawn(shell, words, environment)
            (code,) = self.processes.watch([group], unit.get("timeout", 0))
        if code is None:
            print(f"The step {self.run.token} ended: timeout after {unit['timeout']} s", flush=True)
        elif in_words(code):
            print(f"The step {self.run.token} ended: {in_words(code)}", flush=True)
        found = read_output(read_regular(path), unit["outputs"]) if given else {}
        values = {name: masked(value, run.program.get("secrets", ())) for name, value in found.items()}
        return Outcome("pass" if code == 0 else "fail", "", values)


def processes_of(signals: Signals) -> Processes:
    """Return what begins processes in a step, where no terminal is lent to them and no journal has their groups."""
    return Processes(signals, False, lambda _group: None)


def pause(run: Run, signals: Signals) -> None:
    """Wait before a further attempt (I22)."""
    unit = run.unit
    further = attempt_of(unit, run.registers) - 2
    if further >= 0 and unit.get("delay"):
        seconds = min(unit["delay"] * unit.get("backoff", 1) ** min(further, 64), LONGEST_PAUSE)
        print(f"Waiting {seconds} s before this attempt.", flush=True)
        with signals.listening():
            time.sleep(seconds)


def in_bytes(text: str) -> bytes:
    """Return a text as a process gets it, which may be no Unicode."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


Do = Callable[[Caller, Optional[str]], Outcome]
DOING: dict[str, Do] = {}  # who does a kind of task; the script is the file of a command
DOING["shell"] = Caller.run_command  # for: shell
ANSWERING: dict[str, Callable[[Caller, str], Optional[str]]] = {}  # who is asked in place of people
BEGINNING: list[Callable[[Run], None]] = []  # what is done with a run before the first step of a job leaves it
LEAVING: list[Callable[[Run, str], None]] = []  # what else is said when a step is left, or was left in an earlier run
Step = Callable[[Table, Path, list[str]], int]
STEPS: dict[str, Step] = {}  # what steps call besides what every workflow has
