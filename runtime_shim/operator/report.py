"""A report of a run for a ticket, in Markdown, from its records. The same run gives the same text."""

import json
import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Callable, ClassVar

from runtime_shim.engine.display import duration
from runtime_shim.engine.journal import Record, picked
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import NOT_PASSED, Extension, Session, Subcommands
from runtime_shim.engine.state import State
from runtime_shim.engine.status import KNOWN, condition_of
from runtime_shim.engine.texts import clean, one_line, word_of
from runtime_shim.engine.times import is_decision, readable, timed
from runtime_shim.operator.history import look_at

LONGEST_REPORT, LONGEST_PART = 60_000, 15_000  # characters; GitHub takes 65,536 in a comment
LONGEST_TITLE, LONGEST_LINE_OF_LOG, LAST_LINES = 300, 200, 20
# A site turns these into links or mentions, even if they are escaped: a space of no width parts them.
LINKED = r"[@#!~%$&](?=\w)|:(?=//)|\bwww(?=\.)|\bgh-(?=\d)"
MARKUP = r"[&<>|\\`*_\[\]#~!@$\u200b]"
ANSI = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))"
Output = Callable[[int, str], str]


def cut(text: str, longest: int) -> str:
    """Return the start of a text that is too long."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def in_markdown(text: object, longest: int = LONGEST_TITLE) -> str:
    """Return a text on one line of Markdown that shows just this text: no HTML, link or mention."""
    parted = re.sub(LINKED, "\\g<0>\u200b", cut(one_line(str(text)), longest), flags=re.IGNORECASE)
    return re.sub(MARKUP, lambda found: f"&#{ord(found[0])};", parted)


def fenced(text: str) -> str:
    """Return the last lines of a log as a code block that they cannot close."""
    lines = re.sub(ANSI, "", text).rstrip().split("\n")[-LAST_LINES:]
    shown = [cut(clean(line.rstrip("\r").rpartition("\r")[2]), LONGEST_LINE_OF_LOG) for line in lines]
    ticks = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", "\n".join(shown)))])
    return "\n".join([f"{ticks}text", *shown, ticks])


def facts_of(program: Table, records: Sequence[Record], state: State, condition: str, output: Output) -> Table:
    """Return a run as plain data. `output` returns the end of the log of the step that ended N-th."""
    keys, steps = (*KNOWN, "node"), list[Table]()
    for number, one in enumerate(timed(state), 1):
        word, written = word_of(program["nodes"].get(one["node"], {}), one["outcome"]), one.pop("output", "")
        steps.append({"word": word, **picked(one, keys)})
        if one["outcome"] in NOT_PASSED and not is_decision(one):
            steps[-1]["log"] = written or output(number, one["node"])
    found, first = list(decisions_in(records, steps)), state.begin
    about = {"title": program["title"], "source": state.source, "run": first["run"], "state": condition}
    about.update(version=state.program[:8], started=first["time"], message=state.message, step=state.node)
    about.update(until=[one["time"] for one in (first, *state.finished) if "time" in one][-1])
    about["inputs"] = {key: one for key, one in first["registers"].items() if isinstance(one, str)}
    return {**about, "waited": sum(one.get("took", 0) for one in found), "steps": steps, "decisions": found}


def decisions_in(records: Sequence[Record], steps: Sequence[Record]) -> Iterator[Table]:
    """Return the decisions of people: replies, moves, and other records that they signed."""
    ended = 0
    for record in records:
        is_done, is_item = record["kind"] == "done", record["kind"] == "item"
        step = steps[ended] if ended < len(steps) else record
        if "by" in record or is_item or (is_done and is_decision(record)):
            by = record.get("by") or record["how"][len("answered by ") :] or "not recorded"
            item = f"{record['item']}. {record['text']}: {record['reply']}" if is_item else ""
            word = item or {"resume": "RUN AGAIN", "entry": "ANSWERED"}.get(record["kind"], record["kind"].upper())
            values = [one for one in record.get("changed", {}).values() if isinstance(one, str)]
            more = {"word": ": ".join([step["word"], *values]), "took": step["took"]} if is_done else {"word": word}
            about = {"step": f"{step.get('node', '')} {step.get('title', '')}", "by": by, **more}
            yield {**about, "time": record.get("time", ""), "note": record.get("note", "")}
        ended += is_done


def report_lines(facts: Table) -> list[str]:
    """Return a report as Markdown. If it is too long, the steps in the middle are left out first."""
    failures = shortened(list(failures_in(facts["steps"])), LONGEST_PART, "*failures left out: {}*\n")
    decisions = shortened([one_decision(one) for one in facts["decisions"]], LONGEST_PART, "- *left out: {}*")
    head, steps = list(head_of(facts)), [row_of_step(facts, step) for step in facts["steps"]]
    left = LONGEST_REPORT - sum(map(len, (*head, *failures, *decisions))) - 1000
    rows = shortened(steps, left, "| | *left out: {}* | | | |")
    lines = [*head, "## Steps", "", "| UTC | Step | Outcome | Time | Then |", "| --- | --- | --- | ---: | --- |", *rows]
    for title, part in (("## Decisions", decisions), ("## Failures", failures)):
        lines += ["", title, "", *part] if part else []
    return "\n".join(lines).split("\n")


def shortened(items: list[str], most: int, gap: str) -> list[str]:
    """Return items with those in the middle replaced by a line, if all are longer than so many characters."""
    sizes = [[*accumulate(len(item) + 1 for item in each)] for each in (items, items[::-1])]
    if not items or sizes[0][-1] <= most:
        return items
    first, last = (bisect(size, most // 2) for size in sizes)
    return [*items[:first], gap.format(len(items) - first - last), *items[len(items) - last :]]


def head_of(facts: Table) -> Iterator[str]:
    """Return the title, the result, and a table about the run."""
    word = in_markdown(facts["state"].upper())
    where = facts["message"] if word in ("COMPLETE", "STOP") else f"at {facts['step']}"
    yield from (f"# {in_markdown(facts['title'])}: {word}", "", f"**{word}** {in_markdown(where, 1000)}".rstrip(), "")
    people = ", ".join(sorted({one["by"] for one in facts["decisions"]})) or "no one"
    inputs = ", ".join(f"{name} = {cut(one, 100)}" for name, one in facts["inputs"].items()) or "none"
    waited = f", {duration(facts['waited'])} of it waiting for people" if facts["decisions"] else ""
    rows = {
        "Run": in_markdown(f"{facts['run']} of {facts['source']}, version {facts['version']}"),
        "Time": f"{in_markdown(readable(facts['started']))} to {in_markdown(readable(facts['until']))}{waited}",
        "Decided by": in_markdown(people, 500),
        "Inputs": in_markdown(inputs, 1500),
    }
    yield from ("| | |", "| --- | --- |", *(f"| {name} | {text} |" for name, text in rows.items()), "")


def row_of_step(facts: Table, step: Record) -> str:
    """Return a step as a row. Its time has a day if that is not the first one."""
    day, _, when = readable(step.get("started"))[:-4].partition(" ")
    shown = when if day == facts["started"][:10] else f"{day} {when}"
    word = f"**{in_markdown(step['word'])}**" if "log" in step else in_markdown(step["word"])
    how = step["how"].removesuffix(" here").removesuffix("answered")
    about = [how, f"by {step['by']}" if "by" in step else "", *step.get("remarks", ())]
    outcome = ", ".join([word, *map(in_markdown, filter(None, about))])
    cells = (in_markdown(shown), name_of_step(step), outcome, duration(step["took"]), in_markdown(step["says"]))
    return f"| {' | '.join(cells)} |"


def name_of_step(step: Record) -> str:
    """Return the name, title, instance and attempt of a step."""
    numbers = ".".join(map(str, step["instances"].values()))
    more = [f"instance {numbers}" if numbers else "", f"attempt {step['attempt']}" if step["attempt"] > 1 else ""]
    return ", ".join(map(in_markdown, filter(None, [f"{step['node']} {step['title']}", *more])))


def one_decision(one: Table) -> str:
    """Return a decision as an item of a list."""
    when, by, word = (in_markdown(one[key]) for key in ("time", "by", "word"))
    after = f" after {duration(one['took'])}" if "took" in one else ""
    note = f"\n  > “{in_markdown(one['note'], 2000)}”" if one["note"] else ""
    return f"- {readable(when)}{when and ', '}**{by}**: {in_markdown(one['step'])} **{word}**{after}{note}"


def failures_in(steps: Sequence[Record]) -> Iterator[str]:
    """Return a part for each failed step, with the end of its log."""
    before = ""
    for step in steps:
        if "log" not in step:
            continue
        log = fenced(step["log"]) if step["log"].strip() else "No log was written; `--logs` keeps one."
        is_same, before = log == before and step["log"].strip(), log
        how = f": {in_markdown(step['how'])}" if step["how"] else ""
        yield f"**{name_of_step(step)}**{how}\n\n{'The log is the same as before.' if is_same else log}\n"


def report(session: Session) -> int:
    """Print a report of a run."""
    state, is_busy = look_at(session, session.options.RUN), session.store.is_busy()
    return show_report(session, state, condition_of(state, is_busy))


def show_report(session: Session, state: State, condition: str) -> int:
    """Print a report of the run that a session reads."""
    records, logs = session.store.records(), session.at("output")
    facts = facts_of(session.program, records, state, condition, lambda *step: "".join(log(*step) for log in logs))
    return session.display.say([json.dumps(facts, indent=2)] if session.options.json else report_lines(facts))


class RunReports(Extension):
    """The subcommand `report`."""

    commands: ClassVar[Subcommands] = {"report": ("print a report for a ticket, in Markdown", report)}
    options = (("report", "--json", "", "print JSON"),)
