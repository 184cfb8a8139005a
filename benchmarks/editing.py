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

from benchmarks.compiling import RDC, write
from benchmarks.figures import Figure
from benchmarks.rounds import ROOT, alternate, elapsed

SMALL = ROOT / "examples" / "deploy-with-rollback.runbook.md"
QUESTIONS: Mapping[str, Mapping[str, object]] = {
    "documentSymbol": {},
    "foldingRange": {},
    "definition": {"position": {"line": 90, "character": 12}},
    "hover": {"position": {"line": 90, "character": 12}},
    "completion": {"position": {"line": 90, "character": 12}},
}
"""The questions of an editor after a key, with their data besides the document."""

LIMITS = {1_000: (1.1, 0.4, 0.16), 5_000: (1.3, 1.2, 0.6)}
"""How much of the time of `rdc check` diagnostics after a key, the first answer and later ones may take, by steps.

On a quiet machine of two cores, diagnostics after a key take at most 300 ms at 1,000 steps and 1 s at 5,000. Answers
take at most 50 ms at 1,000 steps, apart from the first one after a key, since the document is read again.
"""


def editing(rounds: int = 7, generosity: float = 1.0, sizes: tuple[int, ...] = (1_000, 5_000)) -> list[Figure]:
    """Keys and answers against `rdc check` of the same file, which runs beside an idle server; the median of each."""
    figures = [_starting(rounds, generosity)]
    with TemporaryDirectory() as folder:
        for size in sizes:
            source = write(Path(folder), size)
            with Client(source) as client:
                check = partial(elapsed, [RDC, "check", str(source)], Path(folder))
                answers = {name: partial(client.answer, name) for name in QUESTIONS}
                first = partial(client.answer, "documentSymbol", is_first=True)
                times = alternate({"check": check, "key": client.key, "first": first, **answers}, rounds)
            whole = median(times["check"])
            slowest = max(answers, key=lambda name: median(times[name]))
            found = {"from a key to diagnostics": "key", "the first answer": "first", f"later: {slowest}": slowest}
            for (what, name), limit in zip(found.items(), LIMITS[size], strict=True):
                against = f"`rdc check` of {size:,} steps"
                figures.append(Figure(what, against, median(times[name]), whole, generosity * limit))
    return figures


def _starting(rounds: int, generosity: float) -> Figure:
    def started() -> float:
        started = time.perf_counter()
        with Client(SMALL):
            return time.perf_counter() - started

    check = partial(elapsed, [RDC, "check", str(SMALL)])
    times = alternate({"check": check, "start": started}, rounds)
    whole = median(times["check"])
    return Figure(
        "first diagnostics of `rdc lsp`", "`rdc check`, small file", median(times["start"]), whole, 7 * generosity
    )


class Client:
    """An editor with one document, whose first diagnostics have come."""

    def __init__(self, source: Path) -> None:
        self._text = source.read_text(encoding="utf-8")
        self._uri = source.as_uri()
        self._number = 0
        self._process = subprocess.Popen(
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
        self._process.kill()
        self._process.wait()

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
        assert self._process.stdin
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._process.stdin.flush()

    def _until(self, is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the first message that a condition is true for."""
        assert self._process.stdout
        while True:
            length = 0
            while (line := self._process.stdout.readline()).strip():
                name, _, value = line.partition(b": ")
                length = int(value) if name == b"Content-Length" else length
            if not length:
                raise RuntimeError("the server has ended")
            message: dict[str, Any] = json.loads(self._process.stdout.read(length))
            if is_it(message):
                return message
