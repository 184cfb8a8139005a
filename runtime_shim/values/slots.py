"""Strings that a run keeps: variables for processes, outputs of commands."""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Callable

from runtime_shim.engine.outcomes import Done
from runtime_shim.engine.private import at_once
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Extension
from runtime_shim.engine.state import State
from runtime_shim.engine.texts import words_of
from runtime_shim.engine.walk import VERBS, Registers, Verbs
from runtime_shim.io.reading import field_of, unkept

LARGEST_VARIABLE = 65_536  # bytes
LARGEST_OUTPUT = 1 << 24  # bytes
Perform = Callable[[str, Table], Done]


def keeping(text: str, values: Mapping[str, str], remarks: "list[str] | None" = None) -> Verbs:
    """Return the verbs for an edge after an outcome with this text and these values.

    They add to `remarks` what is unexpected about the text.
    """

    def keep(before: "str | None", what: list[str]) -> "str | None":
        if what[0] == "output":
            return values.get(what[1], before)
        found = field_of(text, what[1]) if what[0] == "field" else text
        if remarks is not None and found is None:
            remarks.append(f"the answer has no JSON object with the field {what[1]}, so the whole answer is kept")
        elif remarks is not None and (options := what[2:]) and found not in options:
            remarks.append(f"the answer is not one of {', '.join(options)}")
        return text if found is None else found

    return {**VERBS, "keep": keep}


def unfit_variable(value: str) -> str:
    """Return why a value cannot be an environment variable, to follow its name in a message; "" if it can."""
    return "has a NUL character" if "\0" in value else unkept(value, LARGEST_VARIABLE)


def until(word: str, lines: Iterator[tuple[int, str]]) -> "str | None":
    """Return the lines before a line that is only this word; None if there is none."""
    inner: list[str] = []
    for _, line in lines:
        if line == word:
            return "\n".join(inner)
        inner.append(line)
    return None


def pairs_in(text: str, has_comments: bool = False) -> Iterator[tuple[int, str, str]]:
    """Return the line, name and value of `NAME=VALUE` and `NAME<<WORD` lines; raise ValueError for any other."""
    lines = enumerate(text.removesuffix("\n").split("\n"), start=1)
    for number, line in lines if text else ():
        if has_comments and (not line.strip() or line.lstrip().startswith("#")):
            continue
        pair = re.fullmatch(r"(.*?)(=|<<(?=.))(.*)", line)
        if pair is None:
            raise ValueError(f"line {number}: expected NAME=VALUE or NAME<<WORD")
        value = until(pair[3], lines) if pair[2] == "<<" else pair[3]
        if value is None:
            raise ValueError(f"line {number}: the closing line {pair[3]} is missing")
        yield number, pair[1], value


def read_output(content: bytes, names: Iterable[str]) -> dict[str, str]:
    """Return the outputs of a command; raise ValueError for an invalid one."""
    known, found = set(names), {}
    for number, name, value in pairs_in(content.decode()):
        if problem := unfit_variable(value) if name in known else "is not declared as an output":
            raise ValueError(f"line {number}: {name} {problem}")
        found[name] = value
    return found


def read_regular(path: str) -> bytes:
    """Return the content of a file that a command may have replaced; a missing file is empty."""
    with suppress(FileNotFoundError), open(path, "rb", opener=at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("it is not a regular file")
        content = file.read(LARGEST_OUTPUT + 1)
        if len(content) > LARGEST_OUTPUT:
            raise ValueError(f"it is larger than {LARGEST_OUTPUT:,} bytes")
        return content
    return b""


class Values(Extension):
    """Programs that keep strings and give them to processes."""

    options = (("run resume answer", "--value", "NAME=VALUE...", "an output of the command, for `--assume` or answer"),)

    @staticmethod
    def suits(program: Table) -> bool:
        """Return whether the program keeps strings or sets variables."""
        registers, nodes = program["registers"].values(), program["nodes"].values()
        return any(not isinstance(value, int) for value in registers) or any("env" in node for node in nodes)

    def prepare(self) -> None:
        """Refuse outputs without an outcome."""
        options = self.session.options
        if options.value and not options.assume and options.command != "answer":
            raise UsageError("--value needs --assume WORD")

    def given(self, done: "Done | None") -> "Done | None":
        """Return an outcome with the outputs in the options."""
        name, values = self.session.state.node, {}
        for given in self.session.options.value:
            key, equals, value = given.partition("=")
            if done is None or not equals or key not in self.session.program["nodes"][name].get("outputs", ()):
                raise UsageError(f"--value {given}: expected NAME=VALUE with an output of step {name}")
            if problem := unfit_variable(value):
                raise UsageError(f"--value {key} {problem}")
            values[key] = value
        return done._replace(verbs=keeping("", values)) if done is not None and values else done

    def with_text(self, text: str, done: Done) -> Done:
        """Return an outcome with its text."""
        remarks = [*done.remarks]  # `keeping` adds to it
        return done._replace(verbs=keeping(text, {}, remarks), remarks=remarks)

    def facts(self, state: State) -> Table:
        """Return the kept strings for the status."""
        return {"slots": {name: value for name, value in state.registers.items() if not isinstance(value, int)}}

    def variables(self, node: Table, registers: Registers) -> dict[str, str]:
        """Return a step's environment variables; unset strings give none."""
        found = {name: registers[slot] for name, slot in node.get("texts", {}).items() if registers[slot] is not None}
        path = os.path.join(self.session.store.folder, "output")
        own = {"RDC_OUTPUT": path} if node["task"] == "shell" and "outputs" in node else {}
        return {**node.get("env", {}), **found, **own}

    def before_step(self, name: str) -> "Perform | None":
        """Fail a step whose variables do not fit an environment; read the outputs of a command."""
        node = self.session.program["nodes"][name]
        for variable, value in self.variables(node, self.session.state.registers).items():
            if problem := unfit_variable(value):
                failed = Done("failed" if "failed" in words_of(node) else "fail", f"{variable} {problem}")
                return lambda _name, _node: failed
        return self._perform if node["task"] == "shell" and "outputs" in node else None

    def _perform(self, name: str, node: Table) -> Done:
        """Run a command and read its outputs; malformed outputs make it fail."""
        path = self.variables(node, self.session.state.registers)["RDC_OUTPUT"]
        try:
            with suppress(FileNotFoundError):
                os.unlink(path)  # it may be a link
            os.close(self.session.store.within.open("output", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        except OSError as error:
            self.session.rest()
            raise UsageError(f"{path}: {error.strerror}") from None
        try:
            done = self.session.performers[name].perform(name, node)
            values = read_output(read_regular(path), node["outputs"])
        except (ValueError, OSError) as error:
            return Done("fail", f"bad RDC_OUTPUT file: {getattr(error, 'strerror', error)}")
        finally:
            with suppress(OSError):
                os.unlink(path)
        return done._replace(verbs=keeping("", values))
