"""A small abstract model of a runbook: what the rules speak of, and nothing of how it is written.

Nested runbooks are a mapping from the path that a list names to the runbook it stands for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

STEP_TEMPLATE = "{N}"
CHILD_TEMPLATE = "{n}"
EXECUTABLE = frozenset({"bash", "sh", "shell"})


@dataclass(frozen=True)
class Continue:
    """Go to the next step in sequence."""


@dataclass(frozen=True)
class Complete:
    """End the runbook with success; no message is the empty one."""

    message: str = ""


@dataclass(frozen=True)
class Stop:
    """End the runbook without success; no message is the empty one."""

    message: str = ""


@dataclass(frozen=True)
class Goto:
    """A jump: `GOTO [NEXT] [step[.child]]`, with `{N}` and `{n}` written as they are."""

    step: str | None = None
    child: str | None = None
    advance: bool = False


Action = Continue | Complete | Stop | Goto


@dataclass(frozen=True)
class Retry:
    """Run the step again up to `count` times, then do `then`."""

    count: int
    then: Action


Result = Action | Retry


@dataclass(frozen=True)
class Transitions:
    """What a step says about its outcomes; None where it says nothing.

    `optimistic` is `PASS ANY / FAIL ALL`. It needs a transition to be written on, so a step that says nothing
    is never optimistic.
    """

    on_pass: Result | None = None
    on_fail: Result | None = None
    optimistic: bool = False

    def __post_init__(self) -> None:
        if self.optimistic and not self.declared:
            raise ValueError("a modifier stands on a transition")

    @property
    def declared(self) -> bool:
        """Whether the step has a transition of its own."""
        return self.on_pass is not None or self.on_fail is not None

    def explicit(self, passed: bool) -> Result | None:
        """The result that was written for an outcome."""
        return self.on_pass if passed else self.on_fail


NOTHING = Transitions()


@dataclass(frozen=True)
class Leaf:
    """A step without children: a prompt and/or one code block. Only some blocks are executed (M2, M3).

    `said` are the arguments that a shell gives to what the code calls.
    """

    prompt: str = ""
    code: str | None = None
    info: str = ""
    said: tuple[str, ...] = ()

    @property
    def is_command(self) -> bool:
        """Whether a shell decides the outcome, rather than an answer."""
        return self.code is not None and self.info in EXECUTABLE


@dataclass(frozen=True)
class Runbooks:
    """A list of runbooks, run in order; only a step may stand with a prompt before it (V6)."""

    paths: tuple[str, ...]
    prompt: str = ""


@dataclass(frozen=True)
class Substep:
    """An H3 step; `ident` is the part after the dot."""

    ident: str
    body: Leaf | Runbooks
    transitions: Transitions = NOTHING
    title: str = ""


@dataclass(frozen=True)
class Substeps:
    """The children of a step, in document order."""

    children: tuple[Substep, ...]
    prompt: str = ""


Body = Leaf | Runbooks | Substeps


@dataclass(frozen=True)
class Step:
    """An H2 step."""

    ident: str
    body: Body
    transitions: Transitions = NOTHING
    title: str = ""

    @property
    def is_numbered(self) -> bool:
        """Whether the step is part of the sequence; `{N}` and named steps are not."""
        return self.ident.isdecimal()

    @property
    def children(self) -> tuple[Substep, ...]:
        """The substeps, if the step has any."""
        return self.body.children if isinstance(self.body, Substeps) else ()


@dataclass(frozen=True)
class Input:
    """What is given when a run begins (E1)."""

    name: str
    type: str = "string"
    default: str | None = None
    options: tuple[str, ...] = ()
    pattern: str | None = None
    required: bool = True


@dataclass(frozen=True)
class Settings:
    """What is said of steps (E3); None for what is left open. Times are in seconds."""

    timeout: int | None = None
    delay: int | None = None
    backoff: int | None = None
    env: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Declared:
    """What a document has under `rdc` (E1, E2, E3, E10); `steps` is by the names that the document has for them."""

    inputs: tuple[Input, ...] = ()
    outputs: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    steps: tuple[tuple[str, Settings], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """What commands of the document see and its texts may show."""
        return (*(declared.name for declared in self.inputs), *self.outputs)


UNDECLARED = Declared()


@dataclass(frozen=True)
class Runbook:
    """A document. `name` and `summary` are of its frontmatter, `description` is the text before its first step (D5)."""

    steps: tuple[Step, ...]
    title: str = ""
    description: str = ""
    name: str = ""
    summary: str = ""
    declared: Declared = UNDECLARED


Files = Mapping[str, Runbook]
