"""The options of the github target: what each does, and that no tool finds anything in the result."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.github import GithubBackend
from backends.mistakes import OptionsError
from tests.workflows import act
from tests.workflows.compiling import emission, parsed, steps, text_of
from tests.workflows.lint import findings

DOCUMENT = """\
# Deploy

## 1. Build

```bash
echo "$PORT $TOKEN" > "$OUT"
```
"""

COMMIT = "e797f83bcb11b83ae66e0230d6156d7c80228e7c"
EVERYTHING = {
    "on": {"push": {"branches": ["main"]}, "schedule": [{"cron": "0 3 * * *"}], "workflow_dispatch": None},
    "runs-on": ["self-hosted", "linux"],
    "timeout-minutes": 30,
    "env": {"PORT": 8080, "REF": "${{ github.ref }}", "WORD": "yes"},
    "secrets": {"TOKEN": "DEPLOY_TOKEN"},
    "permissions": {"contents": "read", "id-token": "write"},
    "setup": [
        {
            "name": "Python",
            "uses": f"actions/setup-python@{COMMIT}",
            "with": {"python-version": "3.12", "cache": "pip"},
        },
        {"name": "Tools", "run": "echo tools", "env": {"LEVEL": 1}},
    ],
    "concurrency": {"group": "deploy-${{ github.ref }}", "cancel-in-progress": True},
    "environment": "production",
}


def test_all_options_at_once(tmp_path: Path) -> None:
    text = text_of(tmp_path, DOCUMENT, EVERYTHING)
    path = tmp_path / "deploy.yml"
    path.write_text(text, encoding="utf-8")
    assert findings([path]) == []
    workflow = parsed(text)
    job = workflow["jobs"]["runbook"]
    assert workflow["on"] == EVERYTHING["on"]
    assert workflow["concurrency"] == {"group": "deploy-${{ github.ref }}", "cancel-in-progress": True}
    assert job["runs-on"] == ["self-hosted", "linux"]
    assert job["timeout-minutes"] == 30
    assert job["environment"] == "production"
    assert job["permissions"] == {"contents": "read", "id-token": "write"}
    assert job["env"]["PORT"] == 8080
    assert job["env"]["WORD"] == "yes", "a text stays a text"
    assert job["env"]["TOKEN"] == "${{ secrets.DEPLOY_TOKEN }}"
    assert [step["name"] for step in job["steps"]] == ["Check out", "Python", "Tools", "1. Build", "Result"]


def test_defaults(tmp_path: Path) -> None:
    workflow = parsed(text_of(tmp_path, DOCUMENT))
    job = workflow["jobs"]["runbook"]
    assert workflow["on"] == {"workflow_dispatch": None}
    assert workflow["permissions"] == {}
    assert job["permissions"] == {"contents": "read"}
    assert (job["runs-on"], job["timeout-minutes"]) == ("ubuntu-latest", 360)
    assert job["steps"][0]["with"] == {"persist-credentials": False}


def test_without_checkout_and_summary(tmp_path: Path) -> None:
    text = text_of(tmp_path, DOCUMENT, {"checkout": False, "summary": False})
    assert [step["name"] for step in steps(text)] == ["1. Build", "Result"]
    assert "SUMMARY" not in text
    assert "rdc-journal" not in text


def test_secrets_and_variables_reach_the_command(tmp_path: Path) -> None:
    options = {"checkout": False, "env": {"PORT": 8080}, "secrets": ["TOKEN"]}
    out = tmp_path / "out"
    ran = act.run(tmp_path, text_of(tmp_path, DOCUMENT, options), secrets={"TOKEN": "s3cret"}, env={"OUT": str(out)})
    assert ran.exit_code == 0
    assert out.read_text(encoding="utf-8") == "8080 s3cret\n"


def test_an_action_that_is_not_pinned_is_warned_of(tmp_path: Path) -> None:
    made = emission(tmp_path, DOCUMENT, {"setup": [{"uses": "actions/setup-node@v5"}]})
    assert made.text
    assert [finding.code for finding in made.diagnostics] == ["RD522"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"runs-on": "${{ secrets.X }}"}, "an expression"),
        ({"env": {"A": "${{ github.event.issue.title }}"}}, "only facts such as"),
        ({"env": {"A": "${{ secrets.X }}"}}, "only facts such as"),
        ({"env": {"A B": "1"}}, "pattern"),
        ({"env": {"PATH": "/tmp"}}, "belongs to"),
        ({"env": {"RDC_RUN_ID": "1"}}, "belongs to"),
        ({"secrets": ["a-b"]}, "pattern"),
        ({"secrets": {"A": "X }} ${{ github.token"}}, "pattern"),
        ({"permissions": {"everything": "write"}}, "everything"),
        ({"permissions": {"contents": "all"}}, "read"),
        ({"setup": [{"name": "nothing"}]}, "either `uses` or `run`"),
        ({"setup": [{"uses": "setup python"}]}, "uses"),
        ({"on": 3}, "the events that start"),
        ({"on": {"push": "main"}}, "what is said of an event"),
        ({"on": {"push\n": None}}, "the events that start"),
        ({"timeout-minutes": 0}, "timeout-minutes"),
        ({"prompts": "agent"}, "needs the option `agent`"),
        ({"prompts": "nobody"}, "prompts"),
        ({"environment": ""}, "environment"),
        ({"concurrency": {"group": "${{ github.event.x }}"}}, "only facts such as"),
        ({"timeout": 3}, "timeout"),
    ],
)
def test_what_cannot_be(options: dict[str, object], problem: str) -> None:
    with pytest.raises(OptionsError) as caught:
        GithubBackend().validate(options)
    assert problem in str(caught.value)
