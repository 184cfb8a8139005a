"""Blocks in which a failure goes unnoticed: a warning for each document, and `rdc: {shell: strict}` (E13)."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.frontends.rundown.silent import hides_failures
from tests.abuse.generated import Generated
from tests.rdc.cli_support import call

HIDDEN = [
    "false\necho deployed", "make\nmake install", "a; b", "x=$(false)\necho $x", "cd /nowhere\nrm -rf x",
    "cat <<E > f\nfalse\nE\necho done", "curl x | tee y\necho z", "kubectl apply -f a \\\n  -f b\nkubectl get",
    "if true; then a; fi\nfalse\necho x", "grep -q 'a;b' f\necho x", "A=1 cmd\necho x", "echo a\nfalse # c\necho b",
    "set -x\nfalse\necho", "cmd 2>&1\necho", "cmd &> log\necho",
    "# no set -e here\na\nb", "echo set -e\na\nb", 'grep x <<< "$y"\necho', "diff <(a) <(b)\necho", "a |\n b\nc",
    "a | while read x; do b; done\nc\necho",
]  # fmt: skip
SEEN = [
    "echo a\nfalse", "false || exit 1\necho x", "a && b\nc", "set -e\na\nb", "set -euo pipefail\na\nb", "a; set -xe; b",
    "X=1\nY='a b'\ncmd", "Z=$((1 + 2))\ncmd", "if a; then\n b\n c\nfi\necho", "for x in a b; do\n cmd $x\ndone\necho",
    "case $x in\n a) cmd;;\n b|c) cmd2 ;;\nesac\necho x", "f() {\n a\n b\n}\nf", "function f { a; b; }\nf", "(a; b)\nc",
    "cat <<'E'\nfalse\necho\nE\n", "a \\\n b", "export A=$(x)\ncmd", "# c\na", "a &\nwait", "set -o errexit\na\nb",
    "while read l; do a; b; done < f\necho", "printf x\ncmd", "echo 'unclosed\n a\n b", "{ a; b; }\nc",
    "(( x++ ))\ncmd",
    "[ -f x ] || exit 1\nb", "! grep x y\necho", "cat <<E\nfalse\n", "a=(1 2 3)\ncmd", "\n\n", "if a; then",
    "a |\n b |\n c", "a &&\n b ||\n # why\n c\nd", "a\nrc=$?\nexit $rc", 'a\nif [ "$?" != 0 ]; then\n b\nfi',
    "exec 2>&1\na", "readonly A=1\na", "declare -A m\na", "[[ -f x ]]\na", "trap 'exit 1' ERR\na\nb",
    "a\nexit ${PIPESTATUS[0]}", "if a; then set -e; fi\nb\nc", "echo\n\\", "f() { set -e; }\nb\nc",
]  # fmt: skip


@pytest.mark.parametrize(("command", "hides"), [*((one, True) for one in HIDDEN), *((one, False) for one in SEEN)])
def test_which_blocks_hide_a_failure(command: str, hides: bool) -> None:
    assert hides_failures(command) is hides


def written(shell: str, *blocks: str, tag: str = "bash") -> str:
    head = f"---\nrdc: {{shell: {shell}}}\n---\n" if shell else ""
    steps = "".join(f"\n## {at}. Do\n\n```{tag}\n{block}\n```\n" for at, block in enumerate(blocks, 1))
    return f"{head}# A\n{steps}"


def test_one_warning_names_all_blocks_and_both_remedies(tmp_path: Path) -> None:
    (tmp_path / "a.runbook.md").write_text(written("", "false\necho", "true", "a; b"))
    said = call("check", "a.runbook.md", cwd=tmp_path)
    assert (said.code, said.err.count("warning[RD132]")) == (0, 1)
    assert "the blocks at lines 5, 18" in said.err
    assert "start the block with `set -e`" in said.err
    assert "`rdc: {shell: strict}`" in said.err


def test_blocks_that_differ_in_digits_alone_are_read_alike_unless_these_end_a_here_document(tmp_path: Path) -> None:
    blocks = ("false 1\necho 1", "false 23\necho 4", "false 78\necho 9", "false; cat <<E1\nE1", "false; cat <<E1\nE2")
    (tmp_path / "a.runbook.md").write_text(written("", *blocks))
    assert "the blocks at lines 5, 12, 19, 26 can" in call("check", "a.runbook.md", cwd=tmp_path).err


@pytest.mark.parametrize(
    ("shell", "block"), [("plain", "false\necho"), ("strict", "false\necho"), ("", "set -e\na\nb")]
)
def test_each_remedy_silences_the_warning(shell: str, block: str, tmp_path: Path) -> None:
    (tmp_path / "a.runbook.md").write_text(written(shell, block))
    assert call("check", "--strict", "a.runbook.md", cwd=tmp_path).code == 0


def test_a_project_may_say_it_for_all_documents(tmp_path: Path) -> None:
    (tmp_path / "rdc.toml").write_text('shell = "plain"\n')
    (tmp_path / "a.runbook.md").write_text(written("", "false\necho"))
    assert call("check", "--strict", "a.runbook.md", cwd=tmp_path).code == 0


def test_what_is_no_word_for_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.runbook.md").write_text(written("sloppy", "true"))
    said = call("check", "a.runbook.md", cwd=tmp_path)
    assert (said.code, "write strict or plain" in said.err) == (1, True)


def test_sh_cannot_be_strict(tmp_path: Path) -> None:
    (tmp_path / "a.runbook.md").write_text(written("strict", "true", tag="sh"))
    said = call("check", "a.runbook.md", cwd=tmp_path)
    assert (said.code, "sh has no pipefail" in said.err) == (1, True)


@pytest.mark.parametrize("target", ["python", "make"])
@pytest.mark.parametrize(
    "block", ["false\necho deployed", "false | cat\necho deployed", 'echo "$nothing_at_all"\necho deployed']
)
def test_a_strict_block_stops_at_its_first_failure(block: str, target: str, tmp_path: Path) -> None:
    place = Generated(tmp_path, "runbook", written("strict", block), target)
    said = place.call("run")
    assert said.code == (1 if target == "python" else 2)
    assert "STOP" in said.out + said.err
    assert "deployed\n" not in said.out.replace("echo deployed\n", "")


def test_a_strict_block_runs_on_where_nothing_fails(tmp_path: Path) -> None:
    place = Generated(tmp_path, "runbook", written("strict", "true\necho deployed"))
    said = place.call("run")
    assert (said.code, said.out) == (0, "deployed\n")


def test_a_workflow_shows_that_a_block_is_strict(tmp_path: Path) -> None:
    (tmp_path / "a.runbook.md").write_text(written("strict", "false\necho deployed"))
    said = call("compile", "a.runbook.md", "--to", "github", "-o", "-", cwd=tmp_path)
    assert "          set -euo pipefail\n          false\n          echo deployed\n" in said.out
