"""Finish a build: collect the diagnostics, compare the files with their expected hashes, then write or remove them."""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePath

from msgspec import Struct

from backends.base import MARK_LINES
from backends.common.runtimes import runtime_at
from compiler.diagnostics.model import Diagnostic, Severity, has_error
from compiler.frontends import all_options
from compiler.project.configuration import read_configuration
from compiler.project.project import CONFIGURATIONS, Project
from compiler.text.files import is_below, read_source
from compiler.text.patterns import is_matched
from compiler.text.source import Source
from rdc.build import records
from rdc.build.compile import Made, compiled
from rdc.build.lock import Review, items_in, lock_text, read_lock, review
from rdc.build.records import ABSENT, LOCK, MADE_BY, BuildRecords, FileHashes, Record
from rdc.documents.find import project_documents
from rdc.documents.plan import SERVED, BuildOptions, BuildResult, LoadedRules, Task
from rdc.output.paths import Output, has_mark, obstacles, unwritable
from rdc.output.write import LEADS_OUT, File, is_of_git, write_all
from rdc.report.rules import useless


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
    """Compile the due tasks, then write all files or report the errors; raises as `build` does."""
    made = {one.task.output: one for one in compiled(root, due, options.jobs)}
    found = {at.output: made[at.output].record if at.output in made else last_build.records[at.output] for at in tasks}
    ours = {path: digest for record in last_build.records.values() for path, digest in record.outputs.items()}
    whole = _Whole(root, tasks, found, made, hashes, ours)
    findings = [*loaded.diagnostics, *_said(whole, strict=options.strict)]
    old, text = read_lock(root), lock_text(found.values())
    current = {*whole.outputs, *(task.source for task in tasks if found[task.output].is_done)}
    asked = review(old, text, current, options.approved, options.pins, is_unseen=_is_unseen(old, text, options))
    if asked.unknown:
        return BuildResult(findings, _sources(whole, loaded, findings), unknown=asked.unknown)
    findings += asked.findings
    if options.check:
        left = () if has_error(findings) else _left(whole, old)
        is_stale = old != text and not asked.refused
        findings += [*_differences(whole, last_build, old, is_stale=is_stale), *left]
        return BuildResult(findings, _sources(whole, loaded, findings), total=len(whole.outputs))
    good = _writable(whole, asked, findings)
    written = _written(whole, good, None if has_error(findings) or old == text else text, findings)
    left = () if has_error(findings) else _left(whole, old)  # replaced files may have called other files
    removed = _removed(left, findings) if options.prune else []
    leftover = () if options.prune else [one.message for one in left]
    if written is not None and not options.ci:
        _note(whole, loaded, {task.output for task in good}, is_settled=not (has_error(findings) or leftover))
    return BuildResult(
        findings, _sources(whole, loaded, findings), written or (), removed, len(whole.outputs), left=leftover
    )


def _said(whole: _Whole, *, strict: bool) -> Iterator[Diagnostic]:
    for task in whole.tasks:
        made = whole.made.get(task.output)
        findings = made.diagnostics if made else whole.found[task.output].diagnostics
        yield from (one for one in findings if one.severity is not Severity.NOTE)  # `rdc check` shows notes
    yield from _clashes(whole)
    sources = {task.source for task in whole.tasks}
    if all(one.is_done or one.unmatched for one in whole.found.values()):
        yield from _useless(whole, sources)
    if strict:
        for found in project_documents(Project(whole.root)):
            if (path := found.path) not in sources:
                remedy = "add it to the `source` of a `[[build]]`, or run without --strict"
                yield Diagnostic("RD547", path, None, f"no `[[build]]` matches {path}", remedy)


def _useless(whole: _Whole, built: Collection[str]) -> Iterator[Diagnostic]:
    """Report the project's rules that match nothing in the built documents, and that are for no other document."""
    found = [each for one in whole.found.values() for each in one.unmatched]
    project = Project(whole.root)
    rules = read_configuration(project, all_options()).rules
    is_wrong = next(useless(rules, found), None) is not None
    others = [one.path for one in project_documents(project) if one.path not in built] if is_wrong else []
    yield from useless(
        [rule for rule in rules if not any(not rule.patterns or is_matched(path, rule.patterns) for path in others)],
        found,
    )


def _clashes(whole: _Whole) -> Iterator[Diagnostic]:
    first: dict[str, tuple[str, str]] = {}
    for task in whole.tasks:
        for path, digest in whole.found[task.output].outputs.items():
            other, theirs = first.setdefault(path, (task.source, digest))
            if theirs != digest:
                message = f"{other} and {task.source} both need {path}, but with different contents"
                yield Diagnostic("RD525", path, None, message, "use `out` to write one of them to another folder")


def _left(whole: _Whole, old: str | None) -> Sequence[Diagnostic]:
    known = {*whole.ours, *items_in(old or "")}
    found = leftovers(whole.root, whole.outputs, known, {task.source for task in whole.tasks})
    remedy = "remove it, or run: rdc build --prune"
    return [Diagnostic("RD545", path, None, f"{path} is left over: {reason}", remedy) for path, reason in found]


def _differences(whole: _Whole, last_build: BuildRecords, lock: str | None, *, is_stale: bool) -> Iterator[Diagnostic]:
    if lock is None:
        yield Diagnostic("RD544", LOCK, None, f"{LOCK} is missing", "run: rdc build")
    elif is_stale:
        yield Diagnostic(
            "RD512", LOCK, None, f"{LOCK} is stale: it doesn't match the generated files", "run: rdc build"
        )
    for task in whole.tasks:
        made, before = whole.made.get(task.output), last_build.records.get(task.output)
        heads = (
            {
                file.path.as_posix(): file.data.decode(errors="replace").splitlines(keepends=True)[:MARK_LINES]
                for file in made.files
            }
            if made
            else {}
        )
        for path, digest in whole.found[task.output].outputs.items():
            earlier = before.outputs.get(path) if before else None
            if different := compare(path, task.source, digest, whole.hashes, earlier, heads.get(path)):
                yield different


def _is_unseen(old: str | None, text: str, options: BuildOptions) -> bool:
    """Return whether no person sees a project's first lock: in CI, and if an agent would approve what it may start."""
    if options.ci or old is not None or f" {SERVED} " not in text:
        return options.ci
    from runtime_shim.operator.current import is_by_agent  # noqa: PLC0415 (it imports the engine)

    return is_by_agent()


def _writable(whole: _Whole, asked: Review, said: list[Diagnostic]) -> list[Task]:
    """Return the tasks whose files may be written: without errors, unapproved items or obstacles."""
    held = set(asked.held)
    documents = [task.source for task in whole.tasks]
    late = [(one.task.source, path) for one in whole.made.values() for path in _late(whole, one)]
    outputs = [Output(source, path, is_built=True) for source, path in late]
    others = [one for one in outputs if whole.hashes.hash(one.path) != whole.ours.get(one.path)]
    for problem in (*_outside(whole.root, outputs), *obstacles(others, documents, force=False)):
        said.append(problem)
        held.add(problem.path)
    made = [(task, whole.found[task.output]) for task in whole.tasks]
    return [task for task, one in made if one.is_done and held.isdisjoint((*one.outputs, task.source))]


def _outside(root: str, outputs: Sequence[Output]) -> Iterator[Diagnostic]:
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
    late = {path: file for one in made for path, file in _late(whole, one).items()}
    mains = {one.task.output: late.pop(one.task.output) for one in made if one.task.output in late}
    stages = [[*late.values()], [*mains.values()]]
    if text is not None:
        stages.append([File(Path(LOCK), text.encode())])
    if not any(stages):
        return []
    if os.path.islink(LOCK):
        said.append(unwritable(LOCK, "it is a link", "remove the link"))
        return None
    try:
        staging = None
        with suppress(OSError):
            staging = Path(records.prepare(whole.root))
        write_all(*stages, staging=staging)
    except OSError as error:
        said.append(unwritable(str(error.filename), error.strerror or str(error), "run: rdc build"))
        return None
    return [*mains, *late, *([LOCK] if text is not None else ())]


def _late(whole: _Whole, made: Made) -> dict[str, File]:
    files = {file.path.as_posix(): file for file in made.files}
    return {path: file for path, file in files.items() if whole.hashes.hash(path) != made.record.outputs[path]}


def _removed(left: Sequence[Diagnostic], said: list[Diagnostic]) -> list[str]:
    removed = []
    for path in (one.path for one in left):
        try:
            os.unlink(path)
            removed.append(path)
        except OSError as error:
            said.append(unwritable(path, f"it cannot be removed: {error.strerror}", "remove it yourself"))
    return removed


def _note(whole: _Whole, loaded: LoadedRules, good: Collection[str], *, is_settled: bool) -> None:
    """Save the records: the configuration only if it has no errors, the lock only if it is settled."""
    stored = {path: one for path, one in whole.found.items() if path in good and not has_error(one.diagnostics)}
    now, settled = FileHashes(), [LOCK] if is_settled else []
    inputs = {} if loaded.diagnostics else {name: now.hash(name) for name in (*CONFIGURATIONS, *settled)}
    records.save(whole.root, BuildRecords(MADE_BY, inputs, tuple(loaded.rules), stored))


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


_FROM = re.compile(r"Generated by rdc \S+ from (.+?)(?:(?: |\n\S+ )\(sha256 [0-9a-f]{64}\)|\. Do not edit: change )")
"""The complete line about the source, because other files may have a similar start."""


def compare(
    path: str, source: str, wanted: str, hashes: FileHashes, before: str | None, head: Sequence[str] | None
) -> Diagnostic | None:
    """Return the diagnostic of a generated file, or None if it is current.

    `wanted` is its expected hash. `before` is its hash after the last build, and `head` its first lines, if known.
    """
    found = hashes.hash(path)
    if found == wanted:
        return None
    if found == ABSENT:
        return Diagnostic("RD544", path, None, f"{path} is missing; it is generated from {source}", "run: rdc build")
    if found == before or (before is None and head is not None and not _has_head(path, head)):
        return Diagnostic("RD512", path, None, f"{path} is stale: {source}, an option or rdc changed", "run: rdc build")
    remedy = f"change {source} instead, and run: rdc build"
    return Diagnostic("RD543", path, None, f"{path} was edited by hand", remedy)


def _has_head(path: str, head: Sequence[str]) -> bool:
    """Return whether a file starts with the expected lines and hashes, so that only its rest can be edited."""
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as file:
            return all(file.readline() == line for line in head)
    except OSError:
        return False


def leftovers(
    root: str, outputs: Collection[str], known: Iterable[str], sources: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield the generated files that no document produces anymore, each with the reason."""
    named_folders = dict.fromkeys(os.path.dirname(path) for path in [*outputs, *known])
    folders = [folder for folder in named_folders if _is_own(root, folder)]
    named = set(known)
    for path in _generated(root, folders, outputs, sources):
        match = _FROM.search(Path(root, path).read_bytes()[:4096].decode(errors="replace"))
        if match and match[1][0] != "<" and not Path(root, match[1]).exists():
            yield path, f"{match[1]} no longer exists"
            continue
        is_shared = bool(runtime_at(path))
        if path in named and (match or is_shared):
            yield path, "no `[[build]]` writes it anymore"
        elif is_shared and not _is_named(root, path, folders):
            yield path, "no file calls it"


def _is_own(root: str, folder: str) -> bool:
    """Return whether a folder is in the project and readable. A lock may contain any path."""
    try:
        place = os.path.realpath(os.path.join(root, folder))
        return is_below(place, root) and os.path.isdir(place) and os.access(place, os.R_OK | os.X_OK)
    except ValueError:
        return False


def _generated(root: str, folders: Iterable[str], outputs: Collection[str], sources: Collection[str]) -> Iterator[str]:
    """Yield the files in some folders that have rdc's mark but aren't outputs."""
    for folder in folders:
        for name in sorted(os.listdir(os.path.join(root, folder))):
            path = f"{folder}/{name}" if folder else name
            place = Path(root, path)
            if path in outputs or path in sources or place.is_symlink() or not place.is_file():
                continue
            try:
                if has_mark(place):
                    yield path
            except OSError:
                continue


def _is_named(root: str, path: str, folders: Iterable[str]) -> bool:
    name = os.path.basename(path)
    places = (place for folder in folders for place in sorted(Path(root, folder).iterdir()))
    return any(one.is_file() and one.name != name and name.encode() in one.read_bytes() for one in places)
