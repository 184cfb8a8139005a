"""Agents and tools that the steps of a run on GitHub call (I11 to I14)."""

import os
from typing import Any, Callable, Optional

from runtime_shim.legacy.contexts import above
from runtime_shim.legacy.exchange import Answered, Call, exchange
from runtime_shim.legacy.program import Table
from runtime_shim.legacy.reading import (
    AGENT_SECONDS,
    TOOL_SECONDS,
    decoded,
    in_json,
    joined_answer,
    joined_word,
    read_word,
)
from runtime_shim.legacy.runner_calls import ANSWERING, DOING, Caller, in_bytes, masked, say, stopped_commands
from runtime_shim.legacy.runner_kept import ANSWERS, OF_AGENTS, PROMPTS, keep_text, note_call, noted_calls
from runtime_shim.legacy.runner_says import one_visible
from runtime_shim.legacy.runner_state import Outcome
from runtime_shim.legacy.search import searched_word
from runtime_shim.legacy.values import UnfitError
from runtime_shim.legacy.walk import attempt_of, filled

FIRST_PAUSE = 2  # seconds before a call is made again; each further pause is twice as long
Logs = Optional[list[list[str]]]


def call_commands(caller: Caller, _keys: list[str], calls: list[Call], seconds: int) -> list[Answered]:
    """Call commands at the same time."""
    return exchange(caller.processes, calls, seconds)


Made = Callable[[Caller, list[str], list[Call], int], list[Answered]]
CALLING: list[Made] = [call_commands]  # how calls are made
REPORTING: list[Callable[[Caller, list[Optional[str]], str], None]] = []  # who is told what a step has said
KNOWING: list[Callable[[Table, str], bool]] = []  # who tells whether a tool is there, by connection and name


def agent(caller: Caller, _script: Optional[str]) -> Outcome:
    """Call an agent (I11, I12)."""
    unit = caller.run.unit
    answer = _call(caller, [_agent(caller, unit, _below(caller, unit, caller.text("prompt")), say)])[0]
    for report in REPORTING:
        report(caller, [], answer or "")
    return Outcome(_word(caller, unit, answer), answer or "")


def put_to_agent(caller: Caller, prompt: str) -> Optional[str]:
    """Put a question to the common agent."""
    return _call(caller, [_agent(caller, {"agent": ""}, prompt, say)])[0]


def tool(caller: Caller, _script: Optional[str]) -> Outcome:
    """Call a tool (I13); an optional one that no command is named for is done without."""
    unit, registers, program = caller.run.unit, caller.run.registers, caller.run.program
    known = program.get("tools", {})
    if unit.get("optional") and not _is_there(program, unit):
        print(f"{caller.run.token}: no command is named for the tools of {one_visible(unit['connection'])}", flush=True)
        return Outcome("fail")
    arguments = filled(unit, caller.written("arguments"), registers, in_json)
    given = f'{{"tool": "{in_json(unit["tool"])}", "arguments": {arguments}}}\n'
    variable, names = known.get(unit["connection"], ("", None))
    environment = caller.environment(names)
    answer = _call(caller, [Call(os.environ.get(variable, ""), environment, in_bytes(given), say)])[0]
    return Outcome("fail") if answer is None else Outcome("pass", answer)


def _is_there(program: Table, unit: Table) -> bool:
    if KNOWING:
        return KNOWING[0](program, f"{unit['connection']}/{unit['tool']}")
    return unit["connection"] in program.get("tools", {})


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
    for report in REPORTING:
        report(caller, answers, joined_answer(answers))
    words = [_word(caller, entry, answer) for entry, answer in zip(unit["entries"], answers)]  # noqa: B905
    return Outcome(joined_word(words, unit["check"], unit["failing"], unit["unanimous"]), joined_answer(answers))


def _entry(caller: Caller, index: int, shown: Callable[[str], Any]) -> Call:
    entry: Table = caller.run.unit["entries"][index]
    name = f"RDC_PROMPT_{index}{caller.suffix}"
    prompt = caller.run.text(os.environ[name] if name in os.environ else entry["prompt"])
    prompt = _below(caller, entry, prompt)
    own = {"RDC_ENTRY": str(index), "RDC_STEP": f"{caller.run.node}_{index}"}
    return _agent(caller, entry, prompt, shown, **own)


def _below(caller: Caller, what: Table, prompt: str) -> str:
    """Return a prompt below its context (I31)."""
    if "context" in what:  # for: contexts
        prompt = above(caller.run.program, what["context"], caller.run.registers) + prompt
    return prompt


def _agent(caller: Caller, entry: Table, prompt: str, shown: Callable[[str], Any], **more: str) -> Call:
    variable, names = caller.run.program.get("agents", {}).get(entry["agent"], ("", None))
    environment = caller.environment(names, RDC_AGENT_TYPE=entry["agent"], **more)
    return Call(os.environ.get(variable, ""), environment, in_bytes(prompt), shown)


def _call(caller: Caller, calls: list[Call], logs: Logs = None) -> list[Optional[str]]:
    """Call what answers, and those again that do not, as often as they may."""
    run = caller.run
    is_tool = run.unit["task"] == "tool"
    limits = run.program.get("calling", {})
    found: dict[int, Answered] = {}
    for tries in range(1 + (0 if is_tool else limits.get("retries", 0))):
        due = [index for index in range(len(calls)) if _is_empty(found.get(index))]
        if not due:
            break
        if tries:
            _rest(caller, FIRST_PAUSE * 2 ** (tries - 1))
        found.update(zip(due, _tried(caller, [calls[index] for index in due], tries)))  # noqa: B905
        for index in due:
            if found[index].trouble:
                who = run.token if logs is None else f"{run.token} {index}"
                print(f"{who} has no answer: {found[index].trouble}", flush=True)
    for index, log in enumerate(logs or []):  # for: parallel
        print(f"::group::{run.token} {index}", flush=True)
        with stopped_commands():
            for line in log:
                say(line)
        print("::endgroup::", flush=True)
    answers = [found[index] for index in range(len(calls))]
    return [None if one.trouble else masked(decoded(one.answer)) for one in answers]


def _is_empty(one: Optional[Answered]) -> bool:
    return one is None or bool(one.trouble) or not decoded(one.answer)


def _tried(caller: Caller, calls: list[Call], tries: int) -> list[Answered]:
    """Count calls, make them, and keep what was given and said."""
    run, folder = caller.run, caller.folder
    limits = run.program.get("calling", {})
    is_tool = run.unit["task"] == "tool"
    names = [os.fsdecode(call.environment[b"RDC_STEP"]) for call in calls]
    keys = [f"tool {run.unit['connection']}/{run.unit['tool']}" if is_tool else f"{OF_AGENTS}{name}" for name in names]
    if "most" in limits and not is_tool and noted_calls(folder, OF_AGENTS) + len(calls) > limits["most"]:
        raise UnfitError(f"the budget of {limits['most']} calls of agents is spent")
    for key in keys:
        note_call(folder, key)
    attempt = str(attempt_of(run.unit, run.registers) + tries).encode()
    made = [call._replace(environment={**call.environment, b"RDC_ATTEMPT": attempt}) for call in calls]
    given = [os.fsdecode(call.given) for call in calls]
    numbers = [keep_text(folder, PROMPTS, name, text) for name, text in zip(names, given)]  # noqa: B905
    usual = TOOL_SECONDS if is_tool else limits.get("seconds", AGENT_SECONDS)
    seconds = usual if "seconds" in limits and not is_tool else run.unit.get("timeout", usual)
    with stopped_commands():
        answers = CALLING[0](caller, keys, made, seconds)
    for name, number, one in zip(names, numbers, answers):  # noqa: B905
        keep_text(folder, ANSWERS, name, decoded(one.answer), number)
    return answers


def _rest(caller: Caller, seconds: int) -> None:
    """Wait before a further call; whoever cancels the run ends this like any process."""
    print(f"Waiting {seconds} s before this is called again.", flush=True)
    pause = caller.processes.spawn("/bin/sleep", [b"sleep", str(seconds).encode()], os.environb)
    caller.processes.watch([pause])


def _word(caller: Caller, entry: Table, answer: Optional[str]) -> str:
    if "validation" in entry:  # for: validation parallel
        word, trouble = searched_word(caller.processes, entry, answer)
        if trouble:
            print(f"{caller.run.token}: {trouble}", flush=True)
        return word
    return read_word(answer, entry.get("keywords", ()), None, entry.get("excused", ()))


DOING["agent"] = agent  # for: agent
DOING["tool"] = tool  # for: tool
DOING["parallel"] = parallel  # for: parallel
ANSWERING["agent"] = put_to_agent  # for: ask confirm input select gate
