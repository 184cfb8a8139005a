"""The calls of a workflow's steps, and the answer that they read."""

import json
import os
from contextlib import suppress
from typing import Any, Callable

from runtime_shim.engine.journal import read_journal
from runtime_shim.engine.outcomes import Host
from runtime_shim.engine.program import EXIT_COMPLETE, EXIT_REFUSED, EXIT_STOP, Table, UsageError, built, takes_empty
from runtime_shim.engine.session import Kinds
from runtime_shim.targets.github.api import (
    Api,
    HaltError,
    check_passed,
    check_run,
    check_used,
    count_reviews,
    find_kept,
    is_approved,
    next_decision,
    passed_gates,
    read_count,
    runs_before,
    same_attempt,
)
from runtime_shim.targets.github.calls import Job, Relay
from runtime_shim.targets.github.changes import ENTRY, collect_changes, joined_entries, must_join, read_entry
from runtime_shim.targets.github.journal_check import check_records, damaged
from runtime_shim.targets.github.messages import plain
from runtime_shim.targets.github.saved_run import ABOUT, ANSWERS_FILE, KEPT, check_kept, take_over, unlinked
from runtime_shim.targets.github.script import is_shown, words_of_places
from runtime_shim.targets.github.summary import close

ASKING = ("ask", "confirm", "input", "select", "value", "gate")


def check(job: Job, _places: list[str]) -> int:
    """Check with GitHub that the run to continue belongs to this workflow, before fetching anything."""
    api, number = Api(job.said("TOKEN")), job.said("RESUME")
    check_run(api, number, job.events())
    artifact = find_kept(api, number, "stepspec" in job.program)
    if not artifact:
        raise HaltError("Nothing kept", f"Run {number} is not waiting: it kept no state, or its state has expired")
    job.runner.output("artifact", artifact)
    return EXIT_COMPLETE


def begin(job: Job, places: list[str]) -> int:
    """Start a run, or continue one from another job or run."""
    _look_for_secrets(job)
    api, is_next, resumes, joins = Api(job.said("TOKEN")), bool(places), job.said("RESUME"), False
    if not is_next:
        _check_attempt(job, api, resumes)
    if is_next or resumes:
        about = _taken(job, resumes)
        joins = _joined(job, about)
        if is_next and not joins and "entry" not in places:  # a lost entry is called again by itself
            same_attempt(about.get("attempt"))
    if not is_next:
        _put_answer(job, resumes)
    gates = job.gates()
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
        job.told(state, len(state.finished))
        first = words_of_places(job.program)[state.begin["node"]]
        job.runner.output("next", job.place_of(state) if is_next else first)
        if resumes:
            job.runner.output("resumed", "true")
        code = EXIT_STOP if state.condition == "stop" and not job.program.get("stepspec") else EXIT_COMPLETE
    return code


def _look_for_secrets(job: Job) -> None:
    """Refuse to start if a secret is not set. This step gets only the names."""
    missing = ", ".join(job.said("MISSING").split())
    if missing and job.said("FORK") == "true":
        says = f"A pull request from a fork gets no secrets, but this workflow needs {missing}. No step ran"
        raise HaltError("No secrets", says)
    if missing:
        where = job.said("PLACE") or "repository"
        says = f"These secrets are missing or empty: {missing}. Set them in the settings of the {where}"
        raise HaltError("Missing secrets", f"{says}, then start a new run")


def _check_attempt(job: Job, api: Api, resumes: str) -> None:
    """Refuse a later attempt that would repeat completed steps (T-23)."""
    number, stepspec = os.environ["GITHUB_RUN_ID"], "stepspec" in job.program
    if os.environ["GITHUB_RUN_ATTEMPT"] == "1" or not job.said("TOKEN"):
        return
    if find_kept(api, number, True):
        goes_on = stepspec or not job.gates()
        says = f"start this workflow with the input `resume`: {number}" if goes_on else "start a new run"
        raise HaltError("Re-run", f"Completed steps would run again. Instead, {says}")
    if resumes:
        says = "A re-run would repeat the first attempt"
        raise HaltError("Re-run", f"{says}. Start a new run, or continue the run that is waiting now")


def _taken(job: Job, resumes: str) -> Table:
    about = check_kept(job.path(KEPT))
    if about.get("run") != (resumes or os.environ["GITHUB_RUN_ID"]):
        raise damaged()
    try:
        records = read_journal(os.path.join(job.path(KEPT), "state", "journal"))[0]
    except UsageError:
        raise damaged() from None
    if not records:
        raise damaged()
    if records[0].get("program") != job.identity():
        says = "The waiting run belongs to another version of this workflow. Start a new run"
        raise HaltError("Another program", says)
    check_records(job.program, records)
    take_over(job.path(KEPT), job.path("rdc"), job.path(ANSWERS_FILE), job.own_files())
    return about


def _put_answer(job: Job, resumes: str) -> None:
    """Write the answer to the question at which an earlier run waits; no other question was shown (T-27)."""
    path, reply, nodes = job.path(ANSWERS_FILE), job.said("ANSWERS"), job.program["nodes"]
    unlinked(path)
    if not reply.strip():
        return
    state = job.state() if resumes else None
    if state is None or state.condition != "waiting":
        says = "An answer needs a question that a run has shown. Start a run without `answers`"
        raise HaltError("Answers", f"{says}. If it waits, continue it with `resume` and `answers`")
    at, asking = state.node, [name for name, node in nodes.items() if node["task"] in ASKING]
    other = next((name for name in asking if name != at and reply.startswith(f"{name} ")), at)
    if other != at and not reply.startswith(f"{at} "):
        raise HaltError("Answers", f"The run waits at {plain(at)}, so it takes no answer to {plain(other)} yet")
    reply = reply[len(at) + 1 :] if reply.startswith(f"{at} ") else reply
    is_word = at in asking and nodes[at]["task"] != "input"
    lines = (reply.strip() if is_word else reply).replace("\r\n", "\n").split("\n")
    word = "END"
    while word in lines:
        word += "_"
    said = [f"{at} {lines[0]}"] if len(lines) == 1 else [f"{at}<<{word}", *lines, word]
    used = [""] * len(state.used)  # never the same text as an earlier answer
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write("\n".join([*used, *said, ""]))


def _answers(job: Job) -> list[str]:
    """Return the option for the answer of this run. `rdc test` sets a file with all answers instead."""
    path = job.said("REPLIES") or job.path(ANSWERS_FILE)
    return ["--answers", path] if os.path.exists(path) else []


def _inputs(job: Job) -> list[str]:
    declared = job.program.get("inputs", ())
    given, is_form = {}, os.environ.get("GITHUB_EVENT_NAME") == "workflow_dispatch"  # its empty fields are missing
    for number, item in enumerate(declared, 1):
        name = item["name"]
        value = job.said(f"INPUT_{name}") or job.said(f"INPUT_{number}") or _bound(job, number)
        if value or (takes_empty(item) and not is_form):
            given[name] = value
    if not given:
        return []
    with open(job.path("rdc-inputs.json"), "w", encoding="utf-8", errors="surrogateescape") as file:
        json.dump(given, file)
    return ["--inputs", job.path("rdc-inputs.json")]


def _bound(job: Job, number: int) -> str:
    with suppress(FileNotFoundError), open(os.path.join(job.path("rdc-bound"), str(number)), "rb") as file:
        return file.read().decode("utf-8", "surrogateescape").rstrip("\n")
    return ""


# --- Decisions between two jobs ---


def _held_to_reviews(job: Job, api: Api, gates: set[str]) -> list[tuple[str, str, str]]:
    """Check the gates that the run has passed with GitHub; return the unused reviews."""
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
    state = job.state()
    records = passed_gates(state.finished, gates) if state is not None else []
    words = words_of_places(job.program)
    approved = [words[record["node"]] for record in records if is_approved(record)]
    job.runner.output("approved", f" {' '.join(approved)} ")


def _joined(job: Job, about: Table) -> bool:
    """Read the answers of agents in separate jobs; return whether there were any."""
    state, place = job.state(), job.said("JOINED")
    if state is None or not place or not must_join(state.node, place, job.said("RESULT")):
        return False
    since = int(about["attempt"]) if str(about.get("attempt")).isdigit() else 0
    node, folder = job.program["nodes"][place], job.path("rdc-entries")
    job.given.joined[place] = joined_entries(folder, place, node, job.said("RESULT"), since)
    return True


# --- The steps of the document ---


def step_through(job: Job, places: list[str]) -> int:
    """Continue the run while it is in these places."""
    for line in job.said("GIVEN").split("\n"):
        name, _, names = line.rpartition(":")
        if name:
            job.given.secrets[name] = set(names.split())
    state = job.state()
    before = len(state.finished) if state is not None else 0
    word = job.left_for(state, places) if state is not None and state.node not in places else ""
    if word and "stepspec" not in job.program:  # an earlier run did this; set the outputs again
        print("This was done before the run started waiting.", flush=True)
        job.runner.output("next", word)
        return EXIT_COMPLETE
    code = job.run("step", *places, *_answers(job), *job.options())
    state = job.state()
    if state is not None:
        job.told(state, before)
        job.runner.output("next", job.left_for(state, places) or job.place_of(state))
    return code


def call_entry(job: Job, places: list[str]) -> int:
    """Call the agent of an entry, unless an earlier attempt kept its answer."""
    job.given.entry, job.given.entry_path = int(job.said("ENTRY")), os.path.join(job.path("rdc-entry"), ENTRY)
    with open(os.path.join(job.path(KEPT), ABOUT), "rb") as file:
        since = int(json.load(file)["attempt"])  # the attempt in which the run reached the step
    if read_entry(job.given.entry_path, places[0], job.given.entry, since) is not None:
        print("This was done in an earlier attempt.", flush=True)
        return EXIT_COMPLETE
    code = job.run("entry", *places, *job.options())
    if code == EXIT_COMPLETE:
        job.runner.output("kept", "true")
    return code


def find_changes(job: Job, _places: list[str]) -> int:
    """Collect the changes in the workspace once the run is complete. This step has no secrets."""
    state = job.state()
    if state is not None and state.condition == "complete":
        print(collect_changes(job.path("rdc-artifact")), flush=True)
    return EXIT_COMPLETE


STEP_CALLS: dict[str, Callable[[Job, list[str]], int]] = {
    "check": check,
    "open": begin,
    "step": step_through,
    "entry": call_entry,
    "changes": find_changes,
    "close": close,
}


def on_github(document: Any, kinds: Kinds, edition: str, file: str) -> int:  # the function of the document
    """Run the call of a workflow's step, and return its exit code, 2 for errors. `file` is the path of the program."""
    job = Job(built(document, kinds), kinds, Host("rdc", edition=edition), file)
    word, *places = job.words("CALL") or [""]
    relay = Relay()
    try:
        if word not in STEP_CALLS:
            raise HaltError("No call", "This file runs the steps of a workflow. To run it yourself, name it to Python")
        if word in ("step", "entry") and not is_shown(job.program, places, job.said):
            says = "This step does not show what the program runs. Compile the document again and commit all files"
            raise HaltError("Another command", says)
        code = STEP_CALLS[word](job, places)
    except HaltError as error:
        job.refuse(*error.args)
        code = EXIT_REFUSED
    except UsageError as error:
        job.refuse("rdc", *map(str, error.args))
        code = EXIT_REFUSED
    finally:
        relay.end(*job.lines)
        job.runner.end()
    return code
