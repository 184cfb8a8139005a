"""The one reading of a run: each of its records becomes part of its state and of its visits, once."""

from collections import ChainMap, Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from msgspec.structs import replace

from rdc.looking.drawing import Version
from rdc.looking.model import Visit, checked
from runtime_shim.engine.journal import Record, picked
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import NOT_PASSED
from runtime_shim.engine.state import State
from runtime_shim.engine.texts import word_of
from runtime_shim.engine.times import is_decision, timed_step
from runtime_shim.engine.walk import VERBS, Verbs, advance, attempt_of, filled, instances_of

LONGEST_OUTPUT = 1_000
"""How many characters of a value a page gets."""

_VERBS: Verbs = {**VERBS, "keep": lambda old, _what: old}
"""The record already has the strings."""


class Reading:
    """A run as its records describe it.

    `epoch` grows when earlier visits change: their steps get new names, or another journal takes their place.
    """

    def __init__(self, epoch: int = 0) -> None:
        self.state: State | None = None
        self.visits: list[Visit] = []
        self.epoch = epoch
        self._counts = Counter[str]()

    def add(self, records: Iterable[Record], version: Version | None) -> None:
        """Read more records. `version` is that of the document, if one compiles.

        Raises:
            ValueError, KeyError, TypeError, AttributeError or OverflowError: A record is damaged.
        """
        for record in records:
            if self.state is None:
                self.state = State([record])
                continue
            if record["kind"] == "done":
                self._visit(record, version if version and is_same(self.state, version) else None)
            self.state.apply(record)
            for older in self.state.finished[-2:-1]:  # nothing else of it is needed, and there may be many
                self.state.finished[-2] = picked(older, ("node", "time", "output"))
            if record["kind"] == "adopt":
                self._rename(record.get("renamed", {}))

    def _visit(self, record: Record, version: Version | None) -> None:
        """Add the visit of a record, before the state changes."""
        state, step, table = self.state, record["node"], version.table if version else None
        assert state is not None  # noqa: S101 (for mypy)
        one = timed_step(last_of(state), record)
        self._counts[step] += 1
        node, known = table["nodes"].get(step, {}) if table else {}, state.registers
        strings = ((name, value) for name, value in record["changed"].items() if isinstance(value, str))
        changed = {name: value[:LONGEST_OUTPUT] for name, value in strings if known.get(name) != value}
        visit = Visit(
            n=len(self.visits) + 1,
            step=step,
            title=record["title"],
            attempt=record["attempt"],
            count=self._counts[step],
            outcome=record["outcome"],
            word=word_of(node, record["outcome"]),
            is_failed=record["outcome"] in NOT_PASSED,
            how=record["how"],
            transition=record["says"],
            next=record["next"],
            path=tuple(_passed(version, state, record)) if version else (),
            took=one["took"],
            started=one.get("started", ""),
            ended=record.get("time", ""),
            by=record.get("by", ""),
            note=record.get("note", ""),
            is_decision=is_decision(record),
            outputs=changed,
            remarks=tuple(record.get("remarks", ())),
            instance=_numbers(record.get("instances", {})),
        )
        self.visits.append(checked(visit))

    def _rename(self, names: dict[str, str]) -> None:
        """Give the steps of all visits the names of the version that has taken up the run."""
        renamed = [(names.get(one.step, one.step), names.get(one.next, one.next), one) for one in self.visits]
        if any((step, following) != (one.step, one.next) for step, following, one in renamed):
            self.visits = [replace(one, step=step, next=following) for step, following, one in renamed]
            self._counts = Counter(one.step for one in self.visits)
            self.epoch += 1


def first_of(state: State) -> Record:
    """Return the first record of a run."""
    return state.begin


def last_of(state: State) -> Record:
    """Return the record of the last finished step, or the first record of the run."""
    return state.finished[-1] if state.finished else first_of(state)


def is_same(state: State, version: Version) -> bool:
    """Return whether a run has the program of a version.

    The digest of a program with prompts of agents also has their contexts, so its steps are compared instead.
    """
    identity, table = version.identity, version.table
    has_more = "contexts" in table or "stepspec" in table
    return bool(state.program == identity["program"] or (has_more and state.steps == identity["steps"]))


def table_for(state: State, version: Version | None) -> Table | None:
    """Return the table of a run, if the document still has its version."""
    return version.table if version and is_same(state, version) else None


def place_of(state: State, table: Table | None) -> tuple[str, int, str]:
    """Return the title of the current step, with values, the number of the attempt, and the instance."""
    title = next((step[2] for step in state.steps if step[0] == state.node), "")
    node = table["nodes"].get(state.node) if table else None
    if node is None:
        return title, 1, ""
    title = filled(node, node.get("title", ""), state.registers)
    return title, attempt_of(node, state.registers), _numbers(instances_of(node, state.registers))


def _numbers(instances: Mapping[str, object]) -> str:
    return ".".join(map(str, instances.values()))


def _passed(version: Version, state: State, record: Record) -> Iterator[str]:
    """Yield the boxes that a run passed after a step: branches, nested ends, and boxes that only the picture has."""
    # A move of a person passes none.
    strings = {name: value for name, value in record["changed"].items() if not isinstance(value, int)}
    try:
        registers = ChainMap(strings, state.registers)
        move = advance(version.table, record["node"], registers, record["outcome"], _VERBS)
    except (UsageError, KeyError, TypeError, IndexError):
        return
    if move.node == record["next"]:
        for before, after in pairwise((record["node"], *move.passed, move.node)):
            if found := version.between.get((before, after)):
                yield found
            if after != move.node:
                yield after
