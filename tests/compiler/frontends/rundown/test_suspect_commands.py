"""Blocks without a command, and commands written for a reader or another program (RD053 to RD056, RD137, RD541)."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from compiler.diagnostics.model import Diagnostic
from compiler.driver import Settings, open_file
from compiler.frontends.rundown.check.blocks import shell_text
from compiler.frontends.rundown.check.rules import check
from compiler.frontends.rundown.parse.document import parse
from compiler.text.source import Source
from rdc.rewrite.fixes import fix_opened
from tests.support.cli import document
from tests.support.documents import compiled

CODES = {"RD053", "RD054", "RD055", "RD056", "RD137", "RD541"}


def step(command: str, tag: str = "bash") -> str:
    return f"---\nrdc: {{shell: plain}}\n---\n## 1. A\n\n```{tag}\n{command}\n```\n"


def found(folder: Path, command: str, tag: str = "bash") -> list[Diagnostic]:
    """The diagnostics of one command; they are at its fence, where a comment can ignore them."""
    every = [item for item in compiled(folder, step(command, tag)).diagnostics if item.code in CODES]
    assert all(item.span and item.span.line == 6 for item in every)
    return every


def codes(folder: Path, command: str, tag: str = "bash") -> list[str]:
    return [item.code for item in found(folder, command, tag)]


# --- No command ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tag", ["bash", "sh", "shell"])
@pytest.mark.parametrize("command", ["", "  \t\n", "# systemctl restart queue", "#!/bin/sh\n\n  # one\n\t# two", "#"])
def test_a_block_without_a_command_is_reported(tmp_path: Path, command: str, tag: str) -> None:
    assert codes(tmp_path, command, tag) == ["RD053"]


@pytest.mark.parametrize("command", [":", "true # fine", "# one\nls", "ls\n# one", "echo '\n# x\n'", "\\#x"])
def test_a_block_with_a_command_is_not_reported(tmp_path: Path, command: str) -> None:
    assert codes(tmp_path, command) == []


def test_a_shown_block_may_be_empty(tmp_path: Path) -> None:
    assert [codes(tmp_path, "# x", tag) for tag in ("bash prompt", "text", "")] == [[], [], []]


# --- Prompts of a terminal -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        "$ ls",
        "  $  ls",
        "set -e\n$ ls",
        "% ls",
        "❯ ls",
        "root@web-1:~# ls",
        "me@host:/srv/app$ ls",
        "[root@web ~]# ls",
        "bash-5.1$ ls",
        "sh-4.2# ls",
        '$ "./my tool"',
        "$ ls || true",
    ],
)
def test_a_prompt_is_reported(tmp_path: Path, command: str) -> None:
    assert codes(tmp_path, command) == ["RD054"]


@pytest.mark.parametrize(
    "command",
    [
        "$PAGER x",
        "$(cat x) y",
        "${EDITOR:-vi} x",
        "$1 x",
        "ls $ x",
        "cat <<E\n$ ls\nE",
        "cat <<'E'\n$ ls\nE\nls",
        "echo '\n$ ls\n'",
        'echo "\n% x\n"',
        "echo \\\n$ x",
        "# x\n# $ ls\nls",
        "ssh me@host ls",
        "me@host:x",
        "git@github.com:a/b.git x",
        "[ -n x ]",
        "%",
    ],
)
def test_other_dollars_are_not_prompts(tmp_path: Path, command: str) -> None:
    assert codes(tmp_path, command) == []


@pytest.mark.parametrize(
    ("command", "fixed"),
    [
        ("$ ls\n\n# look\n  $ cd x", "ls\n\n# look\n  cd x"),
        ("set -e\n$ ls \\\n    -l\n$ cat <<E\n$ no\nE\n", None),
        ("root@web:~# ls\nroot@web:~# pwd", "ls\npwd"),
        ("$ ls\ntotal 0", None),
        ("$ ls \\\n  -l", "ls \\\n  -l"),
    ],
)
def test_the_fix_keeps_output_from_becoming_a_command(tmp_path: Path, command: str, fixed: str | None) -> None:
    before = open_file(str(document(tmp_path, "a.runbook.md", step(command))))
    after = fix_opened(before, Settings(), unsafe=True).opened.source
    assert isinstance(after, Source)
    assert after.text == step(command if fixed is None else fixed)
    assert fix_opened(before, Settings()).count == 0


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("$ kubectl get svc\nNAME  EXTERNAL-IP\nweb   <none>", ["RD054"]),
        ("$ kubectl get pod <POD_NAME>\nweb   <none>", ["RD054", "RD055"]),
        ("$ kubectl get pod \\\n  <POD_NAME>", ["RD054", "RD055"]),
        ("kubectl get pod <POD_NAME>\n$ ls", ["RD054", "RD055"]),
    ],
)
def test_output_below_a_prompt_has_no_placeholders(tmp_path: Path, command: str, expected: list[str]) -> None:
    assert codes(tmp_path, command) == expected


# --- Placeholders ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        "kubectl delete pod <POD_NAME> -n payments",
        "kubectl delete pod <pod-name>",
        "kubectl delete pod <your pod name> -n x",
        "ssh <user>@<host> uptime",
        "curl https://<your.host>:8080/",
        "cat /var/log/<SERVICE>.log",
        "cmd --name=<name> | tee x",
        "cmd <NAME>_1",
        "cmd <file.txt>",
        "cmd <dir/name>; ls",
        'x="$(kubectl get <POD>)"',
        "x=$(kubectl get <POD>)",
        "cat <<E\nx\nE\ncmd <NAME>",
        "cmd <größe>",
    ],
)
def test_a_placeholder_is_reported(tmp_path: Path, command: str) -> None:
    assert codes(tmp_path, command) == ["RD055"]


@pytest.mark.parametrize(
    "command",
    [
        "sort <in.txt >out.txt",
        "sort <in.txt>out.txt",
        "sort <in.txt> out.txt",
        "sort < in > out",
        "sort <in 2>/dev/null",
        "sort <in 2> err",
        "sort <in >&2",
        "sort <in>&2",
        "sort <in>>out",
        "diff <(a) <(b) >(c)",
        "cat <<EOF >x\n<NAME>\nEOF",
        "cat <<-'EOF'\n\t<a>x</a>\n\tEOF",
        "cat <<<'<x>'",
        "echo '<NAME>' \"<NAME>\" \\<NAME\\>",
        "x=\"$(sed 's/<b>//')\"",
        "ls # <NAME>",
        "[[ a < b && c > d ]]",
        "(( a<b )) || (( a>b ))",
        "while read x; do :; done <$file",
        "exec 3<>x",
    ],
)
def test_redirections_and_strings_are_not_placeholders(tmp_path: Path, command: str) -> None:
    assert codes(tmp_path, command) == []


def test_all_placeholders_of_a_block_are_named_once(tmp_path: Path) -> None:
    (item,) = found(tmp_path, "cmd <A_B> <c>\ncmd <c> <d>")
    assert "`<A_B>`" in item.message
    assert item.message.endswith("(also `<c>`, `<d>`)")
    (related,) = item.related
    assert (related.span.line, related.span.column, related.span.end_column) == (7, 5, 10)


def test_the_remedy_for_a_placeholder_works(tmp_path: Path) -> None:
    for written, name in (("<POD_NAME>", "POD_NAME"), ("<your-pod>", "YOUR_POD"), ("<PATH>", "MY_PATH")):
        (item,) = found(tmp_path, f"cmd {written}")
        assert item.help == f'declare `rdc: {{inputs: {{{name}: {{}}}}}}`, and write `"${name}"`'
        text = f'---\nrdc: {{inputs: {{{name}: {{}}}}}}\n---\n## 1. A\n\n```sh\ncmd "${name}"\n```\n'
        assert compiled(tmp_path, text).diagnostics == ()


# --- Expressions and files of GitHub ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "remedy"),
    [
        ('echo "x ${{ github.sha }}"', 'write `"$GITHUB_SHA"`'),
        ("echo ${{secrets.TOKEN}}", 'declare `rdc: {secrets: [TOKEN]}`, and write `"$TOKEN"`'),
        ("echo '${{ inputs.tag-name }}'", 'declare `rdc: {inputs: {tag_name: {}}}`, and write `"$tag_name"`'),
        ("cat <<E\n${{ env.X }}\nE", 'declare `rdc: {inputs: {X: {}}}`, and write `"$X"`'),
        ("if ${{ always() }}; then ls; fi", "declare"),
    ],
)
def test_an_expression_is_reported(tmp_path: Path, command: str, remedy: str) -> None:
    (item,) = found(tmp_path, command)
    assert item.code == "RD056"
    assert item.help.startswith(remedy)


@pytest.mark.parametrize(
    "command",
    ["cat > x.yml <<'E'\na: ${{ secrets.X }}\nE", "ls # ${{ x }}", 'echo "\\${{ x }}"', "x ${y} {{ z }}", "echo ${#a}"],
)
def test_other_braces_are_not_expressions(tmp_path: Path, command: str) -> None:
    assert codes(tmp_path, command) == []


@pytest.mark.parametrize(
    "command",
    [
        'echo "a=b" >> "$GITHUB_OUTPUT"',
        "echo a=b >> $GITHUB_ENV",
        "echo x >> ${GITHUB_PATH}",
        "echo x | tee -a $GITHUB_STATE",
        "python3 - <<'E'\nimport os\nopen(os.environ['GITHUB_OUTPUT'], 'a')\nE",
        "cat <<E >> $GITHUB_ENV\nx=1\nE",
        "cat <<'E' >> $GITHUB_ENV\nx=1\nE",
        "node -e 'f(process.env.GITHUB_OUTPUT)'",
        "python3 -c 'import os; print(os.getenv(\"GITHUB_PATH\"))'",
        "cat <<'E' | bash\necho a=b >> $GITHUB_ENV\nE",
        "cat <<'E' > x\n$GITHUB_ENV\nE\necho a=b >> $GITHUB_ENV",
    ],
)
def test_a_file_of_the_runner_is_reported(tmp_path: Path, command: str) -> None:
    assert codes(tmp_path, command) == ["RD541"]


@pytest.mark.parametrize(
    "command",
    [
        "echo $GITHUB_SHA >> $GITHUB_STEP_SUMMARY",
        'echo a=b >> "${GITHUB_OUTPUT:-/dev/null}"',
        'if [ -n "$GITHUB_ENV" ]; then echo a=b >> "$GITHUB_ENV"; fi',
        "GITHUB_OUTPUT=$(mktemp)\nmake >> $GITHUB_OUTPUT",
        "ls # $GITHUB_ENV",
        "unset GITHUB_ENV; echo $GITHUB_ENV",
        "echo $GITHUB_ENVIRONMENT $MY_GITHUB_ENV",
        "cat > x.yml <<'E'\nrun: echo a=b >> $GITHUB_OUTPUT\nE",
        "cat <<'E' > x.yml\nrun: echo a=b >> $GITHUB_OUTPUT\nE\ngit add x.yml",
        "grep -rn 'GITHUB_ENV' .github",
        'echo "GITHUB_ENV is set"',
        "sudo tee x.sh >/dev/null <<\\E\necho a=b >> $RDC_OUTPUT\nE",
    ],
)
def test_a_command_that_works_without_the_file_is_not_reported(tmp_path: Path, command: str) -> None:
    assert codes(tmp_path, command) == []


# --- Outputs ---------------------------------------------------------------------------------------------------------

WRITES = '## 1. A\n\n```sh\necho "id=1" >> "$RDC_OUTPUT"\n```\n\n## 2. B {{id}}\n\nx\n'


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("", ["RD137"]),
        ("---\nrdc: {inputs: {a: {}}}\n---\n", ["RD137"]),
        ("---\nrdc: {outputs: [id]}\n---\n", []),
        ("---\nrdc: {outputs: 3}\n---\n", ["RD013"]),
        ("---\nrdc: 3\n---\n", ["RD013"]),
        ("---\na: [\n---\n", ["RD010"]),
    ],
)
def test_outputs_must_be_declared(tmp_path: Path, head: str, expected: list[str]) -> None:
    found_codes = [item.code for item in compiled(tmp_path, head + WRITES).diagnostics]
    assert [code for code in found_codes if code != "RD140"] == expected


def test_the_remedy_names_the_outputs(tmp_path: Path) -> None:
    item = next(item for item in compiled(tmp_path, WRITES).diagnostics if item.code == "RD137")
    assert item.help == "declare `rdc: {outputs: [id]}`"
    assert [item.help for item in found(tmp_path, "./x > $RDC_OUTPUT")] == ["declare `rdc: {outputs: [NAME]}`"]
    assert codes(tmp_path, 'echo "a=1" >> "${RDC_OUTPUT:-/dev/null}"') == []


# --- All of them -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "command"),
    [
        ("RD053", "# ls"),
        ("RD054", "$ ls"),
        ("RD055", "cmd <NAME>"),
        ("RD056", "echo ${{ x }}"),
        ("RD137", "echo a=1 >> $RDC_OUTPUT"),
        ("RD541", "echo a=1 >> $GITHUB_ENV"),
    ],
)
def test_a_comment_above_the_block_ignores_it(tmp_path: Path, code: str, command: str) -> None:
    text = f"## 1. A\n\n<!-- rdc: ignore {code} -->\n```bash\n{command}\n```\n"
    assert [item.code for item in compiled(tmp_path, text).diagnostics] == []


def test_lines_and_columns_stay_where_they_are() -> None:
    command = "a 'b\nc' \"d $(e 'f' <g>) h\" # i\ncat <<J k\nl\nJ\nm \\n"
    hidden = shell_text(command, all_words=True)
    assert [len(line) for line in hidden.split("\n")] == [len(line) for line in command.split("\n")]
    assert hidden.split("\n")[1].endswith("$(e ___ <g>) h_    ".replace("$(", "__"))
    assert hidden.split("\n")[2:] == ["cat <<J k", " ", "J", "m \\_"]


@pytest.mark.parametrize(
    "command",
    [
        "<<A" * 40_000,
        '"$(' * 40_000,
        "'" * 40_001,
        "$'\\'" * 30_000,
        "a=" * 60_000 + "\n$RDC_OUTPUT",
        "$GITHUB_ENV unset " * 7_000,
        "<a" * 60_000,
        "<a b " * 25_000,
        "${{a" * 30_000,
        "a@" * 60_000,
        "$ x\n" * 30_000,
        "cat <<A\n" * 15_000,
    ],
)
def test_hostile_commands_take_little_time(command: str) -> None:
    source = Source.from_text("a.runbook.md", step(command))
    begin = time.perf_counter()
    runbook = parse(source).runbook
    assert runbook
    check(source, runbook)
    assert time.perf_counter() - begin < 5
