"""What a run keeps is whole and holds no masked value; otherwise nothing is kept, and the run says why."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.workflows import act
from tests.workflows.compiling import text_of
from tests.workflows.reviews import stand_in
from tests.workflows.test_continuation import Run, said

pytestmark = pytest.mark.share(3)

DOCUMENT = """\
## 1

```bash
COMMAND
```

## 2

Go on?

- YES: CONTINUE
- NO: STOP

## 3

```bash
echo "$GREETING" >> "$LOG"
```
"""
LONG = "c0rrect-horse-battery"


def waits(folder: Path, command: str, document: str = DOCUMENT, **options: object) -> tuple[Run, act.ActRun]:
    """Runs a command before a prompt."""
    (folder / "repository").mkdir()
    run = Run(folder / "repository", document.replace("COMMAND", command), options)
    run.secrets = {"DEPLOY_TOKEN": "s3cret", "KEY": f"{{\n  {LONG}\n}}\n"}
    return run, run()


def not_saved(run: Run, ran: act.ActRun, problem: str) -> None:
    assert ran.exit_code
    assert "The run was not saved, so it cannot be continued: " in ran.summary
    assert problem in ran.summary
    assert "gh workflow run" not in ran.summary + ran.log, "nothing says that it can be continued"
    assert ran.outcomes["Save the run"] == "failure"
    assert ran.outcomes["Keep the run for its continuation"] == "skipped"
    assert not run.artifacts.exists()


@pytest.mark.share(5)
@pytest.mark.parametrize(
    "command",
    [
        'echo "::add-mask::tok-1"; echo "TOKEN=tok-1" >> "$GITHUB_ENV"',
        'echo "::add-mask::tok-1" >&2; echo "TOKEN=tok-1" >> "$GITHUB_ENV"',
        'printf "::add-mask::tok-1"; echo "TOKEN=a tok-1 b" >> "$GITHUB_ENV"',
        'echo "::ADD-MASK::tok-1"; printf "TOKEN<<E\\nx\\ntok-1\\nE\\n" >> "$GITHUB_ENV"',
        'echo "  ##[add-mask]tok-1"; echo "TOKEN=tok-1" >> "$GITHUB_ENV"',
        'echo "::add-mask::a%25b%0Along line"; echo "TOKEN=a%b" >> "$GITHUB_ENV"',
        'echo "::add-mask::ab%0Alonger one"; echo "TOKEN=longer one" >> "$GITHUB_ENV"',
        'echo "TOKEN=tok-1" >> "$GITHUB_ENV"; (sleep 0.5; echo "::add-mask::tok-1") &',
        'printf "::add-"; sleep 0.2; printf "mask::to"; sleep 0.2; echo k-1; echo "TOKEN=tok-1" >> "$GITHUB_ENV"',
        'printf "10%%\\r::add-mask::tok-1\\rmore\\n"; echo "TOKEN=tok-1" >> "$GITHUB_ENV"',
        'echo "::add-mask::{%0A  long-enough  %0A}"; echo "TOKEN=long-enough" >> "$GITHUB_ENV"',
        'echo "##[add-mask]a%5Db%3Bc"; echo "TOKEN=a]b;c" >> "$GITHUB_ENV"',
        'printf "::add-mask::long-one%%0Dlong-two\\n"; echo "TOKEN=long-two" >> "$GITHUB_ENV"',
    ],
)
def test_a_masked_value_is_not_kept(tmp_path: Path, command: str) -> None:
    if "%0Along" in command:
        command = command.replace("a%25b%0Along line", "12%25345678%0Along line").replace(
            "TOKEN=a%b", "TOKEN=12%345678"
        )
    run, ran = waits(tmp_path, command)
    not_saved(
        run, ran, "the step s1 has put a masked value into TOKEN. Fetch the value again in a step after the prompt"
    )


@pytest.mark.parametrize("name", ["GITHUB_OUTPUT", "GITHUB_PATH"])
def test_a_masked_value_is_not_kept_in_other_files_either(tmp_path: Path, name: str) -> None:
    run, ran = waits(tmp_path, f'echo "::add-mask::tok-1"; echo "TOKEN=tok-1" >> "${name}"')
    shown = "TOKEN" if name == "GITHUB_OUTPUT" else name
    not_saved(run, ran, f"the step s1 has put a masked value into {shown}.")


def test_what_a_loop_masks_is_not_kept(tmp_path: Path) -> None:
    document = DOCUMENT.replace("NO: STOP", "NO: GOTO 1")
    run, ran = waits(tmp_path, 'echo "::add-mask::tok-1"; echo "TOKEN=tok-1" >> "$GITHUB_ENV"', document)
    not_saved(run, ran, "the step s1 has put a masked value into TOKEN.")


def test_a_retried_step_masks_too(tmp_path: Path) -> None:
    document = DOCUMENT.replace("COMMAND\n```\n", "COMMAND\n```\n\n- FAIL: RETRY 2\n")
    run, ran = waits(tmp_path, 'echo "::add-mask::tok-1"; echo "TOKEN=tok-1" >> "$GITHUB_ENV"', document)
    not_saved(run, ran, "the step s1 has put a masked value into TOKEN.")


@pytest.mark.parametrize("value", ["x-$DEPLOY_TOKEN", "$(printenv KEY | sed -n 2p)"])
def test_secrets_are_not_kept(tmp_path: Path, value: str) -> None:
    run, ran = waits(tmp_path, f'echo "GREETING={value}" >> "$GITHUB_ENV"', secrets=["DEPLOY_TOKEN", "KEY"])
    not_saved(run, ran, "the step s1 has put a masked value into GREETING.")
    assert "s3cret" not in ran.summary


def test_a_file_of_the_workspace_with_a_masked_value_is_not_kept(tmp_path: Path) -> None:
    run, ran = waits(
        tmp_path, 't=c0rrect-horse; t=$t-battery; echo "::add-mask::$t"; mkdir conf; echo "token=$t" > conf/.npmrc'
    )
    not_saved(run, ran, "the file ./conf/.npmrc holds a masked value. Remove it before the run stops for a prompt")


@pytest.mark.parametrize("name", ["BASH_ENV", "LD_PRELOAD", "RDC_RUN_ID"])
def test_variables_that_run_code_are_not_kept(tmp_path: Path, name: str) -> None:
    command = 'echo "NAME=" >> "$GITHUB_ENV"'.replace("NAME", name)
    run, ran = waits(tmp_path, command)
    not_saved(run, ran, f"the step s1 has set {name}, by which shells run code.")


def test_what_is_not_masked_is_kept(tmp_path: Path) -> None:
    command = 'echo "::add-mask::tok-1"; echo "::add-mask::"; echo add-mask; echo "GREETING=tok-2 }" >> "$GITHUB_ENV"'
    run, ran = waits(tmp_path, command, secrets=["DEPLOY_TOKEN", "KEY"])
    assert said(ran) == "WAITING 2"
    assert "The continuation does not know what commands have masked" in ran.summary
    assert said(run(resume="1", answers="yes")) == "COMPLETE"
    assert run.done() == ["tok-2 }"]
    everything = b"".join(path.read_bytes() for path in run.kept().rglob("*") if path.is_file())
    assert b"tok-1" not in everything


def test_a_secret_handed_to_another_job_is_refused(tmp_path: Path) -> None:
    document = DOCUMENT.replace("COMMAND", 'echo "$DEPLOY_TOKEN" > token')
    text = text_of(
        tmp_path,
        document,
        {"prompts": "environment", "summary": True, "checkout": False, "secrets": {"DEPLOY_TOKEN": "DEPLOY_TOKEN"}},
    )
    env = {"LOG": str(tmp_path / "log"), "ARTIFACTS": str(tmp_path / "artifacts")}
    with stand_in() as reviews:
        ran = act.run(tmp_path, text, env=env, secrets=act.TOKEN | {"DEPLOY_TOKEN": LONG}, api_url=reviews.url)
    assert "the file ./token holds a masked value" in ran.summary
    assert ran.jobs["part_1"] == "failure"
    assert not (tmp_path / "log").exists()
    assert not (tmp_path / "artifacts").exists()


def test_output_comes_as_it_is_written(tmp_path: Path) -> None:
    command = 'for i in 1 2 3; do printf "out %s\\n" $i; echo "err $i" >&2; done; sleep 60 & exit 3'
    ran = waits(tmp_path, command)[1]
    assert "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n" in ran.log
    assert said(ran) == "STOP"
    assert "| 1 | 1 | FAIL |" in ran.summary


# --- Every status -----------------------------------------------------------------------------------------------------


def failing(tool: str) -> str:
    """Puts a tool on the path that does its work and then fails, as tar does when it cannot read a file."""
    return f"""mkdir tools
printf '#!/bin/sh\\n{shutil.which(tool)} "$@"\\nexit 2\\n' > tools/{tool}
chmod +x tools/{tool}
echo "$PWD/tools" >> "$GITHUB_PATH\""""


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("tool", "problem"),
    [
        ("tar", "tar could not read the whole workspace"),
        ("cp", "its state could not be copied"),
        ("find", "its files could not be read again"),
        ("cksum", "its files could not be read again"),
        ("sort", "its files could not be read again"),
        ("rm", "its state could not be copied"),
    ],
)
def test_a_tool_that_fails_while_saving_ends_it(tmp_path: Path, tool: str, problem: str) -> None:
    run, ran = waits(tmp_path, failing(tool))
    not_saved(run, ran, problem)


def test_a_result_that_could_not_be_kept_ends_the_saving(tmp_path: Path) -> None:
    run, ran = waits(tmp_path, 'rm "$GITHUB_ENV"')
    not_saved(run, ran, "the step s1 could not keep its result")


@pytest.mark.share(3)
@pytest.mark.parametrize("tool", ["tar", "mv", "find"])
def test_a_tool_that_fails_while_unpacking_ends_the_continuation(
    tmp_path: Path, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, _ = waits(tmp_path, "echo built > result")
    subprocess.run(
        ["bash", "-c", failing(tool)],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "GITHUB_PATH": "/dev/null"},
        check=True,
    )
    monkeypatch.setenv("PATH", f"{tmp_path}/tools:{os.environ['PATH']}")
    ran = run(resume="1", answers="yes")
    assert ran.exit_code
    assert re.search("could not be put into the workspace|is damaged or incomplete", ran.summary)
    assert not run.log.exists()


# --- Results that are unknown -----------------------------------------------------------------------------------------

UNKNOWN = """\
## 1

```bash
echo one >> "$LOG"
BREAK
```

## 2

```bash
echo two >> "$LOG"
```

- PASS: CONTINUE
- FAIL: GOTO Restore

## 3

Go on?

- YES: CONTINUE
- NO: STOP

## Restore

```bash
echo restore >> "$LOG"
```
"""


NO_FOLDER = """\
mkdir tools
cat > tools/mkdir <<'END'
#!/bin/sh
case "$*" in */s2) exit 1 ;; esac
exec /bin/mkdir "$@"
END
chmod +x tools/mkdir
echo "$PWD/tools" >> "$GITHUB_PATH"
"""


@pytest.mark.share(3)
@pytest.mark.parametrize(
    "command",
    [
        NO_FOLDER,
        'mkdir tools; cp /bin/false tools/mktemp; echo "$PWD/tools" >> "$GITHUB_PATH"',
        'rm -r "$RUNNER_TEMP/rdc/intact"',
    ],
)
def test_a_disk_that_fails_is_not_the_failure_of_a_step(tmp_path: Path, command: str) -> None:
    run, ran = waits(tmp_path, "", UNKNOWN.replace("BREAK", command))
    assert ran.exit_code
    assert run.done() == ["one"], "neither the next step nor the one for its failure"
    assert said(ran) == ""
    assert "The state of the run cannot be read or written, so no other step is run" in ran.summary


@pytest.mark.parametrize("tool", ["cat", "mktemp"])
def test_a_result_that_cannot_be_shown_again_is_not_a_failure(
    tmp_path: Path, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, ran = waits(tmp_path, "", UNKNOWN.replace("BREAK", ""))
    assert said(ran) == "WAITING 3"
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / tool).write_text(
        f'#!/bin/sh\ncase "$*" in *steps/s2/*|*noted*) exit 1; esac\nexec {shutil.which(tool)} "$@"\n',
        encoding="utf-8",
    )
    (tools / tool).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    ran = run(resume="1", answers="yes")
    assert ran.exit_code
    assert said(ran) == ""
    assert run.done() == ["one", "two"]


@pytest.mark.parametrize("no", ["STOP", "GOTO 1"])
def test_answers_that_cannot_be_read_are_not_a_no(tmp_path: Path, no: str) -> None:
    command = 'rm "$RUNNER_TEMP/rdc/answers"; mkdir "$RUNNER_TEMP/rdc/answers"; echo one >> "$LOG"'
    run, _ = waits(tmp_path, command, DOCUMENT.replace("NO: STOP", f"NO: {no}"))
    run.log.unlink()
    ran = run(answers="yes")
    assert ran.exit_code
    assert said(ran) == ""
    assert run.done() == ["one"]
