"""What a project builds: the rules of its configuration, and a task for each document that they name (B-1)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, json

from compiler.diagnostic import Diagnostic, Related
from compiler.source import Span, without_ending
from rdc.building.sources import matcher


class Rule(Struct, frozen=True):
    """One `[[build]]` of the configuration that is right, with its place.

    `suffix` is the ending of the target's files; `endings` are those of documents.
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
        """All of a rule that decides what a document becomes, apart from the name of the file."""
        return f"{self.to} {json.encode(self.options, order='deterministic').decode()}"

    def output(self, source: str) -> str:
        """The file that a document becomes, by its path from the root."""
        folder, slash, name = source.rpartition("/")
        if not self.out:
            return f"{folder}{slash}{without_ending(name, self.endings)}{self.suffix}"
        path = self.out.replace("{dir}", folder or ".").replace("{name}", without_ending(name, self.endings))
        return posixpath.normpath(path) if "//" in path or "./" in path else path


class Task(Struct, frozen=True):
    """A document to be compiled: its path from the root, its rule, and the main file that it becomes."""

    source: str
    rule: Rule
    output: str


class Plan(Struct, frozen=True):
    """The tasks in the order of the documents, and what is wrong with the rules together."""

    tasks: tuple[Task, ...]
    diagnostics: tuple[Diagnostic, ...]


def plan(rules: Sequence[Rule], files: Sequence[str]) -> Plan:
    """A task for each document and each rule that matches it, and which of them write the same file."""
    order = {path: number for number, path in enumerate(files)}
    tasks = [Task(path, rule, rule.output(path)) for rule in rules for path in _matches(rule.patterns, files)]
    tasks.sort(key=lambda task: order[task.source])
    return Plan(tuple(tasks), tuple(_collisions(tasks)))


def _matches(patterns: Iterable[str], files: Sequence[str]) -> list[str]:
    """The files that patterns choose; one that begins with `!` takes back what those before it chose."""
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
    """The files that two tasks write; names that differ in case alone are one file on many machines."""
    first: dict[str, Task] = {}
    for task in tasks:
        other = first.setdefault(task.output.casefold(), task)
        if other is task:
            continue
        said = f"this `[[build]]` writes {other.source} to {other.output}"
        related = (Related(other.rule.path, other.rule.span, said),) if other.rule.span else ()
        message = f"{other.source} and {task.source} would both be written to {task.output}"
        remedy = "let `out` have `{name}` or `{dir}` in it, or leave one document out: `!PATTERN`"
        yield Diagnostic("RD513", task.rule.path, task.rule.span, message, remedy, related)
