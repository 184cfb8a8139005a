"""A workflow of native steps whose questions reviewers of an environment answer, between its jobs."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, repeat

from msgspec.structs import replace

from backends.base import about_option
from backends.common.identifiers import identifiers
from backends.common.remarks import printable
from backends.common.templates import render
from backends.github.native.choice import Runbook
from backends.github.native.decisions import LONGEST_NAME, Carried, Decided, Part, rejected
from backends.github.native.ends import AS_TEXT, Ends, as_text
from backends.github.native.nodes import OUTPUTS, Nodes, marked_title
from backends.github.workflow.document import deciding, needs_reviewers, reviewers_step, told
from backends.github.workflow.filling import as_words, uncertain, values_in, values_of
from backends.github.workflow.transitions import transitions_from, verdict_words
from backends.github.yaml.model import PLAIN_SHELL, WORDS, Job, Step
from backends.github.yaml.pins import pins
from backends.github.yaml.scalar import Alias, Expression, evaluated, scalar
from backends.scheduling.plan import make_plan
from compiler.diagnostics.model import Diagnostic
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Ask
from compiler.text.regex import Regex

FIRST = "github.run_attempt == 1"
"""Holds in the first attempt of a run (T-23)."""

_MINUTES = 5  # the time limit of a job that only decides; waiting for the decision does not count

_LOGS_IN = Regex(
    r"(?i)(aws-actions/(configure-aws-credentials|amazon-ecr-login)|google-github-actions/auth|azure/.*login"
    r"|docker/login-action)@.*"
)
"""Actions that log in to a cloud or a registry."""


class Approvals(Runbook, frozen=True, dict=True):
    """The workflow of a document without slots. Each of its `parts` is a job, after a job that decides about it."""

    document: Program
    parts: Sequence[Part]

    @property
    def names(self) -> Mapping[str, Node]:
        """The nodes by the ids of their steps."""
        return {self.plan.ids.nodes[node.id]: node for node in self.document.nodes}

    @property
    def shell(self) -> str:
        """The shell of all jobs."""
        return PLAIN_SHELL

    @property
    def _guide(self) -> str:
        return deciding(self.environments)

    @property
    def environments(self) -> Sequence[str]:
        """The environments whose reviewers decide."""
        return list(dict.fromkeys(part.environment for part in self.decided))

    @property
    def decided(self) -> Sequence[Decided]:
        """The parts after a question."""
        return [part for part in self.parts if isinstance(part, Decided)]

    @cached_property
    def values(self) -> Carried:
        """Where the values of inputs and outputs come from."""
        named = [*map(self._first, self.parts), *(f"decide {part.after.id}" for part in self.decided)]
        found = [*identifiers(((str(at), name) for at, name in enumerate(named)), ["rerun"]).values()]
        jobs = dict(zip(self.parts, found, strict=False))
        decisions = dict(zip(self.decided, found[len(jobs) :], strict=True))
        repeats = not values_of(self.program)
        plans = {part: make_plan(part.program, self.plan.ids, WORDS, repeats=repeats) for part in self.parts}
        return Carried(self.program, jobs, decisions, plans)

    def _first(self, part: Part) -> str:
        return next((self.plan.ids.nodes[node.id] for node in part.commands), f"ask {part.program.entry}")

    @cached_property
    def jobs(self) -> Sequence[Job]:
        """The parts, the decisions between them, and the jobs after a NO and in a re-run."""
        found = [self._part(self.parts[0])]
        for part in self.decided:
            found += [self._decide(part), *([self._part(part)] if part.works else [])]
        return [*_sharing(found), *map(self._rejected, self.decided), _rerun(job.id for job in found)]

    def findings(self) -> Iterator[Diagnostic]:
        """Yield the environments that need reviewers, and actions that log in (T-24, T-27)."""
        yield needs_reviewers(self.decided[0].after, self.environments, ", or use `prompts: answers`")
        if not self._carries_all or not any(map(self._keeps, self.parts)):
            return
        for number, uses in enumerate(step.uses or "" for step in self.options.setup):
            if _LOGS_IN.fullmatch(uses):
                problem = f"`{uses.partition('@')[0]}` may write credentials into the workspace that is kept"
                remedy = "list the files for later steps in the option `carry`; `false` means none"
                yield about_option(self.program, ("setup", str(number), "uses"), "RD528", problem, remedy)

    def _part(self, part: Part) -> Job:
        values, steps = self.values, tuple(self._steps_of(part))
        needed = {} if isinstance(part, Decided) else {"actions": "read whether the environment has reviewers"}
        question = next((f"Question of step {node.id}" for node in part.questions), "")
        return Job(
            id=values.jobs[part],
            name=values.name(part, part.commands[0]) if part.commands else question,
            condition=FIRST,
            needs=(values.decisions[part],) if isinstance(part, Decided) else (),
            steps=steps,
            environment=self.options.environment or "",
            permissions=tuple(self._permissions(steps, **needed)),
            outputs={
                "workspace": evaluated("steps.keep.outputs.artifact-id"),
                **{values.decisions[to]: evaluated(values.when(to)) for to in self.decided if to.above is part},
                **values.handed_on(part),
            },
            env={**self._own_variables(part.commands), **values.variables(part, steps), **self.options.env},
        )

    def _steps_of(self, part: Part) -> Iterator[Step]:
        plan = self.values.plans[part]
        if not isinstance(part, Decided):
            yield reviewers_step(self.environments, ", or compile with -O prompts=answers")
            yield from self._start()
        if part.commands:
            yield from self._workspace(part)
            yield from self.values.taken(part) if isinstance(part, Decided) else ()
            yield from self._set_up()
        outputs = self.values.outputs if part.sets else ()
        yield from Nodes(plan, self.options.summary, self.secrets, outputs).steps()
        yield from Ends(plan, headed=self.options.summary, given=self.values.shown(part)).steps()
        if self._keeps(part):
            when = [self.values.when(to) for to in self.decided if to.above is part]
            yield from self._kept(part, "" if "true" in when else " || ".join(when))
        for to in self.decided:
            if to.above is part:
                yield self._question(to)
        if part.commands:
            yield from self._summary(plan)

    @property
    def _carries_all(self) -> bool:
        return self.options.carried == ["."]

    def _checks_out(self, part: Part) -> bool:
        """Return whether a part checks out the repository: the first with commands, or all without the workspace."""
        return self.options.checkout and bool(part.commands) and (not self._carries_all or not part.source)

    def _keeps(self, part: Part) -> bool:
        return bool(self.options.carried) and any(one.commands and one.source is part for one in self.parts)

    def _workspace(self, part: Part) -> Iterator[Step]:
        if self._checks_out(part):
            yield self._checkout()
        source = part.source
        if source and self._keeps(source):
            pin = pins()["download-artifact"]
            artifact = evaluated(f"needs.{self.values.jobs[source]}.outputs.workspace")
            inputs = {"artifact-ids": artifact, "path": evaluated("runner.temp")}
            yield Step("Load the workspace", uses=pin.reference, version=pin.version, inputs=inputs)
            clear = "" if self._checks_out(part) or self.options.is_hosted else "find . -mindepth 1 -delete && "
            yield Step("Unpack the workspace", run=f'{clear}tar -xf "$RUNNER_TEMP/workspace.tar"')

    def _kept(self, part: Part, condition: str) -> Iterator[Step]:
        """Yield the steps that keep the workspace for the parts after a decision (T-24)."""
        paths = shlex.join(self.options.carried)
        if secrets := self.secrets.all:
            env, run = {"RDC_NAMES": " ".join(secrets), **secrets}, render("github/leaks.sh", paths=paths)
            yield Step("Refuse to keep a workspace with a secret", condition=condition, env=env, run=run)
        run = f'tar -cf "$RUNNER_TEMP/workspace.tar" {paths}'
        yield Step("Pack the workspace for the steps after the decision", condition=condition, run=run)
        pin = pins()["upload-artifact"]
        inputs = {
            "name": f"workspace-{self.values.jobs[part]}",
            "path": Expression("${{ runner.temp }}/workspace.tar"),
            "retention-days": Expression(str(self.options.decide_within)),
        }
        yield Step("Keep the workspace", "keep", (), condition, uses=pin.reference, version=pin.version, inputs=inputs)

    def _question(self, to: Decided) -> Step:
        """Return the step that shows a question on the run's page (T-26)."""
        values, task = self.values, to.after.task
        title = marked_title(to.after, longest=LONGEST_NAME)
        text = "\n\n".join(str(part) for part in (task.prompt, task.block) if part) if isinstance(task, Ask) else ""
        used, given = f"{title}\n{text}", values.shown(to.above)
        shown = uncertain(used) | {name: given[name] for name in given if name in values_in(used)}
        shown |= {name: given[name] for name in values.may_be_set(to.above)}
        lines = [as_words(used, _as_document).strip()]
        if outputs := [name for name in values.outputs if name in shown]:
            lines.append("\n" + ", ".join(f"{_as_document(name)} = ${name}" for name in outputs))
        end = "QUESTION"
        while end in "\n".join(lines).split("\n"):
            end += "_"
        yes, no = verdict_words(to.after)
        days, is_bsd = self.options.decide_within, "macos" in str(self.options.runs_on)
        when = values.when(to)
        return Step(
            name=f"Question of step {to.after.id}, for the run's page",
            condition="" if when == "true" else when,
            env=shown,
            run=render(
                "github/question.sh",
                names=list(dict.fromkeys((*shown, *values_in(used)))),
                as_text=AS_TEXT,
                lines="\n".join(line.rstrip() for each in lines for line in each.split("\n")),
                end=end,
                words=f"Approve means {yes}, Reject means {no}.",
                late=f"-v+{days}d" if is_bsd else f"-d '+{days} days'",
            ),
        )

    def _decide(self, part: Decided) -> Job:
        id_, name, when = self.values.decisions[part], part.environment, self.values.when(part)
        approved = Step(
            name="Stop unless a person approved",
            id="approved",
            comments=("GitHub lets every job into an environment without reviewers.",),
            env={"GH_TOKEN": evaluated("github.token")},
            run=render("github/approved.sh", name=shlex.quote(name), shown=told(name), count=part.count),
        )
        asked = "" if when == "true" else f" && needs.{self.values.jobs[part.above]}.outputs.{id_} == 'true'"
        yes, no = verdict_words(part.after)
        job = Job(
            id=id_,
            name=self.values.name(part, part.after),
            steps=(approved, *(() if part.works else self._ends(part, part.program))),
            comments=(
                f"Waits until a reviewer of the environment `{name}` approves ({yes}) or rejects ({no}).",
                *transitions_from(part.after, self.document.index()),
            ),
            needs=(self.values.jobs[part.above],),
            condition=f"{FIRST}{asked}",
            timeout=_MINUTES,
            environment=name,
            permissions=(("actions", "read", "read who approved"),),
            outputs={"started": evaluated("steps.approved.outputs.started")},
        )
        return replace(job, env=self.values.inputs_in(job.steps))

    def _rejected(self, part: Decided) -> Job:
        decision = self.values.decisions[part]
        steps = tuple(self._ends(part, rejected(self.document, part.after)))
        failed = f"needs.{decision}.result == 'failure' && needs.{decision}.outputs.started != 'yes'"
        return Job(
            id=decision.replace("decide", "rejected", 1),
            name=f"{verdict_words(part.after)[1]} to step {part.after.id}",
            steps=steps,
            needs=(decision,),
            condition=f"failure() && {failed}",
            timeout=_MINUTES,
            env=self.values.inputs_in(steps),
        )

    def _ends(self, part: Decided, program: Program) -> Iterator[Step]:
        """Yield the ends of a job that decides, which needs no part, or of one after a NO."""
        given = self.values.shown(part, own=False)
        return Ends(make_plan(program, self.plan.ids, WORDS), headed=self.options.summary, given=given).steps()


def _rerun(ids: Iterable[str]) -> Job:
    reason = "Completed steps would run again. Start a new run of this workflow instead."
    return Job(
        id="rerun",
        name="Start the workflow again instead",
        steps=(Step("Refuse to run jobs again", run=f"echo '::error::{reason}'\nexit 1\n"),),
        needs=tuple(ids),
        condition="${{ !cancelled() && github.run_attempt != 1 }}",
        timeout=_MINUTES,
    )


def _sharing(jobs: Sequence[Job]) -> Sequence[Job]:
    """Return jobs. If several have the script for outputs, the first contains it, and others refer to it."""
    runs = [step.run for job in jobs for step in job.steps if step.name == OUTPUTS.name]
    if not runs[1:]:
        return jobs
    aliases = chain([Alias(f"&outputs {scalar(runs[0], 10)}")], repeat(Alias("*outputs")))

    def shared(step: Step) -> Step:
        return replace(step, run=next(aliases)) if step.run == runs[0] else step

    return [replace(job, steps=tuple(map(shared, job.steps))) for job in jobs]


def _as_document(text: str) -> str:
    shown = "\n".join(re.sub(r"^(\s*)([-+=])", r"\1\\\2", as_text(printable(line))) for line in text.split("\n"))
    return re.sub(r"[\\$`]", r"\\\g<0>", shown)
