"""Reports: the files that collect a run's answers, and the slot with their directory (I29, I30)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compiler.diagnostic import Issue
from compiler.ir.edges import Clear, Effect, Keep, SlotTest, Test
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Agent, Parallel
from compiler.regex import Regex

LONGEST_REPORT = 200
"""In characters. A name with its additions must be a valid file name."""

_NAME = Regex(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def is_report_name(name: str) -> bool:
    """Return whether a report can have this name. It becomes a file name."""
    return bool(_NAME.fullmatch(name)) and len(name) <= LONGEST_REPORT


def reports_of(node: Node) -> tuple[str, ...]:
    """Return the names of a node's reports. Those of a parallel step's entries come first."""
    if not isinstance(node.task, Agent | Parallel) or not node.task.report:
        return ()
    entries = range(len(node.task.entries)) if isinstance(node.task, Parallel) else ()
    return (*(f"{node.id}_{index}" for index in entries), node.task.report)


def report_issues(program: Program) -> Iterator[Issue]:
    """Check that reports have names that become different files (I29)."""
    first: dict[str, str] = {}
    for place, node in enumerate(program.nodes):
        if isinstance(node.task, Agent | Parallel):
            yield from (Issue(("nodes", place, "task"), problem) for problem in _report_problems(node, first))


def _report_problems(node: Node, first: dict[str, str]) -> Iterator[str]:
    """Yield the problems of a node's reports. `first` has the node of each name above, and gets its names."""
    names = reports_of(node)
    if isinstance(node.task, Parallel) and any(entry.report for entry in node.task.entries):
        yield "an entry names a report; only the whole step can"
    for name in names:
        if not is_report_name(name):
            yield f"{name} is not a valid report name"
        elif first.setdefault(name.casefold(), node.id) != node.id:
            yield f"its report {name} would share a file with a report of {first[name.casefold()]}"
    if len({name.casefold() for name in names}) < len(names):
        yield "the reports of the step and of an entry would share a file"


def folder_issues(program: Program) -> Iterator[Issue]:
    """Check that only the state directory decides where reports are, and that no transition depends on it (I30)."""
    folder = program.folder
    if not folder:
        return
    initial = {slot.name: slot.initial for slot in program.slots}
    if folder not in initial or initial[folder] is not None:
        yield Issue(("folder",), f"the folder {folder} must be a slot without an initial string")
    if folder in {declared.name for declared in program.inputs}:
        yield Issue(("folder",), f"the folder {folder} is also an input")
    if program.artifact is not None and program.artifact.slot == folder:
        yield Issue(("folder",), f"the folder {folder} is also the artifact")
    for place, jump in enumerate(program.jumps):
        if folder in _slots_of(jump.all_effects):
            yield Issue(("jumps", place), f"the jump to {jump.id} changes the folder {folder}")
    for place, node in enumerate(program.nodes):
        for number, edge in enumerate(node.edges):
            if folder in _slots_of((*edge.guard, *edge.effects)):
                yield Issue(("nodes", place, "edges", number), f"an edge tests or changes the folder {folder}")


def _slots_of(parts: Iterable[Test | Effect]) -> set[str]:
    return {part.slot for part in parts if isinstance(part, SlotTest | Keep | Clear)}
