"""How a run of a runbook's workflow ended, by the steps of its ends, and for one that has none by the job's result."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from backends.github.scalar import LITERAL_OPEN, OPEN
from tests.workflows.act import ActRun
from tests.workflows.compiling import parsed
from tests.workflows.engine import EngineRun

ENDS = ("COMPLETE", "STOP")
_FACT = re.compile(r"steps\.(\w+)\.(outcome|outputs\.\w+)")
_OUTPUT = re.compile(r"\$\{\{ steps\.(\w+)\.outputs\.message \}\}")


class Done(Protocol):
    """What an engine says of a step."""

    @property
    def id(self) -> str: ...

    @property
    def outcome(self) -> str: ...

    @property
    def outputs(self) -> Mapping[str, str]: ...


class End(NamedTuple):
    """The end and its message, and whether a step has said so."""

    word: str
    message: str
    is_said: bool

    def __str__(self) -> str:
        return f"{self.word} {self.message}".strip()


def end_of(text: str, ran: ActRun | EngineRun) -> End:
    """The end of a run of a workflow, given as its text."""
    jobs = parsed(text)["jobs"]
    for name, steps in _steps(ran).items():
        for step in jobs[name]["steps"]:
            found = steps.get(step.get("id", ""))
            if found is None or found.outcome == "skipped":
                continue
            if step["name"] in ENDS:
                return End(step["name"], _message(step, steps), True)
    # A workflow that calls the program says it in the run summary.
    said = re.findall(r"^### (WAITING|COMPLETE|STOP)(?: (.*))?$", ran.summary, re.MULTILINE)
    if said:
        word, message = said[-1]
        return End(word, re.sub(r"\\(.)", r"\1", message), True)
    return End("STOP" if ran.exit_code else "COMPLETE", "", False)


def _message(step: Mapping[str, Mapping[str, str]], steps: Mapping[str, Done]) -> str:
    env = step.get("env", {})
    message = str(env[_chosen(env["END"], steps)] if "END" in env else env.get("MESSAGE", ""))
    output = _OUTPUT.fullmatch(message)
    return steps[output[1]].outputs.get("message", "") if output else message.replace(LITERAL_OPEN, OPEN)


def _chosen(expression: str, steps: Mapping[str, Done]) -> str:
    """The value of the expression that says which end is reached."""

    def fact(found: re.Match[str]) -> str:
        step = steps.get(found[1])
        if step is None:
            return "''"
        value = step.outcome if found[2] == "outcome" else step.outputs.get(found[2].partition(".")[2], "")
        is_number = re.match(r" [<>=!]+ \d", found.string[found.end() :])  # GitHub compares a number with numbers
        return value or "0" if is_number else repr(value)

    text = expression.removeprefix("${{").removesuffix("}}").replace("&&", "and").replace("||", "or")
    return str(eval(_FACT.sub(fact, text), {"true": True}))


def _steps(ran: ActRun | EngineRun) -> Mapping[str, Mapping[str, Done]]:
    """The steps of each job by their ids."""
    if isinstance(ran, EngineRun):
        return {name: {step.id: step for step in job.steps} for name, job in ran.jobs.items()}
    found: dict[str, dict[str, Done]] = {}
    for step in ran.steps:
        found.setdefault(step.job, {})[step.id] = step
    return found
