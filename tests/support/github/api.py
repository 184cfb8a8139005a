"""A stub for the part of GitHub's API that a continuation asks: about a run, and about the commits of two runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tests.support.github.stub import answering

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
