"""GitHub's limits on size, and the limits of time, delays and fixed variables of native steps (E3, I21, I22, I25)."""

import itertools
import re
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from backends.base import OptionDiagnostic
from backends.github import GithubBackend
from backends.github.workflow import limits
from compiler.ir.edges import Add, CounterTest
from compiler.ir.program import Constant, Counter, Program, Settings
from compiler.ir.tasks import Agent, Ask, Shell
from compiler.ir.texts import text
from tests.backends.github.made import COMPLETE, STOP, TRIES, bash, node, program, retried, sh, to
from tests.backends.github.routed import compiled
from tests.backends.github.walking import Clean, run, succeeded
from tests.support.github.compiling import emission, parsed, steps, text_of
from tests.support.runbooks import command

pytestmark = pytest.mark.process


def straight(count: int) -> str:
    return "# Count\n\n" + "\n".join(f"## {n}. Count to {n}\n\n```bash\necho {n}\n```\n" for n in range(1, count + 1))


def refusals(folder: Path, document: str, options: Mapping[str, object] | None = None) -> list[str]:
    made = emission(folder, document, options)
    assert made.text is None
    assert all(finding.code == "RD521" for finding in made.diagnostics)
    return [f"{finding.message}; {finding.help}" for finding in made.diagnostics]


@pytest.mark.soak
def test_500_steps_are_within_the_limits(tmp_path: Path, clean: Clean) -> None:
    text = text_of(tmp_path, straight(500))
    assert len(text) < limits.LARGEST_FILE // 4
    clean(text)


def test_too_many_steps(tmp_path: Path) -> None:
    (refusal,) = refusals(tmp_path, straight(1200))
    assert "1,201 steps" in refusal
    assert "before step 601" in refusal


def test_too_many_steps_that_call_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All steps are counted, those around the document too."""
    document = straight(30) + "\n## 31. Ask\n\nIs it good?\n"
    steps = max(len(job["steps"]) for job in parsed(text_of(tmp_path, document))["jobs"].values())
    monkeypatch.setattr(limits, "MOST_STEPS", 20)
    (refusal,) = refusals(tmp_path, document)
    assert f"a job would have {steps} steps; GitHub shows at most 20" in refusal


def test_an_expression_that_is_too_long(tmp_path: Path) -> None:
    """Each of many steps jumps to the same one, whose condition names them all."""
    steps = "\n".join(f"## {n}\n\n```bash\ntrue\n```\n\n- FAIL: GOTO Fix\n" for n in range(1, 801))
    refused = refusals(tmp_path, f"{steps}\n## Fix\n\n```bash\ntrue\n```\n")
    wanted = ("an expression would have", "reduce the transitions that lead to it")
    assert any(all(part in text for part in wanted) for text in refused)


def test_what_is_within_the_limits(tmp_path: Path) -> None:
    long = command("1. A", "true", 'FAIL: STOP "${{ %s"' % ("x" * limits.LONGEST_VARIABLE))
    many = [command(f"{n}. Step", "true", f'FAIL: STOP "step {n} failed, call the team"') for n in range(1, 451)]
    assert text_of(tmp_path, long), "a message that is longer than a variable"
    assert text_of(tmp_path, "".join(many)), "many steps with a message each"
    inputs = {"on": {"workflow_dispatch": {"inputs": {"a": None, "b": "text"}}}}
    assert text_of(tmp_path, COMMAND, inputs), "inputs that say nothing"
    text = text_of(tmp_path, "## 1\n\n" + "\n".join(["x" * 600] * 300) + "\n")
    assert "... more in the program" in text, "a long question, of which the workflow shows the first lines"


def test_a_text_with_what_opens_an_expression_counts_as_one(tmp_path: Path) -> None:
    """GitHub makes one expression of the whole text."""
    (refusal,) = refusals(tmp_path, "## 1\n\n```bash\n: '${{ %s'\n```\n" % ("x" * limits.LONGEST_EXPRESSION))
    assert refusal.startswith("`${{` in the block makes all of it an expression, which would have 21,008 characters;")
    assert "remove `${{` there, or move the text to a file" in refusal


@pytest.mark.parametrize(
    "ending", ["", "\n- FAIL: RETRY 2\n", "\n- FAIL: GOTO 2\n\n## 2\n\n```bash\ntrue\n```\n- PASS: GOTO 1\n"]
)
def test_a_block_that_is_too_long_is_named_with_what_opens_the_expression(ending: str, tmp_path: Path) -> None:
    lines = ["echo a", "# masked: ${{ secrets.* }} and ${{ y }}", *["echo 'a notice'"] * 2_000]
    block, rest = "\n".join(lines), f"\n```\n{ending}"
    (refusal,) = refusals(tmp_path, f"## 1\n\n```bash\n{block}{rest}")
    assert refusal.startswith("`${{ secrets.* }}` in line 2 of the block makes all of it an expression")
    without = block.replace("${{", "$")
    assert text_of(tmp_path, f"## 1\n\n```bash\n{without}{rest}"), "the remedy helps"


def long_commands(count: int) -> str:
    """Steps whose commands are as long as commands may be (RD407)."""
    return "".join(f"## {number}\n\n```bash\n: {'x' * 130_000}\n```\n\n" for number in range(1, count + 1))


def test_native_commands_may_be_as_long_as_a_file(tmp_path: Path) -> None:
    assert text_of(tmp_path, long_commands(1))
    (refusal,) = refusals(tmp_path, long_commands(5))
    assert "bytes; GitHub's limit is 524,288" in refusal


def test_identifiers_are_what_github_takes(tmp_path: Path, clean: Clean) -> None:
    """Names that are long, that differ by case only, that begin with a digit or `__`, or that mean something."""
    names = ["A" * 200, "a" * 200, "result", "Result", "__x", "end", "PATH", "s1"]
    steps = [command(name, "true", f"PASS: GOTO {after}") for name, after in itertools.pairwise(["1", *names])]
    clean(text_of(tmp_path, "".join(steps) + command(names[-1], "true")))


COMMAND = "## 1\n\n```bash\ntrue\n```\n"
PROMPT = COMMAND + "\n## 2\n\nIs it good?\n"


def by_hand(count: int, **facts: object) -> dict[str, object]:
    return {"on": {"workflow_dispatch": {"inputs": {f"input_{n}": {"type": "string", **facts} for n in range(count)}}}}


def test_too_many_and_too_long_inputs(tmp_path: Path, clean: Clean) -> None:
    text = text_of(tmp_path, COMMAND, by_hand(25))
    assert len(parsed(text)["on"]["workflow_dispatch"]["inputs"]) == 25
    assert len(parsed(text_of(tmp_path, PROMPT, by_hand(23)))["on"]["workflow_dispatch"]["inputs"]) == 25
    clean(text)
    (refusal,) = refusals(tmp_path, COMMAND, by_hand(30))
    assert refusal.startswith("`workflow_dispatch` would have 30 inputs; GitHub's limit is 25; remove 5 of them")
    (refusal,) = refusals(tmp_path, PROMPT, by_hand(24))
    assert refusal.startswith("`workflow_dispatch` would have 26 inputs (2 of them for replies); GitHub's limit is 25")
    (refusal,) = refusals(tmp_path, COMMAND, by_hand(2, default="x" * 33_000))
    assert "the defaults of `workflow_dispatch` have 66,0" in refusal
    assert text_of(tmp_path, COMMAND, by_hand(2, default="é" * 32_000))


@pytest.mark.parametrize("name", ["answers", "resume"])
def test_an_input_does_not_vanish_behind_one_for_prompts(name: str, tmp_path: Path) -> None:
    options = {"on": {"workflow_dispatch": {"inputs": {name: {"type": "string", "default": "mine"}}}}}
    made = emission(tmp_path, PROMPT, options)
    assert made.text is None
    (finding,) = made.diagnostics
    assert isinstance(finding, OptionDiagnostic)
    assert (finding.code, finding.option) == ("RD013", ("on", "workflow_dispatch", "inputs", name))
    assert text_of(tmp_path, COMMAND, options)


@pytest.mark.parametrize(
    ("document", "options", "codes"),
    [
        (PROMPT, {}, ["RD523"]),
        (PROMPT, {"prompts": "environment"}, ["RD523", "RD527"]),
        (PROMPT, {"prompts": "agent", "agent": "cat"}, []),
        (PROMPT, {"on": "push"}, []),
        (COMMAND, {}, []),
    ],
)
def test_a_schedule_with_prompts(document: str, options: dict[str, object], codes: list[str], tmp_path: Path) -> None:
    made = emission(tmp_path, document, {"on": {"schedule": [{"cron": "0 3 * * *"}]}, **options})
    assert made.text
    assert [finding.code for finding in made.diagnostics] == codes
    assert not codes or "use `prompts: agent` with the option `agent`, or" in made.diagnostics[0].help


@pytest.mark.parametrize("options", [{"env": {"PROMPT": "x"}}, {"secrets": ["COMMAND"]}, {"secrets": {"CALL": "X"}}])
def test_variables_of_rdc_cannot_be_set(options: dict[str, object], tmp_path: Path) -> None:
    (found,) = emission(tmp_path, PROMPT, options).diagnostics
    assert (found.code, "steps set the variable" in found.message) == ("RD013", True)
    assert text_of(tmp_path, COMMAND, options), "native steps don't set them"


LEFT = '(trap "" TERM; sleep 60) & echo $! > "$FOLDER/pid"; '
NOTE = 'echo "$RDC_ATTEMPT $STAGE" >> "$FOLDER/tries"; '


def tried(command: str, settings: Settings, back: str = "") -> Program:
    """A command that is tried three times; where it goes back to another one, that is a loop."""
    stage = Constant("STAGE", "a 'b' ${{ github.token }} $(c)\nd")
    first = retried("1", bash(command), 2, back, settings=settings, constants=(stage,))
    return program(first, *[node(each, sh(":"), to("1")) for each in back], counters=(TRIES,))


def is_gone(folder: Path) -> bool:
    found = Path("/proc", (folder / "pid").read_text().strip(), "stat")
    return not found.exists() or found.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.share(4)
@pytest.mark.parametrize("back", ["", "2"])
@pytest.mark.parametrize("summary", [False, True])
def test_attempts_are_ended_with_all_they_have_begun(back: str, summary: bool, tmp_path: Path, clean: Clean) -> None:
    made = tried(f'{NOTE}{LEFT}[ "$RDC_ATTEMPT" = 2 ] || sleep 60', Settings(1, 1, 2), back)
    done = succeeded(tmp_path, made, clean, {"summary": summary})
    stage = "a 'b' ${{ github.token }} $(c)\nd"
    assert (tmp_path / "tries").read_text() == f"1 {stage}\n2 {stage}\n"
    assert (done.log.count("timeout after 1 s"), done.log.count("Waiting 1 s")) == (1, 1)


def test_a_step_of_its_own_has_its_limit_and_its_variables(tmp_path: Path) -> None:
    shell = bash(f"{NOTE}{LEFT}sleep 60")
    limited = node("1", shell, to(COMPLETE, "pass"), to("2", "fail"), settings=Settings(timeout=1))
    limited = replace(limited, constants=(Constant("STAGE", "prod"),))
    workflow = compiled(program(limited, node("2", sh('echo "$STAGE" >> "$FOLDER/tries"'), to(COMPLETE))))
    (found,) = [step for step in steps(workflow) if step.get("id") == "s1"]
    assert (found["env"], str(shell.command) in found["run"]) == ({"STAGE": "prod"}, True)
    done = run(tmp_path, workflow)
    assert done.conclusion == "success", done.log
    assert (tmp_path / "tries").read_text() == "1 prod\n\n"
    assert is_gone(tmp_path)


def test_a_limit_where_a_run_may_wait(tmp_path: Path, clean: Clean) -> None:
    made = program(
        node("1", sh(f"{LEFT}sleep 60"), to(STOP, "pass"), to("2", "fail"), settings=Settings(timeout=1)),
        node("2", Ask("yes_no", text("Go on?")), to(COMPLETE, "pass"), to(STOP, "fail")),
    )
    workflow = compiled(made, {"prompts": "answers"})
    clean(workflow)
    assert "timeout after 1.0 s" in run(tmp_path, workflow).log
    assert is_gone(tmp_path)
    begun = time.monotonic()
    done = run(tmp_path, workflow, 2, inputs={"resume": "1", "answers": "yes"})
    assert (done.conclusion, "timeout" in done.log, time.monotonic() - begun < 20) == ("success", False, True)


@pytest.mark.parametrize(
    ("delay", "backoff", "times"),
    [pytest.param(5, 1, 1, marks=pytest.mark.soak), (3, 2, 4), pytest.param(7, 1000, 6, marks=pytest.mark.soak)],
)
def test_delays_grow_by_their_backoff_and_end_somewhere(delay: int, backoff: int, times: int, tmp_path: Path) -> None:
    for back in ("", "2"):
        first = retried("1", sh("false"), times, back, settings=Settings(None, delay, backoff))
        loop = [node(each, sh(":"), to("1")) for each in back]
        done = run(tmp_path, compiled(program(first, *loop, counters=(TRIES,))).replace("sleep ", ": "))
        found = [int(number) for number in re.findall(r"Waiting (\d+) s", done.log)]
        assert found == [min(delay * backoff**number, 10**8) for number in range(times)]


def test_fixed_variables_of_what_the_runtime_calls(tmp_path: Path) -> None:
    value, shows = "${{ github.token }} 'a'\nb", sh('printf "%s|" "$STAGE" >> "$FOLDER/tries"')
    made = program(
        node("1", Agent("", text("?")), to("2"), constants=(Constant("STAGE", value),)),
        node("2", shows, to("3"), constants=(Constant("STAGE", "2"), Constant("GITHUB_X", "x"))),
        node("3", shows, to("4"), constants=(Constant("STAGE", "3"),)),
        node("4", shows, to("3", CounterTest("n", "<", 1), do=[Add("n", 1)]), to(COMPLETE)),
        counters=(Counter("n", ""),),
    )
    done = run(tmp_path, compiled(made, {"agent": 'printf "%s|" "$STAGE" >> "$FOLDER/tries"; echo ok'}))
    assert done.conclusion == "success", done.log
    assert (tmp_path / "tries").read_text() == f"{value}|2|3||3||"


def test_what_a_command_asks_for_by_name_is_told(tmp_path: Path) -> None:
    asks = Shell(
        "sh", text('echo "$RDC_STEP: $RDC_TITLE" >> "$FOLDER/tries"; [ -e "$FOLDER/x" ] || ! touch "$FOLDER/x"')
    )
    made = program(
        node("1", asks, to("2"), title='Build "it" $(now)'),
        node("2", asks, to("3", "fail"), to(COMPLETE, "pass"), title="Ship"),
        node("3", sh("true"), to("2")),
    )
    workflow = compiled(made)
    assert "CALL" not in workflow
    assert parsed(workflow)
    run(tmp_path, workflow)
    assert (tmp_path / "tries").read_text() == '1: Build "it" $(now)\n2: Ship\n'


@pytest.mark.parametrize(
    ("settings", "minutes", "is_said"),
    [
        (Settings(timeout=600), 30, False),
        (Settings(timeout=601), 30, True),
        (Settings(timeout=600, delay=1), 30, True),
        (Settings(delay=900), 30, False),
        (Settings(delay=600, backoff=3), 30, True),
        (Settings(), 1, False),
    ],
)
def test_what_may_take_longer_than_the_job_is_said(settings: Settings, minutes: int, is_said: bool) -> None:
    emission = GithubBackend().emit(tried("true", settings), {"timeout-minutes": minutes})
    assert [item.message for item in emission.diagnostics if item.code == "RD537"] == (
        [f"with its attempts and delays, step 1 may take longer than the job's limit of {minutes} min"]
        if is_said
        else []
    )
