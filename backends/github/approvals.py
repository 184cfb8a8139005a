"""A workflow of native steps whose questions reviewers of an environment answer, between its jobs (T-20 to T-30)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from urllib.parse import quote

from msgspec.structs import replace

from backends.base import about_node, about_option
from backends.github.decisions import Part, rejected, setters
from backends.github.ends import AS_TEXT, Ends, as_text
from backends.github.filling import as_words, as_written, filled_with, marked_title, quoted, values_in, values_of
from backends.github.identifiers import identifiers
from backends.github.native import Runbook
from backends.github.nodes import Nodes
from backends.github.options import Concurrency, GithubOptions
from backends.github.pins import pins
from backends.github.question import verdict_words
from backends.github.scalar import Expression, label
from backends.github.shells import may_use
from backends.github.step import PLAIN_SHELL, Job, Step, compare
from backends.github.workflow import OPTION, referring
from backends.remarks import listed, printable
from backends.scheduling.condition import TRUE, Condition, expression
from backends.scheduling.plan import Plan, make_plan
from backends.templating import render
from compiler.diagnostic import Diagnostic
from compiler.ir.program import Node
from compiler.ir.tasks import Ask, Shell
from compiler.regex import Regex
from runtime_shim.targets.naming import name_in_words

FIRST = "github.run_attempt == 1"
"""Holds in a run that nobody has run again (T-23)."""

_MINUTES = 5
"""The time limit of a job that only decides. Waiting for the decision does not count."""

_SHOWN_NAME = 200

_LOGS_IN = Regex(
    r"(?i)(aws-actions/(configure-aws-credentials|amazon-ecr-login)|google-github-actions/auth|azure/.*login|docker/login-action)@"
)
"""Actions that log in to a cloud or a registry."""

_READS = (("actions", "read", "read who approved"),)


class Approvals(Runbook, frozen=True, dict=True):
    """The workflow. `parts` are the parts of the plan's program; `document` has its values."""

    parts: Sequence[Part] = ()

    @property
    def loader(self) -> str:
        """The shell of all jobs."""
        return PLAIN_SHELL

    @property
    def _concurrency(self) -> Concurrency:
        return (
            Concurrency(group=label(self.program.name)) if "workflow_call" not in self.events else super()._concurrency
        )

    @property
    def _guide(self) -> str:
        named = listed([f"`{name}`" for name in self.environments])
        one = "an environment" if len(self.environments) == 1 else "environments"
        return f"Deciding needs {one} named {named} with required reviewers (Settings > Environments)."

    @cached_property
    def environments(self) -> Sequence[str]:
        """The environments whose reviewers decide."""
        return list(dict.fromkeys(part.environment for part in self.parts[1:]))

    @property
    def working(self) -> Sequence[Part]:
        """The parts that are jobs."""
        return [part for part in self.parts if part.works or part.above is None]

    @cached_property
    def ids(self) -> Mapping[int, str]:
        """The ids of the parts' jobs, by the position of the part: the id of its first step."""
        steps = ((str(at), self._first(part)) for at, part in enumerate(self.parts))
        return {int(at): name for at, name in identifiers(steps, ["rerun"]).items()}

    @cached_property
    def decisions(self) -> Mapping[int, str]:
        """What the ids of the jobs that decide end with, by the positions of the parts after them."""
        names = ((str(at), f"q {part.after.id}") for at, part in enumerate(self.parts) if part.after)
        return {int(at): name.removeprefix("q_") for at, name in identifiers(names, ()).items()}

    def _job(self, part: Part) -> str:
        return self.ids[self.parts.index(part)]

    def _first(self, part: Part) -> str:
        node = next(iter(part.commands), None)
        return self.plan.ids.nodes[node.id] if node else f"ask {next((one.id for one in part.questions), 'end')}"

    @cached_property
    def plans(self) -> Sequence[Plan]:
        """The plans of the parts."""
        return [make_plan(part.program, self.plan.ids) for part in self.parts]

    @cached_property
    def jobs(self) -> Sequence[Job]:
        """The parts, the decisions between them, and what happens after a NO and when somebody runs jobs again."""
        found = [self._part(0)]
        found += [job for at in range(1, len(self.parts)) for job in self._after(at)]
        found += [self._rejected(at) for at in range(1, len(self.parts))]
        found.append(self._rerun([job.id for job in found if job.condition.startswith(FIRST)]))
        return referring(*found)

    def _after(self, at: int) -> Iterator[Job]:
        yield self._decide(at)
        if self.parts[at].works:
            yield self._part(at)

    def findings(self) -> Iterator[Diagnostic]:
        """Yield what people have to set up, and what the workspace should not have (T-24, T-27)."""
        asked = [part.after for part in self.parts if part.after]
        named = listed([f"`{name}`" for name in self.environments])
        plural = "s" if self.environments[1:] else ""
        problem = f"step {asked[0].id} waits for a reviewer: the workflow needs the environment{plural} {named}"
        remedy = (
            "on GitHub, create it under Settings > Environments with required reviewers (in a private repository only "
            "with GitHub Enterprise), or use `prompts: answers`"
        )
        yield about_node(asked[0], "RD527", problem, remedy)
        if self.options.carry is True and any(map(self._keeps, self.parts)):
            for number, step in enumerate(self.options.setup):
                if _LOGS_IN.match(step.uses or ""):
                    problem = (
                        f"`{(step.uses or '').partition('@')[0]}` may write credentials into the workspace that is kept"
                    )
                    remedy = "list what later steps need in the option `carry`, or write `carry: false`"
                    yield about_option(self.program, ("setup", str(number), "uses"), "RD528", problem, remedy)

    # --- Values -------------------------------------------------------------------------------------------------------

    @cached_property
    def _setters(self) -> Mapping[str, frozenset[str]]:
        return setters(self.program)

    @cached_property
    def _inputs(self) -> Sequence[str]:
        return [declared.name for declared in self.program.inputs]

    def _value(self, at: int, name: str, before: str = "", *, own: bool = True) -> str:
        """Return an output as it is in a part: of its own steps up to a node, or of the last job that has set it."""
        terms: list[str] = []
        for place in self.plans[at].places if own else ():
            if place.name == before:
                break
            if place.name in self._setters[name]:
                terms.insert(0, f"steps.{self.plan.ids.nodes[place.name]}.outputs.{name}")
        above = self.parts[at].above
        for part in above.path if above else ():
            terms += [f"needs.{self._job(part)}.outputs.{name}"] if self._sets(part, name) else []
        return " || ".join(terms)

    def _outputs(self, at: int, *, own: bool = True) -> dict[str, str]:
        """Return the outputs that may have a value in a part, as expressions."""
        found = {name: self._value(at, name, own=own) for name in values_of(self.program)}
        return {name: value for name, value in found.items() if value}

    def _shown(self, at: int, *, own: bool = True) -> dict[str, str]:
        """Return expressions for messages, in which an output without a value is in braces (T-25)."""
        found = {}
        for name in values_of(self.program):
            value, missing = self._value(at, name, own=own), quoted(f"{{{{{name}}}}}")
            found[name] = Expression(f"${{{{ {f'{value} || ' if value else ''}{missing} }}}}")
        return found

    def _called(self, at: int, marked: str) -> str:
        """Return a name for a job: a job's name can have outputs of other jobs, but no variables."""
        inputs = self._checked_inputs() if at else {name: f"{{{{{name}}}}}" for name in self._inputs}
        return filled_with(" ".join(marked.split()), {**inputs, **self._shown(at, own=False)})

    def _marked(self, node: Node) -> str:
        """Return a node's id and title, with marks."""
        known = self.program.index()[node.id]
        return label(name_in_words(known.id, marked_title(known, self.program)), _SHOWN_NAME)

    # --- Jobs ---------------------------------------------------------------------------------------------------------

    def _part(self, at: int) -> Job:
        part = self.parts[at]
        first = next(iter(part.commands), None)
        asks = f"Question of step {part.questions[0].id}" if part.questions else "End"
        outputs = {
            self._asks(at, one): Expression(f"${{{{ {when} }}}}") for one, when in self._conditions(at).items() if when
        }
        keeps = {"workspace": Expression("${{ steps.keep.outputs.artifact-id }}")} if self._keeps(part) else {}
        own = {name: self._value(at, name) for name in self._outputs(at) if self._sets(part, name)}
        given = {name: Expression(f"${{{{ env.{name} }}}}") for name in self._inputs if at == 0}
        return Job(
            id=self.ids[at],
            name=self._called(at, self._marked(first)) if first else asks,
            condition=FIRST,
            needs=(f"decide_{self.decisions[at]}",) if at else (),
            steps=tuple(self._filled(step) for step in self._steps_of(at)),
            environment=self.options.environment or "",
            permissions=tuple(self._granted(at)),
            outputs={
                **keeps,
                **outputs,
                **given,
                **{name: Expression(f"${{{{ {value} }}}}") for name, value in own.items()},
            },
            env={
                **self._own_variables(part.commands),
                **(self._checked_inputs() if at and part.commands else {}),
                **self._environment(),
            },
        )

    def _sets(self, part: Part, name: str) -> bool:
        return any(node.id in self._setters[name] for node in part.commands)

    def _checked_inputs(self) -> dict[str, str]:
        """Return the inputs as outputs of the first job, which has checked them."""
        return {name: Expression(f"${{{{ needs.{self.ids[0]}.outputs.{name} }}}}") for name in self._inputs}

    def _granted(self, at: int) -> Iterator[tuple[str, str, str]]:
        """Yield the permissions of a part's token: the ones of the options, and those that its own steps need."""
        checks_out = self._checks_out(self.parts[at])
        for scope, access, why in self._permissions():
            if scope == "actions" and not at and access == "read":
                continue
            if (scope, access) != ("contents", "read"):
                yield scope, access, why
            elif checks_out or self.options.permissions != GithubOptions().permissions:
                yield scope, access, why if checks_out else OPTION
        if not at and self.options.permissions.get("actions") != "write":
            yield "actions", "read", "read whether the environment has reviewers"

    def _conditions(self, at: int) -> dict[str, str]:
        """Return when a part comes to each of its questions; "" if it always does."""
        flow = self.plans[at].flow
        return {node.id: _said(flow.reached[node.id]) for node in self.parts[at].questions if node.id in flow.reached}

    def _asks(self, at: int, question: str) -> str:
        """Return the id of the job that decides about a question of a part."""
        after = next(
            to
            for to, part in enumerate(self.parts)
            if part.above is self.parts[at] and part.after and part.after.id == question
        )
        return f"decide_{self.decisions[after]}"

    # --- Steps of a part ----------------------------------------------------------------------------------------------

    def _steps_of(self, at: int) -> Iterator[Step]:
        part, plan = self.parts[at], self.plans[at]
        if not at:
            yield self._guard()
            yield from self._start()
        if part.commands:
            yield from self._workspace(part)
            yield from self._set_up()
        for step in Nodes(plan, self._shells, self._secrets, ()).steps():
            yield self._named(at, step)
        yield from Ends(plan, told=self.options.summary, given=self._shown(at)).steps()
        if self._keeps(part):
            yield from self._kept(at)
        for question in part.questions:
            yield self._question(at, question)
        if part.commands:
            yield from self._summary(plan)

    def _guard(self) -> Step:
        names = [(name, quote(name, safe=""), _in_log(name)) for name in self.environments]
        return Step(
            name="Stop if the environment would ask no one"
            if len(names) == 1
            else "Stop if an environment would ask no one",
            comments=("If the API does not answer, the jobs that decide still need an approval.",),
            env={"GH_TOKEN": Expression("${{ github.token }}")},
            run=render("github/reviewers.sh", names=names),
        )

    def _named(self, at: int, step: Step) -> Step:
        """Return a step of a node with its outputs: as variables, in its title, and as `RDC_OUTPUT` if it sets any."""
        node = next((node for node in self.parts[at].commands if self.plan.ids.nodes[node.id] == step.id), None)
        if node is None or not isinstance(node.task, Shell) or not self._setters:
            return step
        command, env = str(node.task.command), {}
        for name in self._setters:
            value = self._value(at, name, node.id)
            if value and may_use(command, name):
                env[name] = Expression(f"${{{{ {value} }}}}")
        sets = any(node.id in found for found in self._setters.values())
        run = f'export RDC_OUTPUT="$GITHUB_OUTPUT"\n{step.run}' if sets else step.run
        title = self._marked(node)
        shown = {
            name: Expression(f"${{{{ {self._value(at, name, node.id) or quoted(name)} }}}}") for name in self._setters
        }
        inputs = {name: f"${{{{ env.{name} }}}}" for name in self._inputs}
        name = filled_with(title, {**shown, **inputs}) if step.name == label(as_written(title)) else step.name
        return replace(
            step, name=name, run=run if run.endswith("\n") or "\n" not in run else run + "\n", env={**env, **step.env}
        )

    def _checks_out(self, part: Part) -> bool:
        """Return whether a part checks out the repository: the first with commands, or all without the workspace."""
        is_first = not any(one.commands for one in part.path if one is not part)
        return self.options.checkout and bool(part.commands) and (is_first or self.options.carry is not True)

    def _source(self, part: Part) -> Part | None:
        """Return the part whose workspace a part loads."""
        return next((one for one in part.path if one is not part and one.commands), None)

    def _keeps(self, part: Part) -> bool:
        """Return whether a later part loads the workspace of a part."""
        if not part.commands or self.options.carry in (False, []):
            return False
        return any(one.commands and self._source(one) is part for one in self.parts)

    def _workspace(self, part: Part) -> Iterator[Step]:
        if self._checks_out(part):
            yield self._checkout()
        source = self._source(part)
        if source is None or not self._keeps(source):
            return
        pin = pins()["download-artifact"]
        artifact = Expression(f"${{{{ needs.{self._job(source)}.outputs.workspace }}}}")
        inputs = {"artifact-ids": artifact, "path": Expression("${{ runner.temp }}")}
        yield Step("Load the workspace", uses=pin.reference, version=pin.version, inputs=inputs)
        clear = "" if self._checks_out(part) or self.options.is_hosted else "find . -mindepth 1 -delete && "
        yield Step("Unpack the workspace", run=f'{clear}tar -xf "$RUNNER_TEMP/workspace.tar"')

    def _kept(self, at: int) -> Iterator[Step]:
        """Yield the steps that keep the workspace for the parts after a decision (T-24)."""
        when = [self._conditions(at)[one.id] for one in self.parts[at].questions if one.id in self._conditions(at)]
        condition = "" if "" in when else " || ".join(when)
        paths = shlex.join(self.options.carry if isinstance(self.options.carry, list) else ["."])
        if self._secrets.all:
            yield Step(
                "Refuse to keep a workspace with a secret",
                condition=condition,
                env={"NAMES": " ".join(self._secrets.all), **self._secrets.all},
                run=render("github/leaks.sh", paths=paths),
            )
        yield Step(
            "Pack the workspace for the steps after the decision",
            condition=condition,
            run=f'tar -cf "$RUNNER_TEMP/workspace.tar" {paths}',
        )
        pin = pins()["upload-artifact"]
        yield Step(
            "Keep the workspace",
            id="keep",
            condition=condition,
            uses=pin.reference,
            version=pin.version,
            inputs={
                "name": f"workspace-{self.ids[at]}",
                "path": Expression("${{ runner.temp }}/workspace.tar"),
                "retention-days": Expression(str(self.options.decide_within)),
            },
        )

    def _question(self, at: int, question: Node) -> Step:
        """Return the step that shows a question on the page of the run (T-26)."""
        title, task = self._marked(question), question.task
        assert isinstance(task, Ask)  # noqa: S101 (tells mypy)
        text = f"{task.prompt}\n\n{task.block}" if task.block else str(task.prompt)
        shown, values = self._shown(at), self._outputs(at)
        told = [name for name in shown if name in values or name in {**values_in(title), **values_in(text)}]
        names = [*told, *(name for name in self._inputs if name in {**values_in(title), **values_in(text)})]
        lines = [
            f"### Decide: {as_words(title, _as_document)}",
            *(line.rstrip() for line in as_words(text, _as_document).strip().splitlines()),
        ]
        if told:
            lines += ["", ", ".join(f"{_as_document(name)} = ${name}" for name in told)]
        yes, no = verdict_words(question)
        end = "QUESTION"
        while end in lines:
            end += "_"
        return Step(
            name=f"Question of step {question.id}, for the page of the run",
            condition=self._conditions(at).get(question.id, "false"),
            env={name: shown[name] for name in told},
            run=render(
                "github/question.sh",
                names=names,
                as_text=AS_TEXT,
                lines=lines,
                end=end,
                yes=yes,
                no=no,
                late=self._late,
            ),
        )

    @property
    def _late(self) -> str:
        """The arguments of `date` for the end of the time for a decision."""
        days = self.options.decide_within
        return f"-v+{days}d" if "macos" in str(self.options.runs_on) else f"-d '+{days} days'"

    # --- Other jobs ---------------------------------------------------------------------------------------------------

    def _decide(self, at: int) -> Job:
        part = self.parts[at]
        above = self.parts.index(part.above) if part.above else 0
        assert part.after is not None  # noqa: S101 (tells mypy)
        id_, when = f"decide_{self.decisions[at]}", self._conditions(above).get(part.after.id)
        asked = f" && needs.{self.ids[above]}.outputs.{id_} == 'true'" if when else ""
        name = part.environment
        yes, no = verdict_words(part.after)
        ends = (
            ()
            if part.works
            else Ends(self.plans[at], told=self.options.summary, given=self._shown(at, own=False)).steps()
        )
        approved = Step(
            name="Stop unless a person approved",
            id="approved",
            comments=("GitHub lets every job into an environment without reviewers.",),
            env={"GH_TOKEN": Expression("${{ github.token }}")},
            run=render("github/approved.sh", name=shlex.quote(name), shown=_in_log(name), count=part.count),
        )
        steps = (approved, *ends)
        return Job(
            id=id_,
            name=self._called(at, self._marked(part.after)),
            comments=(f"Waits until a reviewer of the environment `{name}` approves ({yes}) or rejects ({no}).",),
            needs=(self.ids[above],),
            condition=f"{FIRST}{asked}",
            timeout=_MINUTES,
            environment=name,
            permissions=_READS,
            outputs={"started": Expression("${{ steps.approved.outputs.started }}")},
            steps=steps,
            env=self._inputs_in(steps),
        )

    def _inputs_in(self, steps: Iterable[Step]) -> dict[str, str]:
        """Return the inputs that some messages show."""
        shown = " ".join(step.run for step in steps)
        return {name: value for name, value in self._checked_inputs().items() if re.search(rf"\$\{{?{name}\b", shown)}

    def _rejected(self, at: int) -> Job:
        part, decision = self.parts[at], self.decisions[at]
        assert part.after is not None  # noqa: S101 (tells mypy)
        plan = make_plan(rejected(self.plan.program, part.after), self.plan.ids)
        steps = list(Ends(plan, told=True, given=self._shown(at, own=False)).steps())
        return Job(
            id=f"rejected_{decision}",
            name=f"{verdict_words(part.after)[1]} to step {part.after.id}",
            needs=(f"decide_{decision}",),
            condition=(
                f"failure() && needs.decide_{decision}.result == 'failure' && "
                f"needs.decide_{decision}.outputs.started != 'yes'"
            ),
            timeout=_MINUTES,
            steps=tuple(steps),
            env=self._inputs_in(steps),
        )

    @staticmethod
    def _rerun(ids: Sequence[str]) -> Job:
        said = "Completed steps would run again. Start a new run of this workflow instead."
        return Job(
            id="rerun",
            name="Start the workflow again instead",
            comments=("A re-run would repeat completed steps, or use an approval twice.",),
            needs=tuple(ids),
            condition="${{ !cancelled() && github.run_attempt != 1 }}",
            timeout=_MINUTES,
            steps=(Step("Refuse to run jobs again", run=f"echo '::error::{said}'\nexit 1\n"),),
        )


def _said(condition: Condition) -> str:
    return "" if condition == TRUE else expression(condition, compare)


def _in_log(name: str) -> str:
    """Return an environment's name for a command to the runner, in single quotes of bash."""
    return name.replace("%", "%25").replace("'", "'\\''")


def _as_document(text: str) -> str:
    """Return Markdown of the author as text in a here-document: what bash, Markdown or HTML would read is escaped."""
    shown = "\n".join(re.sub(r"^(\s*)([-+=])", r"\1\\\2", as_text(printable(line))) for line in text.split("\n"))
    return re.sub(r"[\\$`]", r"\\\g<0>", shown)
