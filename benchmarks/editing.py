"""How long an editor waits for `rdc lsp`: for diagnostics after a key, for answers, and for the first diagnostics."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self

from benchmarks.compiling import write
from benchmarks.figures import Figure
from benchmarks.rounds import ROOT, alternate, most_memory

SMALL = ROOT / "examples" / "deploy-with-rollback.runbook.md"
QUESTIONS: Mapping[str, Mapping[str, object]] = {
    "documentSymbol": {},
    "foldingRange": {},
    "definition": {"position": {"line": 90, "character": 12}},
    "hover": {"position": {"line": 90, "character": 12}},
    "completion": {"position": {"line": 90, "character": 12}},
}
"""The questions of an editor after a key, with their data besides the document."""

START, ANSWER, MEMORY = 1.6, 0.05, 120.0
KEY = {1_000: 0.3, 5_000: 1.0}
"""What L-16 of the design allows on a quiet machine of two cores.

Seconds until the first diagnostics, seconds for an answer at 1,000 steps, MiB at 5,000, and seconds from a key to
diagnostics by steps.
"""


def editing(rounds: int = 7, limit: float = 1.0, sizes: tuple[int, ...] = tuple(KEY)) -> list[Figure]:
    """Keys and answers as an editor waits for them, the median of each, and the most memory of the server."""
    ready = median(_started() for _ in range(rounds))
    figures = [Figure("first diagnostics of `rdc lsp`", "1.6 s", ready, START, limit)]
    with TemporaryDirectory() as folder:
        for size in sizes:
            with Client(write(Path(folder), size)) as client:
                answers = {name: partial(client.answer, name) for name in QUESTIONS}
                first = partial(client.answer, "documentSymbol", is_first=True)
                found = alternate({"key": client.key, "first": first, **answers}, rounds)
                memory = most_memory(client.process.pid)
            times = {name: median(each) for name, each in found.items()}
            slowest = max(answers, key=lambda name: times[name])
            whole, small = f"{size:,} steps: ", limit if size <= min(KEY) else None
            shown = "1 s" if KEY[size] >= 1 else "300 ms"
            figures += [
                Figure(f"{whole}from a key to diagnostics", shown, times["key"], KEY[size], limit),
                Figure(f"{whole}the first answer after a key", "50 ms", times["first"], ANSWER, small),
                Figure(f"{whole}later ones, {slowest}", "50 ms", times[slowest], ANSWER, small),
                Figure(f"{whole}memory of the server", "120 MiB", memory, MEMORY, limit, suffix="MiB"),
            ]
    return figures


def _started() -> float:
    started = time.perf_counter()
    with Client(SMALL):
        return time.perf_counter() - started


class Client:
    """An editor with one document, whose first diagnostics have come."""

    def __init__(self, source: Path) -> None:
        self._text = source.read_text(encoding="utf-8")
        self._uri = source.as_uri()
        self._number = 0
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rdc", "lsp"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self._tell("initialized", {})
        document = {"uri": self._uri, "languageId": "markdown", "version": 0, "text": self._text}
        self._tell("textDocument/didOpen", {"textDocument": document})
        self._until(lambda one: one.get("method") == "textDocument/publishDiagnostics")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()

    def key(self) -> float:
        """Press a key, and return the seconds until the diagnostics of that version come."""
        started = time.perf_counter()
        self._type()
        self._until(lambda one: one.get("params", {}).get("version") == self._number)
        return time.perf_counter() - started

    def answer(self, name: str, *, is_first: bool = False) -> float:
        """Press a key, and return the seconds until the answer to the first question about that version, or another."""
        self._type()
        if not is_first:
            self._ask("textDocument/codeLens", {"textDocument": {"uri": self._uri}})
        started = time.perf_counter()
        self._ask(f"textDocument/{name}", {"textDocument": {"uri": self._uri}, **QUESTIONS[name]})
        seconds = time.perf_counter() - started
        self._until(lambda one: one.get("params", {}).get("version") == self._number)
        return seconds

    def _type(self) -> None:
        self._number += 1
        document = {"uri": self._uri, "version": self._number}
        text = self._text.replace("Every service", f"Every service ({self._number})", 1)
        self._tell("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def _ask(self, method: str, params: Mapping[str, object]) -> None:
        number = f"{method} {self._number}"
        self._send({"id": number, "method": method, "params": params})
        answer = self._until(lambda one: one.get("id") == number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")

    def _tell(self, method: str, params: Mapping[str, object]) -> None:
        self._send({"method": method, "params": params})

    def _send(self, message: Mapping[str, object]) -> None:
        assert self.process.stdin
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def _until(self, is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the first message that a condition is true for."""
        assert self.process.stdout
        while True:
            length = 0
            while (line := self.process.stdout.readline()).strip():
                name, _, value = line.partition(b": ")
                length = int(value) if name == b"Content-Length" else length
            if not length:
                raise RuntimeError("the server has ended")
            message: dict[str, Any] = json.loads(self.process.stdout.read(length))
            if is_it(message):
                return message
