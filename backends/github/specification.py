"""The workflow of a specification: each step calls the compiled Python file that is committed beside the workflow (B4).

Gates are jobs of their own, which run only where the run is blocked at them. The state of the run, and the outputs of
completed steps, travel from job to job as an artifact; another run can take it over and go on.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from textwrap import wrap
from typing import Any

from backends.companions import Companion
from backends.github.continuation import checked_run, downloaded, saved, uploaded
from backends.github.helpers import WORKFLOWS
from backends.github.identifiers import KEPT, SAVED
from backends.github.inputs import given, measured, said, variable_names
from backends.github.job import Job
from backends.github.jobs import all_of
from backends.github.line import Line, LinePart
from backends.github.options import named_command
from backends.github.prompts import TOKEN
from backends.github.runtime import plain_name
from backends.github.scalar import Expression, comment, label
from backends.github.step import PLAIN_SHELL, Step
from backends.github.templating import render
from backends.github.triggers import with_continuation
from backends.github.workflow import REASON_TO_ASK, Written, as_shown
from backends.python import PythonBackend
from backends.python.options import PythonOptions
from backends.specification import Step as ContractStep
from backends.specification import shown
from compiler.ir.program import Node
from compiler.ir.tasks import Gate

RUN = 'python3 "$RDC"'
WIDTH = 110
"""Of comments, in characters."""

_MINUTE, _PATIENCE = 60, 60
"""Seconds; the second are those in which what is out of time is ended."""

_PLAIN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_AGAIN = "${RDC_RERUN:+--rerun-interrupted}"


@dataclass(frozen=True)
class SpecificationWorkflow(Written):
    """The workflow; its program is the Python target of the same document."""

    plan: Line

    # --- The files ----------------------------------------------------------------------------------------------------

    @property
    def companions(self) -> tuple[Companion, ...]:
        """The program, and the helpers where these are files."""
        home = "" if self.options.program else WORKFLOWS
        program = Companion(self._program_path, self._python, "program", executable=True, home=home)
        return (program, *super().companions)

    @cached_property
    def _name(self) -> str:
        return plain_name(self.program.name)

    @property
    def _program_path(self) -> str:
        return self.options.program or f"../rdc/{self._name}.py"

    @property
    def _place(self) -> str:
        """Where the program stands in the repository."""
        return posixpath.normpath(posixpath.join(WORKFLOWS, self._program_path))

    @cached_property
    def _python(self) -> str:
        program = replace(self.program, name=self._name)
        return PythonBackend().render(program, PythonOptions()).text or ""

    @property
    def _state(self) -> str:
        return f".rdc/{self._name}"

    # --- What surrounds the jobs --------------------------------------------------------------------------------------

    @property
    def _events(self) -> Mapping[str, Any]:
        return with_continuation(self.options.triggers())

    @property
    def _guide(self) -> str:
        return f"Each step calls {self._place}, the Python target of the same document. Commit it with this workflow."

    def _checkout(self) -> Step:
        return replace(super()._checkout(), condition="")

    # --- The jobs -----------------------------------------------------------------------------------------------------

    @cached_property
    def jobs(self) -> tuple[Job, ...]:
        """The parts of the line, each with the gates before it."""
        found: list[Job] = []
        for part in self.plan.parts:
            found += [*self._gates(part), self._job(part)]
        return tuple(found)

    def _job(self, part: LinePart) -> Job:
        before, after = self.plan.before(part), self.plan.after(part)
        options = self.options
        number = self.plan.parts.index(part)
        permissions = self._permissions(first=True, asks=after is not None, waits=number == 0)
        env = {name: as_shown(value) for name, value in options.env.items()}
        return Job(
            id=part.id,
            name=label(f"{self._title}, part {number + 1}" if after or before else self._title),
            steps=tuple(self._steps_of(part)),
            condition=self._reached(part, before) if before else "",
            needs=(before.id, *self._approvals(part)) if before else (),
            environment=options.environment or "",
            permissions=tuple(permissions),
            outputs=_outputs("blocked", "gate", "until_now") if after else {},
            env={"RDC_RERUN": Expression("${{ inputs.rerun || '' }}"), **env},
            shell=PLAIN_SHELL,
            comments=() if before else ("Opens the run, or takes over the run that is to go on.",),
        )

    def _approvals(self, part: LinePart) -> list[str]:
        return [self.plan.approvals[gate.id] for gate in part.gates]

    def _reached(self, part: LinePart, before: LinePart) -> str:
        """Once all gates are approved that were asked: those behind one that was rejected are not."""
        fine = (f"needs.{job}.result == 'success' || needs.{job}.result == 'skipped'" for job in self._approvals(part))
        return all_of("!cancelled()", f"needs.{before.id}.result == 'success'", *fine)

    def _steps_of(self, part: LinePart) -> Iterator[Step]:
        before, after = self.plan.before(part), self.plan.after(part)
        yield from self._secret_check() if before is None else ()
        if before is None:
            yield checked_run(self.options)
        yield self._checkout()
        yield self._prepared()
        yield from self._taken(before)
        if before is None:
            yield from self._opened()
        yield from self._set_up()
        yield from self._recorded(part)
        yield from (self._step(step) for step in part.steps)
        if after:
            yield self._asked(after)
        yield from self._left(part, is_last=after is None)

    def _secret_check(self) -> Iterator[Step]:
        return self._check_secrets(self.options.environment or "", set(self.program.secrets))

    # --- The beginning of a job ---------------------------------------------------------------------------------------

    def _prepared(self) -> Step:
        """Takes the program of this commit, if it is the one that this workflow was compiled with."""
        digest = hashlib.sha256(self._python.encode()).hexdigest()
        env = {"PROGRAM": self._place, "SHA256": digest}
        return Step("Prepare", shell=PLAIN_SHELL, env=env, run=render("program.sh.jinja"), helper="program")

    def _taken(self, before: LinePart | None) -> Iterator[Step]:
        """Goes on in the workspace of an earlier job, or of the run that is to go on."""
        name, condition, another = "Take over the run", "", {}
        if before is None:
            name, condition = f"{name} that is to go on", "inputs.resume"
            another = {"run-id": Expression("${{ inputs.resume }}"), "github-token": TOKEN}
        yield downloaded(name, condition, another)
        script = render(
            "resumed.sh.jinja", same=before is not None, earlier=True, routed=False, summary=False, beside=()
        )
        helper = "resumed" if before is None else "handed-on"
        yield Step("Go on with it", condition=condition, shell=PLAIN_SHELL, run=script, helper=helper)

    def _opened(self) -> Iterator[Step]:
        inputs, options = self.program.inputs, self.options
        yield from measured(inputs, self._events, options, waits=True)
        yield from said(inputs, self._events, options, waits=True)
        variables = {declared.name: declared.name for declared in inputs}
        bound = {name: variable for name, variable in variable_names(inputs).items() if name in options.bind}
        yield Step(
            "Open the run",
            "open",
            condition="${{ !inputs.resume }}",
            shell=PLAIN_SHELL,
            env=given(inputs, self._events, options, variables)
            | {f"RDC_BOUND_{variable}": name for name, variable in bound.items()},
            run=render("open.sh.jinja", run=RUN, inputs=bool(inputs), bound=bool(bound)),
        )

    # --- The steps of the document ------------------------------------------------------------------------------------

    def _step(self, step: ContractStep) -> Step:
        at = step.group.origin
        names, words = self._called(step)
        ids, options = self.plan.ids.nodes, self.options
        what = "; ".join(self.plan.contract.told(step))
        env = {**names, **({} if _PLAIN_ID.fullmatch(step.id) else {"STEP": step.id})}
        return Step(
            name=label(step.title),
            id=ids[step.id],
            comments=(comment(f"{at.path}:{at.span.line}"), *(comment(line) for line in wrap(what, WIDTH))),
            timeout=min(minutes(step), options.timeout_minutes),
            shell=PLAIN_SHELL,
            env=env,
            run=" ".join([RUN, "step", _word(step), *words, _AGAIN]) + "\n",
        )

    def _called(self, step: ContractStep) -> tuple[dict[str, str], list[str]]:
        """The variables of a step, and the options that name some of them."""
        options = self.options
        if options.mock:
            return {"MOCK": options.mock}, ['--mock="$MOCK"']
        secrets = self._secrets.of(*step.stages)
        env: dict[str, str] = {**secrets, "RDC_SECRETS": " ".join(secrets)} if secrets else {}
        if options.executor:
            env["RDC_EXECUTOR"] = named_command(options.executor)
        called = dict.fromkeys(task.subject for task in step.tasks if task.stage == "tool")
        tools = [f"{name}={named_command(options.tools[name])}" for name in called if name in options.tools]
        env |= {f"TOOL_{number}": tool for number, tool in enumerate(tools, 1)}
        return env, [f'--tool="$TOOL_{number}"' for number in range(1, len(tools) + 1)]

    # --- Gates --------------------------------------------------------------------------------------------------------

    def _asked(self, after: LinePart) -> Step:
        """Says whether the run is blocked at a gate of the step that is next, and which job waits for the approval."""
        step = after.steps[0]
        gates = "".join(f"{self.plan.approvals[gate.id]} {gate.id}\n" for gate in after.gates)
        env = {"GATES": gates, "STEP": step.id, "TOKEN": TOKEN, "ENVIRONMENT": self.options.approval_environment}
        says = (comment(f"{gate.id}: {shown(gate.task.reason)}") for gate in after.gates if isinstance(gate.task, Gate))
        return Step(
            name=label(f"Ask: {step.title}"),
            id="blocked",
            comments=tuple(says),
            shell=PLAIN_SHELL,
            env=env,
            run=render("blocked.sh.jinja", run=RUN, lists=True),
            helper="blocked",
        )

    def _gates(self, part: LinePart) -> Iterator[Job]:
        before = self.plan.before(part)
        asked: list[str] = []
        for gate in part.gates:
            job = self.plan.approvals[gate.id]
            if before:
                yield self._gate(gate, job, before, asked)
            asked.append(job)

    def _gate(self, gate: Node, job: str, before: LinePart, earlier: list[str]) -> Job:
        """The job that people approve: the run is blocked at its gate, or at one before it that was just approved."""
        told = f"needs.{before.id}.outputs.gate"
        asked = " || ".join(f"{told} == '{name}'" for name in (*earlier, job))
        fine = (f"needs.{name}.result == 'success' || needs.{name}.result == 'skipped'" for name in earlier)
        until = " || ".join(f"needs.{name}.outputs.until_now" for name in (*reversed(earlier), before.id))
        reason = shown(gate.task.reason) if isinstance(gate.task, Gate) else ""
        env = {
            "PROMPT": f"{gate.id}\n{reason}",
            "TOKEN": TOKEN,
            "ENVIRONMENT": self.options.approval_environment,
            "BEFORE": Expression(f"${{{{ {until} }}}}"),
        }
        step = Step(
            name="Note who has approved",
            id="blocked",
            shell=PLAIN_SHELL,
            env=env,
            run=render("approver.sh.jinja", lists=True),
            helper="approver",
        )
        return Job(
            id=job,
            name=label(f"Approve {gate.id}"),
            steps=(step,),
            condition=all_of("!cancelled()", f"needs.{before.id}.result == 'success'", asked, *fine),
            needs=(before.id, *earlier),
            environment=self.options.approval_environment,
            permissions=(("actions", "read", REASON_TO_ASK),),
            outputs=_outputs("blocked", "by", "note", "until_now"),
            timeout=10,
        )

    def _recorded(self, part: LinePart) -> Iterator[Step]:
        """Writes down who has let the run through, with the comment."""
        for number, gate in enumerate(part.gates):
            needs = f"needs.{self.plan.approvals[gate.id]}"
            env = {"GATE": gate.id, "STEP": part.steps[0].id} if number else {"GATE": gate.id}
            env |= {name.upper(): Expression(f"${{{{ {needs}.outputs.{name} }}}}") for name in ("by", "note")}
            yield Step(
                name=label(f"Record who approved {gate.id}"),
                condition=f"{needs}.result == 'success'",
                shell=PLAIN_SHELL,
                env=env,
                run=render("record.sh.jinja", run=RUN, comes=bool(number)),
                helper="record-next" if number else "record",
            )

    # --- The end of a job ---------------------------------------------------------------------------------------------

    def _left(self, part: LinePart, *, is_last: bool) -> Iterator[Step]:
        """Shows the timeline, and keeps the run, whatever has become of it."""
        has_run = all_of("!cancelled()", "env.RDC")
        run = f'[ ! -f {self._state}/journal ] || {RUN} timeline --markdown >> "$GITHUB_STEP_SUMMARY"\n'
        yield Step("Timeline", "timeline", condition=has_run, shell=PLAIN_SHELL, run=run)
        secrets = self._secrets.of(*(node for step in part.steps for node in step.stages))
        yield saved(has_run, secrets, SAVED)
        is_saved = all_of("!cancelled()", f"steps.{SAVED}.outcome == 'success'")
        yield replace(uploaded("Keep the run", is_saved), id=KEPT)
        records = uploaded("Keep its records", is_saved, "rdc-run", self._state)
        yield replace(
            records,
            comments=("What happened, to read: manifest, events, timeline and more.",),
            inputs={**records.inputs, "if-no-files-found": "ignore"},
        )
        yield Step(
            "Say how to go on",
            condition=f"failure() && steps.{KEPT}.outcome == 'success'",
            shell=PLAIN_SHELL,
            run=render("go-on-again.sh.jinja"),
            helper="go-on-again",
        )
        if is_last:
            run = render("collect.sh.jinja", run=RUN)
            yield Step("Collect the outputs", "collect", shell=PLAIN_SHELL, run=run, helper="collect")
            kept = uploaded("Keep the outputs", "", "outputs", Expression("${{ runner.temp }}/outputs"))
            yield replace(kept, inputs={**kept.inputs, "if-no-files-found": "ignore"})


def minutes(step: ContractStep) -> int:
    """After how many minutes GitHub is to end a step, a little later than the program does."""
    return -(-(step.seconds + _PATIENCE) // _MINUTE)


def _word(step: ContractStep) -> str:
    """The id of a step as a word of a script."""
    return step.id if _PLAIN_ID.fullmatch(step.id) else '"$STEP"'


def _outputs(step: str, *names: str) -> dict[str, str]:
    return {name: Expression(f"${{{{ steps.{step}.outputs.{name} }}}}") for name in names}
