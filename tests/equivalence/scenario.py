"""A scenario: documents as real files, whose commands log their visits, and the walk that they must take."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from .cases import Case
from .model import Leaf
from .render import render, render_files
from .visits import Walk

FOLDER_VARIABLE = "YARDSTICK"

CALL = "@VISIT@"
"""Stands in the code of a unit for the command that logs the visit; such code is run as it is."""


@dataclass(frozen=True)
class Scenario:
    """Documents by path, which of them is run, and its walk."""

    documents: Mapping[str, str]
    main: str
    walk: Walk

    @property
    def asks(self) -> bool:
        """Whether the walk has a prompt."""
        return any(not visit.is_command for visit, _ in self.walk.visits)


def scenario(case: Case) -> Scenario:
    """What a case is when it is run."""
    documents = {case.main: render(case.runbook, case.style, code_of=command)}
    documents |= render_files(case.files, case.style, code_of=command)
    return Scenario(documents, case.main, case.walk())


def command(path: str, label: str, leaf: Leaf) -> str:
    """The code of a unit: with the call where it says so, else made harmless as one quoted argument before the call.

    `@` stands for the braces of `{N}`: as a placeholder it would be replaced by the instance (M5).
    """
    names = [shlex.quote(text.replace("{N}", "@N").replace("{n}", "@n")) for text in (label, path or "-")]
    call, code = " ".join(["sh", f'"${FOLDER_VARIABLE}/visit"', *names]), leaf.code or ""
    return code.replace(CALL, call) if CALL in code else f": {shlex.quote(code)}\n{call}"
