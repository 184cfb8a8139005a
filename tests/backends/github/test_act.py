"""act runs workflows as the other tests need it: what becomes of each step, and nothing left behind."""

import subprocess
import tempfile
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.github.act import run

pytestmark = pytest.mark.tool

SHA = "9c091bb21b7c1c1d1991bb908d89e4e9dddfe3e0"


def workflow(steps: str, job: str = "", inputs: str = "") -> str:
    head = f"name: T\non:\n  workflow_dispatch:\n{textwrap.indent(inputs, '    ')}jobs:\n  one:\n"
    body = f"runs-on: ubuntu-latest\n{textwrap.dedent(job)}steps:\n{textwrap.indent(textwrap.dedent(steps), '  ')}"
    return head + textwrap.indent(body, "    ")


def test_the_log_and_the_summary_of_steps_and_jobs(tmp_path: Path) -> None:
    text = r"""
        name: T
        on: workflow_dispatch
        jobs:
          one:
            runs-on: ubuntu-latest
            outputs: {x: "${{ steps.a.outputs.x }}"}
            steps:
              - id: a
                run: |
                  echo "x=3" >>"$GITHUB_OUTPUT"; touch here
                  echo '# One ✓' >>"$GITHUB_STEP_SUMMARY"
                  printf '\033[31mred\033[0m, no end of line'; sleep 0.2
              - {id: b, continue-on-error: true, run: echo two >>$GITHUB_STEP_SUMMARY; exit 3}
              - if: steps.a.outputs.x >= 1 && steps.a.outputs.x < 10 && steps.b.outcome == 'failure'
                run: echo "b concludes with ${{ steps.b.conclusion }}"; sleep 0.2; exit 4
              - {run: echo never}
              - {if: "${{ !cancelled() }}", env: {STATUS: "${{ job.status }}"},
                 run: 'echo "the status is $STATUS"; sleep 0.2'}
          two:
            needs: one
            if: always() && needs.one.result == 'failure' && needs.one.outputs.x == 3
            environment: production
            runs-on: ubuntu-latest
            steps: [{run: test ! -e here && echo alone; sleep 0.2}]
          three: {needs: one, runs-on: ubuntu-latest, steps: [{run: echo never}]}
    """
    done = run(tmp_path, textwrap.dedent(text))
    assert (done.exit_code, done.summary) == (1, "# One ✓\ntwo\n")
    for line in ("red, no end of line\n", "b concludes with success\n", "the status is failure\n", "alone\n"):
        assert line in done.log
    assert not {word for word in ("never", "git", "docker") if word in done.log}, "the log has no noise"


def test_inputs_variables_secrets_and_a_workspace_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary, folder = tmp_path / "temporary", tmp_path / "folder"
    temporary.mkdir()
    folder.mkdir()
    (folder / "kept.txt").write_text("as it was", encoding="utf-8")
    (folder / ".env").write_text("OF_A_FILE=read\n", encoding="utf-8")
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("OF_THE_TEST", "leaked")
    shell = (
        r"""bash -c "bash --noprofile --norc \"$0\"; r=$?; echo $GITHUB_ACTION $r >>\"$RUNNER_TEMP/r\"; exit $r" {0}"""
    )
    steps = f"""
        - run: test -z "$(ls -A)" && test "$PWD" = "$GITHUB_WORKSPACE"
        - uses: actions/checkout@{SHA} # v7.0.0
        - env:
            WHO: ${{{{ inputs.who }}}}
            FLAG: ${{{{ inputs.dry == false }}}}
            TOKEN: ${{{{ github.token == 't' }}}}
          run: |
            echo "$WHO $FLAG $TOKEN $OF_THE_JOB ${{OF_THE_TEST-none}}" >"$YARDSTICK"
            echo OF_THE_JOB=changed >>"$GITHUB_ENV"; echo changed >kept.txt; touch made; test -z "$OF_A_FILE"
        - id: a
          shell: {shell}
          continue-on-error: true
          run: test -e made; exit 7
        - run: |
            echo "$OF_THE_JOB ${{{{ github.run_id }}}} $GITHUB_SHA" >>"$YARDSTICK"
            cat "$RUNNER_TEMP/r" >>"$YARDSTICK"; mkdir -p "$HOME/a" && chmod a-w "$HOME/a"
    """
    inputs = "inputs:\n  who: {type: string}\n  dry: {type: boolean, default: true}\n"
    text = workflow(steps, "env:\n  OF_THE_JOB: job\n", inputs)

    def log(number: int) -> str:
        place = tmp_path / f"log{number}"
        given = {"who": f'{number} it\'s "me" = $x', "dry": "false"}
        env = {"YARDSTICK": str(place), "OF_THE_JOB": "given"}
        done = run(folder, text, inputs=given, env=env, secrets={"GITHUB_TOKEN": "t"}, run_id=7)
        assert done.exit_code == 0, done.log
        return place.read_text(encoding="utf-8")

    with ThreadPoolExecutor(2) as pool:  # runs at the same time don't disturb each other
        assert list(pool.map(log, range(2))) == [
            f'{number} it\'s "me" = $x true true job none\nchanged 7 {"0123456789" * 4}\na 7\n' for number in range(2)
        ]
    assert (folder / "kept.txt").read_text(encoding="utf-8") == "as it was"
    assert not (folder / "made").exists()
    assert not list(temporary.iterdir())


UPLOAD = f"""
- uses: actions/upload-artifact@{SHA} # v9
  with: {{name: kept, path: out}}
"""
ARTIFACTS = f"""
- run: mkdir -p out/deep/empty; echo 1 >out/deep/file; touch out/.dot; chmod +x out/deep/file
{UPLOAD}
- id: again
  continue-on-error: true
  uses: actions/upload-artifact@{SHA} # v9
  with: {{name: kept, path: out}}
{UPLOAD.replace("path: out", "path: out/deep, overwrite: true")}
- uses: actions/download-artifact@{SHA} # v9
  with: {{name: kept, path: back}}
- run: test "$(cd back && find . | sort | xargs)" = ". ./file" && test ! -x back/file && echo there; sleep 0.2
- if: steps.again.outcome == 'success'
  run: echo a name is taken once in a run; exit 1
- uses: actions/download-artifact@{SHA} # v9
  with:
    name: kept
    path: other
    run-id: ${{{{ inputs.run }}}}
    github-token: ${{{{ github.token }}}}
"""


def test_artifacts_of_the_same_and_of_another_run(tmp_path: Path) -> None:
    env = {"ARTIFACTS": f"{tmp_path}/artifacts"}
    text = workflow(ARTIFACTS, inputs="inputs:\n  run: {type: string}\n")
    for number, token, reason in (
        (1, "tok-en", ""),
        (2, "", "Without a token"),
        (3, "tok-en", "not found for name: kept"),
    ):
        asked = {"run": "9" if number == 3 else "1"}
        done = run(tmp_path, text, env=env, inputs=asked, secrets={"GITHUB_TOKEN": token}, run_id=number)
        assert done.exit_code == bool(reason), done.log
        assert {reason, "there\n"} == {line for line in (reason, "there\n") if line in done.log}, done.log
    assert (tmp_path / "artifacts" / "2" / "kept" / "file").is_file()


def test_actions_of_others_and_a_workflow_that_act_rejects(tmp_path: Path) -> None:
    action = "runs:\n  using: composite\n  steps:\n    - {run: echo from the folder; sleep 0.2, shell: bash}\n"
    (tmp_path / "action.yml").write_text(action, encoding="utf-8")
    mine = {"owner/mine": tmp_path}
    for steps, code, printed in (
        ("- uses: owner/mine@v1\n", 0, "from the folder\n"),
        ("- run: echo hi\n  unknown: 1\n", 1, "workflow is not valid"),
    ):
        done = run(tmp_path, workflow(steps), actions=mine)
        assert (done.exit_code, printed in done.log) == (code, True)
    with pytest.raises(ValueError, match="owner/other@v2"):
        run(tmp_path, workflow("- uses: owner/other@v2\n"), actions=mine)


def test_what_hangs_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    steps = '- run: echo begun; echo $$ >"$YARDSTICK"; sleep 987 & cat\n'
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        run(tmp_path, workflow(steps), env={"YARDSTICK": f"{tmp_path}/pid"}, timeout=1)
    assert "begun\n" in caught.value.__notes__[0]
    pid = (tmp_path / "pid").read_text(encoding="utf-8").strip()
    for _ in range(50):
        listed = subprocess.run(["ps", "-A", "-o", "sess=,stat="], capture_output=True, text=True, check=True).stdout
        if not any(line.split()[0] == pid and "Z" not in line.split()[1] for line in listed.splitlines()):
            return
        time.sleep(0.05)
    pytest.fail("the step is still running")
