"""A command finds the files of the runner without their names; what it writes there reaches no later step."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.backends.github.routed import COMPLETE, STOP, Agent, Shell, compiled, node, program, text, to
from tests.backends.github.routed_runs import OPTIONS, run

BY_PARENT = 'f=$(tr "\\0" "\\n" < /proc/$PPID/environ | sed -n "s/^GITHUB_{0}=//p"); '
BY_NAME = 'f=$(ls -t "$RUNNER_TEMP"/*/*{1}* "$RUNNER_TEMP"/*{1}* 2> /dev/null | head -n 1); '
LINES = {"ENV": "BASH_ENV=$FOLDER/evil.sh", "PATH": "$FOLDER/bin", "OUTPUT": "next=4"}


@pytest.mark.parametrize("kind", ["ENV", "PATH", "OUTPUT"])
@pytest.mark.parametrize("found", [BY_PARENT, BY_NAME], ids=["by the parent", "by its name"])
def test_a_file_of_the_runner_that_a_command_finds(tmp_path: Path, kind: str, found: str) -> None:
    (tmp_path / "evil.sh").write_text('env > "$FOLDER/evil"\n')
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "date").write_text('#!/bin/sh\nenv > "$FOLDER/evil"\n')
    (tmp_path / "bin" / "date").chmod(0o755)
    command = found.format(kind, kind.lower()) + f'echo "$f" > "$FOLDER/found"; echo "{LINES[kind]}" >> "$f"'
    made = program(
        node("1", Shell("bash", text(command)), to("2", "pass"), to("4", "fail")),
        node("2", Shell("bash", text("date; echo two")), to("3", "pass"), to(STOP, "fail")),
        node("3", Shell("bash", text("date; echo three")), to("5", "pass"), to(STOP, "fail")),
        node("5", Agent("", text("Say")), to(COMPLETE)),
        node("4", Shell("bash", text("echo four")), to(COMPLETE, "pass"), to(STOP, "fail")),
    )
    workflow = compiled(made, {**OPTIONS, "secrets": ["KEY"]})
    done = run(tmp_path, workflow, {}, secrets={"KEY": "sesame-open"}, fresh=True)
    assert (tmp_path / "found").read_text().strip(), done.log
    assert not (tmp_path / "evil").exists(), (tmp_path / "evil").read_text()
    assert done.conclusion == "success"
