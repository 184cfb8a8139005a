"""Strings that a run keeps (I5, I17, I19): variables of what it calls (I7, I25), outputs of commands (I9)."""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Optional

from runtime_shim.data.fitting import unkept
from runtime_shim.engine.lifecycle import Done, Extension, Perform
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.session import Session
from runtime_shim.engine.state import State
from runtime_shim.engine.texts import words_of
from runtime_shim.engine.walk import VERBS, Registers, Verbs
from runtime_shim.tasks.reading import extracted
from runtime_shim.tasks.shell import Commands

LARGEST_VARIABLE = 65_536  # bytes
LARGEST_OUTPUT = 16 * 1024 * 1024  # bytes
PAIR = re.compile(r"(.*?)(=|<<(?=.))(.*)")
Slot = Optional[str]


def keeping(text: str, values: Mapping[str, str]) -> Verbs:
    """Return the effects of an edge after an outcome with this text and these values (I19)."""

    def keep(before: Slot, what: list[str]) -> Slot:
        if what[0] == "output":
            return values.get(what[1], before)
        return extracted(text, what[1]) if what[0] == "field" else text

    return {**VERBS, "keep": keep}


def unfit_variable(value: str) -> str:
    """Return why no environment variable can have a value, in words that follow its name; "" if one can."""
    return "has a NUL character" if "\0" in value else unkept(value, LARGEST_VARIABLE)


def until(word: str, lines: Iterator[tuple[int, str]]) -> Optional[str]:
    """Return the lines up to one that is just this word; None if there is none."""
    inner: list[str] = []
    for _, line in lines:
        if line == word:
            return "\n".join(inner)
        inner.append(line)
    return None


def read_output(content: bytes, names: Iterable[str]) -> dict[str, str]:
    """Read `NAME=value` and `NAME<<WORD` lines. Raises ValueError where one is not as it should be."""
    lines = enumerate(content.decode().removesuffix("\n").split("\n"), start=1)
    known, found = set(names), {}
    for number, line in lines if content else ():
        pair = PAIR.fullmatch(line)
        if pair is None:
            raise ValueError(f"line {number}: neither NAME=value nor NAME<<WORD")
        name, value = pair[1], until(pair[3], lines) if pair[2] == "<<" else pair[3]
        if value is None:
            raise ValueError(f"line {number}: {pair[3]} does not follow")
        if name not in known:
            raise ValueError(f"line {number}: no output of this name is declared")
        if problem := unfit_variable(value):
            raise ValueError(f"line {number}: {name} {problem}")
        found[name] = value
    return found


def read_regular(path: str) -> bytes:
    """Read a file that a command may have replaced by anything; one that is gone holds nothing."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except FileNotFoundError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("it is not a regular file")
        content = file.read(LARGEST_OUTPUT + 1)
    if len(content) > LARGEST_OUTPUT:
        raise ValueError(f"it is larger than {LARGEST_OUTPUT:,} bytes")
    return content


class ValuedCommands(Commands):
    """Runs shell steps, some of which give outputs."""

    def perform(self, name: str, node: Table) -> Done:
        """Run the command of a step and read its outputs; where they are malformed it fails, and has none."""
        if "outputs" not in node:
            return super().perform(name, node)
        try:
            with suppress(FileNotFoundError):
                os.unlink(self._file)  # a command may have put a link there
            os.close(self.session.store.within.open("output", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        except OSError as error:
            self.session.rest()
            raise RefusedError(f"{self._file}: {error.strerror}") from None
        try:
            done = super().perform(name, node)
            values = read_output(read_regular(self._file), node["outputs"])
        except (ValueError, OSError) as error:
            return Done("fail", f"the file of RDC_OUTPUT is refused: {getattr(error, 'strerror', error)}")
        finally:
            with suppress(OSError):
                os.unlink(self._file)
        return done._replace(verbs=keeping("", values))

    @property
    def _file(self) -> str:
        return os.path.join(self.session.store.folder, "output")

    def environment(self, node: Table, **more: str) -> dict[bytes, bytes]:
        """Add RDC_OUTPUT where outputs are kept."""
        return super().environment(node, **more, **({"RDC_OUTPUT": self._file} if "outputs" in node else {}))

    def assumed(self, name: str, word: str) -> Done:
        """Take the word and the outputs that were given for what came of a step (I16)."""
        return super().assumed(name, word)._replace(verbs=keeping("", values_given(self.session, name)))


def values_given(session: Session, name: str) -> dict[str, str]:
    """Return the outputs of a step that the options give."""
    values: dict[str, str] = {}
    for given in session.options.value:
        key, equals, value = given.partition("=")
        if not equals or key not in session.program["nodes"][name].get("outputs", ()):
            raise RefusedError(f"--value {given}: expected NAME=VALUE with a name that {name} keeps")
        if problem := unfit_variable(value):
            raise RefusedError(f"--value {key} {problem}")
        values[key] = value
    return values


class Values(Extension):
    """Strings that a run keeps, and gives to what it calls."""

    options = (("run resume", "--value", "NAME=VALUE...", "an output of the interrupted command, with --assume"),)
    performers = {"shell": ValuedCommands}

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether the program keeps any, or gives fixed ones."""
        registers, nodes = program["registers"].values(), program["nodes"].values()
        return any(not isinstance(value, int) for value in registers) or any("env" in node for node in nodes)

    def prepare(self) -> None:
        """Refuse outputs of an interrupted command whose outcome is not given."""
        options = self.session.options
        if options.value and not options.assume and options.command != "answer":
            raise RefusedError("--value goes with --assume WORD")

    def told(self, done: Done, text: str) -> Done:
        """Return an outcome with its text."""
        return done._replace(verbs=keeping(text, {}))

    def facts(self, state: State) -> Table:
        """Return the strings that a run keeps, for its status."""
        return {"slots": {name: value for name, value in state.registers.items() if not isinstance(value, int)}}

    def variables(self, node: Table, registers: Registers) -> dict[str, str]:
        """Return the environment variables of what a step calls; a string that is unset gives none."""
        places = node.get("texts", {}).items()
        found = {name: registers[slot] for name, slot in places if registers[slot] is not None}
        return {**node.get("env", {}), **found}

    def before_step(self, name: str) -> Optional[Perform]:
        """Fail a step whose variables do not fit into an environment, instead of beginning it."""
        node = self.session.program["nodes"][name]
        for variable, value in self.variables(node, self.session.state.registers).items():
            if problem := unfit_variable(value):
                failed = Done("failed" if "failed" in words_of(node) else "fail", f"{variable} {problem}")
                return lambda _name, _node: failed
        return None
