"""Messages for errors in first documents, and for blocks in which a failure goes unnoticed (E13)."""
# ruff: noqa: E501 (several cases are on one line)

import subprocess
import tomllib
from pathlib import Path

import pytest

from compiler.frontends.rundown.check.unnoticed_failures import hides_failures
from tests.robustness.places import Generated
from tests.support.cli import ROOT, Result, call, document

pytestmark = pytest.mark.process

BLOCK = "\n\n```sh\ntrue\n```\n\n"
STEPS = f"# T\n\n## 1. Build{BLOCK}- FAIL: {{}}\n\n## 2. Verify it{BLOCK}## Undo\n\n- PASS: STOP\n"
"""A runbook with a transition to fill in."""

WORKFLOW = "name: x\nsteps:\n  - name: a\n    agent: x\n    prompt: x\n{}  - name: b\n    prompt: x\n    end: true\n"


def checked(folder: Path, name: str, text: str) -> Result:
    document(folder, name, text)
    return call("check", name, cwd=folder)


@pytest.mark.parametrize(
    ("written", "output"),
    [
        ("RETRY 3 TIMES", "write `RETRY 3`"),
        ("RETRY 3 times, then STOP", "did you mean `FAIL: RETRY 3 STOP`?"),
        ("RETRY 3 TIMES GOTO 2", "did you mean `FAIL: RETRY 3 GOTO 2`?"),
        ("GOTO step 2", "did you mean `FAIL: GOTO 2`?"),
        ("GOTO #2", "did you mean `FAIL: GOTO 2`?"),
        ("RETRY 2 GOTO step 2", "did you mean `FAIL: RETRY 2 GOTO 2`?"),
        ("GOTO Udno", "did you mean `GOTO Undo`?"),
        ("GOTO verify", "did you mean `GOTO 2`?"),
        ("GOTO the end", "use the step's number or its one-word name"),
    ],
)
def test_a_transition_in_other_words_gets_the_one_that_was_meant(tmp_path: Path, written: str, output: str) -> None:
    assert output in checked(tmp_path, "a.runbook.md", STEPS.format(written)).err
    if "did you mean `" in output:
        meant = output.split("`")[1].removeprefix("FAIL: ")
        assert checked(tmp_path, "b.runbook.md", STEPS.format(meant)).code == 0
    for fine in ('RETRY 3 "TIMES"', 'RETRY 3 STOP "TIMES"', "RETRY 3 Exhausted", "RETRY 3"):
        assert "RD043" not in checked(tmp_path, "a.runbook.md", STEPS.format(fine)).err


def test_a_misspelled_keyword_is_not_to_be_added_to_the_pattern(tmp_path: Path) -> None:
    report = "    report: {name: r, format: x, validation: 'READY|NOT YET'}\n    conditions:\n"
    for keyword, remedy, other in (
        ("REDY", "help: did you mean `READY`?\n", "add it to the pattern"),
        ("PERHAPS", "add it to the pattern", "did you mean"),
    ):
        text = WORKFLOW.format(f"{report}      - {{keyword: {keyword}, goto: b}}\n")
        found = checked(tmp_path, "a.workflow.yaml", text)
        assert (remedy in found.err, other in found.err) == (True, False)


def test_missing_commands_of_agents_are_one_finding_with_the_option_to_give(tmp_path: Path) -> None:
    document(tmp_path, "a.workflow.yaml", WORKFLOW.format("    next: b\n"))
    found = call("compile", "a.workflow.yaml", "--to", "github", cwd=tmp_path)
    assert found.err.count("RD532]") == 1
    assert "steps a and b call an agent" in found.err
    assert "`-O agent=COMMAND`" in found.err
    assert call("compile", "a.workflow.yaml", "--to", "github", "-O", "agent=cat", cwd=tmp_path).code == 0


def test_the_page_of_an_option_does_not_say_that_python_has_none() -> None:
    for code in ("RD013", "RD501"):
        page = call("explain", code, cwd=Path.cwd()).out
        assert "has no options" not in page
        assert "rdc targets python" in page


def test_a_path_outside_is_relative_to_where_the_run_starts(tmp_path: Path) -> None:
    found = checked(tmp_path, "a.stepspec.yaml", "step_specs:\n  - id: a\n    inputs: {artifacts: [../x.md]}\n")
    assert "relative to the folder where you start the run" in found.err
    assert "root of the project" not in found.err + call("explain", "RD860", cwd=tmp_path).out


PLAIN = f"# T\n\n## 1. Build{BLOCK}"


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        (("my deploy.runbook.md",), "-o my-deploy.mk"),
        (("a.runbook.md", "-o", "my flow.mk"), "-o my-flow.mk"),
        (("a b/c.runbook.md",), "cd 'a b' && make -f c.mk"),
        (("a.runbook.md", "-o", "a b/"), "cd 'a b' && make -f a.mk"),
        (("a b/my deploy.runbook.md",), "-o 'a b/my-deploy.mk'"),
    ],
)
def test_a_makefile_whose_path_has_a_space_is_warned_of(tmp_path: Path, given: tuple[str, ...], remedy: str) -> None:
    (tmp_path / "a b").mkdir()
    document(tmp_path, given[0], PLAIN)
    found = call("compile", *given, "--to", "make", cwd=tmp_path)
    assert (found.code, found.err.count("warning[RD538]"), remedy in found.err) == (0, 1, True)
    if remedy.startswith("cd"):
        done = subprocess.run(["sh", "-c", remedy], cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
    assert "RD538" not in call("compile", *given, "--to", "python", cwd=tmp_path).err
    assert call("compile", *given, "--to", "make", "--strict", cwd=tmp_path).code == 1


def test_each_extra_is_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert [extra for extra in extras if extra != "dev" and f"`{extra}`" not in readme] == []


HEAD = "---\nrdc: {inputs: {VERSION: {description: V}}}\n---\n# A\n\n"
BOOK = "# A\n\n## INPUTS\n\n{}\n\n## STEP 1: Do\n\n{}\n"


@pytest.mark.parametrize(
    ("command", "code", "remedy"),
    [
        ("deploy {{VERSION}}", 1, 'write `"$VERSION"`'),
        ('deploy "{{ VERSION }}"', 1, 'write `"$VERSION"`'),
        ("docker inspect -f '{{VERSION}}'", 0, 'write `"$VERSION"` outside the single quotes'),
        *((fine, 0, "") for fine in ("deploy $VERSION", "docker ps -f '{{.ID}}'", "echo {{OTHER}}", "echo ${VERSION}")),
    ],
)
def test_a_reference_in_a_command_is_told(command: str, code: int, remedy: str, tmp_path: Path) -> None:
    found = checked(tmp_path, "a.runbook.md", f"{HEAD}## 1. Do\n\n```bash\n{command}\n```\n")
    assert (found.code, remedy in found.err) == (code, True), found.err
    assert ("RD13" in found.err) is bool(remedy), found.err
    assert "a.runbook.md:9:" in found.err or not remedy


def test_a_runbook_without_commands_says_which_input_no_step_shows(tmp_path: Path) -> None:
    for text, unread in (
        ("## 1. Do it?\n\nWell?\n", True),
        ("## 1. Do it?\n\nIs {{VERSION}} well?\n", False),
        ("## 1. Do it\n\n```bash\n./deploy\n```\n", False),  # the script may read it
    ):
        output = checked(tmp_path, "a.runbook.md", f"{HEAD}{text}").err
        assert ("no step shows the input `VERSION`" in output, "RD410" in output) == (unread, unread)


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        *(("Write.", True), ("Write {{ton}}.", True), ("Write {{tone}}.", False), ("@prompt({{tone}})", False)),
        ('```if tone == "a"```\nOne.\n```else```\nTwo.\n```endif```', False),
        ('@tool(c, t, {"a": "{{tone}}"})', False),
        ('@elicit(confirm, "Is {{tone}} well?")', False),
    ],
)
def test_a_playbook_says_which_input_no_step_shows(text: str, unread: bool, tmp_path: Path) -> None:
    kind = "string: a" if "{ton}" in text else "string"
    output = checked(tmp_path, "a.playbook.md", BOOK.format(f"- `tone` ({kind}): T", text)).err
    assert ("no step shows the input `tone`" in output) is unread, output


TYPES = {"enumm: a, b": "enum", "strng": "string", "bolean: true": "boolean", "Numbr": "number", "texts": "text"}
OTHER_TYPES = ("url", "date", "integer", "email", "path", "json", "markdown", "file", "list")


@pytest.mark.parametrize("written", [*TYPES, *OTHER_TYPES])
def test_a_misspelled_type_is_an_error_and_any_other_word_a_string(written: str, tmp_path: Path) -> None:
    found = checked(tmp_path, "a.playbook.md", BOOK.format(f"- `a` ({written}): A", "Write {{a}}."))
    message = f"write `{TYPES[written]}`" if written in TYPES else "RD733"
    is_wrong = written in TYPES
    assert (found.code, message in found.err, "RD732" in found.err) == (is_wrong, True, is_wrong), found.err
    found = checked(tmp_path, "a.playbook.md", BOOK.format("- `a` (string): A", "Write {{a}}."))
    assert (found.code, "RD733" in found.err) == (0, False), found.err


SPEC = """workflow: {{module: a, workflow: b}}
step_specs:
  - id: one
    description: {}
    outputs: ["{}/a.md"]
"""


@pytest.mark.parametrize(
    ("description", "folder", "code"),
    [
        ("x", "{{output_folder}}", 1), ("x", "{output_folder}", 0), ("'in {{output_folder}}'", "{output_folder}", 1),
        ("'a {{mustache}}'", "{output_folder}", 0), ("'{name} and {{name}}'", "{output_folder}", 1),
    ],
)  # fmt: skip
def test_doubled_braces_in_a_specification(description: str, folder: str, code: int, tmp_path: Path) -> None:
    found = checked(tmp_path, "a.stepspec.yaml", SPEC.format(description, folder))
    assert (found.code, "RD874" in found.err) == (code, bool(code)), found.err


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
    """Blocks that differ in digits alone are read alike, unless these end a here document."""
    found = checked(tmp_path, "a.runbook.md", written("", "false\necho", "true", "a; b"))
    assert (found.code, found.err.count("warning[RD132]")) == (0, 1)
    assert "the blocks at lines 5, 18" in found.err
    assert "start the block with `set -euo pipefail`" in found.err
    assert "`rdc: {shell: strict}`" in found.err
    blocks = ("false 1\necho 1", "false 23\necho 4", "false 78\necho 9", "false; cat <<E1\nE1", "false; cat <<E1\nE2")
    assert "the blocks at lines 5, 12, 19, 26 can" in checked(tmp_path, "a.runbook.md", written("", *blocks)).err


@pytest.mark.parametrize(
    ("shell", "block", "project"),
    [
        *(("plain", "false\necho", ""), ("strict", "false\necho", "")),
        *(("", "set -euo pipefail\na\nb | c", ""), ("", "false\necho", 'shell = "plain"\n')),
    ],
)
def test_each_remedy_silences_the_warning(shell: str, block: str, project: str, tmp_path: Path) -> None:
    document(tmp_path, "rdc.toml", project)
    document(tmp_path, "a.runbook.md", written(shell, block))
    assert call("check", "--strict", "a.runbook.md", cwd=tmp_path).code == 0


@pytest.mark.parametrize(
    ("shell", "tag", "problem"), [("sloppy", "bash", "write strict or plain"), ("strict", "sh", "sh has no pipefail")]
)
def test_what_is_no_word_for_it_and_a_strict_sh_are_refused(shell: str, tag: str, problem: str, tmp_path: Path) -> None:
    assert problem in checked(tmp_path, "a.runbook.md", written(shell, "true", tag=tag)).exits(1).err


@pytest.mark.parametrize("target", ["python", "make"])
@pytest.mark.parametrize("fails", ["false", "false | cat", 'echo "$nothing_at_all"'])
def test_a_strict_block_stops_at_its_first_failure(fails: str, target: str, tmp_path: Path) -> None:
    place = Generated(tmp_path, "runbook", written("strict", f"{fails}\necho deployed"), target)
    result = place.call("run").exits(1 if target == "python" else 2)
    assert "STOP" in result.out + result.err
    assert "deployed\n" not in result.out.replace("echo deployed\n", "")


def test_strict_blocks_explain_a_closed_pipe_and_run_on_where_nothing_fails(tmp_path: Path) -> None:
    for name, block, code, printed in (
        ("a", "yes | head -1", 1, "y\n"),
        ("b", "exit 140", 1, ""),
        ("c", "true\necho deployed", 0, "deployed\n"),
    ):
        (tmp_path / name).mkdir()
        result = Generated(tmp_path / name, "runbook", written("strict", block)).call("run")
        explained = "FAIL  exit code 141: SIGPIPE, a pipeline's reader ended early" in result.err
        assert (result.code, result.out, explained, "SIGPIPE" in result.err) == (code, printed, *[name == "a"] * 2)
    document(tmp_path, "a.runbook.md", written("strict", "false\necho deployed"))
    made = call("compile", "a.runbook.md", "--to", "github", "-o", "-", cwd=tmp_path)
    assert "          set -euo pipefail\n          false\n          echo deployed\n" in made.out
