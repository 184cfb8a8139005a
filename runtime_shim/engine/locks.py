"""The rules of a program as machines: their values follow from the records of a run (P-5)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import Table
from runtime_shim.engine.state import ENDED, MOVES
from runtime_shim.engine.status import ASSUMED

BY_PERSONS = ("answered", "answered here", "as reviewed on GitHub")  # by a command, and at a terminal


class Happening(NamedTuple):
    """An event of a run: a step's start, or its outcome. The end of the run is an outcome of the step "".

    An outcome that an operator assumed `opens` nothing. `is_given` is false for one that no person gave.
    """

    step: str
    word: str = ""
    opens: bool = True
    is_given: bool = True


class Locks:
    """The values of all rules after some records, and the events that a rule holds.

    The value of a lock is 1 if it is open; that of a count is the number of guarded events. Nothing changes in place.
    """

    def __init__(self, rules: Table, records: Sequence[Record] = (), stops: bool = False) -> None:
        """Read records. With `stops`, the last of them is not written yet."""
        self.rules = rules
        self.now = self.before = {name: int("is_open" in rule) for name, rule in rules.items()}  # the last start
        self.held: tuple[Happening, ...] = ()  # the events that a rule holds, and those after them
        self.at = self.last = self.condition = self.after = ""  # the place, the last start, and the stand after a hold
        self.allowed: frozenset[str] = frozenset()  # the rules that the first held event may break
        self.ended: frozenset[str] = frozenset()  # the steps around others that the last move has ended
        for number, record in enumerate(in_names_of_now(records), 1):
            self.feed(record, stops and number == len(records))

    def has(self, name: str, key: str, event: Happening) -> bool:
        """Return whether an event is in a list of a rule: a step for its start, or a step and a word."""
        return (event.step if not event.word else [event.step, event.word]) in self.rules[name].get(key, ())

    def broken(self, event: Happening) -> list[str]:
        """Return the rules that an event breaks now."""
        found = [name for name in self.rules if self.has(name, "guards", event) and name not in self.allowed]
        return [name for name in found if not self.is_open(name)]

    def is_open(self, name: str) -> bool:
        """Return whether a rule lets a guarded event pass."""
        return bool(self.now[name] < self.rules[name]["most"] if "most" in self.rules[name] else self.now[name])

    def _enter(self, event: Happening) -> None:
        """Start the rules of a nested document again, if its first step starts (P-8)."""
        for name, rule in self.rules.items():
            inside = () if event.word else rule.get("inside", ())
            if event.step in inside and (self.last not in inside or rule["scope"] in self.ended):
                self.now = {**self.now, name: int("is_open" in rule)}
        self.before = self.before if event.word else self.now

    def _apply(self, event: Happening) -> None:
        """Close, then open. An event that passes although it breaks a rule opens nothing (P-16)."""
        now = dict(self.now)
        for name, rule in self.rules.items():
            is_given = event.is_given or event.step not in rule.get("persons", ())
            if "most" in rule:
                now[name] += self.has(name, "guards", event)
            elif self.has(name, "opens", event) and event.opens and is_given and not self.allowed:
                now[name] = 1
            elif self.has(name, "closes", event):
                now[name] = 0
        self.now, self.allowed = now, frozenset()
        if not event.word:
            self.last, self.ended = event.step, frozenset()

    def _run(self, events: Iterable[Happening], stops: bool, is_held: bool = False) -> None:
        """Apply events up to the first that breaks a rule, if it `stops` there. A held record stops at the last."""
        left = list(events)
        while left:
            self._enter(left[0])
            if (stops and self.broken(left[0])) or (is_held and not left[1:]):
                break
            self._apply(left.pop(0))
        self.held = tuple(left)

    def feed(self, record: Record, stops: bool = False) -> None:
        """Apply a record; with `stops`, one that is not written yet."""
        kind, is_held = record["kind"], "held" in record
        condition = str(record.get("held", record.get("condition", "")))
        stops = stops or is_held
        if kind == "override":
            self.allowed |= {record["rule"]}
            self._run(self.held, True)
        elif kind == "adopt":
            self.at = record["node"]
            if not self.held and condition == "ready":  # the step has not started
                self.now, self.held = self.before, (Happening(self.at),)
            self._run(self.held, stops, is_held)
        elif kind in ("begin", "done"):
            self.at, self.allowed = record["next" if kind == "done" else "node"], frozenset()
            end_or_start = Happening("", condition) if condition in ENDED else Happening(self.at)
            events = [*self._outcomes(record), end_or_start]
            self._run(events if record.get("outcome") != "canceled" else (), stops, is_held)
        elif condition and self._starts(kind, condition):
            self._run([Happening(self.at)], stops, is_held)
        self.condition, self.after = record.get("condition", self.condition), condition if is_held else self.after

    def _starts(self, kind: str, condition: str) -> bool:
        """Return whether a record runs an interrupted step again, or continues a run after a limit."""
        is_again = self.condition in ENDED and condition not in ENDED
        return is_again or (kind == "resume" and self.condition == "running")

    def _outcomes(self, record: Record) -> list[Happening]:
        """Return the outcomes that a record decides; moves of operators decide none (P-15)."""
        if record.get("outcome", MOVES[0]) in MOVES:
            return []
        opens, is_given = record["how"] not in ASSUMED, record["how"] in BY_PERSONS and "flag" not in record
        settled = [Happening(step, word, opens) for step, word in record.get("settles", ())]
        self.ended = frozenset(event.step for event in settled)
        return [Happening(record["node"], record["outcome"], opens, is_given or record.get("by") == "mock"), *settled]


def in_names_of_now(records: Sequence[Record]) -> list[Record]:
    """Return records with the names that their steps have since the last adoption."""
    names: dict[str, str] = {}
    found: list[Record] = []
    for record in reversed(records):
        new: Record = {key: names.get(record[key], record[key]) for key in ("node", "next") if key in record}
        settled = [[around(step, names), word] for step, word in record.get("settles", ())]
        found.append({**record, **new, "settles": settled} if names else record)
        if record["kind"] == "adopt":
            names = {old: names.get(new, new) for old, new in record["renamed"].items()}
    return found[::-1]


def around(step: str, names: Mapping[str, str]) -> str:
    """Return the new name of a step with others inside: that of as many levels above its first one."""
    inner = next((name for name in names if name.startswith((f"{step}.", f"{step}/"))), "")
    found, depth = names.get(inner, step), inner[len(step) :].replace("/", ".").count(".")
    for _ in range(depth):
        found = found[: max(found.rfind("."), found.rfind("/"), 0)]
    return found
