"""The result of a scenario, by the semantics or on a target."""

import re
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from compiler.ir.edges import Keep
from compiler.ir.paths import Path, Visit, visit
from compiler.ir.program import Program
from compiler.ir.semantics import Machine, Outcome
from compiler.ir.tasks import End
from compiler.scenarios.model import Scenario
from rdc.testing.run import Moved, Run, Step

LONGEST_SHOWN = 200  # in characters, of a wrong output


class Status(StrEnum):
    """Whether a scenario passed. One that can't be tested is skipped."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


class Result(Struct, frozen=True):
    """One scenario of a document on one target, or by the semantics.

    `ended` is the run's result with its message, or "". `message` is why it didn't pass; the path leads up to there.
    """

    document: str
    scenario: Scenario
    on: str
    status: Status
    program: Program
    path: Path
    ended: str = ""
    message: str = ""
    seconds: float = 0.0


def judge(scenario: Scenario, machine: Machine, path: Path) -> tuple[Status, str, str]:
    """Return the status of a finished path, its result, and the problem with it."""
    end = machine.end(path.state)
    assert end is not None  # noqa: S101 (for mypy)
    ended = _shown(end)
    if end.result.upper() != scenario.ends:
        return Status.FAILED, ended, f"it should end with {scenario.ends}"
    for name, wanted in scenario.outputs.items():
        found = _output(name, path)
        if (found or "").strip() != wanted.strip():
            output = "is missing" if found is None else f"is “{_shortened(found)}”"
            return Status.FAILED, ended, f"the output `{name}` {output}; expected “{_shortened(wanted)}”"
    return Status.PASSED, ended, ""


def _shown(end: End) -> str:
    return f"{end.result.upper()} {' '.join(str(end.message).split())}".rstrip()


def _output(name: str, path: Path) -> str | None:
    """Return the output of a run with a name, or the answer of a step with this name; otherwise None."""
    if name in path.state.slots:
        return path.state.slots[name]
    output = (made.outcome for made in reversed(path.visits) if made.step == name)
    return next((outcome.text for outcome in output if outcome.word != "fail"), None)


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_SHOWN else f"{line[:LONGEST_SHOWN]}…"


def retrace(machine: Machine, run: Run, mocked: Path | None = None) -> tuple[Path, str]:
    """Return the path of a run by the semantics as far as both agree, and the first difference, or "".

    Inputs, answers and outputs are taken from the mock run. Outputs of commands aren't known.
    """
    mocked = mocked or Path((), machine.start())
    state = machine.start(dict(mocked.inputs))
    visits: list[Visit] = []
    jumped: list[tuple[int, str]] = []
    outcomes = [made.outcome for made in mocked.visits]
    for step in run.steps:
        if isinstance(step, Moved):
            state = machine.jump(state, step.step)
            jumped.append((len(visits), step.step))
            continue
        path = Path(tuple(visits), state, tuple(jumped), mocked.inputs)
        if problem := _differs(machine, path, step):
            return path, problem
        given = outcomes[len(visits)] if len(visits) < len(outcomes) else Outcome(step.word)
        made, state = visit(machine, state, replace(given, word=step.word))
        visits.append(made)
    path = Path(tuple(visits), state, tuple(jumped), mocked.inputs)
    return path, _ends_otherwise(machine, path, run, has_all_values=len(mocked.visits) == len(visits))


def _differs(machine: Machine, path: Path, step: Step) -> str:
    end = machine.end(path.state)
    if end:
        return f"the target continues with step {step.step}; expected {end.result.upper()}"
    if step.step != path.state.node:
        return f"the target continues with step {step.step}; expected step {path.state.node}"
    attempt = machine.attempt(path.state)
    if step.attempt not in (None, attempt):
        return f"the target is at attempt {step.attempt} of step {step.step}; expected attempt {attempt}"
    return ""


def _ends_otherwise(machine: Machine, path: Path, run: Run, *, has_all_values: bool) -> str:
    if not run.result:
        return f"the target failed: {run.message}"
    if run.result == "WAITING":
        return f"the run waits at step {path.state.node}, but the scenario has no answer left"
    end = machine.end(path.state)
    output = f"{run.result} {run.message}".rstrip()
    if end is None:
        return f"the target ends with {output}; expected step {path.state.node}"
    expected = _shown(end)
    if not has_all_values and shows_values(machine, path.state.node):
        output, expected = run.result, end.result.upper()
    return "" if _words(output) == _words(expected) else f"the target ends with {output}; expected {expected}"


def shows_values(machine: Machine, name: str) -> bool:
    """Return whether the message of an end contains an output or answer."""
    task = machine.nodes[name].task
    effects = (effect for node in machine.program.nodes for edge in node.edges for effect in edge.effects)
    stored = {effect.slot for effect in effects if isinstance(effect, Keep)}
    return isinstance(task, End) and any(item.register in stored for item in task.message.references)


def _words(text: str) -> list[str]:
    """Return the words of a message. Targets replace different characters that they can't show."""
    return re.findall(r"\w+", text)
