"""The syntax tree of a Rundown document; every node has its span (docs/formats/rundown.md)."""

from collections.abc import Iterator, Mapping
from enum import Enum, StrEnum
from typing import Any

from msgspec import Struct, field

from compiler.diagnostics.issues import OptionSource, OptionSources
from compiler.frontends.common.limits import Limits
from compiler.ir.program import Input
from compiler.ir.tasks import Value
from compiler.project.options import TargetOptions
from compiler.rules.model import DeclaredRule
from compiler.scenarios.model import Scenario
from compiler.text.source import Span, nearest

EVERY = "*"
"""The key for all steps in `steps:` (E3)."""


class DeclaredInput(Struct, frozen=True):
    """An input and the place of its name."""

    input: Input
    place: OptionSource


class StepSettings(Struct, frozen=True):
    """The settings of one step or group; None where a key is not set. Times are in seconds.

    With `by_agent`, an agent does the step, and the command checks its work.
    """

    step: str
    places: OptionSources
    timeout: int | None = None
    delay: int | None = None
    backoff: int | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    asks: Value | None = None
    limits: Limits | None = None
    labels: tuple[str, ...] = ()
    by_agent: bool = False

    def place(self, *path: str) -> OptionSource:
        """Return the place of a key, or of the whole settings if the key has no place."""
        return nearest(self.places, path) or self.places[()]


class Declarations(Struct, frozen=True):
    """The declarations of one document; outputs and secrets are names with their places.

    `for_targets` has the step settings that only targets use. `shell` is how code blocks run: `strict`, `plain`, or ""
    for the default. `rules` are its rules about the order of steps.
    """

    inputs: tuple[DeclaredInput, ...] = ()
    outputs: Mapping[str, OptionSource] = field(default_factory=dict)
    secrets: Mapping[str, OptionSource] = field(default_factory=dict)
    steps: tuple[StepSettings, ...] = ()
    for_targets: TargetOptions | None = None
    shell: str = ""
    rules: tuple[DeclaredRule, ...] = ()

    @property
    def slots(self) -> dict[str, OptionSource]:
        """The names of inputs and outputs with their places, inputs first."""
        return {**{item.input.name: item.place for item in self.inputs}, **self.outputs}

    @property
    def asked(self) -> dict[str, OptionSource]:
        """The outputs that questions ask for, with their places (E14)."""
        return {item.asks.name: item.place("asks") for item in self.steps if item.asks}


class Dynamic(Enum):
    """The two dynamic identifiers: templates for instances that a run counts."""

    STEP = "{N}"
    SUBSTEP = "{n}"


Identifier = int | str | Dynamic
"""A number, a name, or a dynamic identifier, as in a header or target."""


UNKNOWN = "?"
"""The identifier of an unreadable header, so that the rest of its step can still be read."""


class Word(StrEnum):
    """The outcome words; YES and NO mean PASS and FAIL and change how a question is asked (M3)."""

    PASS = "PASS"  # noqa: S105 (not a password)
    FAIL = "FAIL"
    YES = "YES"
    NO = "NO"

    @property
    def passes(self) -> bool:
        """Whether the word is the good outcome."""
        return self in ("PASS", "YES")


class Modifier(StrEnum):
    """How to combine the outcomes of children."""

    ALL = "ALL"
    ANY = "ANY"


class Target(Struct, frozen=True):
    """The target of a GOTO: `GOTO 3`, `GOTO Name.2`, `GOTO {N}.{n}`, `GOTO NEXT`, `GOTO NEXT 1.{n}`."""

    next: bool
    step: Identifier | None
    child: Identifier | None
    span: Span

    def __str__(self) -> str:
        step = "" if self.step is None else spell(self.step)
        child = "" if self.child is None else "." + spell(self.child)
        return " ".join(part for part in ("NEXT" if self.next else "", step + child) if part)


class Continue(Struct, frozen=True):
    """`CONTINUE`: continue with the next step in sequence (M7)."""


class Complete(Struct, frozen=True):
    """`COMPLETE "message"` (M8)."""

    message: str = ""


class Stop(Struct, frozen=True):
    """`STOP "message"`."""

    message: str = ""


class Goto(Struct, frozen=True):
    """`GOTO target`."""

    target: Target


Action = Continue | Complete | Stop | Goto


class Transition(Struct, frozen=True):
    """`- PASS ALL: RETRY 2 GOTO 3`: `action` follows after all retries, 0 without a RETRY (G3)."""

    word: Word
    modifier: Modifier | None
    retries: int
    action: Action
    span: Span


class Code(Struct, frozen=True):
    """A fenced block: its tag decides whether it is executed or only shown (M2, M3)."""

    language: str
    prompt: bool
    text: str
    span: Span

    @property
    def interpreter(self) -> str | None:
        """The shell that runs the block, or None if the block is only shown."""
        return None if self.prompt else EXECUTABLE.get(self.language)


EXECUTABLE = {"bash": "bash", "sh": "sh", "shell": "sh"}
"""The tags of executable blocks with their shells (M2)."""


class Reference(Struct, frozen=True):
    """An item of a runbook list: the path as written, relative to the document."""

    path: str
    span: Span


class Substep(Struct, frozen=True):
    """`### 1.2 Title`; `parent` is the prefix as written, which must be the step's identifier (V5).

    `checklist` has the items of the task lists in the text.
    """

    parent: Identifier
    id: Identifier
    title: str
    prompt: str
    code: Code | None
    runbooks: tuple[Reference, ...]
    transitions: tuple[Transition, ...]
    span: Span
    checklist: tuple[str, ...] = ()


class Step(Struct, frozen=True):
    """`## 1. Title`; a step has at most one of code, runbooks and substeps (V6). `checklist` is as for a substep."""

    id: Identifier
    title: str
    prompt: str
    code: Code | None
    runbooks: tuple[Reference, ...]
    substeps: tuple[Substep, ...]
    transitions: tuple[Transition, ...]
    span: Span
    checklist: tuple[str, ...] = ()


class Runbook(Struct, frozen=True):
    """A whole document, with its frontmatter as `metadata` (D3).

    `scenarios` and `declared` (E1 to E10) come from the frontmatter. `prose` has the headings of prose sections,
    which are not part of the flow.
    """

    title: str
    description: str
    metadata: Mapping[str, Any]
    steps: tuple[Step, ...]
    scenarios: tuple[Scenario, ...]
    prose: tuple[str, ...] = ()
    declared: Declarations = Declarations()


AnyStep = Step | Substep


def all_steps(runbook: Runbook) -> Iterator[AnyStep]:
    """Yield every step and substep in document order."""
    for step in runbook.steps:
        yield step
        yield from step.substeps


def spell(identifier: Identifier) -> str:
    """Return an identifier as written in a document."""
    return identifier.value if isinstance(identifier, Dynamic) else str(identifier)
