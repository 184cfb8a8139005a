"""The end of a job: write the run summary with the picture of the run, and keep the run for other jobs."""

import copy
import os
import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Callable

from runtime_shim.engine.journal import Record, read_journal
from runtime_shim.engine.program import EXIT_COMPLETE, Table
from runtime_shim.engine.state import State
from runtime_shim.engine.texts import word_of, words_of
from runtime_shim.engine.walk import filled
from runtime_shim.operator.logs import end_of_log
from runtime_shim.operator.report import facts_of, report_lines
from runtime_shim.targets.github.api import (
    DECISIONS,
    STATE,
    HaltError,
    is_approved,
    passed_gates,
    unapproved,
    workflow_path,
)
from runtime_shim.targets.github.calls import Job
from runtime_shim.targets.github.changes import CHANGES, check_secrets
from runtime_shim.targets.github.journal_check import check_records
from runtime_shim.targets.github.messages import annotation, as_block, as_cell, as_word, plain
from runtime_shim.targets.github.saved_run import ANSWERS_FILE, KEPT, keep_run, unsaved
from runtime_shim.targets.github.script import words_of_places
from runtime_shim.targets.naming import name_in_words
from runtime_shim.tasks.ask import ITEM
from runtime_shim.values.secrets import in_strings, masked

MOST_NODES = 150  # GitHub draws no larger pictures
LONGEST_LABEL = 60  # characters in the picture
LONGEST_ISSUE = 20_000  # characters
BAD = ("fail", "failed", "no", "rejected", "none", "invalid", "ambiguous")
# Mermaid interprets a label twice, as the target mermaid explains: these are parted by a space of no width, or codes.
PARTED = r"\$(?=\$)|\\(?=\S)|:(?=\S)|@(?=\S)|www(?=\.)|\](?=\()|^[-+*]+(?=\s)|^\#+(?=\s)|^[0-9]+[.)](?=\s)"
UNSAFE = r'["#$%&*;:<>@\[\\\]^`|~\ufb02\xb6\u200b]|(?<=direction)\s'
SHAPES = {"branch": ("{", "}"), "end": ("(", ")")}


def put_question(program: Table, state: State, is_handed: bool) -> str:
    """Return the question of a waiting step as a block, and what replies lead to if another job asks for them."""
    node = program["nodes"][state.node]
    shown = [filled(node, str(node.get(key) or ""), state.registers) for key in ("reason", "prompt", "block")]
    listed = [_item_line(number, text, note) for number, text, note in _items(node, state)]
    rule = "PASS confirms all open items." if listed else ""
    handed = [f"{_as_shown(node, reply)}: {where}" for reply, where in replies_to(program, state) if is_handed]
    shown = [text.strip("\n") for text in shown]
    parts = [_name(program, state.node, state), *shown, "\n".join(listed), rule, "\n".join(handed)]
    return as_block("\n\n".join(filter(None, parts)))


def _items(node: Table, state: State) -> list[tuple[int, str, Record]]:
    """Return the items of a waiting question's checklist, each with the record of its answer or an empty one."""
    notes = {note.get("item"): note for note in state.notes if note["kind"] == "item"}
    items = [filled(node, item, state.registers) for item in node.get("items", ())]
    return [(number, item, notes.get(number, {})) for number, item in enumerate(items, 1)]


def _item_line(number: int, text: str, note: Record) -> str:
    details = [text, *(str(note[key]) for key in ("reply", "by", "note") if note.get(key))]
    return plain(f"{'[x]' if note else '[ ]'} {number}. {', '.join(details)}")


def replies_to(program: Table, state: State) -> list[tuple[str, str]]:
    """Return the replies to a waiting step, each with its end or next step."""
    node = program["nodes"][state.node]
    due = [number for number, _, note in _items(node, state) if not note]
    first = [(f"{ITEM}{number} done", f"confirm item {number}") for number in due[:1]]
    if node["task"] == "ask":
        replies = zip(node.get("question", "pass/fail").split("/"), words_of(node))
    elif node["task"] in DECISIONS:
        replies = zip(DECISIONS[node["task"]], DECISIONS[node["task"]])
    elif node["task"] == "value":
        values = node["asks"].get("options", ["VALUE"])
        replies = zip([*values, "fail"], [*(["pass"] * len(values)), "fail"])
    elif node["task"] == "select":
        options = [filled(node, option, state.registers) for option in node.get("options", words_of(node))]
        replies = zip(options, words_of(node) if "options" not in node else ["pass"] * len(options))
    else:
        replies = zip(["TEXT"], ["pass"])
    return [*first, *((reply, _where(program, state, outcome)) for reply, outcome in replies)]


def _where(program: Table, state: State, outcome: str) -> str:
    """Return what a reply to a waiting step leads to: an end with its message, or a step."""
    edges = [each for each in program["nodes"][state.node]["edges"] if each.get("on", outcome) == outcome]
    return " or ".join(dict.fromkeys(_end_or_step(program, state, edge["go"]) for edge in edges))


def _end_or_step(program: Table, state: State, name: str) -> str:
    node = program["nodes"][name]
    if node["task"] != "end":
        return f"continue with {_name(program, name, state)}"
    message = plain(filled(node, node.get("message", ""), state.registers))
    return f"{node['result'].upper()}{message and f' {message}'}"


def _as_shown(node: Table, reply: str) -> str:
    return reply.upper() if node["task"] == "ask" and not reply.startswith(ITEM) else plain(reply)


def _name(program: Table, name: str, state: State) -> str:
    node = program["nodes"].get(name, {})
    return plain(name_in_words(name, filled(node, node.get("title", ""), state.registers)))


def draw_flow(program: Table, finished: list[Record]) -> str:
    """Return the flow as a picture with finished steps colored; "" if it is too large."""
    is_stepspec = "stepspec" in program
    known = program["stepspec"]["steps"] if is_stepspec else program["nodes"]
    names = {name: f"s{number}" for number, name in enumerate(known)}
    lines = _of_steps(names) if is_stepspec else _of_nodes(program, names)
    if len(names) > MOST_NODES:
        return ""
    outcomes = {}
    for record in finished:
        step = program["nodes"].get(record["node"], {}).get("step", record["node"])
        is_answer = program["nodes"].get(record["node"], {}).get("task") in ("ask", "confirm", "value")
        outcomes[step] = "failed" if record["outcome"] in BAD and not is_answer else "passed"
    classes = [f"class {names[name]} {how}" for name, how in outcomes.items() if name in names]
    styles = ["classDef passed fill:#d3f0d3,stroke:#1a7f37", "classDef failed fill:#ffd8d3,stroke:#cf222e"]
    return "\n".join(["", "```mermaid", "graph TD", *lines, *styles, *classes, "```", ""])


def _label(text: str) -> str:
    shown = re.sub(PARTED, "\\g<0>\u200b", plain(text)[:LONGEST_LABEL])
    return re.sub(UNSAFE, lambda found: f"#{ord(found[0])};", shown) or " "


def _of_steps(names: dict[str, str]) -> Iterator[str]:
    for name, identifier in names.items():
        yield f'{identifier}["{_label(name)}"]'
    yield from (f"{one} --> {other}" for one, other in zip(names.values(), list(names.values())[1:]))


def _of_nodes(program: Table, names: dict[str, str]) -> Iterator[str]:
    for name, node in program["nodes"].items():
        text = _label(f"{name} {node.get('title', '')}".strip())
        if node["task"] == "end":
            text = _label(f"{str(node['result']).upper()} {node.get('message', '')}".strip())
        begin, end = SHAPES.get(node["task"], ("[", "]"))
        yield f'{names[name]}{begin}"{text}"{end}'
        for edge in node.get("edges", ()):
            word = word_of(node, edge["on"]) if "on" in edge else edge.get("says", "")
            shown = f'|"{_label(word)}"|' if word.strip() else ""
            yield f"{names[name]} -->{shown} {names[edge['go']]}"


def how_to_continue(program: Table, state: State, branch: str) -> str:
    """Return how to continue this run in another one: with each possible reply, if a step is waiting for one."""
    branch = branch or os.environ.get("GITHUB_REF_NAME", "")
    words = ["gh", "workflow", "run", os.path.basename(workflow_path()), "--ref", branch]
    command = f"{' '.join(map(shlex.quote, words))} -f resume={os.environ['GITHUB_RUN_ID']}"
    if state.condition != "waiting" or "stepspec" in program:
        return f"\nTo continue, start this workflow again with the number of this run:\n\n    {plain(command)}\n"
    node, lines = program["nodes"][state.node], []
    for reply, where in replies_to(program, state):
        answer = shlex.quote(f"{state.node} {reply}")
        lines += [f"{_as_shown(node, reply)}: {where}", f"    {plain(f'{command} -f answers={answer}')}"]
    about = "with your answer and the number of this run"
    return f"\nTo continue, start this workflow again {about}:\n\n" + as_block("\n".join(lines))


def close(job: Job, part: list[str]) -> int:
    """Write the run summary, and keep the run for another job or run. Gets all secrets to mask them."""
    state = job.state()
    if state is None or not job.is_open():  # the first step reported why
        return EXIT_COMPLETE
    check_records(job.program, read_journal(job.path("rdc/journal"))[0])  # a step may have changed it
    approved, gates, words = job.words("APPROVED"), job.gates(), words_of_places(job.program)
    for record in passed_gates(state.finished, gates):
        if is_approved(record) and words[record["node"]] not in approved:
            raise unapproved([record])
    place = job.place_of(state)
    is_over, is_handed = state.condition in ("complete", "stop"), place in job.words("ONWARD")
    is_waiting = state.condition == "waiting" and not is_handed
    job.runner.output("next", place)
    shown = _without_secrets(state, job.mask)
    _tell(job, shown, is_handed, is_waiting)
    _keep_texts(job)
    if is_handed or is_waiting or ("stepspec" in job.program and state.condition != "complete"):
        _keep(job, state, f"{STATE}-{part[0]}" if is_handed else STATE)
        _say_how_to_go_on(job, shown, is_handed)
    if state.condition == "complete":
        _leave(job)
    if not (is_over or is_handed or is_waiting or state.condition == "running"):
        raise HaltError("rdc", f"The run has no result: it is at {state.node}, but no step of the workflow follows")
    return EXIT_COMPLETE


def _without_secrets(state: State, mask: Callable[[str], str]) -> State:
    shown = copy.copy(state)
    shown.message, shown.registers = mask(state.message), in_strings(mask, state.registers)
    shown.finished = [masked(mask, record) for record in state.finished]
    return shown


def _tell(job: Job, state: State, is_handed: bool, is_waiting: bool) -> None:
    """Write the run summary: its question or result, and its steps."""
    mask, program, waits = job.mask, job.program, state.condition == "waiting"
    said = (f"WAITING {state.node}" if waits else f"{state.condition.upper()} {state.message}").strip()
    if waits or state.condition in ("complete", "stop"):
        job.runner.page(mask(f"### {as_cell(said[: LONGEST_LABEL * 30])}\n"))
        print(plain(f"rdc: {said}"), flush=True)
    if waits:
        job.runner.page(mask(put_question(program, state, is_handed)))
        if output := end_of_log(job.path("rdc/journal"), state.finished):
            job.runner.page(mask(f"\nThe output of the step before it ends with:\n{as_block(output)}"))
    if is_waiting:
        job.lines.append(
            annotation("warning", "WAITING", mask(f"{state.node} needs an answer: {_name(program, state.node, state)}"))
        )
    if is_handed:
        return
    records = read_journal(job.path("rdc/journal"))[0]
    facts = facts_of(program, records, state, state.condition, lambda *_step: "")
    job.runner.page("\n".join(report_lines(in_strings(mask, facts))) + "\n")
    if "stepspec" in program:
        job.runner.page(mask(job.printed("timeline", "--markdown")))
    job.runner.page(mask(draw_flow(program, state.finished)))


def _keep_texts(job: Job) -> None:
    mask, folder = job.mask, job.path("rdc-transcript")
    for name in sorted(os.listdir(job.path("rdc"))):
        path = os.path.join(job.path("rdc"), name)
        is_kept = name in ("prompts", "answers", "reports", "logs", "journal") or name.startswith("run-")
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
        if masked(mask, record) != record:
            raise unsaved("the output of an earlier step contains a secret of another step")
    about = {"run": os.environ["GITHUB_RUN_ID"], "attempt": os.environ["GITHUB_RUN_ATTEMPT"]}
    keep_run(job.path(KEPT), job.path("rdc"), job.path(ANSWERS_FILE), about, job.masks())
    job.runner.output("kept", name)


def _say_how_to_go_on(job: Job, state: State, is_handed: bool) -> None:
    if is_handed and "stepspec" not in job.program:
        return
    if job.said("HEAD") not in ("", os.environ["GITHUB_REPOSITORY"]):
        says = "This run was started from a fork, so it cannot be continued."
        job.runner.page(f"\n{says} Run the workflow on a branch of this repository.\n")
        return
    following = how_to_continue(job.program, state, job.said("BRANCH"))
    job.runner.page(job.mask(following))
    if job.said("ISSUE") and not is_handed and state.condition == "waiting":
        title = f"{job.program['title'] or job.program['name']} waits at {_name(job.program, state.node, state)}"
        text = job.mask(put_question(job.program, state, False) + following)[:LONGEST_ISSUE]
        job.runner.output("issue", as_word([job.mask(title), re.sub("(?m)^    ", "", text)]))
    if job.said("CALLED"):
        job.runner.page("\nIf another workflow called this one, this run cannot be continued.\n")


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
    if "stepspec" in job.program and job.run("outputs", "--to", job.path("rdc-outputs")):
        job.lines.append(annotation("warning", "Outputs", "Some outputs were not kept; see the log"))
