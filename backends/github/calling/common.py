"""The common parts of workflows that call the program: the call, and the steps around those of the document."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec.structs import replace

from backends.base import Companion
from backends.common.identifiers import CLOSED
from backends.common.remarks import ending_words
from backends.github.calling import artifacts
from backends.github.calling.artifacts import TOKEN
from backends.github.calling.program import Calling, plain_name
from backends.github.calling.steps import CALLS, CHECK, CLOSE, OPEN, lines_of, masked
from backends.github.options.triggers import OF_PULL_REQUESTS
from backends.github.workflow.document import (
    REASON_TO_ASK,
    USUAL,
    Written,
    deciding,
    missing,
    needs_reviewers,
    reviewers_step,
)
from backends.github.workflow.inputs import GIVING, given, input_names, measured, said
from backends.github.yaml.model import CALLING_SHELL, Job, Step
from backends.github.yaml.scalar import Alias, evaluated, label, scalar
from compiler.diagnostics.model import Diagnostic
from compiler.ir.tasks import Shell

ASKED_LATER = "echo 'The next job asks GitHub who approved, and fails if no one did.'"

_ANCHORED = (
    "Each step with `rdc` runs this script: it checks the program's hash, and runs the bytes that it has checked.",
    "`bash -p` and `python3 -I` read no start-up files that earlier steps name in the environment.",
)


class CallsProgram(Written, frozen=True, dict=True):
    """The common parts of workflows whose steps call the program."""

    @cached_property
    def calling(self) -> Calling:
        """The program and its companion files."""
        return Calling(self.program, self.options)

    @property
    def companions(self) -> tuple[Companion, ...]:
        """The program, its runtime, and the script for other steps."""
        return self.calling.companions

    @property
    def shell(self) -> str:
        """The shell of all jobs that set no other."""
        return CALLING_SHELL

    @property
    def minutes(self) -> int:
        """The time limit of a job. The state of a run is saved at its end."""
        return self.options.timeout_minutes or 360

    def _granted(self, steps: Sequence[Step], *, reviews: bool, continues: bool) -> Iterator[tuple[str, str, str]]:
        """Yield the permissions of a job that reads the run's reviews, or a run to continue."""
        compares = continues and not self.options.checkout
        needed = {"contents": "compare the commit of the waiting run"} if compares else {}
        if reviews or continues:
            needed["actions"] = REASON_TO_ASK if reviews else "check the waiting run and load its state"
        return self._permissions(steps, **needed)

    def _guarded(self) -> Iterator[Job]:
        own = Alias(f"&rdc {scalar(self.calling.loader, 10)}")
        for job in super()._guarded():
            steps = []
            for step in job.steps:
                has_anchor = step.run is CALLS is not own
                run, comments = (own, (*_ANCHORED, *step.comments)) if has_anchor else (step.run, step.comments)
                own = CALLS if has_anchor else own
                steps.append(replace(step, run=run, comments=comments))
            yield replace(job, steps=tuple(steps))

    @property
    def _guide(self) -> str:
        return "\n".join(self._explained())

    def _begun(self) -> Iterator[Step]:
        """Yield the steps of the first job before the run: they check and load a waiting one, and get inputs."""
        yield from self.calling.written()
        if self.waits:
            resumed = {"CALL": CHECK, "RDC_RESUME": evaluated("inputs.resume")}
            env = {**resumed, **self._begun_by, "RDC_TOKEN": TOKEN}
            yield Step("Check the waiting run", CHECK, condition="inputs.resume", env=env, run=CALLS)
            yield artifacts.of_another_run()
        yield from measured(self.program.inputs, self._events, self.options, waits=self.waits)
        yield from said(self.program.inputs, self._events, self.options, waits=self.waits)

    @property
    def _begun_by(self) -> dict[str, str]:
        """The events that may have started a continued run, unless that is always by hand."""
        events = sorted({*self.options.triggers(), "workflow_dispatch"} - {"workflow_call"})
        return {"RDC_EVENTS": " ".join(events)} if len(events) > 1 else {}

    @property
    def _opened_with(self) -> dict[str, str]:
        inputs, events = self.program.inputs, self._events
        is_given = not GIVING.isdisjoint(events)
        own = input_names(inputs)  # GitHub ignores case in the names of inputs and variables
        names = {
            item.name: item.name if own[item.name] == item.name and item.name.isidentifier() else str(number)
            for number, item in enumerate(inputs, 1)
        }
        declared = tuple(item for item in inputs if is_given or self.options.is_of_event(item.name))
        return given(declared, events, self.options, names)

    def _told_missing(self, names: Collection[str], environment: str) -> dict[str, str]:
        """Return the names of missing secrets. The step sees no values (I26)."""
        stored = [self.secrets.stored[name] for name in names]
        env = missing(stored, environment, self.events) if names else {}
        return {f"RDC_{name}": text for name, text in env.items()}

    @property
    def _reviewed_in(self) -> dict[str, str]:
        name = self.options.approval_environment
        return {} if name == USUAL.approval_environment else {"RDC_ENVIRONMENT": name}

    def _saying(self, job: str, onward: Sequence[str]) -> Step:
        """Return the step that writes the run summary and saves the run. It runs nothing from the workspace."""
        env: dict[str, str] = {"CALL": f"{CLOSE} {job}", "RDC_ONWARD": lines_of(onward)} if onward else {"CALL": CLOSE}
        if self._gates:
            env |= {"RDC_GATES": lines_of(self._gates)} if self.program.stepspec is None else {}
            env["RDC_APPROVED"] = evaluated(f"steps.{OPEN}.outputs.approved")
        env |= {"RDC_ISSUE": "true"} if self.options.notify_issue else {}
        env |= {"RDC_NAME": plain_name(self.program.name)} if self.program.artifact is not None else {}
        secrets = self.secrets.of(*self.names.values())
        return Step(
            CLOSED,
            CLOSE,
            comments=("This step has all secrets, to hide them in its output.",) if secrets else (),
            condition="${{ !cancelled() }}",
            env={**env, **(self._going_on if self.waits else {}), **masked(secrets)},
            run=CALLS,
        )

    @property
    def _going_on(self) -> dict[str, str]:
        """What another run needs to continue this one. A pull request's ref cannot run again, so it is the branch."""
        env: dict[str, str] = {"RDC_CALLED": "true"} if "workflow_call" in self.events else {}
        if OF_PULL_REQUESTS.isdisjoint(self.events):
            return env
        head = "github.event.pull_request.head"
        branch, repository = f"{head}.ref || github.ref_name", f"{head}.repo.full_name || github.repository"
        return {**env, "RDC_BRANCH": evaluated(branch), "RDC_HEAD": evaluated(repository)}

    def _explained(self) -> Iterator[str]:
        program, is_inline = self.program, self.calling.is_inline
        if self._gates:
            yield deciding([self.options.approval_environment])
        called = "the program from the step `Write the program`" if is_inline else self.calling.place
        yield (
            f"Each step calls {called}, which runs its own copy of the commands and prompts in `env:`. If you edit one "
            f"here, the step fails.{'' if is_inline else ' `rdc verify` checks that file, too.'}"
        )
        if program.stepspec or self.waits:
            red = "A failed run" if program.stepspec else "A run that stops or waits"
            yield f"{red} is red. Its summary shows how to continue it. Completed steps don't run again."
        if program.limit:
            yield f"A run stops after {program.limit} steps."
        yield from ending_words(program)
        if any(isinstance(node.task, Shell) for node in program.nodes):
            yield "A step whose command fails stays green if the run continues. Its output `next` names the next step."

    def needed(self) -> Iterator[Diagnostic]:
        """Yield the diagnostic about the environment whose reviewers decide."""
        if self._gates:
            nodes = [self.program.index()[name] for name in self._gates]
            is_late = any(node.settings.expire for node in nodes)
            late = "; GitHub ends a wait after 30 days, not after `expire`" if is_late else ""
            yield needs_reviewers(nodes[0], [self.options.approval_environment], late)

    def reviewers(self) -> Iterator[Step]:
        """Yield the first step of a workflow whose gates reviewers approve."""
        if self._gates:
            yield reviewers_step([self.options.approval_environment])

    def word(self, name: str) -> str:
        """Return the name of a place in conditions."""
        return self.calling.words[name]

    def _deciding(
        self, job: str, name: str, comments: tuple[str, ...], *, condition: str, needs: tuple[str, ...]
    ) -> Job:
        return Job(
            id=job,
            name=label(name),
            steps=(Step("Approved", comments=comments, run=ASKED_LATER),),
            condition=condition,
            needs=needs,
            environment=self.options.approval_environment,
            timeout=5,
        )


def outputs_of(steps: Mapping[str, str]) -> dict[str, str]:
    """Return the outputs of a job, each from the step that has it."""
    return {name: evaluated(f"steps.{step}.outputs.{name}") for name, step in steps.items()}
