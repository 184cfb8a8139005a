"""The Rundown runbook format, with its options; `frontend.py` reads it (docs/formats/rundown.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

from compiler.diagnostics.issues import InvalidError, OptionSource, OptionSources
from compiler.diagnostics.model import Issue
from compiler.frontends.common.interface import Format
from compiler.frontends.common.names import OPERATING, SECRETS, names_option
from compiler.project.options import Level, Option, choice

if TYPE_CHECKING:
    from compiler.frontends.rundown.syntax import DeclaredInput

Layout = Literal["after-header", "after-body"]
"""The position of a step's transitions."""

LAYOUTS: tuple[Layout, ...] = get_args(Layout)

Strictness = Literal["strict", "plain"]
"""Whether a failure within a block stops it (E13)."""

MOST_HEADINGS = 100  # the most sections that the option `prose` can name


def _headings(content: object, places: OptionSources) -> Mapping[str, OptionSource]:
    is_fit = isinstance(content, list) and all(isinstance(item, str) and item.strip() for item in content)
    if not isinstance(content, list) or not is_fit or len(content) > MOST_HEADINGS:
        problem = f"`prose` must be a list of at most {MOST_HEADINGS} section headings"
        raise InvalidError(Issue((), problem, "write the headings without `#`: `prose: [Prerequisites]`"))
    return {item: places.get((str(number),), places[()]) for number, item in enumerate(content)}


def _inputs(content: object, places: OptionSources) -> tuple[DeclaredInput, ...]:
    from compiler.frontends.rundown.declarations.steps import read_inputs  # noqa: PLC0415 (most commands don't need it)

    return read_inputs(content, places)


TRANSITIONS: Option[Layout] = choice(
    "transitions", "Where a step's transitions are; by default, the document shows it.", LAYOUTS
)
PROSE: Option[Mapping[str, OptionSource]] = Option(
    "prose", "Headings of sections that are text, not steps.", _headings, levels=(Level.DOCUMENT, Level.PROJECT)
)
INPUTS: Option[tuple[DeclaredInput, ...]] = Option(
    "inputs", "The values that a run needs at its start.", _inputs, levels=(Level.DOCUMENT,), as_written=True
)
OUTPUTS = names_option("outputs", "The values that commands pass on to later steps.", "an output")
SHELL: Option[Strictness] = choice(
    "shell",
    "How bash runs code blocks: `strict` stops at the first failure, `plain` continues without a warning.",
    get_args(Strictness),
    levels=(Level.DOCUMENT, Level.PROJECT),
)
OPTIONS: tuple[Option[Any], ...] = (TRANSITIONS, PROSE, INPUTS, OUTPUTS, SHELL, SECRETS, *OPERATING)


FORMAT = Format(
    name="rundown",
    noun="runbook",
    summary="Rundown runbooks (Markdown with ## steps)",
    suffixes=(".runbook.md",),
    module="compiler.frontends.rundown.frontend",
    marks="compiler.frontends.rundown.marks",
    schema="compiler.frontends.rundown.declarations.schema",
    formatter="compiler.frontends.rundown.format.document",
    drafts="compiler.frontends.rundown.drafts",
    grammars=("rundown.lark", "rundown_line.lark"),
    options=OPTIONS,
)
