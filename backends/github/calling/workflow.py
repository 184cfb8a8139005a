"""The jobs of a workflow that calls the program: one, or several with approvals between them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from backends.common.identifiers import identifiers_of
from backends.github.calling import artifacts
from backends.github.calling.artifacts import TOKEN
from backends.github.calling.common import CallsProgram, outputs_of
from backends.github.calling.publishing import ABOUT_ISSUES, notified, proposes_changes, publications
from backends.github.calling.remarks import decision, transitions
from backends.github.calling.steps import AROUND, CALLS, CLOSE, OPEN, Places, calls_something, lines_of, option_lines
from backends.github.native.nodes import title
from backends.github.options.model import Called, Concurrency, SetupStep
from backends.github.options.steps import agent_types, callers_of, environments_of
from backends.github.options.triggers import with_inputs
from backends.github.workflow.document import all_of, set_up
from backends.github.workflow.transitions import example
from backends.github.yaml.model import Job, Step
from backends.github.yaml.scalar import Expression, comment, label
from backends.scheduling.jobs import Jobs, Part, Routes, make_routes
from backends.scheduling.places import Place
from compiler.ir.program import Node
from compiler.ir.tasks import Gate
from compiler.passes import optimize

_LONGEST_LABEL = 60


class CallingWorkflow(CallsProgram, frozen=True, dict=True):
    """The workflow of a runbook, a playbook or an agent workflow."""

    @cached_property
    def routes(self) -> Routes:
        """The paths of a run."""
        return make_routes(optimize(self.program, jumps=False))

    @cached_property
    def waits(self) -> bool:
        """Whether a person may have to answer a step."""
        return self.options.prompts != "agent" and any(map(self.routes.may_ask, self.routes.program.nodes))

    @cached_property
    def cut(self) -> Jobs:
        """The places, divided into jobs."""
        return Jobs(
            self.routes,
            waits=self.waits,
            matrices=self.options.parallel == "matrix",
            environments=environments_of(self.program, self.options),
        )

    @cached_property
    def ids(self) -> Mapping[str, str]:
        """The ids of nodes' steps."""
        return identifiers_of(self.routes.program, AROUND).nodes

    @property
    def names(self) -> Mapping[str, Node]:
        """The nodes by the ids of their steps."""
        return {self.ids[node.id]: node for node in self.routes.program.nodes}

    # --- Around the jobs ----------------------------------------------------------------------------------------------

    @property
    def _events(self) -> Mapping[str, Any]:
        events = self.options.triggers()
        return with_inputs(events, example(self.program)) if self.waits else events

    @property
    def _guide(self) -> str:
        lines = [super()._guide]
        if self.program.contexts:
            lines.append("A prompt starts with its context. `{NAME}` is a value of the run.")
        if self.program.kind == "workflow":
            lines.append("`{NAME}` in a prompt is a value of the run.")
        return "\n".join(lines)

    @property
    def _concurrency(self) -> Concurrency:
        """One run at a time for each issue. Otherwise GitHub would cancel other issues' runs that wait to start."""
        usual = super()._concurrency
        talks = any(map(calls_something, self.routes.program.nodes))
        if not talks or not ABOUT_ISSUES & set(self.events):
            return usual
        each = "-${{ github.event.issue.number || github.run_id }}"
        return Concurrency.model_construct(group=Expression(f"{usual.group}{each}"))

    # --- The jobs -----------------------------------------------------------------------------------------------------

    @cached_property
    def jobs(self) -> Sequence[Job]:
        """The parts, each with the jobs that decide after it, and the publishing jobs."""
        found: list[Job] = []
        for part in self.cut.parts:
            found.append(self._part(part))
            found += [self._approval(part, place) for place in part.questions]
            found += [self._matrix(part, place) for place in part.matrices]
        first = self.calling.publisher_written() if self.calling.is_inline else self._checkout()
        needs = [self._id_of(part) for part in self.cut.parts]
        if self._leaves:
            completing = [self._id_of(part) for part in self.cut.completing()]
            found += publications(self.calling, first, completing, needs, self._events)
        if self.options.notify_issue:
            found.append(notified(self.calling, first, needs, self._events))
        return found

    @property
    def _leaves(self) -> bool:
        """Whether a run leaves a file: its last output, or the agents' changes."""
        return self.program.artifact is not None or self._proposes

    @property
    def _proposes(self) -> bool:
        return proposes_changes(self.program, self.options)

    def _part(self, part: Part) -> Job:
        earlier = self.cut.parts[: part.level]
        before = self.cut.before(part)
        needs = [self._id_of(each) for each in earlier]
        if before:
            needs += [self._gate(place) for each in earlier for place in each.questions]
            needs += [self._entries(place) for place in before.matrices]
        is_last, steps = part is self.cut.parts[-1], tuple(self._steps(part))
        return Job(
            id=self._id_of(part),
            name=title(part.own[0].node) if part.own and len(self.cut.parts) > 1 else self._title,
            steps=steps,
            condition=self._reached(part) if earlier else "",
            needs=tuple(needs),
            environment=self._environment_of(part),
            permissions=tuple(self._granted(steps, reviews=bool(self._gates), continues=self.waits and not earlier)),
            outputs=self._outputs(part, is_last=is_last),
            env=self.options.env,
        )

    def _environment_of(self, part: Part) -> str:
        return part.environment or self.options.environment or ""

    def _environment_of_entries(self, place: Place) -> str:
        return self.cut.environments.get(place.name) or self.options.environment or ""

    def _outputs(self, part: Part, *, is_last: bool) -> dict[str, str]:
        closed = [] if is_last else ["next"]
        closed += ["artifact"] if self._leaves and self.calling.publishes and part in self.cut.completing() else []
        closed += ["issue"] if self.options.notify_issue else []
        opened = ["reviews"] if self._gates and part.level == 0 else []
        opened += ["resumed"] if self.options.notify_issue and part.level == 0 else []
        return outputs_of(dict.fromkeys(closed, CLOSE) | dict.fromkeys(opened, OPEN))

    @property
    def _gates(self) -> list[str]:
        return [place.name for part in self.cut.parts for place in part.questions]

    # --- The names of jobs, and when they run -------------------------------------------------------------------------

    def _id_of(self, part: Part) -> str:
        return f"part_{part.level + 1}" if self.cut.is_cut else self.program.kind

    def _gate(self, place: Place) -> str:
        return f"approve_{self.ids[place.name]}"

    def _entries(self, place: Place) -> str:
        return f"entries_{self.ids[place.name]}"

    def _left_at(self, part: Part, name: str) -> str:
        return f"needs.{self._id_of(part)}.outputs.next == '{self.word(name)}'"

    def _reached(self, part: Part) -> str:
        """Return the condition of a part: an earlier part hands it the run, or people or agents have just decided."""
        earlier = self._handing(part)
        before = earlier[-1]
        tests = [self._left_at(other, name) for other, name in self.cut.handed(part)]
        tests += [self._decided(place) for place in before.questions]
        tests += [f"needs.{self._entries(place)}.result != 'skipped'" for place in before.matrices]
        sure = earlier if earlier == [before] else [other for other in earlier if other.level == 0]
        fine = (f"needs.{self._id_of(other)}.result == 'success'" for other in sure)
        later = (
            f"needs.{name}.result == 'success' || needs.{name}.result == 'skipped'"
            for name in [self._id_of(other) for other in earlier if other not in sure]
        )
        asked = (place for each in earlier[:-1] for place in each.questions)
        passed = (f"{self._decided(place)} || needs.{self._gate(place)}.result == 'skipped'" for place in asked)
        return all_of("!cancelled()", *fine, *later, *passed, " || ".join(tests))

    def _handing(self, part: Part) -> Sequence[Part]:
        """Return the parts that may hand the run to a part. The parts before them have succeeded by then."""
        first = min((other.level for other, _ in self.cut.handed(part)), default=part.level - 1)
        return self.cut.parts[first : part.level]

    def _decided(self, place: Place) -> str:
        """Return the condition that people decided; a rejection counts only if the run can continue after it."""
        result = f"needs.{self._gate(place)}.result"
        return f"{result} == 'success'" + (f" || {result} == 'failure'" if self.cut.survives(place) else "")

    def _asked(self, part: Part, place: Place) -> str:
        """Return the condition of the job that decides about a place after a part."""
        # Without a status function, GitHub would skip the job if any earlier job was skipped.
        left = self._left_at(part, place.name)
        return all_of("!cancelled()", f"needs.{self._id_of(part)}.result == 'success'", left) if part.level else left

    # --- The steps of a job -------------------------------------------------------------------------------------------

    def _places(self, part: Part) -> Places:
        return Places(self.calling, self.cut, part, self.ids, self.secrets)

    def _steps(self, part: Part) -> Iterator[Step]:
        if part.level == 0:
            yield from self.reviewers()
        if self.options.checkout:
            yield self._checkout()
        if part.level == 0:
            yield from self._begun()
        else:
            yield from self._taken(part)
        yield self._opened(part)
        yield from self._set_up()
        yield from self._installed(node for place in part.own for node in place.nodes)
        yield from self._places(part).steps()
        if self._proposes and part in self.cut.completing():
            text = ("Compares with the commit that was checked out, and leaves out files that git ignores.",)
            yield Step("Collect the changes", comments=text, env={"CALL": "changes"}, run=CALLS)
        yield from self._closed(part)

    def _taken(self, part: Part) -> Iterator[Step]:
        yield artifacts.of_earlier([self._id_of(each) for each in self._handing(part)])
        before = self.cut.before(part)
        for place in before.matrices if before else ():
            yield from artifacts.entries_taken(self._entries(place), self.ids[place.name], len(agent_types(place.node)))

    def _opened(self, part: Part) -> Step:
        """Return the step that starts or loads the run. It checks approvals before anything in the run is executed."""
        env: dict[str, str] = {"CALL": OPEN}
        before = self.cut.before(part)
        if before is None:
            env |= self._given() | (self._begun_by if self._gates and self.waits else {})
        else:
            env["CALL"] = f"{OPEN} {self._id_of(before)}"
            env |= self._decisions(before)
            if before.matrices:
                place = before.matrices[0]
                env["RDC_JOINED"] = place.name
                env["RDC_RESULT"] = Expression(f"${{{{ needs.{self._entries(place)}.result }}}}")
        env |= self._looked_for(part)
        if self._gates:
            env |= {"RDC_GATES": lines_of(self._gates), **self._reviewed_in}
        if self._gates or (self.waits and before is None):
            env["RDC_TOKEN"] = TOKEN
        budget = [f"--agent-calls={self.options.agent_calls}"] if self.options.agent_calls and before is None else []
        name = "Open the run" if before is None else "Continue the run"
        return Step(name, OPEN, env={**env, **option_lines(budget)}, run=CALLS)

    def _decisions(self, before: Part) -> dict[str, str]:
        """Return the number of reviews before the first step, and the gates that were asked since."""
        if not self._gates:
            return {}
        env: dict[str, str] = {
            "RDC_REVIEWS": Expression(f"${{{{ needs.{self._id_of(self.cut.parts[0])}.outputs.reviews }}}}")
        }
        return env | ({"RDC_ASKED": lines_of(place.name for place in before.questions)} if before.questions else {})

    def _given(self) -> dict[str, str]:
        asked = {"RDC_ANSWERS": Expression("${{ inputs.answers }}"), "RDC_RESUME": Expression("${{ inputs.resume }}")}
        return (asked if self.waits else {}) | self._opened_with

    def _looked_for(self, part: Part) -> dict[str, str]:
        """Return the names of missing secrets (I26). The first job checks all secrets that it can see."""
        # A secret that is used only in another environment may belong to it, so the jobs there check it.
        first, here = self._environment_of(self.cut.parts[0]), self._environment_of(part)
        used = [(self._environment_of(each), self._secrets_in(each)) for each in self.cut.parts]
        apart = [place for each in self.cut.parts for place in each.matrices]
        used += [(self._environment_of_entries(place), self.secrets.of(place.node)) for place in apart]
        elsewhere = {name for _, names in used for name in names}
        elsewhere -= {name for environment, names in used if environment == first for name in names}
        names: Collection[str] = set(self.program.secrets) - elsewhere
        if part.level:
            names = elsewhere.intersection(self._secrets_in(part)) if here != first else ()
        return self._told_missing([name for name in self.program.secrets if name in names], here)

    def _secrets_in(self, part: Part) -> Mapping[str, str]:
        return self.secrets.of(*(node for place in part.own for node in place.nodes))

    def _installed(self, nodes: Iterable[Node]) -> Iterator[Step]:
        callers = (caller for node in nodes for caller in callers_of(node, self.options))
        steps = (step for caller in callers if isinstance(caller, Called) for step in caller.setup)
        found: list[SetupStep] = []
        for step in steps:
            if step not in found and step not in self.options.setup:
                found.append(step)
        return map(set_up, found)

    # --- The end of a job ---------------------------------------------------------------------------------------------

    def _closed(self, part: Part) -> Iterator[Step]:
        """Yield the steps that write the run summary and save the run. They run nothing from the workspace."""
        onward = [self.word(name) for name in self.cut.onward(part)]
        before = self.cut.before(part)
        done = [*part.own, *(before.matrices if before else ())]
        talks = any(calls_something(node) for place in done for node in place.nodes)
        yield self._saying(self._id_of(part), onward)
        if onward or self.waits:
            yield artifacts.kept_run(self.options)
        if talks and self.options.transcript:
            yield artifacts.transcript("" if not self.cut.is_cut else f"-{self._id_of(part)}", self.options)
        if self._leaves and part in self.cut.completing():
            text = "The file has the document's name, with the extension of its type."
            if self._proposes:
                text = "For the job that opens the pull request. That job has no secrets."
            name = "Save the changes" if self._proposes else "Save the last output"
            yield artifacts.last_output(name, text, self.options)

    # --- Jobs that decide ---------------------------------------------------------------------------------------------

    def _approval(self, part: Part, place: Place) -> Job:
        """Return the job that people approve or reject. The next part reads their decision from GitHub."""
        node = place.node
        reason = str(node.task.reason).strip() if isinstance(node.task, Gate) else ""
        return self._deciding(
            self._gate(place),
            decision(node, self.routes.nodes),
            (*map(comment, reason.splitlines()), *transitions(node, self.routes)),
            condition=self._asked(part, place),
            needs=(self._id_of(part),),
        )

    def _matrix(self, part: Part, place: Place) -> Job:
        """Return the matrix job for a parallel step's entries. Each entry has a separate artifact."""
        job, node = self._entries(place), place.node
        environment = self._environment_of_entries(place)
        step = self._places(part).entry(place)
        env = {"CALL": f"{OPEN} {self._id_of(part)} entry"}
        if environment != self._environment_of(self.cut.parts[0]):
            needed = [name for name in self.program.secrets if name in self.secrets.of(node)]
            env |= self._told_missing(needed, environment)
        steps = (
            *([self._checkout()] if self.options.checkout else ()),
            artifacts.of_earlier([self._id_of(part)]),
            artifacts.entry_again(job),
            Step("Load the run", OPEN, env=env, run=CALLS),
            *self._set_up(),
            *self._installed([node]),
            step,
            artifacts.entry_kept(job, step.id, self.options),
        )
        return Job(
            id=job,
            name=Expression(f"{title(node)} ${{{{ matrix.entry }}}} (${{{{ matrix.agent }}}})"),
            steps=steps,
            condition=self._asked(part, place),
            needs=(self._id_of(part),),
            environment=environment,
            permissions=tuple(self._granted(steps, reviews=False, continues=False)),
            env=self.options.env,
            matrix=tuple(label(comment(agent), _LONGEST_LABEL) or "inline" for agent in agent_types(node)),
        )
