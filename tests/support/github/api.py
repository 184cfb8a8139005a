"""Stubs on this machine for GitHub's API: about runs and their commits, and about reviews of deployments.

Act knows no environments, so no one is asked: the job that waits takes the decision itself, in a line that `reviewed`
puts before its script. It reports the decision to the stub, as people report it to GitHub.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

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


REPOSITORY = {"full_name": "owner/repository"}
COMMIT = "0123456789" * 4  # which act takes for the one of each run
WORKFLOW = ".github/workflows/runbook.yml"
FACTS = {"GITHUB_WORKFLOW_REF": f"{REPOSITORY['full_name']}/{WORKFLOW}@refs/heads/main"}
"""What act does not say of a workflow by itself."""


def run_of(number: int, **other: object) -> dict[str, Any]:
    """What GitHub says of a run of the workflow; `other` is said in another way."""
    return {
        "id": number,
        "repository": REPOSITORY,
        "head_repository": REPOSITORY,
        "path": WORKFLOW,
        "head_branch": "main",
        "head_sha": COMMIT,
        "event": "workflow_dispatch",
        "status": "completed",
        **other,
    }


class Api:
    """Answers with runs of the workflow, but with `answers` for those that are given there: a status and a body.

    `compared` is what it says of two commits; `asked` has the paths that it was asked for, and who asked.
    """

    artifacts = ("rdc-state",)

    def __init__(self, answers: Mapping[int, tuple[int, str]] = {}, compared: tuple[int, object] = (404, {})) -> None:
        self.answers = answers
        self.compared = compared
        self.url = ""
        self.asked: list[tuple[str, str]] = []

    def __call__(self, _: str, path: str, authorization: str) -> tuple[int, object]:
        self.asked.append((path, authorization))
        kind, _, what = path.removeprefix(f"/repos/{REPOSITORY['full_name']}/").rpartition("/")
        match kind:
            case "compare":
                return self.compared
            case _ if what.startswith("artifacts"):
                return 200, {"artifacts": [{"name": name, "expired": False} for name in self.artifacts]}
            case "actions/runs":
                return self.answers.get(int(what), (200, run_of(int(what))))
            case _:
                return 404, {}


@contextmanager
def serving(answers: Mapping[int, tuple[int, str]] = {}, compared: tuple[int, object] = (404, {})) -> Iterator[Api]:
    """A stub that answers meanwhile."""
    api = Api(answers, compared)
    with answering(api) as api.url:
        yield api


TOKEN = "the-token-of-the-run"
_APPROVALS = re.compile(r"/repos/owner/repository/actions/runs/\d+/approvals")
_ENVIRONMENT = re.compile(r"/repos/owner/repository/environments/[\w-]+")
_PROTECTED = {"protection_rules": [{"type": "required_reviewers"}]}
_DECISION = re.compile(r"/decide/(approved|rejected)")


class Reviews:
    """The reviews of a run, and where the stub is."""

    def __init__(self) -> None:
        self.url = ""
        self.found: list[dict[str, Any]] = []

    def decide(self, state: str) -> None:
        """Review the environment."""
        environment = {"id": 1, "name": "approval"}
        self.found.insert(0, {"state": state, "comment": "::x", "environments": [environment], "user": {"login": "o"}})

    def __call__(self, method: str, path: str, authorization: str) -> tuple[int, object]:
        if method == "POST":
            decision = _DECISION.fullmatch(path)
            if decision:
                self.decide(decision[1])
            return 201 if decision else 404, []
        is_known = authorization in {f"Bearer {TOKEN}", f"token {TOKEN}"}
        if is_known and _ENVIRONMENT.fullmatch(path):
            return 200, _PROTECTED
        if is_known and "/artifacts?" in path:
            return 200, {"artifacts": [{"name": "rdc-state-part_1", "expired": False}]}
        return 200 if is_known and _APPROVALS.fullmatch(path) else 404, self.found


@contextmanager
def stub() -> Iterator[Reviews]:
    """The stub on a port of this machine."""
    reviews = Reviews()
    with answering(reviews) as reviews.url:
        yield reviews


def reviewed(text: str, decision: str) -> str:
    """A workflow in which people decide about each job that waits: `decision` is a command that prints the decision."""
    lines = [
        f"decision=$({decision})",
        'curl -fsS -X POST "$GITHUB_API_URL/decide/$decision" > /dev/null',
        '[ "$decision" = approved ] || exit 1',
    ]
    added = "".join(f"          {line}\n" for line in lines)
    parts = re.split(r"(?m)^(?=  \w+:$)", text)
    begins = re.compile(r"  \w+:\n(?:    .*\n)*?    environment: approval\n")
    parts = [re.sub(r"run: (echo '.*)\n", r"run: |\n          \1\n", part) for part in parts]
    changed = [part.replace("run: |\n", f"run: |\n{added}", 1) if begins.match(part) else part for part in parts]
    assert changed != parts
    return "".join(changed)
