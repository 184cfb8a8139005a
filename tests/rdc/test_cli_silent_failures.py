"""Blocks in which a failure goes unnoticed: a warning for each document, and `rdc: {shell: strict}` (E13)."""

# ruff: noqa: E501 (several cases are on one line)

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.frontends.rundown.check.unnoticed_failures import hides_failures
from tests.support.cli import call
from tests.support.generated import Generated

pytestmark = pytest.mark.process

HIDDEN = [
    *(("block", one) for one in (
        "false\necho deployed", "make\nmake install", "a; b", "x=$(false)\necho $x", "cd /nowhere\nrm -rf x",
        "cat <<E > f\nfalse\nE\necho done", "kubectl apply -f a \\\n  -f b\nkubectl get",
        "if true; then a; fi\nfalse\necho x", "grep -q 'a;b' f\necho x", "A=1 cmd\necho x", "echo a\nfalse # c\necho b",
        "> f cmd\necho",
        "set -x\nfalse\necho", "> f a b\necho", "2> f a b c\necho", "a > f\necho", "cmd 2>&1\necho", "cmd &> log\necho",
        "# no set -e here\na\nb", "echo set -e\na\nb", 'grep x <<< "$y"\necho', "diff <(a) <(b)\necho",
        'a "$(b "c;d")"\necho', "a=(1 2)\nb\nc", "case $x in\n a) b;;\nesac\nc\nd", "set -o pipefail\na\nb",
        "a\nb | grep -q x", 'x=$(a)\necho $x\n[ -n "$y" ]', "echo ${x:-;}\nb\nc",
    )),
    *(("loop", one) for one in (
        "for x in a b; do\n cmd $x\ndone", "while read l; do a; b; done < f", "for x in a b; do cmd $x; done\necho",
        "until a; do\n b\n sleep 1\ndone", "for ((i=0;i<3;i++)); do a $i; done", "for x in a; do if b; then c; fi; done",
        "for x in a; do b || continue; c; done", "for x in a; do for y in b; do c; done; done",
        "set -o pipefail\nfor x in a b; do cmd $x; done", "for x in a; do case $x in a) b;; esac; done",
        "f() {\n for x in a; do b; done; c\n}\nfor x in a; do (b); done",
    )),
    *(("pipeline", one) for one in (
        "dump | gzip > x.gz", "curl -f u | jq .a", "a |\n b |\n c", "set -e\na | tee log", "x=$(curl u | wc -l)\necho $x",
        "a 2>&1 | tee -a log", "a |& tee log", "if true; then a | sort; fi", "a | wc -l && b", "a | while read x; do echo; done",
        "a | jq -r .x", "docker save x | ssh h docker image ls", "set -eu\nx=$(a | b)", "cat f | xargs b",
        "a | tee log\ngrep -q ok other",
    )),
]  # fmt: skip
SEEN = [
    "echo a\nfalse", "false || exit 1\necho x", "a && b\nc", "set -e\na\nb", "set -euo pipefail\na\nb", "a; set -xe; b",
    "X=1\nY='a b'\ncmd", "Z=$((1 + 2))\ncmd", "if a; then\n b\n c\nfi\necho",
    "case $x in\n a) cmd;;\n b|c) cmd2 ;;\nesac\necho x", "f() {\n a\n b\n}\nf", "function f { a; b; }\nf", "(a; b)\nc",
    "cat <<'E'\nfalse\necho\nE\n", "a \\\n b", "export A=$(x)\ncmd", "# c\na", "a &\nwait", "set -o errexit\na\nb",
    "{ a; b; } > f\nc", "if a; then b; fi > f 2>&1\nc", "(a; b) &>> f\nc", "for x in a; do echo; done > f\nc", "> f\nc",
    "printf x\ncmd", "echo 'unclosed\n a\n b", "{ a; b; }\nc", "(( x++ ))\ncmd",
    "[ -f x ] || exit 1\nb", "! grep x y\necho", "cat <<E\nfalse\n", "a=(1 2 3)\ncmd", "\n\n", "if a; then",
    "a &&\n b ||\n # why\n c\nd", "a\nrc=$?\nexit $rc", 'a\nif [ "$?" != 0 ]; then\n b\nfi',
    "exec 2>&1\na", "readonly A=1\na", "declare -A m\na", "[[ -f x ]]\na", "trap 'exit 1' ERR\na\nb",
    "a\nexit ${PIPESTATUS[0]}", "if a; then set -e; fi\nb\nc", "echo\n\\", "f() { set -e; }\nb\nc",
    # Redirections of compound commands
    "if a; then echo; fi > f\necho", "{ echo a; echo b; } > f 2>&1\necho", "(echo a; echo b) 2>&1\necho", "> f\necho",
    "while read x; do echo $x; done < f > g\necho", "if a; then echo; fi &> f\necho", "for x in a; do echo; done < <(b)\necho",
    # Pipelines
    "a | grep -q x", "a | grep x", "a | jq -e .x", "a | b | grep -q x", "a | read x", "curl u | tar xz", "set -euo pipefail\na | b", "echo x | b",
    "set -eo pipefail\na | b", "printf x | b", "ps aux | head", "date | tee log", "a | sha256sum -c", "cat <<E | b\nx\nE",
    'n=$(a | wc -l)\n[ "$n" -gt 0 ]', "if [[ $(a | wc -l) -gt 2 ]]; then b; fi", 'x=$(a | b)\ntest -n "$x"',
    "a | tee log\ngrep -q ok log", "a | gzip > x.gz\ntest -s x.gz", "a | b\nexit ${PIPESTATUS[0]}", "a | gunzip > x",
    "echo 'a | b'", 'echo "a | b"', "# a | b\nc", "a || b", "[[ $x =~ ^(a|b)$ ]]", "case $x in a|b) c;; esac",
    "a | kubectl apply -f -", "a | docker login --password-stdin", "a | awk 'END { exit NR < 2 }'", 'echo "$(a | b)"',
    # Loops
    "for x in a b; do echo $x; done", "for x in a; do b || exit 1; done", "set -e\nfor x in a; do b; done",
    "until a; do sleep 1; done", "while ! a; do sleep 1; done", "for i in 1 2; do a && break; sleep 1; done",
    "for i in 1 2; do if a; then break; fi; sleep 1; done", "for f in *; do x=$f; done", "while read x; do echo $x; done",
    "for i in 1 2; do a; [ $? = 0 ] && break; done", 'for x in a; do y=$(b); [ -n "$y" ] || exit 1; done',
    "for x in $(a); do echo; done", "select x in a b; do break; done", "done", "for x", "case x in a", "$(", "((",
]  # fmt: skip


@pytest.mark.parametrize(("kind", "command"), [*HIDDEN, *(("", one) for one in SEEN)])
def test_which_blocks_hide_a_failure(kind: str, command: str) -> None:
    found = hides_failures(command)
    assert kind in found if kind else not found


def written(shell: str, *blocks: str, tag: str = "bash") -> str:
    head = f"---\nrdc: {{shell: {shell}}}\n---\n" if shell else ""
    steps = "".join(f"\n## {at}. Do\n\n```{tag}\n{block}\n```\n" for at, block in enumerate(blocks, 1))
    return f"{head}# A\n{steps}"


def test_one_warning_names_all_blocks_and_both_remedies(tmp_path: Path) -> None:
    (tmp_path / "a.runbook.md").write_text(written("", "false\necho", "true", "a; b"))
    output = call("check", "a.runbook.md", cwd=tmp_path)
    assert (output.code, output.err.count("warning[RD132]")) == (0, 1)
    assert "the blocks at lines 5, 18" in output.err
    assert "start the block with `set -euo pipefail`" in output.err
    assert "`rdc: {shell: strict}`" in output.err


def test_blocks_that_differ_in_digits_alone_are_read_alike_unless_these_end_a_here_document(tmp_path: Path) -> None:
    blocks = ("false 1\necho 1", "false 23\necho 4", "false 78\necho 9", "false; cat <<E1\nE1", "false; cat <<E1\nE2")
    (tmp_path / "a.runbook.md").write_text(written("", *blocks))
    assert "the blocks at lines 5, 12, 19, 26 can" in call("check", "a.runbook.md", cwd=tmp_path).err


@pytest.mark.parametrize(
    ("shell", "block"), [("plain", "false\necho"), ("strict", "false\necho"), ("", "set -euo pipefail\na\nb | c")]
)
def test_each_remedy_silences_the_warning(shell: str, block: str, tmp_path: Path) -> None:
    (tmp_path / "a.runbook.md").write_text(written(shell, block))
    assert call("check", "--strict", "a.runbook.md", cwd=tmp_path).code == 0


def test_a_project_may_say_it_for_all_documents(tmp_path: Path) -> None:
    (tmp_path / "rdc.toml").write_text('shell = "plain"\n')
    (tmp_path / "a.runbook.md").write_text(written("", "false\necho"))
    assert call("check", "--strict", "a.runbook.md", cwd=tmp_path).code == 0


@pytest.mark.parametrize(
    ("shell", "tag", "problem"), [("sloppy", "bash", "write strict or plain"), ("strict", "sh", "sh has no pipefail")]
)
def test_what_is_no_word_for_it_and_a_strict_sh_are_refused(shell: str, tag: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "a.runbook.md").write_text(written(shell, "true", tag=tag))
    output = call("check", "a.runbook.md", cwd=tmp_path)
    assert (output.code, problem in output.err) == (1, True)


@pytest.mark.parametrize("target", ["python", "make"])
@pytest.mark.parametrize(
    "block", ["false\necho deployed", "false | cat\necho deployed", 'echo "$nothing_at_all"\necho deployed']
)
def test_a_strict_block_stops_at_its_first_failure(block: str, target: str, tmp_path: Path) -> None:
    place = Generated(tmp_path, "runbook", written("strict", block), target)
    output = place.call("run")
    assert output.code == (1 if target == "python" else 2)
    assert "STOP" in output.out + output.err
    assert "deployed\n" not in output.out.replace("echo deployed\n", "")


def test_the_exit_code_of_a_closed_pipe_is_explained(tmp_path: Path) -> None:
    place = Generated(tmp_path, "runbook", written("strict", "yes | head -1"))
    output = place.call("run")
    assert output.code == 1
    assert "FAIL  exit code 141: SIGPIPE, a pipeline's reader ended early" in output.err
    place = Generated(tmp_path, "runbook", written("strict", "exit 140"))
    assert "SIGPIPE" not in place.call("run", "--restart").err


def test_a_strict_block_runs_on_where_nothing_fails_and_a_workflow_shows_that_it_is_strict(tmp_path: Path) -> None:
    output = Generated(tmp_path, "runbook", written("strict", "true\necho deployed")).call("run")
    assert (output.code, output.out) == (0, "deployed\n")
    (tmp_path / "a.runbook.md").write_text(written("strict", "false\necho deployed"))
    made = call("compile", "a.runbook.md", "--to", "github", "-o", "-", cwd=tmp_path)
    assert "          set -euo pipefail\n          false\n          echo deployed\n" in made.out
