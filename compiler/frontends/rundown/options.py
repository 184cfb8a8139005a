"""The options of runbooks: where their transitions stand (V7), which of their sections are text, what they declare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

from compiler.frontends.name_lists import SECRETS, names_option
from compiler.options import Level, Option, Place, Places, Problems, Wrong, choice

if TYPE_CHECKING:
    from compiler.frontends.rundown.beyond.declarations import DeclaredInput

Layout = Literal["after-header", "after-body"]
"""Where the transitions of a step stand (V7)."""

LAYOUTS: tuple[Layout, ...] = get_args(Layout)
DEFAULT_LAYOUT: Layout = "after-body"

Strictness = Literal["strict", "plain"]
"""What a failure within a block means (E13)."""

MOST_HEADINGS = 100
"""How many sections the option `prose` names at most."""


def _headings(content: object, places: Places) -> Mapping[str, Place] | Wrong:
    """The texts of a list, each with the place where it is named."""
    if not isinstance(content, list) or len(content) > MOST_HEADINGS or not all(map(_is_heading, content)):
        problem = f"`prose` is not a list of at most {MOST_HEADINGS} headings of sections"
        return Wrong(problem, "write the headings without their marks: `prose: [Prerequisites]`")
    return {item: places.get((str(number),), places[()]) for number, item in enumerate(content)}


def _is_heading(item: object) -> bool:
    return isinstance(item, str) and bool(item.strip())


def _inputs(content: object, places: Places) -> tuple[DeclaredInput, ...] | Wrong | Problems:
    from compiler.frontends.rundown.beyond.inputs import read_inputs  # noqa: PLC0415 (flags of commands need no more)

    return read_inputs(content, places)


TRANSITIONS: Option[Layout] = choice(
    "transitions", "Where the transitions of a step stand, if not as the document or the project says.", LAYOUTS
)
PROSE: Option[Mapping[str, Place]] = Option(
    "prose", "The headings of sections that are text and no steps.", _headings, levels=(Level.DOCUMENT, Level.PROJECT)
)
INPUTS: Option[tuple[DeclaredInput, ...]] = Option(
    "inputs", "What a run is given when it begins.", _inputs, levels=(Level.DOCUMENT,), as_written=True
)
OUTPUTS = names_option("outputs", "What commands hand on to the steps that follow.", "an output")
SHELL: Option[Strictness] = choice(
    "shell",
    "How bash runs blocks: `strict` stops a block at its first failure, and `plain` runs on without a warning.",
    get_args(Strictness),
    levels=(Level.DOCUMENT, Level.PROJECT),
)
OPTIONS: tuple[Option[Any], ...] = (TRANSITIONS, PROSE, INPUTS, OUTPUTS, SHELL, SECRETS)
