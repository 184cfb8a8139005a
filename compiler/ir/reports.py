"""Reports: the files that collect a run's answers, and the slot with their directory (I29, I30)."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.ir.edges import Clear, Edge, Effect, Keep, SlotTest
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


def report_problems(program: Program) -> Iterator[tuple[str, str]]:
    """Yield the problems of a program's reports, each with the id of its node."""
    first: dict[str, str] = {}
    for node in program.nodes:
        if isinstance(node.task, Parallel) and any(entry.report for entry in node.task.entries):
            yield node.id, "an entry names a report; only the whole step can"
        for name in reports_of(node):
            if not is_report_name(name):
                yield node.id, f"{name} is not a valid report name"
            elif first.setdefault(name.casefold(), node.id) != node.id:
                yield node.id, f"its report {name} would share a file with a report of {first[name.casefold()]}"
        if len({name.casefold() for name in reports_of(node)}) < len(reports_of(node)):
            yield node.id, "the reports of the step and of an entry would share a file"
    yield from _folder_problems(program)


def _folder_problems(program: Program) -> Iterator[tuple[str, str]]:
    """Check that only the state directory decides where reports are, and that no transition depends on it (I3, I30)."""
    folder = program.folder
    if not folder:
        return
    initial = {slot.name: slot.initial for slot in program.slots}
    if folder not in initial or initial[folder] is not None:
        yield "", f"the folder {folder} must be a slot without an initial string"
    if folder in {declared.name for declared in program.inputs}:
        yield "", f"the folder {folder} is also an input"
    if program.artifact is not None and program.artifact.slot == folder:
        yield "", f"the folder {folder} is also the artifact"
    for jump in program.jumps:
        if any(_changes(effect, folder) for effect in jump.all_effects):
            yield "", f"the jump to {jump.id} changes the folder {folder}"
    for node in program.nodes:
        if any(_touches(edge, folder) for edge in node.edges):
            yield node.id, f"an edge tests or changes the folder {folder}"


def _touches(edge: Edge, folder: str) -> bool:
    tests = any(isinstance(test, SlotTest) and test.slot == folder for test in edge.guard)
    return tests or any(_changes(effect, folder) for effect in edge.effects)


def _changes(effect: Effect, folder: str) -> bool:
    return isinstance(effect, Keep | Clear) and effect.slot == folder
