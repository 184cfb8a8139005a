"""The second engine does what GitHub does with jobs, environments, inputs, actions, and its API."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from tests.backends.github.walking import HEAD, MATRIX, Engine, jobs, steps
from tests.support.actions_engine import RejectedError

pytestmark = pytest.mark.tool

# --- Jobs -------------------------------------------------------------------------------------------------------------


def test_a_job_below_a_skipped_one_is_skipped_however_far_below(walk: Engine) -> None:
    run = walk(
        jobs("""
        a:
          if: false
          steps: []
        b:
          needs: a
          if: always() && needs.a.result == 'skipped' && needs.a.outputs.x == ''
          steps: []
        c:
          needs: b
          steps: []
        d:
          needs: b
          if: needs.b.result == 'success'
          steps: []
        e:
          needs: [a, b]
          if: "!failure() && contains(needs.*.result, 'success')"
          steps: []
        """)
    )
    results = {name: job.result for name, job in run.jobs.items()}
    assert results == {"a": "skipped", "b": "success", "c": "skipped", "d": "skipped", "e": "success"}
    assert run.conclusion == "success"


def test_a_failure_counts_for_all_jobs_below(walk: Engine) -> None:
    run = walk(
        jobs("""
        c:
          needs: b
          if: failure()
          steps: []
        b:
          needs: [a]
          if: always()
          steps: []
        a:
          steps: [{run: exit 1}]
        d:
          needs: [c]
          if: needs.c.result == 'success'
          steps: []
        """)
    )
    assert {name: job.result for name, job in run.jobs.items()} == {
        "a": "failure",
        "b": "success",
        "c": "success",
        "d": "skipped",
    }
    assert run.conclusion == "failure"


def test_a_matrix_is_a_job_for_each_of_its_rows(walk: Engine) -> None:
    run = walk(jobs(MATRIX))
    assert [job.name for job in run.jobs["one"].matrix] == ["0 (a b) of 2", "1 (c) of 2"]
    assert [job.result for job in run.jobs["one"].matrix] == ["success", "failure"]
    assert [job.outcomes["a"] for job in run.jobs["one"].matrix] == ["success", "skipped"]
    assert (run.jobs["one"].result, run.jobs["two"].outcomes) == ("failure", {"c": "skipped"})


def test_a_re_run_does_what_has_failed_and_what_needs_that(walk: Engine) -> None:
    text = jobs(f"none:\n  steps: [{{id: z, run: test $GITHUB_RUN_ATTEMPT = 1}}]\n{MATRIX}")
    walk(text)
    run = walk(text, rerun=True, github={"run_attempt": "2"})
    assert {name: job.result for name, job in run.jobs.items()} == dict.fromkeys(["none", "one", "two"], "success")
    assert run.jobs["two"].outcomes == {"c": "success"}


def test_environments_let_in_whom_people_approve(walk: Engine) -> None:
    text = jobs("""
        a:
          environment: production
          steps: []
        b:
          needs: a
          if: always()
          environment: {name: production}
          steps: []
        c:
          environment: nobody-protects-it
          steps: []
        """)
    for decisions, expected in (
        (["approved", "rejected"], ["success", "failure"]),
        (["refused", "approved"], ["failure", "success"]),
    ):
        run = walk(text, environments={"production": decisions})
        assert [run.jobs[name].result for name in "abc"] == [*expected, "success"]
        assert run.conclusion == "failure"
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


# --- Actions and the API ----------------------------------------------------------------------------------------------

UPLOAD = """\
- run: mkdir -p out/.hidden out/empty; echo 1 > out/a; echo 2 > out/.hidden/b; chmod +x out/a
- {uses: actions/upload-artifact@v7, with: {name: kept, path: out, include-hidden-files: HIDDEN}}
"""
DOWNLOAD = """\
- uses: actions/download-artifact@v8
  with: {name: kept, path: "${{ runner.temp }}/in", run-id: 1, github-token: "${{ github.token }}"}
- run: cd "$RUNNER_TEMP/in" && find . | LC_ALL=C sort && [ ! -x a ]
"""


@pytest.mark.parametrize(("hidden", "found"), [("true", "./.hidden\n./.hidden/b\n"), ("false", "")])
def test_an_artifact_is_what_another_run_finds(walk: Engine, hidden: str, found: str) -> None:
    assert walk(steps(UPLOAD.replace("HIDDEN", hidden))).conclusion == "success"
    text = steps(DOWNLOAD)
    run = walk(f"permissions: {{actions: read}}\n{text}", run_id=2)
    assert run.log == f".\n{found}./a\n"
    assert "Resource not accessible by integration" in walk(text, run_id=3).log


def test_a_pattern_may_match_no_artifact(walk: Engine) -> None:
    found = "- {uses: actions/download-artifact@v8, with: {pattern: NAME, path: in, merge-multiple: true}}\n"
    shown = "- run: ls in || true\n"
    run = walk(steps(UPLOAD.replace("HIDDEN", "false") + found.replace("NAME", "none") + shown))
    assert (run.conclusion, run.log.count("a\n")) == ("success", 0)
    run = walk(steps(UPLOAD.replace("HIDDEN", "false") + found.replace("NAME", "kept") + shown), run_id=2)
    assert (run.conclusion, run.log) == ("success", "a\n")
    with pytest.raises(RejectedError, match="a pattern that matches several"):
        walk(steps(found.replace("NAME", "'*'")), run_id=3)


def test_an_artifact_is_not_overwritten_by_accident(walk: Engine) -> None:
    again = "- {id: again, uses: actions/upload-artifact@v7, with: {name: kept, path: out}}\n"
    run = walk(steps(UPLOAD.replace("HIDDEN", "false") + again))
    assert run.jobs["one"].outcomes["again"] == "failure"
    assert "already exists" in run.log


def test_checkout_gives_the_repository(walk: Engine, tmp_path: Path) -> None:
    (tmp_path / "repository" / "file").write_text("content\n")
    run = walk(steps("- run: ls\n- uses: actions/checkout@v7\n- run: cat file; echo more >> file\n"))
    assert run.log == "content\n"
    assert (tmp_path / "repository" / "file").read_text() == "content\n"


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
    assert [first[key] for key in ("id", "status", "conclusion", "head_branch")] == [
        1,
        "completed",
        "failure",
        "feature",
    ]
    assert [second[key] for key in ("id", "status", "conclusion", "head_branch")] == [2, "in_progress", None, "main"]
    assert (first["event"], first["path"]) == ("workflow_dispatch", ".github/workflows/workflow.yml")
    assert first["repository"]["id"] == first["head_repository"]["id"]
    assert first["head_repository"]["fork"] is False
    assert (third["message"], third["status"]) == ("Not Found", "404")
    log = walk(text.replace("actions: read", "contents: read"), run_id=3).log
    assert json.loads(log.splitlines()[0])["status"] == "403"


@pytest.mark.parametrize("decision", ["approved", "rejected", "refused"])
def test_the_api_tells_who_has_reviewed(walk: Engine, decision: str) -> None:
    ask = textwrap.indent(ASK, "      ")
    text = f"""{HEAD}permissions: {{actions: read}}
env: {{PATHS: 1/approvals}}
jobs:
  one:
    runs-on: ubuntu-latest
    environment: production
    steps: [{{run: 'true'}}]
  two:
    runs-on: ubuntu-latest
    needs: one
    if: always()
    steps:
{ask}"""
    run = walk(text, environments={"production": [decision]})
    reviews = json.loads(run.jobs["two"].log)
    reported = [(review["state"], review["environments"][0]["name"], review["user"]["type"]) for review in reviews]
    assert reported == ([] if decision == "refused" else [(decision, "production", "User")])
