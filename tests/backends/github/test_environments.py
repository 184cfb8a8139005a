"""Environments, secrets and variables of steps: of native ones, those that call the program (E3), and in a loop."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from backends.github import GithubBackend
from compiler.ir.program import Program
from compiler.ir.tasks import Agent, Ask, Gate, Shell
from compiler.ir.texts import text
from tests.backends.github.continued import AGREE, ending
from tests.backends.github.made import COMPLETE, STOP, bash, node, program, to
from tests.backends.github.routed import AGENT, compiled, ended, log, run
from tests.support import actions_engine as engine
from tests.support.actions_engine import EngineRun
from tests.support.github.act import end_of
from tests.support.github.compiling import emission, parsed, text_of
from tests.support.runbooks import command

pytestmark = pytest.mark.tool


def step(number: int, *transitions: str) -> str:
    lines = "".join(f"- {line}\n" for line in transitions)
    return f'## {number}. Step\n\n```bash\necho "{number} $A $B" >> "$LOG"\n```\n\n{lines}\n'


PRODUCTION = {"2": {"secrets": ["A"], "environment": "production"}}
SECRETS: dict[str, object] = {"steps": {**PRODUCTION, "*": {"secrets": ["B"]}}}
THREE = step(1) + step(2) + step(3, "FAIL: RETRY 1 STOP")


def walked(
    folder: Path,
    document: str,
    options: Mapping[str, object],
    environments: Mapping[str, Sequence[str]] | None = None,
    **more: Any,
) -> tuple[str, EngineRun, list[str]]:
    """The workflow, its run, and what its commands have logged."""
    (folder / "r").mkdir(parents=True)
    text = text_of(folder / "r", document, {"checkout": False, **options})
    log = folder / "log"
    log.touch()
    secrets = {"A": "secret-a", "B": "secret-b", "DEPLOY_TOKEN": "given"}
    given = {"environments": environments or {}, "env": {"LOG": str(log)}, "secrets": secrets, **more}
    run = engine.run(folder / "r", text, history=folder / "h", **given)
    return text, run, log.read_text(encoding="utf-8").splitlines()


def test_an_environment_of_a_step_is_a_job_and_each_step_gets_its_secrets(tmp_path: Path) -> None:
    text, run, log = walked(tmp_path, THREE, SECRETS, {"production": ["approved"]})
    assert [job.get("environment") for job in parsed(text)["jobs"].values()] == [None, "production", None]
    assert (run.conclusion, log) == ("success", ["1  secret-b", "2 secret-a secret-b", "3  secret-b"])


def test_no_job_knows_the_secrets_of_another_but_to_hide_them(tmp_path: Path) -> None:
    parts = parsed(text_of(tmp_path, THREE, {"steps": {"1": {"secrets": ["B"]}, **PRODUCTION}}))["jobs"].items()
    own = {name: [step for step in job["steps"] if step["name"] != "Close the run"] for name, job in parts}
    jobs = {name: yaml.safe_dump(steps) for name, steps in own.items()}
    found = {name: set(re.findall(r"secrets\.(\w+)", job)) for name, job in jobs.items()}
    assert found == {"part_1": {"B"}, "part_2": {"A"}, "part_3": set()}


@pytest.mark.parametrize(
    ("document", "end"),
    [
        (step(1) + step(2, 'PASS: COMPLETE "Out"', 'FAIL: STOP "Broken"'), "COMPLETE Out"),
        (step(1, "FAIL: COMPLETE") + step(2), "COMPLETE"),
    ],
    ids=["of one job", "that several jobs lead to"],
)
def test_an_end_behind_an_environment_is_no_job_of_its_own(document: str, end: str, tmp_path: Path) -> None:
    text, run, _ = walked(tmp_path, document, {"steps": PRODUCTION}, {"production": ["approved"]})
    assert (str(end_of(text, run)), list(run.jobs)) == (end, ["part_1", "part_2"])


def test_nothing_follows_a_job_that_is_out_of_time(tmp_path: Path) -> None:
    _, run, log = walked(tmp_path, THREE, SECRETS, expire="part_2/__run_2")
    assert [run.jobs[f"part_{number}"].result for number in (1, 2, 3)] == ["success", "cancelled", "skipped"]
    assert [line[0] for line in log] == ["1", "2"]


def test_steps_of_a_loop_get_their_own_secrets(tmp_path: Path) -> None:
    document = step(1) + step(2, "PASS: COMPLETE", "FAIL: GOTO 1")
    options = {"steps": {"1": {"secrets": ["A"]}, "2": {"secrets": ["B"]}}}
    assert walked(tmp_path, document, options)[2] == ["1 secret-a ", "2  secret-b"]


@pytest.mark.parametrize("command", ["echo", "env echo"])  # the second may set variables for the steps after it
def test_an_agent_in_a_loop_gets_no_secrets_of_other_steps(command: str, tmp_path: Path) -> None:
    document = step(1).replace("echo", command) + "## 2. Ask\n\nFine?\n\n- YES: COMPLETE\n- NO: GOTO 1\n"
    agent = 'echo "agent $A $B" >> "$LOG"; echo YES'
    options = {"prompts": "agent", "agent": agent, "steps": {"1": {"secrets": ["A"]}, "2": {"secrets": ["B"]}}}
    assert walked(tmp_path, document, options)[2][-1] == "agent  secret-b"


@pytest.mark.parametrize("prompts", ["answers", "agent"])
def test_a_step_that_asks_people_gets_no_secrets(prompts: str, tmp_path: Path) -> None:
    text = text_of(tmp_path, AGREE, {"prompts": prompts, "agent": "cat", "secrets": ["A"]})
    asking = [step for job in parsed(text)["jobs"].values() for step in job["steps"] if "Agree" in step["name"]]
    assert [("A" in step.get("env", {})) for step in asking] == [prompts == "agent"]
    (build,) = [step for job in parsed(text)["jobs"].values() for step in job["steps"] if "Build" in step["name"]]
    assert build["env"]["A"] == "${{ secrets.A }}"


def test_an_environment_where_no_job_can_have_it_and_a_step_that_is_not_there(tmp_path: Path) -> None:
    for last in (step(2, "PASS: COMPLETE", "FAIL: GOTO 1"), step(2) + "## 3. Ask\n\nGo on?\n\n- NO: GOTO 2\n"):
        made = emission(tmp_path, step(1) + last, {"steps": {"2": {"environment": "production"}}})
        assert [found.code for found in made.diagnostics] == ["RD520"]
    (found,) = emission(tmp_path, THREE, {"steps": {"22": {"secrets": ["A"]}}}).diagnostics
    assert (found.code, "did you mean `2`" in found.message) == ("RD013", True)


@pytest.mark.parametrize(
    ("given", "is_refused"),
    [
        ({"environment": "Approval"}, True),
        ({"environment": "people", "approval-environment": "people"}, True),
        ({"environment": "people", "steps": {"2": {"approval-environment": "people"}}}, True),
        ({"environment": "production"}, False),
        ({"prompts": "answers", "environment": "approval"}, False),
    ],
)
def test_the_environment_that_approves_has_no_other_job(
    given: dict[str, object], is_refused: bool, tmp_path: Path
) -> None:
    """The review that lets such a job start would count as a decision too."""
    document = AGREE.replace("NO: GOTO Withdraw", "NO: STOP")
    found = emission(tmp_path, document, {"prompts": "environment", **given}).diagnostics
    assert [item.code for item in found if "for decisions" in item.message] == ["RD013"] * is_refused


VALUES = {"A": "secret-a", "B": "secret-b", "C": "secret-c"}


def shows(number: str) -> Shell:
    return bash(f'echo "{number} $A $B" >> "$FOLDER/shown"')


def row() -> Program:
    """Commands, and an agent, so that the steps call the runtime."""
    return program(
        node("1", shows("1"), to("2", "pass"), to(STOP, "fail")),
        node("2", shows("2"), to("3", "pass"), to(STOP, "fail")),
        node("3", Agent("", text("Report")), to("4", "pass"), to(STOP, "fail")),
        node("4", shows("4"), to(COMPLETE, "pass"), to(STOP, "fail")),
    )


def shown(folder: Path) -> list[str]:
    return (folder / "shown").read_text(encoding="utf-8").splitlines()


def test_each_step_gets_the_secrets_that_are_named_for_it(tmp_path: Path) -> None:
    steps = {"2": {"secrets": ["A"]}, "3": {"secrets": ["A"]}, "4": {"secrets": ["A", "B"]}}
    agent = {"run": AGENT, "secrets": ["C"]}
    done = run(tmp_path, compiled(row(), {"agent": agent, "secrets": ["C"], "steps": steps}), {}, secrets=VALUES)
    assert done.conclusion == "success", done.log
    assert shown(tmp_path) == ["1  ", "2 secret-a ", "4 secret-a secret-b"]
    (call,) = log(tmp_path)
    assert {name: call[2].get(name) for name in VALUES} == {"A": "secret-a", "B": None, "C": "secret-c"}


def test_an_environment_cuts_the_run_into_jobs(tmp_path: Path) -> None:
    text = compiled(row(), {"agent": AGENT, "steps": {"2": {"environment": "production"}}})
    assert [job.get("environment") for job in parsed(text)["jobs"].values()] == [None, "production", None]
    done = run(tmp_path, text, {}, environments={"production": ["rejected"]})
    assert (done.conclusion, shown(tmp_path)) == ("failure", ["1  "]), done.log


def test_a_run_that_waited_goes_on_behind_an_environment(tmp_path: Path) -> None:
    made = program(
        node("1", Ask("yes_no", text("Go on?")), to("2", "pass"), to(STOP, "fail")),
        node("2", shows("2"), to("3", "pass"), to(STOP, "fail")),
        node("3", Ask("input", text("Why?")), to("4", "pass")),
        node("4", shows("4"), to(COMPLETE)),
    )
    workflow, ends = compiled(made, {"steps": {"2": {"environment": "production"}}}), []
    for number, inputs in enumerate([{}, {"answers": "1 yes", "resume": "1"}, {"answers": "3 so", "resume": "2"}], 1):
        asked = {"production": ["approved"]} if number == 2 else {}
        ends.append(ended(run(tmp_path, workflow, {}, number, inputs=inputs, environments=asked)))
    assert (ends, shown(tmp_path)) == (["WAITING 1", "WAITING 3", "COMPLETE"], ["2  ", "4  "])


def branching() -> Program:
    """A deployment that an agent may pass over, and a gate on either way."""
    return program(
        node("1", Agent("", text("Deploy?")), to("2", "pass"), to("3", "fail")),
        node("2", shows("2"), to("3", "pass"), to(STOP, "fail")),
        node("3", Gate("Go on?"), to("4", "approved"), to("5", "rejected")),
        node("4", shows("4"), to(COMPLETE)),
        node("5", shows("5"), to(COMPLETE)),
    )


@pytest.mark.share(4)
@pytest.mark.parametrize("is_deployed", [False, True])
@pytest.mark.parametrize("decision", ["approved", "rejected"])
def test_only_the_ways_through_an_environment_ask_for_it(is_deployed: bool, decision: str, tmp_path: Path) -> None:
    steps = {"2": {"environment": "staging"}, "4": {"environment": "production"}}
    text = compiled(branching(), {"agent": AGENT, "steps": steps})
    answers = {"1": ["yes"]} if is_deployed else {"1": [None]}
    asked = {"approval": [decision], **({"staging": ["approved"]} if is_deployed else {})}
    asked |= {"production": ["approved"]} if decision == "approved" else {}
    done = run(tmp_path, text, answers, environments=asked)
    assert shown(tmp_path) == [*(["2  "] if is_deployed else ()), "4  " if decision == "approved" else "5  "], done.log


def test_the_part_behind_a_gate_has_the_environment_of_the_step_there() -> None:
    gate = node("1", Gate("Go on?"), to("2", "approved"), to(STOP, "rejected"))
    made = program(gate, node("2", shows("2"), to(COMPLETE)))
    jobs = parsed(compiled(made, {"steps": {"2": {"environment": "production"}}}))["jobs"]
    found = {name: job.get("environment") for name, job in jobs.items()}
    assert found == {"part_1": None, "approve_s1": "approval", "part_2": "production"}


ASKING = program(
    node("1", Gate("Go on?"), to("2", "approved"), to(STOP, "rejected")),
    node("2", Ask("yes_no", text("Well?")), to(COMPLETE, "pass"), to(STOP, "fail")),
)
LOOP = program(node("1", Agent("", text("?")), to("1", "fail"), to(COMPLETE)))


@pytest.mark.parametrize(
    ("code", "made", "steps", "fragment"),
    [
        ("RD013", ASKING, {"3": {"secrets": ["A"]}}, "there is no step `3`"),
        ("RD013", ASKING, {"1": {"secrets": ["A"]}}, "gives secrets to step 1"),
        ("RD013", ASKING, {"2": {"secrets": ["A"]}}, "gives secrets to step 2"),
        ("RD013", ASKING, {"1": {"environment": "production"}}, "an environment for step 1"),
        ("RD520", LOOP, {"1": {"environment": "production"}}, "step 1 cannot have an environment in a loop"),
    ],
)
def test_what_a_step_cannot_have_is_refused(code: str, made: Program, steps: dict[str, object], fragment: str) -> None:
    (found,) = GithubBackend().emit(made, {"agent": AGENT, "steps": steps}).diagnostics
    assert (found.code, fragment in found.message) == (code, True), found.message


STRAIGHT = command("1", "FIRST", "PASS: CONTINUE", "FAIL: CONTINUE") + command("2", "SECOND")
LOOPED = STRAIGHT + "\n- PASS: CONTINUE\n- FAIL: GOTO 1\n"


def lines(folder: Path, document: str, first: str, second: str, **options: object) -> list[str]:
    document = document.replace("FIRST", first).replace("SECOND", second).replace("THIRD", second)
    return walked(folder, document, {"summary": True, **options})[2]


SHOW = 'printf "%s\\n" "$A" "${B-none}" >> "$LOG"'


@pytest.mark.share(3)
@pytest.mark.parametrize(
    "first",
    [
        'echo "A=plain" >> "$GITHUB_ENV"', 'printf "A=no line break" >> "$GITHUB_ENV"',
        'echo "A=with = and << in it" >> "$GITHUB_ENV"',
        'printf "A<<END\\none\\n\\n two\\nEND\\nB=both\\n" >> "$GITHUB_ENV"',
        'printf "A<<E=F\\nx\\nE=F\\n" >> "$GITHUB_ENV"', 'printf "A<<END\\nEND\\nB=empty\\n" >> "$GITHUB_ENV"',
        'printf "A=first\\nA=last\\n" >> "$GITHUB_ENV"',
        "printf 'A=$(touch canary)`touch canary`'\"'\"'; touch canary; \\\\\\n' >> \"$GITHUB_ENV\"",
        'printf "A<<END\\nB=not this\\nrdc\\nB<<rdc\\nEND\\n" >> "$GITHUB_ENV"', 'echo "A=*" >> "$GITHUB_ENV"',
        "printf 'A=\\303\\274\\001\\t\\n' >> \"$GITHUB_ENV\"", 'echo "A=1" >> "$GITHUB_ENV"; exit 1',
    ],
)  # fmt: skip
def test_a_step_of_a_loop_sees_what_a_step_would_see(tmp_path: Path, first: str) -> None:
    native = lines(tmp_path / "native", STRAIGHT, first, SHOW)
    looped = lines(tmp_path / "looped", LOOPED + "\n## 3\n\n```bash\nTHIRD\n```\n", first, SHOW)
    assert native != ["", "none"]
    assert looped == [*native, *native], "the second step of the loop, and the step after it"
    assert not list(tmp_path.rglob("canary"))


IN_A_LOOP = {
    "a variable is replaced in each turn": (
        'echo "A=${A}x" >> "$GITHUB_ENV"',
        'echo "$A" >> "$LOG"; [ "$A" = xxx ]',
        ["x", "xx", "xxx"],
    ),
    "a variable does not reach the dispatcher": (
        """for name in rdc_next rdc_node IFS 'SEC'ONDS rdc_outcome rdc_env line; do
        echo "$name=/" >> "$GITHUB_ENV"; done; echo "a first" >> "$LOG\"""",
        'echo "a second" >> "$LOG"',
        ["a first", "a second"],
    ),
    "what belongs to the step and to GitHub stays": (
        'for name in DEPLOY_TOKEN GITHUB_REPOSITORY RUNNER_OS RDC_ATTEMPT; do echo "$name=x" >> "$GITHUB_ENV"; done',
        'echo "$DEPLOY_TOKEN $GITHUB_REPOSITORY $RUNNER_OS $RDC_ATTEMPT" >> "$LOG"',
        ["given owner/repository Linux 1"],
    ),
    # As in steps, a step that writes again, or ends in the middle of a line, takes nothing from the others.
    "each step has files of its own, whose empty lines are passed over": (
        'printf "\\nA=1\\n\\n\\n" >> "$GITHUB_ENV"; printf "B=2" >> "$GITHUB_ENV"',
        'echo "$A $B" >> "$LOG"; cat "$GITHUB_ENV" >> "$LOG"; echo "C=3" > "$GITHUB_ENV"; [ "$C" ]',
        ["1 2", "1 2"],
    ),
    "folders come before those that were added earlier": (
        'for i in a b a; do mkdir -p $i; echo "$PWD/$i"; done >> "$GITHUB_PATH"; printf %s "$PWD/c" >> "$GITHUB_PATH"',
        'echo "${PATH//$PWD/.}" | cut -d: -f1-3 >> "$LOG"',
        ["./c:./a:./b"],
    ),
    "folders are added once however often a loop turns": (
        'echo "$PWD/tools" >> "$GITHUB_PATH"; echo "A=$((A + 1))" >> "$GITHUB_ENV"',
        '[ "$A" = 20 ] && grep -o "$PWD/tools" <<< "$PATH" | wc -l >> "$LOG"',
        ["1"],
    ),
}


@pytest.mark.parametrize(("first", "second", "logged"), IN_A_LOOP.values(), ids=IN_A_LOOP)
def test_what_a_step_hands_on_in_a_loop(first: str, second: str, logged: list[str], tmp_path: Path) -> None:
    assert lines(tmp_path / "a", LOOPED, first, second, secrets=["DEPLOY_TOKEN"]) == logged


@pytest.mark.share(2)
@pytest.mark.parametrize("line", ["no variable", "=value", "A<<", "A<<END\\nnever"])
def test_a_line_that_the_runner_refuses_fails_the_step(tmp_path: Path, line: str) -> None:
    document = LOOPED.replace("- PASS: CONTINUE\n- FAIL: CONTINUE\n", "- PASS: CONTINUE\n- FAIL: STOP refused\n")
    document = document.replace("FIRST", f'printf "{line}\\n" >> "$GITHUB_ENV"').replace("SECOND", "true")
    ran = walked(tmp_path, document, {"summary": True})[1]
    assert ending(ran) == "STOP refused"
    assert "a line is neither NAME=value nor NAME<<DELIMITER" in ran.log
