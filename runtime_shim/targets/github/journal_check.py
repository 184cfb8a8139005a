"""Checks of a journal from an artifact: the run continues only if this program can have written it.

Every transition is checked, so all gates that a run has passed are in the journal.
"""

import re
from typing import Any

from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.state import ENDED, FORMAT, steps_of
from runtime_shim.engine.texts import words_of
from runtime_shim.engine.walk import VERBS, Verbs, choose, follow, is_passed
from runtime_shim.targets.github.api import DECISIONS, HaltError

MOST = 10**4000  # largest counter; Python reads no longer numbers
FARTHEST = 10**11  # largest other number, such as a time in seconds
CONDITIONS = ("running", "ready", "waiting", *ENDED)
NOTES = {
    "rest": ("ready",),
    "resume": ("running",),
    "again": ("running", "ready"),
    "wait": ("waiting",),
    **dict.fromkeys(("process", "entry", "item", "call", "tried", "agreed", "waits", "left", "sent"), (None,)),
}
# The keys that a record of a kind must have.
REQUIRED = {
    "begin": ("run", "edition", "cwd", "time", "name", "source", "program", "nodes", "steps", "registers"),
    "done": ("node", "attempt", "instances", "outcome", "how", "next", "seconds", "changed"),
    "process": ("pid", "since"),
    "entry": ("entry", "answer"),
    "item": ("item", "text", "reply"),
    "call": ("call",),
    "tried": ("until",),
    "agreed": ("agreed",),
    "waits": ("since",),
}
# The types of values by their keys: of one, of a list's items, or of a dictionary's values.
TEXT, NUMERIC = (str, type(None)), (int, float)
VALUE_TYPES: Table = {
    **dict.fromkeys(("run", "edition", "cwd", "time", "name", "source", "program", "node", "outcome"), (str,)),
    **dict.fromkeys(
        ("how", "next", "says", "message", "title", "answers", "call", "by", "note", "out", "reply"), (str,)
    ),
    **dict.fromkeys(("attempt", "line", "entry", "item", "pid", "limited", "agent_calls", "max_steps"), (int,)),
    **dict.fromkeys(("seconds", "expire", "until", "due"), NUMERIC),
    **{key: [(str,)] for key in ("remarks", "breaks", "given")},
    **{key: {"": (str,)} for key in ("nodes", "brought")},
    **{key: {"": (int,)} for key in ("instances", "calls")},
    **{key: {} for key in ("registers", "changed", "found", "agreed")},
    "since": (*NUMERIC, type(None)),
    "answer": TEXT,
    "items": [{"": (int, str)}],
    "steps": [[(str,)]],
}
RECORDED: Verbs = {**VERBS, "keep": lambda _old, told: told[0]}


def damaged() -> HaltError:
    """Return the error for a state that this program cannot have written."""
    says = "The saved state of the run is damaged or incomplete. No step ran. Start a new run"
    return HaltError("Damaged state", says)


def check_records(program: Table, records: list[Record]) -> None:
    """Refuse a journal that this program cannot have written."""
    try:
        for record in records:
            _demand({*REQUIRED.get(record["kind"], ())} <= {*record}, "renamed" not in record)
            _demand("answers" not in record or "line" in record, "notify" not in record)
            pairs = [*record.items(), *record.get("agreed", {}).items()]
            _demand(all(_fits(value, VALUE_TYPES[key]) for key, value in pairs if key in VALUE_TYPES))
        _Walk(program, records[0]).through(records[1:])
    except (UsageError, KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise damaged() from None


def _demand(*holds: bool) -> None:
    if not all(holds):
        raise ValueError


def _fits(value: Any, shape: Any) -> bool:
    if isinstance(shape, tuple):
        return type(value) in shape and (not isinstance(value, NUMERIC) or abs(value) <= FARTHEST)
    if type(value) is not type(shape):
        return False
    items, kinds = (value.values(), shape.values()) if isinstance(value, dict) else (value, shape)
    return all(_fits(one, kind) for kind in kinds for one in items)


class _Walk:
    """Replays a journal with the engine's walk, and checks that a run can have written each record."""

    def __init__(self, program: Table, begin: Record) -> None:
        self.program, self.nodes = program, program["nodes"]
        _demand(begin["kind"] == "begin", begin["format"] == FORMAT, begin.get("mode", "") == "")
        _demand(re.fullmatch(r"[A-Za-z0-9-]{1,100}", begin["run"]) is not None, "run_dir" not in begin)
        _demand(begin["steps"] == steps_of(self.nodes))
        self.registers = dict(program["registers"])
        self._take(begin["registers"], {*self.registers})
        counters = {name: value for name, value in program["registers"].items() if isinstance(value, int)}
        move = follow(program, {"go": program["entry"]}, {**self.registers, **counters})
        _demand(begin["node"] == move.node, self.registers == {**move.registers}, begin["condition"] in CONDITIONS)
        self.node, self.condition, self.last = move.node, begin["condition"], move.node

    def through(self, records: list[Record]) -> None:
        """Check the other records."""
        for record in records:
            kind = record["kind"]
            if kind == "done":
                # Check that a step is left as the program says, or that a specification returns to its failed step.
                _demand(record["node"] == self.node or self.condition == "stop")
                if record["outcome"] == "resumed":
                    _demand("stepspec" in self.program, self.condition == "stop", record["next"] in self.nodes)
                    target, failed = self.nodes[record["next"]], self.nodes[self.last]
                    _demand(target.get("step") == failed.get("step"))
                    self._take(record["changed"], {*record["changed"]})
                    self.node = record["next"]
                else:
                    node = self.nodes[self.node]
                    words = (*words_of(node), *DECISIONS.get(node["task"], ()))
                    _demand(self.condition not in ENDED, record["outcome"] in words)
                    self._moved(record)
                self._stand(record)
                continue
            _demand(kind in NOTES, record.get("condition") in NOTES.get(kind, ()))
            _demand(kind != "entry" or 0 <= record["entry"] < len(self.nodes[self.node]["entries"]))
            self.condition = record.get("condition", self.condition)

    def _moved(self, record: Record) -> None:
        """Check a move. A kept slot has the recorded text, which only its step knew."""
        texts = record["changed"]
        edge = choose(self.program, self.node, self.registers, record["outcome"])
        do = [[one[0], "keep", [texts[one[0]]]] if one[1] == "keep" else one for one in edge.get("do", ())]
        move = follow(self.program, {**edge, "do": do}, self.registers, RECORDED)
        _demand(record["next"] == move.node, texts == move.changed)
        _demand(record.get("settles", []) == [*move.settled])
        self._take(texts, {*move.changed})
        self.node = move.node

    def _stand(self, record: Record) -> None:
        """Set the place of the run. An end has the result of its node, unless a limit ended the run."""
        node, condition = self.nodes[self.node], record["condition"]
        _demand(condition in CONDITIONS, not is_passed(node))
        is_cut = "limited" in record or "spent" in record
        _demand(is_cut or (condition in ENDED) == (node["task"] == "end"))
        _demand(not is_cut or condition == "stop", node["task"] != "end" or condition == node["result"])
        self.last, self.condition = record["node"], condition

    def _take(self, found: Table, names: set[str]) -> None:
        """Take registers: counters are numbers, slots are strings, and there are no others."""
        _demand({*found} == names, names <= {*self.program["registers"]})
        for name, value in found.items():
            if isinstance(self.program["registers"][name], int):
                _demand(type(value) is int, abs(value) <= MOST)
            else:
                _demand(type(value) in TEXT)
        self.registers.update(found)
