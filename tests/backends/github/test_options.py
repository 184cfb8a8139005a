"""The options of the github target: what each does, who may start a workflow, and what an agent needs."""

import re
from pathlib import Path

import pytest

from backends.github import GithubBackend
from compiler.diagnostics.issues import InvalidError
from tests.backends.github.walking import Clean, Engine
from tests.support import actions_engine as engine
from tests.support.cli import call
from tests.support.github.compiling import emission, parsed, program_of, steps, text_of
from tests.support.runbooks import command

pytestmark = pytest.mark.tool

DOCUMENT = "# Deploy\n\n" + command("1. Build", 'echo "$PORT $TOKEN" > "$OUT"')

COMMIT = "e797f83bcb11b83ae66e0230d6156d7c80228e7c"
EVERYTHING = {
    "on": {
        "schedule": [{"cron": "0 3 * * *"}, {"cron": "30 4 * * MON"}],
        "push": {"branches": ["main"]},
        "workflow_dispatch": None,
    },
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


def test_all_options_at_once(tmp_path: Path, clean: Clean) -> None:
    text = text_of(tmp_path, DOCUMENT, EVERYTHING)
    clean(text)
    for block in ("  schedule:\n    - cron: '0 3 * * *'\n", "      - self-hosted\n      - linux\n"):
        assert block in text, "options stand in block style"
    assert "{cron" not in text
    workflow = parsed(text)
    job = workflow["jobs"]["runbook"]
    assert all(workflow[name] == EVERYTHING[name] for name in ("on", "concurrency"))
    for name in ("runs-on", "timeout-minutes", "environment", "permissions"):
        assert job[name] == EVERYTHING[name]
    assert job["env"]["PORT"] == "8080"
    assert job["env"]["WORD"] == "yes", "a text stays a text"
    assert "TOKEN" not in job["env"], "secrets are for the steps, not for what surrounds them"
    given = [step["env"].get("TOKEN") for step in job["steps"] if "env" in step]
    assert given == [None, "${{ secrets.DEPLOY_TOKEN }}"]
    assert [step["name"] for step in job["steps"]] == ["Check out", "Python", "Tools", "1. Build"]


def test_defaults(tmp_path: Path) -> None:
    workflow = parsed(text_of(tmp_path, DOCUMENT))
    job = workflow["jobs"]["runbook"]
    assert workflow["on"] == {"workflow_dispatch": None}
    kind = {"type": "choice", "options": ["a", "1"], "default": None, "required": True}
    push = {"branches": ["main", "release/**", "yes", "[ab]"], "tags": ["1"]}
    on = {"push": push, "workflow_dispatch": {"inputs": {"kind": kind}}}
    assert (parsed(text_of(tmp_path, DOCUMENT, {"on": on}))["on"], workflow["permissions"]) == (on, {})
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
        ({"setup": [{"name": "nothing"}]}, "either `uses` or `run`"),
        ({"setup": [{"uses": "setup python"}]}, "uses"),
        ({"on": 3}, "is an event, a list"),
        ({"on": {"push": "main"}}, "must be a mapping or empty"),
        ({"on": {"push\n": None}}, "one line"),
        ({"on": "pushed"}, "did you mean `push`"),
        ({"on": [{"push": None}]}, "GitHub has no event `{'push': None}`"),
        ({"on": "schedule"}, "`schedule` is a list"),
        ({"on": {"schedule": [{"at": "3"}]}}, "`schedule` is a list"),
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
        ({"setup": [{"uses": f"a/b@{COMMIT}", "with": {"script": "${{ github.ref }}"}}]}, "`script` may run as code"),
        ({"env": {"A": "1"}, "secrets": ["A"]}, "remove one of them"),
        ({"timeout-minutes": 0}, "timeout-minutes"),
        ({"prompts": "agent"}, "needs a command in the option `agent`"),
        ({"prompts": "nobody"}, "prompts"),
        ({"environment": ""}, "environment"),
        ({"concurrency": {"group": "${{ github.event.x }}"}}, "only trusted contexts such as `github.ref`"),
        ({"concurrency": {"group": "x", "queue": "all"}}, "concurrency.queue"),
        ({"concurrency": {"group": "x", "queue": "max", "cancel-in-progress": True}}, "exclude each other"),
        ({"timeout": 3}, "timeout"),
        *(
            ({"on": on, "if-author": ["OWNER"]}, "`if-author` needs an event with an author in `on`: issue_comment")
            for on in ("push", ["workflow_dispatch"], {"workflow_run": {"workflows": ["CI"]}})
        ),
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
        "foo: ${{ github.ref }}", "- ${{ github.ref }}", "a #b ${{ github.ref }}",
        "x-${{ github.ref }}\n    container: evil/image", "'${{ github.ref }}'", "${{ github.ref }} ",
        "x-${{ github.ref_name }}", "x-${{ github.sha }}",
    ],
)  # fmt: skip
def test_values_with_facts_are_quoted_where_they_must_be(value: str, tmp_path: Path) -> None:
    setup = {"uses": f"actions/setup-python@{COMMIT}", "with": {"python-version": value}}
    options = {"env": {"A": value}, "concurrency": {"group": value}, "setup": [setup]}
    workflow = parsed(text_of(tmp_path, DOCUMENT, options))
    job = workflow["jobs"]["runbook"]
    assert (workflow["concurrency"]["group"], job["env"]["A"]) == (value, value)
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
def test_the_group_of_a_run(
    document: str, options: dict[str, object], group: str, tmp_path: Path, clean: Clean
) -> None:
    """One run at a time, but a workflow that is called does not wait for its caller."""
    text = text_of(tmp_path, document, options)
    clean(text)
    concurrency = parsed(text)["concurrency"]
    assert {key: value for key, value in concurrency.items() if key != "group"} == {"cancel-in-progress": False}
    assert concurrency["group"].rpartition("/")[2] == group, "the folder of a test has any name"


def test_runs_wait_in_a_queue_names_have_emoji_and_an_action_without_inputs_is_a_step(
    tmp_path: Path, clean: Clean
) -> None:
    uses = f"actions/setup-python@{COMMIT}"
    options = {"on": {"push": {"branches": ["release-🚀"]}}, "setup": [{"uses": uses}, {"run": "true"}]}
    text = text_of(tmp_path, DOCUMENT, {**options, "concurrency": {"group": "x", "queue": "max"}})
    clean(text)
    assert parsed(text)["concurrency"] == {"group": "x", "cancel-in-progress": False, "queue": "max"}
    assert (parsed(text)["on"]["push"]["branches"], steps(text)[1]) == (["release-🚀"], {"name": uses, "uses": uses})
    workflow = parsed(text_of(tmp_path, DOCUMENT, {"runs-on": ["größer-🚀"]}))
    assert workflow["jobs"]["runbook"]["runs-on"] == ["größer-🚀"]


COMMAND = '## 1. Build\n\n```bash\necho ran >> "$LOG"\n```\n'
ASKING = COMMAND + "\n## 2. Publish?\n\n- YES: CONTINUE\n- NO: STOP\n\n" + COMMAND.replace("1. Build", "3. Publish")
TRUSTED = ["OWNER", "MEMBER"]
AGENT = "name: Note\nsteps:\n  - name: draft\n    prompt: Write.\n    end: true\n"


@pytest.mark.parametrize(
    ("event", "subject"),
    [
        ("issue_comment", "comment"), ("discussion_comment", "comment"),
        ("pull_request_review_comment", "comment"), ("pull_request_review", "review"), ("issues", "issue"),
        ("discussion", "discussion"), ("pull_request", "pull_request"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("others", [[], ["workflow_dispatch"]], ids=["alone", "beside others"])
def test_only_these_authors_start_a_run(others: list[str], event: str, subject: str, tmp_path: Path) -> None:
    options = {"on": [event, *others], "if-author": TRUSTED, "checkout": False, "prompts": "environment"}
    document = ASKING if others and event in {"issue_comment", "pull_request"} else COMMAND
    (tmp_path / "r").mkdir()
    workflow = text_of(tmp_path / "r", document, options)
    for number, (author, starts) in enumerate({"MEMBER": True, "COLLABORATOR": False, "": False}.items()):
        run = engine.run(
            tmp_path / "r",
            workflow,
            history=tmp_path / f"h{number}",
            event=event,
            payload={subject: {"author_association": author, "number": 1}, "action": "created"},
            environments={"approval": ["approved"]},
            env={"LOG": str(tmp_path / "log")},
        )
        assert bool([job for job in run.jobs.values() if job.steps]) == starts, (author, run)


def test_events_without_an_author_start_a_run_as_before(tmp_path: Path) -> None:
    options = {"on": ["issue_comment", "workflow_dispatch", "push"], "if-author": TRUSTED, "checkout": False}
    (job,) = parsed(text_of(tmp_path, COMMAND, {"on": "issue_comment"}))["jobs"].values()
    assert "if" not in job, "without the option there is no condition"
    workflow = text_of(tmp_path, COMMAND, options)
    for event in ("workflow_dispatch", "push"):
        env = {"LOG": str(tmp_path / "log")}
        assert engine.run(tmp_path, workflow, history=tmp_path / event, event=event, env=env).conclusion == "success"
    assert (tmp_path / "log").read_text(encoding="utf-8") == "ran\nran\n"


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        ({"on": "issue_comment"}, "`issue_comment` has no guard on the author"),
        ({"on": ["push", "discussion_comment"]}, "`discussion_comment` has no guard on the author"),
        ({"on": {"workflow_run": {"workflows": ["CI"]}}}, "`workflow_run` has no author"),
        (
            {"on": {"workflow_run": {"workflows": ["CI"]}, "issue_comment": None}, "if-author": ["OWNER"]},
            "`workflow_run` has no author",
        ),
        ({"on": "issue_comment", "if-author": ["OWNER"]}, ""),
        ({"on": {"issues": {"types": ["opened"]}}}, ""),
        ({"on": ["pull_request", "pull_request_review_comment", "push", "workflow_call"]}, ""),
    ],
)
def test_an_event_that_strangers_cause(options: dict[str, object], fragment: str, tmp_path: Path) -> None:
    found = [item for item in emission(tmp_path, COMMAND, options).diagnostics if item.code == "RD549"]
    assert [fragment in item.message for item in found] == [True] * bool(fragment)


KEY = {"secrets": ["KEY"]}
INSTALLED = {"setup": [{"run": "npm install x"}]}


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        ({"agent": "claude-code"}, "no set-up that installs it and no secret with its key"),
        ({"agent": "claude-code", **KEY}, "the agent claude-code has no set-up that installs it"),
        ({"agent": "claude-code", **INSTALLED}, "the agent claude-code has no secret with its key"),
        ({"agents": {"writer": "codex"}, "agent": "true"}, "the agent codex has no set-up"),
        ({"agent": {"run": "llm", **INSTALLED}, **KEY}, "no secret with its key"),
        ({"agent": {"run": "llm", **INSTALLED, **KEY}, **KEY}, ""),
        ({"agent": "gemini", **INSTALLED, **KEY}, ""),
        ({"agent": "claude-code", "runs-on": ["self-hosted", "linux"]}, ""),
        ({"agent": "claude-code", **INSTALLED, "permissions": {"contents": "read", "id-token": "write"}}, ""),
        ({"agent": "claude -p"}, "the agent claude has no set-up that installs it"),
        ({"agent": "claude -p"}, "write `agent: {run: 'claude -p', setup: [{run: COMMAND}]}`"),
        ({"agent": {"run": "claude -p", **INSTALLED}}, ""),
        ({"agent": "claudette -p"}, ""),
        ({"agent": "./claude-code"}, ""),
    ],
)
def test_an_agent_that_nothing_installs(options: dict[str, object], fragment: str, tmp_path: Path) -> None:
    made = GithubBackend().emit(program_of(tmp_path, AGENT, "note.workflow.yaml"), options)
    assert made.text
    found = [f"{item.message} {item.help}" for item in made.diagnostics if item.code == "RD550"]
    assert [fragment in item for item in found] == [True] * bool(fragment)


def test_a_document_may_ignore_these_warnings(tmp_path: Path) -> None:
    for above, code in (("", 1), ("    # rdc: ignore RD549\n", 0)):
        head = f"---\nrdc:\n  github:\n{above}    on: issue_comment\n---\n"
        (tmp_path / "a.runbook.md").write_text(f"{head}{COMMAND}", encoding="utf-8")
        assert call("check", "--strict", "a.runbook.md", cwd=tmp_path).code == code


@pytest.mark.parametrize(
    ("out", "is_fine"),
    [
        (".github/workflows/a.yml", True), (".github/workflows/", True), (".github/workflow/x/a.yml", True),
        ("workflows/x/a.yml", True), (".github/workflows/x/a.yml", False), (".github/workflows/x/", False),
        (".github/workflows/x/y/a.yml", False), ("other/../.github/workflows/x/a.yml", False),
    ],
)  # fmt: skip
def test_github_ignores_workflows_in_subfolders(out: str, is_fine: bool, tmp_path: Path) -> None:
    (tmp_path / "a.runbook.md").write_text(COMMAND, encoding="utf-8")
    for folder in (".github/workflows/x/y", ".github/workflow/x", "workflows/x", "other"):
        (tmp_path / folder).mkdir(parents=True)
    result = call("compile", "--to", "github", "a.runbook.md", "-o", out, cwd=tmp_path)
    assert ("RD548" not in result.err, result.code == 0) == (is_fine, is_fine)
    if not is_fine:
        assert "write it to .github/workflows/a.yml\n" in result.err
        assert not list(tmp_path.rglob("*.yml"))
