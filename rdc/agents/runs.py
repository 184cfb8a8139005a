"""The runs of served documents, as the tools show and change them. Nothing is kept between two calls."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from msgspec import UNSET, Struct

from rdc import api
from rdc.agents.tools import Document, Done, Entry, Report, Result, Start, Step
from runtime_shim.engine.texts import clean
from runtime_shim.operator.logs import UNSEEN

LAST, LONGEST_OUTPUT, READ = 5, 4_000, 1 << 16
"""How many finished steps a result shows, how many characters of a log, and how many bytes it reads for them."""


class Refused(Exception):  # noqa: N818 (the result of a tool, not a defect)
    """A call that changed nothing: the reason, and a command for a person."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message, self.hint = message, hint


class Settings(Struct, frozen=True):
    """How the server calls runs.

    `options` are for all runs. A call waits `wait` seconds for a step. Questions are asked in `forms`, and gates only
    with `gates`.
    """

    options: tuple[str, ...] = ()
    wait: float = 45.0
    forms: bool = False
    gates: bool = False


def listed() -> Result:
    """Return the served documents with their inputs and runs."""
    served, found = api.served(), dict[str, dict[str, str]]()
    for run in api.runs():
        if run.place[:1] != ("--state-dir",):
            found.setdefault(run.document, {})[name_of(run)] = run.state
    return Result("", "", documents=tuple(_document(path, found.get(path, {})) for path in served.approved))


def _document(path: str, runs: Mapping[str, str]) -> Document:
    program = api.check(path).program
    if program is None:
        return Document(path, "", (), dict(runs))
    inputs = tuple(f"{one.name}{'' if one.required and one.default is None else '?'}" for one in program.inputs)
    return Document(path, clean(program.title), inputs, dict(runs))


def name_of(run: api.Run) -> str:
    """Return the name of a run for the tools."""
    return "@".join([run.document, *run.place[1:]])


def find(name: str) -> api.Run:
    """Return the run with a name; refuse other documents than those that are served, and runs without a start."""
    documents = api.served().approved
    document, _, label = (name, "", "") if name in documents else name.rpartition("@")
    _known(document, documents)
    run = api.run_of(document, name=label)
    if run.state == "none":
        raise Refused(f"there is no run {name}; call start")
    return run


def _known(document: str, documents: Iterable[str]) -> None:
    if document not in documents:
        known = ", ".join(documents) or "none; name them in `[mcp]` of rdc.toml"
        raise Refused(f"there is no document {document!a}; the documents are: {known}")


def at(name: str, place: str) -> tuple[api.Run, api.Current]:
    """Return a run that is at a place, and its current step; refuse another place."""
    run = find(name)
    if run.state in ("complete", "stop", "expired"):
        raise Refused(f"the run is over: {run.state.upper()} {run.message}".rstrip())
    if run.current is None:
        raise Refused(f"{run.document} has changed{_changes(run)}; a person decides", "\n".join(run.next))
    if place != run.at:
        where = f"the run is at {run.at} {run.current.title}"
        raise Refused(f"{place} is not the current step; {where}. Call status, then next with its at")
    return run, run.current


def _changes(run: api.Run) -> str:
    """Return which steps of a document are not those of its run."""
    found = [line for line in api.refusal(run) if line.startswith("steps ")]
    return f" ({', '.join(found)})" if found else ""


def started(given: Start, settings: Settings) -> Result:
    """Start a run of a document with an approved hash, or take up its unfinished run."""
    served, document = api.served(), given.document
    _known(document, served.approved)
    program = api.check(document).program
    if program is None:
        raise Refused(f"{document} has errors; a person decides", f"rdc check {document}")
    if served.approved[document] != api.program_hash(program):
        how = "has changed" if served.approved[document] else "isn't in rdc.lock"
        raise Refused(f"{document} {how}; a person decides", "rdc build")
    before = api.run_of(document, name=given.name)
    resumed = before.state in api.UNFINISHED
    if resumed and given.inputs:
        raise Refused(f"{document} has an unfinished run with its own inputs; call start without inputs, or with a name")
    run = api.open_run(document, name=given.name, inputs=given.inputs, options=settings.options)
    return shown(run, resumed=resumed)


def reported(given: Report, client: str, settings: Settings) -> Result:
    """Record the agent's answer to the current step, or to an entry of it."""
    run, step = at(given.run, given.at)
    if step.by != "agent":
        who = "rdc" if step.by == "rdc" else "a person"
        raise Refused(f"step {step.step} is for {who}; call next")
    due = [one.entry for one in step.entries if not one.answered] or [""]
    if given.entry not in due:
        raise Refused(f"step {step.step} needs an answer for {' or '.join(due)}" if due[0] else "it has no entries")
    if run.state == "ready":
        api.step(run, at=given.at, options=settings.options)  # it starts to wait
    by = f"{client} (agent)"
    return shown(api.answer(run, given.answer, step=given.entry or step.step, by=by, at=given.at))


def shown(run: api.Run, *, resumed: bool = False, hint: str = "") -> Result:
    """Return a run as the result of a tool."""
    step, finished = run.current, run.finished
    output, size = _output((step and step.log) or (finished[-1].log if finished else ""))
    return Result(
        clean(run.message),
        hint or ("\n".join(run.next) if step is not None and step.by == "person" else ""),
        name_of(run),
        run.state,
        run.at,
        UNSET if step is None else _step(step),
        tuple(Done(one.step, clean(one.title), one.outcome) for one in finished[-LAST:]),
        output if api.served().output != "none" else "",
        size,
        resumed,
    )


def _step(step: api.Current) -> Step:
    return Step(
        step.step,
        clean(step.title),
        step.by,
        clean(step.text),
        clean(step.command),
        step.replies,
        step.outputs,
        tuple(Entry(one.entry, clean(one.text), one.answered) for one in step.entries),
        step.attempt,
    )


def _output(path: str) -> tuple[str, int]:
    """Return the end of a log without anything that steers a terminal, and the log's size.

    Codes become spaces: without them, a secret that they cut in two would be whole again.
    """
    if not path or not os.path.isfile(path):
        return "", 0
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - READ, 0))
        text = file.read().decode(errors="replace")
    return clean(re.sub(UNSEEN, " ", text))[-LONGEST_OUTPUT:], size
