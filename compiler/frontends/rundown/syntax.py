"""The syntax tree of a Rundown document (docs/formats/rundown.md). Every node carries its span."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum, StrEnum
from typing import Any

from msgspec import Struct

from compiler.frontends.rundown.beyond.declarations import Declarations
from compiler.scenarios import Scenario
from compiler.source import Span


class Dynamic(Enum):
    """The two dynamic identifiers, templates for instances that are counted at run time (M12)."""

    STEP = "{N}"
    SUBSTEP = "{n}"


Identifier = int | str | Dynamic
"""A number, a name, or a dynamic identifier, as it stands in a header or a target."""


UNKNOWN = "?"
"""Stands for the identifier of a header that could not be read, so that the rest of its step still can."""


class Word(StrEnum):
    """The outcome words; YES and NO mean PASS and FAIL and decide how a question is put (M3)."""

    PASS = "PASS"  # noqa: S105 (not a password)
    FAIL = "FAIL"
    YES = "YES"
    NO = "NO"

    @property
    def passes(self) -> bool:
        """Whether the word stands for the good outcome."""
        return self in _GOOD


_GOOD = frozenset({Word.PASS, Word.YES})


class Modifier(StrEnum):
    """How the outcomes of children are joined (M11)."""

    ALL = "ALL"
    ANY = "ANY"


class Target(Struct, frozen=True):
    """Where a GOTO leads: `GOTO 3`, `GOTO Name.2`, `GOTO {N}.{n}`, `GOTO NEXT`, `GOTO NEXT 1.{n}`."""

    next: bool
    step: Identifier | None
    child: Identifier | None
    span: Span

    def __str__(self) -> str:
        step = "" if self.step is None else spell(self.step)
        child = "" if self.child is None else "." + spell(self.child)
        return " ".join(part for part in ("NEXT" if self.next else "", step + child) if part)


class Continue(Struct, frozen=True):
    """`CONTINUE`: go on with the next step in sequence (M7)."""


class Complete(Struct, frozen=True):
    """`COMPLETE "message"` (M8)."""

    message: str = ""


class Stop(Struct, frozen=True):
    """`STOP "message"` (M8)."""

    message: str = ""


class Goto(Struct, frozen=True):
    """`GOTO target` (M10)."""

    target: Target


Action = Continue | Complete | Stop | Goto


class Transition(Struct, frozen=True):
    """`- PASS ALL: RETRY 2 GOTO 3`: `retries` is 0 without a RETRY, else `action` is what follows when used up (G3)."""

    word: Word
    modifier: Modifier | None
    retries: int
    action: Action
    span: Span


class Code(Struct, frozen=True):
    """A fenced block. Executable if its tag says so, otherwise shown to whoever answers (M2, M3)."""

    language: str
    prompt: bool
    text: str
    span: Span

    @property
    def interpreter(self) -> str | None:
        """The shell that runs the block, or None for an instructional one."""
        return None if self.prompt else EXECUTABLE.get(self.language)


EXECUTABLE = {"bash": "bash", "sh": "sh", "shell": "sh"}
"""The tags of executable blocks and the shell each one names (M2)."""


class Reference(Struct, frozen=True):
    """An item of a runbook list: the path as written, relative to the document."""

    path: str
    span: Span


class Substep(Struct, frozen=True):
    """`### 1.2 Title`. `parent` is the prefix as written; V5 asks that it be the step's identifier."""

    parent: Identifier
    id: Identifier
    title: str
    prompt: str
    code: Code | None
    runbooks: tuple[Reference, ...]
    transitions: tuple[Transition, ...]
    span: Span


class Step(Struct, frozen=True):
    """`## 1. Title`. At most one of code, runbooks and substeps is there (V6)."""

    id: Identifier
    title: str
    prompt: str
    code: Code | None
    runbooks: tuple[Reference, ...]
    substeps: tuple[Substep, ...]
    transitions: tuple[Transition, ...]
    span: Span


class Runbook(Struct, frozen=True):
    """A whole document. `metadata` is its frontmatter (D3), `scenarios` (S1) and `declared` (E1 to E10) stand in it.

    `prose` has the headings of the sections that are text by the option of that name. They are no part of the flow.
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
    """Every step and substep in document order."""
    for step in runbook.steps:
        yield step
        yield from step.substeps


def spell(identifier: Identifier) -> str:
    """An identifier as it is written in a document."""
    return identifier.value if isinstance(identifier, Dynamic) else str(identifier)
