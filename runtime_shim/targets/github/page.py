"""The run summary: its state, its steps with outcome and time, the flow, and how to continue it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator

from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import Table
from runtime_shim.engine.state import State
from runtime_shim.engine.texts import word_of, words_of
from runtime_shim.engine.walk import filled
from runtime_shim.targets.github.api import workflow_path
from runtime_shim.targets.github.gates import DECISIONS
from runtime_shim.targets.github.says import as_block, as_cell, plain
from runtime_shim.targets.naming import name_in_words

MOST_ROWS = 2000
MOST_NODES = 150  # GitHub draws no larger pictures
LONGEST_LABEL = 60  # characters in the picture
BAD = ("fail", "failed", "no", "rejected", "none", "invalid", "ambiguous")
# Mermaid interprets a label twice, as the target mermaid explains: these are parted by a space of no width, or codes.
PARTED = r"\$(?=\$)|\\(?=\S)|:(?=\S)|@(?=\S)|www(?=\.)|\](?=\()|^[-+*]+(?=\s)|^\#+(?=\s)|^[0-9]+[.)](?=\s)"
UNSAFE = r'["#$%&*;:<>@\[\\\]^`|~\ufb02\xb6\u200b]|(?<=direction)\s'
SHAPES = {"branch": ("{", "}"), "end": ("(", ")")}


def heading(word: str, message: str) -> str:
    """Return the state of a run as a heading."""
    return f"### {as_cell(f'{word} {message}'.strip()[: LONGEST_LABEL * 30])}\n"


def put_question(program: Table, state: State) -> str:
    """Return the question of a waiting step, and its replies, as a block."""
    node = program["nodes"][state.node]
    parts = [
        filled(node, str(node.get(key) or ""), state.registers).strip("\n") for key in ("reason", "prompt", "block")
    ]
    return as_block("\n\n".join(filter(None, [*parts, _replies_in_words(node, state)])))


def replies_to(node: Table, state: State) -> list[str]:
    """Return the replies of a step; none if it takes any text."""
    if node["task"] == "ask":
        return [word.upper() for word in node.get("question", "pass/fail").split("/")]
    if node["task"] in DECISIONS:
        return [*DECISIONS[node["task"]]]
    if node["task"] != "select":
        return []
    options = node["options"] if "options" in node else words_of(node)
    return [filled(node, option, state.registers) for option in options]


def first_reply(program: Table, state: State) -> str | None:
    """Return an example of a reply to the waiting step; None if no step is waiting for one."""
    node = program["nodes"].get(state.node, {"task": ""})
    if state.condition != "waiting" or "contract" in program:
        return None
    words = replies_to(node, state)
    return words[0].lower() if words and node["task"] == "ask" else words[0] if words else "TEXT"


def _replies_in_words(node: Table, state: State) -> str:
    words = replies_to(node, state)
    if not words:
        return "Answer with text."
    return f"Answer {' or '.join(words)}." if len(words) < 4 else "Answer one of:\n\n" + "\n".join(words)


def table_of_steps(program: Table, finished: list[Record]) -> str:
    """Return the finished steps of a run as a table."""
    rows = ["| Step | Attempt | Outcome | Time |", "| --- | ---: | --- | ---: |"]
    rows += [_row_of_step(program, record) for record in finished[:MOST_ROWS]]
    rows += ["| and more | | | |"] if finished[MOST_ROWS:] else []
    return "\n".join(["", *rows, ""])


def _row_of_step(program: Table, record: Record) -> str:
    node = program["nodes"].get(record["node"], {"task": ""})
    numbers = record.get("instances", {}).values()
    instance = f", instance {'.'.join(map(str, numbers))}" if numbers else ""
    by = f" ({as_cell(record['by'])})" if record.get("by") else ""
    called = name_in_words(record["node"], record.get("title", ""))
    outcome, seconds = as_cell(word_of(node, record["outcome"])), round(record.get("seconds", 0))
    remarks = "".join(f"; {as_cell(remark)}" for remark in record.get("remarks", ()))
    return f"| {as_cell(called)}{instance} | {record.get('attempt', 1)} | {outcome}{by}{remarks} | {seconds} s |"


def draw_flow(program: Table, finished: list[Record]) -> str:
    """Return the flow as a picture with finished steps colored; "" if it is too large."""
    lines, names = list(_of_steps(program)) if "contract" in program else list(_of_nodes(program)), _ids(program)
    if len(names) > MOST_NODES:
        return ""
    outcomes = {}
    for record in finished:
        step = program["nodes"].get(record["node"], {}).get("step", record["node"])
        is_answer = program["nodes"].get(record["node"], {}).get("task") in ("ask", "confirm")
        outcomes[step] = "failed" if record["outcome"] in BAD and not is_answer else "passed"
    classes = [f"class {names[name]} {how}" for name, how in outcomes.items() if name in names]
    styles = ["classDef passed fill:#d3f0d3,stroke:#1a7f37", "classDef failed fill:#ffd8d3,stroke:#cf222e"]
    return "\n".join(["", "```mermaid", "graph TD", *lines, *styles, *classes, "```", ""])


def _ids(program: Table) -> dict[str, str]:
    names = program["contract"]["steps"] if "contract" in program else program["nodes"]
    return {name: f"s{number}" for number, name in enumerate(names)}


def _label(text: str) -> str:
    """Return a text escaped as a label in a picture."""
    shown = re.sub(PARTED, "\\g<0>\u200b", plain(text)[:LONGEST_LABEL])
    return re.sub(UNSAFE, lambda found: f"#{ord(found[0])};", shown) or " "


def _of_steps(program: Table) -> Iterator[str]:
    names = _ids(program)
    for name, identifier in names.items():
        yield f'{identifier}["{_label(name)}"]'
    yield from (f"{one} --> {other}" for one, other in zip(names.values(), list(names.values())[1:]))


def _of_nodes(program: Table) -> Iterator[str]:
    names = _ids(program)
    for name, node in program["nodes"].items():
        text = _label(f"{name} {node.get('title', '')}".strip())
        if node["task"] == "end":
            text = _label(f"{str(node['result']).upper()} {node.get('message', '')}".strip())
        begin, end = SHAPES.get(node["task"], ("[", "]"))
        yield f'{names[name]}{begin}"{text}"{end}'
        for edge in node.get("edges", ()):
            word = word_of(node, edge["on"]) if "on" in edge else edge.get("says", "")
            told = f'|"{_label(word)}"|' if word.strip() else ""
            yield f"{names[name]} -->{told} {names[edge['go']]}"


def how_to_continue(state: State, branch: str, reply: str | None) -> str:
    """Return how to continue this run in another one; `reply` is an example for the waiting step."""
    answer = f" -f answers={shlex.quote(f'{state.node} {reply}')}" if reply else ""
    about = "with your answer and the number of this run" if reply else "with the number of this run"
    branch = branch or os.environ.get("GITHUB_REF_NAME", "")
    words = ["gh", "workflow", "run", os.path.basename(workflow_path()), "--ref", branch]
    command = f"{' '.join(map(shlex.quote, words))} -f resume={os.environ['GITHUB_RUN_ID']}{answer}"
    return f"\nTo continue, start this workflow again {about}:\n\n    {plain(command)}\n"
