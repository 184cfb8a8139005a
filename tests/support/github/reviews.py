"""A stub for the part of GitHub's API that says who has reviewed the deployments of a run.

Act knows no environments, so nobody is asked: what people decide is done by the job that waits for them, in a line that
`reviewed` puts before its script. It tells the stub what was decided, as people tell GitHub.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.support.github.stub import answering

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
