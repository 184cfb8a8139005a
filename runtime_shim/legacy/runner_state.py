"""The state of a run on GitHub: one file, which a later job or another run takes over. Nothing of it is trusted."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple, Optional

from runtime_shim.legacy.kept import keeping
from runtime_shim.legacy.program import RefusedError, Table
from runtime_shim.legacy.walk import Move, advance, attempt_of, filled, follow

LARGEST_STATE = 64 * 1024 * 1024  # bytes
MOST = 10**4000  # of a counter; Python reads no longer numbers
TOKEN = re.compile(r"[A-Za-z0-9_.-]{1,200}")


class Outcome(NamedTuple):
    """What came of a step: its word, the text that was answered, and values by their names."""

    word: str
    text: str = ""
    values: Optional[dict[str, str]] = None


class Run:
    """Where a run stands, and what it remembers.

    `left` has for each step that is done where the run continues; `journal` a line for each attempt: step, word,
    seconds and instance; `replies` those that are not used yet, each with the step that it is for, if any.
    """

    def __init__(self, program: Table) -> None:
        self.program = program
        self.number = ""
        self.node: str = program["entry"]
        self.registers: dict[str, Any] = dict(program["registers"])
        self.done = 0
        self.limited = False
        self.left: dict[str, str] = {}
        self.journal: list[list[Any]] = []
        self.replies: list[list[str]] = []

    def begin(self, number: str, inputs: dict[str, Optional[str]]) -> None:
        """Go from the start to the first step."""
        self.number = number
        self.registers.update((name, value) for name, value in inputs.items() if name in self.registers)
        self._stand(follow(self.program, {"go": self.program["entry"]}, self.registers))

    @property
    def unit(self) -> Table:
        """The step that the run stands at."""
        unit: Table = self.program["nodes"][self.node]
        return unit

    @property
    def end(self) -> str:
        """The word of the end that was reached; "" while the run goes on."""
        if self.limited:
            return "STOP"
        return str(self.unit["result"]).upper() if self.unit["task"] == "end" else ""

    @property
    def message(self) -> str:
        """The message of the end that was reached."""
        if self.limited:
            return f"{self.node}: the limit of {self.program['limit']} steps was reached"
        return " ".join(self.text(self.unit["message"]).split())

    @property
    def token(self) -> str:
        """The name of the place where the run stands, for conditions of later steps."""
        token: str = "STOP" if self.limited else self.program["steps"][self.node]
        return token

    def text(self, written: str) -> str:
        """A text of the step, filled in (I6)."""
        return filled(self.unit, written, self.registers)

    def go_on(self, outcome: Outcome, seconds: int) -> None:
        """Leave a step with its outcome (I1, I24)."""
        unit = self.unit
        if unit["task"] != "route":  # a branch is no task (I1)
            instance = ".".join(str(self.registers[name]) for name in unit.get("variables", {}).values())
            self.journal.append([self.node, attempt_of(unit, self.registers), outcome.word, seconds, instance])
            self.done += unit["task"] != "gate"
        verbs = keeping(outcome.text, outcome.values or {})
        self._stand(advance(self.program, self.node, self.registers, outcome.word, verbs))

    def _stand(self, move: Move) -> None:
        self.registers.update(move.changed)
        self.node = move.node
        limit = self.program.get("limit")
        is_counted = self.unit["task"] not in ("end", "gate", "route")
        self.limited = limit is not None and is_counted and self.done >= limit

    def save(self, path: Path) -> None:
        """Write the state, all of it or nothing."""
        kept = {name: getattr(self, name) for name in FORMS}
        draft = path.with_name(path.name + ".new")
        draft.write_text(json.dumps(kept), encoding="ascii")
        draft.replace(path)


def is_count(value: object) -> bool:
    """Tell whether a value of JSON is a number of things, not too large."""
    return type(value) is int and 0 <= value <= MOST


def _is_row(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 5
        and all(isinstance(value[index], str) for index in (0, 2, 4))
        and type(value[1]) is int
        and is_count(value[3])
    )


def _are_registers(program: Table, found: object) -> bool:
    """Tell whether counters are numbers and slots texts, and there are just those of the program."""
    if not isinstance(found, dict) or set(found) != set(program["registers"]):
        return False
    counters = {name for name, initial in program["registers"].items() if type(initial) is int}
    return all(
        type(value) is int and abs(value) <= MOST if name in counters else value is None or isinstance(value, str)
        for name, value in found.items()
    )


def _fits(program: Table, found: dict[str, Any]) -> bool:
    units, left, journal, replies = program["nodes"], found["left"], found["journal"], found["replies"]
    return (
        re.fullmatch(r"[0-9]{1,19}", found["number"]) is not None
        and found["node"] in units
        and units[found["node"]]["task"] != "branch"
        and _are_registers(program, found["registers"])
        and is_count(found["done"])
        and all(isinstance(token, str) and TOKEN.fullmatch(token) for pair in left.items() for token in pair)
        and all(_is_row(row) and row[0] in units for row in journal)
        and all(isinstance(pair, list) and list(map(type, pair)) == [str, str] for pair in replies)
    )


FORMS: dict[str, type] = {
    "number": str,
    "node": str,
    "registers": dict,
    "done": int,
    "limited": bool,
    "left": dict,
    "journal": list,
    "replies": list,
}


def read_state(program: Table, path: Path) -> Run:
    """Read a state; raises RefusedError for anything that this program cannot have written."""
    problem = RefusedError("the state of the run is damaged; nothing was run. Begin a new run")
    with path.open("rb") as file:
        content = file.read(LARGEST_STATE + 1)
    if len(content) > LARGEST_STATE:
        raise problem
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise problem from None
    if not isinstance(found, dict) or {name: type(value) for name, value in found.items()} != FORMS:
        raise problem
    if not _fits(program, found):
        raise problem
    run = Run(program)
    for name, value in found.items():
        setattr(run, name, value)
    return run
