"""What `status`, `steps` and `run --dry-run` say."""

import collections
from typing import Optional

from runtime_shim.engine.program import Table
from runtime_shim.engine.session import Session
from runtime_shim.engine.state import ENDED, State
from runtime_shim.engine.texts import BINARY, duration, one_line, word_of
from runtime_shim.engine.walk import advance

ROUNDS = 10  # how often a step is shown in a dry run
ASSUMED = ("as assumed", "as the operator says")  # of commands that were interrupted: nobody knows their outcomes
RECENT = 12  # steps that are told, if there are more
KNOWN = ("title", "instances", "attempt", "outcome", "how", "says", "seconds", "by", "note")


def describe(session: Session, state: Optional[State], is_busy: bool) -> Table:
    """Return the state of a program as plain data."""
    program = session.program
    about = {key: program[key] for key in ("name", "title", "source")}
    if state is None:
        return {**about, "state": "none", "next": [session.call("run")]}
    for prepare in session.at("before_run"):
        prepare(state)
    node = program["nodes"].get(state.node, {"title": "", "task": ""})
    word = "running" if is_busy and state.condition not in ENDED else state.condition.replace("running", "interrupted")
    facts = {**about, "state": word, "run": state.begin["run"], "began": state.begin["time"], "step": state.node}
    facts["step_title"] = session.filled(node, "title", {**program["registers"], **state.registers})
    left, done = [one["pid"] for one in state.left_behind()], state.finished
    facts.update(message=state.message, same_program=session.is_same(state), pid=left[-1] if left else None)
    facts["finished"] = [{"step": one["node"], **{key: one[key] for key in KNOWN if key in one}} for one in done]
    for look in session.at("facts"):
        facts.update(look(state))
    return {**facts, "next": _next(session, node, facts)}


def _next(session: Session, node: Table, facts: Table) -> list[str]:
    """Return the commands that make sense now."""
    word, adopt = facts["state"], [] if facts["same_program"] else ["--adopt"]
    if word == "running":
        return []
    if word == "expired":
        return [session.call("run")]
    if word == "stop" and "steps" in facts:  # a specification's failed step is tried again
        return [session.call("resume", *adopt), session.call("run")]
    if word in ENDED or (adopt and node["task"] not in session.kinds):
        return [*session.gathered("again", facts), session.call("run" if word in ENDED else "reset")]
    choices: list[list[str]] = [[]]
    if word == "interrupted":
        outcomes = node.get("words", BINARY) if facts["pid"] is None else ()  # what goes on has no outcome yet
        choices = [["--rerun-interrupted"], *(["--assume", outcome] for outcome in outcomes)]
    waits = session.gathered("answers", node, facts["step"]) if word == "waiting" and not adopt else []
    return [*waits, *(session.call("resume", *adopt, *choice) for choice in choices)]


def status_lines(session: Session, facts: Table) -> list[str]:
    """Return the state of a program as one screen for a person."""
    lines = [one_line(f"{facts['title']} ({facts['source']})")]
    if facts["state"] == "none":
        lines.append("No run has begun here.")
    else:
        is_ended, done = facts["state"] in ENDED, facts["finished"]
        where = facts["message"] if is_ended else f"at {facts['step']} {facts['step_title']}"
        lines += [f"run {facts['run']}", one_line(f"{facts['state'].upper()} {where}")]
        if facts["pid"] is not None:
            is_alone = facts["state"] != "running"
            said = ": wait until it ends, or let rdc stop it and run it again." if is_alone else "."
            lines.append(f"Its command {'still runs' if is_alone else 'is running'} (pid {facts['pid']}){said}")
        if not facts["same_program"]:
            whose = "was an earlier" if is_ended else "run belongs to a different"
            lines.append(f"This {whose} version of the program.")
        lines += [""][: len(done)]
        lines += session.gathered("lines", facts, None)
        if len(done) > RECENT:
            lines.append(f"  ... {len(done) - RECENT} steps before these")
        for record in done[-RECENT:]:
            attempt = f", attempt {record['attempt']}" if record["attempt"] > 1 else ""
            step = one_line(f"{record['step']} {record['title']}")
            word = word_of(session.program["nodes"].get(record["step"], {}), record["outcome"])
            how = ", as assumed" if record["how"] in ASSUMED else ""
            lines.append(f"  {word:4}  {step}{attempt}, {duration(record['seconds'])}{how}")
            lines += session.gathered("lines", facts, record)
    if facts["next"]:
        lines += ["", "What to do next:", *(f"  {command}" for command in facts["next"])]
    return lines


def steps_lines(session: Session) -> list[str]:
    """Return the steps of a program as a table."""
    doing = [(name, session.program["nodes"][name]) for name in session.places]
    rows = [(name, node["task"], one_line(node["title"]), one_line(node["at"])) for name, node in doing]
    rows.insert(0, ("STEP", "KIND", "TITLE", "SOURCE"))
    widths = [max(map(len, column)) for column in zip(*rows)]  # noqa: B905 - Python 3.9 has no `strict`
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def preview(session: Session) -> list[str]:
    """Walk without doing anything and return the lines that tell of it."""
    nodes, state = session.program["nodes"], session.state
    visits: collections.Counter[str]
    lines: list[str]
    visits, lines = collections.Counter(), []
    while nodes[state.node]["task"] != "end":
        name, node, performer = state.node, nodes[state.node], session.performers[state.node]
        visits[name] += 1
        if visits[name] > ROUNDS:
            return [*lines, f"It would go round from {session.label(name)} again: the path ends here."]
        done = performer.preview(name, node)
        move = advance(session.program, name, state.registers, done.outcome, done.verbs)
        lines += [session.label(name), *(line for key in performer.keys for line in session.texts(node, key))]
        lines.append(f"  {word_of(node, done.outcome)} ({done.how}): {one_line(move.says)}".rstrip(": "))
        state.node, state.registers = move.node, dict(move.registers)
    message = one_line(session.filled(nodes[state.node], "message"))
    return [*lines, f"The run would end: {nodes[state.node]['result'].upper()} {message}".rstrip()]
