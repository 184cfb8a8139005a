"""What a run keeps is whole and holds no secret; otherwise nothing is kept, and the run says why."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from runtime_shim.targets.github import saved_run
from runtime_shim.targets.github.api import HaltError
from tests.backends.github.continued import Run, ending, outcomes
from tests.support.actions_engine import EngineRun

pytestmark = pytest.mark.process

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
cat greeting >> "$LOG"
```
"""
LONG = "c0rrect-horse-battery"


def waits(folder: Path, command: str, document: str = DOCUMENT, **options: object) -> tuple[Run, EngineRun]:
    """Run a command before a question."""
    run = Run(folder, document.replace("COMMAND", command), options)
    run.secrets = {"DEPLOY_TOKEN": "s3cret", "KEY": f"{{\n  {LONG}\n}}\n"}
    return run, run()


def test_a_file_of_the_workspace_with_a_line_of_a_secret_is_not_saved(tmp_path: Path) -> None:
    command = 'mkdir conf; echo "token=$(printenv KEY | sed -n 2p)" > conf/.npmrc'
    run, ran = waits(tmp_path, command, secrets=["DEPLOY_TOKEN", "KEY"])
    assert ran.exit_code
    assert "The run was not saved, so it cannot be continued: " in ran.summary
    assert "the file conf/.npmrc contains a secret. Remove the secret before the run stops here" in ran.summary
    assert "gh workflow run" not in ran.summary, "nothing says that it can be continued"
    assert outcomes(ran)["Close the run"] == "failure"
    assert outcomes(ran)["Save the run and its workspace"] == "skipped"
    assert not run.saved().exists()
    assert LONG not in ran.summary


SECRET = 'hunt"er2/é+'
FORMS: dict[str, bytes] = {
    "as it is": SECRET.encode(),
    "JSON": json.dumps(SECRET).encode(),
    "JSON in JSON": json.dumps(json.dumps(SECRET)).encode(),
    "JSON of another writer": json.dumps(SECRET).replace("/", r"\/").replace("+", r"\u002B").encode(),
    "gzip": gzip.compress(json.dumps(SECRET).encode()),
    "gzip after gzip": gzip.compress(b"x") + gzip.compress(SECRET.encode()),
    "UTF-16": SECRET.encode("utf-16"),
    "UTF-16, big end first": SECRET.encode("utf-16-be"),
    "across pieces": b"x" * (saved_run.CHUNK - 3) + SECRET.encode(),
    "across pieces, unpacked": gzip.compress(b"x" * (saved_run.CHUNK - 3) + json.dumps(SECRET).encode()),
}


def keep(folder: Path, content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a run with one file in its workspace."""
    for name in ("workspace", "state"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "state/journal").touch()
    (folder / "workspace/file").write_bytes(content)
    monkeypatch.chdir(folder / "workspace")
    saved_run.keep_run("../kept", "../state", "../answers", {}, [SECRET.encode(), b"1234"])


@pytest.mark.parametrize("content", FORMS.values(), ids=FORMS)
def test_a_short_secret_in_any_form_is_not_saved(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(HaltError, match="the file file contains a secret"):
        keep(tmp_path, content, monkeypatch)
    assert not (tmp_path / "kept/workspace.tar.gz").exists()


@pytest.mark.parametrize("is_link", [False, True], ids=["a file", "a link"])
def test_a_name_with_a_secret_is_not_saved(is_link: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "workspace").mkdir()
    if is_link:
        (tmp_path / "workspace/link").symlink_to("to 1234")
    else:
        (tmp_path / "workspace/has 1234").touch()
    with pytest.raises(HaltError, match="the name of a file contains a secret"):
        keep(tmp_path, b"", monkeypatch)


@pytest.mark.parametrize(
    "content", [b"", b"\x1f\x8bno gzip", b"hunt er2/ \\u00e 123", gzip.compress(b"hunter")[:-9]], ids=range(4)
)
def test_files_without_the_secret_are_saved(content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(tmp_path, content, monkeypatch)
    assert (tmp_path / "kept/workspace.tar.gz").exists()


PRINTED = ("::add-mask::hello", "::set-output name=next::3", "  ##[add-mask]hello", "::stop-commands::x")
FILES = ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE")


def test_a_run_without_secrets_is_saved_and_its_commands_tell_the_runner_nothing(tmp_path: Path) -> None:
    """A command knows no file of the runner, and what it prints is no command to it."""
    lines = "\n".join([f"echo '{line}'" for line in PRINTED] + [f'printenv {name} >> "$LOG"' for name in FILES])
    run, ran = waits(tmp_path, f"{lines}\necho hello > greeting", secrets=["DEPLOY_TOKEN", "KEY"])
    assert ending(ran) == "WAITING 2"
    assert all(line.strip() in ran.log for line in PRINTED)
    assert run.done() == []
    assert ending(run(resume="1", answers="yes")) == "COMPLETE"
    assert run.done() == ["hello"]
    everything = b"".join(path.read_bytes() for path in run.saved().rglob("*") if path.is_file())
    assert b"s3cret" not in everything


def test_output_comes_as_it_is_written(tmp_path: Path) -> None:
    command = 'for i in 1 2 3; do printf "out %s\\n" $i; echo "err $i" >&2; done; sleep 60 & exit 3'
    ran = waits(tmp_path, command)[1]
    assert "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n" in ran.log
    assert ending(ran) == "STOP"
    assert "| 1 | **FAIL**, exit code 3 |" in ran.summary


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


@pytest.mark.parametrize(
    "command",
    ['rm -r "$RUNNER_TEMP/rdc"', 'echo x >> "$RUNNER_TEMP/rdc/journal"'],
)
def test_a_state_that_is_lost_is_not_the_failure_of_a_step(tmp_path: Path, command: str) -> None:
    run, ran = waits(tmp_path, "", UNKNOWN.replace("BREAK", command))
    assert ran.exit_code
    assert run.done() == ["one"], "neither the next step nor the one for its failure"
    assert ending(ran) == ""
    assert not run.saved().exists()


def test_answers_that_cannot_be_read_are_not_a_no(tmp_path: Path) -> None:
    command = 'rm "$RUNNER_TEMP/rdc-answers"; mkdir "$RUNNER_TEMP/rdc-answers"; echo one >> "$LOG"'
    run, ran = waits(tmp_path, command, DOCUMENT.replace("NO: STOP", "NO: GOTO 1"))
    assert ran.exit_code
    assert ending(ran) in {"", "WAITING 2"}
    assert run.done() == ["one"]
