"""Finish a build: collect the diagnostics, then compare, write or remove the files."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePath

from msgspec import Struct

from compiler.diagnostics.model import Diagnostic, Severity, has_error
from compiler.project.project import CONFIGURATIONS, Project
from compiler.text.files import is_below, read_source
from compiler.text.source import Source
from rdc.build import records
from rdc.build.compile import Built, Made, compiled
from rdc.build.file_status import compare, first_lines, leftover, leftovers
from rdc.build.lock import Review, items_in, lock_text, read_lock, review
from rdc.build.records import LOCK, MADE_BY, BuildRecords, FileHashes, Record
from rdc.documents.find import project_documents
from rdc.documents.plan import BuildOptions, BuildResult, LoadedRules, Task
from rdc.output.paths import Output, obstacles, unwritable
from rdc.output.write import LEADS_OUT, File, is_of_git, write_all


class _Whole(Struct, frozen=True):
    """All tasks of a build with their records by main file, and the tasks that were compiled now.

    `ours` are the files of the last build with their hashes.
    """

    root: str
    tasks: Sequence[Task]
    found: Mapping[str, Record]
    made: Mapping[str, Made]
    hashes: FileHashes
    ours: Mapping[str, str]

    @property
    def outputs(self) -> dict[str, str]:
        """The expected hash of each file."""
        return {path: digest for one in self.found.values() for path, digest in one.outputs.items()}


def apply_changes(
    root: str,
    options: BuildOptions,
    loaded: LoadedRules,
    tasks: Sequence[Task],
    due: Sequence[Task],
    last_build: BuildRecords,
    hashes: FileHashes,
) -> BuildResult:
    """Compile the due tasks, then write all files or report the errors.

    Args:
        root: The root of the project.
        options: The options of the build.
        loaded: The rules of the configuration.
        tasks: All tasks, in order.
        due: The tasks without a valid record.
        last_build: The records of the last build.
        hashes: The hashes of the present files.

    Raises:
        WorkerError: A process that compiled documents was killed.
        OSError: The lock cannot be read.
    """
    made = {one.task.output: one for one in compiled(root, due, options.jobs)}
    found = {at.output: made[at.output].record if at.output in made else last_build.records[at.output] for at in tasks}
    ours = {path: digest for record in last_build.records.values() for path, digest in record.outputs.items()}
    whole = _Whole(root, tasks, found, made, hashes, ours)
    said = [*loaded.diagnostics, *_said(whole, strict=options.strict)]
    old, text = read_lock(root), lock_text(found.values())
    asked = review(old, text, whole.outputs, options.approved, options.pins, ci=options.ci)
    if asked.unknown:
        return BuildResult(said, _sources(whole, loaded, said), unknown=asked.unknown)
    said += asked.findings
    if options.check:
        left = () if has_error(said) else _left(whole, old)
        said += [*_differences(whole, last_build), *_of_lock(old, text, asked), *(leftover(*one) for one in left)]
        return BuildResult(said, _sources(whole, loaded, said), total=len(whole.outputs))
    good = _writable(whole, asked, said)
    written = _written(whole, good, None if has_error(said) or old == text else text, said)
    left = () if has_error(said) else _left(whole, old)  # replaced files may have called other files
    removed = _removed(left, said) if options.prune else []
    kept = () if options.prune else [leftover(*one).message for one in left]
    if written is not None and not options.ci:
        _note(whole, loaded, {task.output for task in good}, is_settled=not (has_error(said) or kept))
    return BuildResult(said, _sources(whole, loaded, said), written or (), removed, len(whole.outputs), left=kept)


def _said(whole: _Whole, *, strict: bool) -> Iterator[Diagnostic]:
    """Yield the diagnostics of the documents and of their files together."""
    for task in whole.tasks:
        made = whole.made.get(task.output)
        said = made.diagnostics if made else whole.found[task.output].diagnostics
        yield from (one for one in said if one.severity is not Severity.NOTE)  # `rdc check` shows notes
    yield from _clashes(whole)
    if strict:
        sources = {task.source for task in whole.tasks}
        for found in project_documents(Project(whole.root)):
            if (path := found.path) not in sources:
                remedy = "add it to the `source` of a `[[build]]`, or run without --strict"
                yield Diagnostic("RD547", path, None, f"no `[[build]]` matches {path}", remedy)


def _clashes(whole: _Whole) -> Iterator[Diagnostic]:
    """Yield the files that two documents need with different contents."""
    first: dict[str, tuple[str, str]] = {}
    for task in whole.tasks:
        for path, digest in whole.found[task.output].outputs.items():
            other, theirs = first.setdefault(path, (task.source, digest))
            if theirs != digest:
                message = f"{other} and {task.source} both need {path}, but with different contents"
                yield Diagnostic("RD525", path, None, message, "use `out` to write one of them to another folder")


def _left(whole: _Whole, old: str | None) -> Sequence[tuple[str, str]]:
    known = {*whole.ours, *items_in(old or "")}
    return tuple(leftovers(whole.root, whole.outputs, known, {task.source for task in whole.tasks}))


def _differences(whole: _Whole, last_build: BuildRecords) -> Iterator[Diagnostic]:
    """Yield the files that differ from their expected contents."""
    for task in whole.tasks:
        made, before = whole.made.get(task.output), last_build.records.get(task.output)
        heads = {file.path: first_lines(file.data) for file in made.files} if made else {}
        for path, digest in whole.found[task.output].outputs.items():
            earlier = before.outputs.get(path) if before else None
            if different := compare(path, task.source, digest, whole.hashes, earlier, heads.get(path)):
                yield different


def _of_lock(old: str | None, text: str, asked: Review) -> Iterator[Diagnostic]:
    if old is None:
        yield Diagnostic("RD544", LOCK, None, f"{LOCK} is missing", "run: rdc build")
    elif old != text and not asked.refused:
        problem = f"{LOCK} is stale: it doesn't match the generated files"
        yield Diagnostic("RD512", LOCK, None, problem, "run: rdc build")


def _writable(whole: _Whole, asked: Review, said: list[Diagnostic]) -> list[Task]:
    """Return the tasks whose files may be written: without errors, unapproved items or obstacles."""
    held = set(asked.held)
    documents = [task.source for task in whole.tasks]
    outputs = [
        Output(one.task.source, file.path, is_built=True) for one in whole.made.values() for file in _late(whole, one)
    ]
    others = [one for one in outputs if whole.hashes.hash(one.path) != whole.ours.get(one.path)]
    for problem in (*_outside(whole.root, outputs), *obstacles(others, documents, force=False)):
        said.append(problem)
        held.add(problem.path)
    made = [(task, whole.found[task.output].outputs) for task in whole.tasks]
    return [task for task, files in made if files and held.isdisjoint(files)]


def _outside(root: str, outputs: Sequence[Output]) -> Iterator[Diagnostic]:
    """Yield files that links would redirect out of the project or into .git, where git would run them."""
    for output in outputs:
        place = os.path.realpath(output.path)
        if os.path.islink(output.path):
            yield unwritable(output.path, "it is a link", "remove the link")
        elif not is_below(place, root):
            yield unwritable(output.path, LEADS_OUT, "remove the link")
        elif is_of_git(PurePath(os.path.relpath(place, root))):
            yield unwritable(output.path, "it is in the folder .git, where git may run it", output.advice)


def _written(whole: _Whole, good: Sequence[Task], text: str | None, said: list[Diagnostic]) -> list[str] | None:
    """Write changed files and the lock, companions before main files. Returns their paths, or None after an error."""
    made = [whole.made[task.output] for task in good if task.output in whole.made]
    late = {file.path: file for one in made for file in _late(whole, one)}
    mains = {one.task.output: late.pop(one.task.output) for one in made if one.task.output in late}
    stages = [[File(Path(file.path), file.data, file.executable) for file in files.values()] for files in (late, mains)]
    if text is not None:
        stages.append([File(Path(LOCK), text.encode())])
    if not any(stages):
        return []
    if os.path.islink(LOCK):
        said.append(unwritable(LOCK, "it is a link", "remove the link"))
        return None
    try:
        folder = records.staging(whole.root)
        write_all(*stages, staging=Path(folder) if folder else None)
    except OSError as error:
        said.append(unwritable(str(error.filename), error.strerror or str(error), "run: rdc build"))
        return None
    return [*mains, *late, *([LOCK] if text is not None else ())]


def _late(whole: _Whole, made: Made) -> list[Built]:
    """Return the files of a task that differ from their expected contents."""
    return [file for file in made.files if whole.hashes.hash(file.path) != made.record.outputs[file.path]]


def _removed(left: Sequence[tuple[str, str]], said: list[Diagnostic]) -> list[str]:
    """Remove leftover files, and return their paths."""
    removed = []
    for path, _ in left:
        try:
            os.unlink(path)
            removed.append(path)
        except OSError as error:
            said.append(unwritable(path, f"it cannot be removed: {error.strerror}", "remove it yourself"))
    return removed


def _note(whole: _Whole, loaded: LoadedRules, good: Collection[str], *, is_settled: bool) -> None:
    """Save the records: the configuration only if it has no errors, the lock only if it is settled."""
    kept = {
        output: record for output, record in whole.found.items() if output in good and not has_error(record.diagnostics)
    }
    now = FileHashes()
    inputs = (
        {}
        if loaded.diagnostics
        else {name: now.hash(name) for name in (*CONFIGURATIONS, *([LOCK] if is_settled else ()))}
    )
    records.save(whole.root, BuildRecords(MADE_BY, inputs, tuple(loaded.rules), kept))


def _sources(whole: _Whole, loaded: LoadedRules, said: Sequence[Diagnostic]) -> dict[str, Source]:
    """Return the sources that diagnostics refer to. Documents that weren't compiled now are read again."""
    sources = dict(loaded.sources)
    for one in whole.made.values():
        sources |= one.sources
    for path in {one.path for one in said if one.span} - set(sources):
        source = read_source(path, path, path)
        if isinstance(source, Source):
            sources[path] = source
    return sources
