"""Outputs that commands give by the file that RDC_OUTPUT names (I9)."""

import os
import re
import sys
from contextlib import suppress
from typing import Optional

from runtime_shim.data.values import check_value, keeping, read_output, read_regular
from runtime_shim.engine.lifecycle import Done, Extension, Perform, Waiting
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.session import Session
from runtime_shim.tasks.shell import Commands


class ValuedCommands(Commands):
    """Runs shell steps, some of which give outputs."""

    def perform(self, name: str, node: Table) -> Done:
        """Run the command of a step and read its outputs; where they are malformed it fails, and has none."""
        if "outputs" not in node:
            return super().perform(name, node)
        self.session.heed()
        try:
            with suppress(FileNotFoundError):
                os.unlink(self._file())  # a command may have put a link there
            os.close(self.session.store.within.open("output", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        except OSError as error:
            self.session.rest()
            raise RefusedError(f"{self._file()}: {error.strerror}") from None
        try:
            done = super().perform(name, node)
            values = read_output(read_regular(self._file()), node["outputs"])
        except (ValueError, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            return Done("fail", f"the file of RDC_OUTPUT is refused: {reason}")
        finally:
            with suppress(OSError):
                os.unlink(self._file())
        return done._replace(verbs=keeping("", values))

    def environment(self, node: Table, **more: str) -> dict[bytes, bytes]:
        """Add RDC_OUTPUT where outputs are kept."""
        return super().environment(node, **more, **({"RDC_OUTPUT": self._file()} if "outputs" in node else {}))

    def assumed(self, name: str, word: str) -> Done:
        """Take the word and the outputs that were given for what came of a step (I16)."""
        return super().assumed(name, word)._replace(verbs=keeping("", values_given(self.session, name)))

    def _file(self) -> str:
        return os.path.join(self.session.store.folder, "output")


def values_given(session: Session, name: str) -> dict[str, str]:
    """Return the outputs of a step that the options give."""
    values: dict[str, str] = {}
    for given in session.options.value:
        key, equals, value = given.partition("=")
        if not equals or key not in session.program["nodes"][name].get("outputs", ()):
            raise RefusedError(f"--value {given}: expected NAME=VALUE with a name that {name} keeps")
        try:
            value.encode()
            check_value(key, value)
        except UnicodeEncodeError:
            raise RefusedError(f"--value {key} is not UTF-8") from None
        except ValueError as error:
            raise RefusedError(f"--value {error}") from None
        values[key] = value
    return values


class Outputs(Extension):
    """Outputs of commands, and of those that a person does by hand (E2)."""

    options = (
        ("run resume", "--value", "NAME=VALUE...", "an output of the interrupted command, with --assume"),
        ("answer", "--value", "NAME=VALUE...", "an output of the command that was done by hand"),
    )
    performers = {"shell": ValuedCommands}

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether a command gives outputs."""
        return any("outputs" in node for node in program["nodes"].values())

    def prepare(self) -> None:
        """Refuse outputs of an interrupted command whose outcome is not given."""
        options = self.session.options
        if options.value and not options.assume and options.command != "answer":
            raise RefusedError(
                "--value needs an outcome that you assume: give --assume WORD beside it, or leave it out"
            )

    def given(self, done: Optional[Done]) -> Optional[Done]:
        """Return an answer with the outputs that were given beside it."""
        session = self.session
        if not session.options.value:
            return done
        values = values_given(session, session.state.node)
        if done is None:
            raise RefusedError(f"--value: {session.state.node} is not answered as a whole")
        return done._replace(verbs=keeping("", values))

    def before_step(self, name: str) -> Optional[Perform]:
        """Have the outputs of a command that is done by hand asked for, once its outcome was given at the terminal."""
        session, node = self.session, self.session.program["nodes"][name]
        named = [key for key in node.get("outputs", ()) if re.search(rf"\b{key}\b", node.get("block", ""))]
        if node["task"] != "ask" or not named:
            return None

        def perform(name: str, node: Table) -> Done:
            try:
                done = session.performers[name].perform(name, node)
            except Waiting as waiting:
                raise _with_hint(session, name, node, waiting) from None
            if done.how != "answered here":
                return done
            given = ((key, typed_value(session, key)) for key in named)
            return done._replace(verbs=keeping("", {key: value for key, value in given if value}))

        return perform


def _with_hint(session: Session, name: str, node: Table, waiting: Waiting) -> Waiting:
    """Return what a person is told who answers later, with how to give the outputs that the command writes."""
    written = [key for key in node["outputs"] if re.search(rf"(?<![\w-]){re.escape(key)}(=|<<)", node["block"])]
    if not written:
        return waiting
    values = [word for key in written for word in ("--value", f"{key}=…")]
    first, *others = waiting.args
    return Waiting(first, f"with outputs: {session.call('answer', name, 'pass', *values)}", *others)


def typed_value(session: Session, key: str) -> str:
    """Return the value that a person types; an empty line stands for none."""
    while True:
        session.display.line(f"{key} (empty: the command gave none): ", end="")
        with session.signals:
            value = os.read(sys.stdin.fileno(), 65536).decode(errors="replace").rstrip("\r\n")
        try:
            check_value(key, value)
        except ValueError as error:
            session.display.line(str(error))
        else:
            return value
