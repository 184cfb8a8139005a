"""Makefiles of playbooks and workflows: agents and tools by make's names, artifacts, answers of people, breakpoints."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from compiler.ir.edges import Keep
from compiler.ir.program import Artifact, Input, Slot
from compiler.ir.tasks import Tool
from compiler.ir.texts import text
from tests.backends.make.loops import compiled, written
from tests.conftest import ROOT
from tests.support import warm
from tests.support.backend_programs import Made, agent, always, node, program, ref, slots, when, words
from tests.support.makefiles import environment

pytestmark = [pytest.mark.process, pytest.mark.share(3)]

PLAY = (
    "# Two steps\n\n## INPUTS\n\n- `topic` (text): What\n\n"
    "## STEP 1: First\n\nWrite about {{topic}}.\n\n@output(first)\n\n"
    '## STEP 2: Ask\n\n@elicit(input, "Which {{first}}?")\n\n'
    '## STEP 3: Then\n\n```if first == "nothing"```\n\nNo.\n\n```else```\n\n'
    "Go on with {{first}} and {{__elicit_step_2}}.\n\n```endif```\n\n## ARTIFACTS\n\ntype: markdown\n"
)
SHORT = "# One\n\n## STEP 1: Only\n\nSay it.\n\n@output(it)\n\n## ARTIFACTS\n\ntype: json\n"
HOSTILE = "$(shell touch pwned) `touch pwned` $$HOME ${{ x }} {{topic}} 'q' \"d\" %s %% \\n \\\\ \t#\né\n\n  * end"


def play(folder: Path, document: str) -> Made:
    return written(folder, "main.playbook.md", document)


def test_a_file_of_agents_or_tools_has_a_line_for_each(tmp_path: Path) -> None:
    whole = program(
        node("1", agent("x", "one"), always("2", Keep("a"))),
        node("2", agent("x", "two"), always("3", Keep("b"))),
        node("3", Tool("web", "get", text("{}")), when("pass", "done", Keep("c")), when("fail", "stop")),
        message=words(ref("a"), ",", ref("b"), ",", ref("c")),
        slots=slots("a", "b", "c"),
    )
    made = Made(tmp_path, whole)
    (tmp_path / "agents").write_text("# of types\none=echo listed; : $(touch $x)\n", encoding="utf-8")
    (tmp_path / "tools").write_bytes(b"web=cat > given; echo got\r\n\n")
    given = ["AGENTS=agents", "TOOLS=tools"]
    assert made.end(*given, RDC_AGENT="echo common") == "rdc: COMPLETE listed,common,got"
    assert made.end(*given, "AGENT=echo $RDC_AGENT_TYPE") == "rdc: COMPLETE listed,two,got"
    assert json.loads(made.read("given")) == {"tool": "get", "arguments": {}}
    for name in ("AGENTS", "TOOLS"):
        assert made.end(f"{name}=none") == "rdc: error: none: No such file or directory"
    assert not (tmp_path / "$x").exists()


def test_what_an_option_takes_is_said_by_its_name_of_make(tmp_path: Path) -> None:
    made = play(tmp_path, SHORT)
    for given, wrong in {
        "AGENT_RETRIES=x": "AGENT_RETRIES 'x': expected a number, at least 0",
        "EXPIRE=1w": "EXPIRE '1w': expected a time such as 90s, 30m, 24h or 7d",
        "BREAK=4": "BREAK '4': there is no such step; `steps` lists the steps",
        "EXECUTOR=x": "this Makefile does not take EXECUTOR; leave it out, or set it in make's environment",
        "AS=../x": "AS '../x': use up to 64 letters, digits, `.`, `_` and `-`, with a letter or digit first",
    }.items():
        assert made.end("AGENT=true", given) == f"rdc: error: {wrong}"
    assert made.end("AGENT=./llm", "AGENT_MODEL=x").startswith("rdc: error: AGENT_MODEL works only with")
    assert not (made.state / "journal").exists()


def test_a_complete_run_leaves_its_artifact_where_the_operator_wants_it(tmp_path: Path) -> None:
    whole = program(
        node("1", agent("x"), when("pass", "done", Keep("r")), when("fail", "stop")),
        slots=(*slots("r"), Slot("kind")),
        inputs=(Input("kind", default="mermaid"),),
        artifact=Artifact("r", words(ref("kind", before="", missing="markdown"))),
        secrets=("TOKEN",),
    )
    made = Made(tmp_path, whole)
    given = ("AGENT=printf 'a $b\\n%s' \"$TOKEN\"",)
    assert (made.end(*given, TOKEN="s3cret"), made.read(".rdc/main/main.mmd")) == ("rdc: COMPLETE", b"a $b\n***")
    assert made.end(*given, "kind=other", "OUT=my file", TOKEN="s3cret") == "rdc: COMPLETE"
    assert made.read("my file") == b"a $b\n***"
    done = made.make(*given, "OUT=no/such", TOKEN="s3cret")
    assert (done.returncode, b"rdc: to write it: make resume OUT=FILE AGENT=" in done.stdout) == (2, True)
    assert (made.end("resume", "OUT=there", TOKEN="s3cret"), made.read("there")) == ("rdc: COMPLETE", b"a $b\n***")


def test_without_an_agent_people_answer_by_standard_input_or_in_advance(tmp_path: Path) -> None:
    made = play(tmp_path, PLAY)
    done = made.make("topic=x")
    assert done.stdout.endswith(b"rdc: WAITING 1 First\n")
    assert re.search(r"^    Write about x\.$", done.stderr.decode(), re.MULTILINE)
    printed = done.stdout.decode()
    assert "rdc: to answer: make answer STEP=1 REPLY=- < FILE\n" in printed
    assert "rdc: to continue: make resume\nrdc: to call an agent: make resume AGENT=COMMAND\n" in printed
    assert made.end("resume") == "rdc: WAITING 1 First"
    assert made.end("answer", "STEP=1", "REPLY= ") == "rdc: error: REPLY is missing; for help, run: make help"
    (tmp_path / "answers").write_text("1   \n", encoding="utf-8")
    assert made.end("resume", "ANSWERS=answers") == "rdc: error: answers:1: the answer for 1 is empty"
    (tmp_path / "my answer").write_text(f" {HOSTILE}\n\n", encoding="utf-8")
    hint = "make answer STEP=1 REPLY=- < 'my answer'"
    subprocess.run(["sh", "-c", hint], cwd=tmp_path, env=warm.forking(environment({})), check=True, capture_output=True)
    assert made.end("answer", "STEP=1", "REPLY=x").startswith("rdc: error: 1 is not waiting for an answer; 2 is; 1 ")
    assert made.end("resume").startswith("rdc: WAITING 2")
    assert made.make("answer", "STEP=2", "REPLY=line two %").returncode == 0
    (tmp_path / "replies").write_text("3/else<<E\n last #1 $(x)\nE\n", encoding="utf-8")
    assert made.end("resume", "ANSWERS=replies") == "rdc: COMPLETE"
    assert made.read(".rdc/main/main.md") == b"last #1 $(x)"
    slots_of = json.loads(made.make("status", "JSON=1").stdout)["slots"]
    assert (slots_of["first"], "line two %" in slots_of.values()) == (HOSTILE, True)
    assert not (tmp_path / "pwned").exists()


def test_whoever_answers_is_reminded_of_what_the_run_was_given(tmp_path: Path) -> None:
    made = play(tmp_path, PLAY)
    assert made.end("topic=x", "AGENT=echo a", "AGENT_TIMEOUT=9s").startswith("rdc: WAITING 2")
    printed = made.make("answer", "STEP=2", "REPLY=b").stdout.decode()
    assert printed == "rdc: to continue: make resume   (with AGENT, AGENT_TIMEOUT, as before)\n"


HEADING = rb"## \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\n\n"
AGENT = """\
cat > "seen.$RDC_STEP"
echo "$RDC_STEP" >> calls
case $RDC_STEP in
  plan) echo 'The plan.'; echo PLAN_READY ;;
  implement) echo done ;;
  review_0) if [ -e once ]; then echo APPROVED; else : > once; echo REJECTED; fi ;;
  review_1) [ ! -e slow ] || { echo $$ > pid; sleep 60; }; echo 'Fine.'; echo APPROVED ;;
  *) echo written ;;
esac
"""


@pytest.fixture
def usual(tmp_path: Path) -> Made:
    """The usual workflow, with an agent whose first review rejects."""
    found = Made(tmp_path, compiled(ROOT / "tests" / "backends" / "github" / "implementation.program.json"))
    found.script("agent", AGENT)
    return found


def reports(made: Made) -> dict[str, bytes]:
    (folder,) = (made.folder / ".rdc").glob("*.implementation/reports")
    return {path.name: re.sub(HEADING, b"# ", path.read_bytes()) for path in sorted(folder.iterdir())}


def test_the_usual_workflow(usual: Made) -> None:
    given = ("AGENT=./agent", "TASK=Add $(x) and 'y' @z", "BREAK=plan implement")
    assert usual.end(*given).startswith("rdc: WAITING implement")
    assert usual.read("calls") == b"plan\n"
    for waits in ("review", "review", "finalize/human"):
        assert usual.end("resume", "AGENT=./agent").startswith(f"rdc: WAITING {waits}")
    assert usual.end("resume", "AGENT=./agent", "HUMAN=1") == "rdc: COMPLETE"
    assert reports(usual) == {
        "implement.md": b"# done\n\n# done\n",
        "plan.md": b"# The plan.\nPLAN_READY\n",
        "review.md": b"# REJECTED\n\nFine.\nAPPROVED\n\n# APPROVED\n\nFine.\nAPPROVED\n",
        "review_0.md": b"# REJECTED\n\n# APPROVED\n",
        "review_1.md": b"# Fine.\nAPPROVED\n\n# Fine.\nAPPROVED\n",
        "summary.md": b"# written\n",
    }
    prompt = usual.read("seen.implement").decode()
    assert "Task:\nAdd $(x) and 'y' @z\n" in prompt
    assert "why this step runs again:\n\nREJECTED\n\nFine.\nAPPROVED\n\nDo what" in prompt
    assert usual.end("run", "AGENT=exit 1").startswith("rdc: STOP plan: ")


def test_what_make_is_given_for_a_workflow(usual: Made) -> None:
    (usual.folder / "task").write_text("two\nlines\n\n")
    (usual.folder / "types").write_text("planner=cat > seen.plan; echo PLAN_READY\n# others\ncoder=exit 1\n")
    assert usual.end("AGENTS=types", "TASK_FILE=task", "AGENT=exit 2").startswith("rdc: STOP implement: ")
    assert b"Task:\ntwo\nlines\n" in usual.read("seen.plan")
    assert usual.end("AGENT=exit 2", "AGENTS=types", TASK="of the environment").startswith("rdc: STOP implement")
    assert b"Task:\nPlan it, do it, have it reviewed" in usual.read("seen.plan")
    assert "input task is given twice" in usual.end("TASK=a", "task=b")
    assert "JOBS '0'" in usual.end("AGENT=./agent", "JOBS=0")
    assert "MAX_STEPS 'x': expected a number" in usual.end("AGENT=./agent", "MAX_STEPS=x")
    shown = usual.make("help").stdout.decode()
    assert all(f"{name}=" in shown for name in ("TASK", "TASK_FILE", "AGENTS", "JOBS", "MAX_STEPS"))


def test_the_target_of_a_step_does_its_gate_and_its_work(usual: Made) -> None:
    """A gate has no target of its own: `step-finalize` comes to it, and opens it with HUMAN=1."""
    targets = re.findall(rb"^(step-[^:]*):", usual.read("Makefile"), re.MULTILINE)
    assert targets == [b"step-plan", b"step-implement", b"step-review", b"step-finalize"]
    assert usual.make("open").returncode == 0
    done = [usual.make(target, "AGENT=./agent").returncode for target in ("step-plan", "step-implement", "step-review")]
    assert done == [0, 0, 0]
    assert usual.make("step-implement", "AGENT=./agent").returncode == 0
    assert usual.make("step-review", "AGENT=./agent").returncode == 0
    assert usual.end("step-finalize", "AGENT=./agent").startswith("rdc: WAITING finalize/human")
    assert usual.end("step-finalize", "AGENT=./agent", "HUMAN=1") == "rdc: COMPLETE"


TWICE = (
    "# Two\n\n## STEP 1: First\n\nSay it.\n\n@output(it)\n\n"
    "## STEP 2: Then\n\nUse {{it}}.\n\n@output(that)\n\n## ARTIFACTS\n\ntype: markdown\n"
)
PLANTED = "import sys\nopen('executed', 'a').write(' '.join(sys.argv[1:2]) + chr(10))\n"
PROGRAM, RUNTIME = "rdc/main.py", "$(ls rdc/rdc_runtime_*.py)"
PART = "$(ls rdc/rdc_make_*.py)"
PLANTS = {
    "the program": f"cat planted > {PROGRAM}",
    "the runtime": f'at={RUNTIME}; rm -f "$at"; cp planted "$at"',
    "the part for make": f'at={PART}; ln -sf "$PWD/planted" "$at"',
    "what lies beside it": "for to in . rdc .rdc; do for name in __future__ json os hashlib sitecustomize; "
    'do cp planted "$to/$name.py"; done; cp planted "$to/usercustomize.py"; done; mkdir -p rdc/__pycache__; '
    "cp planted rdc/__pycache__/main.cpython-311.pyc; "
    "for name in helper json main sitecustomize; do cp planted .rdc/main/$name.py; done",
}
"""What is replaced, and how: written over, put in its place, or linked there."""


def attacked(folder: Path, attack: str) -> list[str]:
    """What the planted program was called for, after a run whose agents all do this."""
    made = play(folder, TWICE)
    (folder / "planted").write_text(PLANTED, encoding="utf-8")
    made.script("agent", f"{{ {attack}; }} > /dev/null 2>&1; echo printed")
    made.make("AGENT=./agent")
    made.make("status")
    made.make("resume", "AGENT=./agent")
    return made.read("executed").decode().split()


@pytest.mark.parametrize("attack", PLANTS.values(), ids=PLANTS)
def test_make_executes_nothing_that_an_agent_can_write(tmp_path: Path, attack: str) -> None:
    assert attacked(tmp_path, attack) == []
