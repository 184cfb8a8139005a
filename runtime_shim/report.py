"""What `status` and `steps` say."""

from collections.abc import Iterable
from typing import Callable, Optional

from runtime_shim.dialog import word_of, words_of
from runtime_shim.display import duration, one_line
from runtime_shim.journal import Record
from runtime_shim.program import Table, program_hash
from runtime_shim.session import FACTS, PERFORMERS, RECENT
from runtime_shim.state import ENDED, State
from runtime_shim.walk import filled

OTHER = "This run belongs to a different version of the program."


def describe(program: Table, state: Optional[State], busy: bool, call: Callable[..., str]) -> Table:
    """Return the state of a program as plain data."""
    about = {"name": program["name"], "title": program["title"], "source": program["source"]}
    if state is None:
        return {**about, "state": "none", "next": [call("run")]}
    word = condition_in_words(state, busy)
    unit = program["units"].get(state.node, {"title": "", "task": ""})
    is_same = state.program == program_hash(program)
    running = _running(unit, state) if word == "interrupted" else []
    registers = {**program.get("registers", {}), **state.registers}
    decisions = [("--rerun-interrupted",), *(("--assume", word) for word in words_of(unit))]
    decisions = decisions[:1] if running else decisions  # nobody assumes what is still going on
    if is_same:
        todo = what_to_do(unit, state.node, word, decisions, call)
    else:
        todo = what_to_adopt(unit, word, decisions, call)
    known = ("unit", "title", "instances", "attempt", "outcome", "how", "says", "seconds")
    told = {name: value for look in FACTS for name, value in look(program, state).items()}
    return {
        **about,
        "state": word,
        "run": state.begin["run"],
        "began": state.begin["time"],
        "unit": state.node,
        "unit_title": filled(unit, unit["title"], registers),
        "message": state.message,
        "same_program": is_same,
        "pid": running[0]["pid"] if running else None,
        "finished": [{key: record[key] for key in known} for record in state.finished],
        **told,
        "next": todo,
    }


def condition_in_words(state: State, busy: bool) -> str:
    """Return the state of a run in one word."""
    if state.condition == "running" and not busy:
        return "interrupted"
    return "running" if busy else state.condition


def what_to_do(
    unit: Table, name: str, word: str, decisions: Iterable[tuple[str, ...]], call: Callable[..., str]
) -> list[str]:
    """Return the commands that make sense now."""
    if word == "running":
        return []
    if word == "waiting":
        performer = PERFORMERS[unit["task"]]
        answers = [
            call("answer", one, reply) for one in performer.names(name, unit) for reply in performer.replies(unit)
        ]
        return [*answers, call("resume")]
    if word == "interrupted":
        return [call("resume", *how) for how in decisions]
    return [call("resume")] if word == "ready" else [call("run")]


def what_to_adopt(unit: Table, word: str, decisions: Iterable[tuple[str, ...]], call: Callable[..., str]) -> list[str]:
    """Return the commands that make sense with a run of another version of the program."""
    if word == "running":
        return []
    if word in ENDED:
        return [call("run")]
    if unit["task"] not in PERFORMERS:
        return [call("reset")]
    if word == "interrupted":
        return [call("resume", "--adopt", *how) for how in decisions]
    return [call("resume", "--adopt")]


def _running(unit: Table, state: State) -> list[Record]:
    performer = PERFORMERS.get(unit["task"])
    return performer.running(state.notes) if performer is not None else []


def status_lines(program: Table, facts: Table) -> list[str]:
    """Return the state of a program as one screen for a person."""
    lines = [one_line(f"{program['title']} ({program['source']})")]
    if facts["state"] == "none":
        lines.append("No run has begun here.")
    else:
        where = facts["message"] if facts["state"] in ENDED else f"at {facts['unit']} {facts['unit_title']}"
        lines += [f"run {facts['run']}", one_line(f"{facts['state'].upper()} {where}")]
        if facts["pid"] is not None:
            lines.append(f"Its command still runs (pid {facts['pid']}): wait for its end, or end it and run it again.")
        if not facts["same_program"]:
            lines.append("This was an earlier version of the program." if facts["state"] in ENDED else OTHER)
        done = facts["finished"]
        lines += [""][: len(done)]
        if len(done) > RECENT:
            lines.append(f"  ... {len(done) - RECENT} units before these")
        for record in done[-RECENT:]:
            attempt = f", attempt {record['attempt']}" if record["attempt"] > 1 else ""
            unit = one_line(f"{record['unit']} {record['title']}")
            told = f"{unit}{attempt}, {duration(record['seconds'])}"
            word = word_of(program["units"].get(record["unit"], {}), record["outcome"])
            lines.append(f"  {word:4}  {told}")
    if facts["next"]:
        lines += ["", "What to do next:", *(f"  {command}" for command in facts["next"])]
    return lines


def steps_lines(program: Table) -> list[str]:
    """Return the units of a program as a table."""
    rows = [("UNIT", "KIND", "TITLE", "SOURCE")]
    for name, unit in program["units"].items():
        if unit["task"] not in ("branch", "end"):
            rows.append((name, unit["task"], one_line(unit["title"]), one_line(unit["at"])))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return ["  ".join([*(row[i].ljust(widths[i]) for i in range(3)), row[3]]) for row in rows]
