"""GitHub's limits, and other things that a workflow cannot express, as diagnostics."""

import json
from collections.abc import Iterator, Sequence

from backends.base import OptionDiagnostic, about_node, about_option
from backends.github.options.model import Called, GithubOptions, named_command
from backends.github.options.triggers import INPUTS
from backends.github.workflow.document import Written
from backends.github.yaml.model import Step
from backends.github.yaml.scalar import OPEN, Expression, label
from compiler.diagnostics.model import Diagnostic
from compiler.ir.edges import CounterTest
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Ask, End, Stage
from compiler.text.durations import spoken
from compiler.text.regex import Regex
from runtime_shim.tasks.recipes import RECIPES, is_recipe

LONGEST_EXPRESSION = 21_000  # documented maximum length of an expression, in characters

MOST_STEPS = 1_000
"""The number of steps that GitHub shows for a job. No one can review a run whose steps are hidden."""

MOST_JOBS = 256  # jobs of a matrix

LARGEST_FILE = 512 * 1024  # bytes of a workflow file

MOST_INPUTS = 25  # inputs of `workflow_dispatch`

LONGEST_INPUTS = 65_535  # characters of the payload that starts a workflow by hand: all inputs as JSON

LONGEST_VARIABLE = 128 * 1024 - 1
"""The largest `NAME=value`, in bytes, that Linux passes to a program."""

_OPEN = frozenset(["issue_comment", "discussion_comment"])
"""Events that anyone can cause, and that give a run the repository's secrets and token."""

_TRUSTED = "[OWNER, MEMBER, COLLABORATOR]"
_PINNED = Regex(r"\./.*|docker://.*@sha256:[0-9a-f]{64}|.*@[0-9a-f]{40}")
_SHORTEN = "move the string to a file in the repository, and name the file here"
_LIMIT = f"GitHub's limit is {LONGEST_EXPRESSION:,}"
_WITHOUT = "remove `${{` there, or move the text to a file in the repository, and name the file here"
_SHOWN = 40  # how much of an expression a message shows
_MEET = "reduce the transitions that lead to it: substeps can share the transition of their step"
_AGENTS = frozenset(recipe.command.split()[0] for recipe in RECIPES)
"""The programs of known agents, which GitHub's runners don't have."""


def taken(program: Program, options: GithubOptions, names: Sequence[str]) -> Iterator[Diagnostic]:
    """Report inputs of the option `on` that have the name of an input that rdc adds."""
    own = {"workflow_dispatch": names, "workflow_call": [name for name in names if name == "answers"]}
    for event, needed in own.items():
        given = (options.triggers().get(event) or {}).get("inputs") or {}
        for name in (name for name in needed if name in given):
            what = "for replies" if "answers" in names else "to continue a run"
            problem = f"`{event}` declares an input `{name}`, but rdc adds one with this name {what}"
            remedy = "rename your input" + (", or change the option `prompts`" if "answers" in names else "")
            yield about_option(program, ("on", event, "inputs", name), "RD013", problem, remedy)


def warnings(workflow: Written) -> Iterator[Diagnostic]:
    """Report problems of a workflow that GitHub accepts."""
    yield from cautions(workflow.program, workflow.options)
    yield from _waits_on_schedule(workflow.program, workflow.options)
    longest = workflow.minutes * 60
    for node in workflow.program.nodes:
        if not isinstance(node.task, Stage) and _longest(node, longest) > longest:
            limit = f"the job's limit of {spoken(longest)}"
            problem = f"with its attempts and delays, step {node.id} may take longer than {limit}"
            remedy = "reduce `timeout`, `retry-delay` or RETRY, or increase the option `timeout-minutes`"
            yield about_node(node, "RD537", problem, remedy)
    for job in workflow.jobs if workflow.options.timeout_minutes else ():
        limits = [step.limit.minutes * 60 for step in job.steps]
        if sum(limits) > longest > max(limits):
            problem = f"the steps of the job {job.id} may take {spoken(sum(limits))} together; it may take "
            remedy = "reduce their time limits, or increase `timeout-minutes`"
            yield about_option(workflow.program, ("timeout-minutes",), "RD537", problem + spoken(longest), remedy)


def cautions(program: Program, options: GithubOptions) -> Iterator[OptionDiagnostic]:
    """Report problems that the options have in each workflow."""
    yield from _unpinned(program, options)
    # Report events that let strangers start a run with the repository's secrets and token.
    for event in options.triggers():
        if event in _OPEN and not options.if_author:
            problem = f"anyone who can comment starts this workflow: `{event}` has no guard on the author"
            yield about_option(program, ("on", event), "RD549", problem, f"add `if-author: {_TRUSTED}`")
        if event == "workflow_run":
            problem = (
                "anyone whose pull request runs the other workflow starts this one, with its secrets: `workflow_run` "
                "has no author, so no guard is possible"
            )
            remedy = "use `workflow_call`, and call this workflow from the other one"
            yield about_option(program, ("on", event), "RD549", problem, remedy)
    yield from _unready(program, options)


def _unready(program: Program, options: GithubOptions) -> Iterator[OptionDiagnostic]:
    """Report agents by name that nothing installs on GitHub's runners, or that have no key."""
    if not options.is_hosted:  # the programs of other runners are unknown
        return
    for path, caller in options.callers():
        name = named_command(caller)
        called_by_name = is_recipe(name)
        if path[0] == "tools" or not (called_by_name or _AGENTS.intersection(name.split()[:1])):
            continue
        own = caller if isinstance(caller, Called) else Called(run=name)
        shared = isinstance(caller, str) or any(setting.secrets for setting in options.steps.values())
        has_key = own.secrets or (shared and (program.secrets or options.all_secrets())) or not called_by_name
        lacks = [
            *(["set-up that installs it"] if not (own.setup or options.setup) else []),
            *(["secret with its key"] if not has_key else []),
        ]
        if lacks and not (options.setup and options.permissions.get("id-token") == "write"):
            problem = f"the agent {name.split()[0]} has no {' and no '.join(lacks)}"
            one_line = label(name) if called_by_name else "'" + label(name).replace("'", "''") + "'"
            wanted = f"run: {one_line}, setup: [{{run: COMMAND}}]{', secrets: [NAME]' if called_by_name else ''}"
            more = ", and add NAME to the option `secrets`" if called_by_name else ""
            remedy = f"write `{'.'.join(path)}: {{{wanted}}}` with the command that installs it{more}"
            yield about_option(program, path, "RD550", problem, remedy)


def _unpinned(program: Program, options: GithubOptions) -> Iterator[OptionDiagnostic]:
    for number, step in enumerate(options.setup):
        if step.uses and not _PINNED.fullmatch(step.uses):
            problem = f"the option `setup` uses `{step.uses}` without pinning it to a commit"
            remedy = "write the full commit instead of the version: `uses: owner/action@<40 hexadecimal digits>`"
            yield about_option(program, ("setup", str(number), "uses"), "RD522", problem, remedy)


def _waits_on_schedule(program: Program, options: GithubOptions) -> Iterator[Diagnostic]:
    asking = [node.id for node in program.nodes if isinstance(node.task, Ask)]
    if not asking or "schedule" not in options.triggers() or options.prompts == "agent":
        return
    problem = f"a scheduled run would wait for an answer at step {asking[0]}, but no one is there to give it"
    remedy = "use `prompts: agent` with the option `agent`, or remove `schedule` from the option `on`"
    yield about_option(program, ("on", "schedule"), "RD523", problem, remedy)


def _longest(node: Node, enough: int) -> int:
    """Return the seconds that a node may take, by its own limits. The count stops once it exceeds `enough`."""
    counts = (test for edge in node.edges for test in edge.guard if isinstance(test, CounterTest))
    own = (test.value for test in counts if test.register == node.retries and test.operator == "<")
    retries = max(own, default=0)
    timeout, delay, backoff = node.settings.timeout or 0, node.settings.delay, node.settings.backoff
    total = (retries + 1) * timeout + (retries * delay if backoff == 1 else 0)
    for _ in range(retries if delay and backoff > 1 else 0):
        if total > enough:
            break
        total, delay = total + delay, delay * backoff
    return total


def exceeded(workflow: Written, text: str) -> Iterator[Diagnostic]:
    """Report the limits that a workflow exceeds."""
    size = len(text.encode())
    if size > LARGEST_FILE:
        yield _too_large(workflow, f"the workflow would have {size:,} bytes; GitHub's limit is {LARGEST_FILE:,}")
    yield from _inputs(workflow)
    nodes = workflow.names
    for job in workflow.jobs:
        if len(job.matrix) > MOST_JOBS:
            whose = next(nodes[step.id] for step in job.steps if step.id in nodes)
            problem = f"a matrix would have {len(job.matrix):,} jobs; GitHub's limit is {MOST_JOBS:,}"
            yield about_node(whose, "RD521", problem, "split the step, or use `parallel: step`")
        if len(job.steps) > MOST_STEPS:
            problem = f"a job would have {len(job.steps):,} steps; GitHub shows at most {MOST_STEPS:,}"
            yield _too_large(workflow, problem)
        for step in job.steps:
            for problem, remedy, about in _step(step):
                node = nodes.get(about)
                message = problem if node else f"{problem}, in the step {step.name}"
                yield about_node(node, "RD521", message, remedy) if node else _too_large(workflow, message)


def _inputs(workflow: Written) -> Iterator[Diagnostic]:
    """Report too many or too long inputs of `workflow_dispatch`, including the ones that rdc adds."""
    inputs = (workflow.events.get("workflow_dispatch") or {}).get("inputs") or {}
    at = ("on", "workflow_dispatch", "inputs")
    if len(inputs) > MOST_INPUTS:
        added = f" ({len(INPUTS)} of them for replies)" if workflow.waits else ""
        problem = f"`workflow_dispatch` would have {len(inputs)} inputs{added}; GitHub's limit is {MOST_INPUTS}"
        remedy = f"remove {len(inputs) - MOST_INPUTS} of them, or combine some"
        yield about_option(workflow.program, at, "RD521", problem, remedy)
    defaults = {
        name: declared.get("default", "") if isinstance(declared, dict) else "" for name, declared in inputs.items()
    }
    size = len(json.dumps(defaults, ensure_ascii=False))
    if size > LONGEST_INPUTS:
        problem = f"the defaults of `workflow_dispatch` have {size:,} characters; GitHub's limit is {LONGEST_INPUTS:,}"
        remedy = "move long defaults to files in the repository, and let an input name the file"
        yield about_option(workflow.program, at, "RD521", problem, remedy)


def _too_large(workflow: Written, problem: str) -> Diagnostic:
    """Report a limit that the whole document exceeds. Each half may fit, or can be split again."""
    headers = [node.group or node.id for node in workflow.program.nodes if not isinstance(node.task, End)]
    middle = headers[len(headers) // 2].split("/")[0]
    remedy = f"split the document, for example before step {middle}, and compile each part to a separate workflow"
    return Diagnostic("RD521", workflow.program.sources[0].path, None, problem, remedy)


def _step(step: Step) -> Iterator[tuple[str, str, str]]:
    if len(step.condition) > LONGEST_EXPRESSION:
        yield f"an expression would have {len(step.condition):,} characters; {_LIMIT}", _MEET, step.id
    for name, text in step.env.items():
        is_block, about = name.startswith("RDC_COMMAND"), name.removeprefix("RDC_COMMAND_")
        what, about = ("the block" if is_block else f"the variable {name}"), step.id if about == name else about
        size = len(f"{name}={text}".encode())
        if len(text) > LONGEST_EXPRESSION and isinstance(text, Expression):
            yield f"an expression would have {len(text):,} characters; {_LIMIT}", _SHORTEN, about
        elif len(text) > LONGEST_EXPRESSION and OPEN in text:
            yield _read_as_one(what, text), _WITHOUT, about
        elif size > LONGEST_VARIABLE and not isinstance(text, Expression):
            yield f"{what} would have {size:,} bytes; Linux's limit is {LONGEST_VARIABLE:,}", _SHORTEN, about


def _read_as_one(what: str, text: str) -> str:
    """Return the problem of a long string that GitHub reads as one expression, with the part that causes it."""
    before, opening, rest = text.partition(OPEN)
    inside, closing, _ = rest.partition("\n")[0].partition("}}")
    shown = label(f"{opening}{inside if len(inside) <= _SHOWN else ''}{closing}").replace("$ {{", OPEN)
    where = f"line {before.count(chr(10)) + 1} of {what}" if "\n" in text else what
    return f"`{shown}` in {where} makes all of it an expression, which would have {len(text):,} characters; {_LIMIT}"
