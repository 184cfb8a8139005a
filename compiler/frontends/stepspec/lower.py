"""Lower a specification to a control-flow graph (I32, docs/formats/stepspec.md)."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Literal

from msgspec import Struct

from compiler.diagnostics.issues import SourceMap
from compiler.diagnostics.model import DataPath
from compiler.frontends.common.names import safe_name
from compiler.frontends.stepspec.placeholders import (
    input_paths,
    placeholders,
    templates,
    validated_paths,
    with_references,
)
from compiler.frontends.stepspec.syntax import STEPS, Called, Document, Runtime, StepSpec, part, tool_stages
from compiler.frontends.stepspec.tools import (
    Asked,
    Subject,
    checks_of,
    phase_of,
    reason_to_block,
    stepspec_of,
    tool_gates,
)
from compiler.ir.edges import Add, CounterTest, Edge, Effect, Origin, OutcomeTest, Reset, StepOutcome
from compiler.ir.program import Counter, Group, Input, Jump, Node, Program, Settings, Slot, SourceFile
from compiler.ir.tasks import End, Gate, Stage
from compiler.ir.texts import Text, text
from compiler.text.source import Source

COMPLETE = "COMPLETE"
PASS, FAIL = OutcomeTest("pass"), OutcomeTest("fail")


class Meaning(Struct, frozen=True):
    """A specification without errors: steps, names, settings, and the files it was read from, the document first."""

    document: Document
    called: Called
    runtime: Runtime
    sources: tuple[Source, ...]


class _Stage(Struct, frozen=True):
    """A stage of a step. `failed` says where its failure leads."""

    id: str
    title: Text
    task: Stage
    at: DataPath
    failed: Literal["again", "stop", "on"] = "again"


class _Step(Struct, frozen=True):
    """A step with its gates and stages. `counter` is None if the step has no retries."""

    spec: StepSpec
    at: DataPath
    gates: tuple[Asked, ...]
    stages: tuple[_Stage, ...]
    retries: int
    delay: int
    counter: str | None

    @property
    def fresh(self) -> tuple[Effect, ...]:
        """The effects of leaving the step."""
        return (Reset(self.spec.id),) if self.counter else ()

    @property
    def entry(self) -> str:
        """The step's first node."""
        return self.gates[0].gate if self.gates else self.stages[0].id


def lower(meaning: Meaning, places: SourceMap, secrets: tuple[str, ...]) -> Program:
    """Return the program of a specification without errors."""
    steps = list(_steps(meaning))
    origin = cache(lambda at: Origin(places.source.name, places.at(at)))
    complete = _free(COMPLETE, steps)
    following = [*(step.entry for step in steps[1:]), complete]
    nodes = [node for step, then in zip(steps, following, strict=True) for node in _nodes(step, then, origin)]
    end = Node(complete, Text(), origin(steps[-1].at), End("complete"), ())
    names, values = placeholders([step.spec for step in steps]), meaning.runtime.values
    called = meaning.called
    return Program(
        name=safe_name(called.stem, "specification"),
        title=f"{called.module}/{called.workflow}" if meaning.document.workflow else called.stem,
        sources=tuple(SourceFile(source.name, source.sha256) for source in meaning.sources),
        entry=steps[0].entry,
        nodes=(*nodes, end),
        groups=tuple(_group(step, origin(step.at)) for step in steps),
        counters=tuple(
            Counter(step.counter, step.spec.id, role="retries", of=step.spec.id) for step in steps if step.counter
        ),
        slots=tuple(map(Slot, names)),
        inputs=tuple(Input(one, description=f"Placeholder {{{one}}}", default=values.get(one)) for one in names),
        secrets=secrets,
        jumps=tuple(Jump(step.spec.id, step.entry) for step in steps if step.entry != step.spec.id),
        kind="specification",
        stepspec=stepspec_of(meaning.document, meaning.called, meaning.runtime),
    )


def _free(name: str, steps: Sequence[_Step]) -> str:
    taken = {stage.id.casefold() for step in steps for stage in step.stages}
    taken |= {gate.gate.casefold() for step in steps for gate in step.gates}
    while name.casefold() in taken:
        name += "/end"
    return name


def _group(step: _Step, origin: Origin) -> Group:
    about = with_references(step.spec.description or "")
    return Group(step.spec.id, text(step.spec.name or ""), about, "step", "", origin)


def _steps(meaning: Meaning) -> Iterator[_Step]:
    """Yield the steps. A gate of an earlier step isn't asked again."""
    asked: set[str] = set()
    for number, spec in enumerate(meaning.document.step_specs):
        gates: dict[str, Asked] = {}
        for gate in _gates(spec, meaning):
            if gate.gate not in asked:
                gates.setdefault(gate.gate, gate)
        asked.update(gates)
        output = spec.retries
        most = output.max if output and output.max is not None else meaning.runtime.max_retries or 0
        delay = (output and output.backoff_seconds) or 0
        counter = f"{spec.id} retries" if most else None
        stages = tuple(_stages(spec, meaning.runtime, number))
        yield _Step(spec, (STEPS, number), tuple(gates.values()), stages, most, delay, counter)


def _gates(spec: StepSpec, meaning: Meaning) -> Iterator[Asked]:
    about = Subject(phase_of(spec, meaning.document), meaning.called.workflow)
    if reason := reason_to_block(spec, about, meaning.runtime.policy):
        yield Asked(meaning.called.gate(spec.id), reason)
    yield from tool_gates(spec, meaning.runtime)


def _stages(spec: StepSpec, runtime: Runtime, number: int) -> Iterator[_Stage]:
    """Yield the stages of an attempt that have something to do, in order."""
    at: DataPath = (STEPS, number)
    guarded = runtime.guardrails
    needed = list(dict.fromkeys(path for _, path in (*input_paths(spec), *templates(spec))))
    checked = validated_paths(spec)
    if needed or (guarded and guarded.input):
        yield _stage(spec, "inputs", Stage("inputs", spec.id, paths=_texts(needed)), (*at, "inputs"), "stop")
    if runtime.context:
        yield _stage(spec, "context", Stage("context", spec.id), (*at, "inputs"))
    for place, (stage, call) in enumerate(zip(tool_stages(spec), spec.tools or (), strict=True)):
        task = Stage("tool", spec.id, subject=call.name, place=place)
        yield _Stage(stage, text(call.name), task, (*at, "tools", place), "again" if call.required else "on")
    yield _Stage(spec.id, text(spec.name or ""), Stage("execute", spec.id), at)
    if guarded and guarded.output:
        yield _stage(spec, "guardrails", Stage("guardrails", spec.id), (*at, "outputs"))
    if checked or spec.validation:
        task = Stage("validation", spec.id, paths=_texts(checked), checks=checks_of(spec.validation or ""))
        yield _stage(spec, "validation", task, (*at, "validation"))
    level = spec.level if spec.level and spec.level != "none" else ""
    if spec.outputs or level:
        task = Stage("outputs", spec.id, subject=level, paths=_texts(list(dict.fromkeys(spec.outputs or ()))))
        yield _stage(spec, "outputs", task, (*at, "outputs"))


def _stage(spec: StepSpec, name: str, task: Stage, at: DataPath, failed: Literal["again", "stop"] = "again") -> _Stage:
    return _Stage(part(spec.id, name), text(name), task, at, failed)


def _texts(written: Sequence[str]) -> tuple[Text, ...]:
    return tuple(map(with_references, written))


def _nodes(step: _Step, following: str, origin: Callable[[DataPath], Origin]) -> Iterator[Node]:
    spec = step.spec
    after = [gate.gate for gate in step.gates[1:]] + [step.stages[0].id]
    for gate, then in zip(step.gates, after, strict=False):
        task = Gate(gate.gate, text(gate.reason))
        edges = (
            Edge((OutcomeTest("approved"),), (), then),
            Edge((OutcomeTest("rejected"),), (), part(spec.id, "rejected")),
        )
        yield Node(gate.gate, text(spec.name or ""), origin((*step.at, "human_gate")), task, edges, spec.id)
    fresh, failing, usual = step.fresh, _failing(step), Settings()
    last = len(step.stages) - 1
    for place, stage in enumerate(step.stages):
        if place == last:  # never an optional tool
            passing = Edge((PASS,), fresh, following, settles=(StepOutcome(spec.id, PASS.word),))
        else:
            passing = Edge(() if stage.failed == "on" else (PASS,), (), step.stages[place + 1].id)
        transitions = (passing, *failing[stage.failed])
        settings = Settings(delay=step.delay) if place == 0 and step.counter else usual
        yield Node(
            stage.id, stage.title, origin(stage.at), stage.task, transitions, spec.id, (), step.counter, settings
        )
    for word, output in (("rejected", "was rejected"), ("failed", "failed"))[not step.gates :]:
        yield Node(part(spec.id, word), Text(), origin(step.at), End("stop", text(f"step {spec.id} {output}")), ())


def _failing(step: _Step) -> dict[str, tuple[Edge, ...]]:
    """Return the edges of a failure, by `failed`: retry from the first stage, stop, or continue as if it had passed."""
    settles = (StepOutcome(step.spec.id, FAIL.word),)
    stop = Edge((FAIL,), step.fresh, part(step.spec.id, "failed"), settles=settles)
    if step.counter is None:
        return {"again": (stop,), "stop": (stop,), "on": ()}
    left = CounterTest(step.counter, "<", step.retries)
    again = Edge((FAIL, left), (Add(step.counter, 1),), step.stages[0].id, settles=settles)
    return {"again": (again, stop), "stop": (stop,), "on": ()}
