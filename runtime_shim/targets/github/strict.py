"""A journal from an artifact is data: it must be one that this program can have written, or the run does not go on.

Every transition is walked again. What a run has passed, such as a gate, is in the journal then.
"""

import re
from typing import Any

from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.state import FORMAT
from runtime_shim.engine.texts import words_of
from runtime_shim.engine.walk import VERBS, Registers, choose, follow
from runtime_shim.targets.github.api import HaltError
from runtime_shim.targets.github.gates import DECISIONS

MOST = 10**4000  # of a counter; Python reads no longer numbers
CONDITIONS = ("running", "ready", "waiting", "complete", "stop")
NOTES = {
    "rest": ("ready",),
    "resume": ("running",),
    "again": ("running", "ready"),
    "wait": ("waiting",),
    **dict.fromkeys(("process", "entry", "call", "tried", "agreed", "waits", "left"), (None,)),
}
TEXT = (str, type(None))


def damaged() -> HaltError:
    """Return the reason for a state that is not as this program writes it."""
    says = "The saved state of the run that is to go on is damaged or incomplete; nothing was run. Begin a new run"
    return HaltError("Damaged state", says)


def check_records(program: Table, records: list[Record]) -> None:
    """Refuse a journal that this program cannot have written."""
    try:
        _Walk(program, records[0]).through(records[1:])
    except (RefusedError, KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise damaged() from None


def is_passed(node: Table) -> bool:
    """Return whether a run goes on through a step: a branch, or the end of a nested document, which has edges (M8)."""
    return node["task"] in ("branch", "end") and bool(node.get("edges"))


def _demand(*holds: bool) -> None:
    if not all(holds):
        raise ValueError


class _Walk:
    """Goes along a journal, and demands of each record what a run would have written."""

    def __init__(self, program: Table, begin: Record) -> None:
        self.program, self.nodes = program, program["nodes"]
        _demand(begin["kind"] == "begin", begin["format"] == FORMAT, begin.get("mode", "") == "")
        _demand(all(isinstance(begin[key], str) for key in ("run", "edition", "cwd", "time", "name", "source")))
        _demand(re.fullmatch(r"[A-Za-z0-9-]{1,100}", begin["run"]) is not None, "run_dir" not in begin)
        self.registers = dict(program["registers"])
        self._take(begin["registers"], {*self.registers})
        move = follow(program, {"go": program["entry"]}, dict(self.registers))
        _demand(begin["node"] == move.node, begin["condition"] in CONDITIONS)
        self.node, self.condition, self.last = move.node, begin["condition"], move.node

    def through(self, records: list[Record]) -> None:
        """Go along the other records."""
        for record in records:
            kind = record["kind"]
            if kind == "done":
                self._done(record)
            else:
                _demand(kind in NOTES, record.get("condition") in NOTES.get(kind, ()))
                self._note(record)

    def _note(self, record: Record) -> None:
        is_entry, is_agreed = record["kind"] == "entry", record["kind"] == "agreed"
        if is_entry:
            entries = self.nodes[self.node]["entries"]
            _demand(type(record["entry"]) is int, 0 <= record["entry"] < len(entries))
            _demand(isinstance(record["answer"], TEXT))
        if is_agreed:
            _demand(isinstance(record["agreed"], dict))
        self.condition = record.get("condition", self.condition)

    def _done(self, record: Record) -> None:
        """Leave a step as the program says, or take a specification back to the step that failed."""
        _demand(record["node"] == self.node or self.condition == "stop", isinstance(record["how"], str))
        if record["outcome"] == "resumed":
            self._reopened(record)
        else:
            _demand(self.condition not in ("complete", "stop"), record["outcome"] in self._words())
            self._moved(record)
        self._stand(record)

    def _words(self) -> tuple[str, ...]:
        """Return what may come of the step at which the run is."""
        node = self.nodes[self.node]
        return (*words_of(node), *DECISIONS.get(node["task"], ()))

    def _moved(self, record: Record) -> None:
        texts = record["changed"]
        _demand(isinstance(texts, dict))
        node, registers, changed = self._walked(record["outcome"], texts)
        _demand(record["next"] == node, {*texts} == changed, all(registers[name] == texts[name] for name in changed))
        self._take(texts, changed)
        self.node = node

    def _walked(self, outcome: str, texts: Table) -> tuple[str, Registers, set[str]]:
        """Return where an outcome leads, what the registers are then, and which have changed.

        A slot that is kept has the text that was recorded, which only its step knew.
        """
        node, word, registers, changed = self.node, outcome, dict(self.registers), set()
        while word or is_passed(self.nodes[node]):
            edge = choose(self.program, node, registers, word or None)
            word, node = "", edge["go"]
            for effect in edge.get("do", ()):
                changed.update(self._apply(effect, registers, texts))
        return node, registers, changed

    def _apply(self, effect: list[Any], registers: Registers, texts: Table) -> list[str]:
        if effect[0] == "reset" and len(effect) == 2:
            names: list[str] = self.program["scopes"][effect[1]]
            registers.update({name: self.program["registers"][name] for name in names})
            return names
        name, verb, amount = effect
        if verb == "keep":
            _demand(isinstance(texts[name], TEXT))
            registers[name] = texts[name]
        else:
            value = registers[amount] if isinstance(amount, str) else amount
            registers[name] = VERBS[verb](registers[name], value)
        return [name]

    def _reopened(self, record: Record) -> None:
        """A failed specification goes on at a part of the step that failed; no gate is passed by that."""
        _demand("contract" in self.program, self.condition == "stop", record["next"] in self.nodes)
        target, failed = self.nodes[record["next"]], self.nodes[self.last]
        _demand(target.get("step") == failed.get("step"), isinstance(record["changed"], dict))
        self._take(record["changed"], {*record["changed"]})
        self.node = record["next"]

    def _stand(self, record: Record) -> None:
        """Say where the run is: an end has the result of its node, unless a limit has ended the run."""
        node, condition = self.nodes[self.node], record["condition"]
        _demand(condition in CONDITIONS, not is_passed(node))
        is_cut = "limited" in record or "spent" in record
        _demand(is_cut or (condition in ("complete", "stop")) == (node["task"] == "end"))
        _demand(not is_cut or condition == "stop", node["task"] != "end" or condition == node["result"])
        self.last, self.condition = record["node"], condition

    def _take(self, found: Table, names: set[str]) -> None:
        """Take registers: counters are numbers, slots are texts, and there are no others."""
        _demand(isinstance(found, dict), {*found} == names, names <= {*self.program["registers"]})
        for name, value in found.items():
            if isinstance(self.program["registers"][name], int):
                _demand(type(value) is int, abs(value) <= MOST)
            else:
                _demand(isinstance(value, TEXT))
        self.registers.update(found)
