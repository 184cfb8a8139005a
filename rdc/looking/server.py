"""The server of `rdc view`: `http.server` with a thread for each connection, on the loopback address only."""

import os
import re
import stat
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import parse_qs, unquote

import msgspec

from rdc.draw.graphviz import DrawingError
from rdc.looking.model import Answered, Failure, Reply, encoded
from rdc.looking.security import HEADERS, DeniedError, Door, length_of
from rdc.looking.watching import UnknownRunError, Watch
from runtime_shim.engine.private import at_once
from runtime_shim.engine.program import UsageError
from runtime_shim.engine.texts import clean
from runtime_shim.operator.logs import UNSEEN

PATIENCE = 10.0
"""For how many seconds a connection may be silent, or read nothing."""

JSON = "application/json"
PAGE = Path(__file__).parent / "page"
FILES = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
}
OF_RUN = re.compile(r"/api/runs/([^/]+)/(events|answer|log/([1-9][0-9]{0,7}))")


class Server(ThreadingHTTPServer):
    """A page about a document and its runs. `wanted` is the run that the page shows first.

    `used` is set when a page has asked for data.
    """

    daemon_threads = True
    request_queue_size = 64
    allow_reuse_port = False  # no other process can take the port

    def __init__(self, port: int, watch: Watch, wanted: str = "") -> None:
        self.watch, self.wanted = watch, wanted
        super().__init__(("127.0.0.1", port), Handler)
        self.door, self.used = Door(self.server_address[1]), Event()
        self.files = {path: ((PAGE / name).read_bytes(), kind) for path, (name, kind) in FILES.items()}

    def server_close(self) -> None:
        """End the connections and the threads."""
        self.watch.close()
        super().server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 (as in the base class)
        """Report a defect. A client may go away."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """The requests of one connection."""

    server: Server
    protocol_version = default_request_version = "HTTP/1.1"
    timeout = PATIENCE

    def version_string(self) -> str:
        """Return the name of the server, without a version."""
        return "rdc"

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse a request that isn't valid HTTP."""
        self._give(code, Failure(explain or message or self.responses.get(code, ("",))[0]), is_last=True)

    def do_GET(self) -> None:
        """Answer a request for data."""
        self._answer(self._get)

    def do_POST(self) -> None:
        """Record an answer to a question."""
        self._answer(self._post)

    def _answer(self, act: Callable[[str, Mapping[str, str]], None]) -> None:
        """Check a request and answer it. After a refusal the connection ends, since the rest may be a body."""
        path, _, query = self.path.partition("?")
        try:
            self.server.door.check(path, self.headers)
            length_of(self.headers, has_body=self.command == "POST")
            if path.startswith("/api/"):
                self.server.used.set()
            act(path, {name: values[-1] for name, values in parse_qs(query).items()})
        except DeniedError as denied:
            self._give(denied.status, Failure(denied.why), is_last=True)
        except UnknownRunError:
            self._give(404, Failure("unknown run"), is_last=True)
        except UsageError as error:  # the database of the workers does not answer
            self._give(503, Failure(str(error.args[-1])), is_last=True)

    # --- The routes ---

    def _get(self, path: str, query: Mapping[str, str]) -> None:
        watch = self.server.watch
        if path in self.server.files:
            data, kind = self.server.files[path]
            self._send(200, data, kind)
        elif path == "/api/document":
            watch.drawing.renew()
            self._give(200, watch.document())
        elif path == "/api/picture":
            self._picture(is_wanted=query.get("draw") == "anyway")
        elif path == "/api/runs":
            self._give(200, watch.listed(self.server.wanted))
        elif (found := OF_RUN.fullmatch(path)) and found[2] == "events":
            self._stream(unquote(found[1]), _number(query, "after"), query.get("run", ""))
        elif found and found[3]:
            self._log(unquote(found[1]), int(found[3]), _number(query, "from", -1))
        else:
            raise DeniedError(405 if found else 404, "unknown page")

    def _post(self, path: str, _: Mapping[str, str]) -> None:
        found = OF_RUN.fullmatch(path)
        if found is None or found[2] != "answer":
            raise DeniedError(405 if found or path in FILES else 404, "unknown page")
        if self.headers.get_all("Content-Type") != [JSON]:
            raise DeniedError(415, f"send {JSON}")
        try:
            reply = msgspec.json.decode(self.rfile.read(length_of(self.headers, has_body=True)), type=Reply)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise DeniedError(400, str(error)) from None
        watch = self.server.watch
        with watch.following(unquote(found[1])) as run:
            done = run.answer(reply, continues=watch.document().continues)
        self._give(200 if isinstance(done, Answered) else 409, done)

    def _picture(self, *, is_wanted: bool) -> None:
        watch = self.server.watch
        if watch.document().is_large and not is_wanted:
            raise DeniedError(409, "the picture is large")
        try:
            self._send(200, watch.drawing.picture(), "image/svg+xml")
        except LookupError as error:
            raise DeniedError(404, str(error)) from None
        except DrawingError as error:
            raise DeniedError(503, f"{error}; {error.advice}") from None

    def _log(self, key: str, number: int, start: int) -> None:
        with self.server.watch.following(key) as run:
            text, places = part_of(run.log(number), start)
        self._send(200, text.encode(), "text/plain; charset=utf-8", places)

    def _stream(self, key: str, after: int, known: str) -> None:
        watch = self.server.watch
        with watch.following(key) as run:
            self._head(200, "text/event-stream", is_last=True)
            with suppress(ConnectionError, TimeoutError):  # the page is closed, or reads nothing
                for data in watch.events(run, after, known):
                    self.wfile.write(data)

    # --- Answers ---

    def _give(self, status: int, data: msgspec.Struct, *, is_last: bool = False) -> None:
        self._send(status, encoded(data), JSON, is_last=is_last)

    def _send(
        self, status: int, data: bytes, kind: str, more: Mapping[str, str] | None = None, *, is_last: bool = False
    ) -> None:
        self._head(status, kind, {"Content-Length": str(len(data)), **(more or {})}, is_last=is_last)
        self.wfile.write(data)

    def _head(self, status: int, kind: str, more: Mapping[str, str] | None = None, *, is_last: bool) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind, **(more or {})}.items():
            self.send_header(name, value)
        if is_last:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()


def _number(query: Mapping[str, str], name: str, default: int = 0) -> int:
    word = query.get(name, "")
    if word and not re.fullmatch("[0-9]{1,12}", word):
        raise DeniedError(400, f"`{name}` is not a number")
    return int(word) if word else default


MOST_OF_LOG = 1 << 16
"""How many bytes a part has."""

PARTIAL = re.compile(
    rb"(?:\x1b(?:\[[0-9;:?]*|\][^\x07\x1b]{0,200}\x1b?|[()])?"
    rb"|[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2}|\r)\Z"
)
"""The start of a code, of a character or of a line end. The next part has it whole."""


def part_of(log: str | bytes, start: int) -> tuple[str, dict[str, str]]:
    """Return a part of a log from a byte, and the headers with its place. The log is a path or its content.

    Without a start (-1), or after the log has become shorter, this is its end.
    """
    data, start, size = _bytes_of(log, start)
    partial = PARTIAL.search(data)
    whole = data[: partial.start()] if partial and partial.start() else data
    text = clean(re.sub(UNSEEN, "", whole.decode(errors="replace")))
    places = {"Log-From": start, "Log-Next": start + len(whole), "Log-Size": size}
    return text, {name: str(value) for name, value in places.items()}


def _bytes_of(log: str | bytes, start: int) -> tuple[bytes, int, int]:
    """Return the bytes of a part, where it starts, and the size of the log."""
    if isinstance(log, bytes):
        start = start if 0 <= start <= len(log) else max(len(log) - MOST_OF_LOG, 0)
        return log[start : start + MOST_OF_LOG], start, len(log)
    with suppress(OSError), open(log, "rb", opener=at_once) as file:  # none, a link, or just removed
        about = os.fstat(file.fileno())
        if stat.S_ISREG(about.st_mode):
            start = start if 0 <= start <= about.st_size else max(about.st_size - MOST_OF_LOG, 0)
            file.seek(start)
            return file.read(MOST_OF_LOG), start, about.st_size
    return b"", 0, 0
