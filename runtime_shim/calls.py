"""Calls for the script of a Makefile: agents and tools, and commands with a time limit (I11 to I14, I21)."""

import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Optional

from runtime_shim.display import Display, clean
from runtime_shim.exchange import Answered, Call, exchange
from runtime_shim.helper import REQUESTS, keep
from runtime_shim.leftover import end_groups, is_alive, started_at
from runtime_shim.pairs import read_pairs
from runtime_shim.process import Processes, in_words
from runtime_shim.program import EXIT_INTERRUPTED, RefusedError, Table
from runtime_shim.reading import decoded, in_json, joined_answer, joined_word
from runtime_shim.search import searched_word
from runtime_shim.signals import Interrupted, held_back

TICK = 0.05  # seconds between two looks at whether the script still lives
LATE, NOT_BEGUN, NOT_FOUND = 124, 126, 127  # exit codes by which the script knows how a command ended
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


# --- Processes --------------------------------------------------------------------------------------------------------


@contextmanager
def running(driver: str, left: str, display: Display) -> Iterator[Processes]:
    """Let processes run until this one is told to end, or the script that drives it is gone.

    `driver` is the process of the script, and `left` the file of what it has begun: what was left behind there by one
    that was killed is ended first.
    """
    end_left(left)
    for number in (signal.SIGINT, signal.SIGQUIT):  # a shell has what runs beside it ignore them
        signal.signal(number, signal.SIG_DFL)
    with held_back() as signals:
        display.gives_up = signals.has_come
        threading.Thread(target=end_with, args=(int(driver),), daemon=True).start()
        try:
            yield Processes(signals, os.isatty(0) and os.isatty(2), lambda group: begun(left, group))
        except Interrupted:
            sys.exit(EXIT_INTERRUPTED)


def end_with(driver: int) -> None:
    """End this process, and so all that it has begun, as soon as the script is gone."""
    while os.getppid() == driver:
        time.sleep(TICK)
    os.kill(os.getpid(), signal.SIGTERM)


def begun(left: str, group: int) -> None:
    """Note a process, to be found again if this one is killed."""
    with suppress(OSError), Path(left).open("a", encoding="utf-8") as file:
        file.write(json.dumps({"pid": group, "since": started_at(group)}) + "\n")


def _alive(left: str) -> list[Table]:
    """Return the processes of a file that still run; none if it cannot be read."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        return [found for found in map(json.loads, Path(left).read_text().splitlines()) if is_alive(found)]
    return []


def end_left(left: str) -> str:
    """End the processes of a file that still run."""
    end_groups(_alive(left))
    with suppress(OSError):
        Path(left).unlink()
    return ""


def living(left: str) -> str:
    """Return the numbers of the processes of a file that still run."""
    return ", ".join(str(found["pid"]) for found in _alive(left))


def limited(driver: str, left: str, seconds: str, *words: str) -> str:
    """Run a command with a time limit and end as it ends."""
    path = shutil.which(words[0])
    if path is None:
        sys.exit(NOT_FOUND)
    display = Display(sys.stderr)
    with running(driver, left, display) as processes:
        try:
            group = processes.spawn(path, list(map(os.fsencode, words)), os.environb)
        except OSError:
            sys.exit(NOT_BEGUN)
        (code,) = processes.watch([group], int(seconds))
    end_left(left)
    if code is None:
        display.line(f"    {in_words(code)}")
        sys.exit(LATE)
    sys.exit(0 if code == 0 else 1)


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


REQUESTS.update({"check": check, "limited": limited, "end": end_left, "living": living, "call": call_out})
