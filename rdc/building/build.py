"""A build from top to bottom: what is planned, what of it holds, what is compiled, and what is written (B-2 to B-5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from compiler.diagnostic import Diagnostic, has_error
from compiler.project import CONFIGURATIONS
from compiler.source import Source
from rdc.building import records
from rdc.building.plan import Plan, Rule, Task, plan
from rdc.building.records import LOCK, Book, Present, Record
from rdc.building.sources import files_below


class WorkerError(Exception):
    """A process that compiled documents was killed."""


class Wishes(Struct, frozen=True):
    """What a person asks of a build.

    `ci` forbids to approve, and lets nothing that an earlier build noted count. `jobs` is the number of processes, 0
    for one on each core. `pins` are items that were just taken into the configuration, and are approved by that.
    """

    check: bool = False
    prune: bool = False
    strict: bool = False
    approved: tuple[str, ...] = ()
    jobs: int = 0
    ci: bool = False
    pins: tuple[str, ...] = ()


class Outcome(Struct, frozen=True):
    """What a build has come to: what is wrong, and the files that it wrote and removed, by paths from the root.

    `total` is the number of generated files. `unknown` are approved items that no file has, and `left` says which files
    are left over.
    """

    diagnostics: Sequence[Diagnostic]
    sources: Mapping[str, Source]
    written: Sequence[str] = ()
    removed: Sequence[str] = ()
    total: int = 0
    unknown: Sequence[str] = ()
    left: Sequence[str] = ()
    has_rules: bool = True


class Told(Struct, frozen=True):
    """What the configuration says to build, and what is wrong with it."""

    rules: Sequence[Rule]
    diagnostics: Sequence[Diagnostic]
    sources: Mapping[str, Source]


def build(root: str, wishes: Wishes) -> Outcome:
    """Build a project. The current folder is its root.

    Raises:
        WorkerError: A process that compiled documents was killed.
        OSError: A folder of the project cannot be read.
    """
    present = Present()
    book = Book() if wishes.ci else records.load(root)
    told = _told(root, book, present)
    if has_error(told.diagnostics) or not told.rules:
        return Outcome(told.diagnostics, told.sources, has_rules=bool(told.rules or told.diagnostics))
    planned = plan(told.rules, files_below(root, [pattern for rule in told.rules for pattern in rule.patterns]))
    if planned.diagnostics:
        return Outcome([*told.diagnostics, *planned.diagnostics], told.sources)
    valid = {task.output: book.records[task.output] for task in planned.tasks if _holds(task, book, present, wishes)}
    if _is_done(planned, valid, book, present, wishes):
        return Outcome((), {}, total=len({path for record in valid.values() for path in record.outputs}))
    from rdc.building.settling import settle  # noqa: PLC0415 (often there is nothing to do)

    due = [task for task in planned.tasks if task.output not in valid]
    return settle(root, wishes, told, planned.tasks, due, book, present)


def _told(root: str, book: Book, present: Present) -> Told:
    """The rules of the last build, if the configuration is the same, else those that it has now."""
    if CONFIGURATIONS[0] in book.inputs and present.is_as({name: book.inputs[name] for name in CONFIGURATIONS}):
        return Told(book.rules, (), {})
    from compiler.frontends import all_options  # noqa: PLC0415 (the configuration seldom changes)
    from compiler.project import Project, read_configuration  # noqa: PLC0415
    from rdc.building.configuring import rules  # noqa: PLC0415

    configuration = read_configuration(Project(root), all_options())
    found, wrong = rules(configuration)
    return Told(found, [*configuration.diagnostics, *wrong], configuration.sources)


def _holds(task: Task, book: Book, present: Present, wishes: Wishes) -> bool:
    """Whether a record still says what a task makes. A file that is to be written again has to be compiled again."""
    record = book.records.get(task.output)
    if record is None or record.rule != task.rule.key or not present.is_as(record.inputs):
        return False
    return wishes.check or present.is_as(record.outputs)


def _is_done(planned: Plan, valid: Mapping[str, Record], book: Book, present: Present, wishes: Wishes) -> bool:
    """Whether there is nothing to write, to say or to look for."""
    if wishes.strict or wishes.prune or wishes.approved or len(valid) < len(planned.tasks):
        return False
    if set(valid) != set(book.records) or any(record.diagnostics for record in valid.values()):
        return False
    return not wishes.check and present.hash(LOCK) == book.inputs.get(LOCK)
