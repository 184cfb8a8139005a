"""Texts that a run keeps (I5, I17, I19): as variables of commands (I7, I25), and from the file of RDC_OUTPUT (I9)."""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from typing import Optional

from runtime_shim.engine.lifecycle import Done, Extension, Perform
from runtime_shim.engine.program import Table
from runtime_shim.engine.state import State
from runtime_shim.engine.texts import words_of
from runtime_shim.engine.walk import VERBS, Registers, Verbs
from runtime_shim.tasks.reading import extracted

Slot = Optional[str]


def keeping(text: str, values: Mapping[str, str]) -> Verbs:
    """Return the effects of an edge after an outcome with this text and these values (I19)."""

    def keep(before: Slot, what: list[str]) -> Slot:
        if what[0] == "output":
            return values.get(what[1], before)
        return extracted(text, what[1]) if what[0] == "field" else text

    return {**VERBS, "keep": keep}


class Slots(Extension):
    """What a journal and a status know of the texts that a run keeps."""

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether the program keeps any."""
        return any(not isinstance(value, int) for value in program["registers"].values())

    def told(self, done: Done, text: str) -> Done:
        """Return an outcome with its text."""
        return done._replace(verbs=keeping(text, {}))

    def facts(self, state: State) -> Table:
        """Return the slots of a run as its status tells them."""
        return {"slots": {name: value for name, value in state.registers.items() if not isinstance(value, int)}}


LARGEST_VARIABLE = 65_536  # bytes
LARGEST_OUTPUT = 16 * 1024 * 1024  # bytes


class UnfitError(ValueError):
    """A value that no environment variable can have, or a file of values that is malformed."""


def check_value(name: str, value: str) -> None:
    """Refuse a value that no environment variable can have."""
    if "\0" in value:
        raise UnfitError(f"{name} has a NUL character, which no environment variable can have")
    if len(value.encode("utf-8", "surrogatepass")) > LARGEST_VARIABLE:
        raise UnfitError(f"{name} is longer than {LARGEST_VARIABLE:,} bytes")


def texts_of(node: Table, registers: Registers) -> dict[str, str]:
    """Return the environment variables that slots give a step; one that is unset gives none."""
    places = node.get("texts", {}).items()
    return {variable: registers[slot] for variable, slot in places if registers[slot] is not None}


def read_output(content: bytes, names: Iterable[str]) -> dict[str, str]:
    """Read `NAME=value` and `NAME<<WORD` lines, and refuse all of them where one is not as it should be."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise UnfitError("it is not UTF-8") from None
    lines = enumerate(text.removesuffix("\n").split("\n"), start=1)
    known, found = set(names), {}
    for number, line in lines if content else ():
        name, value = pair_in(number, line, lines)
        if name not in known:
            raise UnfitError(f"line {number}: no output of this name is declared")
        check_value(f"line {number}: {name}", value)
        found[name] = value
    return found


def pair_in(number: int, line: str, lines: Iterator[tuple[int, str]]) -> tuple[str, str]:
    """Return the name and the value that begin in a line; a value of several lines takes further ones."""
    name, equals, value = line.partition("=")
    other, opens, word = line.partition("<<")
    if opens and len(other) < len(name):
        if not word:
            raise UnfitError(f"line {number}: no word after <<")
        inner: list[str] = []
        for _, text in lines:
            if text == word:
                return other, "\n".join(inner)
            inner.append(text)
        raise UnfitError(f"line {number}: {word} does not follow")
    if not equals:
        raise UnfitError(f"line {number}: neither NAME=value nor NAME<<WORD")
    return name, value


def read_regular(path: str) -> bytes:
    """Read a file that a command may have replaced by anything; one that is gone holds nothing."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except FileNotFoundError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UnfitError("it is not a regular file")
        content = file.read(LARGEST_OUTPUT + 1)
    if len(content) > LARGEST_OUTPUT:
        raise UnfitError(f"it is larger than {LARGEST_OUTPUT:,} bytes")
    return content


def no_answer(node: Table) -> str:
    """Return the word of a step that could not be done."""
    return "failed" if "failed" in words_of(node) else "fail"


class Variables(Extension):
    """Environment variables of what steps call: slots, and fixed strings."""

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether a step has such variables."""
        return any("texts" in node or "env" in node for node in program["nodes"].values())

    def variables(self, node: Table, registers: Registers) -> dict[str, str]:
        """Return the variables of a step."""
        return {**node.get("env", {}), **texts_of(node, registers)}

    def before_step(self, name: str) -> Optional[Perform]:
        """Fail a step whose variables do not fit into an environment, instead of beginning it."""
        node = self.session.program["nodes"][name]
        for variable, value in texts_of(node, self.session.state.registers).items():
            try:
                check_value(variable, value)
            except UnfitError as error:
                failed = Done(no_answer(node), str(error))
                return lambda _name, _node: failed
        return None
