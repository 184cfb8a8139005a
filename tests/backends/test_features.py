"""What a target does not carry is refused with the step and the feature, never dropped."""

import hashlib
from functools import cache
from typing import ClassVar

import pytest
from msgspec.structs import replace

from backends.base import Backend, Emission
from backends.options.model import Options
from backends.python.delegate import BASIC, DOES, called, reason
from backends.registry import BACKENDS, load
from compiler.ir.edges import Edge, Keep, SlotTest
from compiler.ir.features import Feature, features_of
from compiler.ir.program import Artifact, Constant, Context, Input, Program, Settings, Slot
from compiler.ir.rules import Event, Rule
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Reading, Shell, Task, Tool
from compiler.ir.texts import text
from compiler.ir.verify import verify
from compiler.ir.visits import VisitLimit, with_visit_limits
from tests.support import backend_programs as programs
from tests.support.sample_programs import node, program, to
from tests.support.stepspec_programs import BRIEF, specification

REVIEWER = Agent("reviewer", text("Look"), Reading(("GOOD",)))

TASKS: dict[Feature, Task] = {
    Feature.COMMANDS: Shell("sh", text("true")),
    Feature.QUESTIONS: Ask("yes_no", text("Ready?")),
    Feature.REPLIES: Ask("input", text("Which version?")),
    Feature.CHECKLISTS: Ask("pass_fail", text("Ready?"), items=(text("Backups exist"),)),
    Feature.AGENTS: REVIEWER,
    Feature.TOOLS: Tool("github", "merge", text("{}")),
    Feature.OPTIONAL_TOOLS: Tool("library", "prompt", text("{}"), optional=True),
    Feature.PARALLEL: Parallel((REVIEWER,), "all"),
    Feature.REPORTS: replace(REVIEWER, report="review"),
    Feature.GATES: Gate("production", text("Somebody must look")),
}


def with_step(task: Task, *edges: Edge) -> Program:
    return program(node("1", task, *edges, to("COMPLETE")), node("COMPLETE", End("complete")))


@cache
def examples() -> dict[Feature, Program]:
    """For each feature a program whose first step uses it."""
    found = {feature: with_step(task) for feature, task in TASKS.items()}
    found[Feature.KEYWORDS], ready = found[Feature.AGENTS], Ask("pass_fail", text("Ready?"))
    found[Feature.TEXTS] = with_slot(ready, replace(to("COMPLETE"), effects=(Keep("x"),)))
    found[Feature.EXTRACTS] = with_slot(REVIEWER, replace(to("COMPLETE"), effects=(Keep("x", extract="field"),)))
    keeps = replace(to("COMPLETE"), effects=(Keep("x", "output", "x"),))
    found[Feature.OUTPUTS] = with_slot(Shell("sh", text("true")), keeps)
    found[Feature.INPUTS] = replace(with_slot(Branch()), inputs=(Input("x", "string"),))
    found[Feature.TIMEOUTS] = with_settings(Settings(timeout=1))
    found[Feature.DELAYS], found[Feature.EXPIRY] = with_settings(Settings(delay=1)), with_step(ready)
    expiring = replace(found[Feature.EXPIRY].nodes[0], settings=Settings(expire=60))
    found[Feature.EXPIRY] = program(expiring, *found[Feature.EXPIRY].nodes[1:])
    found[Feature.VISITS] = with_visit_limits(with_step(ready), [VisitLimit("1", 2)])[0]
    found[Feature.LIMITS] = replace(with_step(ready), limit=1)
    first, *others = with_step(Shell("sh", text("true"))).nodes
    found[Feature.CONSTANTS] = program(replace(first, constants=(Constant("MODE", "fast"),)), *others)
    found[Feature.SECRETS] = replace(with_step(ready), secrets=("TOKEN",))
    found[Feature.NOTICES] = replace(with_step(ready), notify="./notify.sh")
    found[Feature.RULES] = replace(with_step(ready), rules=(Rule("once", "1 at most 1 time", (Event("1"),), most=1),))
    found[Feature.CONTEXTS] = replace(with_step(ready), contexts=(Context("c", text("above")),))
    found[Feature.ARTIFACTS] = replace(with_slot(ready), artifact=Artifact("x", text("markdown")))
    found[Feature.CONTRACTS] = specification(BRIEF)
    return found


def with_slot(task: Task, *edges: Edge) -> Program:
    return replace(with_step(task, *edges), slots=(Slot("x"),))


def with_settings(settings: Settings) -> Program:
    first, *others = with_step(Shell("sh", text("true"))).nodes
    return program(replace(first, settings=settings), *others)


@pytest.mark.parametrize("target", BACKENDS)
def test_a_feature_is_carried_or_refused_by_name(target: str) -> None:
    backend, without_step = (
        load(target),
        {Feature.INPUTS, Feature.LIMITS, Feature.ARTIFACTS, Feature.CONTEXTS, Feature.RULES},
    )
    for feature in Feature:
        using = examples()[feature]
        verify(using)
        assert feature in features_of(using)
        emission = backend.emit(using, {})
        if feature in backend.features:
            continue
        assert emission.text is None
        named = [item for item in emission.diagnostics if f"`{feature}`" in item.help]
        assert named, feature
        assert all(item.code == "RD502" and target in item.message for item in named)
        assert feature in without_step or any("step 1" in item.message for item in named), feature


class Quiet(Backend[Options]):
    """A target that passes commands and questions only."""

    name: ClassVar[str] = "quiet"
    features: ClassVar[frozenset[Feature]] = frozenset({Feature.COMMANDS, Feature.QUESTIONS, Feature.REPLIES})
    options = Options

    def render(self, program: Program, options: Options) -> Emission:
        """Nothing of it matters here."""
        raise NotImplementedError


def test_a_branch_on_a_kept_text_is_refused() -> None:
    """A target that does not carry slots would take the wrong arm of such a branch, without a word."""
    asked = node("1", Ask("input", text("Which version?")), replace(to("2"), effects=(Keep("version"),)))
    chosen = node("2", Branch(), to("COMPLETE", SlotTest("version", "==", "1")), to("STOP"))
    ends = (node("COMPLETE", End("complete")), node("STOP", End("stop")))
    emission = Quiet().emit(replace(program(asked, chosen, *ends), slots=(Slot("version"),)), {})
    assert emission.text is None
    messages = [item.message for item in emission.diagnostics]
    assert messages == ["the target quiet does not support stored strings (steps 1, 2)"]


@pytest.fixture
def simple() -> Program:
    return programs.program(
        programs.node("1", programs.shell("true"), programs.always("2")), programs.node("2", programs.ask("yes_no"))
    )


def test_every_feature_has_a_clause_and_commands_and_plain_questions_need_no_program(simple: Program) -> None:
    assert set(DOES) == set(Feature)
    assert reason(simple) is None


def test_the_first_step_that_needs_the_program_is_named(simple: Program) -> None:
    slow = replace(simple, nodes=tuple(replace(each, settings=Settings(timeout=60)) for each in simple.nodes))
    found = reason(slow)
    assert found is not None
    assert (found.clause, found.span) == ("step 1 (and 3 more) has a time limit", simple.nodes[0].origin.span)
    assert reason(slow, BASIC | {Feature.TIMEOUTS}) is None


def test_reasons_are_named_all_at_once_and_without_what_follows_from_others(simple: Program) -> None:
    secret = replace(simple, secrets=("TOKEN",))
    all_of_them = "the document needs secrets, step 1 runs a command and step 2 asks a question"
    for found, clause in (
        (reason(secret, frozenset()), all_of_them),
        (reason(replace(secret, limit=7)), "the document needs secrets"),
        (reason(simple, BASIC - {Feature.QUESTIONS}), "step 2 asks a question"),
        (reason(simple, operator="full"), "the option `operator` is `full`"),
    ):
        assert found is not None
        assert found.clause == clause


def test_program_and_runtime_are_in_one_folder(simple: Program) -> None:
    found = called(simple, "rdc/deploy.py", "full")
    assert found.edition == "agents"
    main, runtime = found.companions()
    assert main.path == "rdc/deploy.py"
    assert main.executable
    hashed = hashlib.sha256(runtime.text.encode()).hexdigest()
    assert runtime.path == f"rdc/rdc_runtime_agents_{hashed[:8]}.py"
    assert hashed in main.text
    assert hashlib.sha256(main.text.encode()).hexdigest() == found.sha256
