"""A server of `rdc view` in this process, and a client that may do what a browser would not."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from benchmarks.workers.fleet import until
from rdc.looking.drawing import Drawing
from rdc.looking.model import Document
from rdc.looking.runs import LocalRuns
from rdc.looking.server import Server
from rdc.looking.watching import ManyRuns, Watch
from tests.support.cli import environment
from tests.support.runbooks import command, question

SOON = 14.0
JSON = {"Content-Type": "application/json"}

OPEN = "Open the page."
DEPLOY = (
    "# Deploy\n\n"
    + command("1. Build", "echo built; [ -e tried ] || { touch tried; false; }", "FAIL: RETRY 2")
    + question("2. Does it look right?", f"{OPEN}\n\nThen the other.", "YES: CONTINUE", 'NO: STOP "Not deployed"')
    + command("3. Ship", "until [ -e go ]; do sleep 0.02; done; echo shipped")
)
NAME = "deploy.runbook.md"


class Reply(NamedTuple):
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Stream:
    """The events of a run, as they come."""

    def __init__(self, client: Client, path: str) -> None:
        self._connection = client.connect()
        self._connection.request("GET", path, headers=client.headers())
        self.response = self._connection.getresponse()
        assert self.response.status == 200, self.response.read()

    def events(self) -> Iterator[tuple[str, Any]]:
        """Yield events with their data, and comments with None."""
        kind, deadline = "", time.monotonic() + SOON
        for line in self.response:
            assert time.monotonic() < deadline, "nothing more came"
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name == "event":
                kind = value
            elif name == "data":
                yield kind, json.loads(value)
            elif line.startswith(b":"):
                yield "comment", None

    def until(self, kind: str, **wanted: object) -> Any:
        """Return the data of the first event of a kind with these values."""
        for found, data in self.events():
            if found == kind and all(data[name] == value for name, value in wanted.items()):
                return data
        raise AssertionError(f"the stream ended without {kind} {wanted}")

    def question(self) -> Any:
        """Return the first question of the run."""
        for found, data in self.events():
            if found == "state" and data["question"]:
                return data["question"]
        raise AssertionError("the stream ended without a question")

    def close(self) -> None:
        self._connection.close()


class Client:
    """Asks a server by its address."""

    def __init__(self, address: str) -> None:
        self.host, _, self.token = address.removeprefix("http://").partition("/#")
        self.port = int(self.host.rpartition(":")[2])
        self.streams: list[Stream] = []

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=SOON)

    def headers(self, **more: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", **more}

    def ask(self, path: str, method: str = "GET", body: object = None, **headers: str | None) -> Reply:
        """Ask with the token and more headers. `None` leaves one out."""
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        given = {**self.headers(), **names, **(JSON if body is not None and "Content-Type" not in names else {})}
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection = self.connect()
        try:
            sent = {name: value for name, value in given.items() if value is not None}
            connection.request(method, path, body=content, headers=sent)
            response = connection.getresponse()
            return Reply(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def raw(self, data: bytes, seconds: float = SOON) -> bytes:
        """Send bytes, and return everything until the server closes the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as one:
            one.sendall(data)
            with suppress(OSError):
                one.shutdown(socket.SHUT_WR)
            parts = list[bytes]()
            with suppress(TimeoutError, ConnectionError):
                while part := one.recv(1 << 16):
                    parts.append(part)
            return b"".join(parts)

    def stream(self, key: str, more: str = "") -> Stream:
        """Open a stream, which a test may close before the server ends."""
        self.streams.append(Stream(self, f"/api/runs/{key}/events{more}"))
        return self.streams[-1]

    def answer(self, key: str, **reply: object) -> Reply:
        return self.ask(f"/api/runs/{key}/answer", "POST", reply)


@contextmanager
def serving(file: str, *, wanted: str = "", continues: bool = False) -> Iterator[Client]:
    """A server of a document in the current folder, whose client has the token."""
    with serving_runs(file, LocalRuns, wanted=wanted, continues=continues) as client:
        yield client


@contextmanager
def serving_runs(
    file: str, runs: Callable[[Drawing, Callable[[], None]], ManyRuns], *, wanted: str = "", continues: bool = False
) -> Iterator[Client]:
    """The same with runs of any kind."""
    server = Server(0, Watch(file, Document("", "", 0, continues=continues), runs), wanted)
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    client = Client(server.door.address)
    try:
        yield client
    finally:
        for stream in client.streams:
            stream.close()
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def process_of(folder: Path, *words: str, **variables: str) -> Iterator[tuple[subprocess.Popen[bytes], Client]]:
    """A process of `rdc view` in a folder, and a client with the address that it prints."""
    with (folder / "err").open("wb") as err, (folder / "out").open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "rdc", "view", *words], cwd=folder, env=environment(**variables), stdout=out,
            stderr=err, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    try:
        text = until(lambda: (folder / "out").read_text() or process.poll() is not None, SOON)
        assert isinstance(text, str), (folder / "err").read_text()
        yield process, Client(text.strip())
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def until_document(client: Client, **wanted: object) -> Any:
    """Wait until the document has these values."""
    deadline = time.monotonic() + SOON
    while True:
        found = client.ask("/api/document").json
        if all(found[name] == value for name, value in wanted.items()):
            return found
        assert time.monotonic() < deadline, found
        time.sleep(0.02)


def saved(path: Path, text: str) -> None:
    """Write a file as most editors do: empty it, then write."""
    path.write_text("")
    time.sleep(0.01)
    path.write_text(text, encoding="utf-8")
