"""Blocks without a command, and commands written for a reader or another program (RD053 to RD056, RD137, RD541)."""

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


HEAD = "---\nrdc: {shell: plain}\n---\n"


def step(command: str) -> str:
    return f"{HEAD}## 1. A\n\n```bash\n{command}\n```\n"


def found(folder: Path, *commands: str, tag: str = "bash") -> dict[str, list[Diagnostic]]:
    """The diagnostics of each command; they are at its fence, where a comment can ignore them."""
    steps = [f"## {number}. A\n\n```{tag}\n{command}\n```\n" for number, command in enumerate(commands, 1)]
    every = [item for item in compiled(folder, HEAD + "".join(steps)).diagnostics if item.code in CODES]
    fences = [(HEAD + "".join(steps[:number])).count("\n") + 3 for number in range(len(steps))]
    assert {item.span and item.span.line for item in every} <= {*fences}
    placed = zip(commands, fences, strict=True)
    return {command: [item for item in every if item.span and item.span.line == line] for command, line in placed}


def codes(folder: Path, *commands: str, tag: str = "bash") -> dict[str, list[str]]:
    return {command: [item.code for item in items] for command, items in found(folder, *commands, tag=tag).items()}


EMPTY = ("", "  \t\n", "# systemctl restart queue", "#!/bin/sh\n\n  # one\n\t# two", "#")
COMMANDS: dict[str, tuple[str, ...]] = {
    "RD053": EMPTY,
    "RD054": (
        *("$ ls", "  $  ls", "set -e\n$ ls", "% ls", "❯ ls", "root@web-1:~# ls", "me@host:/srv/app$ ls"),
        *("[root@web ~]# ls", "bash-5.1$ ls", "sh-4.2# ls", '$ "./my tool"', "$ ls || true"),
        "$ kubectl get svc\nNAME  EXTERNAL-IP\nweb   <none>",  # output has no placeholders
    ),
    "RD054 RD055": (
        *("$ kubectl get pod <POD_NAME>\nweb   <none>", "$ kubectl get pod \\\n  <POD_NAME>"),
        "kubectl get pod <POD_NAME>\n$ ls",
    ),
    "RD055": (
        *("kubectl delete pod <POD_NAME> -n payments", "kubectl delete pod <pod-name>", "cmd <größe>"),
        *("kubectl delete pod <your pod name> -n x", "ssh <user>@<host> uptime", "curl https://<your.host>:8080/"),
        *("cat /var/log/<SERVICE>.log", "cmd --name=<name> | tee x", "cmd <NAME>_1", "cmd <file.txt>"),
        *("cmd <dir/name>; ls", 'x="$(kubectl get <POD>)"', "x=$(kubectl get <POD>)", "cat <<E\nx\nE\ncmd <NAME>"),
    ),
    "RD541": (
        *('echo "a=b" >> "$GITHUB_OUTPUT"', "echo a=b >> $GITHUB_ENV", "echo x >> ${GITHUB_PATH}"),
        *("echo x | tee -a $GITHUB_STATE", "cat <<E >> $GITHUB_ENV\nx=1\nE", "cat <<'E' >> $GITHUB_ENV\nx=1\nE"),
        "python3 - <<'E'\nimport os\nopen(os.environ['GITHUB_OUTPUT'], 'a')\nE",
        *("node -e 'f(process.env.GITHUB_OUTPUT)'", "python3 -c 'import os; print(os.getenv(\"GITHUB_PATH\"))'"),
        *("cat <<'E' | bash\necho a=b >> $GITHUB_ENV\nE", "cat <<'E' > x\n$GITHUB_ENV\nE\necho a=b >> $GITHUB_ENV"),
    ),
    "": (
        # commands
        *(":", "true # fine", "# one\nls", "ls\n# one", "echo '\n# x\n'", "\\#x"),
        # no prompts
        *("$PAGER x", "$(cat x) y", "${EDITOR:-vi} x", "$1 x", "ls $ x", "cat <<E\n$ ls\nE", "cat <<'E'\n$ ls\nE\nls"),
        *("echo '\n$ ls\n'", 'echo "\n% x\n"', "echo \\\n$ x", "# x\n# $ ls\nls", "ssh me@host ls", "me@host:x"),
        *("git@github.com:a/b.git x", "[ -n x ]", "%"),
        # redirections and strings, which are no placeholders
        *("sort <in.txt >out.txt", "sort <in.txt>out.txt", "sort <in.txt> out.txt", "sort < in > out"),
        *("sort <in 2>/dev/null", "sort <in 2> err", "sort <in >&2", "sort <in>&2", "sort <in>>out"),
        *("diff <(a) <(b) >(c)", "cat <<EOF >x\n<NAME>\nEOF", "cat <<-'EOF'\n\t<a>x</a>\n\tEOF", "cat <<<'<x>'"),
        *("echo '<NAME>' \"<NAME>\" \\<NAME\\>", "x=\"$(sed 's/<b>//')\"", "ls # <NAME>", "[[ a < b && c > d ]]"),
        *("(( a<b )) || (( a>b ))", "while read x; do :; done <$file", "exec 3<>x"),
        # no expressions
        *("cat > x.yml <<'E'\na: ${{ secrets.X }}\nE", "ls # ${{ x }}", 'echo "\\${{ x }}"', "x ${y} {{ z }}"),
        "echo ${#a}",
        # what works without the files of a runner
        *("echo $GITHUB_SHA >> $GITHUB_STEP_SUMMARY", 'echo a=b >> "${GITHUB_OUTPUT:-/dev/null}"'),
        'if [ -n "$GITHUB_ENV" ]; then echo a=b >> "$GITHUB_ENV"; fi',
        *("GITHUB_OUTPUT=$(mktemp)\nmake >> $GITHUB_OUTPUT", "unset GITHUB_ENV; echo $GITHUB_ENV", "ls # $GITHUB_ENV"),
        *("echo $GITHUB_ENVIRONMENT $MY_GITHUB_ENV", "cat > x.yml <<'E'\nrun: echo a=b >> $GITHUB_OUTPUT\nE"),
        *("cat <<'E' > x.yml\nrun: echo a=b >> $GITHUB_OUTPUT\nE\ngit add x.yml", "grep -rn 'GITHUB_ENV' .github"),
        *('echo "GITHUB_ENV is set"', "sudo tee x.sh >/dev/null <<\\E\necho a=b >> $RDC_OUTPUT\nE"),
        'echo "a=1" >> "${RDC_OUTPUT:-/dev/null}"',
    ),
}


@pytest.mark.parametrize("expected", COMMANDS)
def test_each_command_is_reported_or_not(tmp_path: Path, expected: str) -> None:
    assert codes(tmp_path, *COMMANDS[expected]) == dict.fromkeys(COMMANDS[expected], expected.split())


@pytest.mark.parametrize(
    ("tag", "expected"), [("sh", ["RD053"]), ("shell", ["RD053"]), ("bash prompt", []), ("text", []), ("", [])]
)
def test_a_block_that_is_shown_may_be_empty(tmp_path: Path, tag: str, expected: list[str]) -> None:
    assert codes(tmp_path, *EMPTY, tag=tag) == dict.fromkeys(EMPTY, expected)


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


def test_placeholders_are_named_once_and_their_remedy_works(tmp_path: Path) -> None:
    command = "cmd <A_B> <c>\ncmd <c> <d>"
    (item,) = found(tmp_path, command)[command]
    assert "`<A_B>`" in item.message
    assert item.message.endswith("(also `<c>`, `<d>`)")
    (related,) = item.related
    assert (related.span.line, related.span.column, related.span.end_column) == (7, 5, 10)
    for written, name in (("<POD_NAME>", "POD_NAME"), ("<your-pod>", "YOUR_POD"), ("<PATH>", "MY_PATH")):
        ((item,),) = found(tmp_path, f"cmd {written}").values()
        assert item.help == f'declare `rdc: {{inputs: {{{name}: {{}}}}}}`, and write `"${name}"`'
        text = f'---\nrdc: {{inputs: {{{name}: {{}}}}}}\n---\n## 1. A\n\n```sh\ncmd "${name}"\n```\n'
        assert compiled(tmp_path, text).diagnostics == ()


REMEDIES = {
    'echo "x ${{ github.sha }}"': 'RD056: write `"$GITHUB_SHA"`',
    "echo ${{secrets.TOKEN}}": 'RD056: declare `rdc: {secrets: [TOKEN]}`, and write `"$TOKEN"`',
    "echo '${{ inputs.tag-name }}'": 'RD056: declare `rdc: {inputs: {tag_name: {}}}`, and write `"$tag_name"`',
    "cat <<E\n${{ env.X }}\nE": 'RD056: declare `rdc: {inputs: {X: {}}}`, and write `"$X"`',
    "if ${{ always() }}; then ls; fi": "RD056: declare",
    'echo "id=1" >> "$RDC_OUTPUT"': "RD137: declare `rdc: {outputs: [id]}`",
    "./x > $RDC_OUTPUT": "RD137: declare `rdc: {outputs: [NAME]}`",
}


@pytest.mark.parametrize("command", REMEDIES)
def test_the_remedy_for_an_expression_or_an_output(tmp_path: Path, command: str) -> None:
    ((item,),) = found(tmp_path, command).values()
    assert f"{item.code}: {item.help}".startswith(REMEDIES[command])


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


def test_a_comment_above_the_block_ignores_it(tmp_path: Path) -> None:
    reported = {"RD053": "# ls", "RD054": "$ ls", "RD055": "cmd <NAME>", "RD056": "echo ${{ x }}"}
    reported |= {"RD137": "echo a=1 >> $RDC_OUTPUT", "RD541": "echo a=1 >> $GITHUB_ENV"}
    steps = (
        f"## {number}. A\n\n<!-- rdc: ignore {code} -->\n```bash\n{reported[code]}\n```\n"
        for number, code in enumerate(reported, 1)
    )
    assert compiled(tmp_path, "".join(steps)).diagnostics == ()


def test_lines_and_columns_stay_where_they_are() -> None:
    command = "a 'b\nc' \"d $(e 'f' <g>) h\" # i\ncat <<J k\nl\nJ\nm \\n"
    hidden = shell_text(command, all_words=True)
    assert [len(line) for line in hidden.split("\n")] == [len(line) for line in command.split("\n")]
    assert hidden.split("\n")[1].endswith("$(e ___ <g>) h_    ".replace("$(", "__"))
    assert hidden.split("\n")[2:] == ["cat <<J k", " ", "J", "m \\_"]


HOSTILE = (
    *("<<A" * 40_000, '"$(' * 40_000, "'" * 40_001, "$'\\'" * 30_000, "a=" * 60_000 + "\n$RDC_OUTPUT"),
    *("$GITHUB_ENV unset " * 7_000, "<a" * 60_000, "<a b " * 25_000, "${{a" * 30_000, "a@" * 60_000),
    *("$ x\n" * 30_000, "cat <<A\n" * 15_000),
)


@pytest.mark.parametrize("command", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_commands_take_little_time(command: str) -> None:
    source, begin = Source.from_text("a.runbook.md", step(command)), time.perf_counter()
    runbook = parse(source).runbook
    assert runbook
    check(source, runbook)
    assert time.perf_counter() - begin < 5
