"""The calls of a workflow: `check`, `open`, `step`, `entry`, `changes`, `close` and `onward`."""

import copy
import json
import os
from contextlib import suppress
from typing import Any, Callable

from runtime_shim.data.secrets import MASKED
from runtime_shim.engine.builder import built
from runtime_shim.engine.journal import read_journal
from runtime_shim.engine.program import EXIT_COMPLETE, EXIT_STOP, RefusedError, Table
from runtime_shim.engine.state import State, digest
from runtime_shim.targets.github.api import Api, HaltError, check_run, kept_by_run
from runtime_shim.targets.github.calls import Job, StepCall, do_call
from runtime_shim.targets.github.changes import CHANGES, check_secrets, collect_changes
from runtime_shim.targets.github.entries import ENTRY, joined_entries, must_join, read_entry
from runtime_shim.targets.github.gates import (
    check_passed,
    check_used,
    count_reviews,
    is_approved,
    next_decision,
    passed_gates,
    read_count,
    runs_before,
    same_attempt,
)
from runtime_shim.targets.github.kept import check_kept, keep_run, take_over, unsaved
from runtime_shim.targets.github.page import (
    draw_flow,
    first_reply,
    heading,
    how_to_continue,
    put_question,
    table_of_steps,
)
from runtime_shim.targets.github.replies import as_lines, left_over
from runtime_shim.targets.github.says import annotation, hidden, plain
from runtime_shim.targets.github.shown import word_of_place
from runtime_shim.targets.github.strict import check_records, damaged

STATE = "rdc-state"  # the artifact of a run that waits
ANSWERS_FILE = "rdc-answers"
KEPT = "rdc-kept"


def check(job: Job, _places: list[str]) -> int:
    """Ask GitHub whether the run to go on with is one of this workflow, before anything of it is fetched."""
    api, number = Api(job.said("TOKEN")), job.said("RESUME")
    check_run(api, number, job.events())
    job.runner.output("artifact", kept_by_run(api, number, "contract" in job.program))
    return EXIT_COMPLETE


def begin(job: Job, places: list[str]) -> int:
    """Begin a run, or go on with one that another job or run has left."""
    _look_for_secrets(job)
    is_next, resumes, joins = bool(places), job.said("RESUME"), False
    if is_next or resumes:
        about = _taken(job, resumes)
        joins = _joined(job, about)
        if is_next and not joins and "entry" not in places:  # one that was lost is called again alone
            same_attempt(about.get("attempt"))
    if not is_next:
        _put_answers(job, resumes)
    api, gates = Api(job.said("TOKEN")), job.gates()
    left = _held_to_reviews(job, api, gates) if gates else []
    job.given.again, job.given.asked = job.said("RERUN") == "true", gates & set(job.words("ASKED"))
    job.given.decided = lambda: next_decision(left, job.environment())
    if joins:
        code = job.run("step", job.said("JOINED"), *job.options())
    else:
        code = job.run("open", *_inputs(job), *_answers(job), *job.options())
    if gates:
        check_used(left)
        _say_approved(job, gates)
    job.mark_open(code)
    state = job.state()
    if code == EXIT_COMPLETE and state is not None:
        job.told(len(state.finished))
        first = word_of_place(job.program, state.begin["node"])
        job.runner.output("next", job.place_of(state) if is_next else first)
        code = EXIT_STOP if state.condition == "stop" and not job.program.get("contract") else EXIT_COMPLETE
    return code


def _look_for_secrets(job: Job) -> None:
    """Refuse to begin where a secret is not set; values do not come here, only names (I26)."""
    missing = ", ".join(job.said("MISSING").split())
    if missing and job.said("FORK") == "true":
        says = f"A pull request from a fork gets no secrets, and this workflow needs {missing}. Nothing was run"
        raise HaltError("No secrets", says)
    if missing:
        where = job.said("PLACE") or "repository"
        says = f"These secrets are not set, or empty: {missing}. Set them in the settings of the {where}"
        raise HaltError("Missing secrets", f"{says}, then begin a new run")


def _taken(job: Job, resumes: str) -> Table:
    """Put the files of a run in their places; everything is checked before."""
    if resumes and os.environ["GITHUB_RUN_ATTEMPT"] != "1":
        says = "A re-run would repeat what its first attempt has done"
        raise HaltError("Re-run", f"{says}. Begin a new run, or go on with the run that waits now")
    about = check_kept(job.path(KEPT))
    if about.get("run") != (resumes or os.environ["GITHUB_RUN_ID"]):
        raise damaged()
    try:
        records = read_journal(os.path.join(job.path(KEPT), "state", "journal"))[0]
    except RefusedError:
        raise damaged() from None
    if not records:
        raise damaged()
    if records[0].get("program") != job.identity():
        says = "The run that waits belongs to another version of this workflow. Begin a new run"
        raise HaltError("Another program", says)
    check_records(job.program, records)
    take_over(job.path(KEPT), job.path("rdc"), job.path(ANSWERS_FILE), job.own_files())
    return about


def _put_answers(job: Job, resumes: str) -> None:
    """Write the answers that were given with this run, and those of an earlier one that it has not used."""
    path, text = job.path(ANSWERS_FILE), as_lines(job.program, job.said("ANSWERS"))
    state = job.state() if resumes else None
    if state is not None and os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            old = file.read()
        at = state.node if state.condition == "waiting" else ""  # an answer that did not fit is not tried again
        rest = left_over(job.program, old, state.used, digest(old), job.reader(), at)
        text = "\n" * len(state.used) + f"{text}\n{rest}"  # never the text whose answers an earlier run has used
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)


def _answers(job: Job) -> list[str]:
    return ["--answers", job.path(ANSWERS_FILE)] if os.path.exists(job.path(ANSWERS_FILE)) else []


def _inputs(job: Job) -> list[str]:
    """Return the option for the values of inputs that this run is given; they travel as a file."""
    declared = job.program.get("inputs", ())
    given = {}
    for number, item in enumerate(declared, 1):
        name = item["name"]
        value = job.said(f"INPUT_{name}") or job.said(f"INPUT_{number}") or _bound(job, number)
        if value:
            given[name] = value
    if not given:
        return []
    with open(job.path("rdc-inputs.json"), "w", encoding="utf-8", errors="surrogateescape") as file:
        json.dump(given, file)
    return ["--inputs", job.path("rdc-inputs.json")]


def _bound(job: Job, number: int) -> str:
    """Return what a command has said of an input before the run, without line ends behind it."""
    with suppress(FileNotFoundError), open(os.path.join(job.path("rdc-bound"), str(number)), "rb") as file:
        return file.read().decode("utf-8", "surrogateescape").rstrip("\n")
    return ""


# --- What others have decided between two jobs ---


def _held_to_reviews(job: Job, api: Api, gates: set[str]) -> list[tuple[str, str, str]]:
    """Hold the gates that the run has passed against GitHub; return the reviews that are not used yet."""
    environment, number = job.environment(), os.environ["GITHUB_RUN_ID"]
    state = job.state()
    records = passed_gates(state.finished, gates) if state is not None else []
    if job.said("REVIEWS"):
        since = read_count(job.said("REVIEWS"))
    else:
        runs = runs_before(api, records, job.said("RESUME"), job.events())
        since = count_reviews(api, number, environment, runs)
        job.runner.output("reviews", str(since))
    same_attempt(since.attempt)
    return check_passed(api, records, environment, since)


def _say_approved(job: Job, gates: set[str]) -> None:
    """Say to later steps and jobs which gates GitHub has let the run through: nothing else has run in this job yet."""
    state = job.state()
    records = passed_gates(state.finished, gates) if state is not None else []
    words = [word_of_place(job.program, record["node"]) for record in records if is_approved(record)]
    job.runner.output("approved", f" {' '.join(words)} ")


def _joined(job: Job, about: Table) -> bool:
    """Read what the agents have kept that were jobs of their own; tell whether there were any."""
    state, place = job.state(), job.said("JOINED")
    if state is None or not place or not must_join(state.node, place, job.said("RESULT")):
        return False
    since = int(about["attempt"]) if str(about.get("attempt")).isdigit() else 0
    node, folder = job.program["nodes"][place], job.path("rdc-entries")
    job.given.joined[place] = joined_entries(folder, place, node, job.said("RESULT"), since)
    return True


# --- The steps of the document ---


def step_through(job: Job, places: list[str]) -> int:
    """Go on with the run while it is in these places."""
    before = job.done()
    for line in job.said("GIVEN").split("\n"):
        name, _, names = line.rpartition(":")
        if name:
            job.given.secrets[name] = set(names.split())
    state = job.state()
    word = job.left_for(state, places) if state is not None and state.node not in places else ""
    if word and "contract" not in job.program:  # another run has done this before, and conditions are told again
        print("This was done before the run had to wait.", flush=True)
        job.runner.output("next", word)
        return EXIT_COMPLETE
    code = job.run("step", *places, *_answers(job), *job.options())
    job.told(before)
    state = job.state()
    if state is not None:
        job.runner.output("next", job.left_for(state, places) or job.place_of(state))
    return code


def call_entry(job: Job, places: list[str]) -> int:
    """Call the agent of an entry, unless an earlier attempt has kept what it says."""
    job.given.entry, job.given.entry_path = int(job.said("ENTRY")), os.path.join(job.path("rdc-entry"), ENTRY)
    about = check_kept_attempt(job)
    if read_entry(job.given.entry_path, places[0], job.given.entry, about) is not None:
        print("This was done in an earlier attempt.", flush=True)
        return EXIT_COMPLETE
    code = job.run("entry", *places, *job.options())
    if code == EXIT_COMPLETE:
        job.runner.output("kept", "true")
    return code


def check_kept_attempt(job: Job) -> int:
    """Return the attempt at the run in which it came to the step."""
    with open(os.path.join(job.path(KEPT), "about.json"), "rb") as file:
        return int(json.load(file)["attempt"])


def find_changes(job: Job, _places: list[str]) -> int:
    """Collect what was changed in the workspace, once the run is complete; this step knows no secret."""
    state = job.state()
    if state is not None and state.condition == "complete":
        print(collect_changes(job.path("rdc-artifact")), flush=True)
    return EXIT_COMPLETE


# --- The end of a job ---


def close(job: Job, part: list[str]) -> int:
    """Write the page of the run, and keep what another job or run goes on with. Knows all secrets, to hide them."""
    state = job.state()
    if state is None or not job.is_open():  # the first step has said why
        return EXIT_COMPLETE
    check_records(job.program, read_journal(job.path("rdc/journal"))[0])  # a step may have written into it
    _check_gates(job, state)
    place = job.place_of(state)
    is_over, is_handed = state.condition in ("complete", "stop"), place in job.words("ONWARD")
    is_waiting = state.condition == "waiting" and not is_handed
    job.runner.output("next", place)
    shown = _without_secrets(state, job.mask())
    _tell(job, shown, is_handed, is_waiting)
    _keep_texts(job)
    if is_handed or is_waiting or ("contract" in job.program and state.condition != "complete"):
        _keep(job, state, f"{STATE}-{part[0]}" if is_handed else STATE)
        _say_how_to_go_on(job, shown, is_handed)
    if state.condition == "complete":
        _leave(job)
    if not (is_over or is_handed or is_waiting or state.condition == "running"):
        raise HaltError("rdc", f"The run has no result: it is at {state.node}, and no step of the workflow follows")
    return EXIT_COMPLETE


def _check_gates(job: Job, state: State) -> None:
    """Refuse a run that has passed a gate which was not approved before this job began."""
    approved, gates = job.words("APPROVED"), job.gates()
    for record in passed_gates(state.finished, gates):
        if is_approved(record) and word_of_place(job.program, record["node"]) not in approved:
            says = f"The run is past {record['node']}, and GitHub reports no review that let it through"
            raise HaltError("Not approved", says)


def _without_secrets(state: State, mask: Callable[[str], str]) -> State:
    """Return where a run is, as its page shows it."""
    shown = copy.copy(state)
    shown.message, shown.registers = mask(state.message), hidden(state.registers, mask)
    shown.finished = [
        {key: hidden(value, mask) if key in MASKED else value for key, value in record.items()}
        for record in state.finished
    ]
    return shown


def _tell(job: Job, state: State, is_handed: bool, is_waiting: bool) -> None:
    """Write the page of the run: what it waits for, or how it has ended, and what it has done."""
    mask, program = job.mask(), job.program
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
    """Put together prompts, answers, reports and records for people, without any secret."""
    mask, folder = job.mask(), job.path("rdc-transcript")
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
        job.runner.page(f"\nReports, in the folder `reports` of the artifact: {names}\n")


def _copy_masked(path: str, to: str, mask: Any) -> None:  # noqa: ANN401 (from text to text)
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
    """Keep the run for another job or run, unless a text in it holds a secret."""
    mask = job.mask()
    for slot, value in state.registers.items():
        if isinstance(value, str) and mask(value) != value:
            raise unsaved(f"the text {slot} holds a secret. Fetch it again in a later step")
    for record in read_journal(job.path("rdc/journal"))[0]:
        texts = {key: value for key, value in record.items() if key in MASKED}
        if hidden(texts, mask) != texts:
            raise unsaved("what a step has said earlier holds a secret, which only another step was given")
    about = {"run": os.environ["GITHUB_RUN_ID"], "attempt": os.environ["GITHUB_RUN_ATTEMPT"]}
    keep_run(job.path(KEPT), job.path("rdc"), job.path(ANSWERS_FILE), about, job.masks())
    job.runner.output("kept", name)


def _say_how_to_go_on(job: Job, state: State, is_handed: bool) -> None:
    """Say how another run goes on with this one."""
    if is_handed and "contract" not in job.program:
        return
    if job.said("HEAD") not in ("", os.environ["GITHUB_REPOSITORY"]):
        says = "This run was started from a fork, so it cannot be continued."
        job.runner.page(f"\n{says} Run the workflow on a branch of this repository.\n")
        return
    job.runner.page(how_to_continue(state, job.said("BRANCH"), first_reply(job.program, state)))
    if job.said("CALLED"):
        says = "Run that workflow again, and let it pass all answers as the input answers."
        job.runner.page(f"\nIf another workflow has called this one, the run cannot be continued. {says}\n")


def _leave(job: Job) -> None:
    """Say what a good run leaves: its last output, its outputs, and what was changed in the workspace."""
    artifact, folder = job.program.get("artifact"), job.path("rdc-artifact")
    if artifact is not None:
        names = [name for name in os.listdir(job.path("rdc")) if name.startswith(f"{job.program['name']}.")]
        for name in names[:1]:
            os.makedirs(folder, exist_ok=True)
            path = os.path.join(folder, f"{job.said('NAME')}.{name.rpartition('.')[2]}")
            _copy_masked(os.path.join(job.path("rdc"), name), path, job.mask())
            job.runner.output("artifact", os.path.basename(path))
    elif check_secrets(folder, job.mask()):
        job.runner.output("artifact", CHANGES)
    if "contract" in job.program and job.run("outputs", "--to", job.path("rdc-outputs")):
        job.lines.append(annotation("warning", "Outputs", "Not all outputs were kept; the log says why"))


STEP_CALLS: dict[str, StepCall] = {
    "check": check,
    "open": begin,
    "step": step_through,
    "entry": call_entry,
    "changes": find_changes,
    "close": close,
}


def on_github(own: Table, document: Any, script: str) -> int:  # noqa: ANN401 (the function of the document)
    """Do what a step of the workflow asks for, with the program that is loaded; `script` is the file of the step."""
    return do_call(own, built(document, own["EXTENSIONS"]), STEP_CALLS, script)
