"""The runs of served documents, as the tools show and change them. Nothing is stored between two calls."""

import os
import re
import shlex
from pathlib import Path
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import asdict

from rdc import api
from rdc.agents.tools import RefusedError, Report, Result, Start
from runtime_shim.engine.texts import clean
from runtime_shim.io.reading import cleaned, unkept
from runtime_shim.operator.logs import UNSEEN

LAST, LONGEST_OUTPUT, READ = 5, 4_000, 1 << 16
"""How many finished steps a result shows, how many characters of a log, and how many bytes it reads for them."""


class Settings(Struct, frozen=True):
    """How the server calls runs.

    `options` are for all runs, each with its value after `=`. A call waits `wait` seconds for a step. Questions are
    asked in `forms`, and gates only with `gates`.
    """

    options: tuple[str, ...] = ()
    wait: float = 45.0
    forms: bool = False
    gates: bool = False


def listed() -> Result:
    """Return the served documents with their inputs and runs. Inputs that may be missing end with `?`."""
    found: list[dict[str, Any]] = []
    runs = [run for run in api.runs() if run.place[:1] != ("--state-dir",)]
    for path in api.served().approved:
        own = {name_of(run): run.state for run in runs if run.document == path}
        program = api.check(path).program
        title, given = (clean(program.title), program.inputs) if program else ("", ())
        inputs = [one.name + "?" * (one.default is not None or not one.required) for one in given]
        found.append({"document": path, "title": title, "inputs": inputs, "runs": own})
    return Result("", "" if found else "a person names documents in `[mcp]` of rdc.toml", documents=found)


def name_of(run: api.Run) -> str:
    """Return the name of a run for the tools."""
    return "@".join([run.document, *run.place[1:]])


def find(name: str, settings: Settings) -> api.Run:
    """Return the run with a name; refuse documents that aren't served, and runs without a start."""
    served = api.served()
    document, _, label = (name, "", "") if name in served.approved else name.rpartition("@")
    _check_served(document or name, served)
    run = api.run_of(document, name=label, options=settings.options)
    if run.state == "none":
        raise RefusedError(f"unknown run {name}; call start")
    return run


def _check_served(document: str, served: api.ServedDocuments) -> None:
    if document not in served.approved:
        wrong = [f"{one.path}: {one.message}" for one in served.diagnostics if one.severity is api.Severity.ERROR]
        known = ", ".join(served.approved) or "; ".join(["none", *wrong[:1]])
        raise RefusedError(f"unknown document {document!a}; the documents are: {known}")


def at(name: str, place: str, settings: Settings) -> tuple[api.Run, api.Current]:
    """Return a run that is at a place, and its current step; refuse another place."""
    run = find(name, settings)
    if run.state not in api.UNFINISHED:
        raise RefusedError(f"the run is over: {run.state.upper()} {run.message}".rstrip())
    if run.current is None:
        found = ", ".join(api.differences(run))
        raise RefusedError(f"{run.document} has changed ({found}); a person decides", "\n".join(run.next))
    if place != run.at:
        where = f"the run is at {run.at} {run.current.title}".rstrip("?.!: ")
        raise RefusedError(f"{place} is not the current step; {where}. Call status, then next with its at")
    return run, run.current


def started(given: Start, settings: Settings) -> Result:
    """Start a run of a document with an approved hash, or take up its unfinished run."""
    served, document = api.served(), given.document
    _check_served(document, served)
    program = api.check(document).program
    if program is None:
        raise RefusedError(f"{document} has errors; a person decides", shlex.join(["rdc", "check", document]))
    approved = served.approved[document]
    if approved != api.program_hash(program):
        how = "has changed" if approved else "isn't in rdc.lock"
        raise RefusedError(f"{document} {how}; a person decides", "rdc build")
    old = api.run_of(document, name=given.name, options=settings.options)
    is_old = old.state in api.UNFINISHED
    if is_old and given.inputs:
        raise RefusedError(f"{document} has an unfinished run with its own inputs; call start without inputs")
    if old.state == "running":  # another process has it
        return shown(old, resumed=True)
    run = api.open_run(document, name=given.name, inputs=given.inputs, options=settings.options)
    return shown(run, resumed=is_old)


def reported(given: Report, client: str, settings: Settings) -> Result:
    """Record the agent's answer to the current step, or to an entry of it."""
    run, step = at(given.run, given.at, settings)
    if step.by != "agent":
        raise RefusedError(f"step {step.step} is for {'rdc' if step.by == 'rdc' else 'a person'}; call next")
    due = [one.entry for one in step.entries if not one.answered]
    if given.entry not in (due or [""]):
        wanted = f"needs an answer for {' or '.join(due)}" if due else "has no entries"
        raise RefusedError(f"step {step.step} {wanted}")
    # The engine would refuse these too, but only after the step has begun to wait.
    if problem := unkept(given.answer) or "is empty" * (not cleaned(given.answer)):
        raise RefusedError(f"the answer {problem}")
    return answered(run, given.entry or step.step, given.answer, f"{client} (agent)", settings)


def answered(run: api.Run, step: str, reply: str, by: str, settings: Settings) -> Result:
    """Record an answer to the current step, or to an entry of it."""
    place, options = run.at, settings.options
    if run.state != "waiting":
        api.step(run, place, options=options)  # it starts to wait
    return shown(api.answer(run, reply, step=step, at=place, by=by, options=options))


def shown(run: api.Run, *, resumed: bool = False) -> Result:
    """Return a run as the result of a tool."""
    step, finished = run.current, run.finished
    output, size = _output((step and step.log) or (finished[-1].log if finished else ""))
    return Result(
        message=clean(run.message),
        hint=clean("\n".join(run.next)) if step is not None and step.by == "person" else "",
        run=name_of(run),
        state=run.state,
        at=run.at,
        step=UNSET if step is None else {key: value for key, value in _facts(step).items() if value},
        done=[{"step": one.step, "title": clean(one.title), "outcome": one.outcome} for one in finished[-LAST:]],
        output="" if api.served().output == "none" else output,
        output_bytes=size,
        resumed=resumed,
    )


def _facts(step: api.Current) -> dict[str, Any]:
    shown = {key: clean(getattr(step, key)) for key in ("title", "by", "text", "command")}
    lists = {"replies": step.replies, "outputs": step.outputs, "entries": [asdict(one) for one in step.entries]}
    return {"id": step.step, **shown, **lists, "attempt": step.attempt}


def _output(path: str) -> tuple[str, int]:
    """Return the end of a log without anything that steers a terminal, and the log's size."""
    # Codes become spaces: without them, a secret that they cut in two would be whole again.
    if not path or not Path(path).is_file():
        return "", 0
    with Path(path).open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - READ, 0))
        text = file.read().decode(errors="replace")
    return clean(re.sub(UNSEEN, " ", text))[-LONGEST_OUTPUT:], size
