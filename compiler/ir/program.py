"""The intermediate representation: one control-flow graph for all formats (docs/explanation/semantics.md).

A program is a list of nodes with guarded edges. At each node, a run does the task, gets an outcome, takes the first
edge whose guard is true, applies its effects to the registers, and continues at its target.

All parts are frozen tuples and structs, so programs can be hashed, compared and shared. They have no reference cycles,
so the most frequent parts are hidden from the garbage collector (`gc=False`). `Program.analyses` is a cache: it isn't
part of equality, and `replace` empties it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from compiler.ir.edges import Edge, Effect, Origin, StepOutcome
from compiler.ir.rules import Rule
from compiler.ir.tasks import IDLE, Task, map_task_texts, task_texts
from compiler.ir.texts import Text


class Variable(Struct, frozen=True):  # I7
    """A counter or slot that the node's commands see as an environment variable."""

    name: str
    register: str


class Constant(Struct, frozen=True):  # I25
    """A fixed string that the node's commands see as an environment variable."""

    name: str
    value: str


class Settings(Struct, frozen=True):  # I21, I22
    """The timing of a node's attempts, in seconds. A `timeout` of None is the default of the task.

    `expire` is how long a question or gate waits for a person; 0 for no limit.
    """

    timeout: int | None = None
    delay: int = 0
    backoff: int = 1
    expire: int = 0


class Node(Struct, frozen=True):  # I23
    """A point in the graph where a run can be.

    `id` is the name that people see (`1.2`, `{N}.1`, `2/lint.runbook.md/1`). `group` is the id of the innermost group,
    or "". `retries` is the counter whose value plus one is the number of the attempt.
    """

    id: str
    title: Text
    origin: Origin
    task: Task
    edges: tuple[Edge, ...]
    group: str = ""
    variables: tuple[Variable, ...] = ()
    retries: str | None = None
    settings: Settings = Settings()
    constants: tuple[Constant, ...] = ()

    @property
    def is_end(self) -> bool:
        """Whether a run is over at the node."""
        return self.task.kind == "end" and not self.edges

    @property
    def is_passed(self) -> bool:
        """Whether a run passes through the node: a branch, or the end of a nested document."""
        return self.task.kind == "branch" or (self.task.kind == "end" and bool(self.edges))


class Group(Struct, frozen=True):
    """A step with substeps, or a nested runbook. Pictures draw it as a frame. `prompt` is Markdown."""

    id: str
    title: Text
    prompt: Text
    kind: Literal["step", "runbook"]
    parent: str
    origin: Origin


class Counter(Struct, frozen=True):  # I4
    """An integer counter. It is reset when the part of the document named by `scope` starts again; "" is the whole run.

    `role` is its purpose: to count the retries, instances or visits of the step `of`, or to mark that it had the
    `outcome`.
    """

    name: str
    scope: str
    initial: int = 0
    role: Literal["", "retries", "instance", "mark", "visits"] = ""
    of: str = ""
    outcome: str = ""


class Slot(Struct, frozen=True):  # I5
    """A string register. Without an initial string it is unset."""

    name: str
    initial: str | None = None


class Input(Struct, frozen=True):  # I8
    """A value that is given when a run starts. It is stored in the slot of the same name."""

    name: str
    type: Literal["string", "text", "number", "boolean", "choice"] = "string"
    description: str = ""
    default: str | None = None
    options: tuple[str, ...] = ()
    pattern: str | None = None
    required: bool = True


class Entering(Struct, frozen=True):  # I27
    """The effects of an operator's jump into a group from outside it."""

    group: str
    effects: tuple[Effect, ...]


class Jump(Struct, frozen=True):  # I27
    """An operator's jump to a step or group that does more than move to the node of that name.

    `entering` lists the groups around the target that the jump may enter, the outermost first.
    """

    id: str
    target: str
    entering: tuple[Entering, ...] = ()
    effects: tuple[Effect, ...] = ()

    @property
    def all_effects(self) -> tuple[Effect, ...]:
        """The effects of a jump that enters all groups."""
        return (*(effect for group in self.entering for effect in group.effects), *self.effects)


class SourceFile(Struct, frozen=True):
    """A document that the program was compiled from.

    `read_by` has the command-line options for reading it, such as `--from`.
    """

    path: str
    sha256: str
    read_by: tuple[str, ...] = ()


Noun = Literal["runbook", "playbook", "workflow", "specification", "program"]
"""The kinds of documents. Functions and jobs in generated files have these names."""

USUAL_KIND: Noun = "runbook"


class Context(Struct, frozen=True):  # I31
    """A text above prompts, such as the outputs of earlier steps. `after` is the context above it."""

    name: str
    text: Text
    after: str = ""


class Artifact(Struct, frozen=True):  # I28
    """The slot that a successful run writes to a file, and the type of that file."""

    slot: str
    type: Text


class SpecifiedStep(Struct, frozen=True):  # I13
    """A step of a contract. `spec` is its specification: a JSON object with references in strings."""

    id: str
    spec: Text


class StepSpecs(Struct, frozen=True):  # I32
    """The contract of a step specification. `workflow` and `config` are JSON objects; `steps` are in order."""

    workflow: str
    steps: tuple[SpecifiedStep, ...]
    config: str = "{}"


class Program(Struct, frozen=True, dict=True):  # I24, I26, I28, I30 to I33
    """A document and its includes as one graph. The first source is the document itself.

    `limit` is the maximum number of tasks in a run, or None. `secrets` are the environment variables that must be set
    at the start. `artifact` is the file that a successful run writes. `kind` is the kind of document, a word that
    generated files use. `folder` is the slot with the path of the reports directory, or "". `contexts` are texts above
    prompts, each after the context above it. `stepspec` belongs to step specifications. `name` comes from the path of
    the document. `project` is the name of its project, and `file` that of the generated file if it matters, or "".
    With `logs`, runs keep the output of commands. `notify` is a command to call when a run waits or ends, or "".
    `rules` hold in every run. `description` is the author's summary, or "".
    """

    name: str
    title: str
    sources: tuple[SourceFile, ...]
    entry: str
    nodes: tuple[Node, ...]
    groups: tuple[Group, ...] = ()
    counters: tuple[Counter, ...] = field(default=(), name="registers")
    slots: tuple[Slot, ...] = ()
    inputs: tuple[Input, ...] = ()
    limit: int | None = None
    secrets: tuple[str, ...] = ()
    jumps: tuple[Jump, ...] = ()
    artifact: Artifact | None = None
    contexts: tuple[Context, ...] = ()
    kind: Noun = USUAL_KIND
    folder: str = ""
    stepspec: StepSpecs | None = None
    project: str = ""
    file: str = ""
    logs: bool = False
    notify: str = ""
    rules: tuple[Rule, ...] = ()
    description: str = ""

    def with_(self, **changed: Any) -> Program:  # noqa: ANN401 (names or sources)
        """Return the program with other names or sources, and with its analyses, which don't depend on them."""
        other = replace(self, **changed)
        other.analyses.update(self.analyses)
        return other

    def index(self) -> dict[str, Node]:
        """Return the nodes by id."""
        return {node.id: node for node in self.nodes}

    @cached_property
    def analyses(self) -> dict[str, Any]:
        """The results of analyses by name. A program never changes, so each analysis runs once."""
        return {}

    @cached_property
    def named_contexts(self) -> dict[str, Context]:
        """The contexts by name."""
        return {context.name: context for context in self.contexts}

    def above(self, name: str) -> Iterator[Text]:
        """Return the texts of a context from top to bottom; none for "" (I31)."""
        found: list[Text] = []
        while name:
            context = self.named_contexts[name]
            found.append(context.text)
            name = context.after
        return reversed(found)

    @cached_property
    def parents(self) -> dict[str, str]:
        """The parent of each group, or ""."""
        return {group.id: group.parent for group in self.groups}

    def around(self, group: str) -> Iterator[str]:
        """Yield a group and the groups around it, from the inside. "" has none."""
        while group:
            yield group
            group = self.parents[group]

    def can_settle(self, group: str, settles: Iterable[StepOutcome]) -> bool:
        """Return whether an edge of a node in `group` can settle these outcomes: groups around it, in order (I33)."""
        around = self.around(group)
        return all(settled.step in around for settled in settles)  # each test continues behind the group before


def jumps_of(program: Program) -> dict[str, Jump]:
    """Return the operator's jump to each step and group (I27)."""
    plain = {name: Jump(name, target) for name, target in plain_targets(program).items()}
    return plain | {jump.id: jump for jump in program.jumps}


def plain_targets(program: Program) -> dict[str, str]:
    """Return the default target of the operator's jump to each step and group (I27)."""
    targets: dict[str, str] = {}
    for node in program.nodes:
        for group in program.around(node.group):  # a jump to a group goes to its first node
            targets.setdefault(group, node.id)
        if type(node.task) not in IDLE:
            targets[node.id] = node.id
    return targets


def with_jumps(program: Program) -> Program:
    """Return the program with all operator's jumps made explicit, for targets that support jumps (I27)."""
    return replace(program, jumps=tuple(jumps_of(program).values()))


def without_jumps(program: Program) -> Program:
    """Return the program without operator's jumps, for targets that don't support them."""
    if not program.jumps:
        return program
    found = replace(program, jumps=())
    vars(found)["analyses"] = program.analyses.setdefault("without jumps", {})  # such programs are made repeatedly
    return found


def work_of(step: str) -> str:
    """Return the id of the node where an agent does the work that the command of a step checks."""
    return f"{step}/do"


def check_of(node: Node) -> str:
    """Return the id of the step whose command checks what the node's agent does, or ""."""
    step = node.id.removesuffix("/do")
    is_checked = node.task.kind == "agent" and step != node.id and any(edge.target == step for edge in node.edges)
    return step if is_checked else ""


def texts_of(node: Node) -> tuple[Text, ...]:
    """Return all texts of a node, in reading order."""
    task = node.task
    if task.kind == "shell":  # the usual case
        return (node.title, task.prompt, task.command)
    return (node.title, *task_texts(task))


def parts_at(program: Program, key: str) -> tuple[Any, ...]:
    """Return the parts under a key of the program's JSON form."""
    parts: tuple[Any, ...] = getattr(program, "counters" if key == "registers" else key)
    return parts


def map_texts(node: Node, change: Callable[[Text], Text]) -> Node:
    """Return a node with every text changed."""
    return replace(node, title=change(node.title), task=map_task_texts(node.task, change))


def scope_members(counters: Iterable[Counter]) -> dict[str, tuple[Counter, ...]]:
    """Return the counters that a reset of each scope affects, in order.

    Scopes nest by `/`: a reset of `2/lint.runbook.md` also resets `2/lint.runbook.md/1`.
    """
    members: dict[str, list[Counter]] = {}
    for counter in counters:
        scope = counter.scope
        while scope:
            members.setdefault(scope, []).append(counter)
            scope = scope.rpartition("/")[0]
    return {scope: tuple(found) for scope, found in members.items()}
