"""A stand-in for the part of GitHub's API that a continuation asks: `GET /repos/{owner}/{repo}/actions/runs/{id}`."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

REPOSITORY = {"full_name": "owner/repository"}
WORKFLOW = ".github/workflows/runbook.yml"
FACTS = {
    "GITHUB_WORKFLOW_REF": f"{REPOSITORY['full_name']}/{WORKFLOW}@refs/heads/main",
}
"""What act does not say of a workflow by itself."""


def run_of(number: int, **other: object) -> dict[str, Any]:
    """What GitHub says of a run of the workflow; `other` is said in another way."""
    return {
        "id": number,
        "repository": REPOSITORY,
        "head_repository": REPOSITORY,
        "path": WORKFLOW,
        "head_branch": "main",
        "event": "workflow_dispatch",
        **other,
    }


class Api(ThreadingHTTPServer):
    """Answers with runs of the workflow, but with `answers` for those that are given there: a status and a body."""

    daemon_threads = True

    def __init__(self, answers: Mapping[int, tuple[int, str]] = {}) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = answers
        self.asked: list[tuple[str, str]] = []

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Api

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers.get("Authorization", "")))
        begin, _, number = self.path.rpartition("/")
        if begin != f"/repos/{REPOSITORY['full_name']}/actions/runs":
            status, body = 404, "{}"
        else:
            status, body = self.server.answers.get(int(number), (200, json.dumps(run_of(int(number)))))
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def serving(answers: Mapping[int, tuple[int, str]] = {}) -> Iterator[Api]:
    """A stand-in that answers meanwhile."""
    with Api(answers) as api:
        threading.Thread(target=api.serve_forever, daemon=True).start()
        try:
            yield api
        finally:
            api.shutdown()
