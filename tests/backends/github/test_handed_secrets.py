"""What a command hands to later steps behind their backs: a secret, or lines in the files of the runner."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from compiler.ir.tasks import End
from tests.backends.github.routed import (
    COMPLETE,
    STOP,
    Agent,
    Ask,
    Keep,
    Shell,
    compiled,
    node,
    program,
    ref,
    text,
    to,
    words,
)
from tests.backends.github.routed_runs import OPTIONS, ended, run

pytestmark = pytest.mark.process

SECRET = "sesame_open*now[1]"
GIVEN = {**OPTIONS, "secrets": ["KEY"], "steps": {"*": {"secrets": []}, "1": {"secrets": ["KEY"]}}}
TELL = Shell("sh", text('echo "v=$(cat k)" > "$RDC_OUTPUT"; rm k'))


def saved(folder: Path) -> bytes:
    """All that a run has left as artifacts."""
    files = [path for path in (folder / "history").rglob("*") if path.is_file()]
    return b"".join(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes() for path in files)


LEAKS = {
    "a text that was overwritten": ('printf %s "$KEY" > k', 'echo "v=none" > "$RDC_OUTPUT"'),
    "a report": (
        'printf %s "$KEY" > k',
        'mkdir -p "$RUNNER_TEMP/rdc/reports"; echo "$KEPT" > "$RUNNER_TEMP/rdc/reports/a.md"',
    ),
}


@pytest.mark.parametrize(("first", "then"), LEAKS.values(), ids=LEAKS)
def test_nothing_is_kept_that_holds_it(tmp_path: Path, first: str, then: str) -> None:
    is_told = "v=none" in then
    taken = Shell("sh", text(f"KEPT=$(cat k); rm k; {then}"))
    made = program(
        node("1", Shell("sh", text(first)), to("2")),
        node("2", TELL if is_told else taken, to("3", do=[Keep("v", "output", "v")])),
        node("3", Shell("sh", text(then if is_told else "true")), to("4", do=[Keep("v", "output", "v")])),
        node("4", Agent("", text("x")), to("5")),
        node("5", Ask("input", text("?")), to(COMPLETE)),
        slots=("v",),
    )
    done = run(tmp_path, compiled(made, GIVEN), {}, secrets={"KEY": SECRET})
    assert "The run was not saved, so it cannot be continued: " in done.summary, done.log
    assert SECRET.encode() not in saved(tmp_path)
    assert "sesame" not in done.summary


@pytest.mark.parametrize("asks", [False, True], ids=["in a message", "in a question"])
def test_markup_hides_it_from_nobody_who_looks_for_it(tmp_path: Path, asks: bool) -> None:
    made = program(
        node("1", Shell("sh", text('printf %s "$KEY" > k')), to("2")),
        node("2", TELL, to("3", do=[Keep("v", "output", "v")])),
        node("3", Agent("", text("x")), to("4" if asks else "end")),
        node("4", Ask("select", words("Why ", ref("v")), options=(words("no ", ref("v")), text("o"))), to("end")),
        node("end", End("stop", words("It was ", ref("v")))),
        slots=("v",),
    )
    done = run(tmp_path, compiled(made, GIVEN), {}, secrets={"KEY": SECRET})
    assert ended(done) == ("WAITING 4" if asks else "STOP It was ***")
    assert "sesame" not in done.summary


# --- Files of the runner ----------------------------------------------------------------------------------------------

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
        node("1", Shell("bash", text("\n".join(commands))), to("2", "pass"), to("4", "fail")),
        node("2", Shell("bash", text("date; echo two")), to("5", "pass"), to(STOP, "fail")),
        node("5", Agent("", text("Say")), to(COMPLETE)),
        node("4", Shell("bash", text("echo four")), to(COMPLETE, "pass"), to(STOP, "fail")),
    )
    workflow = compiled(made, {**OPTIONS, "secrets": ["KEY"]})
    done = run(tmp_path, workflow, {}, secrets={"KEY": "sesame-open"}, fresh=True)
    for kind in LINES:
        assert (tmp_path / f"found.{kind}").read_text().strip(), done.log
    assert not (tmp_path / "evil").exists(), (tmp_path / "evil").read_text()
    assert "four" not in done.log.split("Say")[0]
    assert done.conclusion == "success"
