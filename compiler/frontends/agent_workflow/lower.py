"""Lower a workflow to a control-flow graph (docs/formats/agent_workflow.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostics.issues import SourceMap
from compiler.frontends.agent_workflow.syntax import TASK_DONE, Step, Workflow
from compiler.frontends.agent_workflow.verdicts import Verdicts, last_lines, verdicts
from compiler.frontends.common.names import safe_name, stem
from compiler.ir.edges import Clear, Edge, Effect, Keep, Origin, OutcomeTest, Written
from compiler.ir.program import Input, Jump, Node, Program, Slot, SourceFile
from compiler.ir.tasks import Agent, End, Gate, Parallel, Reading, Task
from compiler.ir.texts import Part, Reference, Text, joined, text

ENDINGS = (".yaml", ".yml", ".workflow")
FEWEST_STEPS, TIMES = 10, 3
"""The maximum number of steps in a run: at least, and as often as there are steps (W14)."""


class _Scene(Struct, frozen=True):
    """The data that all steps share."""

    workflow: Workflow
    places: SourceMap
    complete: str
    gated: frozenset[str]
    read: Mapping[str, Verdicts]
    redirects: Mapping[str, Sequence[Redirect]]

    def entry_of(self, name: str) -> str:
        """Return the first node of a step: its gate, if it has one (W13)."""
        return gate_of(name) if name in self.gated else name

    def origin(self, *path: str | int) -> Origin:
        return Origin(self.places.source.name, self.places.at(path))


def gate_of(name: str) -> str:
    """Return the gate node of a step."""
    return f"{name}/human"


def lower(workflow: Workflow, places: SourceMap, secrets: tuple[str, ...], max_steps: int | None) -> Program:
    """Return the program of a workflow without errors."""
    source, steps = places.source, workflow.steps
    names = [step.name for step in steps]
    scene = _Scene(
        workflow,
        places,
        "COMPLETE/end" if "COMPLETE" in names else "COMPLETE",
        frozenset(step.name for step in steps if step.human),
        {step.name: verdicts(step, names[: number + 1]) for number, step in enumerate(steps)},
        redirects(workflow),
    )
    nodes = [node for number in range(len(steps)) for node in _nodes(number, scene)]
    complete = Node(scene.complete, Text(), scene.origin("steps", len(steps) - 1), End("complete"), ())
    return Program(
        name=safe_name(stem(source.name, *ENDINGS), "workflow"),
        title=workflow.name,
        sources=(SourceFile(source.name, source.sha256),),
        entry=scene.entry_of(names[0]),
        nodes=(*nodes, complete),
        slots=(Slot(TASK), Slot(FOLDER), *(Slot(one.slot) for leading in scene.redirects.values() for one in leading)),
        inputs=(Input(TASK, "text", "The task", default=described(workflow) or None, required=False),),
        limit=max(FEWEST_STEPS, TIMES * len(steps)) if max_steps is None else max_steps or None,
        secrets=secrets,
        jumps=tuple(Jump(name, gate_of(name)) for name in names if name in scene.gated),
        kind="workflow",
        folder=FOLDER,
        description=described(workflow),
    )


def _nodes(number: int, scene: _Scene) -> Iterator[Node]:
    step = scene.workflow.steps[number]
    origin = scene.origin("steps", number)
    if step.human:
        yield from _gate(step, origin)
    stops = {word: f"{step.name}/{word}" for word in _REASONS}
    edges = tuple(_edges(number, stops, scene))
    yield Node(step.name, Text(), origin, _task(step, scene), edges)
    targets = {edge.target for edge in edges}
    for word, name in stops.items():
        if name in targets:
            yield Node(name, Text(), origin, End("stop", text(_REASONS[word](step))), ())


def _gate(step: Step, origin: Origin) -> Iterator[Node]:
    """Yield the gate in front of a step: approval starts it, rejection ends the run (W13)."""
    name, rejected = gate_of(step.name), f"{step.name}/rejected"
    edges = (Edge((OutcomeTest("approved"),), (), step.name), Edge((OutcomeTest("rejected"),), (), rejected))
    reason = text(f"Step {step.name} needs approval before it starts.")
    yield Node(name, Text(), origin, Gate(step.name, reason), edges)
    yield Node(rejected, Text(), origin, End("stop", text(f"step {step.name} was rejected")), ())


def _task(step: Step, scene: _Scene) -> Task:
    read, leading = scene.read[step.name], scene.redirects[step.name]
    reading = Reading(read.keywords, step.report.validation if step.report else None, (TASK_DONE,))
    if step.parallel is None:
        reading = replace(reading, failing=read.failing)
        prompt = prompt_of(scene.workflow, step, step.prompt or "", leading)
        return Agent(step.agent or "", prompt, reading, report=step.report_name)
    entries = tuple(
        Agent(entry.agent, prompt_of(scene.workflow, step, entry.prompt, leading), reading) for entry in step.parallel
    )
    return Parallel(entries, step.check or "all", read.failing, (TASK_DONE,), step.report_name)


_NO_COMMON_VERDICT = "agents gave no clear common verdict"
_REASONS = {
    "failed": lambda step: f"step {step.name}: {_whose(step)} gave no answer",
    "invalid": lambda step: (
        f"step {step.name}: {_whose(step)} gave an answer that does not match the validation pattern"
    ),
    "ambiguous": lambda step: (
        f"step {step.name}: the {'verdict is ambiguous' if step.parallel is None else _NO_COMMON_VERDICT}"
    ),
    "unrouted": lambda step: f"step {step.name}: no condition matches the answer, and there is no `next` or `end`",
}
"""Why a run stops after a step (W8, W10)."""


def _whose(step: Step) -> str:
    return "the agent" if step.parallel is None else "one of the agents"


def _edges(number: int, stops: Mapping[str, str], scene: _Scene) -> Iterator[Edge]:
    """Yield the edges of a step in order (W10); every edge clears the feedback that led to the step (W11)."""
    step = scene.workflow.steps[number]
    forgets = tuple(Clear(redirect.slot) for redirect in scene.redirects[step.name])
    words = ["failed"]
    if step.report and step.report.validation:  # without a pattern, no answer is invalid
        words.append("invalid")
    if len(scene.read[step.name].keywords) > 1:  # one keyword is never ambiguous
        words.append("ambiguous")
    for word in words:
        yield Edge((OutcomeTest(word),), forgets, stops[word])
    yield Edge((OutcomeTest(TASK_DONE),), forgets, scene.complete, (Written("complete"),))
    for place, (keyword, target) in enumerate(scene.read[step.name].goto.items()):
        keep = Keep(f"feedback {target} {step.name}")
        origins = (scene.origin("steps", number, "conditions", place),)
        effects: tuple[Effect, ...] = (*forgets, keep)
        yield Edge((OutcomeTest(keyword),), effects, scene.entry_of(target), (Written(f"goto {target}"),), origins)
    yield _otherwise(number, forgets, stops, scene)


def _otherwise(number: int, forgets: Sequence[Clear], stops: Mapping[str, str], scene: _Scene) -> Edge:
    step = scene.workflow.steps[number]
    if step.end:
        return Edge((), tuple(forgets), scene.complete, (Written("end"),), (scene.origin("steps", number, "end"),))
    if step.next:
        target, origins = scene.entry_of(step.next), (scene.origin("steps", number, "next"),)
        return Edge((), tuple(forgets), target, (Written(f"next {step.next}"),), origins)
    return Edge((), tuple(forgets), stops["unrouted"])


TASK = "task"
"""The input with the task of a run (W15)."""

FOLDER = "folder of reports"
"""The slot with the absolute path of the reports directory. Authors can't use this name."""

PARAGRAPH = "\n\n"


class Redirect(Struct, frozen=True):
    """A transition by a condition, which passes the step's answer on once (W11)."""

    source: str
    target: str
    leads_back: bool

    @property
    def slot(self) -> str:
        """Return the slot that holds the answer until the target has run."""
        return f"feedback {self.target} {self.source}"


def redirects(workflow: Workflow) -> Mapping[str, Sequence[Redirect]]:
    """Return the transitions by conditions that lead to each step, in the order of their source steps."""
    places = {step.name: place for place, step in enumerate(workflow.steps)}
    found: dict[str, list[Redirect]] = {step.name: [] for step in workflow.steps}
    for place, step in enumerate(workflow.steps):
        for target in dict.fromkeys(condition.goto for condition in step.conditions or ()):
            found[target].append(Redirect(step.name, target, place >= places[target]))
    return found


def prompt_of(workflow: Workflow, step: Step, written: str, leading: Iterable[Redirect]) -> Text:
    """Return the prompt of a step, or of one of its entries. The author's text has no placeholders."""
    parts: list[Part] = [
        f"Workflow: {workflow.name}\nStep: {step.name}\nReports are in: ",
        Reference(FOLDER),
        "\n\n",
        *_task_parts(workflow),
        *map(_feedback, leading),
    ]
    parts.append(_bare(written))
    if step.report and _bare(step.report.format):
        parts.append(f"{PARAGRAPH}A report like this is expected:{PARAGRAPH}{_bare(step.report.format)}")
    if lines := last_lines(step, written):
        choices = " or ".join(filter(None, (", ".join(lines[:-1]), lines[-1])))
        parts.append(f"{PARAGRAPH}End your answer with a line that has nothing but {choices}.")
    return joined(parts)


def _task_parts(workflow: Workflow) -> tuple[Part, ...]:
    """Return the task with its heading. Without a description it may be empty (W15)."""
    if described(workflow):
        return ("Task:\n", Reference(TASK, "{task}"), PARAGRAPH)
    return (Reference(TASK, "{task}", before="Task:\n", after=PARAGRAPH),)


def described(workflow: Workflow) -> str:
    """Return the description, which is the default task (W15)."""
    return (workflow.description or "").strip()


def _feedback(redirect: Redirect) -> Reference:
    """The answer that led to a step. It says that the step runs again only if the transition leads back."""
    again = ", and why this step runs again" if redirect.leads_back else ""
    return Reference(redirect.slot, before=f"What {redirect.source} said{again}:{PARAGRAPH}", after=PARAGRAPH)


def _bare(written: str) -> str:
    return written.strip("\n").rstrip()
