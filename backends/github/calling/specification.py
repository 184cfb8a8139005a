"""The workflow of a specification: each step is a step of the workflow, and each gate is a job (B4).

Jobs pass the run and the outputs of completed steps on as an artifact. Another run can continue it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct

from backends.common.identifiers import identifiers, identifiers_of
from backends.common.specification import Specification
from backends.common.specification import Step as SpecifiedStep
from backends.common.specification import shown as shown_text
from backends.github.calling import artifacts
from backends.github.calling.artifacts import TOKEN
from backends.github.calling.common import CallsProgram, outputs_of
from backends.github.calling.remarks import of_stepspec
from backends.github.calling.steps import AROUND, CALLS, CLOSE, OPEN, limited, lines_of, masked, option_lines, shown
from backends.github.options.model import named_command
from backends.github.options.triggers import with_continuation
from backends.github.workflow.document import all_of
from backends.github.yaml.model import Job, Limit, Step
from backends.github.yaml.scalar import Expression, comment, label
from backends.scheduling.flow import Identifiers
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Gate


class SpecificationWorkflow(CallsProgram, frozen=True, dict=True):
    """The workflow. Its program is the Python target of the same document."""

    line: Line

    @property
    def waits(self) -> bool:
        """Another run can continue a run that failed or was rejected."""
        return True

    @property
    def names(self) -> Mapping[str, Node]:
        """The nodes by the ids of their steps."""
        return {self.line.ids.nodes[node.id]: node for node in self.line.program.nodes}

    @property
    def _events(self) -> Mapping[str, Any]:
        return with_continuation(self.options.triggers())

    @cached_property
    def jobs(self) -> Sequence[Job]:
        """The jobs of the line, each after its gates."""
        found: list[Job] = []
        before = None
        for part in self.line.parts:
            if before:
                found += [self._gate(gate, before, part.gates[:number]) for number, gate in enumerate(part.gates)]
            found.append(self._job(part, before))
            before = part
        return found

    @property
    def _first(self) -> LinePart:
        return self.line.parts[0]

    @property
    def _gates(self) -> list[str]:
        return [gate.id for part in self.line.parts for gate in part.gates]

    def _job(self, part: LinePart, before: LinePart | None) -> Job:
        approvals = [self.line.approvals[gate.id] for gate in part.gates]
        needs = dict.fromkeys([self._first.id, before.id, *approvals] if before else ())
        outputs = {} if part is self.line.parts[-1] else {"next": CLOSE}
        outputs |= {"reviews": OPEN, "approved": OPEN} if self._gates and before is None else {}
        steps = tuple(self._steps_of(part, before))
        return Job(
            id=part.id,
            name=label(_named(part.steps[0])) if part.steps and self.line.parts[1:] else self._title,
            steps=steps,
            condition=self._reached(part, before) if before else "",
            needs=tuple(needs),
            environment=self.options.environment or "",
            permissions=tuple(self._granted(steps, reviews=bool(self._gates), continues=before is None)),
            outputs=outputs_of(outputs),
            env=self.options.env,
        )

    def _reached(self, part: LinePart, before: LinePart) -> str:
        approved = f"needs.{self._first.id}.outputs.approved"
        jobs = ((self.line.approvals[gate.id], self.word(gate.id)) for gate in part.gates)
        fine = (f"needs.{job}.result == 'success' || contains({approved}, ' {word} ')" for job, word in jobs)
        return all_of("!cancelled()", f"needs.{before.id}.result == 'success'", *fine)

    def _gate(self, gate: Node, before: LinePart, earlier: Sequence[Node]) -> Job:
        """Return the job that people approve. The run is at its gate, or at an earlier one that was just approved."""
        places = [self.word(each.id) for each in (*earlier, gate)]
        asked = " || ".join(f"needs.{before.id}.outputs.next == '{word}'" for word in places)
        jobs = [self.line.approvals[each.id] for each in earlier]
        fine = (f"needs.{job}.result == 'success' || needs.{job}.result == 'skipped'" for job in jobs)
        reason = shown_text(gate.task.reason) if isinstance(gate.task, Gate) else ""
        step = next(step for part in self.line.parts for step in part.steps if gate in step.gates)
        return self._deciding(
            self.line.approvals[gate.id],
            f"Approve: {_named(step)}{f', because {reason}' if reason else ''}",
            (
                comment(f"approved: step {step.id} may start, after all its approvals"),
                comment(f'rejected: STOP "step {step.id} was rejected"'),
            ),
            condition=all_of("!cancelled()", f"needs.{before.id}.result == 'success'", asked, *fine)
            if jobs or before is not self._first
            else asked,
            needs=(before.id, *jobs),
        )

    def _steps_of(self, part: LinePart, before: LinePart | None) -> Iterator[Step]:
        if before is None:
            yield from self.reviewers()
        if self.options.checkout:
            yield self._checkout()
        yield from [artifacts.of_earlier([before.id])] if before else self._begun()
        yield self._opened(part, before)
        yield from self._set_up()
        yield from (self._step(step) for step in part.steps)
        later = self.line.parts[self.line.parts.index(part) + 1 :]
        onward = [
            self.word(name)
            for each in later
            for name in (*(gate.id for gate in each.gates), *(s.id for s in each.steps))
        ]
        yield self._saying(part.id, onward)
        yield artifacts.kept_run(self.options)
        if self.options.transcript:
            yield artifacts.transcript("" if len(self.line.parts) == 1 else f"-{part.id}", self.options)
        if not later:
            yield artifacts.outputs(self.options)

    def _opened(self, part: LinePart, before: LinePart | None) -> Step:
        env: dict[str, str] = {"CALL": OPEN}
        if before is None:
            env |= {f"RDC_{name.upper()}": Expression(f"${{{{ inputs.{name} }}}}") for name in ("resume", "rerun")}
            env |= self._opened_with | (self._begun_by if self._gates else {})
            env |= self._told_missing(self.program.secrets, self.options.environment or "")
        else:
            env["CALL"] = f"{OPEN} {before.id}"
            if self._gates:
                env["RDC_REVIEWS"] = Expression(f"${{{{ needs.{self._first.id}.outputs.reviews }}}}")
            if part.gates:
                env["RDC_ASKED"] = lines_of(gate.id for gate in part.gates)
        env |= self._reviewed_in if self._gates else {}
        env |= {"RDC_TOKEN": TOKEN} if self._gates or before is None else {}
        name = "Open the run" if before is None else "Continue the run"
        return Step(name, OPEN, env=env, run=CALLS)

    def _step(self, step: SpecifiedStep) -> Step:
        secrets = self.secrets.of(*step.stages)
        env: dict[str, str] = {
            "CALL": lines_of(["step", step.id]),
            **shown(self.calling, [step.id]),
            **option_lines(self._options_of(step)),
        }
        return Step(
            name=label(_named(step)),
            id=self.line.ids.nodes[step.id],
            comments=tuple(of_stepspec(step, self.line.stepspec, self.options)),
            limit=self._limit(step),
            env={**env, **masked(secrets)},
            run=CALLS,
        )

    def _limit(self, step: SpecifiedStep) -> Limit:
        found = limited("limit of an attempt", step.limit, step.retries + 1, step.delay * step.retries)
        most = self.minutes
        return found if found.minutes <= most else Limit(most, "limit of the job, shorter than that of the step")

    def _options_of(self, step: SpecifiedStep) -> list[str]:
        """Return the commands that the program calls for a step, unless the configuration sets them."""
        options = self.options
        found = [f"--executor={named_command(options.executor)}"] if options.executor else []
        called = dict.fromkeys(task.subject for task in step.tasks if task.stage == "tool")
        return [
            *found,
            *(f"--tool={name}={named_command(options.tools[name])}" for name in called if name in options.tools),
        ]


def _named(step: SpecifiedStep) -> str:
    """Return a step's name for people: its title if that says the id, otherwise both."""
    title = shown_text(step.group.title)
    has_id = set(re.findall(r"\w+", step.id.lower())) <= set(re.findall(r"\w+", title.lower()))
    return title if has_id else f"{step.id}: {title}" if title else step.id


class LinePart(Struct, frozen=True):
    """A job: steps in document order. The first step may have gates that are approved before the job."""

    id: str
    steps: tuple[SpecifiedStep, ...]
    gates: tuple[Node, ...] = ()


class Line(Struct, frozen=True, dict=True):
    """A program with a contract as a sequence of jobs."""

    program: Program

    @cached_property
    def stepspec(self) -> Specification:
        """The program's specification."""
        return Specification(self.program)

    @cached_property
    def ids(self) -> Identifiers:
        """The identifiers of steps. A step is named after the node that does its work."""
        return identifiers_of(self.program, AROUND)

    @cached_property
    def parts(self) -> Sequence[LinePart]:
        """The jobs in order. The first one opens the run."""
        cuts = list(self._cut())
        if len(cuts) == 1:
            return [LinePart(self.program.kind, tuple(cuts[0]))]
        return [
            LinePart(f"part_{number}", tuple(cut), cut[0].gates if number > 1 and cut else ())
            for number, cut in enumerate(cuts, 1)
        ]

    def _cut(self) -> Iterator[list[SpecifiedStep]]:
        cut: list[SpecifiedStep] = []
        for number, step in enumerate(self.stepspec.steps.values()):
            if step.gates and (cut or number == 0):
                yield cut
                cut = []
            cut.append(step)
        yield cut

    @cached_property
    def approvals(self) -> dict[str, str]:
        """The ids of the jobs that wait for an approval, by their gates."""
        gates = [node.id for step in self.stepspec.steps.values() for node in step.gates]
        return identifiers(((gate, f"approve {gate}") for gate in gates), [part.id for part in self.parts])
