"""The subcommands of a worker's program."""

import json
import os
import re
import shutil
import time
import types
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from runtime_shim.engine.display import Display
from runtime_shim.engine.outcomes import Host, Waiting
from runtime_shim.engine.program import EXIT_COMPLETE, EXIT_INTERRUPTED, EXIT_STOP, EXIT_WAITING, Table, UsageError
from runtime_shim.engine.session import Kinds, Session
from runtime_shim.engine.signals import Interrupted
from runtime_shim.engine.state import ENDED, utc_now
from runtime_shim.engine.status import aligned, describe, hints, status_lines
from runtime_shim.engine.texts import one_line, word_of, words_of
from runtime_shim.io.answers import LARGEST, read_text
from runtime_shim.operator.history import HOURS
from runtime_shim.operator.jumps import goto
from runtime_shim.operator.report import show_report
from runtime_shim.targets.dbos.engine import Duties, Engine, Metrics
from runtime_shim.targets.dbos.leases import FENCE, Helpers, Leases
from runtime_shim.targets.dbos.legs import RUN_NAME, Leg, Legs, Place, now_ms
from runtime_shim.targets.dbos.runs import RunStore, TakenError, canceled, run_state
from runtime_shim.targets.dbos.steps import run_leg
from runtime_shim.targets.dbos.worker import Worker
from runtime_shim.tasks.ask import answer
from runtime_shim.values.limits import raise_visits

EXIT_RUNNING = 3
PAUSE = 0.3  # seconds between two looks at a run
EVERY = 2.0  # seconds between two lists
RECENT_RUNS = 20  # runs that are over, in a list
HANDOVER = 3.0  # seconds until a command of the old version has ended on another machine


class Request(NamedTuple):
    """One call of the program: the program, the options, and where runs are kept."""

    program: Table
    options: types.SimpleNamespace
    display: Display
    kinds: Kinds
    host: Host
    database: Legs
    place: Place

    def session(self, display: "Display | None" = None) -> Session:
        """Return a session that is not at any run yet."""
        return Session(self.program, self.options, display or self.display, self.kinds, self.host)

    def opened(self, run: str) -> tuple[Session, RunStore]:
        """Return a session about a run, and its store. It shows nothing: others may be first."""
        session = self.session(Display(os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")))
        store = session.store = RunStore(session.store, self.database, run, self.place)
        return session, store

    def halted(self, run: str) -> tuple[Session, RunStore]:
        """Return a session about a run whose queued or running leg has been ended, and its store."""
        while True:
            session, store = self.opened(run)
            if not store.is_busy():
                return session, store
            self.database.cancel(store.legs[-1])


def worker(request: Request) -> int:
    """Run legs until a signal comes."""
    options = request.options
    jobs, poll = options.jobs or "1", options.poll or "0.25"
    if not re.fullmatch("[1-9][0-9]{0,3}", jobs):
        raise UsageError(f"--jobs {one_line(jobs)!a}: expected a number from 1 to 9999")
    if not re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,3})?", poll) or float(poll) <= 0:
        raise UsageError(f"--poll {one_line(poll)!a}: expected seconds, such as 0.5")
    for option, known in (("interrupted", ("ask", "rerun")), ("workspace", ("shared", "run", "host"))):
        if (given := getattr(options, option)) not in (None, *known):
            raise UsageError(f"--{option} {one_line(given)!a}: expected {', '.join(known[:-1])} or {known[-1]}")
    options.rerun_interrupted, options.command = options.interrupted == "rerun", "resume"
    request.session().each("before_run", None)  # secrets are checked now, not in each leg
    is_apart, fence = options.workspace == "run", None if request.database.is_sqlite else FENCE
    directory = options.logs or os.path.join(".rdc", request.program["name"])
    helpers = Helpers(lambda channel: run_leg(channel, request.session, directory, is_apart, fence))
    metrics, duties = Metrics(options.metrics or ""), Duties(int(jobs), float(poll), options.workspace == "host")
    return Worker(request.database, request.place, duties, request.display, helpers).run(metrics)


def start(request: Request) -> int:
    """Start a run, and wait for it if asked to."""
    name, database = request.options.id, request.database
    if name is not None and not re.fullmatch(RUN_NAME, name):
        raise UsageError(f"--id {one_line(name)!a}: use up to 100 letters, digits, `.`, `_` and `-`")
    if not database.is_ready():  # no worker has made the tables
        engine = Engine(database, request.place.version, "start", Duties(1, 60.0, False))
        with database.worded():
            engine.launch(lambda _run, _number, given: given, ())
            engine.stop(0)
    request.options.only = []  # nothing starts here
    session = request.session()
    session.take()
    begin = session.state.begin
    run = request.options.RUN = name or begin["run"]
    if "stepspec" not in request.program:  # its records have another form of id
        begin = {**begin, "run": run}
    store = RunStore(session.store, database, run, request.place)
    if store.legs:
        raise UsageError(f"run {run} already exists; choose another --id")
    if request.options.answers:
        store.given = {"answers": read_text(request.options.answers, LARGEST)}
    store.append(begin)
    store.go_on()
    if request.options.wait:
        return wait_for(request, session)
    if others := database.others(run):
        count = f"{others} other run{'s are' if others > 1 else ' is'}"
        request.display.rule(f"{count} queued or running; `worker --workspace run` gives each run its own folder")
    request.display.rule(f"{run} is queued; to see it: {session.call('status', run)}")
    return request.display.say([run])


def wait_for(request: Request, session: Session) -> int:
    """Wait until a run waits or ends, and return its exit code."""
    run = request.options.RUN
    try:
        with session.signals:
            while (last := request.database.of_run(run)[-1]).is_active or last.result.get("state") == "ready":
                time.sleep(PAUSE)
    except Interrupted:
        request.display.rule(f"{run} continues; to see it: {session.call('status', run)}")
        return EXIT_INTERRUPTED
    word, where = run_state(last), last.result.get("message") or last.result.get("label") or ""
    request.display.rule(f"{run} {word.upper()} {where}".rstrip())
    return exit_code(word)


def exit_code(word: str) -> int:
    """Return the exit code for the condition of a run; 3 while it runs."""
    ends = {"complete": EXIT_COMPLETE, "stop": EXIT_STOP, "canceled": EXIT_STOP}
    return ends.get(word, EXIT_RUNNING if word in ("running", "queued", "paused", "ready") else EXIT_WAITING)


def answer_run(request: Request) -> int:
    """Record a reply, or a decision about an interrupted step."""
    session, store = request.opened(request.options.RUN)
    state: Any = session.read_state()
    if state.condition == "running" and not store.is_busy():
        decide(request, session)
    else:
        answer(session, shows=False)
    if any(note["kind"] == "item" for note in session.state.notes):  # the list has open items
        store.go_on(result=store.legs[-1].result)
        request.display.rule(*hints(session, "waiting"))
        return EXIT_COMPLETE
    store.go_on()
    return going_on(request, session)


def decide(request: Request, session: Session) -> None:
    """Record the outcome of an interrupted step, or that it runs again."""
    options = request.options
    options.command = "resume"
    state: Any = session.read()
    session.take(state)
    if not session.is_same(state):
        session.adopt()
    words = words_of(session.program["nodes"][state.node])
    if state.node != options.STEP:
        raise UsageError(f"step {state.node} was interrupted, not {options.STEP}")
    if options.REPLY not in (*words, "rerun"):
        raise UsageError(f"{one_line(options.REPLY)}: expected {', '.join(words)} or rerun")
    if options.REPLY == "rerun":
        with suppress(Waiting):  # a rule may hold it
            session.record({"kind": "resume", "condition": "ready", "time": utc_now()})
        return
    options.assume = options.REPLY
    done: Any = session.through("given", session.performers[state.node].recover(state.node))
    session.settle(state.node, done, 0.0, begins=False)


def going_on(request: Request, session: Session) -> int:
    """Show the decision, and that a worker continues the run or how the run ended."""
    run, state, program = request.options.RUN, session.state, session.program
    for done in state.finished[-1:]:
        word = word_of(program["nodes"].get(done["node"], {}), done["outcome"])
        request.display.rule(one_line(f"{run} {done['node']} {done['title']}: {word}"))
    request.display.rule(*session.gathered("decided"))
    if state.condition in ENDED:
        request.display.rule(f"{run} {state.condition.upper()} {one_line(state.message)}".rstrip())
    else:
        request.display.rule(f"{run} continues; to see it: {session.call('status', run)}")
    return EXIT_COMPLETE


def approve_gate(request: Request) -> int:
    """Approve the named gate."""
    if not request.options.gate:
        raise UsageError("approve needs --gate ID")
    request.options.command, request.options.STEP, request.options.REPLY = "answer", request.options.gate, "approved"
    return answer_run(request)


def goto_step(request: Request) -> int:
    """Move a run that waits or was interrupted to another step."""
    session, store = request.opened(request.options.RUN)
    if "stepspec" in request.program:
        raise UsageError(
            f"goto cannot skip stages of a specification; to continue the run: {session.call('resume', '')}"
        )
    goto(session, shows=False)
    store.go_on()
    return going_on(request, session)


def retry_run(request: Request) -> int:
    """Return a run that ended with STOP to the step that failed last."""
    request.options.dry_run = True  # nothing runs here, so it needs no secrets
    session, store = request.opened(request.options.RUN)
    session.alone()
    session.take(session.read())
    session.each("resumed")
    store.go_on()
    return going_on(request, session)


def cancel(request: Request) -> int:
    """End a run: its command ends within two seconds."""
    run = request.options.RUN
    request.options.command = "goto"  # signed like a move
    request.session().each("before_run", None)  # a wrong option has no effect
    refuse_ended(request.opened(run)[0].read_state(), run)
    while True:
        session, store = request.halted(run)
        state: Any = session.read_state()
        refuse_ended(state, run)
        session.take(state)
        session.record(canceled(session))
        with suppress(TakenError):  # a worker added its next leg first, which is canceled now
            store.go_on(result={"state": "canceled", "message": state.message})
            request.display.rule(f"{run} is canceled")
            return EXIT_COMPLETE


def refuse_ended(state: Any, run: str) -> None:  # a State
    """Refuse a run that has ended."""
    if state.condition in ENDED:
        raise UsageError(f"{run} has ended: {state.condition.upper()} {one_line(state.message)}".rstrip())


def resume_run(request: Request) -> int:
    """Continue a run that a worker refused, that stopped at a failed step, or that belongs to another version."""
    run = request.options.RUN
    session, store = request.opened(run)
    state: Any = session.read()
    if not session.is_same(state):
        session, store = request.halted(run)  # no worker of its version need run it
        state = session.read()
    store.lock()
    is_raised = getattr(session.options, "max_visits", None) is not None
    can_reopen = is_raised or any(each.reopens for each in session.extensions)
    if state.condition == "complete" or (state.condition in ENDED and not can_reopen):
        raise UsageError(f"{run} has ended; to start another run: {session.call('run')}")
    session.state, is_same = state, session.is_same(state)
    if state.condition == "running" and is_same:
        again = session.call("resume", "--rerun-interrupted")
        raise UsageError(f"{state.node} was interrupted; to run it again: {again}")
    session.take(state)
    if not is_same and state.condition not in ENDED:
        session.adopt()
    if is_raised:
        raise_visits(session)
    session.each("allowed")
    store.go_on(delay=0 if is_same else HANDOVER)
    return going_on(request, session)


def show_run(request: Request) -> int:
    """Print the status of a run."""
    session, store = request.opened(request.options.RUN)
    state: Any = session.read_state()
    session.state, last = state, store.legs[-1]
    facts, word = describe(session, state, store.is_busy()), run_state(last)
    if last.is_active or word in (*ENDED, "canceled"):
        facts["state"] = word
    if word in ("refused", "failed", "halted") and state.condition not in ("running", *ENDED):
        facts.update(state=word, next=[session.call("resume", "")])
    facts["trouble"] = last.result.get("message") if word in ("refused", "failed", "interrupted") else None
    commands = (command.partition(" && ")[0] for command in facts["next"])  # a moved run continues by itself
    facts["next"] = [command for command in commands if command != session.call("worker")]
    is_served = not Leases(request.database).is_free(f"version-{state.program}")
    at = last.worker if last.status == "PENDING" else None
    facts.update(run=request.options.RUN, worker=at, served=is_served)
    if request.options.json:
        request.display.say([json.dumps(facts, indent=2)])
    else:
        request.display.say(run_lines(session, facts))
    return exit_code(facts["state"])


def report_run(request: Request) -> int:
    """Print a report of a run."""
    session, store = request.opened(request.options.RUN)
    state: Any = session.read_state()
    return show_report(session, state, run_state(store.legs[-1]))


def run_lines(session: Session, facts: Table) -> Iterator[str]:
    """Return the status of a run as one screen for a person."""
    yield from status_lines(session, facts)
    if facts["worker"] and facts["served"]:
        yield from ("", f"Worker {facts['worker']} runs it.")
    if facts["state"] in ("queued", "running", "paused") and not facts["served"]:
        start, adopt = session.call("worker"), session.call("resume", "--adopt")
        how = f"To start one: {start}" if facts["same_program"] else f"To continue with this version: {adopt}"
        yield from ("", f"No worker of the run's version is running. {how}")
    if facts["trouble"]:
        yield from ("", f"The worker could not continue: {facts['trouble']}")


def list_of_runs(request: Request) -> int:
    """List the runs that are not over, and the newest of the others."""
    options, database = request.options, request.database
    while True:
        legs = database.newest()
        if not options.waiting:
            legs = [*database.newest(is_over=True, most=0 if options.all else RECENT_RUNS), *legs]
        found = [(leg, run_state(leg)) for leg in legs]
        if options.waiting:
            found = [(leg, word) for leg, word in found if exit_code(word) == EXIT_WAITING]
        lines = [json.dumps([row_of(*each) for each in found], indent=2)] if options.json else table_of(found)
        if options.watch and request.display.is_terminal:
            lines = [f"\033[H\033[J{time.strftime('%H:%M:%S')}", *lines]
        request.display.put("\n".join(lines) + "\n", 1)
        if not options.watch:
            return EXIT_COMPLETE
        time.sleep(EVERY)


def row_of(leg: Leg, word: str) -> Table:
    """Return a run of the list as plain data."""
    found, worker = leg.result, leg.worker if word == "running" else None
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(leg.updated / 1000))
    about = {"run": leg.run, "state": word, "step": found.get("step"), "title": found.get("label")}
    return {**about, "message": found.get("message"), "since": since, "worker": worker}


def table_of(found: Sequence[tuple[Leg, str]]) -> list[str]:
    """Return the list of runs as a table."""
    rows = [("RUN", "STATE", "SINCE", "WHERE")]
    for leg, word in found:
        row = row_of(leg, word)
        where = row["message"] or row["title"] or row["worker"] or ""
        rows.append((leg.run, one_line(word).upper(), ago(now_ms() - leg.updated), one_line(str(where))))
    return aligned(rows) if found else ["There are no runs."]


def ago(milliseconds: int) -> str:
    """Return an age in seconds, minutes, hours or days."""
    seconds = max(milliseconds // 1000, 0)
    sizes = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))
    size, letter = next((each for each in sizes if seconds >= each[0]), sizes[-1])
    return f"{seconds // size}{letter}"


def prune(request: Request) -> int:
    """Delete old runs that are over, with their files on this machine."""
    age, database = re.fullmatch("([0-9]{1,6})([hdw])", request.options.older_than or ""), request.database
    if not age:
        raise UsageError("prune needs --older-than AGE, such as 12h, 30d or 8w")
    before = now_ms() - int(age[1]) * HOURS[age[2]] * 3600 * 1000
    gone = [leg for leg in database.newest(is_over=True) if leg.updated < before]
    directory = request.options.logs or os.path.join(".rdc", request.program["name"])
    for leg in gone:
        database.forget(leg)
        path = os.path.join(directory, leg.run)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
    return request.display.say([f"Deleted {len(gone)} run{'s' * (len(gone) != 1)}."])
