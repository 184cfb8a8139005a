"""Declared rules, and the result of each for one program."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct

from compiler.diagnostics.issues import OptionSource
from compiler.diagnostics.model import Diagnostic
from compiler.ir.rules import Event, Rule

if TYPE_CHECKING:
    from compiler.ir.paths import Visit
    from compiler.ir.program import Program

Names = Mapping[str, tuple[str, ...]]
"""The labels or secrets of steps, by step id."""


class DeclaredRule(Struct, frozen=True):
    """A rule as its author wrote it, with its place.

    `scope` is the id of the inclusion whose document has the rule, "" for the main document. A rule of `[[rule]]` is
    shared by all documents of the project that match one of `patterns`. With `is_tried`, it is only reported (P-14).
    """

    name: str
    sentence: str
    place: OptionSource
    why: str = ""
    scope: str = ""
    override: bool = True
    is_shared: bool = False
    is_tried: bool = False
    patterns: tuple[str, ...] = ()

    @property
    def full_name(self) -> str:
        """Its name in the whole program: `2/part.runbook.md/approved` for one of an included document."""
        return f"{self.scope}/{self.name}" if self.scope else self.name


class Status(StrEnum):
    """The result of a proof (P-11), or that there is nothing to guard."""

    HOLDS = "holds"
    BROKEN = "broken"
    NOT_PROVEN = "not proven"
    NOT_APPLICABLE = "doesn't apply"


class Proof(Struct, frozen=True):
    """The result for one rule; `visits` are a shortest path to the `event` that breaks it, after these `inputs`.

    `reason` says why a rule is not proven.
    """

    status: Status
    visits: tuple[Visit, ...] = ()
    event: Event | None = None
    inputs: tuple[tuple[str, str], ...] = ()
    reason: str = ""


class RuleResult(Struct, frozen=True):
    """A declared rule, its machine for this program, and its proof. Without a machine, the rule doesn't apply.

    `unmatched` are the problems with the parts of a shared rule that match nothing in this program, by column.
    """

    declared: DeclaredRule
    rule: Rule | None
    proof: Proof
    unmatched: Mapping[int, str] = MappingProxyType({})


class Applied(Struct, frozen=True):
    """A program with its rules, their results, and the diagnostics; without a program, only sentences are read."""

    program: Program | None
    results: tuple[RuleResult, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
