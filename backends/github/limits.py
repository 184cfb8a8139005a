"""What GitHub does not take, as diagnostics: its limits, and what a workflow cannot express."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeGuard

from backends.base import OptionFinding
from backends.github.options import GithubOptions
from backends.github.scalar import OPEN, Expression
from backends.github.step import Step
from backends.github.triggers import INPUTS
from backends.github.workflow import Written
from compiler.diagnostic import Diagnostic
from compiler.ir.edges import CounterTest, Test
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Ask, End, Stage
from compiler.regex import Regex
from compiler.source import KeyPath
from compiler.times import spoken

LONGEST_EXPRESSION = 21_000
"""Characters of an expression, as GitHub documents it."""

MOST_STEPS = 1_000
"""Steps of a job that GitHub shows; a run whose steps cannot be seen cannot be reviewed either."""

MOST_JOBS = 256
"""Jobs of a matrix."""

LARGEST_FILE = 512 * 1024
"""Bytes of a workflow file."""

MOST_INPUTS = 25
"""Inputs of `workflow_dispatch`."""

LONGEST_INPUTS = 65_535
"""Characters of the payload that starts a workflow by hand: all inputs as JSON."""

LONGEST_VARIABLE = 128 * 1024 - 1
"""Bytes of `NAME=value` that Linux hands to a program."""

_PINNED = Regex(r"\./.*|docker://.*@sha256:[0-9a-f]{64}|.*@[0-9a-f]{40}")
_SHORTEN = "put the text into a file of the repository, and name that file here"
_MEET = "let fewer steps lead to it: substeps can meet in the transition of their step"


def taken(program: Program, options: GithubOptions, names: Sequence[str]) -> Iterator[Diagnostic]:
    """Inputs of the option `on` under the names of those that the workflow needs itself."""
    own = {"workflow_dispatch": names, "workflow_call": [name for name in names if name == "answers"]}
    for event, needed in own.items():
        given = (options.triggers().get(event) or {}).get("inputs") or {}
        for name in (name for name in needed if name in given):
            what = "for its prompts" if "answers" in names else "to go on with a run"
            problem = f"the workflow has an input `{name}` {what}, and `{event}` has another of this name"
            remedy = "take another name" + (
                ", or another way to answer prompts (`prompts`)" if "answers" in names else ""
            )
            yield _about_option(program, ("on", event, "inputs", name), "RD013", problem, remedy)


def warnings(program: Program, options: GithubOptions) -> Iterator[Diagnostic]:
    """What is said of a workflow that GitHub takes."""
    yield from _unpinned(program, options)
    yield from _waits_on_schedule(program, options)
    yield from _longer_than_job(program, options)


def _unpinned(program: Program, options: GithubOptions) -> Iterator[Diagnostic]:
    """Actions of the option `setup` whose code can change behind the workflow's back."""
    for number, step in enumerate(options.setup):
        if step.uses and not _PINNED.fullmatch(step.uses):
            problem = f"the action `{step.uses}` of the option `setup` is not pinned to a commit"
            remedy = "name the commit instead of the version: `uses: owner/action@<40 hexadecimal digits>`"
            yield _about_option(program, ("setup", str(number), "uses"), "RD522", problem, remedy)


def _waits_on_schedule(program: Program, options: GithubOptions) -> Iterator[Diagnostic]:
    """A schedule for a workflow whose prompts wait for people."""
    asking = [node.id for node in program.nodes if isinstance(node.task, Ask)]
    if not asking or "schedule" not in options.triggers() or options.prompts == "agent":
        return
    what = "approval" if options.prompts == "environment" else "answer"
    problem = (
        f"nobody answers a scheduled run: each one waits for an {what} at a prompt, such as that of step {asking[0]}"
    )
    remedy = "take `prompts: agent`, or remove `schedule` from the option `on`"
    yield _about_option(program, ("on", "schedule"), "RD523", problem, remedy)


def _longer_than_job(program: Program, options: GithubOptions) -> Iterator[Diagnostic]:
    """Nodes whose time limits and delays are longer than a job: GitHub ends it before they are used up."""
    longest = options.timeout_minutes * 60
    for node in program.nodes:
        if not isinstance(node.task, Stage) and _longest(node, longest) > longest:
            problem = f"step {node.id} may take longer, with its attempts and delays, than the job: {spoken(longest)}"
            remedy = "shorten `timeout`, `retry-delay` or the RETRY, or raise the option `timeout-minutes`"
            yield _at(node, "RD537", problem, remedy)


def _longest(node: Node, enough: int) -> int:
    """The seconds that a visit to a node may take by its own limits; of more than enough not all are counted."""
    retries = max((test.value for edge in node.edges for test in edge.guard if _counts(test, node)), default=0)
    timeout, delay, backoff = node.settings.timeout or 0, node.settings.delay, node.settings.backoff
    total = (retries + 1) * timeout + (retries * delay if backoff == 1 else 0)
    for _ in range(retries if delay and backoff > 1 else 0):
        if total > enough:
            break
        total, delay = total + delay, delay * backoff
    return total


def _counts(test: Test, node: Node) -> TypeGuard[CounterTest]:
    return isinstance(test, CounterTest) and test.register == node.retries and test.operator == "<"


def with_too_many_steps(workflow: Written, counts: Iterable[int]) -> Iterator[Diagnostic]:
    """The limits that a workflow is beyond whose jobs have so many steps: those that are known without its text."""
    yield from _inputs(workflow)
    yield from (_too_many_steps(workflow, count) for count in counts if count > MOST_STEPS)


def exceeded(workflow: Written, text: str) -> Iterator[Diagnostic]:
    """The limits that a workflow is beyond."""
    size = len(text.encode())
    if size > LARGEST_FILE:
        yield _too_large(workflow, f"the workflow would have {size:,} bytes, and GitHub takes {LARGEST_FILE:,}")
    yield from _inputs(workflow)
    nodes = workflow.names
    for job in workflow.jobs:
        if len(job.matrix) > MOST_JOBS:
            whose = next(nodes[step.id] for step in job.steps if step.id in nodes)
            problem = f"a matrix would have {len(job.matrix):,} jobs, and GitHub takes {MOST_JOBS:,}"
            yield _at(whose, "RD521", problem, "split the step into several, or take `parallel: step`")
        if len(job.steps) > MOST_STEPS:
            yield _too_many_steps(workflow, len(job.steps))
        for step in job.steps:
            for problem, remedy in _step(step):
                node = nodes.get(step.id)
                said = problem if node else f"{problem}, in the step {step.name}"
                yield _at(node, "RD521", said, remedy) if node else _too_large(workflow, said)


def _inputs(workflow: Written) -> Iterator[Diagnostic]:
    """Inputs of `workflow_dispatch` that are too many or too long, those for prompts included."""
    inputs = (workflow.events.get("workflow_dispatch") or {}).get("inputs") or {}
    at = ("on", "workflow_dispatch", "inputs")
    if len(inputs) > MOST_INPUTS:
        added = f", {len(INPUTS)} of them for prompts," if workflow.waits else ""
        problem = f"`workflow_dispatch` would have {len(inputs)} inputs{added} and GitHub takes {MOST_INPUTS}"
        remedy = f"remove {len(inputs) - MOST_INPUTS} of them, or combine some into one"
        yield _about_option(workflow.program, at, "RD521", problem, remedy)
    defaults = {name: said.get("default", "") if isinstance(said, dict) else "" for name, said in inputs.items()}
    size = len(json.dumps(defaults, ensure_ascii=False))
    if size > LONGEST_INPUTS:
        problem = f"the defaults of `workflow_dispatch` have {size:,} characters, and GitHub takes {LONGEST_INPUTS:,}"
        remedy = "put long defaults into files of the repository, and let an input name the file"
        yield _about_option(workflow.program, at, "RD521", problem, remedy)


def _about_option(program: Program, option: KeyPath, code: str, problem: str, remedy: str) -> Diagnostic:
    return OptionFinding(code, program.sources[0].path, None, problem, remedy, option=option)


def _too_many_steps(workflow: Written, count: int) -> Diagnostic:
    return _too_large(workflow, f"a job would have {count:,} steps, and GitHub shows {MOST_STEPS:,}")


def _too_large(workflow: Written, problem: str) -> Diagnostic:
    """A limit that the document as a whole is beyond; half of its steps are within, or can be split again."""
    headers = [node.group or node.id for node in workflow.program.nodes if not isinstance(node.task, End)]
    middle = headers[len(headers) // 2].split("/")[0]
    remedy = f"split the document, for example before {middle}, and compile each part to a workflow of its own"
    return Diagnostic("RD521", workflow.program.sources[0].path, None, problem, remedy)


def _step(step: Step) -> Iterator[tuple[str, str]]:
    """What is wrong with a step, and what can be done about it."""
    expressions = [
        step.condition,
        *(text for text in step.env.values() if isinstance(text, Expression) or OPEN in text),
    ]
    longest = max(len(text) for text in expressions)
    if longest > LONGEST_EXPRESSION:
        said = f"an expression would have {longest:,} characters, and GitHub takes {LONGEST_EXPRESSION:,}"
        yield said, _MEET if longest == len(step.condition) else _SHORTEN
    for name, text in step.env.items():
        size = len(f"{name}={text}".encode())
        if size > LONGEST_VARIABLE and not isinstance(text, Expression):
            yield f"the variable {name} would have {size:,} bytes, and Linux takes {LONGEST_VARIABLE:,}", _SHORTEN


def _at(node: Node, code: str, problem: str, remedy: str) -> Diagnostic:
    return Diagnostic(code, node.origin.path, node.origin.span, problem, remedy)
