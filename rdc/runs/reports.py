"""The report of a run as data: from its own program, or from its journal. These files are untrusted."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator
from functools import partial

from rdc.runs.model import Run
from rdc.runs.process import run_process
from rdc.runs.status import known_modes, runs_in
from runtime_shim.engine.private import refuse_links
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.state import Store
from runtime_shim.engine.status import condition_of
from runtime_shim.operator.history import ARCHIVED
from runtime_shim.operator.logs import log_lines
from runtime_shim.operator.report import facts_of


def report_of(file: str | None, wanted: str) -> Table:
    """Return the report of the run of a document, or of the only run here; `wanted` is a run's name or id.

    Raises:
        UsageError: No run fits, several do, or it can't be read. The last argument is the reason.
    """
    folder = os.path.dirname(file or "") or os.curdir
    found = [run for run in runs_in(folder) if file is None or _is_of(run, file)]
    fits = [(run, archived) for run in found for archived in _fits(run, wanted)]
    if len(fits) == 1:
        return _facts(*fits[0])
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
    if run.directory.endswith(".make"):
        raise UsageError(f"{run.name} is the run of a native Makefile, which keeps no journal, so it has no report")
    if run.document:
        ended = run_process([run.document, "report", *filter(None, [archived]), *run.place, "--json"], run.folder)
        if ended.code == 0:
            facts: Table = json.loads(ended.output)
            return facts
    return _from_journal(run, archived)  # the document has changed, is missing, or needs options


def _from_journal(run: Run, archived: str) -> Table:
    """Return the report without the document, whose title is not in the journal."""
    store = Store(run.directory, known_modes())
    store.path = os.path.join(run.directory, "history", archived) if archived else store.path
    refuse_links(os.path.dirname(store.path))
    state = store.read()
    if state is None:
        raise UsageError(f"{shlex.quote(store.path)} has no run")
    condition = condition_of(state, not archived and store.is_busy())
    program = {"title": state.name, "nodes": {}}
    try:
        return facts_of(program, store.records(), state, condition, partial(log_lines, store.path))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{store.path}: the journal is damaged: {error}") from None
