"""The files that a run adds answers to, and the slot that says where they lie (I29, I30)."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.ir.edges import Clear, Edge, Effect, Keep, SlotTest
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Agent, Parallel
from compiler.regex import Regex

SUFFIX = ".md"
LONGEST_REPORT = 200
"""In characters: with what is added to it, a name is that of a file."""

_NAME = Regex(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def is_report_name(name: str) -> bool:
    """Whether a report can have this name: it becomes that of a file."""
    return bool(_NAME.fullmatch(name)) and len(name) <= LONGEST_REPORT


def reports_of(node: Node) -> tuple[str, ...]:
    """The names of all reports that the task of a node is added to: of a parallel step those of its entries first."""
    if not isinstance(node.task, Agent | Parallel) or not node.task.report:
        return ()
    entries = range(len(node.task.entries)) if isinstance(node.task, Parallel) else ()
    return (*(f"{node.id}_{index}" for index in entries), node.task.report)


def report_problems(program: Program) -> Iterator[tuple[str, str]]:
    """What is wrong with the reports of a program, with the id of the node."""
    first: dict[str, str] = {}
    for node in program.nodes:
        if isinstance(node.task, Parallel) and any(entry.report for entry in node.task.entries):
            yield node.id, "an entry names a report, which only the whole step does"
        for name in reports_of(node):
            if not is_report_name(name):
                yield node.id, f"{name} cannot be the name of a report"
            elif first.setdefault(name.casefold(), node.id) != node.id:
                yield node.id, f"its report {name} would be one file with a report of {first[name.casefold()]}"
        if len({name.casefold() for name in reports_of(node)}) < len(reports_of(node)):
            yield node.id, "the report of the whole step would be one file with that of an entry"
    yield from _folder_problems(program)


def _folder_problems(program: Program) -> Iterator[tuple[str, str]]:
    """Nothing but the place of a run says where its reports lie, and no transition depends on that (I3, I30)."""
    folder = program.folder
    if not folder:
        return
    initial = {slot.name: slot.initial for slot in program.slots}
    if folder not in initial or initial[folder] is not None:
        yield "", f"the folder {folder} is no slot, or one that begins with a text"
    if folder in {declared.name for declared in program.inputs}:
        yield "", f"the folder {folder} is an input too"
    if program.artifact is not None and program.artifact.slot == folder:
        yield "", f"the folder {folder} is what a run leaves too"
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
