"""The end of a job: write the run summary, and keep the run for other jobs."""

from __future__ import annotations

import copy
import os
from contextlib import suppress
from typing import Any, Callable

from runtime_shim.data.secrets import MASKED
from runtime_shim.engine.journal import read_journal
from runtime_shim.engine.program import EXIT_COMPLETE
from runtime_shim.engine.state import State
from runtime_shim.targets.github.api import STATE, HaltError
from runtime_shim.targets.github.calls import Job
from runtime_shim.targets.github.changes import CHANGES, check_secrets
from runtime_shim.targets.github.gates import is_approved, passed_gates, unapproved
from runtime_shim.targets.github.kept import ANSWERS_FILE, KEPT, keep_run, unsaved
from runtime_shim.targets.github.page import (
    draw_flow,
    first_reply,
    heading,
    how_to_continue,
    put_question,
    table_of_steps,
)
from runtime_shim.targets.github.says import annotation, hidden, plain
from runtime_shim.targets.github.shown import words_of_places
from runtime_shim.targets.github.strict import check_records


def close(job: Job, part: list[str]) -> int:
    """Write the run summary, and keep the run for another job or run. Gets all secrets to mask them."""
    state = job.state()
    if state is None or not job.is_open():  # the first step reported why
        return EXIT_COMPLETE
    check_records(job.program, read_journal(job.path("rdc/journal"))[0])  # a step may have changed it
    _check_gates(job, state)
    place = job.place_of(state)
    is_over, is_handed = state.condition in ("complete", "stop"), place in job.words("ONWARD")
    is_waiting = state.condition == "waiting" and not is_handed
    job.runner.output("next", place)
    shown = _without_secrets(state, job.mask)
    _tell(job, shown, is_handed, is_waiting)
    _keep_texts(job)
    if is_handed or is_waiting or ("contract" in job.program and state.condition != "complete"):
        _keep(job, state, f"{STATE}-{part[0]}" if is_handed else STATE)
        _say_how_to_go_on(job, shown, is_handed)
    if state.condition == "complete":
        _leave(job)
    if not (is_over or is_handed or is_waiting or state.condition == "running"):
        raise HaltError("rdc", f"The run has no result: it is at {state.node}, but no step of the workflow follows")
    return EXIT_COMPLETE


def _check_gates(job: Job, state: State) -> None:
    """Refuse a run that passed a gate without an approval from before this job."""
    approved, gates, words = job.words("APPROVED"), job.gates(), words_of_places(job.program)
    for record in passed_gates(state.finished, gates):
        if is_approved(record) and words[record["node"]] not in approved:
            raise unapproved([record])


def _without_secrets(state: State, mask: Callable[[str], str]) -> State:
    """Return the state of a run with secrets masked, for the summary."""
    shown = copy.copy(state)
    shown.message, shown.registers = mask(state.message), hidden(state.registers, mask)
    shown.finished = [
        {key: hidden(value, mask) if key in MASKED else value for key, value in record.items()}
        for record in state.finished
    ]
    return shown


def _tell(job: Job, state: State, is_handed: bool, is_waiting: bool) -> None:
    """Write the run summary: its question or result, and its steps."""
    mask, program = job.mask, job.program
    waits = state.condition == "waiting"
    said = ("WAITING", state.node) if waits else (state.condition.upper(), state.message)
    if waits or state.condition in ("complete", "stop"):
        job.runner.page(mask(heading(*said)))
        print(plain(f"rdc: {' '.join(said)}".rstrip()), flush=True)
    if state.condition == "waiting":
        job.runner.page(mask(put_question(program, state)))
    if is_waiting:
        job.lines.append(annotation("warning", "WAITING", f"{state.node} needs an answer"))
    if is_handed:
        return
    job.runner.page(mask(table_of_steps(program, state.finished)))
    if "contract" in program:
        job.runner.page(mask(job.printed("timeline", "--markdown")))
    job.runner.page(mask(draw_flow(program, state.finished)))


def _keep_texts(job: Job) -> None:
    """Collect prompts, answers, reports and records for people, with secrets masked."""
    mask, folder = job.mask, job.path("rdc-transcript")
    for name in sorted(os.listdir(job.path("rdc"))):
        path = os.path.join(job.path("rdc"), name)
        is_kept = name in ("prompts", "answers", "reports", "journal") or name.startswith("run-")
        if is_kept and not os.path.islink(path):
            _copy_masked(path, os.path.join(folder, name), mask)
    if os.path.isdir(folder):
        job.runner.output("transcript", "true")
    with suppress(FileNotFoundError):
        found = sorted(os.listdir(os.path.join(folder, "reports")))
        names = ", ".join(f"`{plain(name).replace('`', '?')}`" for name in found)
        job.runner.page(f"\nReports, in the directory `reports` of the artifact: {names}\n")


def _copy_masked(path: str, to: str, mask: Any) -> None:  # from text to text
    if os.path.isdir(path):
        for entry in os.scandir(path):
            if not entry.is_symlink():
                _copy_masked(entry.path, os.path.join(to, entry.name), mask)
    elif os.path.isfile(path):
        os.makedirs(os.path.dirname(to), exist_ok=True)
        with open(path, "rb") as file:
            text = file.read().decode("utf-8", "surrogateescape")
        with open(to, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(mask(text))


def _keep(job: Job, state: State, name: str) -> None:
    """Keep the run for another job or run, unless it contains a secret."""
    mask = job.mask
    for slot, value in state.registers.items():
        if isinstance(value, str) and mask(value) != value:
            raise unsaved(f"the value {slot} contains a secret. Fetch the secret again in a later step")
    for record in read_journal(job.path("rdc/journal"))[0]:
        texts = {key: value for key, value in record.items() if key in MASKED}
        if hidden(texts, mask) != texts:
            raise unsaved("the output of an earlier step contains a secret of another step")
    about = {"run": os.environ["GITHUB_RUN_ID"], "attempt": os.environ["GITHUB_RUN_ATTEMPT"]}
    keep_run(job.path(KEPT), job.path("rdc"), job.path(ANSWERS_FILE), about, job.masks())
    job.runner.output("kept", name)


def _say_how_to_go_on(job: Job, state: State, is_handed: bool) -> None:
    """Write how another run continues this one."""
    if is_handed and "contract" not in job.program:
        return
    if job.said("HEAD") not in ("", os.environ["GITHUB_REPOSITORY"]):
        says = "This run was started from a fork, so it cannot be continued."
        job.runner.page(f"\n{says} Run the workflow on a branch of this repository.\n")
        return
    job.runner.page(how_to_continue(state, job.said("BRANCH"), first_reply(job.program, state)))
    if job.said("CALLED"):
        says = "Run that workflow again, with all answers in its input `answers`."
        job.runner.page(f"\nIf another workflow called this one, this run cannot be continued. {says}\n")


def _leave(job: Job) -> None:
    """Publish the results of a complete run: its last output, its outputs, and its changes."""
    artifact, folder = job.program.get("artifact"), job.path("rdc-artifact")
    if artifact is not None:
        names = [name for name in os.listdir(job.path("rdc")) if name.startswith(f"{job.program['name']}.")]
        for name in names[:1]:
            os.makedirs(folder, exist_ok=True)
            path = os.path.join(folder, f"{job.said('NAME')}.{name.rpartition('.')[2]}")
            _copy_masked(os.path.join(job.path("rdc"), name), path, job.mask)
            job.runner.output("artifact", os.path.basename(path))
    elif check_secrets(folder, job.mask):
        job.runner.output("artifact", CHANGES)
    if "contract" in job.program and job.run("outputs", "--to", job.path("rdc-outputs")):
        job.lines.append(annotation("warning", "Outputs", "Some outputs were not kept; see the log"))
