"""Plan a build: the rules of the configuration, and a task for each document that they match (B-1)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, json

from compiler.diagnostic import Diagnostic, Related
from compiler.source import Span, without_ending
from rdc.building.sources import matcher


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
        """Return the output path of a document."""
        folder, slash, name = source.rpartition("/")
        if not self.out:
            return f"{folder}{slash}{without_ending(name, self.endings)}{self.suffix}"
        path = self.out.replace("{dir}", folder or ".").replace("{name}", without_ending(name, self.endings))
        return posixpath.normpath(path) if "//" in path or "./" in path else path


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
    tasks = [Task(path, rule, rule.output(path)) for rule in rules for path in _matches(rule.patterns, files)]
    tasks.sort(key=lambda task: order[task.source])
    return Plan(tuple(tasks), tuple(_collisions(tasks)))


def _matches(patterns: Iterable[str], files: Sequence[str]) -> list[str]:
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
        said = f"this `[[build]]` writes {other.source} to {other.output}"
        related = (Related(other.rule.path, other.rule.span, said),) if other.rule.span else ()
        message = f"{other.source} and {task.source} would both be written to {task.output}"
        remedy = "use `{name}` or `{dir}` in `out`, or exclude a document with `!PATTERN`"
        yield Diagnostic("RD513", task.rule.path, task.rule.span, message, remedy, related)
