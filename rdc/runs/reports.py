"""The report of a run as data, or its trace: from its own program, or from its journal. These files are untrusted."""

import json
import os
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from compiler.version import __version__
from rdc.runs.model import Run
from rdc.runs.process import run_process
from rdc.runs.status import known_modes, runs_in
from runtime_shim.engine.journal import to_json
from runtime_shim.engine.private import refuse_links
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.state import Store, replay
from runtime_shim.engine.status import condition_of
from runtime_shim.operator.history import ARCHIVED
from runtime_shim.operator.logs import log_lines
from runtime_shim.operator.report import facts_of
from runtime_shim.targets.traces import RunSpans, document


def report_of(file: str | None, wanted: str) -> Table:
    """Return the report of the run of a document, or of the only run here; `wanted` is a run's name or id.

    Raises:
        UsageError: No run fits, several do, or it can't be read. The last argument is the reason.
    """
    return _facts(*_found(file, wanted))


def trace_of(file: str | None, wanted: str) -> str:
    """Return the trace of such a run in OTLP/JSON, as it sends it.

    Raises:
        UsageError: As for `report_of`, or a variable of OpenTelemetry is wrong.
    """
    store = _store_of(*_found(file, wanted))
    with _naming_damage(store):
        records = store.records()
        reader = RunSpans(records[0])
        spans = [to_json(span) for record in records for span in reader.add(record)]
    try:
        return document(records[0], spans, __version__, os.environ)
    except ValueError as error:
        raise UsageError(f"the variable {error}") from None


def _found(file: str | None, wanted: str) -> tuple[Run, str]:
    """Return the run that fits, and the id of the archived one or ""."""
    folder = os.path.dirname(file or "") or os.curdir
    found = [run for run in runs_in(folder) if file is None or _is_of(run, file)]
    fits = [(run, archived) for run in found for archived in _fits(run, wanted)]
    if len(fits) == 1:
        return fits[0]
    if fits:
        names = ", ".join(dict.fromkeys(run.name for run, _ in fits))
        raise UsageError(f"there are several runs: {names}; choose one with --run")
    what = f"no run {wanted!a}" if wanted else "no run"
    raise UsageError(f"there is {what} of {file}" if file else f"there is {what} here; `rdc status` lists the runs")


def archived_runs(folder: str) -> list[str]:
    """Return the ids of the archived runs in a state directory."""
    path = os.path.join(folder, "history")
    names = os.listdir(path) if os.path.isdir(path) and not os.path.islink(path) else []
    return sorted(name for name in names if re.fullmatch(ARCHIVED, name))


def _is_of(run: Run, file: str) -> bool:
    return os.path.realpath(os.path.join(run.folder, run.document or run.source)) == os.path.realpath(file)


def _fits(run: Run, wanted: str) -> Iterator[str]:
    """Yield the id of the archived run that is wanted, or "" for the current one."""
    if wanted in ("", run.name, run.id):
        yield ""
    elif wanted in archived_runs(run.directory):
        yield wanted


def _facts(run: Run, archived: str) -> Table:
    store = _store_of(run, archived)
    if run.document:
        ended = run_process([run.document, "report", *filter(None, [archived]), *run.place, "--json"], run.folder)
        if ended.code == 0:
            return dict(json.loads(ended.output))
    state = replay(store.records(), store.path, known_modes())  # the document has changed, is missing, or needs options
    condition = condition_of(state, not archived and store.is_busy())
    program = {"title": state.name, "nodes": {}}  # the journal does not have the title
    with _naming_damage(store):
        return facts_of(program, store.records(), state, condition, partial(log_lines, store.path))


def _store_of(run: Run, archived: str) -> Store:
    if run.directory.endswith(".make"):
        raise UsageError(f"{run.name} is the run of a native Makefile, which keeps no journal, so it has no report")
    store = Store(run.directory, known_modes())
    store.path = os.path.join(run.directory, "history", archived) if archived else store.path
    refuse_links(os.path.dirname(store.path))
    if not store.records():
        raise UsageError(f"{shlex.quote(store.path)} has no run")
    return store


@contextmanager
def _naming_damage(store: Store) -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{store.path}: the journal is damaged: {error}") from None
