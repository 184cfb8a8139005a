"""What the steps of a workflow say: to files of the runner, in its log, and on the page of the run."""

import os
import re
from pathlib import Path

from runtime_shim.legacy.program import RefusedError

SHOWN = 100_000  # characters of a text in the summary, which GitHub takes 1 MiB of


def tell(variable: str, line: str) -> None:
    """Write a line to a file of the runner."""
    with Path(os.environ[variable]).open("a", encoding="utf-8", errors="replace") as file:
        file.write(f"{line}\n")


def output(name: str, token: str) -> None:
    """Say a name that rdc has made to conditions of later steps; no other text gets there."""
    if not re.fullmatch(r"[A-Za-z0-9_.-]+", token):
        raise RefusedError(f"{name} is no name of a place")
    tell("GITHUB_OUTPUT", f"{name}={token}")


def one_line(text: str) -> str:
    """Return a text on one line, without what does not print, and without what could be a command to the runner."""
    shown = "".join(character if character.isprintable() else " " for character in " ".join(text.split()))
    return shown.replace("##[", "# # [")


def annotate(level: str, title: str, message: str) -> None:
    """Put a line on the page of the run."""
    print(f"::{level} title={title}::{one_line(message).replace('%', '%25')}", flush=True)


def as_block(text: str) -> str:
    """Return a text that Markdown shows as it is."""
    lines = re.split(r"[\r\n]", text[:SHOWN])
    return "".join(f"    {one_visible(line)}\n" for line in lines)


def one_visible(line: str) -> str:
    """Return a line in which nothing is hidden, such as marks that reverse the direction of a text."""
    return "".join(c if c.isprintable() or c == "\t" else repr(c)[1:-1] for c in line)
