"""What all workflows have that call the program: how they call it, and the steps around those of the document."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import Any

from msgspec.structs import replace

from backends.companions import Companion
from backends.github.calling import artifacts
from backends.github.calling.artifacts import TOKEN
from backends.github.calling.program import Calling
from backends.github.calling.steps import CHECK, CLOSE, OPEN, masked
from backends.github.inputs import given, input_names
from backends.github.job import Job
from backends.github.options import GithubOptions
from backends.github.required import FORK, missing
from backends.github.scalar import Expression
from backends.github.settings import StepSecrets
from backends.github.step import PLAIN_SHELL, Step
from backends.github.triggers import OF_PULL_REQUESTS
from backends.github.workflow import Written
from compiler.ir.edges import may_follow
from compiler.ir.program import Input, Node, Program
from compiler.ir.tasks import End, Shell, Verdict
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
"""The name of the last step that calls the program, which writes the run summary."""

ASKED_LATER = (
    "The next part asks GitHub who has approved this, and fails where nobody has: the environment needs reviewers."
)

LOADS = "Runs the file of this path only if it has this SHA-256. {0} is the text of the step."


class CallsProgram(Written, frozen=True, dict=True):
    """What workflows have in common whose steps call the program."""

    @cached_property
    def calling(self) -> Calling:
        """The program and what is beside it."""
        return Calling(self.program, self.options)

    @property
    def companions(self) -> tuple[Companion, ...]:
        """The program, its runtime, and the text that steps call around it."""
        return self.calling.companions

    @property
    def loader(self) -> str:
        """What runs the steps of all jobs that name no other shell."""
        return self.calling.loader

    @property
    def _shell_says(self) -> str:
        return LOADS

    def word(self, name: str) -> str:
        """What conditions call a place."""
        return self.calling.word(name)

    def _deciding(self, job: str, name: str, step: Step, *, condition: str, needs: tuple[str, ...]) -> Job:
        """The job that people approve or reject; its one step says why they are asked."""
        return Job(
            id=job,
            name=name,
            steps=(replace(step, shell=PLAIN_SHELL, run=remark(ASKED_LATER)),),
            condition=condition,
            needs=needs,
            environment=self.options.approval_environment,
            timeout=10,
        )


def guide(calling: Calling, *, waits: bool) -> Iterator[str]:
    """What a reader is told of all steps: the lines of the header."""
    called = "the program that `Write the program` puts beside the run" if calling.is_inline else calling.place
    checked = "" if calling.is_inline else " `rdc verify` checks that file as well."
    yield (
        f"Each step calls {called}, which has its own copy of the text below `run:` and runs that copy: it refuses a "
        f"step whose text differs.{checked}"
    )
    if calling.program.contract:
        yield "A run that fails ends red. Its summary says how to continue: no completed step runs again."
    elif waits:
        yield (
            "STOP ends red, and so does a run that waits. Its summary says how to continue: no completed step runs "
            "again."
        )
    if calling.program.limit:
        yield f"A run stops where it would take more than {calling.program.limit} steps."
    if _goes_on_failing(calling.program):
        yield "A step whose command fails stays green where the run goes on: its output `next` says with which step."


def _goes_on_failing(program: Program) -> bool:
    """Whether the run may go on after a command has failed, elsewhere than after it has passed."""
    ends = {node.id for node in program.nodes if isinstance(node.task, End)}
    commands = [node for node in program.nodes if isinstance(node.task, Shell)]
    return any(_after(node, Verdict.FAIL) - _after(node, Verdict.PASS) - ends - {node.id} for node in commands)


def _after(node: Node, outcome: Verdict) -> set[str]:
    """Where a run may go after an outcome."""
    return {edge.target for edge in node.edges if may_follow(edge, outcome)}


def remark(text: str) -> str:
    """What a step shows that runs nothing of its own: a comment."""
    return as_comments([text]).rstrip("\n")


def shown_call(call: str) -> str:
    """What a step shows that calls nothing of the document."""
    return remark(_SHOWN[call])


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
    own = input_names(inputs)  # GitHub tells neither inputs nor variables apart by case
    names = {
        item.name: item.name if own[item.name] == item.name and item.name.isidentifier() else str(number)
        for number, item in enumerate(inputs, 1)
    }
    declared = tuple(item for item in inputs if is_given or options.is_of_event(item.name))
    return given(declared, events, options, names)


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
    """Writes the run summary, and keeps what others go on with; nothing of the workspace runs any more."""
    says = ("This step alone has all secrets, to hide them, and runs nothing of the workspace.",) if secrets else ()
    return Step(
        CLOSED,
        CLOSE,
        comments=says,
        condition="${{ !cancelled() }}",
        env={**env, **masked(secrets)},
        run=shown_call(CLOSE),
    )
