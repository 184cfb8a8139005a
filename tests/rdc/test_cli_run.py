"""`rdc run`: arguments and exit codes belong to the program; `--mock` calls `rdc mock`."""

import os
import sys
from pathlib import Path

import pytest

from rdc.calls.mock import read_mocks
from runtime_shim.engine.program import UsageError
from runtime_shim.tasks.exchange import Answered
from tests.support.cli import GOOD, UNKNOWN_TARGET, call, document, executed, spawn

pytestmark = pytest.mark.process

FAILING = GOOD.replace("echo testing", "exit 3")
REVIEW = "# Review\n\n## 1. Look at it\n\nIs it good?\n"


def test_a_document_runs_and_starts_with_its_warnings(tmp_path: Path) -> None:
    """A closing fence is missing in the last one, so the shell would get the second step as code."""
    for text, code, last in ((GOOD, 0, "rdc: COMPLETE"), (FAILING, 1, "rdc: STOP")):
        document(tmp_path, "a.runbook.md", text)
        result = spawn("run", "a.runbook.md", "--as", str(code), cwd=tmp_path)
        assert (result.code, "building" in result.out) == (code, True)
        assert result.err.splitlines()[-1].startswith(last)
    document(tmp_path, "a.runbook.md", UNKNOWN_TARGET)
    assert "error[RD201]" in spawn("run", "a.runbook.md", cwd=tmp_path).exits(2).err
    document(tmp_path, "a.runbook.md", "## 1. Build\n\n```bash\ntrue\n\n## 2. Install it?\n\n```bash\ntrue\n```\n")
    assert spawn("run", "a.runbook.md", cwd=tmp_path).err.startswith("a.runbook.md:3:1: warning[RD049]")
    assert "[RD049]" not in spawn("run", "a.runbook.md", "status", cwd=tmp_path).err


def test_arguments_go_to_the_program(tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", GOOD)
    assert "Build" in spawn("run", "a.runbook.md", "steps", cwd=tmp_path).out
    assert spawn("run", "a.runbook.md", "--dry-run", cwd=tmp_path).code == 0
    assert spawn("run", "a.runbook.md", "--help", cwd=tmp_path).exits(0).out.startswith("usage: rdc run a.runbook.md")
    assert spawn("run", "--help", cwd=tmp_path).out.startswith("Usage: rdc run ")
    assert spawn("goto", "--help", cwd=tmp_path).out.startswith("Usage: rdc goto [FILE] STEP [OPTION]...\n")
    assert spawn("run", "a.runbook.md", "--format", "x", cwd=tmp_path).code == 2


def test_a_program_that_waits_says_how_to_go_on_and_does_as_it_is_answered(tmp_path: Path) -> None:
    name = document(tmp_path, "my review.runbook.md", REVIEW).name
    result = spawn("run", "--transitions", "after-body", name, cwd=tmp_path).exits(75)
    assert f"rdc run --transitions after-body '{name}' " in result.err
    (tmp_path / "answers").write_text("pass\n")
    assert spawn("run", name, "--as", "b", "--answers", "answers", cwd=tmp_path).code == 0


TAKING_OPTIONS = """#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in
    --) shift; break ;;
    --output-format | --model) shift ;;
    -p) ;;
    -*) echo "unknown option $1" >&2; exit 2 ;;
    *) break ;;
  esac
  shift
done
printf '%s' "$*" > given
echo YES
"""


@pytest.mark.parametrize("model", [[], ["--agent-model", "fast"]])
def test_a_prompt_may_begin_like_an_option(model: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document(tmp_path, "tools/cursor-agent", TAKING_OPTIONS).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/tools:{os.environ['PATH']}")
    (tmp_path / "a.playbook.md").write_text("# A\n\n## STEP 1: Ready\n\n--force the {{x}} upon $(them) -- now\n")
    spawn("run", "a.playbook.md", "--agent", "cursor", *model, cwd=tmp_path).exits(0)
    assert (tmp_path / "given").read_text() == "--force the {{x}} upon $(them) -- now"


RUNBOOK = """\
---
rdc:
  inputs: {TARGET: {}}
---

## 1. Ship {{TARGET}}?
- NO: GOTO Roll
## Roll
```sh
touch ran
```
"""
WORKFLOW = "name: w\nsteps:\n  - {name: plan, agent: planner, prompt: Plan it., end: true}\n"

MISTYPED = [
    (("anwser", "1", "yes"), "unknown subcommand anwser; did you mean answer? (see: "),
    (("run", "--dryrun"), "unknown argument --dryrun; did you mean --dry-run? (see: "),
    (("run", "--input", "TARGT=a"), "there is no input TARGT; did you mean TARGET?"),
    (("run", "TARGET=a b"), "unknown argument TARGET=a b; to set an input, write --input 'TARGET=a b' (see: "),
    (("TARGET=a",), "unknown subcommand TARGET=a; to set an input, write --input TARGET=a (see: "),
    (("zzz",), "unknown subcommand zzz; choose from run, resume, "),
    (("run", "a=b;c"), "unknown argument a=b;c; to set an input, write --input 'a=b;c' (see: "),
    (("run", "$(x)=b"), "unknown argument $(x)=b (see: "),
    (("run", "--\x1b[31mred"), "unknown argument --?[31mred (see: "),
]


def test_a_mistyped_word(tmp_path: Path) -> None:
    (tmp_path / "ship.runbook.md").write_text(RUNBOOK, encoding="utf-8")
    assert call("compile", "ship.runbook.md", "--to", "python", "-o", "ship.py", cwd=tmp_path).code == 0
    for words, hint in MISTYPED:
        assert hint in executed([sys.executable, "ship.py", *words], cwd=tmp_path).exits(2).err
        assert hint in spawn("run", "ship.runbook.md", *words, cwd=tmp_path).exits(2).err
    assert not (tmp_path / ".rdc/ship/journal").exists()
    assert spawn("run", "ship.runbook.md", "--input", "TARGET=a", cwd=tmp_path).code == 75
    for word in ("goto", "step"):
        result = spawn("run", "ship.runbook.md", word, "Rol", cwd=tmp_path)
        assert (result.code, "there is no step 'Rol'; did you mean Roll?" in result.err) == (2, True), result.err


def test_a_mistyped_agent(tmp_path: Path) -> None:
    (tmp_path / "w.workflow.yaml").write_text(WORKFLOW, encoding="utf-8")
    for words, hint in (
        (("--agent-for", "plannr=cat"), "--agent-for plannr: the document has no such agent; did you mean planner?"),
        (("--agent-for", "zzz=cat"), "--agent-for zzz: the document has no such agent; the agents are inline, planner"),
        (("--agent", "claud-code"), "unknown agent or command claud-code; did you mean claude-code?"),
        (("--agent-for", "planner=geminni"), "unknown agent or command geminni; did you mean gemini?"),
    ):
        result = spawn("run", "w.workflow.yaml", *words, cwd=tmp_path)
        assert (result.code, hint in result.err) == (2, True), result.err
    compiling = ("compile", "w.workflow.yaml", "--to", "github", "-o", "-", "-O")
    result = call(*compiling, "agent=claud-code", cwd=tmp_path)
    assert (result.code, "unknown recipe `claud-code`; did you mean claude-code?" in result.err) == (2, True)
    assert "recipe" not in call(*compiling, "agent=./claud-code", cwd=tmp_path).err
    assert not (tmp_path / ".rdc/w/journal").exists()
    own = document(tmp_path, "bin/claud-code", "#!/bin/sh\ncat > /dev/null; echo done\n")
    own.chmod(0o755)
    ran = spawn("run", "w.workflow.yaml", "--agent", own.name, cwd=tmp_path, PATH=f"{own.parent}:/usr/bin:/bin")
    assert ran.code == 0, ran.err


ASKING = """\
# Ask
## STEP 1: Draft
Write.
@output(draft)
## STEP 2: Check
@elicit(input, "Good?")
## STEP 3: Send
Send {{draft}}.
"""
PARALLEL = """\
name: reviews
steps:
  - {name: review, parallel: [{agent: one, prompt: A}, {agent: two, prompt: B}], end: true}
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A project with mocks."""
    (tmp_path / "rdc.toml").touch()
    (tmp_path / "m.yaml").write_text("agents:\n  1: [first]\n  3: [sent]\n", encoding="utf-8")
    (tmp_path / "ask.playbook.md").write_text(ASKING, encoding="utf-8")
    return tmp_path


def test_mocks_answer_entries_and_no_question_and_hints_keep_the_option(place: Path) -> None:
    begun = spawn("run", "ask.playbook.md", "--mock", "m.yaml", "--agent-retries", "1", cwd=place).exits(75)
    assert "to continue: rdc run ask.playbook.md resume --agent-retries 1 --mock m.yaml\n" in begun.err
    answered = spawn("run", "ask.playbook.md", "answer", "2", "yes", cwd=place)
    hint = "rdc run ask.playbook.md resume   (with --agent-retries, as before)   (with --mock, as before)\n"
    assert hint in answered.err
    assert "    sent\n" in spawn("run", "ask.playbook.md", "resume", "--mock", "m.yaml", cwd=place).exits(0).err
    assert {path.name for path in place.iterdir()} == {".rdc", "ask.playbook.md", "m.yaml", "rdc.toml"}
    (place / "reviews.workflow.yaml").write_text(PARALLEL, encoding="utf-8")
    (place / "m.yaml").write_text("agents:\n  review_0: [one]\n  review_1: [{fail: no}, two]\n", encoding="utf-8")
    done = spawn("run", "reviews.workflow.yaml", "--mock", "m.yaml", "--agent-retries", "1", cwd=place)
    assert done.code == 0, done.err
    answers = place / ".rdc/reviews/answers"
    assert [(answers / name).read_text() for name in ("review_0.1", "review_1.2")] == ["one", "two"]


def test_nothing_starts_with_a_file_that_is_no_file_of_mocks(place: Path) -> None:
    (place / "a.runbook.md").write_text("## 1. Run\n\n```bash\ntrue\n```\n", encoding="utf-8")
    for name, mocks, message in (
        ("a.runbook.md", "agents: {}\n", "unknown argument --mock"),  # there is nothing to replace
        ("ask.playbook.md", "agents: [", "m.yaml:1: not YAML"),
        ("ask.playbook.md", "x: 1", "may only have the keys"),
    ):
        (place / "m.yaml").write_text(mocks, encoding="utf-8")
        assert message in spawn("run", name, "--mock", "m.yaml", cwd=place).exits(2).err
    assert not (place / ".rdc/ask/journal").exists()


def test_a_file_of_mocks_has_answers_in_order(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text("agents:\n  2/elicit: x\n  1: [{fail: why}, 1.50]\ntools:\n  web/get: []\n", encoding="utf-8")
    mocks = read_mocks(str(path))
    given = [mocks.due("agents", "1", number, "1") for number in range(2)]
    assert given == [Answered(b"", "why"), Answered(b"1.50", "")]
    assert mocks.due("agents", "2/elicit", 0, "2") == Answered(b"x", "")
    assert mocks.replies["tools"] == {"web/get": []}
    with pytest.raises(UsageError, match=r"2: .*m\.yaml has no answer number 1 under tools: web/get"):
        mocks.due("tools", "web/get", 0, "2")


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("agent: {}\n", "may only have the keys `agents`, `tools`, `executors`"),
        ("agents: [x]\n", "`agents` needs a list of answers for each name"),
        ("agents: {1: [[x]]}\n", "agents: 1: expected a string, or {fail: why}"),
        ("agents:\n  1: *x\n", "m.yaml:2: not YAML: there is no anchor for `*x`"),
        ("agents:\n  1: [x\n", "m.yaml:2: not YAML: this bracket is not closed"),
        ("{", "not JSON"),
        ('{"agents": {"1": [null]}}', "expected a string, or {fail: why}"),
    ],
)
def test_what_is_no_file_of_mocks_is_refused(text: str, output: str, tmp_path: Path) -> None:
    path = document(tmp_path, "m.yaml", text)
    with pytest.raises(UsageError) as refused:
        read_mocks(str(path))
    assert output in str(refused.value)
