"""Which programs native steps can run: commands, inputs, outputs, secrets and time limits.

Other programs are called. An input is a variable of all steps, so each command must use all inputs.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import islice

from backends.base import CallReason, OptionDiagnostic, about_option
from backends.common.identifiers import identifiers_of
from backends.common.templates import render
from backends.github.native.decisions import command_of, obstacles
from backends.github.native.ends import Ends, summary_step
from backends.github.native.nodes import Nodes
from backends.github.options.model import Bound, GithubOptions
from backends.github.options.steps import environments_of
from backends.github.workflow.document import Written, missing
from backends.github.workflow.filling import has_several, unfillable, values_in, values_of, without_slots
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
        found.append(_about(program.index()[name], f"step {name} runs in the environment {environment}"))
    if asks:
        found += obstacles(without_slots(simplified(program)), options, values_of(program))
    return found or [*islice(_unfit(program, options), 1)]


def _about(node: Node, clause: str) -> CallReason:
    return CallReason(node.origin.path, node.origin.span, clause)


def not_native(program: Program, why: Sequence[CallReason]) -> OptionDiagnostic:
    """Return the diagnostic that `prompts: environment` cannot be: reviewers answer only native questions."""
    clauses = "; ".join(dict.fromkeys(reason.clause for reason in why))
    problem = f"reviewers of an environment cannot answer the questions of this document: {clauses}"
    has_replies = Feature.REPLIES in features_of(program)  # an agent cannot give them either
    remedy = "use `prompts: answers`" + ("" if has_replies else ", or `prompts: agent` with the option `agent`")
    if any(rule.persons for rule in program.rules):  # only reviewers are surely persons
        remedy = "change this, or use a gate in an `environment`"
    return about_option(program, ("prompts",), "RD520", problem, remedy)


def _unfit(program: Program, options: GithubOptions) -> Iterator[CallReason]:
    """Yield what native steps cannot do, although they support all features of the program."""
    names = dict.fromkeys((*(declared.name for declared in program.inputs), *values_of(program)))
    slots, path = {slot.name for slot in program.slots}, program.sources[0].path
    for name in filter(_TAKEN.fullmatch, (*program.secrets, *names)):
        yield CallReason(path, None, f"GitHub or bash reserves the name {name}")
    if slots:
        yield from _unfit_values(program, options, names)
    for node in program.nodes:
        if not _is_native(node, slots):
            yield _about(node, f"a native step cannot have one of the strings or variables of step {node.id}")
    for node, shown in unfillable(program, options):
        yield _about(node, f"{f'step {node.id}' if isinstance(node.task, Ask) else 'a message'} shows {shown}")
    if _is_told_late(program):
        yield CallReason(path, None, "a string in a loop shows an output or several values")


def _unfit_values(program: Program, options: GithubOptions, names: Collection[str]) -> Iterator[CallReason]:
    """Yield why an input or output cannot be a variable of all steps."""
    others, folded = {*program.secrets, *options.all_secrets(), *options.env}, dict[str, str]()
    path = program.sources[0].path
    for name in names:
        if name in others:
            yield CallReason(path, None, f"a secret or a variable of the option env has the name {name}, too")
        if (other := folded.setdefault(name.lower(), name)) != name:
            yield CallReason(path, None, f"the names {other} and {name} differ only in case")
    for declared in program.inputs:
        if any(map(_has_lines, (*declared.options, declared.pattern or "", declared.default or ""))):
            yield CallReason(path, None, f"the declaration of the input {declared.name} has a string of several lines")
        if isinstance(options.bind.get(declared.name), Bound):
            yield CallReason(path, None, f"a command prints the value of the input {declared.name}")  # it comes later
    values = values_of(program)
    for node in program.nodes:
        if not _hands_on(node, names, values):
            yield _about(node, f"step {node.id} does not get and hand on all inputs and outputs")
    if {slot.name for slot in program.slots if slot.initial is None} != {*names} or len(program.slots) != len(names):
        yield CallReason(path, None, "some steps cannot get an input or output as a variable")


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
        late = ([node.title] if "RDC_TITLE" in str(task.command) else []) + ([task.prompt] if count > 1 else [])
        return any(values & values_in(str(text)).keys() for text in late)
    shown = map(str, task_texts(task))
    return any(values & values_in(text).keys() or has_several(text) for text in shown)


def _hands_on(node: Node, names: Collection[str], values: Sequence[str]) -> bool:
    """Return whether a command has all values and sets all outputs, and another node none. No edge may test a value."""
    is_command = isinstance(node.task, Shell)
    wanted = [Keep(name, "output", name) for name in values if is_command]
    for edge in node.edges:
        found = [effect for effect in edge.effects if isinstance(effect, Keep | Clear)]
        if sorted(found, key=lambda effect: effect.slot) != wanted or any(isinstance(t, SlotTest) for t in edge.guard):
            return False
    own = {(variable.name, variable.register) for variable in node.variables if variable.register in names}
    return not is_command or own == {(name, name) for name in names}


def _has_lines(text: str) -> bool:
    return any(character in text for character in "\n\r\0") or any("\ud800" <= item <= "\udfff" for item in text)


def _is_native(node: Node, slots: set[str]) -> bool:
    """Return whether a native step can run a node. It knows only the counters in its own variables, unchanged."""
    if any(_TAKEN.fullmatch(constant.name) or "\0" in constant.value for constant in node.constants):
        return False
    if isinstance(node.task, Ask) and (node.settings.delay or node.constants):
        return False
    known = {variable.register for variable in node.variables} - slots
    others = (one for text in texts_of(node) for one in text.references if one.register not in slots)
    return all(one.register in known and not (one.before or one.after) for one in others)


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
        steps = tuple(self._steps())
        return (
            Job(
                id=self.program.kind,
                name=self._title,
                steps=steps,
                environment=self.options.environment or "",
                permissions=tuple(self._permissions(steps)),
                env={**self._own_variables(self.plan.program.nodes), **self.options.env},
                shell=shell_of("bash", noted=self.options.summary) if self._acts else PLAIN_SHELL,
            ),
        )

    @property
    def _acts(self) -> bool:
        return any(place.kind in {"step", "loop"} for place in self.plan.places)

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
