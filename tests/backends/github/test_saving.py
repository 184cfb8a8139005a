"""What a run keeps is whole and has no secret, and a command hands nothing to later steps behind their backs."""

import gzip
import json
from pathlib import Path

import pytest

from compiler.ir.edges import Keep
from compiler.ir.tasks import Agent, Ask, End
from compiler.ir.texts import text
from runtime_shim.targets.github import saved_run
from runtime_shim.targets.github.api import HaltError
from tests.backends.github.continued import Run, ending, outcomes
from tests.backends.github.made import COMPLETE, STOP, bash, node, program, ref, sh, to, words
from tests.backends.github.routed import OPTIONS, compiled, ended, run
from tests.support.actions_engine import EngineRun
from tests.support.runbooks import command, question

pytestmark = pytest.mark.process

DOCUMENT = (
    command("1", "COMMAND")
    + question("2", "Go on?", "YES: CONTINUE", "NO: STOP")
    + command("3", 'cat greeting >> "$LOG"')
)
LONG = "c0rrect-horse-battery"


def waits(folder: Path, command: str, document: str = DOCUMENT, **options: object) -> tuple[Run, EngineRun]:
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
    for name in ("workspace", "state"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "state/journal").touch()
    (folder / "workspace/file").write_bytes(content)
    monkeypatch.chdir(folder / "workspace")
    saved_run.keep_run("../kept", "../state", "../answers", {}, [SECRET.encode(), b"1234"])


@pytest.mark.parametrize("content", FORMS.values(), ids=FORMS)
def test_a_secret_in_any_form_is_not_saved(content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(HaltError, match="the file file contains a secret"):
        keep(tmp_path, content, monkeypatch)
    assert not (tmp_path / "kept/workspace.tar.gz").exists()


def test_a_name_with_a_secret_is_not_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a" / "workspace").mkdir(parents=True)
    (tmp_path / "a" / "workspace" / "link").symlink_to("to 1234")
    (tmp_path / "b" / "workspace").mkdir(parents=True)
    (tmp_path / "b" / "workspace" / "has 1234").touch()
    for folder in ("a", "b"):
        with pytest.raises(HaltError, match="the name of a file contains a secret"):
            keep(tmp_path / folder, b"", monkeypatch)


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
    assert (run.done(), ending(run(resume="1", answers="yes")), run.done()) == ([], "COMPLETE", ["hello"])
    assert b"s3cret" not in b"".join(path.read_bytes() for path in run.saved().rglob("*") if path.is_file())


def test_output_comes_as_it_is_written(tmp_path: Path) -> None:
    ran = waits(tmp_path, 'for i in 1 2 3; do printf "out %s\\n" $i; echo "err $i" >&2; done; sleep 60 & exit 3')[1]
    assert "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n" in ran.log
    assert (ending(ran), "| 1 | **FAIL**, exit code 3 |" in ran.summary) == ("STOP", True), ran


UNKNOWN = (
    command("1", 'echo one >> "$LOG"\nBREAK')
    + command("2", 'echo two >> "$LOG"', "PASS: CONTINUE", "FAIL: GOTO Restore")
    + question("3", "Go on?", "YES: CONTINUE", "NO: STOP")
    + command("Restore", 'echo restore >> "$LOG"')
)


@pytest.mark.parametrize("command", ['rm -r "$RUNNER_TEMP/rdc"', 'echo x >> "$RUNNER_TEMP/rdc/journal"'])
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


HANDED = "sesame_open*now[1]"
GIVEN = {**OPTIONS, "secrets": ["KEY"], "steps": {"*": {"secrets": []}, "1": {"secrets": ["KEY"]}}}
TELL = sh('echo "v=$(cat k)" > "$RDC_OUTPUT"; rm k')


def saved(folder: Path) -> bytes:
    files = [path for path in (folder / "history").rglob("*") if path.is_file()]
    return b"".join(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes() for path in files)


LEAKS = {
    "a text that was overwritten": 'echo "v=none" > "$RDC_OUTPUT"',
    "a report": 'mkdir -p "$RUNNER_TEMP/rdc/reports"; echo "$KEPT" > "$RUNNER_TEMP/rdc/reports/a.md"',
}


@pytest.mark.share(2)
@pytest.mark.parametrize("then", LEAKS.values(), ids=LEAKS)
def test_nothing_is_kept_that_holds_it(tmp_path: Path, then: str) -> None:
    is_told, taken = "v=none" in then, sh(f"KEPT=$(cat k); rm k; {then}")
    made = program(
        node("1", sh('printf %s "$KEY" > k'), to("2")),
        node("2", TELL if is_told else taken, to("3", do=[Keep("v", "output", "v")])),
        node("3", sh(then if is_told else "true"), to("4", do=[Keep("v", "output", "v")])),
        node("4", Agent("", text("x")), to("5")),
        node("5", Ask("input", text("?")), to(COMPLETE)),
        slots=("v",),
    )
    done = run(tmp_path, compiled(made, GIVEN), {}, secrets={"KEY": HANDED})
    assert "The run was not saved, so it cannot be continued: " in done.summary, done.log
    assert HANDED.encode() not in saved(tmp_path)
    assert "sesame" not in done.summary


@pytest.mark.parametrize(
    "asks", [pytest.param(False, marks=pytest.mark.soak), True], ids=["in a message", "in a question"]
)
def test_markup_hides_it_from_nobody_who_looks_for_it(tmp_path: Path, asks: bool) -> None:
    made = program(
        node("1", sh('printf %s "$KEY" > k'), to("2")),
        node("2", TELL, to("3", do=[Keep("v", "output", "v")])),
        node("3", Agent("", text("x")), to("4" if asks else "end")),
        node("4", Ask("select", words("Why ", ref("v")), options=(words("no ", ref("v")), text("o"))), to("end")),
        node("end", End("stop", words("It was ", ref("v")))),
        slots=("v",),
    )
    done = run(tmp_path, compiled(made, GIVEN), {}, secrets={"KEY": HANDED})
    assert ended(done) == ("WAITING 4" if asks else "STOP It was ***")
    assert "sesame" not in done.summary


BY_PARENT = 'f=$(tr "\\0" "\\n" < /proc/$PPID/environ | sed -n "s/^GITHUB_{0}=//p"); '
BY_NAME = 'f=$(ls -t "$RUNNER_TEMP"/*/*{1}* "$RUNNER_TEMP"/*{1}* 2> /dev/null | head -n 1); '
LINES = {"ENV": "BASH_ENV=$FOLDER/evil.sh", "PATH": "$FOLDER/bin", "OUTPUT": "next=4"}


@pytest.mark.share(2)
@pytest.mark.parametrize("found", [BY_PARENT, BY_NAME], ids=["by the parent", "by its name"])
def test_a_file_of_the_runner_that_a_command_finds(tmp_path: Path, found: str) -> None:
    (tmp_path / "evil.sh").write_text('env > "$FOLDER/evil"\n')
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "date").write_text('#!/bin/sh\nenv > "$FOLDER/evil"\n')
    (tmp_path / "bin" / "date").chmod(0o755)
    commands = [
        f'{found.format(kind, kind.lower())} echo "$f" > "$FOLDER/found.{kind}"; echo "{line}" >> "$f"'
        for kind, line in LINES.items()
    ]
    made = program(
        node("1", bash("\n".join(commands)), to("2", "pass"), to("4", "fail")),
        node("2", bash("date; echo two"), to("5", "pass"), to(STOP, "fail")),
        node("5", Agent("", text("Say")), to(COMPLETE)),
        node("4", bash("echo four"), to(COMPLETE, "pass"), to(STOP, "fail")),
    )
    workflow = compiled(made, {**OPTIONS, "secrets": ["KEY"]})
    done = run(tmp_path, workflow, {}, secrets={"KEY": "sesame-open"}, fresh=True)
    for kind in LINES:
        assert (tmp_path / f"found.{kind}").read_text().strip(), done.log
    assert not (tmp_path / "evil").exists(), (tmp_path / "evil").read_text()
    assert "four" not in done.log.split("Say")[0]
    assert done.conclusion == "success"
