"""Steps that agents do, and whose commands check the work: `by: agent` in the settings of a step (E15)."""

from pathlib import Path

import pytest

from backends.registry import BACKENDS, load
from compiler.frontends.rundown.drafts import is_possible
from compiler.ir.paths import Path as Run
from compiler.ir.paths import Visit
from compiler.ir.program import Jump, Program, Settings
from compiler.ir.semantics import Machine, Outcome
from compiler.ir.tasks import Agent, Shell
from compiler.ir.texts import text
from compiler.rules.model import Status
from compiler.scenarios.mock import mock
from tests.compiler.frontends.rundown.declaring import document, program_of
from tests.support.documents import compiled
from tests.support.runbooks import command, question

BODY = (
    command("1. Begin", "true")
    + command("2. Fix the tests", "make test", "FAIL: RETRY 2 GOTO Clean", text="Change only `src`.")
    + command("Clean up", "git checkout .", 'PASS: STOP "gave up"')
)
BY_AGENT = 'steps: {"2": {by: agent}}'


def path(program: Program, *words: str) -> list[str]:
    """The nodes of a run with these outcomes, the end last."""
    machine = Machine(program)
    state = machine.start()
    nodes = [state.node]
    for word in words:
        state = machine.advance(state, Outcome(word)).state
        nodes.append(state.node)
    return nodes


def test_an_agent_gets_the_title_and_the_text_and_the_command_checks(tmp_path: Path) -> None:
    program = program_of(tmp_path, BY_AGENT, BODY)
    nodes = program.index()
    assert nodes["2/do"].task == Agent("", text("Fix the tests\n\nChange only `src`."))
    assert nodes["2"].task == Shell("bash", text("make test"))
    assert [str(nodes[name].title) for name in ("2/do", "2")] == ["Fix the tests", "Fix the tests"]
    for target in BACKENDS:
        assert load(target).emit(program, {"agent": "cat"} if target == "github" else {}).text, target
    end = Machine(program).start()
    paths = {word: Run((Visit("2/do", 1, (), Outcome(word), ()),), end) for word in ("pass", "fail")}
    assert {word: is_possible(program, one) for word, one in paths.items()} == {"pass": True, "fail": False}, "drafts"


def test_inputs_are_filled_in_and_the_retry_waits_before_the_agent(tmp_path: Path) -> None:
    settings = "{by: agent, retry-delay: 5s, retry-backoff: 2, timeout: 1m, env: {A: b}}"
    options = f"inputs: {{version: {{default: '1.2'}}}}\nsteps: {{'2': {settings}}}"
    program = program_of(tmp_path, options, BODY.replace("Change only", "For {{version}}, change only"))
    nodes, machine = program.index(), Machine(program)
    task = nodes["2/do"].task
    assert isinstance(task, Agent)
    state = machine.advance(machine.start(), Outcome("pass")).state
    assert machine.prompt(state, task) == "Fix the tests\n\nFor 1.2, change only `src`."
    assert (nodes["2/do"].settings, nodes["2/do"].constants) == (Settings(None, 5, 2), ())
    assert (nodes["2"].settings, [one.name for one in nodes["2"].constants]) == (Settings(60), ["A"])


@pytest.mark.parametrize(
    ("words", "nodes"),
    [
        (["pass", "pass", "pass"], ["1", "2/do", "2", "COMPLETE"]),
        (["pass", "pass", "fail", "pass", "pass"], ["1", "2/do", "2", "2/do", "2", "COMPLETE"]),
        (["pass", "fail", "pass", "fail", "fail"], ["1", "2/do", "2/do", "2", "2/do", "Clean"]),
    ],
    ids=["done at once", "the check fails once", "the agent fails, then the check, then the agent"],
)
def test_each_attempt_starts_with_the_agent(tmp_path: Path, words: list[str], nodes: list[str]) -> None:
    assert path(program_of(tmp_path, BY_AGENT, BODY), *words) == nodes


def test_a_transition_and_an_operator_lead_to_the_agent(tmp_path: Path) -> None:
    body = BODY + command("Again", "true", "PASS: GOTO 2")
    program = program_of(tmp_path, BY_AGENT, body.replace("GOTO Clean", "GOTO Again"))
    assert path(program, "pass", *["fail"] * 3, "pass")[-1] == "2/do"
    machine = Machine(program)
    assert program.jumps == (Jump("2", "2/do"),)
    assert machine.jump(machine.start(), "2").node == "2/do"
    body = "## 1. All\n\n- FAIL: RETRY 1 STOP\n\n" + command("### 1.1 Fix", "true") + command("### 1.2 Look", "true")
    program = program_of(tmp_path, 'steps: {"1.1": {by: agent}}', body)
    jumps = {jump.id: jump for jump in program.jumps}
    assert {jumps["1.1"].target, jumps["1.1/do"].target, jumps["1"].target} == {"1.1/do"}
    assert jumps["1.1"].entering == jumps["1.1/do"].entering != (), "with the same effects"


def test_a_limit_of_visits_counts_no_retry(tmp_path: Path) -> None:
    body = BODY.replace('PASS: STOP "gave up"', "PASS: GOTO 2")
    program = program_of(tmp_path, 'steps: {"2": {by: agent, max-visits: 1}}', body)
    assert path(program, "pass", "pass", "fail", "pass", "fail", "pass", "fail")[-1] == "Clean"
    assert path(program, "pass", *["fail"] * 3, "pass")[-1] == "2/visits/STOP"


LACKS = "step 1 has no command that checks the agent's work; "
ERRORS = [
    ("1: {by: agent}", question("1. Fix", "Fix it."), f"{LACKS}add a `bash` block below its text, or remove `by`"),
    (
        "1: {by: agent}",
        "## 1. All\n\n" + command("### 1.1 Fix", "true"),
        f"{LACKS}move `by` to a step with a command, or remove `by`",
    ),
    (
        "1: {by: agent}",
        command("1.", "true"),
        "step 1 has no text for the agent; write above the command what the agent does, or remove `by`",
    ),
    (
        "1: {by: person}",
        command("1. Fix", "true"),
        "the settings of step 1: `by` must be `agent`; write `by: agent` if an agent does the step, or remove `by`",
    ),
    (
        '"*": {by: agent}',
        command("1. Fix", "true"),
        (
            "the settings of all steps: `by` needs a single step of this document; "
            "set it for the step's number or name, in the document that has the step"
        ),
    ),
]


@pytest.mark.parametrize(("steps", "body", "words"), ERRORS)
def test_errors(tmp_path: Path, steps: str, body: str, words: str) -> None:
    text = document(f"steps: {{{steps}}}", body)
    (found,) = [one for one in compiled(tmp_path, text).diagnostics if one.code == "RD013"]
    assert (found.span and found.span.line, f"{found.message}; {found.help}") == (3, words)
    for remedied in (command("1. Fix", "true"), command("1.", "true", text="Fix it.")):
        program_of(tmp_path, 'steps: {"1": {by: agent}}', remedied)


def test_scenarios_play_the_agent(tmp_path: Path) -> None:
    scenario = "scenarios: {s: {result: STOP, commands: [rd run --prompted main.runbook.md, rd pass, %s]}}\n"
    written = document(BY_AGENT, BODY).replace("---\n", "---\n" + scenario, 1)
    compilation = compiled(tmp_path, written % "rd fail, rd fail, rd goto 2, rd fail, rd fail, rd fail, rd pass")
    assert compilation.program
    played = mock(compilation.program, compilation.scenarios[0])
    assert played.message == ""
    steps = ["1", *["2/do", "2"] * 2, *["2/do", "2"] * 3, "Clean"]
    assert [made.step for made in played.path.visits] == steps
    assert played.legs(compilation.program)[0] == ("pass", "2/do done", "fail", "2/do done", "fail")


@pytest.mark.parametrize(
    ("rule", "status"),
    [
        ("1 PASS before 2", Status.HOLDS),
        ('1 PASS before "Fix the tests"', Status.HOLDS),
        ("1 PASS before any step labeled work", Status.HOLDS),
        ("Clean PASS before 2", Status.BROKEN),
        ("2 at most 3 times", Status.HOLDS),
        ("2 at most 2 times", Status.BROKEN),
        ("no Clean after 2 FAIL", Status.BROKEN),
    ],
)
def test_rules_see_the_agent_and_its_check_as_one_step(tmp_path: Path, rule: str, status: Status) -> None:
    options = f"rules: {{r: '{rule}'}}\n" + 'steps: {"2": {by: agent, labels: [work]}}'
    found = compiled(tmp_path, document(options, BODY)).rules
    assert [one.proof.status for one in found] == [status]
    if rule == "Clean PASS before 2":
        assert [one.proof.event and one.proof.event.step for one in found] == ["2/do"], "it stops the agent's work"
    if rule == "no Clean after 2 FAIL":
        (machine,) = (one.rule for one in compiled(tmp_path, document(options, BODY.replace("RETRY 2 ", ""))).rules)
        assert machine
        assert {(event.step, event.word) for event in machine.closes} == {("2", "fail"), ("2/do", "fail")}
