"""act runs workflows as the other tests need it: what becomes of each step, and nothing left behind."""

from __future__ import annotations

import subprocess
import tempfile
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.github.act import ActStep, run

SHA = "9c091bb21b7c1c1d1991bb908d89e4e9dddfe3e0"


def workflow(steps: str, job: str = "", inputs: str = "") -> str:
    """A workflow of one job."""
    head = f"name: T\non:\n  workflow_dispatch:\n{textwrap.indent(inputs, '    ')}jobs:\n  one:\n"
    body = f"runs-on: ubuntu-latest\n{textwrap.dedent(job)}steps:\n{textwrap.indent(textwrap.dedent(steps), '  ')}"
    return head + textwrap.indent(body, "    ")


def test_outcomes_outputs_and_summary(tmp_path: Path) -> None:
    steps = r"""
        - name: first
          id: a
          run: |
            echo "x=3" >>"$GITHUB_OUTPUT"
            printf 'y<<E\n1\n2\nE\n' >>"$GITHUB_OUTPUT"
            echo '# One ✓' >>"$GITHUB_STEP_SUMMARY"
            printf '\033[31mred\033[0m, no end of line'; sleep 0.2
        - name: allowed to fail
          id: b
          continue-on-error: true
          run: |
            echo 'two' >>"$GITHUB_STEP_SUMMARY"
            exit 3
        - name: compared
          if: steps.a.outputs.x >= 1 && steps.a.outputs.x < 10 && steps.b.outcome == 'failure'
          run: echo "b concludes with ${{ steps.b.conclusion }}"; sleep 0.2
        - name: passed over
          if: steps.a.outputs.x > 3 || steps.passed.outputs.none >= 1
          run: exit 9
    """
    done = run(tmp_path, workflow(steps))
    assert done.exit_code == 0
    assert done.steps == (
        ActStep("one", "a", "first", "success", {"x": "3", "y": "1\n2"}),
        ActStep("one", "b", "allowed to fail", "failure", {}),
        ActStep("one", "2", "compared", "success", {}),
        ActStep("one", "3", "passed over", "skipped", {}),
    )
    assert done.jobs == {"one": "success"}
    assert done.summary == "# One ✓\ntwo\n"
    assert "red, no end of line\n" in done.log
    assert "b concludes with success\n" in done.log


def test_a_failure_skips_what_follows_and_fails_the_job(tmp_path: Path) -> None:
    steps = """
        - name: fails
          run: exit 4
        - name: follows
          run: echo never
        - name: always
          if: ${{ !cancelled() }}
          env:
            STATUS: ${{ job.status }}
          run: echo "the status is $STATUS"; sleep 0.2
    """
    done = run(tmp_path, workflow(steps))
    assert done.exit_code == 1
    assert done.jobs == {"one": "failure"}
    assert done.outcomes == {"fails": "failure", "follows": "skipped", "always": "success"}
    assert "the status is failure\n" in done.log


def test_jobs_and_what_they_tell_each_other(tmp_path: Path) -> None:
    text = """
        name: T
        on: workflow_dispatch
        jobs:
          one:
            runs-on: ubuntu-latest
            outputs:
              x: ${{ steps.a.outputs.x }}
            steps:
              - id: a
                run: echo x=1 >>"$GITHUB_OUTPUT"; touch here; exit 1
          two:
            needs: one
            if: always() && needs.one.result == 'failure' && needs.one.outputs.x == 1
            environment: production
            runs-on: ubuntu-latest
            steps:
              - name: alone
                run: test ! -e here
          three:
            needs: one
            runs-on: ubuntu-latest
            steps:
              - run: echo never
    """
    done = run(tmp_path, textwrap.dedent(text))
    assert done.exit_code == 1
    assert done.jobs == {"one": "failure", "two": "success", "three": "skipped"}
    assert [(step.job, step.outcome) for step in done.steps] == [("one", "failure"), ("two", "success")]


def test_inputs_variables_and_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OF_THE_TEST", "leaked")
    inputs = "inputs:\n  who: {type: string}\n  dry: {type: boolean, default: true}\n"
    steps = """
        - env:
            WHO: ${{ inputs.who }}
            FLAG: ${{ inputs.dry == false }}
            TOKEN: ${{ github.token == 't' }}
          run: |
            echo "$WHO $FLAG $TOKEN $OF_THE_JOB ${OF_THE_TEST-none}" >"$YARDSTICK"
            echo OF_THE_JOB=changed >>"$GITHUB_ENV"
        - run: echo "$OF_THE_JOB ${{ github.run_id }} ${{ github.run_attempt }} $GITHUB_SHA" >>"$YARDSTICK"
    """
    done = run(
        tmp_path,
        workflow(steps, "env:\n  OF_THE_JOB: job\n", inputs),
        inputs={"who": 'it\'s "me" = $x', "dry": "false"},
        env={"YARDSTICK": f"{tmp_path}/log", "OF_THE_JOB": "given"},
        secrets={"GITHUB_TOKEN": "t"},
        run_id=7,
        run_attempt=2,
    )
    assert done.exit_code == 0, done.log
    log = (tmp_path / "log").read_text(encoding="utf-8")
    assert log == f'it\'s "me" = $x true true job none\nchanged 7 2 {"0123456789" * 4}\n'


def test_a_workspace_is_a_copy_once_it_is_checked_out(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("kept", encoding="utf-8")
    (tmp_path / ".env").write_text("OF_A_FILE=read\n", encoding="utf-8")
    path = tmp_path / "workflow.yml"
    steps = f"""
        - run: test -z "$(ls -A)" && test "$PWD" = "$GITHUB_WORKSPACE"
        - uses: actions/checkout@{SHA} # v7.0.0
          with:
            persist-credentials: false
        - run: echo changed >kept.txt; touch made; test -z "$OF_A_FILE"
        - run: test -e made && test -e workflow.yml && test -d "$RUNNER_TEMP"
    """
    path.write_text(workflow(steps), encoding="utf-8")
    done = run(tmp_path, path)
    assert [step.outcome for step in done.steps] == ["success"] * 4, done.log
    assert (tmp_path / "kept.txt").read_text(encoding="utf-8") == "kept"
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("git", [False, True], ids=["no repository", "no commits"])
def test_the_log_has_no_noise_and_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, git: bool) -> None:
    temporary, folder = tmp_path / "temporary", tmp_path / "folder"
    temporary.mkdir()
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    if git:
        subprocess.run(["git", "init", "-q", folder], check=True)
    done = run(
        folder,
        workflow('- run: echo "${{ github.ref }}"; mkdir -p "$HOME/a" && chmod a-w "$HOME/a"; sleep 0.2; exit 1\n'),
    )
    assert "refs/heads/main" in done.log
    assert "git" not in done.log
    assert "docker" not in done.log
    assert not list(temporary.iterdir())


def test_shells_with_quotes(tmp_path: Path) -> None:
    shell = (
        r"""bash -c "bash --noprofile --norc \"$0\"; r=$?; echo $GITHUB_ACTION $r >>\"$RUNNER_TEMP/r\"; exit $r" {0}"""
    )
    steps = f"""
        - id: a
          shell: {shell}
          continue-on-error: true
          run: exit 7
        - run: cp "$RUNNER_TEMP/r" "$YARDSTICK"
    """
    done = run(tmp_path, workflow(steps), env={"YARDSTICK": f"{tmp_path}/log"})
    assert [step.outcome for step in done.steps] == ["failure", "success"], done.log
    assert (tmp_path / "log").read_text(encoding="utf-8") == "a 7\n"


# --- Artifacts --------------------------------------------------------------------------------------------------------

MAKE = """
- run: mkdir -p out/deep/empty out/.hidden; echo 1 >out/deep/file; touch out/.dot out/.hidden/x; chmod +x out/deep/file
"""

UPLOAD = f"""
- uses: actions/upload-artifact@{SHA} # v9
  with:
    name: kept
    path: out
"""

DOWNLOAD = f"""
- uses: actions/download-artifact@{SHA} # v9
  with:
    name: kept
    path: back
    run-id: ${{{{ inputs.run }}}}
    github-token: ${{{{ github.token }}}}
- name: there
  run: test "$(cd back && find . | sort | xargs)" = ". ./deep ./deep/file" && test ! -x back/deep/file
"""


def test_artifacts_of_the_same_run(tmp_path: Path) -> None:
    both = MAKE + UPLOAD + DOWNLOAD.replace("    run-id: ${{ inputs.run }}\n", "").replace("${{ github.token }}", "")
    done = run(tmp_path, workflow(both), env={"ARTIFACTS": f"{tmp_path}/artifacts"})
    assert [step.outcome for step in done.steps] == ["success"] * 4, done.log
    assert (tmp_path / "artifacts" / "1" / "kept" / "deep" / "file").is_file()


@pytest.mark.parametrize(
    ("asked", "token", "exit_code", "said"),
    [
        ("1", "t", 0, ""),
        ("3", "t", 1, "Artifact not found for name: kept"),
        ("1", "", 1, "Without a token"),
    ],
)
def test_artifacts_of_another_run(tmp_path: Path, asked: str, token: str, exit_code: int, said: str) -> None:
    env = {"ARTIFACTS": f"{tmp_path}/artifacts"}
    assert run(tmp_path, workflow(MAKE + UPLOAD), env=env).exit_code == 0
    text = workflow(DOWNLOAD, inputs="inputs:\n  run: {type: string}\n")
    done = run(tmp_path, text, env=env, inputs={"run": asked}, secrets={"GITHUB_TOKEN": token}, run_id=2)
    assert done.exit_code == exit_code, done.log
    assert done.outcomes["there"] == ("skipped" if exit_code else "success")
    assert said in done.log


@pytest.mark.parametrize(
    ("options", "files"),
    [
        ("path: out", ["deep/file"]),
        ("path: ./out/", ["deep/file"]),
        ("path: ${{ github.workspace }}/out/deep/file", ["file"]),
        ("path: out\n    include-hidden-files: true", [".dot", ".hidden/x", "deep/file"]),
        ("path: out/.hidden", None),
        ("path: out/.hidden/x", ["x"]),
        ("path: none", None),
        ("path: none\n    if-no-files-found: error", "failure"),
        ("path: out/*", "failure"),
    ],
)
@pytest.mark.share(2)
def test_what_is_uploaded(tmp_path: Path, options: str, files: list[str] | str | None) -> None:
    env = {"ARTIFACTS": f"{tmp_path}/artifacts"}
    done = run(tmp_path, workflow(MAKE + UPLOAD.replace("path: out", options)), env=env)
    kept = tmp_path / "artifacts" / "1" / "kept"
    assert done.steps[-1].outcome == ("failure" if files == "failure" else "success"), done.log
    assert kept.exists() == isinstance(files, list)
    if isinstance(files, list):
        assert sorted(path.relative_to(kept).as_posix() for path in kept.rglob("*") if path.is_file()) == files


def test_a_name_is_taken_once_in_a_run(tmp_path: Path) -> None:
    env = {"ARTIFACTS": f"{tmp_path}/artifacts"}
    again = run(tmp_path, workflow(MAKE + UPLOAD + UPLOAD), env=env)
    assert [step.outcome for step in again.steps] == ["success", "success", "failure"]
    replaced = workflow(MAKE + UPLOAD + UPLOAD.replace("path: out", "path: out/deep\n    overwrite: true"))
    assert run(tmp_path, replaced, env=env, run_id=2).exit_code == 0
    assert (tmp_path / "artifacts" / "2" / "kept" / "file").is_file()


def test_actions_by_ref_and_unknown_actions(tmp_path: Path) -> None:
    (tmp_path / "action.yml").write_text(
        "runs:\n  using: composite\n  steps:\n    - run: echo from the folder; sleep 0.2\n      shell: bash\n",
        encoding="utf-8",
    )
    done = run(tmp_path, workflow("- uses: owner/mine@v1\n"), actions={"owner/mine@v1": tmp_path})
    assert done.exit_code == 0
    assert "from the folder\n" in done.log
    assert len(done.steps) == 1
    with pytest.raises(ValueError, match="owner/mine@v2"):
        run(tmp_path, workflow("- uses: owner/mine@v2\n"), actions={"owner/mine@v1": tmp_path})


# --- What may go wrong ------------------------------------------------------------------------------------------------


def test_what_hangs_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    steps = '- run: echo begun; echo $$ >"$YARDSTICK"; sleep 987 & cat\n'
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        run(tmp_path, workflow(steps), env={"YARDSTICK": f"{tmp_path}/pid"}, timeout=2)
    assert "begun\n" in caught.value.__notes__[0]
    pid = (tmp_path / "pid").read_text(encoding="utf-8").strip()
    for _ in range(50):
        listed = subprocess.run(["ps", "-A", "-o", "sess=,stat="], capture_output=True, text=True, check=True).stdout
        if not any(line.split()[0] == pid and "Z" not in line.split()[1] for line in listed.splitlines()):
            return
        time.sleep(0.1)
    pytest.fail("the step is still running")


def test_a_workflow_that_act_rejects(tmp_path: Path) -> None:
    done = run(tmp_path, workflow("- run: echo hi\n  unknown: 1\n"))
    assert done.exit_code == 1
    assert done.steps == ()
    assert "workflow is not valid" in done.log


def test_runs_at_the_same_time_do_not_disturb_each_other(tmp_path: Path) -> None:
    steps = f"""
        - uses: actions/checkout@{SHA} # v7.0.0
        - run: echo "${{{{ inputs.who }}}}" >who; sleep 0.2; cp who "$RUNNER_TEMP/who"; cp who "$HOME/who"
        - run: cat who "$RUNNER_TEMP/who" "$HOME/who" >>"$GITHUB_STEP_SUMMARY"
    """
    text = workflow(steps, inputs="inputs:\n  who: {type: string}\n")

    def summary(number: int) -> str:
        return run(tmp_path, text, inputs={"who": str(number)}).summary

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(summary, range(16))) == [f"{number}\n" * 3 for number in range(16)]
