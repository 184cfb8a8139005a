"""Compile one document of a build, and record its inputs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import PurePath

from msgspec import Struct

from backends.registry import load
from compiler.diagnostic import Diagnostic, Severity, has_error
from compiler.driver import Compilation, Opened, Settings, compile_opened
from compiler.issues import InvalidError
from compiler.project import Located, Project
from compiler.source import Source
from rdc.building.items import items_of
from rdc.building.plan import Task
from rdc.building.records import Record, Watched
from rdc.generation import Product, emitted
from rdc.layout import Layout, lay_out, unfit_paths
from rdc.outputs import Output


class Built(Struct, frozen=True):
    """A generated file: its path from the root, its bytes, and whether it is executable."""

    path: str
    data: bytes
    executable: bool


class Made(Struct, frozen=True):
    """The result of a task: its files, the main one first, or none if there are errors, and its record.

    `sources` are the files that the diagnostics refer to. The record stores the warnings, which are shown again.
    """

    task: Task
    files: tuple[Built, ...]
    record: Record
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]


def compile_task(root: str, task: Task) -> Made:
    """Compile the document of a task. The current folder is the root. Errors in the document are diagnostics."""
    seen: dict[str, str] = {}
    disk = Watched(root, seen)
    file = os.path.join(root, task.source)
    located = Located(file, task.source, task.source, disk)
    disk.resolve(os.path.join(root, os.path.dirname(task.output)))  # the place of companions depends on it
    compilation = compile_opened(Opened(task.source, Project(root, disk), located.read()), Settings())
    found, layout, product = _laid_out(task, compilation)
    files = _files(layout) if product and not has_error(found) else ()
    written = {built.path: built.data for built in files}
    items = items_of(compilation.program, product, written) if files and compilation.program and product else {}
    outputs = {path: sha256(data).hexdigest() for path, data in written.items()}
    unique = tuple(dict.fromkeys(found))
    sources = {one.path for one in found} | {near.path for one in found for near in one.related}
    return Made(
        task,
        files,
        Record(task.rule.key, seen, outputs, items, tuple(one for one in unique if one.severity is Severity.WARNING)),
        unique,
        {path: source for path, source in compilation.sources.items() if path in sources},
    )


def _laid_out(task: Task, compilation: Compilation) -> tuple[list[Diagnostic], Layout, Product | None]:
    """Return the diagnostics, layout and product of a document."""
    rule, backend = task.rule, load(task.rule.to)
    try:
        made = emitted(compilation, backend, rule.options, backend.emit, task.output)
        found, product = list(made.diagnostics), made.products[0]
    except InvalidError as error:
        remedy = f"`rdc targets {rule.to}` lists the target's options"
        problem = Diagnostic("RD501", rule.path, rule.span, f"target {rule.to}: {error}", remedy)
        found, product = [*compilation.diagnostics, problem], None
    mains = [Output(task.source, task.output, is_built=True)]
    layout = lay_out(mains, [product], executable=backend.executable)
    return [*found, *compilation.kept((*unfit_paths(mains, backend), *layout.findings))], layout, product


def _files(layout: Layout) -> tuple[Built, ...]:
    """Return the main file and its companions."""
    return tuple(
        Built(PurePath(laid.output.path).as_posix(), laid.data, laid.executable) for laid in reversed(layout.files)
    )
