"""Calls of agents and tools for a Makefile, whose shell cannot say exactly what their answers mean (I11 to I14).

The Makefile carries this module, and its driver calls `main`. A file that is written has its name once it is whole.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NoReturn, Optional

from runtime_shim.fitting import unfit
from runtime_shim.reading import (
    LARGEST_ANSWER,
    decoded,
    extracted,
    in_json,
    joined_answer,
    joined_verdict,
    joined_word,
    read_word,
)

TICK = 0.05  # seconds between two looks at what runs
PATIENCE = 10.0  # seconds from SIGTERM to SIGKILL (I21)
GRACE = 1.0  # seconds that what a process has left behind may still write
INTERRUPTED = 130
SHOWN_LINES = 40
UNSEEN = re.compile("[^\\x20-\\x7e\u00a0-\U0010ffff]|[\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")

Table = dict[str, Any]
stopped: list[int] = []  # the signals that told this process to end


class Process(threading.Thread):
    """A command that runs in a group of its own: it gets a text, and what it says on its standard output is kept."""

    def __init__(self, command: str, given: bytes, environment: Mapping[str, str], errors: Optional[IO[bytes]]) -> None:
        super().__init__(daemon=True)
        self.answer = b""
        self.is_late = False
        self._given = given
        self.process = subprocess.Popen(  # noqa: S603 (it is the operator's command)
            ["/bin/sh", "-c", command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=dict(environment),
            start_new_session=True,
        )
        self._writer = threading.Thread(target=self._write, daemon=True)
        self._writer.start()
        self.start()

    def _write(self) -> None:
        """Give the text; a process need not read all of it."""
        if self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.write(self._given)
                self.process.stdin.close()

    def run(self) -> None:
        """Read until the output ends or is too long."""
        while self.process.stdout is not None and len(self.answer) <= LARGEST_ANSWER:
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                return
            self.answer += data
        self.tell(signal.SIGTERM)

    def tell(self, number: int) -> None:
        """Send a signal to the whole group."""
        with suppress(OSError):
            os.killpg(self.process.pid, number)

    def finish(self) -> Optional[str]:
        """Return the answer once the process has ended; None if it gave none (I11)."""
        self.join(GRACE)
        self.tell(signal.SIGKILL)
        self.join(GRACE)
        if self.process.returncode or self.is_late or len(self.answer) > LARGEST_ANSWER:
            return None
        return decoded(self.answer)

    def trouble(self) -> str:
        """Return why there is no answer, "" if nothing went wrong."""
        if self.is_late:
            return "timeout"
        if len(self.answer) > LARGEST_ANSWER:
            return f"the answer is longer than {LARGEST_ANSWER:,} bytes"
        code = self.process.returncode
        return "" if not code else f"exit code {code}" if code > 0 else f"killed by signal {-code}"


def watch(processes: Sequence[Process], timeout: float) -> None:
    """Wait until all have ended; end them when their time is up, when told to, or when the driver is gone (I21)."""
    parent, began, ending = os.getppid(), time.monotonic(), 0.0
    while any(process.process.poll() is None for process in processes):
        time.sleep(TICK)
        now = time.monotonic()
        is_over = bool(stopped) or os.getppid() != parent
        is_late = bool(timeout) and now - began >= timeout
        for process in processes:
            if process.process.poll() is not None or not (is_over or is_late):
                continue
            process.is_late = process.is_late or (is_late and not is_over)
            process.tell(signal.SIGKILL if ending and now - ending >= PATIENCE else signal.SIGTERM)
        if (is_over or is_late) and not ending:
            ending = now
        if is_over and os.getppid() != parent:
            stopped.append(signal.SIGHUP)
    if stopped:
        for process in processes:
            process.tell(signal.SIGKILL)
        sys.exit(INTERRUPTED)


def called(
    entries: Sequence[Table], prompts: Sequence[bytes], variables: Sequence[Mapping[str, str]], timeout: float
) -> list[Optional[str]]:
    """Return the answers of commands that run at the same time; what they say of themselves is shown by index."""
    is_one = len(entries) == 1
    errors: list[Optional[IO[bytes]]] = [None if is_one else tempfile.TemporaryFile() for _ in entries]  # noqa: SIM115
    processes: list[Process] = []
    for entry, prompt, given, said in zip(entries, prompts, variables, errors):  # noqa: B905 - Python 3.9 has no `strict`
        processes.append(Process(entry["command"], prompt, {**os.environ, **given}, said))
    watch(processes, timeout)
    answers = [process.finish() for process in processes]
    for entry, process, answer, said in zip(entries, processes, answers, errors):  # noqa: B905
        label = "" if is_one else f"{entry['name']}: "
        if said is not None:
            said.seek(0)
            show(label, said.read(1 << 20).decode("utf-8", "replace"))
        if process.trouble():
            show(label, process.trouble())
        elif answer is not None:
            show(label, answer)
    return answers


def show(label: str, text: str) -> None:
    """Show lines of a text on standard error, nothing in them that a terminal would obey."""
    lines = text.strip("\n").split("\n") if text.strip() else []
    more = [f"… {len(lines) - SHOWN_LINES} more lines"] if len(lines) > SHOWN_LINES else []
    shown = [f"    | {label}{UNSEEN.sub('?', line.expandtabs(4))}\n" for line in lines[:SHOWN_LINES] + more]
    with suppress(OSError):
        sys.stderr.buffer.write("".join(shown).encode("utf-8", "replace"))
        sys.stderr.buffer.flush()


def keep(path: str, text: str) -> None:
    """Write a file that has its name once it is whole."""
    Path(f"{path}.new").write_bytes(text.encode("utf-8"))
    Path(f"{path}.new").replace(path)


def commands_of(path: str) -> dict[str, str]:
    """Return the commands of a file of lines `NAME=COMMAND`; one that begins with `#` is a comment."""
    found: dict[str, str] = {}
    if not path:
        return found
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        refuse(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}")
    for number, line in enumerate(text.split("\n"), start=1):
        name, equals, command = line.strip().partition("=")
        if (not name and not equals) or name.startswith("#"):
            continue
        if not equals or not command.strip():
            refuse(f"{path}:{number}: expected NAME=COMMAND")
        found[name.strip()] = command.strip()
    return found


def refuse(says: str) -> NoReturn:
    """End with what is wrong, for the driver to say."""
    sys.stdout.buffer.write(says.encode("utf-8", "replace"))
    sys.stdout.flush()
    sys.exit(2)


def command_for(kind: str, name: str) -> str:
    """Return the command of an agent type or a connection, "" if there is none. The driver has set what was given."""
    if kind == "tool":
        return commands_of(os.environ.get("RDC_TOOLS_FILE", "")).get(name, "")
    given = os.environ.get("RDC_AGENT_GIVEN")
    return given or commands_of(os.environ.get("RDC_AGENTS", "")).get(name) or os.environ.get("RDC_AGENT", "")


def check(wanted: Sequence[Sequence[str]]) -> None:
    """Refuse a run that would come to an agent or a tool without a command, before anything is run."""
    for kind, name in wanted:
        if command_for(kind, name):
            continue
        if kind == "tool":
            refuse(f"there is no command for the connection {name}: give TOOLS=FILE with a line {name}=COMMAND")
        which = f"the agent {name}" if name else "the agents"
        refuse(f"there is no command for {which}: give AGENT=COMMAND, or set RDC_AGENT or RDC_AGENTS")


def environment() -> dict[str, str]:
    """Return what the commands are not told: how they were given."""
    for name in ("RDC_AGENT_GIVEN", "RDC_TOOLS_FILE"):
        os.environ.pop(name, None)
    return {}


def call_agents(call: Table, prompts: Sequence[str], answers: Sequence[str]) -> tuple[str, str]:
    """Call the agents of a unit, and return its word and its text."""
    entries = call["entries"]
    is_parallel = "check" in call
    for entry in entries:
        entry["command"] = command_for("agent", entry["agent"])
    environment()
    own: list[dict[str, str]] = [{"RDC_AGENT_TYPE": entry["agent"]} for entry in entries]
    if is_parallel:
        for index, variables in enumerate(own):
            variables |= {"RDC_ENTRY": str(index), "RDC_UNIT": entries[index]["name"]}
    texts = [Path(path).read_bytes() for path in prompts]
    found = called(entries, texts, own, call["timeout"])
    words = [
        read_word(answer, entry["keywords"], entry["validation"], entry["excused"])
        for answer, entry in zip(found, entries)  # noqa: B905
    ]
    for path, answer in zip(answers, found):  # noqa: B905
        keep(path, answer or "")
    if not is_parallel:
        return words[0], found[0] or ""
    text = joined_answer(found)
    if any(entry["keywords"] for entry in entries):
        return joined_word(words, call["check"], call["failing"], call["unanimous"]), text
    return joined_verdict(words, call["check"]), text


def call_tool(call: Table, values: Mapping[str, Optional[str]]) -> tuple[str, str]:
    """Call the tool of a unit, and return its word and its result (I13)."""
    arguments = ""
    for part in call["arguments"]:
        if isinstance(part, str):
            arguments += part
            continue
        value = values[part["register"]]
        arguments += in_json(part["missing"] if value is None else part["before"] + value + part["after"])
    given = f'{{"tool": {json.dumps(call["tool"], ensure_ascii=False)}, "arguments": {arguments}}}\n'
    entry = {"command": command_for("tool", call["connection"]), "name": call["tool"]}
    environment()
    (result,) = called([entry], [given.encode("utf-8", "surrogateescape")], [{}], call["timeout"])
    return ("fail", "") if result is None else ("pass", result)


def values_of(registers: str, folder: str) -> dict[str, Optional[str]]:
    """Return what registers hold, from their variables in the driver: `rdc_n1_a=3 rdc_s1_b=7`."""
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


def limited(seconds: int, words: Sequence[str]) -> None:
    """Run a command with a time limit and end as it ends; the terminal is lent to it while it runs."""
    process = subprocess.Popen(words, preexec_fn=os.setpgrp)  # noqa: S603, PLW1509 (there is one thread)
    has_terminal = lend(process.pid)
    code, is_late = None, False
    parent, began, ending = os.getppid(), time.monotonic(), 0.0
    while code is None:
        time.sleep(TICK)
        code = process.poll()
        now = time.monotonic()
        is_over = bool(stopped) or os.getppid() != parent
        if code is None and (is_over or now - began >= seconds):
            is_late = is_late or not is_over
            tell(process.pid, signal.SIGKILL if ending and now - ending >= PATIENCE else signal.SIGTERM)
            ending = ending or now
    if ending:
        tell(process.pid, signal.SIGKILL)
    if has_terminal:
        lend(os.getpgrp())
    if stopped or (has_terminal and code in (-signal.SIGINT, 128 + signal.SIGINT)):
        sys.exit(INTERRUPTED)
    if is_late:
        sys.exit(124)
    sys.exit(code if 0 <= code < 124 or code > 130 else 1)


def tell(group: int, number: int) -> None:
    """Send a signal to a group, if there still is one."""
    with suppress(OSError):
        os.killpg(group, number)
        os.killpg(group, signal.SIGCONT)


def lend(group: int) -> bool:
    """Make a group that which the terminal listens to, if this process has it to give."""
    try:
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        os.tcsetpgrp(0, group)
    except OSError:
        return False
    return True


def stop(number: int, _frame: object) -> None:
    """Remember that this process was told to end."""
    stopped.append(number)


def main(words: Sequence[str]) -> None:
    """Do what the driver of a Makefile asks for."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    verb, rest = words[0], words[1:]
    if verb == "check":
        check(json.loads(rest[0]))
    elif verb == "limited":
        limited(int(rest[0]), rest[1:])
    elif verb == "extract":
        answer, field, target = rest
        text = Path(answer).read_bytes().decode("utf-8", "replace")
        keep(target, extracted(text, Path(field).read_bytes().decode("utf-8")))
    elif verb == "fits":
        rule = json.loads(Path(rest[0]).read_bytes())
        says = unfit(Path(rest[1]).read_bytes().decode("utf-8", "surrogateescape"), *rule)
        if says:
            refuse(says)
    else:
        order, registers, folder, outcome, answer, *paths = rest
        call = json.loads(Path(order).read_bytes())
        half = len(paths) // 2
        if verb == "tool":
            word, text = call_tool(call, values_of(registers, folder))
        else:
            word, text = call_agents(call, paths[:half], paths[half:])
        keep(answer, text)
        keep(outcome, call["tokens"].get(word, word) + "\n")
