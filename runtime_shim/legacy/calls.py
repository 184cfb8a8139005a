"""Calls of agents and tools for the script of a Makefile (I11 to I14)."""

import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Optional

from runtime_shim.legacy.account import AGENT, ANSWERS, FIRST_PAUSE, PROMPTS, TOOL, Account, masked
from runtime_shim.legacy.display import Display, clean, duration, one_line
from runtime_shim.legacy.exchange import Answered, Call, exchange
from runtime_shim.legacy.helper import REQUESTS, keep
from runtime_shim.legacy.limited import end_left, running
from runtime_shim.legacy.mocks import KIND_OF
from runtime_shim.legacy.ordered import GIVEN, Orders, given
from runtime_shim.legacy.process import Processes
from runtime_shim.legacy.program import RefusedError, Table
from runtime_shim.legacy.reading import cleaned, decoded, in_json, joined_answer, joined_word
from runtime_shim.legacy.search import searched_word

ENTRIES = "entries"  # the folder of what the entries of the step at work have answered
BY_HAND = "-"  # in place of a word: there is no command, and a person is to answer


class One(NamedTuple):
    """A call: who is called, as what it is counted, its command, what it is given and its own variables."""

    name: str
    key: str
    command: str
    given: str
    own: Mapping[str, str]


def check(kinds: str) -> str:
    """Say what is wrong with what make was given, before anything runs."""
    try:
        return Orders().missing(json.loads(kinds))
    except RefusedError as error:
        return str(error)


class Caller:
    """Calls what a step wants."""

    def __init__(self, driver: str, left: str, folder: str) -> None:
        self.orders, self.account = Orders(), Account(folder)
        self._step = os.environ.get("RDC_STEP", "")
        self._driver, self._left = driver, left
        self._display = Display(sys.stderr)
        self._entries: Optional[Path] = None  # where the answers of entries are kept, for a step that has some

    def converse(self, seconds: int, calls: Sequence[One], retries: int = 0) -> list[Optional[str]]:
        """Return the answers of commands that run at the same time, None for one that gave none (I11)."""
        found: dict[int, Answered] = self.earlier(calls)
        due = [index for index in range(len(calls)) if index not in found]
        with running(self._driver, self._left, self._display) as processes:
            before, left = self.account.tried(self._step)
            if left:
                self._sleep(processes, left)
            for tries in range(min(before, retries), retries + 1):
                self._count([calls[index] for index in due])
                said = self._call(processes, seconds, [calls[index] for index in due], tries)
                found.update(zip(due, said))  # noqa: B905 - Python 3.9 has no `strict`
                due = [index for index in due if not _answer(found[index])]
                if tries == retries or not due or not self.account.may_call(len(due)):
                    break
                troubles = (f"{calls[at].name}: {found[at].trouble or 'an empty answer'}" for at in due)
                self._pause(processes, ", ".join(troubles), tries)
        end_left(self._left)
        for index in [index for index in due if found[index].trouble]:
            self._show((f"{calls[index].name}: " if len(calls) > 1 else "") + found[index].trouble)
        return [_answer(found[index]) for index in range(len(calls))]

    def earlier(self, calls: Sequence[One]) -> dict[int, Answered]:
        """Return the answers of entries that had come before the run was interrupted: these are not called again."""
        paths = [self._entries / str(index) for index in range(len(calls))] if self._entries else []
        return {index: Answered(path.read_bytes(), "") for index, path in enumerate(paths) if path.exists()}

    def _settle(self, one: One, answered: Answered) -> None:
        """Keep the answer of an entry as soon as it is there."""
        if self._entries and _answer(answered):
            keep(str(self._entries / one.own["RDC_ENTRY"]), masked(decoded(answered.answer)))

    def _count(self, calls: Sequence[One]) -> None:
        made = self.account.made()
        for one in calls:
            if self.orders.mocks is not None and self.orders.mocked(one.key, made[one.key]) is None:
                kind, _, name = one.key.partition(" ")
                number, where = made[one.key] + 1, one_line(f"{KIND_OF[kind]}: {name}")
                raise RefusedError(f"{one.name}: {given('MOCK')} has no answer number {number} under {where}")
        self.account.note(one.key for one in calls)

    def _call(self, processes: Processes, seconds: int, calls: Sequence[One], tries: int) -> list[Answered]:
        """Call commands once, and keep what they were given and said."""
        numbers = [self.account.keep(PROMPTS, one.name, one.given) for one in calls]
        if self.orders.mocks is not None:
            answers = list(map(self._mocked, calls))
        else:
            most = self.orders.jobs or len(calls) or 1
            pieces = [calls[place : place + most] for place in range(0, len(calls), most)]
            answers = [said for piece in pieces for said in self._exchange(processes, seconds, piece, tries)]
        for one, number, answered in zip(calls, numbers, answers):  # noqa: B905
            self.account.keep(ANSWERS, one.name, decoded(answered.answer), number)
            self._settle(one, answered)
        return answers

    def _mocked(self, one: One) -> Answered:
        reply = self.orders.mocked(one.key, self.account.made()[one.key] - 1)
        if reply is None or reply.trouble:
            return Answered(b"", reply.trouble if reply else "no answer")
        if reply.text:
            self._show(reply.text.rstrip("\n"))
        return Answered(reply.text.encode("utf-8", "replace"), "")

    def _exchange(self, processes: Processes, seconds: int, calls: Sequence[One], tries: int) -> list[Answered]:
        heard: list[list[str]] = [[] for _ in calls]
        common = {name: value for name, value in os.environ.items() if not name.startswith(GIVEN)}
        common["RDC_ATTEMPT"] = str(int(common.get("RDC_ATTEMPT", "1")) + tries)
        made = []
        for one, lines in zip(calls, heard):  # noqa: B905 - Python 3.9 has no `strict`
            variables = {os.fsencode(name): os.fsencode(value) for name, value in {**common, **one.own}.items()}
            shown = self._show if len(calls) == 1 else lines.append
            made.append(Call(one.command, variables, one.given.encode("utf-8", "replace"), shown))
        answers = exchange(processes, made, seconds, lambda index: self._settle(calls[index], processes.said))
        for one, lines in zip(calls, heard):  # noqa: B905
            if len(calls) > 1:
                self._display.line(f"    {one_line(one.name)}:")
            for line in lines:
                self._show(line)
        return answers

    def _pause(self, processes: Processes, trouble: str, tries: int) -> None:
        """Wait before another attempt, in which a run that is ended can go on without a decision."""
        seconds = FIRST_PAUSE * 2**tries
        self._display.line(f"    {one_line(trouble)}; trying again in {duration(seconds)}")
        self.account.again(self._step, tries + 1, seconds)
        self.account.rest()
        self._sleep(processes, seconds)

    @staticmethod
    def _sleep(processes: Processes, seconds: float) -> None:
        sleeping = Call(f"exec sleep {math.ceil(seconds)}", os.environb, b"", lambda _lines: None)
        exchange(processes, [sleeping], 0)

    def _show(self, lines: str) -> None:
        for line in clean(lines).split("\n"):
            self._display.line(f"    {line}".rstrip())

    def word(self, entry: Table, answer: Optional[str]) -> str:
        """Return the word of an answer (I12)."""
        with running(self._driver, self._left, self._display) as processes:
            word, trouble = searched_word(processes, entry, answer)
        end_left(self._left)
        if trouble:
            self._show(trouble)
        return word

    def agents(self, call: Table, prompts: Sequence[str], folder: str) -> tuple[str, str]:
        """Call the agents of a step, and return its word and its text."""
        entries, is_parallel = call["entries"], "check" in call
        calls = []
        for index, entry in enumerate(entries):
            name = entry["name"] if is_parallel else os.environ.get("RDC_STEP", "")
            own = {"RDC_ENTRY": str(index), "RDC_STEP": name} if is_parallel else {}
            command = self.orders.agent(entry["agent"])
            if not command:
                return BY_HAND, ""
            own["RDC_AGENT_TYPE"] = entry["agent"]
            calls.append(One(name, f"{AGENT}{name}", command, text_in(prompts[index]), own))
        self._entries = Path(folder, ENTRIES) if is_parallel else None
        found = self.converse(self.orders.seconds or call["timeout"], calls, self.orders.retries)
        words = [self.word(entry, answer) for entry, answer in zip(entries, found)]  # noqa: B905
        if not is_parallel:
            return words[0], found[0] or ""
        return joined_word(words, call["check"], call["failing"], call["unanimous"]), joined_answer(found)

    def tool(self, call: Table, values: Mapping[str, Optional[str]]) -> tuple[str, str]:
        """Call the tool of a step, and return its word and its result (I13)."""
        connection, tool, is_optional = call["connection"], call["tool"], bool(call.get("optional"))
        command = self.orders.tool(connection, tool, is_optional)
        if not command and is_optional:
            self._show(f"no command is named: TOOLS=FILE with a line {connection}=COMMAND")
            return "fail", ""
        if not command:
            return BY_HAND, ""
        one = One(os.environ.get("RDC_STEP", ""), f"{TOOL}{connection}/{tool}", command, request(call, values), {})
        (result,) = self.converse(call["timeout"], [one])
        return ("fail", "") if result is None else ("pass", result)


def request(call: Table, values: Mapping[str, Optional[str]]) -> str:
    """Return what the command of a tool is given."""
    arguments = ""
    for part in call["arguments"]:
        if isinstance(part, str):
            arguments += part
            continue
        value = values[part["register"]]
        arguments += in_json(part["missing"] if value is None else part["before"] + value + part["after"])
    return f'{{"tool": {json.dumps(call["tool"])}, "arguments": {arguments}}}\n'


def _answer(answered: Answered) -> Optional[str]:
    return None if answered.trouble else decoded(answered.answer)


def text_in(path: str) -> str:
    """Return the text of a file; what is not UTF-8 is U+FFFD."""
    return Path(path).read_bytes().decode("utf-8", "replace")


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
            found[name] = text_in(str(Path(folder, "values", f"{name}.{value}")))
    return found


def call_out(driver: str, left: str, folder: str, registers: str, answer: str, *prompts: str) -> str:
    """Make the call that is described in a file; its word and its text are files too. Of no outcome nothing is kept."""
    call, outcome = json.loads(Path(folder, "call").read_bytes()), str(Path(folder, "outcome"))
    caller = Caller(driver, left, folder)
    try:
        if "tool" in call:
            word, text = caller.tool(call, values_of(registers, folder))
        else:
            word, text = caller.agents(call, prompts, folder)
    except (OSError, RefusedError) as error:
        caller.account.rest()
        keep(outcome, f"! {one_line(str(error))}\n")
        return ""
    if word == BY_HAND:
        caller.account.rest()
    keep(answer, masked(text))
    keep(outcome, call.get("tokens", {}).get(word, word) + "\n")
    return ""


def shown(folder: str, registers: str, asked: str) -> str:
    """Write down what a tool would be given."""
    call = json.loads(Path(folder, "call").read_bytes())
    keep(asked, masked(request(call, values_of(registers, folder))))
    return ""


def replied(driver: str, left: str, folder: str, answer: str, asked: str, reply: str) -> str:
    """Take the answer that a person gives in place of a command."""
    call, caller = json.loads(Path(folder, "call").read_bytes()), Caller(driver, left, folder)
    text = cleaned(text_in(reply))
    word = "pass" if "tool" in call else caller.word(call["entries"][0], text or None)
    name = os.environ.get("RDC_STEP", "")
    caller.account.keep(ANSWERS, name, text, caller.account.keep(PROMPTS, name, text_in(asked)))
    caller.account.rest()
    keep(answer, masked(text))
    keep(str(Path(folder, "outcome")), call.get("tokens", {}).get(word, word) + "\n")
    return ""


REQUESTS.update({"check": check, "call": call_out, "shown": shown, "replied": replied})
