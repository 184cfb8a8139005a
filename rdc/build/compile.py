"""Compile documents of a build on all cores, and record their inputs."""

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from hashlib import sha256
from multiprocessing import get_context

from msgspec import Struct

from backends.registry import load
from compiler.diagnostics.issues import InvalidError
from compiler.diagnostics.model import Diagnostic, Severity, has_error
from compiler.driver import Compilation, Opened, Settings, compile_opened
from compiler.project.project import Located, Project
from compiler.text.source import Source
from rdc.build.lock import items_of, served_item
from rdc.build.records import Record, Watched
from rdc.build.rule_items import rule_items
from rdc.documents.plan import SERVED, Task, WorkerError
from rdc.output.generate import Product, emitted
from rdc.output.layout import Layout, lay_out, unfit_paths
from rdc.output.paths import Output
from rdc.output.write import File
from rdc.report.rules import unmatched


class Made(Struct, frozen=True):
    """The result of a task: its files, the main one first, or none if there are errors, and its record.

    `sources` are the files that the diagnostics refer to. The record stores the warnings, which are shown again.
    """

    task: Task
    files: tuple[File, ...]
    record: Record
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]


def compile_task(root: str, task: Task) -> Made:
    """Compile the document of a task. The current folder is the root. Errors in the document are diagnostics.

    A document that is only served gets no files, and its hash is the item to review.
    """
    seen: dict[str, str] = {}
    disk = Watched(root, seen)
    file = os.path.join(root, task.source)
    located = Located(file, task.source, task.source, disk)
    disk.resolve(os.path.join(root, os.path.dirname(task.output)))  # the place of companions depends on it
    compilation = compile_opened(Opened(task.source, Project(root, disk), located.read()), Settings())
    is_served, program = task.rule.to == SERVED, compilation.program
    if is_served:
        found, layout, product = list(compilation.diagnostics), Layout((), (), ()), None
    else:
        found, layout, product = _laid_out(task, compilation)
    laid = reversed(layout.files) if product and not has_error(found) else ()  # the main file first
    files = tuple(one.file for one in laid)
    written = {file.path.as_posix(): file.data for file in files}
    items = items_of(program, load(task.rule.to), product, written) if files and program and product else {}
    own = [served_item(program)] if is_served and program and not has_error(found) else []
    if (files or own) and (own := [*rule_items(compilation.rules), *own]):
        items[task.source] = own
    outputs = {path: sha256(data).hexdigest() for path, data in written.items()}
    unique = tuple(dict.fromkeys(found))
    warnings = tuple(one for one in unique if one.severity is Severity.WARNING)
    sources = {one.path for one in found} | {near.path for one in found for near in one.related}
    return Made(
        task,
        files,
        Record(task.rule.key, seen, outputs, items, warnings, unmatched(compilation.rules)),
        unique,
        {path: source for path, source in compilation.sources.items() if path in sources},
    )


def _laid_out(task: Task, compilation: Compilation) -> tuple[list[Diagnostic], Layout, Product | None]:
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


FEW = 3  # for this many tasks, starting processes takes longer

_MOST_AT_ONCE = 8
_SHARES = 8  # tasks per process and batch; small batches let all processes finish together


def compiled(root: str, tasks: Sequence[Task], jobs: int) -> Iterator[Made]:
    """Compile documents, in their order, with at most `jobs` processes; 0 for one per core.

    Raises:
        WorkerError: A process was killed, for example because memory ran out.
    """
    workers = min(jobs or cores(), len(tasks))
    if workers < 2 or (not jobs and len(tasks) <= FEW):
        yield from (compile_task(root, task) for task in tasks)
        return
    yield compile_task(root, tasks[0])  # its imports are shared by forks
    rest, method = tasks[1:], "fork" if os.name == "posix" else "spawn"
    size = max(1, min(_MOST_AT_ONCE, len(rest) // (_SHARES * workers)))
    with ProcessPoolExecutor(workers, get_context(method)) as pool:
        try:
            yield from pool.map(partial(compile_task, root), rest, chunksize=size)
        except BrokenProcessPool:
            raise WorkerError from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
