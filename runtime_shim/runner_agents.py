"""Agents and tools that the units of a run on GitHub call (I11 to I14)."""

import os
from typing import Any, Callable, Optional

from runtime_shim.exchange import Call, exchange
from runtime_shim.program import Table
from runtime_shim.reading import AGENT_SECONDS, TOOL_SECONDS, decoded, in_json, joined_answer, joined_word
from runtime_shim.runner_calls import ANSWERING, DOING, Caller, in_bytes, masked, say, stopped_commands
from runtime_shim.runner_says import one_visible
from runtime_shim.runner_state import Outcome
from runtime_shim.search import searched_word
from runtime_shim.walk import filled


def agent(caller: Caller, _script: Optional[str]) -> Outcome:
    """Call an agent (I11, I12)."""
    unit = caller.run.unit
    answer = _call(caller, [_agent(caller, unit, caller.text("prompt"), say)])[0]
    return Outcome(_word(caller, unit, answer), answer or "")


def reply(caller: Caller, prompt: str) -> Optional[str]:
    """Put a question to the common agent."""
    return _call(caller, [_agent(caller, {"agent": ""}, prompt, say)])[0]


def tool(caller: Caller, _script: Optional[str]) -> Outcome:
    """Call a tool (I13)."""
    unit, registers = caller.run.unit, caller.run.registers
    known = caller.run.program.get("tools", {})
    if unit.get("optional") and unit["connection"] not in known:
        print(f"{caller.run.token}: no command is named for the tools of {one_visible(unit['connection'])}", flush=True)
        return Outcome("fail")
    arguments = filled(unit, caller.written("arguments"), registers, in_json)
    given = f'{{"tool": "{in_json(unit["tool"])}", "arguments": {arguments}}}\n'
    variable, names = known[unit["connection"]]
    environment = caller.environment(names)
    answer = _call(caller, [Call(os.environ[variable], environment, in_bytes(given), say)])[0]
    return Outcome("fail") if answer is None else Outcome("pass", answer)


def parallel(caller: Caller, _script: Optional[str]) -> Outcome:
    """Call all agents at the same time; what each says is shown together at the end (I14)."""
    logs: list[list[str]] = [[] for _ in caller.run.unit["entries"]]
    calls = [_entry(caller, index, log.append) for index, log in enumerate(logs)]
    return joined(caller, _call(caller, calls, logs))


def entry_alone(caller: Caller, index: int) -> Optional[str]:
    """Call one of the agents that are called at the same time, where each has a job of its own."""
    return _call(caller, [_entry(caller, index, say)])[0]


def joined(caller: Caller, answers: list[Optional[str]]) -> Outcome:
    """Join the answers of agents that were called at the same time, in the order of the entries (I14)."""
    unit = caller.run.unit
    words = [_word(caller, entry, answer) for entry, answer in zip(unit["entries"], answers)]  # noqa: B905
    return Outcome(joined_word(words, unit["check"], unit["failing"], unit["unanimous"]), joined_answer(answers))


def _entry(caller: Caller, index: int, shown: Callable[[str], Any]) -> Call:
    entry: Table = caller.run.unit["entries"][index]
    name = f"RDC_PROMPT_{index}{caller.suffix}"
    prompt = caller.run.text(os.environ[name] if name in os.environ else entry["prompt"])
    own = {"RDC_ENTRY": str(index), "RDC_UNIT": f"{caller.run.node}_{index}"}
    return _agent(caller, entry, prompt, shown, **own)


def _agent(caller: Caller, entry: Table, prompt: str, shown: Callable[[str], Any], **more: str) -> Call:
    variable, names = caller.run.program["agents"][entry["agent"]]
    environment = caller.environment(names, RDC_AGENT_TYPE=entry["agent"], **more)
    return Call(os.environ[variable], environment, in_bytes(prompt), shown)


def _call(caller: Caller, calls: list[Call], logs: Optional[list[list[str]]] = None) -> list[Optional[str]]:
    unit = caller.run.unit
    with stopped_commands():
        found = exchange(
            caller.processes, calls, unit.get("timeout", TOOL_SECONDS if unit["task"] == "tool" else AGENT_SECONDS)
        )
    for index, log in enumerate(logs or []):
        print(f"::group::{caller.run.token} {index}", flush=True)
        with stopped_commands():
            for line in log:
                say(line)
        print("::endgroup::", flush=True)
    for index, one in enumerate(found):
        if one.trouble:
            who = caller.run.token if logs is None else f"{caller.run.token} {index}"
            print(f"{who} has no answer: {one.trouble}", flush=True)
    return [None if one.trouble else masked(decoded(one.answer)) for one in found]


def _word(caller: Caller, entry: Table, answer: Optional[str]) -> str:
    word, trouble = searched_word(caller.processes, entry, answer)
    if trouble:
        print(f"{caller.run.token}: {trouble}", flush=True)
    return word


DOING.update({"agent": agent, "tool": tool, "parallel": parallel})
ANSWERING["agent"] = reply
