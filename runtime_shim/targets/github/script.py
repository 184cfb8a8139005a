"""What a workflow's step shows in its variables: the emitter writes it, and each call compares it."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Callable

from runtime_shim.engine.program import Table

OPEN = "$" + "{{"  # the start of an expression
OPENED = "$ " + "{{"
MOST_LINES = 200  # most lines shown of a text; the program has all
MOST_BYTES = 100_000  # Linux takes 131,072 for a variable
SHOWN_AS = ("COMMAND", "PROMPT", "STEP")  # the variables that show what a step runs
WITH_PROMPTS = ("agent", "ask", "gate", "parallel")
SHOWN_TEXTS = ("reason", "prompt", "block", "command", "arguments")
ENDS = ("COMPLETE", "STOP")
PLAIN_NAME = r"[A-Za-z0-9][A-Za-z0-9_./:~-]{0,99}"
ABOUT_STAGES = {
    "inputs": "needs",
    "context": "asks for the context",
    "guardrails": "checks the content of the outputs",
    "outputs": "makes",
}


def words_of_places(program: Table) -> dict[str, str]:
    """Return the word for each place in conditions, which ignore case.

    Numbers follow the names' order, since a program may build its nodes in another order than the emitter.
    """
    nodes = program["nodes"]
    alike = Counter(name.lower() for name in nodes)
    words = {}
    for number, name in enumerate(sorted(nodes)):
        is_plain = re.fullmatch(PLAIN_NAME, name) and alike[name.lower()] == 1 and name.upper() not in ENDS
        words[name] = name if is_plain else f"n{number}"
        if nodes[name]["task"] == "end":
            words[name] = str(nodes[name]["result"]).upper()
    return words


def shown_text(program: Table, places: Sequence[str]) -> tuple[str, str]:
    """Return the variable of the workflow step that runs these places, and its text."""
    all_nodes = program["nodes"]
    names = _nodes_of(all_nodes, places) if "stepspec" in program else [name for name in places if name in all_nodes]
    nodes = {name: all_nodes[name] for name in names}
    several = len({nodes[name].get("step", name) for name in names}) > 1
    task = nodes[names[0]]["task"] if len(names) == 1 else ""
    if task == "shell":
        return "COMMAND", _inert(str(nodes[names[0]]["command"]).split("\n"))
    lines: list[str] = []
    for name, node in nodes.items():
        if "step" in node:
            spec = program["stepspec"]["steps"].get(node["step"], {})
            lines += _of_stage(node, nodes.values(), spec)
        else:
            lines += _of_node(name, node, several, _above(program, node.get("context", "")))
    return "PROMPT" if task in WITH_PROMPTS else "STEP", _inert(line if line.strip() else "" for line in lines)


def _nodes_of(nodes: Table, steps: Sequence[str]) -> list[str]:
    rank = {step: number for number, step in enumerate(steps)}
    names = [name for name, node in nodes.items() if name in rank or node.get("step") in rank]
    return sorted(names, key=lambda name: rank.get(name, rank.get(nodes[name].get("step"), 0)))


def is_shown(program: Table, places: Sequence[str], said: Callable[[str], str]) -> bool:
    """Return whether a step's variables show what it runs. A runner may add line breaks around a text."""
    name, text = shown_text(program, places)
    found = {each: said(each).replace("\r\n", "\n").strip("\n") for each in SHOWN_AS}
    return found == {**dict.fromkeys(SHOWN_AS, ""), name: text.strip("\n")}


def _above(program: Table, context: str) -> Iterator[str]:
    """Return the lines of a prompt's context, with values shown by name."""
    texts: list[str] = []
    while context:
        found = program["contexts"][context]
        texts[:0] = [part if isinstance(part, str) else f"{part[1]}{{{part[0]}}}{part[2]}" for part in found["parts"]]
        context = found.get("after", "")
    if texts:
        yield from (*_lines("".join(texts)), "")


def _of_node(name: str, node: Table, several: bool, above: Iterable[str]) -> Iterator[str]:
    """Return the lines of a step of a runbook, a playbook or an agent workflow."""
    if node["task"] in ("branch", "end"):
        return
    indent = "  " if several else ""
    if several:
        yield f"{name} {node['title']}".rstrip()
    if node["task"] == "tool":
        when = ", if there is a command for it" if node.get("optional") else ""
        yield f"{indent}calls the tool {node['connection']} {node['tool']}{when}"
    yield from (f"{indent}{line}" for line in above)
    for entry in node.get("entries", ()):
        yield f"{indent}{entry['agent'] or 'agent'}:"
        yield from (f"{indent}  {line}" for line in _lines(entry["prompt"]))
    keys = SHOWN_TEXTS if node["task"] != "shell" else ("command",)
    for key in keys:
        yield from (f"{indent}{line}" for line in _lines(str(node.get(key) or "")))
    yield from (f"{indent}- {line}" for option in node.get("options", ()) for line in _lines(option))


def _of_stage(node: Table, nodes: Iterable[Table], spec: Table) -> Iterator[str]:
    """Return the lines of a stage of a specification; validation is shown with the outputs."""
    again = spec.get("retries", {}).get("max", 0)
    alike = {one.get("stage") for one in nodes if one.get("paths") == node.get("paths")}
    stage, paths = node.get("stage", ""), ", ".join(node.get("paths", ()))
    if node["task"] == "gate" or (stage == "outputs" and not paths):
        return
    if stage == "tool":
        tools, place = spec.get("tools", ()), node.get("place", 0)
        arguments = json.dumps(tools[place].get("args", {}), ensure_ascii=False) if place < len(tools) else ""
        yield f"calls the tool {node.get('subject', '')} {arguments}".rstrip()
    elif stage == "execute":
        yield "calls the executor" + (f", with up to {again} retries" if again > 1 else ", with up to 1 retry" * again)
    elif stage == "validation":
        yield f"{'makes, and ' * ('outputs' in alike)}checks ({', '.join(node.get('checks', ()))}): {paths}"
    elif stage != "outputs" or "validation" not in alike:
        yield f"{ABOUT_STAGES.get(stage, stage)} {paths}".rstrip() if paths or stage != "inputs" else "input guardrails"


def _lines(text: str) -> list[str]:
    lines = text.strip("\n").split("\n") if text.strip("\n") else []
    more = len(lines) - MOST_LINES
    return [*lines[:MOST_LINES], f"... {more} more lines in the program"] if more > 0 else lines


def _inert(lines: Iterable[str]) -> str:
    """Return lines as a text without anything special to GitHub or a terminal."""
    plain = (re.sub(r"[\r\n]", " ", line).replace(OPEN, OPENED) for line in lines)
    shown = ("".join(each if each.isprintable() or each == "\t" else "?" for each in line) for line in plain)
    text = "\n".join(shown).strip("\n")
    cut = text.encode("utf-8", "replace")[:MOST_BYTES].decode("utf-8", "ignore")
    return text if cut == text else f"{cut}\n... more in the program"
