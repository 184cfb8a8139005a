"""Plan a build: what it is asked for and returns, and a task for each document that a rule matches."""

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, json

from compiler.diagnostics.model import Diagnostic, Related
from compiler.project.project import CONFIGURATIONS, GIT, SKIPPED, is_root
from compiler.text.patterns import matcher
from compiler.text.source import Source, Span, without_ending

SERVED = "mcp"
"""The target of rules for served documents, which are compiled for the lock only."""


class Rule(Struct, frozen=True):
    """A valid `[[build]]` table and its position.

    `suffix` is the extension of the target's files; `endings` are the extensions of documents.
    """

    patterns: tuple[str, ...]
    to: str
    suffix: str
    endings: tuple[str, ...]
    out: str
    options: Mapping[str, object]
    path: str
    span: Span | None

    @property
    def key(self) -> str:
        """A key for all parts of a rule that affect the contents of files."""
        return f"{self.to} {json.encode(self.options, order='deterministic').decode()}"

    def output(self, source: str) -> str:
        """Return the output path of a document, or the document itself if it is only served."""
        if self.to == SERVED:
            return source
        folder, slash, name = source.rpartition("/")
        if not self.out:
            return f"{folder}{slash}{without_ending(name, self.endings)}{self.suffix}"
        path = self.out.replace("{dir}", folder or ".").replace("{name}", without_ending(name, self.endings))
        return posixpath.normpath(path) if "//" in path or "./" in path else path


class WorkerError(Exception):
    """A process that compiled documents was killed."""


class BuildOptions(Struct, frozen=True):
    """The options of a build.

    `ci` forbids approvals and ignores the records of earlier builds. `jobs` is the number of processes, 0 for one per
    core. `pins` are items that were just copied to the configuration, which approves them.
    """

    check: bool = False
    prune: bool = False
    strict: bool = False
    approved: tuple[str, ...] = ()
    jobs: int = 0
    ci: bool = False
    pins: tuple[str, ...] = ()


class BuildResult(Struct, frozen=True):
    """The result of a build: its diagnostics, and the paths of written and removed files, relative to the root.

    `total` is the number of generated files. `unknown` are approved items that no file has, and `left` lists the
    leftover files.
    """

    diagnostics: Sequence[Diagnostic]
    sources: Mapping[str, Source]
    written: Sequence[str] = ()
    removed: Sequence[str] = ()
    total: int = 0
    unknown: Sequence[str] = ()
    left: Sequence[str] = ()
    has_rules: bool = True


class LoadedRules(Struct, frozen=True):
    """The build rules of the configuration, and the errors in them."""

    rules: Sequence[Rule]
    diagnostics: Sequence[Diagnostic]
    sources: Mapping[str, Source]


class Task(Struct, frozen=True):
    """A document to compile: its path from the root, its rule, and its main output file."""

    source: str
    rule: Rule
    output: str


class Plan(Struct, frozen=True):
    """The tasks in document order, and conflicts between rules."""

    tasks: tuple[Task, ...]
    diagnostics: tuple[Diagnostic, ...]


def plan(rules: Sequence[Rule], files: Sequence[str]) -> Plan:
    """Return a task for each document and matching rule, and the tasks that write the same file."""
    order = {path: number for number, path in enumerate(files)}
    tasks = [Task(path, rule, rule.output(path)) for rule in rules for path in matching(rule.patterns, files)]
    tasks.sort(key=lambda task: order[task.source])
    return Plan(tuple(tasks), tuple(_collisions(tasks)))


def matching(patterns: Iterable[str], files: Sequence[str]) -> list[str]:
    """Return the files that patterns match. A pattern with `!` removes files that earlier patterns matched."""
    found: dict[str, None] = {}
    for pattern in patterns:
        fits = matcher(pattern.removeprefix("!")).fullmatch
        for path in [path for path in files if fits(path)]:
            if pattern.startswith("!"):
                found.pop(path, None)
            else:
                found[path] = None
    return list(found)


def _collisions(tasks: Sequence[Task]) -> Iterator[Diagnostic]:
    """Yield the files that two tasks write, ignoring case."""
    first: dict[str, Task] = {}
    for task in tasks:
        other = first.setdefault(task.output.casefold(), task)
        if other is task:
            continue
        printed = f"this `[[build]]` writes {other.source} to {other.output}"
        related = (Related(other.rule.path, other.rule.span, printed),) if other.rule.span else ()
        message = f"{other.source} and {task.source} would both be written to {task.output}"
        remedy = "use `{name}` or `{dir}` in `out`, or exclude a document with `!PATTERN`"
        yield Diagnostic("RD513", task.rule.path, task.rule.span, message, remedy, related)


_MARKS = frozenset({GIT, *CONFIGURATIONS})
"""Each project folder contains one of these."""

_WILD = re.compile(r"[*?\[]")


def files_below(root: str, patterns: Iterable[str]) -> list[str]:
    """Return the files of a project, as paths from its root with `/`, sorted by folders and names.

    Links aren't followed, and nested projects are left out. Hidden folders and package folders are left out unless a
    pattern names them.
    """
    return sorted(_below(root, {_literal(pattern) for pattern in patterns}), key=lambda path: path.split("/"))


def _literal(pattern: str) -> str:
    folders = pattern.split("/")[:-1]
    wild = next((number for number, part in enumerate(folders) if _WILD.search(part)), len(folders))
    return "/".join(folders[:wild])


def _below(root: str, named: set[str]) -> Iterator[str]:
    folders = [""]
    while folders:
        folder = folders.pop()
        place = os.path.join(root, folder)
        with os.scandir(place) as found:
            entries = list(found)
        if folder and not _MARKS.isdisjoint(entry.name for entry in entries) and is_root(place):
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                is_usual = entry.name[0] != "." and entry.name not in SKIPPED
                is_named = any(f"{literal}/".startswith(f"{path}/") for literal in named)
                if entry.name != GIT and (is_usual or is_named):
                    folders.append(path)
            elif entry.is_file(follow_symlinks=False):
                yield path
