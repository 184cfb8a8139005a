"""The second engine does what GitHub does: small workflows written by hand, whose outcome is known."""

import json
from pathlib import Path

import pytest

from tests.backends.github.walking import HEAD, MATRIX, Engine, jobs, steps
from tests.conftest import ROOT
from tests.support import actions_engine as engine
from tests.support import node
from tests.support.actions_engine import RejectedError

pytestmark = pytest.mark.tool

OUTCOMES = {
    "a failure skips what follows unless the condition says otherwise": (
        """\
        - {id: a, run: exit 3}
        - {id: implicit, run: 'true'}
        - {id: plain, if: "steps.a.outcome == 'failure'", run: 'true'}
        - {id: failed, if: failure(), run: 'true'}
        - {id: always, if: always(), run: 'true'}
        - {id: negated, if: "${{ !cancelled() && steps.a.outcome == 'FAILURE' }}", run: 'true'}
        - {id: success, if: success(), run: 'true'}
        - {id: text, if: "'always()' != ''", run: 'true'}
        """,
        "failure skipped skipped success success success skipped skipped",
        "failure",
    ),
    "a failure that is tolerated is an outcome and no conclusion": (
        """\
        - {id: a, continue-on-error: true, run: exit 1}
        - {id: b, if: "steps.a.outcome == 'failure' && steps.a.conclusion == 'success'", run: 'true'}
        - {id: c, if: "steps.later.outcome == '' && steps.later.outcome != 'skipped'", run: 'true'}
        - {id: later, run: 'true'}
        """,
        "failure success success success",
        "success",
    ),
}


@pytest.mark.parametrize(("text", "outcomes", "conclusion"), OUTCOMES.values(), ids=OUTCOMES)
def test_conditions_decide_which_steps_run(walk: Engine, text: str, outcomes: str, conclusion: str) -> None:
    run = walk(steps(text))
    assert " ".join(run.jobs["one"].outcomes.values()) == outcomes
    assert (run.conclusion, run.exit_code) == (conclusion, conclusion == "failure")
    if conclusion == "success":
        assert {step.conclusion for step in run.jobs["one"].steps} == {"success"}


def test_the_environment_has_three_levels_and_a_file(walk: Engine) -> None:
    text = f"""{HEAD}
env: {{A: workflow, B: workflow, C: workflow, D: workflow}}
jobs:
  one:
    runs-on: ubuntu-latest
    env: {{B: job, C: job, D: job, E: "${{{{ github.run_id }}}}-1"}}
    steps:
      - run: echo "C=file" >> "$GITHUB_ENV"; printf 'F<<END\\na\\n\\nb\\nEND\\n' >> "$GITHUB_ENV"
      - env: {{D: step}}
        if: env.D == 'step' && env.d == ''
        run: echo "$A $B $C $D $E $F ${{{{ env.C }}}}"
      - run: echo "$D"
"""
    assert walk(text, run_id=7).log == "workflow job file step 7-1 a\n\nb file\njob\n"


def test_what_a_step_finds(walk: Engine) -> None:
    shows = "- {env: {GITHUB_REPOSITORY: mine, CI: mine}, run: 'echo $GITHUB_REPOSITORY $CI $GITHUB_ACTION'}\n"
    assert walk(steps(shows)).log == "owner/repository true __run\n", "variables of the run win"
    adds = '- run: printf \'/a\\n\\n/b\\n\' >> "$GITHUB_PATH"\n- run: echo "${PATH%%:/usr*}"\n'
    assert walk(steps(adds)).log.startswith("/b:/a"), "folders are put before the path"


def test_outputs_are_texts_in_lines_or_blocks(walk: Engine) -> None:
    run = walk(
        steps("""\
        - {id: a, run: 'printf "x=1=2<<3\\ny<<EOF\\nx=4\\nEOF\\n" >> "$GITHUB_OUTPUT"; exit 1', continue-on-error: true}
        - run: "echo '${{ toJSON(steps.a.outputs) }}' > out; cat out"
        """)
    )
    assert json.loads(run.log.partition("\n")[2]) == {"x": "1=2<<3", "y": "x=4"}


def test_a_file_that_the_runner_cannot_read_fails_the_step(walk: Engine) -> None:
    lines = [json.dumps(line) for line in ("no sign", "=value", "x<<", "x<<END\nnever ends")]
    text = """- {{env: {{LINE: {}}}, continue-on-error: true, run: 'echo "$LINE" >> "$GITHUB_{}"'}}\n"""
    run = walk(steps("".join(text.format(line, file) for line in lines for file in ("OUTPUT", "ENV"))))
    assert ([step.outcome for step in run.jobs["one"].steps], run.log.count("Invalid")) == (["failure"] * 8, 8)


def test_a_shell_is_what_its_name_stands_for(walk: Engine) -> None:
    script = (
        r"case $- in *e*) printf e;; esac; (set -o | grep -q 'pipefail.*on') 2>/dev/null && printf ' pipefail'; echo"
    )
    run = f"- run: {script!r}\n  ".replace("'\\''", "''")
    shells = ("", "shell: bash", "shell: sh", "shell: bash {0}", 'shell: bash -c "set -f; bash \\"$0\\"; echo $?" {0}')
    printed = ("e\n", "e pipefail\n", "e\n", "\n", "\n0\n")
    assert walk(steps("".join(f"{run}{shell}\n" for shell in shells))).log == "".join(printed)


def test_a_shell_that_cannot_be_started_fails_the_step(walk: Engine) -> None:
    run = walk(
        steps("""\
        - {id: a, working-directory: gone, run: 'true', continue-on-error: true}
        - {id: b, shell: 'no-such-shell {0}', run: 'true', continue-on-error: true}
        - run: printf 'LONG=%0200000d\\n' 0 >> "$GITHUB_ENV"
        - {id: c, run: 'true'}
        """)
    )
    assert [run.jobs["one"].outcomes[name] for name in "abc"] == ["failure"] * 3
    assert "E2BIG" in run.log


def test_a_job_has_a_shell_and_a_folder_of_its_own(walk: Engine) -> None:
    text = steps("- run: mkdir sub\n  working-directory: .\n- run: pwd; echo $0\n- {run: pwd, shell: bash}\n").replace(
        "    steps:", "    defaults: {run: {shell: 'sh {0}', working-directory: sub}}\n    steps:"
    )
    first, second, third = walk(text).log.splitlines()
    assert first == third
    assert first.endswith("/repository/repository/sub")
    assert second.endswith("/_temp/script-2.sh")


def test_commands_in_what_a_step_says(walk: Engine) -> None:
    run = walk(
        steps("""\
        - run: |
            echo '::error title=Bad%2C really::two%0Alines'
            echo '::add-mask::secret'; echo 'a secret'
            echo '::stop-commands::x1'; echo '::error::not this'; echo '::x1::'
            echo '::notice::that'; echo '::unknown::text'
        """)
    )
    assert run.jobs["one"].annotations == (("error", "Bad, really", "two\nlines"), ("notice", "", "that"))
    assert "a ***\n" in run.log
    assert (run.conclusion, walk(steps("- run: echo '::set-env name=A::b'\n")).conclusion) == ("success", "failure")


def test_what_is_masked_is_hidden_in_summaries_and_is_no_output_of_a_job(walk: Engine) -> None:
    run = walk(
        f"""{HEAD}jobs:
  a:
    runs-on: ubuntu-latest
    outputs: {{kept: "${{{{ steps.s.outputs.kept }}}}", hidden: "${{{{ steps.s.outputs.hidden }}}}"}}
    steps:
      - id: s
        run: |
          echo kept=this >> "$GITHUB_OUTPUT"; echo "hidden=$SECRET" >> "$GITHUB_OUTPUT"
          echo "about $SECRET" >> "$GITHUB_STEP_SUMMARY"
        env: {{SECRET: "${{{{ secrets.NAME }}}}"}}
  b: {{needs: a, runs-on: ubuntu-latest, steps: [{{run: "echo '${{{{ toJSON(needs.a.outputs) }}}}'"}}]}}
""",
        secrets={"NAME": "p4ss"},
    )
    assert (run.summary, json.loads(run.jobs["b"].log)) == ("about ***\n", {"kept": "this"})


def test_expressions_in_texts_of_several_lines_leave_the_text_as_it_is(walk: Engine) -> None:
    run = walk(
        steps("""\
        - env:
            A: >-
              ${{ 'it''s a ''b''' }}
            B: |
              x ${{ '${{' }} y }} {0}
               'z' ''
          if: >-
            ${{ env.A == 'it''s a ''b''' &&
            !cancelled() }}
          run: printf '%s|' "$A" "$B"
        """)
    )
    assert run.log == "it's a 'b'|x ${{ y }} {0}\n 'z' ''\n|"


def test_it_says_what_is_missing_or_cannot_be_fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr(engine, "_server_of", engine._server_of.__wrapped__)
    assert engine.missing() == "the packages of tests/support/actions_engine need node and npm"
    with pytest.raises(pytest.skip.Exception, match="need node and npm"):
        engine.complaints("on: push")
    monkeypatch.setattr("shutil.which", lambda name: name)
    monkeypatch.setattr(node, "CACHE", tmp_path)
    monkeypatch.setattr(node, "INSTALL", ("sh", "-c", "echo 'npm error code ENOTFOUND' >&2; exit 1"))
    assert "npm cannot fetch the packages of" in engine.missing()


@pytest.mark.parametrize("lock", sorted(ROOT.glob("tests/**/package-lock.json")), ids=lambda lock: lock.parent.name)
def test_lock_files_pin_what_is_installed_and_name_no_host(lock: Path) -> None:
    installed = [package for path, package in json.loads(lock.read_text(encoding="utf-8"))["packages"].items() if path]
    assert all(package["integrity"] for package in installed)
    assert not any("resolved" in package for package in installed)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (steps("- uses: somebody/else@v1\n"), "not simulated: the action somebody/else@v1"),
        (steps("- {uses: actions/checkout@v7, with: {submodules: true}}\n"), "not simulated: the input submodules"),
        (steps("- run: curl --silent $GITHUB_API_URL/user\n"), "not simulated: the API for GET /user"),
        (steps("- {run: 'true', shell: pwsh}\n"), "not simulated: the shell pwsh"),
        (steps("- {run: 'true', shell: perl -e 1}\n"), r"has no \{0\}"),
        (steps("- {run: 'true', shell: \"bash -c 'x{y}' {0}\"}\n"), "a brace"),
        (steps("- {run: 'true', if: \"hashFiles('x') == ''\"}\n"), "not simulated: hashFiles"),
        (jobs(MATRIX).replace("fail-fast: false", "fail-fast: true"), "a matrix with more than `include`"),
        (jobs(MATRIX).replace("include:", "more: [1]\n        include:"), "a matrix with more than `include`"),
        (steps("- run: 'true'\n").replace("    steps", "    container: alpine\n    steps"), "simulated: `container`"),
        (steps("- {run: 'true', if: made_up()}\n"), "Unrecognized function: 'made_up'"),
        (steps("- {run: 'true', if: secrets.X}\n"), "Unrecognized named-value: 'secrets'"),
        (steps("- {run: 'true', id: a}\n- {run: 'true', id: a}\n"), "GitHub's parser refuses the workflow"),
        (jobs("a:\n  needs: b\n  steps: []\nb:\n  needs: a\n  steps: []"), "GitHub's parser refuses|need each other"),
    ],
)
def test_what_it_does_not_know_is_an_error(walk: Engine, text: str, message: str) -> None:
    with pytest.raises(RejectedError, match=message):
        walk(text)
