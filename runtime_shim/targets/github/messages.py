"""The messages of a workflow's steps: in the runner's files, its log, and the run summary."""

import base64
import json
import os
import re
from contextlib import suppress

from runtime_shim.engine.program import UsageError
from runtime_shim.engine.texts import one_line

FILES_OF_RUNNER = ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE")
LONGEST_BLOCK = 100_000  # characters; GitHub takes 1 MiB in all
MARKUP_SIGNS = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|#&~!"})


class Runner:
    """The files that a step writes for the runner. The step's commands do not get their paths."""

    def __init__(self) -> None:
        self._page = os.environ.get("GITHUB_STEP_SUMMARY", "")
        self._output, *self._others = (os.environ.pop(name, "") for name in FILES_OF_RUNNER)
        self._said: list[str] = []

    def output(self, name: str, word: str) -> None:
        """Set an output for conditions of later steps; accept only names made by rdc."""
        if not re.fullmatch(r"[A-Za-z0-9_./:~ -]*", word):
            raise UsageError(f"{name} is not a name made by rdc")
        self._said.append(f"{name}={word}\n")

    def page(self, text: str) -> None:
        """Append to the run summary."""
        if self._page:
            with open(self._page, "a", encoding="utf-8", errors="replace") as file:
                file.write(f"{text}\n")

    def end(self) -> None:
        """Write only rdc's outputs to the files, since a step's commands may have found and changed them."""
        for path, lines in ((self._output, self._said), *((path, []) for path in self._others)):
            if path:
                with suppress(OSError):
                    os.unlink(path)  # for processes that still have it open
                with open(path, "w", encoding="ascii") as file:
                    file.writelines(lines)


def plain(text: str) -> str:
    """Return a text on one line, without commands to the runner."""
    return one_line(text).replace("##[", "# # [")


def annotation(level: str, title: str, message: str) -> str:
    """Return the runner command for an annotation."""
    return f"::{level} title={title}::{plain(message).replace('%', '%25')}"


def as_block(text: str) -> str:
    """Return a text as a Markdown code block."""
    lines = re.split(r"[\r\n]", text[:LONGEST_BLOCK])
    # Invisible characters, such as bidi marks, are escaped.
    shown = ("".join(c if c.isprintable() or c == "\t" else repr(c)[1:-1] for c in line) for line in lines)
    return "".join(f"    {line}\n" for line in shown)


def as_word(texts: "list[str]") -> str:
    """Return texts as an output that other jobs can decode: it has only letters, digits, `-` and `_`."""
    data = json.dumps(texts, ensure_ascii=False).encode("utf-8", "replace")
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def as_cell(text: str) -> str:
    """Return a text escaped for a table cell."""
    return plain(text).translate(MARKUP_SIGNS)
