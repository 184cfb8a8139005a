"""Build a project: plan, compile and write (B-2 to B-5)."""

from __future__ import annotations

from collections.abc import Mapping

from compiler.diagnostics.model import has_error
from compiler.frontends import all_options
from compiler.project.configuration import read_configuration
from compiler.project.project import CONFIGURATIONS, Project
from rdc.build import records
from rdc.build.records import LOCK, Book, Present, Record
from rdc.documents.plan import Outcome, Plan, Task, Told, Wishes, files_below, plan


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
    from rdc.build.apply import settle  # noqa: PLC0415 (often not needed)

    due = [task for task in planned.tasks if task.output not in valid]
    return settle(root, wishes, told, planned.tasks, due, book, present)


def _told(root: str, book: Book, present: Present) -> Told:
    """Return the rules of the last build if the configuration is unchanged, otherwise read them again."""
    if CONFIGURATIONS[0] in book.inputs and present.is_as({name: book.inputs[name] for name in CONFIGURATIONS}):
        return Told(book.rules, (), {})
    from rdc.documents.rules import rules  # noqa: PLC0415 (the configuration seldom changes)

    configuration = read_configuration(Project(root), all_options())
    found, wrong = rules(configuration)
    return Told(found, [*configuration.diagnostics, *wrong], configuration.sources)


def _holds(task: Task, book: Book, present: Present, wishes: Wishes) -> bool:
    """Return whether a record is still valid. A file that must be written again must be compiled again."""
    record = book.records.get(task.output)
    if record is None or record.rule != task.rule.key or not present.is_as(record.inputs):
        return False
    return wishes.check or present.is_as(record.outputs)


def _is_done(planned: Plan, valid: Mapping[str, Record], book: Book, present: Present, wishes: Wishes) -> bool:
    """Return whether there is nothing to write or report."""
    if wishes.strict or wishes.prune or wishes.approved or len(valid) < len(planned.tasks):
        return False
    if set(valid) != set(book.records) or any(record.diagnostics for record in valid.values()):
        return False
    return not wishes.check and present.hash(LOCK) == book.inputs.get(LOCK)
