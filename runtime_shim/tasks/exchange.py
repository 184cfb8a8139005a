"""Exchanges with processes: text on standard input, the answer on standard output, and the files that keep both."""

import json
import os
import re
import select
import shlex
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import BinaryIO, Callable, NamedTuple

from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Extension
from runtime_shim.engine.signals import signal_groups
from runtime_shim.engine.texts import clean, one_line
from runtime_shim.io.reading import LARGEST_ANSWER, decoded
from runtime_shim.io.whole_files import file_name, inner, put
from runtime_shim.tasks.process import PATIENCE, Environment, Processes, in_words, kill
from runtime_shim.tasks.shell import Calling

SH = "/bin/sh"
PIECE = 65536
GRACE_AFTER = 1.0  # seconds that leftover processes may still write


class Call(NamedTuple):
    """A command for `sh -c`, its environment, its standard input, and a function that shows its answer."""

    command: str
    environment: Environment
    given: bytes
    shown: Callable[[str], None]


class Answered(NamedTuple):
    """A command's answer, and why it does not count, or ""."""

    answer: bytes
    trouble: str


@contextmanager
def file_with(given: bytes) -> Iterator[BinaryIO]:
    """Open an unnamed file with this content as a process's standard input."""
    import tempfile  # slow to import

    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(given)
        file.seek(0)
        yield file


class Exchange:
    """A process and its answer, whose lines `shown` gets.

    The runner waits for signals, so a thread for each process takes its answer.
    """

    def __init__(self, processes: Processes, call: Call) -> None:
        import threading  # slow to import

        self.answer, self._rest, self._shown = bytearray(), b"", call.shown
        self._over, self._thread = threading.Event(), threading.Thread(target=self._take, daemon=True)
        self._from, to = os.pipe()
        try:
            with file_with(call.given) as given:
                files = [(os.POSIX_SPAWN_DUP2, given.fileno(), 0), (os.POSIX_SPAWN_DUP2, to, 1)]
                self.group = processes.spawn(SH, [b"sh", b"-c", os.fsencode(call.command)], call.environment, files)
        except OSError:
            os.close(self._from)
            raise
        finally:
            os.close(to)
        self._thread.start()

    def finish(self, code: "int | None") -> Answered:
        """Return the whole answer after the process has ended. Leftover processes get a second to write."""
        self._over.set()
        self._thread.join(GRACE_AFTER)
        if self._thread.is_alive():
            signal_groups([self.group], signal.SIGKILL)
            self._thread.join()  # showing may be slow, but must not lose anything
        if len(self.answer) > LARGEST_ANSWER:
            return Answered(b"", f"more than {LARGEST_ANSWER:,} bytes")
        return Answered(bytes(self.answer), in_words(code))

    def _take(self) -> None:
        poll, deadline, data = select.poll(), float("inf"), b" "
        poll.register(self._from, select.POLLIN)
        while data and len(self.answer) <= LARGEST_ANSWER:
            if self._over.is_set():
                deadline = min(deadline, time.monotonic() + GRACE_AFTER)
            if time.monotonic() > deadline or poll.poll(100):
                data = os.read(self._from, PIECE) if poll.poll(0) else b""
                self.answer += data
                self._show(data)
        self._show(b"", is_last=True)
        os.close(self._from)
        if data:  # it is too long
            signal_groups([self.group], signal.SIGTERM, signal.SIGCONT)
            if not self._over.wait(PATIENCE):
                signal_groups([self.group], signal.SIGKILL)

    def _show(self, data: bytes, is_last: bool = False) -> None:
        """Show the complete lines that arrived, all at once."""
        *whole, self._rest = (self._rest + data).split(b"\n")
        if self._rest and (is_last or len(self._rest) > PIECE):
            whole, self._rest = [*whole, self._rest], b""
        if whole:
            self._shown(b"\n".join(whole).decode("utf-8", "replace"))


def exchange(
    processes: Processes, calls: Sequence[Call], seconds: int, ended: Callable[[int], None] = lambda _index: None
) -> list[Answered]:
    """Call commands at the same time, with a time limit, and return their answers."""
    exchanges: list[Exchange] = []
    found: dict[int, Answered] = {}
    try:
        for call in calls:
            exchanges.append(Exchange(processes, call))  # the started ones are known if one fails
    except OSError:
        kill([one.group for one in exchanges])
        raise

    def finished(index: int, code: "int | None") -> None:
        processes.said = found[index] = exchanges[index].finish(code)
        ended(index)

    processes.watch([one.group for one in exchanges], seconds, finished)
    return [found[index] for index in range(len(calls))]


class SearchError(Exception):
    """A search for a pattern that did not finish."""


def child_says(processes: Processes, code: str, given: object, seconds: int, *flags: str) -> bytes:
    """Return the output of a small Python program for a JSON value, run in a separate process."""
    words = [sys.executable, "-I", *flags, "-W", "ignore", "-c", code, str(seconds)]
    call = Call(f"exec {shlex.join(words)}", os.environb, json.dumps(given).encode(), lambda _lines: None)
    (answered,) = exchange(processes, [call], seconds)
    if answered.trouble:
        raise SearchError(answered.trouble)
    return answered.answer


PROMPTS, ANSWERS = "prompts", "answers"
# They let a process talk to the GitHub runner, or act as the job.
OF_RUNNER = rb"GITHUB_(TOKEN|OUTPUT|ENV|PATH|STEP_SUMMARY|STATE)|ACTIONS_.*"
Calls = list[tuple[str, Table, str, str]]  # for each: step or entry, its description, command, prompt


def pairs(place: str, words: list[str]) -> dict[str, str]:
    """Return the `NAME=COMMAND` pairs of an option or a file."""
    found: dict[str, str] = {}
    for word in words:
        name, equals, command = word.partition("=")
        if not equals or not command.strip() or "\0" in command:
            raise UsageError(f"{place}: {one_line(word)}: expected NAME=COMMAND")
        found[name.strip()] = command
    return found


def for_others(environment: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """Return an environment without the variables of GitHub's runner."""
    return {name: value for name, value in environment.items() if not re.fullmatch(OF_RUNNER, name)}


def answer_of(answered: Answered) -> "str | None":
    """Return the answer of a command; None if it failed."""
    return None if answered.trouble else decoded(answered.answer)


class Prompting(Calling):
    """Sends prompts to commands and takes their answers."""

    seconds = 0  # the default time limit

    def environment(self, node: Table, **more: str) -> dict[bytes, bytes]:
        """Return the environment of an agent, a tool or an executor."""
        return for_others(super().environment(node, **more))

    def variables(self, name: str, what: Table) -> dict[str, str]:
        """Return variables that add to or replace the usual ones."""
        return {"RDC_STEP": name, **({"RDC_AGENT_TYPE": what.get("agent", "")} if self.noun == "agent" else {})}

    def converse(self, node: Table, calls: Calls) -> list[Answered]:
        """Call commands at the same time, keep their prompts and answers, and return the answers."""
        session, is_one = self.session, len(calls) == 1
        heard: list[list[str]] = [[] for _ in calls]
        made, numbers = [], []
        session.check_stop()
        for (name, what, command, given), lines in zip(calls, heard):
            numbers.append(self.keep(PROMPTS, name, given))
            environment = self.environment(node, **self.variables(name, what))
            shown = self.show if is_one else lines.append
            made.append(Call(command, environment, given.encode("utf-8", "replace"), shown))

        def ended(index: int) -> None:
            if not is_one:
                session.display.line(f"    {one_line(calls[index][0])}:")
            if heard[index]:
                self.show("\n".join(heard[index]))
            self.settled(calls[index][0], self.processes.said)

        try:
            answers = exchange(self.processes, made, node.get("timeout", self.seconds), ended)
        except OSError as error:
            raise self.not_begun(session.state.node, error) from None
        for (name, *_), number, answered in zip(calls, numbers, answers):
            self.keep(ANSWERS, name, decoded(answered.answer), number)
            session.each("answered", decoded(answered.answer))
        return answers

    def settled(self, _name: str, _answered: Answered) -> None:
        """Record one of several answers at once, so that a resume does not ask again."""

    def show(self, lines: str) -> None:
        """Show lines of an answer."""
        shown = "\n".join(f"    {line}".rstrip() for line in clean(lines).split("\n"))
        self.session.display.line(self.session.display.paint(shown, "dim"))

    def keep(self, folder: str, name: str, text: str, number: int = 0) -> int:
        """Write a text to the file STEP.K for the K-th call, and return K."""
        store = self.session.store
        path, stem = os.path.join(store.folder, folder), file_name(name)
        while not number or (folder == PROMPTS and os.path.lexists(f"{path}/{stem}.{number}")):
            number += 1
        try:
            with inner(store.within, folder) as directory:
                put(directory, f"{stem}.{number}", self.session.mask(text).encode("utf-8", "replace"))
        except OSError as error:  # only the journal must be kept
            self.session.display.line(f"    could not keep {clean(str(error.filename))}: {error.strerror}")
        return number


class PromptFiles(Extension):
    """Archives prompts and answers with the run."""

    folders = (PROMPTS, ANSWERS)
