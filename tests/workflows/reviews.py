"""A stand-in for the part of GitHub's API that says who has reviewed the deployments of a run.

Act knows no environments, so nobody is asked: what people decide is done by the job that waits for them, in a line that
`reviewed` puts before its script. It tells the stand-in what was decided, as people tell GitHub.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

TOKEN = "the-token-of-the-run"
_APPROVALS = re.compile(r"/repos/owner/repository/actions/runs/\d+/approvals")
_DECISION = re.compile(r"/decide/(approved|rejected)")


class Reviews:
    """The reviews of a run, and where the stand-in is."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.environment = "approval"
        self.found: list[dict[str, Any]] = []
        self.reads = 0

    def decide(self, state: str) -> None:
        """Review the environment."""
        environment = {"id": 1, "name": self.environment}
        self.found.insert(0, {"state": state, "comment": "::x", "environments": [environment], "user": {"login": "o"}})


@contextmanager
def stand_in() -> Iterator[Reviews]:
    """The stand-in on a port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            reviews.reads += 1
            is_known = self.headers["Authorization"] == f"Bearer {TOKEN}"
            self._say(200 if is_known and _APPROVALS.fullmatch(self.path) else 404, reviews.found)

        def do_POST(self) -> None:
            decision = _DECISION.fullmatch(self.path)
            if decision:
                reviews.decide(decision[1])
            self._say(201 if decision else 404, [])

        def _say(self, status: int, value: object) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_request(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        reviews = Reviews(f"http://127.0.0.1:{server.server_port}")
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield reviews
        finally:
            server.shutdown()
            thread.join()


def reviewed(text: str, decision: str, job: str = r"approve_\w+") -> str:
    """A workflow in which people decide about a job, or about all: `decision` is a command that prints the decision."""
    lines = [
        f"decision=$({decision})",
        'curl -fsS -X POST "$GITHUB_API_URL/decide/$decision" > /dev/null',
        '[ "$decision" = approved ] || exit 1',
    ]
    return begin_with(text, job, lines)


def begin_with(text: str, job: str, lines: list[str]) -> str:
    """A workflow in which the script of a job, whose id is a pattern, has more lines at its beginning."""
    added = "".join(f"          {line}\n" for line in lines)
    parts = re.split(r"(?m)^(?=  \w+:$)", text)
    begins = re.compile(rf"  {job}:\n")
    changed = [part.replace("run: |\n", f"run: |\n{added}", 1) if begins.match(part) else part for part in parts]
    assert changed != parts
    return "".join(changed)
