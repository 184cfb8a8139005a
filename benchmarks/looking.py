"""The server of `rdc view`: how soon it is ready, how soon a page gets a record and a picture, and its memory."""

from __future__ import annotations

import fcntl
import http.client
import json
import random
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.compiling import RDC
from benchmarks.document import commands
from benchmarks.figures import Figure
from benchmarks.rounds import most_memory
from runtime_shim.engine.journal import Record, encode
from runtime_shim.engine.state import utc_now

READY, RECORD, PICTURE, MEMORY = 1.0, 0.15, 0.8, 100.0
"""What L-22 of the design allows: seconds, and MiB. A browser is not measured here, so its part is left of them."""

NAME = "work"


def looking(records: int = 10_000, steps: int = 200, rounds: int = 40, limit: float = 1.0) -> list[Figure]:
    """Measure the server with a long run: the time until all visits came, until one more came, and until a picture."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "rdc.toml").touch()
        document = folder / f"{NAME}.runbook.md"
        document.write_text(commands(steps), encoding="utf-8")
        journal = long_run(folder, records)
        with journal.with_name("lock").open("w") as lock, journal.open("ab") as file:
            fcntl.flock(lock, fcntl.LOCK_EX)  # the run works
            started = time.perf_counter()
            with serving(folder) as page:
                stream = page.stream()
                count = len(list(visits(stream, records)))
                ready = time.perf_counter() - started
                times = []
                for number in range(rounds):
                    time.sleep(random.uniform(0.05, 0.15))
                    started = time.perf_counter()
                    file.write(encode(finished(records + 1 + number)))
                    file.flush()
                    next(visits(stream, 1))
                    times.append(time.perf_counter() - started)
                page.get("/api/picture")
                picture = save(page, stream, document)
                memory = most_memory(page.process.pid)
    late = quantiles(times, n=20)[-1]
    return [
        Figure(f"`rdc view` of a run of {count:,} records, until they came", "1 s", ready, READY, limit),
        Figure("until a page gets one more record (of 20, the 19th)", "150 ms", late, RECORD, limit),
        Figure(f"until a page gets the picture of {steps} steps after a change", "0.8 s", picture, PICTURE, limit),
        Figure("memory of the server", "100 MiB", memory, MEMORY, limit, suffix="MiB"),
    ]


def long_run(folder: Path, records: int) -> Path:
    """Start a run, and add records of steps that ended. Return its journal."""
    subprocess.run([RDC, "run", f"{NAME}.runbook.md", "open"], cwd=folder, check=True, capture_output=True)
    journal = folder / ".rdc" / NAME / "journal"
    with journal.open("ab") as file:
        file.writelines(encode(finished(number)) for number in range(1, records + 1))
    return journal


def finished(number: int) -> Record:
    """Return the record of a step that ended N-th."""
    about = {"title": "Do nothing", "attempt": 1, "instances": {}, "outcome": "pass", "how": "", "says": ""}
    step = {"kind": "done", "node": "1", **about, "seconds": 0.001, "next": "1", "changed": {}}
    return {"n": number, "time": utc_now(), **step, "condition": "running"}


class Page:
    """The part of a page that asks the server."""

    def __init__(self, process: subprocess.Popen[bytes], address: str) -> None:
        self.process = process
        self._host, _, self._token = address.strip().removeprefix("http://").partition("/#")

    def _ask(self, path: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection(self._host, timeout=60)
        connection.request("GET", path, headers={"Authorization": f"Bearer {self._token}"})
        response = connection.getresponse()
        if response.status != 200:
            raise RuntimeError(f"{path}: {response.status} {response.read().decode()}")
        return response

    def get(self, path: str) -> bytes:
        """Return the data of a route."""
        return self._ask(path).read()

    def stream(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the events of the run."""
        kind = ""
        for line in self._ask(f"/api/runs/{NAME}/events"):
            name, _, value = line.decode().rstrip("\n").partition(": ")
            kind = value if name == "event" else kind
            if name == "data":
                yield kind, json.loads(value)


@contextmanager
def serving(folder: Path) -> Iterator[Page]:
    """Start the server, and end it."""
    process = subprocess.Popen([RDC, "view", f"{NAME}.runbook.md"], cwd=folder, stdout=subprocess.PIPE)
    try:
        assert process.stdout
        yield Page(process, process.stdout.readline().decode())
    finally:
        process.kill()
        process.communicate()


def visits(stream: Iterator[tuple[str, Mapping[str, Any]]], count: int) -> Iterator[Any]:
    """Yield so many visits of a stream, as they come."""
    for kind, data in stream:
        if kind == "visits":
            yield from data["visits"]
            count -= len(data["visits"])
        if count <= 0:
            return


def save(page: Page, stream: Iterator[tuple[str, Mapping[str, Any]]], document: Path) -> float:
    """Return the seconds from a change of the document until the picture came."""
    started = time.perf_counter()
    document.write_text(document.read_text(encoding="utf-8").replace("## 1. ", "## 1. Changed "), encoding="utf-8")
    next(data for kind, data in stream if kind == "document")
    page.get("/api/document")
    page.get("/api/picture")
    return time.perf_counter() - started
