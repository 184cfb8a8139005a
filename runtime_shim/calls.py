"""Calls of agents and tools for the script of a Makefile (I11 to I14)."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Optional

from runtime_shim.display import Display, clean
from runtime_shim.exchange import Answered, Call, exchange
from runtime_shim.helper import REQUESTS, keep
from runtime_shim.limited import end_left, running
from runtime_shim.pairs import read_pairs
from runtime_shim.program import RefusedError, Table
from runtime_shim.reading import decoded, in_json, joined_answer, joined_word
from runtime_shim.search import searched_word

OURS = ("RDC_AGENT_GIVEN", "RDC_TOOLS_FILE")  # how the script says what make was given


# --- Which command is called ------------------------------------------------------------------------------------------


def command_for(kind: str, name: str) -> str:
    """Return the command of an agent type or a connection, "" if there is none."""
    if kind == "tool":
        return listed("RDC_TOOLS_FILE").get(name, "")
    given = os.environ.get("RDC_AGENT_GIVEN")
    return given or listed("RDC_AGENTS").get(name) or os.environ.get("RDC_AGENT", "")


def listed(variable: str) -> dict[str, str]:
    """Return the commands of the file that a variable names."""
    path = os.environ.get(variable)
    try:
        return read_pairs(path, path) if path else {}
    except OSError as error:
        raise RefusedError(f"{path} cannot be read: {error.strerror}") from None


def check(wanted: str) -> str:
    """Say what is missing for a run that would come to an agent or a tool without a command."""
    try:
        for kind, name in json.loads(wanted):
            if command_for(kind, name):
                continue
            if kind == "tool":
                return f"there is no command for the connection {name}: give TOOLS=FILE with a line {name}=COMMAND"
            which = f"the agent {name}" if name else "the agents"
            return f"there is no command for {which}: give AGENT=COMMAND, or set RDC_AGENT or RDC_AGENTS"
    except RefusedError as error:
        return str(error)
    return ""


# --- Agents and tools -------------------------------------------------------------------------------------------------

Given = tuple[str, str, bytes, Mapping[str, str]]  # a name, its command, what it is given and its own variables


def converse(driver: str, left: str, seconds: int, calls: Sequence[Given]) -> list[Optional[str]]:
    """Return the answers of commands that run at the same time, None for one that gave none (I11)."""
    is_one, display = len(calls) == 1, Display(sys.stderr)
    heard: list[list[str]] = [[] for _ in calls]
    common = {name: value for name, value in os.environ.items() if name not in OURS}

    def show(lines: str) -> None:
        for line in clean(lines).split("\n"):
            display.line(f"    {line}".rstrip())

    made = []
    for (_, command, given, own), lines in zip(calls, heard):  # noqa: B905 - Python 3.9 has no `strict`
        variables = {os.fsencode(name): os.fsencode(value) for name, value in {**common, **own}.items()}
        made.append(Call(command, variables, given, show if is_one else lines.append))
    with running(driver, left, display) as processes:
        answers = exchange(processes, made, seconds)
    end_left(left)
    for (name, *_), answered, lines in zip(calls, answers, heard):  # noqa: B905
        if not is_one:
            display.line(f"    {clean(name)}:")
        for line in [*lines, *([answered.trouble] if answered.trouble else [])]:
            show(line)
    return list(map(_answer, answers))


def _answer(answered: Answered) -> Optional[str]:
    return None if answered.trouble else decoded(answered.answer)


def call_agents(driver: str, left: str, call: Table, paths: Sequence[str]) -> tuple[str, str]:
    """Call the agents of a unit, and return its word and its text. `paths` are those of prompts, then of answers."""
    entries, is_parallel = call["entries"], "check" in call
    prompts, kept = paths[: len(entries)], paths[len(entries) :]
    calls: list[Given] = []
    for index, entry in enumerate(entries):
        own = {"RDC_AGENT_TYPE": entry["agent"]}
        if is_parallel:
            own |= {"RDC_ENTRY": str(index), "RDC_UNIT": entry["name"]}
        command = command_for("agent", entry["agent"])
        calls.append((entry["name"], command, Path(prompts[index]).read_bytes(), own))
    found = converse(driver, left, call["timeout"], calls)
    words = read_words(driver, left, entries, found)
    for path, answer in zip(kept, found):  # noqa: B905
        keep(path, answer or "")
    if not is_parallel:
        return words[0], found[0] or ""
    return joined_word(words, call["check"], call["failing"], call["unanimous"]), joined_answer(found)


def read_words(driver: str, left: str, entries: Sequence[Table], found: Sequence[Optional[str]]) -> list[str]:
    """Return the word of each answer (I12)."""
    words, display = [], Display(sys.stderr)
    with running(driver, left, display) as processes:
        for entry, answer in zip(entries, found):  # noqa: B905
            word, trouble = searched_word(processes, entry, answer)
            words.append(word)
            if trouble:
                display.line(f"    {trouble}")
    end_left(left)
    return words


def call_tool(driver: str, left: str, call: Table, values: Mapping[str, Optional[str]]) -> tuple[str, str]:
    """Call the tool of a unit, and return its word and its result (I13)."""
    arguments = ""
    for part in call["arguments"]:
        if isinstance(part, str):
            arguments += part
            continue
        value = values[part["register"]]
        arguments += in_json(part["missing"] if value is None else part["before"] + value + part["after"])
    given = f'{{"tool": {json.dumps(call["tool"])}, "arguments": {arguments}}}\n'.encode("utf-8", "replace")
    command = command_for("tool", call["connection"])
    if not command and call.get("optional"):
        Display(sys.stderr).line(f"    no command is named: TOOLS=FILE with a line {call['connection']}=COMMAND")
        return "fail", ""
    (result,) = converse(driver, left, call["timeout"], [(call["tool"], command, given, {})])
    return ("fail", "") if result is None else ("pass", result)


def values_of(registers: str, folder: str) -> dict[str, Optional[str]]:
    """Return what registers hold, from their variables in the script: `rdc_n1_a=3 rdc_s1_b=7`."""
    found: dict[str, Optional[str]] = {}
    for pair in registers.split():
        name, _, value = pair.partition("=")
        if not name.startswith("rdc_s"):
            found[name] = value
        elif value == "0":
            found[name] = None
        else:
            found[name] = Path(folder, f"{name}.{value}").read_bytes().decode("utf-8", "replace")
    return found


def call_out(driver: str, left: str, order: str, registers: str, folder: str, outcome: str, *paths: str) -> str:
    """Make the call that is described in a file; its word and its text are files too. Of no outcome nothing is kept."""
    call, (answer, *others) = json.loads(Path(order).read_bytes()), paths
    try:
        if "tool" in call:
            word, text = call_tool(driver, left, call, values_of(registers, folder))
        else:
            word, text = call_agents(driver, left, call, others)
    except (OSError, RefusedError) as error:
        Display(sys.stderr).rule(str(error))
        sys.exit(1)
    keep(answer, text)
    keep(outcome, call["tokens"].get(word, word) + "\n")
    return ""


REQUESTS.update({"check": check, "call": call_out})
