"""The output of `status`, `steps` and `run --dry-run`, and an operator's next commands."""

import collections
import json
from collections.abc import Iterator, Sequence

from runtime_shim.engine.display import duration
from runtime_shim.engine.journal import picked
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import Performer, Session
from runtime_shim.engine.state import ENDED, State, differences, is_over
from runtime_shim.engine.texts import one_line, word_of, words_of
from runtime_shim.engine.times import readable, timed
from runtime_shim.engine.walk import advance

ROUNDS = 10  # most visits to a step in a dry run
ASSUMED = ("as assumed", "set by the operator")  # for interrupted commands
RECENT = 12  # most steps shown
KNOWN = (
    *("title", "instances", "attempt", "outcome", "how", "says", "seconds", "by", "note", "time", "output", "remarks"),
    *("items", "started", "took"),
)


def condition_of(state: State, is_busy: bool) -> str:
    """Return a run's condition for people: it is `running` only while a process works on it."""
    condition = str(state.condition)
    is_working = is_busy and condition not in (*ENDED, "waiting")
    return "running" if is_working else condition.replace("running", "interrupted")


def choices(session: Session, state: State, condition: str) -> list[tuple[str, str]]:
    """Return the operator's next commands, each after its purpose."""
    call, node = session.call, session.program["nodes"].get(state.node, {"task": ""})
    adopt = () if session.is_same(state) else ("--adopt",)
    if condition in (*ENDED, "expired"):
        again = session.gathered("again", state)
        is_free = not (is_over(state) or again) and all(session.each("may_retry", state))
        retry = [("to run the failed step again", call("retry", *adopt))] if is_free else []
        return [*retry, *again, ("to start a new run", call("run"))]
    if adopt and session.unfit(state):
        return [("to archive it", call("reset"))]
    if condition == "interrupted":
        words, can_rerun = decidable(state, node)
        rerun = [("to run it again", call("resume", *adopt, "--rerun-interrupted"))] if can_rerun else []
        return [*rerun, *((f"to assume {word}", call("resume", *adopt, "--assume", word)) for word in words)]
    kind = session.kinds[node["task"]] if condition == "waiting" and not adopt else Performer
    names = kind.names(state.node, node)
    waits = [("to answer", answering(session, name, reply)) for name in names for reply in kind.replies(node)]
    found = (not adopt and session.gathered("choices", state, condition)) or waits
    return [*found, ("to continue", call("resume", *adopt))]


def decidable(state: State, node: Table) -> tuple[Sequence[str], bool]:
    """Return the outcomes that an interrupted step may have, and whether it can run again."""
    return ((), True) if state.running_processes() else (words_of(node), not state.left())


def answering(session: Session, name: str, reply: str) -> str:
    """Return the command that answers a step; the reply `-` comes from a file."""
    return session.call("answer", name, reply) + " < FILE" * (reply == "-")


def told_by(record: Table) -> str:
    """Return who decided and why, as text."""
    return ": ".join([f"by {record['by']}", *filter(None, [record.get("note")])]) if "by" in record else ""


def hints(session: Session, condition: str) -> list[str]:
    """Return the next commands for this run as lines."""
    return [f"{what}: {command}" for what, command in choices(session, session.state, condition)]


def describe(session: Session, state: "State | None", is_busy: bool) -> Table:
    """Return the status as plain data."""
    program = session.program
    facts = {key: program[key] for key in ("name", "title", "source")}
    if state is None:
        return session.through("described", {**facts, "state": "none", "next": [session.call("run")]}, state)
    session.each("before_run", state)
    is_same, word = session.is_same(state), condition_of(state, is_busy)
    unfit = "" if is_same or word in ENDED else session.unfit(state)
    at = state.node if is_same else session.names_in(state).get(state.node, "")
    node, own = program["nodes"].get(at, {"title": ""}), {step[0]: step[2] for step in state.steps}
    node = {**picked(node, ("placeholders",)), "title": own.get(state.node, "")} if unfit else node  # as it was asked
    facts.update(state=word, run=state.begin["run"], began=state.begin["time"], step=state.node)
    now = {**program["registers"], **state.registers}
    facts["step_title"] = session.filled(node, "title", now)
    asked = "\n".join(session.filled(node, key, now) for key in ("prompt", "reason")).strip() * (word == "waiting")
    facts["question"] = session.mask(asked.partition("\n")[0].strip())
    pid = [None, *(one["pid"] for one in state.running_processes())][-1]
    done = [{"step": one["node"], **picked(one, KNOWN)} for one in timed(state)]
    facts.update(pid=pid, left=state.left(), since=[state.begin, *state.finished][-1].get("time", ""))
    facts.update(message=f"{unfit}; restore the old version" if unfit else state.message, same_program=is_same)
    facts.update(finished=done, changes=[] if is_same else differences(state.nodes, session.identity()["nodes"]))
    facts.update({"holder": session.store.holder() if is_busy else "", **session.merged("facts", state)})
    takes = not is_busy or (is_same and facts["holder"] and session.at("enter"))
    found = choices(session, state, facts["state"]) if takes else ()
    following = [command for purpose, command in found if purpose != "to continue" or not is_busy]
    return session.through("described", {**facts, "next": following}, state)


def status(session: Session) -> int:
    """Print the status, also that of another version's run."""
    is_busy = session.store.is_busy()  # first: it may end in between
    facts = describe(session, session.read(), is_busy)
    return session.display.say([json.dumps(facts, indent=2)] if session.options.json else status_lines(session, facts))


def status_lines(session: Session, facts: Table) -> Iterator[str]:
    """Return the status as one screen for a person."""
    word, done = facts["state"], facts.get("finished", ())
    yield one_line(f"{facts['title']} ({facts['source']})")
    if word == "none":
        yield "No run has started here."
    else:
        where = facts["message"] if word in ENDED else f"at {facts['step']} {facts['step_title']}"
        since = f", {('since', 'ended')[word in ENDED]} {readable(facts['since'])}" * bool(facts["since"])
        yield from (one_line(f"run {facts['run']}{since}"), one_line(f"{word.upper()} {where}"))
        if facts["left"] and (facts["pid"] or word != "running"):
            yield f"Its command is running (pid {facts['pid']})." if word == "running" else facts["left"].capitalize()
        if facts["holder"]:
            yield f"A process {'asks' if word == 'waiting' else 'runs'} now: {facts['holder']}."
        if not facts["same_program"]:
            why = [*facts["changes"], *filter(None, [facts["message"]] * (word not in ENDED))]
            yield one_line(f"This run belongs to a different version of the program: {'; '.join(why)}.")
        yield from (*[""][: len(done)], *session.gathered("lines", facts, None))
    if len(done) > RECENT:
        yield f"  ... {len(done) - RECENT} earlier steps"
    for record in done[-RECENT:]:
        outcome = word_of(session.program["nodes"].get(record["step"], {}), record["outcome"])
        attempt = f", attempt {record['attempt']}" if record["attempt"] > 1 else ""
        how, step = ", as assumed" * (record["how"] in ASSUMED), one_line(f"{record['step']} {record['title']}")
        when = f" at {readable(record['started'])}" if "started" in record else ""
        yield f"  {outcome:4}  {step}{attempt}, {duration(record['took'])}{when}{how}"
        yield from (f"        {one_line(remark)}" for remark in record.get("remarks", ()))
        yield from session.gathered("lines", facts, record)
    yield from ("", "What to do next:", *(f"  {command}" for command in facts["next"])) if facts["next"] else ()


def steps(session: Session) -> int:
    """Print the steps as a table."""
    nodes, keys = session.program["nodes"], ("task", "title", "at")
    rows = [(name, *(one_line(nodes[name][key]) for key in keys)) for name in session.places]
    return session.display.say(aligned([("STEP", "KIND", "TITLE", "SOURCE"), *rows]))


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines with their columns aligned."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def preview(session: Session) -> Iterator[str]:
    """Return lines that show the path of a run, without running anything."""
    nodes, state = session.program["nodes"], session.state
    visits: collections.Counter[str] = collections.Counter()
    while nodes[state.node]["task"] != "end":
        name, node, performer = state.node, nodes[state.node], session.performers[state.node]
        visits[name] += 1
        if visits[name] > ROUNDS:
            yield f"{session.label(name)} would repeat again. The dry run ends here."
            return
        done = performer.preview(name, node)
        move = advance(session.program, name, state.registers, done.outcome, done.verbs)
        yield from (session.label(name), *(line for key in performer.keys for line in session.texts(node, key)))
        yield f"  {word_of(node, done.outcome)} ({done.how}): {one_line(move.says)}".rstrip(": ")
        state.node, state.registers = move.node, dict(move.registers)
    message = one_line(session.filled(nodes[state.node], "message"))
    yield f"The run would end: {nodes[state.node]['result'].upper()} {message}".rstrip()
