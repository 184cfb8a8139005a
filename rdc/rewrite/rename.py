"""Rename a step, an input or an output of a document, and prove that nothing else changes."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostics.model import Edit, Severity, edited
from compiler.driver import Compilation, Opened, Settings, compile_opened, marks_of
from compiler.frontends import FRONT_ENDS
from compiler.frontends.common.marking import scenario_marks
from compiler.frontends.common.marks import Kind, Mark, Marks, mark_at, names, of_same_part
from compiler.frontends.common.names import ENDING
from compiler.ir.program import Program
from compiler.ir.sameness import Rename, difference, other_mentions
from compiler.ir.tasks import Agent, Parallel, task_texts
from compiler.project.project import is_root
from compiler.text.files import Disk, UnsavedFiles
from compiler.text.source import Source
from rdc.documents.find import NoDocumentsError, project_documents
from rdc.rewrite.fixes import meaning

VALUES = (Kind.INPUT, Kind.OUTPUT)

Edits = tuple[Edit, ...]


class RefusedError(Exception):
    """The name can't be changed; the message has the reason and what to do."""


class Renamed(Struct, frozen=True):
    """A proved rename: the edits in the document, the document after them, and the edits in the files beside it."""

    edits: Edits
    opened: Opened
    others: tuple[tuple[Source, Edits], ...] = ()


def renamable(marks: Marks, line: int, column: int) -> Mark:
    """Return the mark at a position if its name may change; raise `RefusedError`. This is fast and proves nothing."""
    mark = mark_at(marks, line, column)
    if mark is None or mark.kind not in (Kind.STEP, *VALUES, Kind.PLACEHOLDER):
        raise RefusedError("this isn't the name of a step, an input or an output")
    if mark.kind is Kind.PLACEHOLDER:
        raise RefusedError(f"`{mark.name}` has the name of neither an input nor an output of this document")
    parts = of_same_part(marks, mark)
    if mark.kind is Kind.STEP and mark.id not in names(parts, Kind.STEP):
        raise RefusedError(f"this document has no step `{mark.id}`")
    if fixed := next((one.fixed for one in parts if one.fixed), ""):
        raise RefusedError(fixed)
    return mark


def rename(opened: Opened, settings: Settings, line: int, column: int, new: str) -> Renamed:
    """Return the edits that give the part at a position a new name; raise `RefusedError`.

    Commands and agents see an input or output under its new name, too.
    """
    marks = marks_of(opened, settings)
    mark = renamable(marks, line, column)
    before = _compiled(opened, settings, "the document has an error, so a rename can't be proved: ")
    if reason := _unfit(before, marks, mark, new):
        raise RefusedError(reason)
    made = _edited(before, opened, marks, mark, new)
    after = _compiled(made.opened, settings, f"with the name `{new}`, the document has an error: ")
    meant = Rename(mark.id, _new_id(mark, new), mark.kind is Kind.STEP)
    assert before.program is not None and after.program is not None  # noqa: PT018, S101 (`_compiled` refuses others)
    if reason := other_mentions(before.program, meant) or _report_in_text(before.program, after.program, meant):
        raise RefusedError(reason)
    if place := difference(meaning(before), meaning(after), meant):
        problem = f"with the name `{new}`, the document would do something else ({place})"
        raise RefusedError(f"{problem}; another file may use the name `{mark.name}`")
    _prove_others(opened, made.opened, settings, meant)
    return made


def _compiled(opened: Opened, settings: Settings, reason: str) -> Compilation:
    compilation = compile_opened(opened, settings)
    if compilation.program is None:
        error = next(one for one in compilation.diagnostics if one.severity is Severity.ERROR)
        raise RefusedError(f"{reason}{error.message}; {error.help}")
    return compilation


def _unfit(before: Compilation, marks: Marks, mark: Mark, new: str) -> str:
    """Return why a part can't have a new name, or ""."""
    if new == mark.name:
        return f"the {mark.kind} already has the name `{new}`"
    kinds = (Kind.STEP,) if mark.kind is Kind.STEP else VALUES
    if _new_id(mark, new) in {one.id for one in marks if one.kind in kinds}:
        return f"the name `{new}` already exists; choose another name"
    return FRONT_ENDS[before.format].load_marks().name_issue(mark, new)


def _new_id(mark: Mark, new: str) -> str:
    return mark.id.removesuffix(mark.name) + new


def _edited(before: Compilation, opened: Opened, marks: Marks, mark: Mark, new: str) -> Renamed:
    """Return the document with the new name, beside the edited file that has its scenarios."""
    assert isinstance(opened.source, Source)  # noqa: S101 (it has marks)

    def edits(found: Marks) -> Edits:
        return tuple(Edit(one.span, new) for one in of_same_part(found, mark))

    ids, others, content = FRONT_ENDS[before.format].load_marks().ids, list[tuple[Source, Edits]](), dict[str, str]()
    for file in before.sources.values():
        if file.name.endswith(ENDING) and (own := edits(scenario_marks(file, marks, ids))):
            others.append((file, own))
            content[f"{opened.project.root}/{file.name}"] = edited(file, own).data.decode()
    after = replace(_with(opened, content), source=edited(opened.source, edits(marks)))
    return Renamed(edits(marks), after, tuple(others))


def _with(opened: Opened, content: Mapping[str, str]) -> Opened:
    """Return a document in its project with other content of files."""
    disk = opened.project.disk
    there = disk.content if isinstance(disk, UnsavedFiles) else {}
    return replace(opened, project=replace(opened.project, disk=UnsavedFiles({**there, **content})))


def _report_in_text(before: Program, after: Program, meant: Rename) -> str:
    """Return why a step with a report can't be renamed: a prompt names the file of the report."""
    is_moved = meant.old in _reports(before) - _reports(after)
    named = re.compile(rf"(?<![\w-]){re.escape(meant.old)}\.md\b")
    for node in before.nodes if is_moved else ():
        if any(named.search(str(text)) for text in task_texts(node.task)):
            problem = f"step {node.id} names the report `{meant.old}.md`, which would get another name"
            return f"{problem}; set the name of the report first"
    return ""


def _reports(program: Program) -> set[str]:
    tasks = [node.task for node in program.nodes]
    return {one.report for one in tasks if isinstance(one, Agent | Parallel)}


def _prove_others(opened: Opened, renamed: Opened, settings: Settings, meant: Rename) -> None:
    """Refuse a rename that changes another document, because that includes this one."""
    own, source = opened.project.locate(opened.path), renamed.source
    assert isinstance(source, Source)  # noqa: S101 (it was edited)
    for path in _readers(opened.project.disk, _beside(opened, own.file), own.file):
        other = opened.project.locate(path)
        if other.file == own.file or not isinstance(text := other.read(), Source):
            continue
        first = Opened(path, opened.project, text)
        second = replace(_with(renamed, {own.file: source.data.decode()}), path=path, source=text)
        before, after = (compile_opened(each, settings) for each in (first, second))
        if place := difference(meaning(before), meaning(after), meant):
            raise RefusedError(f"{path} includes this document, and would do something else ({place})")


def _readers(disk: Disk, paths: list[str], file: str) -> list[str]:
    """Return the paths of documents that may include a file, also under the name of a link or through others."""
    folders = {path.rpartition("/")[0]: path for path in (file, *paths)}
    beside = (Path(path).with_name(name) for path in folders.values() for name in disk.names_beside(path))
    links = (one.name for one in beside if one.is_symlink() and disk.resolve(str(one)) == file)
    names, found = {file.rpartition("/")[2], *links}, list[str]()
    while more := [path for path in paths if path not in found and _has(disk, path, names)]:
        found += more
        names.update(path.rpartition("/")[2] for path in more)
    return found


def _has(disk: Disk, path: str, names: set[str]) -> bool:
    """Return whether a file has a name in it. A project has thousands of files, so they are only read, not decoded."""
    try:
        text = disk.read(path)
        return any(os.fsencode(name) in text for name in names)
    except (OSError, ValueError):
        return False


def _beside(opened: Opened, file: str) -> list[str]:
    """Return the documents that could include a file: those of its project, or those in its folder without one."""
    project = opened.project
    if not project.disk.exists(file):
        return []
    if not is_root(project.root):
        names = project.disk.names_beside(file)
        known = (name for name in names if any(form.has(name) for form in FRONT_ENDS.values()))
        return [f"{file.rpartition('/')[0]}/{name}" for name in known]
    try:
        return [found.path for found in project_documents(project)]
    except NoDocumentsError as error:
        raise RefusedError(str(error)) from None
