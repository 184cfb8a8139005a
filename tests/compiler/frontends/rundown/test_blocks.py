"""Code blocks without a closing fence (RD049), and state of a block that doesn't reach the next one (RD122)."""

import time
from pathlib import Path

import pytest

from compiler.diagnostics.model import Diagnostic, Severity
from compiler.frontends.rundown.parse.blocks import read_blocks
from compiler.text.source import Source
from tests.conftest import ROOT
from tests.support.documents import compiled, findings

EXAMPLES = sorted((ROOT / "examples").rglob("*.runbook.md"))

BUILD = "## 1. Build\n\n"
MAKE = BUILD + "```bash\nmake\n"
TEST = "```bash\nmake test\n```\n"

SWALLOWED: dict[str, tuple[str, int]] = {
    "the-next-step": (MAKE + "\n## 2. Test\n\n" + TEST, 6),
    "a-named-step-and-its-block": (MAKE + "\n## Cleanup\n\n" + TEST, 8),
    "a-step-that-a-goto-names": (BUILD + "- FAIL: GOTO Rollback\n\n## 2. A\n```sh\nx\n## Rollback\n```\n", 8),
    "the-next-substep": ("## 1. A\n\n### 1.1 B\n```sh\nx\n### 1.2 C\ny\n```\n", 6),
    "the-first-substep": ("## 1. A\n```sh\nx\n### 1.1 C\ny\n```\n", 4),
    "a-dynamic-step": (BUILD + "```sh\nx\n## {N}. Item\n```\n", 5),
    "the-number-after-a-named-step": ("## 1. A\n- FAIL: GOTO Fix\n## Fix\n```sh\nx\n## 2: C\ny\n```\n", 6),
    "the-first-step": ("# Title\n\n```text\nx\n\n## 1. A\n```\n\n## Cleanup\n", 6),
    "a-closing-fence-with-a-text": (MAKE + "``` end\n\n" + TEST, 5),
    "tildes": (BUILD + "~~~bash\nmake\n\n~~~sh\nx\n~~~\n", 6),
    "a-long-fence-inside-one": (BUILD + "````md\nx\n\n````bash\nx\n````\n", 6),
    "an-example-that-closes-too-early": (BUILD + "```markdown\n```bash\nls\n```\n", 4),
    "an-indented-header": (BUILD + "```bash\nmake\n   ## 2. Test\n```\n", 5),
}

FINE: dict[str, str] = {
    "comments": BUILD + "```bash\n## Cleanup\n## Build the shop\n### Notes\nmake\n```\n",
    "numbered-comments-of-a-script": BUILD + "```bash\n## 1. Fetch\nx\n## 2. Build\n```\n\n## 2. Test\n\nTest.\n",
    "numbered-comments-that-go-further": BUILD + "```bash\n## 3. Fetch\nx\n## 7. Build\n```\n",
    "substeps-of-another-step": BUILD + "```bash\n### 2.1 Fetch\nx\n```\n",
    "a-step-that-exists": BUILD + "```bash\n## Cleanup\n```\n\n- FAIL: GOTO Cleanup\n\n## Cleanup\n\nClean.\n",
    "an-example-in-a-longer-fence": BUILD + "````markdown\n## 2. Test\n\n```bash\nls\n```\n````\n",
    "an-example-in-tildes": BUILD + "~~~~text\n## 2. Test\n\n```bash\nls\n```\n~~~~\n",
    "an-example-in-other-marks": BUILD + "~~~text\n```bash\nls\n```\n~~~\n",
    "a-markdown-example": BUILD + "```markdown\n## 2. Test\n```\n",
    "a-markdown-example-with-prompt": BUILD + "```MD prompt\n## 2. Test\n```\n",
    "a-heading-of-level-1": BUILD + "```bash\n# 2. Test\nmake\n```\n",
    "a-heading-of-level-4": BUILD + "```bash\n#### 2. Test\nmake\n```\n",
    "marks-without-a-space": BUILD + "```bash\n##2. Test\nmake\n```\n",
    "an-indented-code-line": BUILD + "```bash\n    ## 2. Test\n```\n",
    "backticks-in-a-command": BUILD + "```bash\necho '```bash'\n```\n",
    "backticks-in-the-info": BUILD + "```bash\n```x`y` z\n```\n",
    "a-heredoc": BUILD + "```bash\ncat > x.md <<END\n## Notes\n    ```\nEND\n```\n",
}


@pytest.mark.parametrize(("text", "line"), SWALLOWED.values(), ids=SWALLOWED)
def test_a_block_that_swallows_lines_is_reported_where_it_opens(tmp_path: Path, text: str, line: int) -> None:
    found = [item for item in compiled(tmp_path, text).diagnostics if item.code == "RD049"]
    opened = next(number for number, content in enumerate(text.splitlines(), 1) if content.startswith(("```", "~~~")))
    assert [(item.span and item.span.line, item.severity) for item in found] == [(opened, Severity.WARNING)]
    assert f"line {line}," in found[0].message
    assert [related.span.line for related in found[0].related] == [line]


@pytest.mark.parametrize("text", FINE.values(), ids=FINE)
def test_other_lines_that_look_like_headers_or_fences_are_left_alone(tmp_path: Path, text: str) -> None:
    assert "RD049" not in {item.code for item in compiled(tmp_path, text).diagnostics}


def test_the_help_says_where_to_close_and_how_to_keep_the_line(tmp_path: Path) -> None:
    (found,) = compiled(tmp_path, BUILD + "~~~~text\nx\n~~~~~sh\n~~~~~\n").diagnostics
    assert found.help.endswith(
        "~~~~ on a separate line; if the line belongs to the block, open and close the block with ~~~~~~"
    )
    assert findings(compiled(tmp_path, BUILD + "~~~~~~text\nx\n~~~~~sh\n~~~~~\n~~~~~~\n")) == []


def test_findings_beside_an_open_block(tmp_path: Path) -> None:
    assert findings(compiled(tmp_path, MAKE + "\n## 2. Test\n")) == ["RD045 3:1"], "the error that it was"
    gap = MAKE + "\n## 2. Test\n\n" + TEST + "\n## 3. Install\n\nInstall.\n"
    assert findings(compiled(tmp_path, gap)) == ["RD049 3:1", "RD102 12:4"]
    for fence in ("```\xa0", "\u200b```", "```\f"):
        (found,) = compiled(tmp_path, f"{MAKE}{fence}\n").diagnostics
        assert (found.code, found.help) == ("RD045", "remove the invisible character from the closing fence in line 5")
    assert findings(compiled(tmp_path, f"{MAKE}```\n")) == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name.removesuffix(".runbook.md"))
def test_a_missing_fence_in_an_example_is_reported(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    ends = [block.end_line for block in read_blocks(Source.from_text(path.name, text), 1) if block.type == "CODE"]
    for end in ends:
        found = compiled(tmp_path, "".join(lines[: end - 1] + lines[end:]), link=False).diagnostics
        assert {"RD045", "RD049"} & {item.code for item in found}, f"without the fence in line {end}"


def test_many_suspicious_lines_take_little_time(tmp_path: Path) -> None:
    lines = "".join(f"## Comment {number}\n### 9.{number} x\n``` `\n" for number in range(10_000))
    begun = time.perf_counter()
    assert findings(compiled(tmp_path, f"{BUILD}```bash prompt\n{lines}```\n")) == []
    assert time.perf_counter() - begun < 4


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
    notes = ["V is set here", "this block reads V, but doesn't set it"]
    assert [place.message for place in found.related] == notes
    places = [text.splitlines()[place.span.line - 1] for place in found.related]
    assert found.span
    assert found.span.line == 3
    assert ["V" in line for line in places] == [True, True]


def test_the_remedy_for_a_name_that_no_output_can_have_is_another(tmp_path: Path) -> None:
    (found,) = lost(tmp_path, blocks("LD_PRELOAD=x; a", "b $LD_PRELOAD"))
    assert found.help == "set LD_PRELOAD again in the block that reads it"


QUIET = [
    # the later block has the variable
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
    # the block does its own work
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
    # it is the last one
    ("ls", "export V=1"),
]
DECLARED = [
    *("rdc: {outputs: [V]}", "rdc: {inputs: {V: {default: x}}}", "rdc: {secrets: [V]}"),
    'rdc: {steps: {"2": {env: {V: x}}}}',
]


@pytest.mark.parametrize(
    "text",
    [
        *(blocks(first, second) for first, second in QUIET),
        *(blocks("V=1; a", "b $V", head=f"---\n{declared}\n---\n") for declared in DECLARED),
        blocks("export V=1", "ls", tag="text"),
        *(
            blocks(*pair).replace("```bash", "<!-- rdc: ignore RD122 -->\n```bash", 1)
            for pair in (("V=1\na", "b $V"), ("cd x", "ls"))
        ),
    ],
)
def test_a_block_that_loses_nothing_is_not_reported(tmp_path: Path, text: str) -> None:
    assert lost(tmp_path, text) == []


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
