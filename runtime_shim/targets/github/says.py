"""What the steps of a workflow say: to files of the runner, in its log, and in the run summary."""

import os
import re
from contextlib import suppress
from typing import Any, Callable

from runtime_shim.engine.program import RefusedError
from runtime_shim.engine.texts import one_line

FILES_OF_RUNNER = ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE")
LONGEST_BLOCK = 100_000  # characters of a text in the run summary, which GitHub takes 1 MiB of
MARKUP_SIGNS = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|#&~!"})


class Runner:
    """The files by which a step tells the runner something; what the step calls does not know them."""

    def __init__(self) -> None:
        self._page = os.environ.get("GITHUB_STEP_SUMMARY", "")
        self._output, *self._others = (os.environ.pop(name, "") for name in FILES_OF_RUNNER)
        self._said: list[str] = []

    def output(self, name: str, word: str) -> None:
        """Say a name that rdc has made to conditions of later steps; no other text gets there."""
        if not re.fullmatch(r"[A-Za-z0-9_./:~ -]*", word):
            raise RefusedError(f"{name} is not a name that rdc has made")
        self._said.append(f"{name}={word}\n")

    def page(self, text: str) -> None:
        """Write in the run summary."""
        if self._page:
            with open(self._page, "a", encoding="utf-8", errors="replace") as file:
                file.write(f"{text}\n")

    def end(self) -> None:
        """Leave in the files what rdc has said: what a step calls can find them, and would tell later steps more."""
        for path, lines in ((self._output, self._said), *((path, []) for path in self._others)):
            if path:
                with suppress(OSError):
                    os.unlink(path)  # a process that has it open writes into nothing
                with open(path, "w", encoding="ascii") as file:
                    file.writelines(lines)


def plain(text: str) -> str:
    """Return a text on one line in which nothing is a command to the runner."""
    return one_line(text).replace("##[", "# # [")


def hidden(value: Any, mask: Callable[[str], str]) -> Any:  # noqa: ANN401 (a value of a record, whatever it is)
    """Return a value without secrets in its texts: in markup, and where it is cut, nothing would find them any more."""
    if isinstance(value, dict):
        return {name: hidden(inner, mask) for name, inner in value.items()}
    if isinstance(value, list):
        return [hidden(inner, mask) for inner in value]
    return mask(value) if isinstance(value, str) else value


def annotation(level: str, title: str, message: str) -> str:
    """Return the command that puts a line in the run summary."""
    return f"::{level} title={title}::{plain(message).replace('%', '%25')}"


def as_block(text: str) -> str:
    """Return a text that Markdown shows as it is."""
    lines = re.split(r"[\r\n]", text[:LONGEST_BLOCK])
    return "".join(f"    {_visible(line)}\n" for line in lines)


def _visible(line: str) -> str:
    """Return a line in which nothing is hidden, such as marks that reverse the direction of a text."""
    return "".join(c if c.isprintable() or c == "\t" else repr(c)[1:-1] for c in line)


def as_cell(text: str) -> str:
    """Return a text for a cell of a table."""
    return plain(text).translate(MARKUP_SIGNS)
