"""The options of a document (`rdc:` in its frontmatter) and of a project (`rdc.toml` or `[tool.rdc]`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal, get_args

Layout = Literal["after-body", "after-header"]
"""Where the transitions of a unit stand (V7)."""

LAYOUTS: tuple[Layout, ...] = get_args(Layout)


@dataclass(frozen=True, slots=True)
class Options:
    """What can be set for a document or for all documents of a project."""

    transitions: Layout | None = None


def read_options(value: object) -> tuple[Options, list[str]]:
    """The options in a plain value, and a text for each thing that is wrong; what is wrong keeps its default."""
    if not isinstance(value, Mapping):
        return Options(), ["the options are not a mapping of names to values"]
    known = [field.name for field in fields(Options)]
    problems = [_unknown(str(key), known) for key in value if key not in known]
    wanted = value.get("transitions")
    layout = next((layout for layout in LAYOUTS if layout == wanted), None)
    if "transitions" in value and layout is None:
        problems.append(f"`transitions` is one of {', '.join(LAYOUTS)}, not {wanted!r}")
    return Options(layout), problems


def _unknown(key: str, known: list[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 (only for a mistake)

    close = get_close_matches(key, known, 1)
    return f"there is no option `{key}`" + (f"; did you mean `{close[0]}`?" if close else "")
