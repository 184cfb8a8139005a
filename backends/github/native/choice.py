"""Which programs native steps can run: commands, inputs, outputs, secrets and time limits.

Other programs are called. An input is a variable of all steps, so each command must use all inputs.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from backends.base import CallReason, OptionDiagnostic, about_option
from backends.common.identifiers import identifiers_of
from backends.common.templates import render
from backends.github.native.decisions import command_of, obstacles
from backends.github.native.ends import Ends, summary_step
from backends.github.native.nodes import Nodes
from backends.github.options.model import GithubOptions
from backends.github.options.steps import environments_of
from backends.github.workflow.document import Written, missing
from backends.github.workflow.filling import are_fillable, filled_step, has_several, values_in, values_of, without_slots
from backends.github.workflow.inputs import measured, taken
from backends.github.yaml.model import PLAIN_SHELL, WORDS, Job, Step, shell_of
from backends.github.yaml.scalar import Expression
from backends.python.delegate import reasons
from backends.scheduling.places import simplified
from backends.scheduling.plan import Plan, make_plan
from compiler.ir.edges import Clear, Keep, SlotTest
from compiler.ir.features import Feature, features_of
from compiler.ir.program import Node, Program, texts_of
from compiler.ir.tasks import Ask, Shell, task_texts
from compiler.ir.texts import Reference
from compiler.text.regex import Regex

NATIVE = frozenset(
    {
        Feature.COMMANDS,
        Feature.INPUTS,
        Feature.TEXTS,
        Feature.OUTPUTS,
        Feature.TIMEOUTS,
        Feature.DELAYS,
        Feature.CONSTANTS,
        Feature.SECRETS,
        Feature.RULES,  # nothing changes the flow there, so the proof is enough
    }
)

_TAKEN = Regex(
    r"(?i)(GITHUB|RUNNER|ACTIONS|INPUT)_.*|RDC_.*|NODE_OPTIONS|CI|BASH.*|SECONDS|S?RANDOM|LINENO|EPOCH.*|DIRSTACK"
    r"|FUNCNAME|GROUPS|HIST.*|OPT(ARG|ERR|IND)|PIPESTATUS|REPLY|COMPREPLY|POSIXLY_CORRECT|TIMEFORMAT|TMOUT"
    r"|(?-i:kept|intact|noted)"
)
"""Variables that GitHub, bash or the script around a command uses. A step cannot get its own values for them."""


def reasons_to_call(program: Program, options: GithubOptions) -> list[CallReason]:
    """Return why a workflow must call the program; nothing if native steps can do everything."""
    asks = options.prompts not in {"answers", "agent"}
    found = list(reasons(program, NATIVE | {Feature.QUESTIONS} if asks else NATIVE))
    for name, environment in environments_of(program, options).items():
        origin = program.index()[name].origin
        found.append(CallReason(origin.path, origin.span, f"step {name} runs in the environment {environment}"))
    if asks:
        found += obstacles(without_slots(simplified(program)), options, values_of(program))
    clause = "" if found else _clause(program, options)
    return [*found, *([CallReason(program.sources[0].path, None, clause)] if clause else [])]


def not_native(program: Program, why: Sequence[CallReason]) -> OptionDiagnostic:
    """Return the diagnostic that `prompts: environment` cannot be: reviewers answer only native questions."""
    clauses = "; ".join(dict.fromkeys(reason.clause for reason in why))
    problem = f"reviewers of an environment cannot answer the questions of this document: {clauses}"
    has_replies = Feature.REPLIES in features_of(program)  # an agent cannot give them either
    remedy = "use `prompts: answers`" + ("" if has_replies else ", or `prompts: agent` with the option `agent`")
    return about_option(program, ("prompts",), "RD520", problem, remedy)


def _clause(program: Program, options: GithubOptions) -> str:
    """Return what native steps cannot do, although they support all features of the program; "" for nothing."""
    if any(map(_TAKEN.fullmatch, program.secrets)):
        return "a secret has a name that GitHub or bash reserves"
    if program.slots and not (_are_variables(program, options) and _are_handed_on(program)):
        return "some steps cannot get an input or output as a variable"
    slots = {slot.name for slot in program.slots}
    if not all(_is_native(node, slots) for node in program.nodes):
        return "a native step cannot have one of the strings or variables"
    if not are_fillable(program, options):
        return "a message shows a value that may be missing or have several lines"
    return "" if not _is_told_late(program) else "a message in a loop shows an output or several values"


def _is_told_late(program: Program) -> bool:
    """Return whether a loop shows a command's output or several values. Its strings are filled in before it starts."""
    values = {*values_of(program)}
    if not any(_is_late(node, values, 2) for node in without_slots(program).nodes):  # faster than finding the loops
        return False
    plain = without_slots(simplified(program))
    plan = make_plan(plain, identifiers_of(plain), WORDS, repeats=not values)
    loops = [place.nodes for place in plan.places if place.kind == "loop"]
    return any(_is_late(node, values, len(nodes)) for nodes in loops for node in nodes)


def _is_late(node: Node, values: AbstractSet[str], count: int) -> bool:
    """Return whether a loop of so many nodes shows values of a node late. A prompt is shown before any attempt."""
    task = node.task
    if isinstance(task, Shell):
        titles = [node.title] if "RDC_TITLE" in str(task.command) else []
        return any(values & values_in(str(text)).keys() for text in (*titles, *[task.prompt][count < 2 :]))
    shown = map(str, task_texts(task))
    return any(values & values_in(text).keys() or has_several(text) for text in shown)


def _are_variables(program: Program, options: GithubOptions) -> bool:
    names = {declared.name for declared in program.inputs} | set(values_of(program))
    if {slot.name for slot in program.slots if slot.initial is None} != names or len(program.slots) != len(names):
        return False
    if names & {*program.secrets, *options.all_secrets(), *options.env}:
        return False
    if any(_TAKEN.fullmatch(name) for name in names) or len({name.lower() for name in names}) < len(names):
        return False
    if any(map(_has_lines, _choices(program))) or _tests_slots(program):
        return False
    if any(not isinstance(value, str) and not options.is_fixed(name) for name, value in options.bind.items()):
        return False  # the command's output comes later
    own = {(name, name) for name in names}
    commands = (node for node in program.nodes if isinstance(node.task, Shell))
    return all({(v.name, v.register) for v in node.variables if v.register in names} == own for node in commands)


def _are_handed_on(program: Program) -> bool:
    """Return whether all commands set the same outputs, if any."""
    values = values_of(program)
    keeps = [Keep(name, "output", name) for name in values]
    for node in program.nodes:
        wanted = keeps if isinstance(node.task, Shell) else []
        for edge in node.edges:
            found = [effect for effect in edge.effects if isinstance(effect, Keep | Clear)]
            if sorted(found, key=lambda effect: effect.slot) != wanted:
                return False
    return True


def _choices(program: Program) -> Iterator[str]:
    for declared in program.inputs:
        yield from (*declared.options, declared.pattern or "", declared.default or "")


def _has_lines(text: str) -> bool:
    return any(character in text for character in "\n\r\0") or any("\ud800" <= item <= "\udfff" for item in text)


def _tests_slots(program: Program) -> bool:
    return any(isinstance(test, SlotTest) for node in program.nodes for edge in node.edges for test in edge.guard)


def _is_native(node: Node, slots: set[str]) -> bool:
    """Return whether a native step can run a node. It knows only the counters in its own variables, unchanged."""
    if any(_TAKEN.fullmatch(constant.name) or "\0" in constant.value for constant in node.constants):
        return False
    if isinstance(node.task, Ask) and (node.settings.delay or node.constants):
        return False
    known = {variable.register for variable in node.variables} - slots
    return all(_is_known(reference, known, slots) for text in texts_of(node) for reference in text.references)


def _is_known(reference: Reference, known: set[str], slots: set[str]) -> bool:
    if reference.register in slots:
        return True
    return reference.register in known and not (reference.before or reference.after)


class Runbook(Written, frozen=True, dict=True):
    """The workflow; `flow` is the graph as Mermaid, empty for none."""

    plan: Plan
    flow: str

    @property
    def names(self) -> Mapping[str, Node]:
        """The nodes by the ids of their steps."""
        return {self.plan.ids.nodes[node.id]: node for node in self.plan.program.nodes}

    @cached_property
    def jobs(self) -> Sequence[Job]:
        """The only job."""
        steps = tuple(self._filled(step) for step in self._steps())
        return (
            Job(
                id=self.program.kind,
                name=self._title,
                steps=steps,
                environment=self.options.environment or "",
                permissions=tuple(self._permissions(checks_out=self.options.checkout)),
                env={**self._own_variables(self.plan.program.nodes), **self._environment()},
                shell=shell_of("bash", noted=self.options.summary) if self._acts else PLAIN_SHELL,
            ),
        )

    @property
    def _acts(self) -> bool:
        return any(place.kind in {"step", "loop"} for place in self.plan.places)

    def _filled(self, step: Step) -> Step:
        return filled_step(step) if self.program.slots else step

    def _start(self) -> Iterator[Step]:
        if stored := [self.secrets.stored[name] for name in self.program.secrets]:
            yield Step(
                name="Check the secrets",
                comments=(
                    "Stops the run before the first command if a secret is missing. It sees only names, not values.",
                ),
                shell=PLAIN_SHELL,
                env=missing(stored, self.options.environment or "", self.events),
                run=render("github/secrets.sh"),
            )
        if self.program.inputs:
            yield from measured(self.program.inputs, self._events, self.options, waits=False)
            yield taken(self.program.inputs, self._events, self.options)

    def _steps(self) -> Iterator[Step]:
        yield from self._start()
        if self.options.checkout:
            yield self._checkout()
        if self._acts:
            yield from self._set_up()
        steps = [
            *Nodes(self.plan, self.options.summary, self.secrets, values_of(self.program)).steps(),
            *Ends(self.plan, headed=self.options.summary).steps(),
        ]
        yield from steps or [Step("Continue", run="true")]  # GitHub needs a step in each job
        yield from self._summary(self.plan)

    def _summary(self, plan: Plan) -> Iterator[Step]:
        if self.options.summary:
            yield summary_step(plan, self.flow)

    @staticmethod
    def _own_variables(nodes: Iterable[Node]) -> dict[str, str]:
        commands = "\n".join(map(command_of, nodes))
        own = {"RDC_RUN_ID": Expression("${{ github.run_id }}"), "RDC_ATTEMPT": Expression("1")}
        return {name: value for name, value in own.items() if name in commands}
