"""The options of the github target: what each does, and that no tool finds anything in the result."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from backends.github import GithubBackend
from compiler.diagnostics.issues import InvalidError
from tests.backends.github.walking import Engine
from tests.support.github.compiling import emission, parsed, steps, text_of
from tests.support.github.lint import findings

pytestmark = pytest.mark.tool

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
    assert "TOKEN" not in job["env"], "secrets are for the steps, not for what surrounds them"
    assert [step["env"].get("TOKEN") for step in job["steps"] if "env" in step] == [
        None,
        "${{ secrets.DEPLOY_TOKEN }}",
    ]
    assert [step["name"] for step in job["steps"]] == ["Check out", "Python", "Tools", "1. Build"]


def test_defaults(tmp_path: Path) -> None:
    workflow = parsed(text_of(tmp_path, DOCUMENT))
    job = workflow["jobs"]["runbook"]
    assert workflow["on"] == {"workflow_dispatch": None}
    assert workflow["permissions"] == {}
    assert job["permissions"] == {"contents": "read"}
    assert (job["runs-on"], job["timeout-minutes"]) == ("ubuntu-24.04", 60)
    assert job["steps"][0]["with"] == {"persist-credentials": False}


def test_without_checkout_and_with_a_summary(tmp_path: Path) -> None:
    text = text_of(tmp_path, DOCUMENT, {"checkout": False})
    assert [step["name"] for step in steps(text)] == ["1. Build"]
    assert "SUMMARY" not in text
    text = text_of(tmp_path, DOCUMENT, {"checkout": False, "summary": True})
    assert [step["name"] for step in steps(text)] == ["1. Build", "COMPLETE", "STOP", "Summary"]
    assert text.count("flowchart TD") == 1


def test_secrets_and_variables_reach_the_command(tmp_path: Path, walk: Engine) -> None:
    options = {"checkout": False, "env": {"PORT": 8080}, "secrets": ["TOKEN"]}
    out = tmp_path / "out"
    ran = walk(text_of(tmp_path, DOCUMENT, options), secrets={"TOKEN": "s3cret"}, env={"OUT": str(out)})
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
        ({"env": {"A": "${{ github.event.issue.title }}"}}, "only trusted contexts such as `github.ref`"),
        ({"env": {"A": "${{ secrets.X }}"}}, "only trusted contexts such as `github.ref`"),
        ({"env": {"A B": "1"}}, "a variable's name has"),
        ({"env": {"PATH": "/tmp"}}, "is reserved for"),
        ({"env": {"RDC_RUN_ID": "1"}}, "is reserved for"),
        ({"secrets": ["a-b"]}, "a variable's name has"),
        ({"secrets": {"A": "X }} ${{ github.token"}}, "a variable's name has"),
        ({"permissions": {"everything": "write"}}, "everything"),
        ({"permissions": {"contents": "all"}}, "read"),
        ({"setup": [{"name": "nothing"}]}, "either `uses` or `run`"),
        ({"setup": [{"uses": "setup python"}]}, "uses"),
        ({"on": 3}, "is an event, a list"),
        ({"on": {"push": "main"}}, "must be a mapping or empty"),
        ({"on": {"push\n": None}}, "one line"),
        ({"on": "pushed"}, "did you mean `push`"),
        ({"on": [{"push": None}]}, "GitHub has no event `{'push': None}`"),
        ({"on": "schedule"}, "`schedule` is a list"),
        ({"on": {"schedule": [{"at": "3"}]}}, "`schedule` is a list"),
        ({"on": {"push": {"bogus": 3}}}, "has no setting `bogus`"),
        ({"on": {"workflow_dispatch": ["a"]}}, "must be a mapping or empty"),
        ({"on": {"workflow_dispatch": {"inputs": ["a"]}}}, "`inputs` is a mapping"),
        ({"environment": "a\nb"}, "one line"),
        ({"setup": [{"run": "true", "shell": "bash\n        continue-on-error: true"}]}, "one line"),
        ({"setup": [{"uses": f"a/b@{COMMIT}", "with": {"a: b": 1}}]}, "an input's name has"),
        ({"setup": [{"run": "echo ${{ secrets.X }}"}]}, "a script must not contain an expression"),
        ({"setup": [{"run": "echo ${{ github.ref_name }}"}]}, "a script must not contain an expression"),
        ({"setup": [{"run": "true", "shell": "bash -c '${{ github.ref_name }}' {0}"}]}, "is not allowed here"),
        ({"agent": "ask ${{ github.ref_name }}", "prompts": "agent"}, "a script must not contain an expression"),
        ({"env": {"NODE_OPTIONS": "${{ github.ref }}"}}, "`NODE_OPTIONS` may run as code"),
        ({"env": {"PS4": "${{ github.ref }}"}}, "`PS4` may run as code"),
        ({"setup": [{"run": "eval $X_CMD", "env": {"X_CMD": "${{ github.ref }}"}}]}, "`X_CMD` may run as code"),
        (
            {"setup": [{"uses": f"a/b@{COMMIT}", "with": {"script": "${{ github.ref }}"}}]},
            "`script` may run as code",
        ),
        ({"env": {"A": "1"}, "secrets": ["A"]}, "remove one of them"),
        ({"timeout-minutes": 0}, "timeout-minutes"),
        ({"prompts": "agent"}, "needs a command in the option `agent`"),
        ({"prompts": "nobody"}, "prompts"),
        ({"environment": ""}, "environment"),
        ({"concurrency": {"group": "${{ github.event.x }}"}}, "only trusted contexts such as `github.ref`"),
        ({"concurrency": {"group": "x", "queue": "all"}}, "concurrency.queue"),
        ({"concurrency": {"group": "x", "queue": "max", "cancel-in-progress": True}}, "exclude each other"),
        ({"timeout": 3}, "timeout"),
    ],
)
def test_what_cannot_be(options: dict[str, object], problem: str) -> None:
    with pytest.raises(InvalidError) as caught:
        GithubBackend().options.validated(options)
    assert problem in str(caught.value)


QUESTION = DOCUMENT + "\n## 2. Agree\n\nIs it good?\n"


def test_setup_steps_are_as_github_has_them(tmp_path: Path, walk: Engine) -> None:
    """They stop at the first failure, also where prompts need helpers, and stand in no table."""
    options = {"setup": [{"run": 'echo set-up >> "$OUT"'}], "checkout": False, "summary": True}
    for document in (DOCUMENT, QUESTION):
        out = tmp_path / "out"
        out.write_text("", encoding="utf-8")
        ran = walk(text_of(tmp_path, document, options), env={"OUT": str(out)})
        (row,) = [row for row in ran.summary.splitlines() if row.startswith("|") and row.count("|") > 3][2:]
        assert re.fullmatch(r"\| 1\. Build \| 1 \| PASS \| \d+ s \||\| [\d:]+ \| 1 Build \| PASS \| .* \|", row)
    failing = {"setup": [{"run": "echo x; false; echo y"}], "checkout": False}
    ran = walk(text_of(tmp_path, DOCUMENT, failing), env={"OUT": str(tmp_path / "none")})
    assert ran.exit_code
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    "value",
    [
        "foo: ${{ github.ref }}",
        "- ${{ github.ref }}",
        "a #b ${{ github.ref }}",
        "x-${{ github.ref }}\n    container: evil/image",
        "'${{ github.ref }}'",
        "${{ github.ref }} ",
    ],
)
def test_values_with_facts_are_quoted_where_they_must_be(value: str, tmp_path: Path) -> None:
    setup = {"uses": f"actions/setup-python@{COMMIT}", "with": {"python-version": value}}
    options = {"env": {"A": value}, "concurrency": {"group": value}, "setup": [setup]}
    workflow = parsed(text_of(tmp_path, DOCUMENT, options))
    job = workflow["jobs"]["runbook"]
    assert workflow["concurrency"]["group"] == value
    assert job["env"]["A"] == value
    assert job["steps"][1]["with"] == {"python-version": value}
    assert "container" not in job


CALLED = {"workflow_call": None, "workflow_dispatch": None}


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("document", "options", "group"),
    [
        (DOCUMENT, {}, "main"),
        (QUESTION, {}, "main"),
        (DOCUMENT, {"on": CALLED}, "main-called-${{ github.event.pull_request.number || 'other' }}"),
        (QUESTION, {"on": CALLED}, "main-called-${{ github.event.pull_request.number || 'other' }}"),
        (QUESTION, {"on": "pull_request"}, "main-${{ github.event.pull_request.number || 'other' }}"),
        (QUESTION, {"concurrency": {"group": "mine"}}, "mine"),
    ],
)
def test_the_group_of_a_run(document: str, options: dict[str, object], group: str, tmp_path: Path) -> None:
    """One run at a time, but a workflow that is called does not wait for its caller."""
    text = text_of(tmp_path, document, options)
    path = tmp_path / "main.yml"
    path.write_text(text, encoding="utf-8")
    assert findings([path]) == []
    concurrency = parsed(text)["concurrency"]
    assert {key: value for key, value in concurrency.items() if key != "group"} == {"cancel-in-progress": False}
    assert concurrency["group"].rpartition("/")[2] == group, "the folder of a test has any name"


def test_runs_may_wait_in_a_queue(tmp_path: Path) -> None:
    text = text_of(tmp_path, DOCUMENT, {"concurrency": {"group": "x", "queue": "max"}})
    path = tmp_path / "main.yml"
    path.write_text(text, encoding="utf-8")
    assert findings([path]) == []
    assert parsed(text)["concurrency"] == {"group": "x", "cancel-in-progress": False, "queue": "max"}


def test_emoji_in_names(tmp_path: Path) -> None:
    options = {"on": {"push": {"branches": ["release-🚀"]}}, "runs-on": ["größer-🚀"]}
    workflow = parsed(text_of(tmp_path, DOCUMENT, options))
    assert workflow["on"]["push"]["branches"] == ["release-🚀"]
    assert workflow["jobs"]["runbook"]["runs-on"] == ["größer-🚀"]


def test_an_action_without_inputs_is_a_step_like_any_other(tmp_path: Path) -> None:
    uses = f"actions/setup-python@{COMMIT}"
    text = text_of(tmp_path, DOCUMENT, {"setup": [{"uses": uses}, {"run": "true"}]})
    path = tmp_path / "deploy.yml"
    path.write_text(text, encoding="utf-8")
    assert findings([path]) == []
    assert steps(text)[1] == {"name": uses, "uses": uses}
