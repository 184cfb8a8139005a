"""Variables, folders and settings of a block that don't reach the next one (RD122)."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.diagnostics.model import Diagnostic
from tests.support.documents import compiled


def blocks(*commands: str, head: str = "", tag: str = "bash") -> str:
    steps = "".join(f"## {at}. Do\n\n```{tag}\n{command}\n```\n\n" for at, command in enumerate(commands, 1))
    return f"{head}{steps}"


def lost(folder: Path, text: str) -> list[Diagnostic]:
    return [item for item in compiled(folder, text).diagnostics if item.code == "RD122"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("V=1\na $V", "b $V"),
        ("export V=1; a", 'b "x-${V}.tgz"'),
        ("export V=1", "b && c $V"),
        ("read -rp 'Which one? ' V\na $V", "b $V"),
        ("V=$(a)\necho $V", "b <<E\n$V\nE"),
        ("declare -r V=1\na", "b ${V%.*}"),
        ("printf -v V %s x\na", "b ${#V}"),
        ("mapfile -t V < f\na", 'for x in "${V[@]}"; do b; done'),
        ("if a; then V=1; fi", "echo $V"),
        ("a && V=1", "echo ${V:?}"),
        (': "${V:=1}"\na', "echo `b $V`"),
        ("V=1; a", 'echo "$(b "$V")"'),
        ("V=1; a", "echo '$V' $V"),
        ("V=1; a", "f() { b $V; }; f"),
    ],
)
def test_a_variable_that_a_later_block_reads_is_reported(tmp_path: Path, first: str, second: str) -> None:
    text = blocks(first, "true", second)
    (found,) = lost(tmp_path, text)
    assert found.message == "the variable V ends with this block, because each block runs in its own shell"
    assert "`rdc: {outputs: [V]}`" in found.help
    output = ["V is set here", "this block reads V, but doesn't set it"]
    assert [place.message for place in found.related] == output
    lines = text.splitlines()
    places = [lines[place.span.line - 1] for place in found.related]
    assert found.span
    assert found.span.line == 3
    assert ["V" in line for line in places] == [True, True]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("V=1; a", "echo '$V' \\$V"),
        ("V=1; a", "V=2; b $V"),
        ("V=1; a", "b ${V:-2} ${V-2} ${V+x} ${V:+x}"),
        ("V=1; a", ": ${V:=2}\nb $V"),
        ("V=1; a", "for V in a b; do c $V; done"),
        ("V=1; a", "while read -r x V; do c $V; done < f"),
        ("V=1; a", "while IFS=, read -r x V; do c $V; done < f"),
        ("V=1; a", "f() { local V=$1; b $V; }; f"),
        ("V=1; a", "printf -v V x; b $V"),
        ("V=1; a", "readarray -t V < f; b ${V[0]}"),
        ("V=1; a", "(( V = 2 )); b $V"),
        ("V=1; a", "source env.sh; b $V"),
        ("V=1; a", "V=2 b $V"),
        ("V=1; a", "cat <<'E'\n$V\nE"),
        ("V=1; a", "# $V\nb"),
        ("V=1; a", "b $V1 $1 $? $$ $@"),
        ("V=1 a", "b $V"),
        ("a V=1", "b $V"),
        ("a $V", "b $V"),
        ("echo 'V=1'", "b $V"),
        ("awk '{ V = $1 }' f", "awk '{ print $V }' f"),
        ("PATH=/x:$PATH; a", "echo $PATH $HOME"),
        ("V=1; a", "echo 'unclosed $V"),
        ("echo $V", "V=1; a"),
    ],
)
def test_a_variable_that_the_later_block_has_is_not_reported(tmp_path: Path, first: str, second: str) -> None:
    assert lost(tmp_path, blocks(first, second)) == []


@pytest.mark.parametrize(
    "head",
    [
        "---\nrdc: {outputs: [V]}\n---\n",
        "---\nrdc: {inputs: {V: {default: x}}}\n---\n",
        "---\nrdc: {secrets: [V]}\n---\n",
        '---\nrdc: {steps: {"2": {env: {V: x}}}}\n---\n',
    ],
)
def test_a_declared_variable_is_not_reported(tmp_path: Path, head: str) -> None:
    assert lost(tmp_path, blocks("V=1; a", "b $V", head=head)) == []


def test_the_remedy_for_a_name_that_no_output_can_have_is_another(tmp_path: Path) -> None:
    (found,) = lost(tmp_path, blocks("LD_PRELOAD=x; a", "b $LD_PRELOAD"))
    assert found.help == "set LD_PRELOAD again in the block that reads it"


@pytest.mark.parametrize(
    ("first", "what"),
    [
        ("cd build", "cd build"),
        ("mkdir -p build && cd build", "cd build"),
        ("a\npushd x/y", "pushd x/y"),
        ("export V=1", "export V=1"),
        ("V=1", "V=1"),
        ("# the environment\nsource venv/bin/activate", "source venv/bin/activate"),
        (". ./env.sh", ". ./env.sh"),
        ("umask 077", "umask 077"),
        ("set -euo pipefail", "set -euo"),
        ("alias k=kubectl", "alias k=kubectl"),
        ('eval "$(ssh-agent -s)"', 'eval "$(ssh-agent -s)"'),
        ("cd ..", "cd .."),
        ("export A=1\ncd /srv", "cd /srv"),
    ],
)
def test_a_block_that_only_changes_its_shell_is_reported(tmp_path: Path, first: str, what: str) -> None:
    (found,) = lost(tmp_path, blocks(first, "ls"))
    assert found.message == f"`{what}` has no effect after this block, because each block runs in its own shell"
    assert [place.span.line for place in found.related] == [blocks(first).count("\n") + 3]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("cd build && make", "ls"),
        ("cd build\nmake\ncd ..", "ls"),
        ("cd build\nmake\ncd -", "ls"),
        ("(cd build)", "ls"),
        ("cd /srv", "cd /srv && ls"),
        ("cd /srv", 'cd "$HOME"; ls'),
        ("git clone x\ncd x", "cd x && make"),
        ("mkdir -p a && cd a", "pushd a\nls\npopd"),
        ("export V=1\na $V", "ls"),
        ("read -p 'Press Enter' x", "ls"),
        ("X=$(deploy)", "ls"),
        ("set -e\na", "ls"),
        ("echo 'cd x'", "ls"),
        ("if a; then cd x; fi", "ls"),
        ("./source", "ls"),
    ],
)
def test_a_block_that_does_its_own_work_is_not_reported(tmp_path: Path, first: str, second: str) -> None:
    assert lost(tmp_path, blocks(first, second)) == []


def test_the_last_block_has_no_one_to_lose_it_to(tmp_path: Path) -> None:
    assert lost(tmp_path, blocks("ls", "export V=1")) == []
    assert lost(tmp_path, blocks("export V=1", "ls", tag="text")) == []


@pytest.mark.parametrize(("first", "second"), [("V=1\na", "b $V"), ("cd x", "ls")])
def test_an_ignore_comment_silences_it(tmp_path: Path, first: str, second: str) -> None:
    text = blocks(first, second).replace("```bash", "<!-- rdc: ignore RD122 -->\n```bash", 1)
    assert [item.code for item in compiled(tmp_path, text).diagnostics] == []
