"""Time limits, delays and fixed variables of native steps (E3, I21, I22, I25)."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from backends.github import GithubBackend
from compiler.ir.edges import Add, CounterTest
from compiler.ir.program import Constant, Program
from tests.backends.github.routed import (
    COMPLETE,
    STOP,
    Agent,
    Ask,
    Counter,
    Settings,
    Shell,
    compiled,
    node,
    program,
    text,
    to,
)
from tests.backends.github.walking import run, written
from tests.support.github.compiling import parsed, steps
from tests.support.github.lint import findings

pytestmark = pytest.mark.process

LEFT = '(trap "" TERM; sleep 60) & echo $! > "$FOLDER/pid"; '
NOTE = 'echo "$RDC_ATTEMPT $STAGE" >> "$FOLDER/tries"; '


def retried(command: str, settings: Settings, back: str = "1", **more: object) -> Program:
    """A command that is tried three times; where it goes back to another one, that is a loop."""
    again = Counter("tries", "", role="retries", of="1")
    first = node(
        "1",
        Shell("bash", text(command)),
        to(COMPLETE, "pass"),
        to(back, "fail", CounterTest("tries", "<", 2), do=[Add("tries", 1)]),
        to(STOP, "fail"),
        retries="tries",
        settings=settings,
        constants=(Constant("STAGE", "a 'b' ${{ github.token }} $(c)\nd"),),
    )
    others = [] if back == "1" else [node(back, Shell("sh", text(":")), to("1"), title="Again")]
    return program(first, *others, counters=(again,))


def is_gone(folder: Path) -> bool:
    found = Path("/proc", (folder / "pid").read_text().strip(), "stat")
    return not found.exists() or found.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.share(3)
@pytest.mark.parametrize("back", ["1", "2"])
@pytest.mark.parametrize("summary", [False, True])
def test_attempts_are_ended_with_all_they_have_begun(back: str, summary: bool, tmp_path: Path) -> None:
    made = retried(f'{NOTE}{LEFT}[ "$RDC_ATTEMPT" = 2 ] || sleep 60', Settings(1, 1, 2), back)
    workflow = compiled(made, {"summary": summary})
    assert "CALL" not in workflow
    assert findings([written(tmp_path, workflow)]) == []
    done = run(tmp_path, workflow)
    assert done.conclusion == "success", done.log
    printed = "a 'b' ${{ github.token }} $(c)\nd"
    assert (tmp_path / "tries").read_text() == f"1 {printed}\n2 {printed}\n"
    assert done.log.count("timeout after 1 s") == 1
    assert done.log.count("Waiting 1 s") == 1


def test_a_step_of_its_own_has_its_limit_and_its_variables(tmp_path: Path) -> None:
    shell = Shell("bash", text(f"{NOTE}{LEFT}sleep 60"))
    limited = node("1", shell, to(COMPLETE, "pass"), to("2", "fail"), settings=Settings(timeout=1))
    limited = replace(limited, constants=(Constant("STAGE", "prod"),))
    made = program(limited, node("2", Shell("sh", text('echo "$STAGE" >> "$FOLDER/tries"')), to(COMPLETE)))
    workflow = compiled(made)
    (found,) = [step for step in steps(workflow) if step.get("id") == "s1"]
    assert found["env"] == {"STAGE": "prod"}
    assert str(shell.command) in found["run"]
    done = run(tmp_path, workflow)
    assert done.conclusion == "success", done.log
    assert (tmp_path / "tries").read_text() == "1 prod\n\n"
    assert is_gone(tmp_path)


def test_a_limit_where_a_run_may_wait(tmp_path: Path) -> None:
    made = program(
        node(
            "1", Shell("sh", text(f"{LEFT}sleep 60")), to(STOP, "pass"), to("2", "fail"), settings=Settings(timeout=1)
        ),
        node("2", Ask("yes_no", text("Go on?")), to(COMPLETE, "pass"), to(STOP, "fail")),
    )
    workflow = compiled(made, {"prompts": "answers"})
    assert findings([written(tmp_path, workflow)]) == []
    assert "timeout after 1.0 s" in run(tmp_path, workflow).log
    assert is_gone(tmp_path)
    begun = time.monotonic()
    done = run(tmp_path, workflow, 2, inputs={"resume": "1", "answers": "yes"})
    assert (done.conclusion, "timeout" in done.log, time.monotonic() - begun < 20) == ("success", False, True)


@pytest.mark.parametrize(("delay", "backoff", "times"), [(5, 1, 1), (3, 2, 4), (7, 1000, 6)])
def test_delays_grow_by_their_backoff_and_end_somewhere(delay: int, backoff: int, times: int, tmp_path: Path) -> None:
    again = Counter("tries", "", role="retries", of="1")
    for back in ("1", "2"):
        first = node(
            "1",
            Shell("sh", text("false")),
            to(COMPLETE, "pass"),
            to(back, "fail", CounterTest("tries", "<", times), do=[Add("tries", 1)]),
            to(COMPLETE, "fail"),
            retries="tries",
            settings=Settings(None, delay, backoff),
        )
        others = [] if back == "1" else [node("2", Shell("sh", text(":")), to("1"))]
        workflow = compiled(program(first, *others, counters=(again,)))
        done = run(tmp_path, workflow.replace("sleep ", ": "))
        found = [int(number) for number in re.findall(r"Waiting (\d+) s", done.log)]
        exact = [min(delay * backoff**number, 10**8) for number in range(times)]
        assert found == exact


def test_fixed_variables_of_what_the_runtime_calls(tmp_path: Path) -> None:
    value = "${{ github.token }} 'a'\nb"
    shows = Shell("sh", text('printf "%s|" "$STAGE" >> "$FOLDER/tries"'))
    made = program(
        node("1", Agent("", text("?")), to("2"), constants=(Constant("STAGE", value),)),
        node("2", shows, to("3"), constants=(Constant("STAGE", "2"), Constant("GITHUB_X", "x"))),
        node("3", shows, to("4"), constants=(Constant("STAGE", "3"),)),
        node("4", shows, to("3", CounterTest("n", "<", 1), do=[Add("n", 1)]), to(COMPLETE)),
        counters=(Counter("n", ""),),
    )
    workflow = compiled(made, {"agent": 'printf "%s|" "$STAGE" >> "$FOLDER/tries"; echo ok'})
    done = run(tmp_path, workflow)
    assert done.conclusion == "success", done.log
    assert (tmp_path / "tries").read_text() == f"{value}|2|3||3||"


def test_what_a_command_asks_for_by_name_is_told(tmp_path: Path) -> None:
    asks = Shell(
        "sh", text('echo "$RDC_STEP: $RDC_TITLE" >> "$FOLDER/tries"; [ -e "$FOLDER/x" ] || ! touch "$FOLDER/x"')
    )
    made = program(
        node("1", asks, to("2"), title='Build "it" $(now)'),
        node("2", asks, to("3", "fail"), to(COMPLETE, "pass"), title="Ship"),
        node("3", Shell("sh", text("true")), to("2")),
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
    emission = GithubBackend().emit(retried("true", settings), {"timeout-minutes": minutes})
    found = [item for item in emission.diagnostics if item.code == "RD537"]
    assert [item.message for item in found] == (
        [f"with its attempts and delays, step 1 may take longer than the job's limit of {minutes} min"]
        if is_said
        else []
    )
