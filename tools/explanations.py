"""The pages of the diagnostics: their examples, and the blocks that show what rdc prints for each.

A page has blocks between lines of `~~~~`. A block with a file name is a file. A `console` block has the commands to run
in the folder of these files, each after a `$ `. Without one, the command is `rdc check` with the first file. The fix
starts from the files of the example and from the files that its commands wrote.

A `text` block below the example shows the diagnostic with its help, so that a reader can compare help and fix.
`python -m tools.explanations` writes these blocks.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from compiler.diagnostics.model import CODES
from rdc.cli import main

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "compiler" / "diagnostics" / "explanations"
REPORTED = re.compile(
    r"^(?P<path>[^\s:]+)(?::(?P<line>\d+):(?P<column>\d+))?: (?P<kind>\w+)\[(?P<code>RD\d+)\]: (?P<message>.*)\n"
    r"(?:(?!.*\[RD\d+\]).*\n)*? += help: (?P<help>.*)$",
    re.MULTILINE,
)
PLAIN = re.compile(r"rdc (?:[\w ./,:=-]|'[^']*')+")
"""A command of rdc that means the same with a shell and without one, so it runs in this process."""

BLOCK = re.compile(r"^~~~~(?P<kind>\w+)(?: (?P<name>\S+))?\n(?P<text>.*?)^~~~~$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Section:
    """A section of a page: the files that it shows, and the commands in it."""

    files: dict[str, str]
    commands: list[str]


def page(code: str) -> str:
    """Return the text of the page of a code."""
    return (PAGES / f"{code}.md").read_text(encoding="utf-8")


def section(code: str, name: str) -> Section:
    """The blocks of a section."""
    text = page(code)
    start = text.index(f"\n## {name}\n")
    blocks = [match for match in BLOCK.finditer(text) if match.start() > start]
    if name == "Example":
        blocks = [match for match in blocks if match.start() < text.index("\n## Fix\n")]
    files = {match["name"]: match["text"] for match in blocks if match["name"]}
    lines = [line for match in blocks if match["kind"] == "console" for line in match["text"].splitlines()]
    commands = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    assert files or commands, f"{code}: {name} has nothing to run"
    return Section(files, commands or [f"rdc check {next(iter(files))}"])


def run(shown: Section, folder: Path) -> tuple[int, str]:
    """Write the files of a section and run its commands; return the last exit code and all output."""
    write(shown, folder)
    code, output = 0, ""
    for is_rdc, lines in groupby(shown.commands, lambda command: bool(PLAIN.fullmatch(command))):
        for command in lines if is_rdc else ["\n".join(lines)]:
            code, printed = rdc(shlex.split(command)[1:], folder) if is_rdc else bash(command, folder)
            output += printed
    return code, output


def rdc(words: list[str], folder: Path) -> tuple[int, str]:
    """Run rdc in this process; return its exit code and output."""
    output = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True)
    with chdir(folder), redirect_stdout(output), redirect_stderr(output):
        code = main(words)
    output.seek(0)
    return code, output.read()


def bash(commands: str, folder: Path) -> tuple[int, str]:
    """Run commands that need a shell; return the last exit code and all output."""
    paths = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", commands],
        cwd=folder,
        env={**os.environ, "PATH": paths, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.decode()


def write(shown: Section, folder: Path) -> None:
    """Write the files of a section."""
    for name, text in shown.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def reported(code: str, output: str) -> re.Match[str]:
    """The first diagnostic with this code in the output of rdc, and its help."""
    found = next((match for match in REPORTED.finditer(output) if match["code"] == code), None)
    assert found, f"the example of {code} doesn't report it with a help:\n{output}"
    return found


def report(found: re.Match[str]) -> str:
    """The block of a page that shows a diagnostic."""
    return f"~~~~text\n{found['kind']}[{found['code']}]: {found['message']}\nhelp: {found['help']}\n~~~~\n"


def shown(code: str) -> str:
    """The block of a page that shows its diagnostic, "" without one."""
    return next(
        (match[0] + "\n" for match in BLOCK.finditer(page(code)) if match["kind"] == "text" and not match["name"]), ""
    )


def renew(code: str) -> None:
    """Write what rdc prints for the example of a page into the page."""
    with tempfile.TemporaryDirectory() as folder:
        block = report(reported(code, run(section(code, "Example"), Path(folder))[1]))
    text = page(code).replace(shown(code), "").replace("\n\n\n## Fix", "\n\n## Fix")
    (PAGES / f"{code}.md").write_text(text.replace("\n\n## Fix\n", f"\n\n{block}\n## Fix\n"), encoding="utf-8")


if __name__ == "__main__":
    with ProcessPoolExecutor() as pool:
        list(pool.map(renew, CODES, chunksize=8))
