"""The real parser of Mermaid, in one process of node for all tests. `package-lock.json` pins what is installed."""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import ROOT

HERE = Path(__file__).parent
FILES = ("package.json", "package-lock.json", "parse.mjs")
CACHE = ROOT / ".venv" / "mermaid"


class SeenBox(NamedTuple):
    """A box as Mermaid sees it."""

    id: str
    label: str
    shape: str
    classes: list[str]
    link: str


class SeenArrow(NamedTuple):
    """An arrow as Mermaid sees it."""

    source: str
    target: str
    label: str
    stroke: str
    style: list[str]


class SeenFrame(NamedTuple):
    """A frame as Mermaid sees it, with what stands directly in it."""

    id: str
    label: str
    members: list[str]


class Seen(NamedTuple):
    """What Mermaid sees in a diagram."""

    boxes: list[SeenBox]
    arrows: list[SeenArrow]
    frames: list[SeenFrame]


class Mermaid:
    """The parser, ready for diagrams."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def answer(self, text: str) -> dict[str, Any]:
        """What the parser says of a diagram: what it sees, or `error`."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(text) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def read(self, text: str) -> Seen:
        """What the parser sees in a diagram that it must not refuse."""
        answer = self.answer(text)
        assert "error" not in answer, f"{answer['error']}\n{text}"
        return Seen(
            [SeenBox(name, shown(label), *rest) for name, label, *rest in answer["boxes"]],
            [SeenArrow(source, target, shown(label), *rest) for source, target, label, *rest in answer["arrows"]],
            [SeenFrame(name, shown(label), members) for name, label, members in answer["frames"]],
        )


def shown(label: str) -> str:
    """A label as a browser shows it, with its line breaks."""
    return unescape(label.replace("<br>", "\n"))


@contextmanager
def running() -> Iterator[Mermaid]:
    """The parser in its process; the test is skipped where there is no node."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("Mermaid's own parser needs node and npm")
    with subprocess.Popen(
        ["node", "parse.mjs"],
        cwd=_installed(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        yield Mermaid(process)


def _installed() -> Path:
    """The folder where the parser is installed; the first of several processes installs it for all."""
    contents = [(HERE / name).read_bytes() for name in FILES]
    folder = CACHE / hashlib.sha256(b"".join(contents)).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "ready").exists():
            for name in FILES:
                shutil.copy(HERE / name, folder)
            command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
            (folder / "ready").touch()
    return folder
