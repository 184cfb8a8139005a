"""The steps and variables around those of the document that all workflows have which call the program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from backends.github.calling import artifacts
from backends.github.calling.artifacts import TOKEN
from backends.github.calling.steps import CHECK, CLOSE, OPEN, masked
from backends.github.inputs import given
from backends.github.options import GithubOptions
from backends.github.required import FORK, missing
from backends.github.scalar import Expression
from backends.github.settings import StepSecrets
from backends.github.step import Step
from backends.github.triggers import OF_PULL_REQUESTS
from compiler.ir.program import Input
from runtime_shim.targets.github.shown import as_comments

_SHOWN = {
    OPEN: "Begins the run, and checks what it is given.",
    "resume": "Begins the run, or takes over the one that waited, and checks what it is given.",
    "next": "Takes over the run, and asks GitHub who has approved what.",
    "check": "Asks GitHub whether that run is one of this workflow and branch.",
    CLOSE: "Writes the summary of the job, and puts together what is uploaded below.",
    "changes": "Compares the workspace with the commit of the run.",
}

CLOSED = "Close the run"
"""The name of the last step that calls the program, which writes the page of the run."""

ASKED_LATER = (
    "The next part asks GitHub who has approved this, and fails where nobody has: the environment needs reviewers."
)

LOADS = "Runs the file of this path only if it has this SHA-256. {0} is the text of the step."


def guide(place: str, *, waits: bool) -> Iterator[str]:
    """What a reader is told of all steps: the lines of the header."""
    yield (
        f"Each step calls {place}, which has its own copy of the text below `run:` and runs that copy: it refuses a "
        "step whose text differs. `rdc verify` checks that file as well."
    )
    if waits:
        yield (
            "STOP ends red. A run that waits ends green, and its page says how to go on: no step that is done runs "
            "again."
        )


def shown_call(call: str) -> str:
    """What a step shows that calls nothing of the document."""
    return as_comments([_SHOWN[call]]).rstrip("\n")


def lines_of(names: Iterable[str]) -> str:
    """Names as a variable: where one has a space, each is a line."""
    found = list(names)
    return "".join(f"{name}\n" for name in found) if any(" " in name for name in found) else " ".join(found)


def reviewed_in(options: GithubOptions) -> dict[str, str]:
    """The environment whose reviewers decide, where it is not the usual one."""
    name = options.approval_environment
    return {} if name == "approval" else {"RDC_ENVIRONMENT": name}


def going_on(events: Mapping[str, Any]) -> dict[str, str]:
    """How another run goes on. A pull request has a ref that cannot be run again, so its branch is named."""
    event = "github.event.pull_request.head"
    env: dict[str, str] = {"RDC_CALLED": "true"} if "workflow_call" in events else {}
    if OF_PULL_REQUESTS.isdisjoint(events):
        return env
    branch = Expression(f"${{{{ {event}.ref || github.ref_name }}}}")
    return {
        **env,
        "RDC_BRANCH": branch,
        "RDC_HEAD": Expression(f"${{{{ {event}.repo.full_name || github.repository }}}}"),
    }


def begun_by(options: GithubOptions) -> dict[str, str]:
    """The events that may have begun a run which another one goes on with, where it is not only by hand."""
    events = sorted({*options.triggers(), "workflow_dispatch"} - {"workflow_call"})
    return {"RDC_EVENTS": " ".join(events)} if len(events) > 1 else {}


def checked_run(options: GithubOptions) -> Iterator[Step]:
    """Asks GitHub about the run that is to go on, before anything of it is fetched, and fetches it."""
    env = {
        "RDC_CALL": CHECK,
        "RDC_RESUME": Expression("${{ inputs.resume }}"),
        **begun_by(options),
        "RDC_TOKEN": TOKEN,
    }
    yield Step("Check the run that waited", CHECK, condition="inputs.resume", env=env, run=shown_call("check"))
    yield artifacts.of_another_run()


def opened_with(inputs: tuple[Input, ...], events: Mapping[str, Any], options: GithubOptions) -> dict[str, str]:
    """The values of inputs that a run is given."""
    is_given = not {"workflow_dispatch", "workflow_call"}.isdisjoint(events)
    alike = Counter(item.name.lower() for item in inputs)
    names = {
        item.name: _variable(item.name, number, is_alone=alike[item.name.lower()] == 1)
        for number, item in enumerate(inputs, 1)
    }
    declared = tuple(item for item in inputs if is_given or options.is_of_event(item.name))
    return given(declared, events, options, names)


def _variable(name: str, number: int, *, is_alone: bool) -> str:
    """How the variable with the value of an input ends: as the input is called, if a variable can be called so.

    GitHub takes variables for one that differ in case only.
    """
    return name if is_alone and name.isidentifier() and name.isascii() else str(number)


def told_missing(
    names: Collection[str], secrets: StepSecrets, environment: str, events: Mapping[str, Any]
) -> dict[str, str]:
    """The names of those secrets that are not set; the step sees no value (I26)."""
    if not names:
        return {}
    env: dict[str, str] = {"RDC_MISSING": missing(secrets.stored[name] for name in names)}
    if environment:
        env["RDC_PLACE"] = f"repository, or of the environment {environment}"
    return env | ({} if OF_PULL_REQUESTS.isdisjoint(events) else {"RDC_FORK": FORK})


def said_on_page(env: Mapping[str, str], secrets: Mapping[str, str]) -> Step:
    """Writes the page of the run, and keeps what others go on with; nothing of the workspace runs any more."""
    says = ("This step alone has all secrets, to hide them, and runs nothing of the workspace.",) if secrets else ()
    return Step(
        CLOSED,
        CLOSE,
        comments=says,
        condition="${{ !cancelled() }}",
        env={**env, **masked(secrets)},
        run=shown_call(CLOSE),
    )
