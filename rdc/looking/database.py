"""The runs of workers: their list, records and answers, by the database that the workers share."""

import os
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec

from rdc.looking.drawing import KINDS, Drawing
from rdc.looking.following import Followed, Place, Status, since_of, words_of
from rdc.looking.model import Answered, Asked, Question, Refused, Reply, RunEntry
from rdc.runs.process import Ended, finish_process
from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import Table
from runtime_shim.engine.state import ENDED
from runtime_shim.engine.state import State as RunState
from runtime_shim.engine.status import condition_of
from runtime_shim.engine.walk import filled
from runtime_shim.operator.current import at_of
from runtime_shim.operator.logs import LOGS, log_of
from runtime_shim.targets.dbos.command_line import application_of
from runtime_shim.targets.dbos.leases import Leases
from runtime_shim.targets.dbos.legs import Leg, Legs
from runtime_shim.targets.dbos.runs import run_state

EVERY = 1.0
"""How many seconds pass between two looks at the database."""

MOST_RUNS = 200
VARIABLE = "RDC_DATABASE"
"""The variable with the address of the database. It may have a password, which other users must not see."""

NOT_SERVED = "No worker of this version is running."
HALTED = ("refused", "failed", "halted")
PLACED = b'"--at", "N:STEP"'
"""A program with this text can check the place of a run."""


class Worker:
    """The program of workers, and the database with their runs."""

    def __init__(self, script: str, url: str) -> None:
        self.script, self._url, self._legs = script, url, dict[str, Legs]()
        self.takes_place = PLACED in Path(script).read_bytes()

    def legs(self, table: Table) -> Legs:
        """Return the database of a program."""
        name = application_of(table)
        if name not in self._legs:
            self._legs[name] = Legs(self._url or f"sqlite:///{table['name']}.sqlite", name)
        return self._legs[name]

    @property
    def shown(self) -> str:
        """The address of the database without its password."""
        return Legs(self._url, "").shown if self._url else f"that of {self.script}"

    def call(self, *words: str, given: str = "") -> Ended:
        """Run a command of the program to its end."""
        more = {VARIABLE: self._url} if self._url else {}
        return finish_process([sys.executable, "-P", self.script, *words], os.curdir, given.encode(), **more)


class WorkerRuns:
    """The newest runs of workers."""

    def __init__(self, worker: Worker, drawing: Drawing, changed: Callable[[], None]) -> None:
        self._worker, self._drawing, self._changed = worker, drawing, changed

    def entries(self) -> tuple[RunEntry, ...]:
        """Return the runs, the newest first. Raise UsageError if the database doesn't answer."""
        return tuple(map(entry_of, self._newest()))

    def run(self, key: str) -> Followed:
        """Return the run with a key; raise KeyError without one."""
        found = next((leg for leg in self._newest() if leg.run == key), None)
        if found is None or self._drawing.version is None:
            raise KeyError(key)
        legs = self._worker.legs(self._drawing.version.table)
        return WorkerRun(entry_of(found), self._worker, legs, self._drawing, self._changed)

    def _newest(self) -> list[Leg]:
        if self._drawing.version is None:
            return []
        database = self._worker.legs(self._drawing.version.table)
        found = [*database.newest(most=MOST_RUNS), *database.newest(is_over=True, most=MOST_RUNS)]
        return sorted(found, key=lambda leg: leg.updated, reverse=True)[:MOST_RUNS]


def entry_of(leg: Leg) -> RunEntry:
    """Return the newest leg of a run as an entry of the list."""
    word, until = run_state(leg), time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(leg.updated / 1000))
    worker = leg.worker if word == "running" else ""
    step, message = (str(leg.result.get(key) or "") for key in ("step", "message"))
    return RunEntry(leg.run, leg.run, leg.run, word, until=until, step=step, message=message, worker=worker)


class WorkerRun(Followed):
    """A run at a worker."""

    def __init__(
        self, entry: RunEntry, worker: Worker, legs: Legs, drawing: Drawing, changed: Callable[[], None]
    ) -> None:
        super().__init__(entry, drawing, changed)
        self._worker, self._database = worker, legs
        self._legs, self._first, self._count, self._looked = list[Leg](), 1, 0, 0.0
        self._is_served = True
        self.look()

    def more(self) -> tuple[bool, list[Record]]:
        """Return whether this is another run now, and its new records: of the newest leg, and of later ones."""
        if monotonic() - self._looked < EVERY:
            return False, []
        self._looked = monotonic()
        legs = self._database.of_run(self.entry.name)
        is_new = len(legs) < len(self._legs) or not legs
        if is_new:
            self._first, self._count = 1, 0
        is_same, self._legs = legs == self._legs, legs
        if not legs or (is_same and not legs[-1].is_active):
            return is_new, []
        self._is_served = not Leases(self._database).is_free(f"version-{legs[-1].version}")
        records, number = list[Record](), len(legs)
        if number > self._first:
            records += self._database.journal(self.entry.name, number - 1, self._first)[0][self._count :]
            self._first, self._count = number, 0
        last = self._database.journal(self.entry.name, number, number)[0]
        records, self._count = [*records, *last[self._count :]], len(last)
        return is_new, records

    def place(self, state: RunState, *, is_changed: bool) -> Place:  # noqa: ARG002 (as for a run here)
        """Return where the run is, by its newest leg."""
        if not self._legs:
            return Place("none", None, is_quiet=True)
        leg = self._legs[-1]
        word, shown = run_state(leg), condition_of(state, leg.is_active)
        is_halted = word in HALTED and state.condition not in ("running", *ENDED)
        if leg.is_active or word in (*ENDED, "canceled") or is_halted:
            shown = word
        trouble = leg.result.get("message") if word in ("refused", "failed", "interrupted") else ""
        notice = f"The worker could not continue: {trouble}" if trouble else ""
        if leg.is_active and not self._is_served:
            notice = NOT_SERVED
        worker = leg.worker if leg.status == "PENDING" else ""
        return Place(shown, (leg.number, len(state.notes)), leg.is_active, worker=worker, notice=notice)

    def ask(self, state: RunState) -> Status:
        """Return the status that `worker.py status RUN` shows."""
        done = self._worker.call("status", self.entry.name, "--json")
        try:
            facts: dict[str, Any] = msgspec.json.decode(done.output)
        except msgspec.DecodeError:
            return Status(self._place.state, message=done.reason)
        following = tuple(map(str, facts["next"]))
        question = self._question(state, following) if facts["state"] == "waiting" else None
        return Status(facts["state"], following, question)

    def _question(self, state: RunState, following: Sequence[str]) -> Question | None:
        """Return the question of the step, whose answers are in the commands that follow."""
        version, answers = self._drawing.version, tuple(one for one in following if " answer " in one)
        node = version.table["nodes"].get(state.node) if version else None
        if node is None:
            return None
        parts = (filled(node, node.get(key, ""), state.registers).strip("\n") for key in ("prompt", "block", "reason"))
        asks, kind = node.get("asks"), KINDS.get(node["task"], node["task"])
        return Question(
            step=state.node,
            at=at_of(state),
            title=filled(node, node.get("title", ""), state.registers),
            text="\n\n".join(filter(None, parts)),
            kind=kind,
            since=since_of(state),
            replies=tuple(shlex.split(one.partition(" answer ")[2])[2] for one in answers),
            asks=msgspec.convert(asks, Asked) if asks else None,
            form=kind == "ask" and "items" not in node and bool(answers),
            commands=answers or tuple(following),
        )

    def has_logs(self) -> bool:
        """Return True: workers always keep logs."""
        return True

    def answer(self, reply: Reply, *, continues: bool) -> Answered | Refused:  # noqa: ARG002 (workers always continue)
        """Record an answer, unless another person was first."""
        self._looked = 0.0
        self.look()
        state = self._reading.state
        if state is None or at_of(state) != reply.at or reply.step[:1] in ("", "-"):
            return self.refused(reply, f"{reply.at} is not the current step")
        signed = [f"--{name}={value}" for name, value in (("by", reply.by), ("note", reply.note)) if value]
        placed = [f"--at={reply.at}"] if self._worker.takes_place else []
        words = ("answer", self.entry.name, reply.step, "-", *signed, *placed)
        try:
            done = self._worker.call(*words, given=reply.reply)
        except (OSError, ValueError) as error:  # a word is too long, or has a NUL
            return self.refused(reply, f"cannot start {self._worker.script}: {words_of(error)}")
        self._looked = 0.0
        return self.refused(reply, done.reason) if done.code else Answered(continues=True)

    def log(self, number: int) -> str | bytes:
        """Return the path of the log of a visit; if it isn't on this machine, the end of it that the record has."""
        version, state, name = self._drawing.version, self._reading.state, log_of(number, self.step_of(number))
        path = os.path.join(".rdc", str(version and version.table["name"]), self.entry.name, LOGS, name)
        if os.path.isfile(path):
            return path
        finished = state.finished[number - 1 : number] if state and number else []
        return "".join(str(one.get("output", "")) for one in finished).encode()
