"""An HTTP server on this machine that stands in for GitHub's API; what it answers is a function."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

Answer = Callable[[str, str, str], tuple[int, object]]
"""From the method, the path and the header Authorization to a status and a body: a text, or a value for JSON."""


@contextmanager
def answering(answer: Answer, bodies: list[object] | None = None) -> Iterator[str]:
    """Answers meanwhile; gives the URL. `bodies` gets what is sent, as JSON."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._heard()
            self._answer()

        def do_PUT(self) -> None:
            self._heard()
            self._answer()

        def _heard(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            if bodies is not None:
                bodies.append(json.loads(body))

        def _answer(self) -> None:
            status, body = answer(self.command, self.path, self.headers.get("Authorization", ""))
            data = (body if isinstance(body, str) else json.dumps(body)).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_request(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=[0.01], daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
