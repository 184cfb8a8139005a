"""What the steps of a workflow say: to files of the runner, in its log, and on the page of the run."""

import os
import re

from runtime_shim.engine.program import RefusedError
from runtime_shim.engine.texts import one_line

LONGEST_BLOCK = 100_000  # characters of a text on the page of the run, which GitHub takes 1 MiB of
MARKUP_SIGNS = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|#&~!"})


class Runner:
    """The files by which a step tells the runner something; what the step calls does not know them."""

    def __init__(self) -> None:
        names = ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")
        self._files = {name: os.environ.get(name, "") for name in names}
        for name in ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE"):
            os.environ.pop(name, None)

    def output(self, name: str, word: str) -> None:
        """Say a name that rdc has made to conditions of later steps; no other text gets there."""
        if not re.fullmatch(r"[A-Za-z0-9_./:~ -]*", word):
            raise RefusedError(f"{name} is not a name that rdc has made")
        self._tell("GITHUB_OUTPUT", f"{name}={word}")

    def page(self, text: str) -> None:
        """Write on the page of the run."""
        self._tell("GITHUB_STEP_SUMMARY", text)

    def _tell(self, name: str, line: str) -> None:
        if self._files[name]:
            with open(self._files[name], "a", encoding="utf-8", errors="replace") as file:
                file.write(f"{line}\n")


def plain(text: str) -> str:
    """Return a text on one line in which nothing is a command to the runner."""
    return one_line(text).replace("##[", "# # [")


def annotation(level: str, title: str, message: str) -> str:
    """Return the command that puts a line on the page of the run."""
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
