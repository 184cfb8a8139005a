"""The steps by which a run goes on in another job or another run, with its workspace and what it has done."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from backends.github.identifiers import ARTIFACT, KEPT, RESULT, SAVED
from backends.github.options import GithubOptions
from backends.github.pins import pins
from backends.github.plan import Plan
from backends.github.prompts import TOKEN, Decision
from backends.github.scalar import Expression
from backends.github.step import PLAIN_SHELL, Step
from backends.github.templating import render
from backends.github.triggers import OF_PULL_REQUESTS
from compiler.ir.program import Program
from compiler.ir.tasks import Ask
from compiler.version import __version__

_FOLDER = Expression("${{ runner.temp }}/rdc-kept")
_ENTRY = Expression("${{ runner.temp }}/rdc-entry")
"""Where an entry of a matrix keeps what it has come to."""

_LEFT = Expression("${{ runner.temp }}/rdc-artifact")
"""Where the file lies that a run leaves."""

STATE = "rdc-state"
"""The artifact in which a run is kept."""

CALLS_KEPT = ("calls", "prompts", "answers")
"""What lies beside the state of a run that calls agents or tools."""

REPORTS = "reports"
"""The same of one with reports."""


def prepared(plan: Plan, options: GithubOptions, *, valued: bool) -> Iterator[Step]:
    """Takes over the run that waited, if this one is its continuation, and reads the answers."""
    yield from fetched(options)
    asking = [node.id for node in plan.program.nodes if isinstance(node.task, Ask)]
    yield Step(
        name="Prepare",
        shell=PLAIN_SHELL,
        env={
            "ANSWERS": Expression("${{ inputs.answers }}"),
            "RESUME": Expression("${{ inputs.resume }}"),
            "PROGRAM": identity(plan.program, options),
            "STEPS": "\n".join(asking) + "\n",
        },
        run=render(
            "prepare.sh.jinja",
            earlier=False,
            routed=False,
            summary=options.summary,
            inputs=plan.program.inputs,
            words=valued or any(node.settings.timeout for node in plan.program.nodes),
        ),
        helper="prepare",
    )


def fetched(options: GithubOptions) -> Iterator[Step]:
    """Fetches what the run that waited has kept, if this one is its continuation."""
    yield checked_run(options)
    another_run = {"run-id": Expression("${{ inputs.resume }}"), "github-token": Expression("${{ github.token }}")}
    yield downloaded("Take over the run that waited", "inputs.resume", another_run)


def waiting_saved(
    secrets: Mapping[str, str],
    events: Iterable[str],
    *,
    summary: bool = False,
    routed: bool = False,
    beside: Sequence[str] = (),
) -> Iterator[Step]:
    """Keeps a run that waits for an answer, for the run that goes on with it.

    Args:
        secrets: What is not to be in it.
        events: What starts the workflow, which decides how to go on.
        summary: Whether a journal of what has run is kept for the table.
        routed: Whether the runtime keeps the state of the run.
        beside: What lies beside the state and is kept too: prompts and answers of agents and tools, and reports.
    """
    when = "failure() && steps.result.outputs.waiting"
    yield saved(when, secrets, SAVED, waits=True, summary=summary, routed=routed, beside=beside)
    upload = uploaded("Keep the run for its continuation", f"failure() && steps.{SAVED}.outcome == 'success'")
    yield replace(upload, id=KEPT)
    yield _continued(frozenset(events), routed=routed)


def handed_over(
    part: str,
    secrets: Mapping[str, str],
    step: str = SAVED,
    *,
    when: str,
    routed: bool = False,
    beside: Sequence[str] = (),
) -> Iterator[Step]:
    """Hands a run on to the next job, under the name of the part that has stopped; `secrets` are not to be in it.

    `step` is the id of the step that saves it, `when` its condition; `routed` says whether the runtime keeps the state.
    """
    yield saved(when, secrets, step, waits=False, summary=False, routed=routed, beside=beside)
    yield uploaded("Hand the run on", f"steps.{step}.outcome == 'success'", f"{STATE}-{part}")


def taken_over(earlier: Sequence[str], rejections: Sequence[tuple[Decision, str]], *, summary: bool) -> Iterator[Step]:
    """Goes on with the run of an earlier job.

    Args:
        earlier: The parts before; the last one that has run has handed the run on. None if this one needs no workspace.
        rejections: What people may have rejected just before, each with the environment whose reviewers decide.
        summary: Whether decisions are noted for the table.
    """
    if earlier:
        yield of_earlier(earlier)
    env: dict[str, str] = {"TOKEN": TOKEN} if rejections else {}
    for decision, environment in rejections:
        env[f"REJECTED_{decision.step}"] = decision.ended
        env[f"BEFORE_{decision.step}"] = decision.before
        env[f"ENVIRONMENT_{decision.step}"] = environment
    steps = [(decision.step, decision.attempts) for decision, _ in rejections]
    run = render("take-over.sh.jinja", decisions=steps, earlier=earlier, routed=False, summary=summary)
    yield Step(name="Prepare", shell=PLAIN_SHELL, env=env, run=run, helper="take-over")


def of_earlier(earlier: Sequence[str]) -> Step:
    """Fetches what the last of the earlier parts has handed on."""
    first, *later = earlier
    ran = "".join(f"needs.{part}.result == 'success' && '{STATE}-{part}' || " for part in reversed(later))
    name = Expression(f"${{{{ {ran}'{STATE}-{first}' }}}}") if later else f"{STATE}-{first}"
    return downloaded("Take over the run", "", {}, name)


def entry_kept(job: str, step: str) -> Step:
    """Keeps what an entry of a matrix has come to, under a name of its own, if `step` has done it in this attempt.

    To replace an artifact is to delete it first, so one that was kept before is left alone: it must not be lost.
    """
    says = ("The answer is all that is kept: what the agent has changed in the workspace is dropped.",)
    upload = uploaded("Keep what this entry says", f"steps.{step}.outputs.kept", _entry(job), _ENTRY)
    return replace(upload, comments=says)


def entry_again(job: str) -> Step:
    """Fetches what the entry has kept in an earlier attempt, if that got so far: it is not done twice.

    A pattern may match nothing, and only that lets the entry be done: if GitHub cannot be asked, the step fails.
    """
    inputs = {"pattern": _entry(job), "path": _ENTRY, "merge-multiple": Expression("true")}
    says = ("In a re-run; where the pattern finds nothing, the agent is called.",)
    step = downloaded("Take over what this entry has said before", "github.run_attempt != '1'", {})
    return replace(step, inputs=inputs, comments=says)


def entries_taken(job: str, place: str, count: int) -> Iterator[Step]:
    """Fetches what the entries of a matrix have kept; what is not there is found out when they are joined."""
    condition = f"needs.{job}.result != 'skipped'"
    for index in range(count):
        folder = Expression(f"${{{{ runner.temp }}}}/rdc-entries/{place}-{index}")
        step = downloaded(f"Take over what {place} {index} says", condition, {}, _entry(job, index), folder)
        yield replace(step, tolerated=True)


def _entry(job: str, index: int | None = None) -> str:
    """The artifact of an entry, without an index that of the job itself."""
    return Expression(f"rdc-{job}-${{{{ matrix.entry }}}}") if index is None else f"rdc-{job}-{index}"


def identity(program: Program, options: GithubOptions) -> str:
    """What tells programs apart: a digest of all that the workflow is made of (R4)."""
    unused = {name for name in ("agents", "tools") if not getattr(options, name)}
    unused |= set() if options.bind else {"bind"}
    unused |= {"parallel"} if options.parallel == "step" else set()
    unused |= {"max_steps"} if options.max_steps is None else set()
    later = (
        "executor",
        "program",
        "agent_model",
        "agent_timeout",
        "agent_retries",
        "agent_calls",
        "mock",
        "publish",
        "publish_file",
    )
    unused |= {name for name in later if not getattr(options, name)}
    parts = [__version__, *(source.sha256 for source in program.sources), options.model_dump_json(exclude=unused)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def checked_run(options: GithubOptions) -> Step:
    """Asks GitHub whether the run to go on with is one of this workflow, before anything of it is fetched."""
    events = {*options.triggers(), "workflow_dispatch"} - {"workflow_call"}
    return Step(
        name="Check the run that waited",
        condition="inputs.resume",
        shell=PLAIN_SHELL,
        env={
            "RESUME": Expression("${{ inputs.resume }}"),
            "EVENTS": " ".join(sorted(events)),
            "TOKEN": Expression("${{ github.token }}"),
        },
        run=render("check.sh.jinja"),
        helper="check",
    )


def _continued(events: AbstractSet[str], *, routed: bool) -> Step:
    """Says how to go on. A pull request has a ref that cannot be run again, so its branch is named."""
    pulls = not events.isdisjoint(OF_PULL_REQUESTS)
    event = "github.event.pull_request.head"
    env = {
        "BRANCH": Expression(f"${{{{ {event}.ref || github.ref_name }}}}"),
        "HEAD": Expression(f"${{{{ {event}.repo.full_name || github.repository }}}}"),
    }
    return Step(
        name="Say how to go on",
        condition=f"failure() && steps.{KEPT}.outcome == 'success'",
        shell=PLAIN_SHELL,
        env=env if pulls else {},
        run=render("go-on.sh.jinja", pulls=pulls, called="workflow_call" in events, routed=routed),
        helper="go-on",
    )


def saved(
    condition: str,
    secrets: Mapping[str, str],
    step: str,
    *,
    waits: bool = False,
    summary: bool = False,
    routed: bool = False,
    beside: Sequence[str] = (),
) -> Step:
    """The step that packs the workspace, and what goes on with it; `secrets` are not to be in it."""
    names = {"RDC_SECRETS": " ".join(secrets)} if secrets else {}
    script = render("save.sh.jinja", waits=waits, secrets=secrets, summary=summary, routed=routed, beside=beside)
    return Step(
        "Save the run",
        step,
        condition=condition,
        shell=PLAIN_SHELL,
        env={**secrets, **names},
        run=script,
        helper="save",
    )


def downloaded(
    name: str, condition: str, inputs: Mapping[str, str], artifact: str = STATE, folder: str = _FOLDER
) -> Step:
    """The step that fetches an artifact, without more `inputs` one of this run."""
    pin = pins()["download-artifact"]
    where = {"name": artifact, "path": folder}
    return Step(name, condition=condition, uses=pin.reference, version=pin.version, inputs={**where, **inputs})


def taken_artifact(name: str, called: str = "Take over the last output") -> Step:
    """The step that fetches the file which a run has left; `name` is an expression for what the artifact is called."""
    return downloaded(called, "", {}, Expression(f"${{{{ {name} }}}}"), _LEFT)


def calls_kept() -> Step:
    """The step that uploads what agents and tools were given and said, once a run has ended."""
    folder = Expression("${{ runner.temp }}/rdc-run")
    upload = uploaded(
        "Keep prompts and answers", f"${{{{ !cancelled() && steps.{RESULT}.outputs.kept }}}}", folder=folder
    )
    return replace(upload, comments=("In full, but for the values of secrets.",))


_NAMED = "Its name is that of the document, and ends as its type says."


def left_behind(called: str = "Keep the last output", says: str = _NAMED) -> Step:
    """The step that uploads the file which a run leaves, under the name that it has by its type (I28)."""
    name = f"${{{{ steps.{ARTIFACT}.outputs.name }}}}"
    upload = uploaded(called, f"steps.{ARTIFACT}.outputs.name", Expression(name), _LEFT)
    return replace(upload, comments=(says,))


def uploaded(name: str, condition: str, artifact: str = STATE, folder: str = _FOLDER) -> Step:
    """The step that keeps a folder as an artifact."""
    pin = pins()["upload-artifact"]
    what = {
        "name": artifact,
        "path": folder,
        "overwrite": Expression("true"),
        "include-hidden-files": Expression("true"),
        "if-no-files-found": "error",
    }
    return Step(name, condition=condition, uses=pin.reference, version=pin.version, inputs=what)
