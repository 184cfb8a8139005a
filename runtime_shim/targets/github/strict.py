"""Checks of a journal from an artifact: the run continues only if this program can have written it.

Every transition is checked, so all gates that a run has passed are in the journal.
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

MOST = 10**4000  # largest counter; Python reads no longer numbers
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
    """Return the error for a state that this program cannot have written."""
    says = "The saved state of the run is damaged or incomplete. No step ran. Start a new run"
    return HaltError("Damaged state", says)


def check_records(program: Table, records: list[Record]) -> None:
    """Refuse a journal that this program cannot have written."""
    try:
        _Walk(program, records[0]).through(records[1:])
    except (RefusedError, KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise damaged() from None


def is_passed(node: Table) -> bool:
    """Return whether a run passes through a node: a branch, or the end of a nested document."""
    return node["task"] in ("branch", "end") and bool(node.get("edges"))


def _demand(*holds: bool) -> None:
    if not all(holds):
        raise ValueError


class _Walk:
    """Replays a journal and checks that a run can have written each record."""

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
        """Check the other records."""
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
        """Check that a step is left as the program says, or that a specification returns to its failed step."""
        _demand(record["node"] == self.node or self.condition == "stop", isinstance(record["how"], str))
        _demand(isinstance(remarks := record.get("remarks", []), list), all(isinstance(one, str) for one in remarks))
        if record["outcome"] == "resumed":
            self._reopened(record)
        else:
            _demand(self.condition not in ("complete", "stop"), record["outcome"] in self._words())
            self._moved(record)
        self._stand(record)

    def _words(self) -> tuple[str, ...]:
        """Return the possible outcomes of the current step."""
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
        """Return the node after an outcome, the registers, and the changed ones.

        A kept slot has the recorded text, which only its step knew.
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
        """Check that a failed specification continues at the failed step, without passing a gate."""
        _demand("contract" in self.program, self.condition == "stop", record["next"] in self.nodes)
        target, failed = self.nodes[record["next"]], self.nodes[self.last]
        _demand(target.get("step") == failed.get("step"), isinstance(record["changed"], dict))
        self._take(record["changed"], {*record["changed"]})
        self.node = record["next"]

    def _stand(self, record: Record) -> None:
        """Set the place of the run. An end has the result of its node, unless a limit ended the run."""
        node, condition = self.nodes[self.node], record["condition"]
        _demand(condition in CONDITIONS, not is_passed(node))
        is_cut = "limited" in record or "spent" in record
        _demand(is_cut or (condition in ("complete", "stop")) == (node["task"] == "end"))
        _demand(not is_cut or condition == "stop", node["task"] != "end" or condition == node["result"])
        self.last, self.condition = record["node"], condition

    def _take(self, found: Table, names: set[str]) -> None:
        """Take registers: counters are numbers, slots are strings, and there are no others."""
        _demand(isinstance(found, dict), {*found} == names, names <= {*self.program["registers"]})
        for name, value in found.items():
            if isinstance(self.program["registers"][name], int):
                _demand(type(value) is int, abs(value) <= MOST)
            else:
                _demand(isinstance(value, TEXT))
        self.registers.update(found)
