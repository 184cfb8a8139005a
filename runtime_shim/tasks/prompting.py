"""Prompts of commands and their answers, both kept beside the journal."""

import os
import re
from collections.abc import Mapping

from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import Extension
from runtime_shim.engine.texts import clean, one_line
from runtime_shim.io.reading import decoded
from runtime_shim.io.whole_files import file_name, inner, put
from runtime_shim.tasks.exchange import Answered, Call, exchange
from runtime_shim.tasks.shell import Calling

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
