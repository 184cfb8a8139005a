"""The intermediate representation: one control-flow graph for all formats (docs/program.md).

A program is a list of nodes with guarded edges. A run stands at one node, does the node's task, gets an outcome,
takes the first edge whose guard holds, applies that edge's effects to the registers and goes to its target.
Everything is frozen and holds tuples only, so that a program can be hashed, compared and shared.
So nothing refers to itself, and the garbage collector need not know what there is most of (`gc=False`).
`Program.analyses` is a cache beside the fields: no part of equality, and empty after `replace`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from compiler.ir.edges import Edge, Effect, Origin
from compiler.ir.tasks import IDLE, Task, map_task_texts, task_texts
from compiler.ir.texts import Text


class Variable(Struct, frozen=True):
    """A counter or slot that what a node's task calls sees as an environment variable (I7, M4)."""

    name: str
    register: str


class Constant(Struct, frozen=True):
    """A fixed text that what a node's task calls sees as an environment variable (I25)."""

    name: str
    value: str


class Settings(Struct, frozen=True):
    """How an attempt at a node is made, times in seconds (I21, I22). `timeout` is None for the task's usual one."""

    timeout: int | None = None
    delay: int = 0
    backoff: int = 1


class Node(Struct, frozen=True):
    """A place where a run can be.

    `id` is what people call it (`1.2`, `{N}.1`, `2/lint.runbook.md/1`), `group` the id of the innermost group it stands
    in ("" for none), `retries` the counter whose value plus one is the number of the attempt (M4, I23).
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


class Group(Struct, frozen=True):
    """A step with children or a nested runbook: what a picture draws as a frame. `prompt` is Markdown."""

    id: str
    title: Text
    prompt: Text
    kind: Literal["step", "runbook"]
    parent: str
    origin: Origin


class Register(Struct, frozen=True):
    """An integer counter. Its scope is the part of the document whose fresh start resets it ("" for the whole run).

    `role` says what it is for: to count the retries of the step `of`, its instances, or that it had the `outcome` (I4).
    """

    name: str
    scope: str
    initial: int = 0
    role: Literal["", "retries", "instance", "mark"] = ""
    of: str = ""
    outcome: str = ""


class Slot(Struct, frozen=True):
    """A text register; unset where there is no initial text (I5)."""

    name: str
    initial: str | None = None


class Input(Struct, frozen=True):
    """A value that is given when a run starts; it is kept in the slot of its name (I8)."""

    name: str
    type: Literal["string", "text", "number", "boolean", "choice"] = "string"
    description: str = ""
    default: str | None = None
    options: tuple[str, ...] = ()
    pattern: str | None = None
    required: bool = True


class Entering(Struct, frozen=True):
    """What an operator's jump does where it comes into a group in which the run does not stand (I27)."""

    group: str
    effects: tuple[Effect, ...]


class Jump(Struct, frozen=True):
    """What an operator's jump to a step or group does, where it is more than to go to the node of that name (I27).

    `entering` has the groups around the target that the jump may come into, the outermost first.
    """

    id: str
    target: str
    entering: tuple[Entering, ...] = ()
    effects: tuple[Effect, ...] = ()

    @property
    def all_effects(self) -> tuple[Effect, ...]:
        """The effects of a jump that comes into all groups."""
        return (*(effect for group in self.entering for effect in group.effects), *self.effects)


class SourceFile(Struct, frozen=True):
    """A document that the program was compiled from.

    `read_by` are the words of the command line that say how it is read, such as `--from`.
    """

    path: str
    sha256: str
    read_by: tuple[str, ...] = ()


Noun = Literal["runbook", "playbook", "workflow", "specification", "program"]
"""What a document can be. Generated files have functions and jobs of these names, so that the list is a fixed one."""

USUAL_KIND: Noun = "runbook"
"""What a program is that does not say it."""


class Context(Struct, frozen=True):
    """A text that stands above prompts, such as the outputs of earlier steps; `after` is the one above it (I31)."""

    name: str
    text: Text
    after: str = ""


class Artifact(Struct, frozen=True):
    """The slot whose text a good run leaves as a file, and the type of that file (I28)."""

    slot: str
    type: Text


class ContractStep(Struct, frozen=True):
    """A step of a contract. `spec` is what the document says of it, a JSON object with references as in I13."""

    id: str
    spec: Text


class Contract(Struct, frozen=True):
    """What the stages of a program do (I32): `workflow` and `config` are JSON objects, `steps` stand in order."""

    workflow: str
    steps: tuple[ContractStep, ...]
    config: str = "{}"


class Program(Struct, frozen=True, dict=True):
    """A whole document, with everything it includes, as one graph. The first source is the document itself.

    `limit` is how many times tasks may be done in a run (I24), None for no limit. `secrets` are the environment
    variables that must be set when a run begins (I26). `artifact` is what a good run leaves as a file (I28). `kind` is
    what the document is, a word that generated files use for themselves. `folder` is the slot that holds the path of
    the folder of reports, "" for none (I30). `contexts` stand above prompts, each declared before those that stand
    below it (I31). `contract` is what the stages of a step specification do (I32).
    """

    name: str
    title: str
    sources: tuple[SourceFile, ...]
    entry: str
    nodes: tuple[Node, ...]
    groups: tuple[Group, ...] = ()
    registers: tuple[Register, ...] = ()
    slots: tuple[Slot, ...] = ()
    inputs: tuple[Input, ...] = ()
    limit: int | None = None
    secrets: tuple[str, ...] = ()
    jumps: tuple[Jump, ...] = ()
    artifact: Artifact | None = None
    contexts: tuple[Context, ...] = ()
    kind: Noun = USUAL_KIND
    folder: str = ""
    contract: Contract | None = None

    def index(self) -> dict[str, Node]:
        """The nodes by their ids."""
        return {node.id: node for node in self.nodes}

    @cached_property
    def analyses(self) -> dict[str, Any]:
        """The results of analyses, by their names: a program never changes, so that each is made once."""
        return {}

    @cached_property
    def named_contexts(self) -> dict[str, Context]:
        """The contexts by their names."""
        return {context.name: context for context in self.contexts}

    def above(self, name: str) -> Iterator[Text]:
        """The texts of a context in the order in which they stand above a prompt; none for "" (I31)."""
        found: list[Text] = []
        while name:
            context = self.named_contexts[name]
            found.append(context.text)
            name = context.after
        return reversed(found)

    @cached_property
    def parents(self) -> dict[str, str]:
        """The group around each group, "" for those that stand in none."""
        return {group.id: group.parent for group in self.groups}


def jumps_of(program: Program) -> dict[str, Jump]:
    """What an operator's jump does, by each step or group that one can lead to (I27)."""
    plain = {name: Jump(name, target) for name, target in plain_targets(program).items()}
    return plain | {jump.id: jump for jump in program.jumps}


def plain_targets(program: Program) -> dict[str, str]:
    """The node that an operator's jump leads to where nothing else is said, by each step or group (I27)."""
    targets: dict[str, str] = {}
    for node in program.nodes:
        group = node.group
        while group and group not in targets:  # a group is entered at its first node
            targets[group] = node.id
            group = program.parents[group]
        if type(node.task) not in IDLE:
            targets[node.id] = node.id
    return targets


def with_jumps(program: Program) -> Program:
    """The program with every jump of its operator written out, as for targets that offer them (I27)."""
    return replace(program, jumps=tuple(jumps_of(program).values()))


def without_jumps(program: Program) -> Program:
    """The program without jumps, whose runs are paths from the start, as for targets that offer none."""
    if not program.jumps:
        return program
    found = replace(program, jumps=())
    vars(found)["analyses"] = program.analyses.setdefault("without jumps", {})  # such programs are made again and again
    return found


def texts_of(node: Node) -> tuple[Text, ...]:
    """All texts of a node, in the order in which they are read: what it shows, sends or runs."""
    task = node.task
    if task.kind == "shell":  # as most are
        return (node.title, task.prompt, task.command)
    return (node.title, *task_texts(task))


def map_texts(node: Node, change: Callable[[Text], Text]) -> Node:
    """A node with every text of it changed."""
    return replace(node, title=change(node.title), task=map_task_texts(node.task, change))


def scope_members(registers: Iterable[Register]) -> dict[str, tuple[Register, ...]]:
    """For each scope the registers that a reset of it touches, in order: its own, and those of the scopes within it.

    Scopes nest by `/`: a reset of `2/lint.runbook.md` touches what is in `2/lint.runbook.md/1` too.
    """
    members: dict[str, list[Register]] = {}
    for register in registers:
        scope = register.scope
        while scope:
            members.setdefault(scope, []).append(register)
            scope = scope.rpartition("/")[0]
    return {scope: tuple(found) for scope, found in members.items()}
