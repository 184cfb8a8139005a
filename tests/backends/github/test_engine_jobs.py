"""The second engine does what GitHub does with jobs, environments, reviewers, re-runs, artifacts, and its API."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.backends.github.walking import HEAD, MATRIX, Engine, jobs, steps
from tests.support.actions_engine import EngineRun, RejectedError

pytestmark = [pytest.mark.tool, pytest.mark.soak]


def results(run: EngineRun) -> dict[str, str]:
    return {name: job.result for name, job in run.jobs.items()}


def test_a_job_below_a_skipped_one_is_skipped_however_far_below(walk: Engine) -> None:
    run = walk(
        jobs("""
        a: {if: false}
        b: {needs: a, if: "always() && needs.a.result == 'skipped' && needs.a.outputs.x == ''"}
        c: {needs: b}
        d: {needs: b, if: needs.b.result == 'success'}
        e: {needs: [a, b], if: "!failure() && contains(needs.*.result, 'success')"}
        """)
    )
    assert results(run) == {"a": "skipped", "b": "success", "c": "skipped", "d": "skipped", "e": "success"}
    assert run.conclusion == "success"


def test_a_failure_counts_for_all_jobs_below(walk: Engine) -> None:
    run = walk(
        jobs("""
        c: {needs: b, if: failure()}
        b: {needs: [a], if: always()}
        a: {steps: [{run: exit 1}]}
        d: {needs: [c], if: needs.c.result == 'success'}
        """)
    )
    assert results(run) == {"a": "failure", "b": "success", "c": "success", "d": "skipped"}
    assert run.conclusion == "failure"


def test_a_matrix_is_a_job_for_each_of_its_rows_and_a_re_run_does_what_has_failed(walk: Engine) -> None:
    text = jobs(f"none:\n  steps: [{{id: z, run: test $GITHUB_RUN_ATTEMPT = 1}}]\n{MATRIX}")
    run = walk(text)
    rows = [(job.name, job.result, job.outcomes["a"]) for job in run.jobs["one"].matrix]
    assert rows == [("0 (a b) of 2", "success", "success"), ("1 (c) of 2", "failure", "skipped")]
    assert (run.jobs["one"].result, run.jobs["two"].outcomes) == ("failure", {"c": "skipped"})
    run = walk(text, rerun=True, github={"run_attempt": "2"})
    assert results(run) == dict.fromkeys(["none", "one", "two"], "success")
    assert run.jobs["two"].outcomes == {"c": "success"}


def test_environments_let_in_whom_people_approve(walk: Engine) -> None:
    text = jobs("""
        a: {environment: production}
        b: {needs: a, if: always(), environment: {name: production}}
        c: {environment: nobody-protects-it}
        """)
    for decisions, expected in (
        (["approved", "rejected"], ["success", "failure"]),
        (["refused", "approved"], ["failure", "success"]),
    ):
        run = walk(text, environments={"production": decisions})
        assert ([run.jobs[name].result for name in "abc"], run.conclusion) == ([*expected, "success"], "failure")
    with pytest.raises(RejectedError, match="nobody decides about production for the job b"):
        walk(text, environments={"production": ["approved"]})


def test_somebody_cancels(walk: Engine) -> None:
    text = f"""{HEAD}jobs:
  a:
    runs-on: ubuntu-latest
    steps:
      - {{id: s, run: 'true'}}
      - {{id: t, run: 'true'}}
      - {{id: u, if: "!cancelled()", run: 'true'}}
      - {{id: v, if: cancelled(), run: 'true'}}
  b: {{needs: a, if: always(), runs-on: ubuntu-latest, steps: [{{run: 'true'}}]}}
  c: {{needs: a, if: "!cancelled()", runs-on: ubuntu-latest, steps: [{{run: 'true'}}]}}
"""
    run = walk(text, cancel="a/s")
    assert run.jobs["a"].outcomes == {"s": "cancelled", "t": "skipped", "u": "skipped", "v": "success"}
    assert [run.jobs[name].result for name in "abc"] == ["cancelled", "success", "skipped"]
    assert run.conclusion == "cancelled"


INPUTS = """on:
  workflow_dispatch:
    inputs:
      text: {type: string}
      flag: {type: boolean}
      level: {type: choice, options: [low, high], default: low}
jobs:
  one:
    runs-on: ubuntu-latest
    steps:
      - {id: a, if: inputs.text, run: 'true'}
      - {id: b, if: "!inputs.text", run: 'true'}
      - {id: c, if: "inputs.flag == true && github.event.inputs.flag == 'true'", run: 'true'}
      - {id: d, if: "inputs.level == 'high'", run: 'true'}
"""


def test_inputs_have_types_and_defaults(walk: Engine) -> None:
    assert [step.outcome for step in walk(INPUTS).jobs["one"].steps] == ["skipped", "success", "skipped", "skipped"]
    run = walk(INPUTS, inputs={"text": "x", "flag": "true", "level": "high"})
    assert [step.outcome for step in run.jobs["one"].steps] == ["success", "skipped", "success", "success"]
    with pytest.raises(RejectedError, match="Unexpected inputs provided: other"):
        walk(INPUTS, inputs={"other": "x"})
    with pytest.raises(RejectedError, match="not in the list of allowed values"):
        walk(INPUTS, inputs={"level": "middle"})
    with pytest.raises(RejectedError, match="is not started by push"):
        walk(INPUTS, event="push")


UPLOAD = """\
- run: mkdir -p out/.hidden out/empty; echo 1 > out/a; echo 2 > out/.hidden/b; chmod +x out/a
- {uses: actions/upload-artifact@v7, with: {name: kept, path: out, include-hidden-files: HIDDEN}}
"""
DOWNLOAD = """\
- uses: actions/download-artifact@v8
  with: {name: kept, path: "${{ runner.temp }}/in", run-id: 1, github-token: "${{ github.token }}"}
- run: cd "$RUNNER_TEMP/in" && find . | LC_ALL=C sort && [ ! -x a ]
"""
KEPT = UPLOAD.replace("HIDDEN", "false")
AGAIN = "- {id: again, uses: actions/upload-artifact@v7, with: {name: kept, path: out/a, overwrite: true}}\n"
OTHER = "- run: echo two > out/a\n- {id: other, uses: actions/upload-artifact@v7, with: {name: b, path: out}}\n"
LOAD = '- {uses: actions/download-artifact@v8, with: {artifact-ids: "ID", path: in}}\n- run: cat in/*\n'
FOUND = "- {uses: actions/download-artifact@v8, with: {pattern: NAME, path: in, merge-multiple: true}}\n"


@pytest.mark.parametrize(("hidden", "found"), [("true", "./.hidden\n./.hidden/b\n"), ("false", "")])
def test_an_artifact_is_what_another_run_finds(walk: Engine, hidden: str, found: str) -> None:
    assert walk(steps(UPLOAD.replace("HIDDEN", hidden))).conclusion == "success"
    text = steps(DOWNLOAD)
    assert walk(f"permissions: {{actions: read}}\n{text}", run_id=2).log == f".\n{found}./a\n"
    assert "Resource not accessible by integration" in walk(text, run_id=3).log


def test_a_pattern_may_match_no_artifact(walk: Engine) -> None:
    shown = "- run: ls in || true\n"
    run = walk(steps(KEPT + FOUND.replace("NAME", "none") + shown))
    assert (run.conclusion, run.log.count("a\n")) == ("success", 0)
    run = walk(steps(KEPT + FOUND.replace("NAME", "kept") + shown), run_id=2)
    assert (run.conclusion, run.log) == ("success", "a\n")
    for text, problem in (
        (FOUND.replace("NAME", "'*'"), "a pattern that matches several"),
        (LOAD.replace("ID", ""), "download of all artifacts"),
    ):
        with pytest.raises(RejectedError, match=problem):
            walk(steps(text), run_id=3)


def test_an_artifact_is_found_by_its_id_until_it_is_overwritten(walk: Engine) -> None:
    run = walk(steps(KEPT + AGAIN.replace(", overwrite: true", "")))
    assert (run.jobs["one"].outcomes["again"], "already exists" in run.log) == ("failure", True), run
    text = KEPT.replace("- {uses", "- {id: keep, uses") + OTHER
    load = LOAD.replace("ID", "${{ steps.STEP.outputs.artifact-id }}")
    run = walk(steps(text + load.replace("STEP", "keep")), run_id=2)
    assert (run.conclusion, run.log) == ("success", "1\n")
    assert [step.outputs["artifact-id"] for step in run.jobs["one"].steps if step.id in {"keep", "other"}] == ["2", "3"]
    for number, step, printed in ((3, "keep", "None of the provided"), (4, "again", "two\n")):
        assert printed in walk(steps(text + AGAIN + load.replace("STEP", step)), run_id=number).log
    run = walk(steps(LOAD.replace("ID", "2")), run_id=5)
    assert "None of the provided artifact IDs were found" in run.log, "it belongs to another run"


def test_checkout_gives_the_repository(walk: Engine, tmp_path: Path) -> None:
    (tmp_path / "repository" / "file").write_text("content\n")
    run = walk(steps("- run: ls\n- uses: actions/checkout@v7\n- run: cat file; echo more >> file\n"))
    assert (run.log, (tmp_path / "repository" / "file").read_text()) == ("content\n", "content\n")


ASK = """\
- env: {TOKEN: "${{ github.token }}"}
  run: |
    for path in $PATHS; do
      curl --silent --header "Authorization: Bearer $TOKEN" \\
        "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/actions/runs/$path"
      echo
    done
"""


def test_the_api_tells_about_runs(walk: Engine) -> None:
    walk(steps("- run: exit 1\n"), github={"ref": "refs/heads/feature"})
    text = f"permissions: {{actions: read}}\nenv: {{PATHS: 1 2 3}}\n{steps(ASK)}"
    first, second, third = (json.loads(line) for line in walk(text, run_id=2).log.splitlines())
    keys = ("id", "status", "conclusion", "head_branch")
    assert [first[key] for key in keys] == [1, "completed", "failure", "feature"]
    assert [second[key] for key in keys] == [2, "in_progress", None, "main"]
    assert (first["event"], first["path"]) == ("workflow_dispatch", ".github/workflows/workflow.yml")
    assert first["repository"]["id"] == first["head_repository"]["id"]
    assert first["head_repository"]["fork"] is False
    assert (third["message"], third["status"]) == ("Not Found", "404")
    log = walk(text.replace("actions: read", "contents: read"), run_id=3).log
    assert json.loads(log.splitlines()[0])["status"] == "403"


WAITS = jobs("""
    first:
      outputs: {color: "${{ steps.a.outputs.color }}"}
      steps: [{id: a, run: 'echo "color=red" >> "$GITHUB_OUTPUT"'}]
    decide:
      name: Paint it ${{ needs.first.outputs.color }}?
      needs: first
      environment: approval
      outputs: {started: "${{ steps.a.outputs.started }}"}
      steps: [{id: a, run: 'echo "started=yes" >> "$GITHUB_OUTPUT"'}]
    last: {needs: decide}
    rejected: {needs: decide, if: "failure() && needs.decide.outputs.started != 'yes'", steps: [{run: exit 1}]}
    """)


def record(folder: Path, run: int = 1) -> Any:
    return json.loads((folder / "history" / str(run) / "run.json").read_text(encoding="utf-8"))


def test_names_of_environments_have_no_case(walk: Engine, tmp_path: Path) -> None:
    assert results(walk(WAITS, environments={"Approval": ["rejected"]}))["last"] == "skipped"
    assert record(tmp_path)["approvals"][0]["environments"][0]["name"] == "Approval"
    run = walk(asked("environments/approval", ".name"), environments={"Approval": ["approved"]})
    assert run.log == "Approval\n; 0\n"


def test_reviews_of_all_attempts_are_reviews_of_the_run(walk: Engine, tmp_path: Path) -> None:
    walk(WAITS, environments={"approval": ["rejected"]})
    walk(WAITS, environments={"approval": ["approved"]}, rerun=True)
    assert [review["state"] for review in record(tmp_path)["approvals"]] == ["rejected", "approved"]
    assert record(tmp_path)["run"]["run_attempt"] == 2
    walk(WAITS, environments={"approval": ["rejected"]}, run_id=2)
    assert [review["state"] for review in record(tmp_path, 2)["approvals"]] == ["rejected"]


def asked(path: str, filter_: str = "", permissions: str = "actions: read", token: str = "${{ github.token }}") -> str:
    """A workflow whose job asks by gh, and says what it answers and ends with."""
    jq = f" --jq '{filter_}'" if filter_ else ""
    return f"""{HEAD}permissions: {{{permissions}}}
jobs:
  decide:
    runs-on: ubuntu-latest
    environment: approval
    steps:
      - env: {{GH_TOKEN: "{token}"}}
        run: |
          gh api "repos/$GITHUB_REPOSITORY/{path}"{jq}
          echo "; $?"
        shell: bash {{0}}
"""


def test_gh_may_ask_what_its_token_may(walk: Engine) -> None:
    def printed(*words: str, **more: str) -> str:
        return walk(asked(*words, **more)).log

    rules = ".protection_rules[].type"
    assert printed("environments/other", rules).endswith("gh: Not Found (HTTP 404)\n; 1\n")
    refused = "gh: Resource not accessible by integration (HTTP 403)\n; 1\n"
    assert printed("environments/approval", rules, permissions="contents: read").endswith(refused)
    assert printed("environments/approval", rules, permissions="").endswith(refused)
    assert printed("environments/approval", token="").endswith("set the GH_TOKEN environment variable.\n; 4\n")
    assert json.loads(printed("environments/approval").removesuffix("; 0\n"))["name"] == "approval"


@pytest.mark.parametrize("words", ["api repos/x --method DELETE", "run list"])
def test_what_the_stand_in_of_gh_does_not_know_is_an_error(walk: Engine, words: str) -> None:
    with pytest.raises(RejectedError, match="not simulated: the API for GET /not-simulated/gh"):
        walk(steps(f"- run: gh {words} || true\n"))
