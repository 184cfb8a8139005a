"""Every page is true: its commands run in page order and print what it shows, and it is short enough to read.

The convention is in CONTRIBUTING.md. To run one page: `pytest tests/docs/test_pages.py -k tutorial`.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from rdc.commands import COMMANDS
from tests.conftest import ROOT
from tests.support import warm
from tests.support.pages import Command, File, actions, blocks, broken_links, names, prose, text
from tools.regenerate import FILES

pytestmark = pytest.mark.process

PAGES = names()
GENERATED = {path.relative_to(ROOT).as_posix() for path in FILES}
WRITTEN = [page for page in PAGES if page not in GENERATED]
"""The pages that people write."""

WORDS_OF_A_PAGE, WORDS = 1_500, 34_400
SECONDS = 120
MARK = "\x1e"
END = f"code=$?; printf '{MARK}%s{MARK}%s\\n' $code \"$PWD\"; (exit $code)"
"""What the shell says after each command, so that `$?` and the folder are those of the command before."""

FORMS = (
    (r"\b\d{8}T\d{6}Z-[0-9a-f]{8}\b", "RUN"),
    (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?", "TIME"),
    (r"\b[0-9a-f]{64}\b|\b[0-9a-f]{40}\b|(?<=_)[0-9a-f]{8}(?=\.(?:py|mk)\b)", "HASH"),
    (r"\b\d+(?:\.\d+)? ?(?:ms|s|min|h)\b", "DURATION"),
)
"""What differs from run to run, and what stands for it in a comparison."""


OF_PROCESSES = re.compile(r"\b(?:kill|timeout)\b|[^&>]&$|[<>]\(", re.MULTILINE)
"""What is about a process itself: signals, and files that it gets; a command with it starts rdc as readers do."""


class Shell:
    """A bash that runs the commands of a page one after the other, each without standard input."""

    def __init__(self, process: subprocess.Popen[str], folder: Path, rdc: Path) -> None:
        assert process.stdout
        self._process, self._lines, self._folder, self._rdc = process, process.stdout, folder, rdc

    def run(self, command: str) -> tuple[int, str]:
        is_forked = warm.FORKS and not OF_PROCESSES.search(command)
        begins = warm.rdc_for_shells() if is_forked else f'PYTHONPATH={ROOT} exec {sys.executable} -m rdc "$@"'
        self._rdc.write_text(f"#!/bin/sh\n{begins}\n", encoding="utf-8")
        given, output = self._process.stdin, ""
        assert given
        given.write(f"eval {shlex.quote(command)} </dev/null 2>&1\n{END}\n")
        given.flush()
        while MARK not in output:
            line = self._lines.readline()
            assert line, f"`{command}` ended the shell, or the page took more than {SECONDS} seconds:\n{output}"
            output += line
        output, code, folder = output.split(MARK)
        self._folder = Path(folder.rstrip("\n"))
        return int(code), output if output.endswith("\n") or not output else output + "\n"

    def write(self, file: File) -> None:
        """Write a file of the page, its path counted from the shell's folder."""
        path = self._folder / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, encoding="utf-8")


@contextmanager
def shell(base: Path) -> Iterator[Shell]:
    """A shell in an empty folder, with this tree's rdc on its path, a home, and an identity for git."""
    folders = {name: base / name for name in ("page", "home", "bin")}
    for folder in folders.values():
        folder.mkdir()
    rdc = folders["bin"] / "rdc"
    rdc.touch(mode=0o755)
    path = os.pathsep.join((str(folders["bin"]), str(Path(sys.executable).parent), os.environ["PATH"]))
    identity = {f"GIT_{role}_{key}": "a@example.org" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
    environment = {"PATH": path, "HOME": str(folders["home"]), "LANG": "C.UTF-8", "USER": "alice", **identity}
    environment["STAND_INS"] = str(ROOT / "tests" / "support" / "stand_ins")
    environment["PYTHONPATH"] = os.environ["PYTHONPATH"]  # with it, a program is compiled once for all calls
    process = subprocess.Popen(
        ["bash", "--norc"],
        cwd=folders["page"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        start_new_session=True,
    )
    timer = threading.Timer(SECONDS, os.killpg, (process.pid, signal.SIGKILL))
    timer.start()
    try:
        yield Shell(process, folders["page"], rdc)
    finally:
        timer.cancel()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def formed(output: str) -> str:
    """Replace durations, times, run ids and hashes by their form."""
    for pattern, form in FORMS:
        output = re.sub(pattern, form, output)
    return output


def shown(output: str) -> str:
    """The expression for the output that a page shows; a line `...` is any number of lines."""
    pieces = (r"(?:.*\n)*" if line == "...\n" else re.escape(formed(line)) for line in output.splitlines(keepends=True))
    return "".join(pieces)


def check(command: Command, code: int, output: str) -> None:
    """Compare a command's output with the page's."""
    place = f"line {command.line}: $ {command.command}\n{output}(exit code {code})"
    assert code == 0 or command.output not in ("", "...\n"), place
    is_same = not command.output or re.fullmatch(shown(command.output), formed(output))
    assert is_same, f"{place}\nthe page shows:\n{command.output}"


LATER = {"docs/targets/dbos.md"}
"""The page with a worker: `tests/backends/dbos` and `tests/rdc` have these commands, too."""

RUNNING = [page for page in PAGES if any(isinstance(step, Command) for step in actions(page))]


@pytest.mark.share(2)
@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.soak] if page in LATER else []) for page in RUNNING]
)
def test_commands_print_what_the_page_shows(page: str, tmp_path: Path) -> None:
    with shell(tmp_path) as started:
        for step in actions(page):
            if isinstance(step, File):
                started.write(step)
            else:
                check(step, *started.run(step.command))


MADE = re.compile(r"(?:>|\btee|\bsed -i\S* '[^']*') *([\w./-]+)")
"""A file that a hidden command writes."""


@pytest.mark.parametrize("page", WRITTEN)
def test_every_command_is_run_or_says_why_not_and_what_it_needs_is_shown(page: str) -> None:
    untested = [
        f"line {block.line}"
        for block in blocks(page)
        if block.kind != "console" and not block.skipped and not block.title
        if re.search(r"^\$ |^rdc [a-z-]+\b(?!:)", block.text, re.MULTILINE)
    ]
    assert not untested, "make it a ```console block, or write `<!-- not run: REASON -->` above it"
    for hidden in re.finditer(r"^<!-- run: (.*) -->$", text(page), re.MULTILINE):
        for made in MADE.findall(hidden[1]):
            assert not re.search(rf"(?<![\w./-]){made}(?!\w)", text(page)[hidden.end() :]), f"show {made}"
    assert " sed -i '" not in text(page), "write `sed -i.old`, which works on all systems"
    called = {word for block in blocks(page) for word in re.findall(r"^\$ rdc ([a-z-]+)", block.text, re.MULTILINE)}
    assert called <= {*COMMANDS}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    assert broken_links(page) == []


def words(page: str) -> int:
    """The number of words of a page outside its fenced blocks; tables count."""
    return len(re.findall(r"[^\W_][\w'’.-]*", prose(page)))


@pytest.mark.parametrize("page", WRITTEN)
def test_a_page_is_short(page: str) -> None:
    assert words(page) <= WORDS_OF_A_PAGE, "split it or cut it"


def test_all_pages_together_are_short() -> None:
    counted = {page: words(page) for page in WRITTEN}
    assert sum(counted.values()) <= WORDS, counted


@pytest.mark.parametrize(
    ("code", "output", "page", "is_same"),
    [
        (0, "wrote a\nwrote b\n", "wrote a\n", False),
        (0, "wrote b\n", "wrote a\n", False),
        (0, "one\ntwo\nthree\n", "...\nthree\nfour\n", False),
        (1, "wrote a\n", "", False),
        (1, "wrote a\n", "...\n", False),
        (0, "hash 12\n", f"hash {'0' * 64}\n", False),
        (0, "wrote a\n", "", True),
        (1, "one\ntwo\nthree\n", "one\n...\nthree\n", True),
        (0, "PASS 2.1 s\n", "PASS 0.0 s\n", True),
        (0, "run 20261127T061853Z-6c7f13d7\n", "run 20250101T000000Z-00000000\n", True),
        (0, f"hash {'a1' * 32}\n", f"hash {'0' * 64}\n", True),
    ],
)
def test_a_page_that_shows_something_else_is_found(code: int, output: str, page: str, is_same: bool) -> None:
    """What differs from run to run is compared by its form."""
    with nullcontext() if is_same else pytest.raises(AssertionError):
        check(Command(1, "command", page), code, output)
