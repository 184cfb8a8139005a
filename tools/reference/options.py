"""The page with the options of each target."""

from __future__ import annotations

from backends.options.model import Option, listed
from backends.registry import BACKENDS, load
from tools.reference.markdown import page, table

INTRODUCTION = """\
Set an option in one of three places. The first in this list that has it counts:

1. on the command line: `rdc compile deploy.runbook.md --to github -O runs-on=ubuntu-24.04`
2. in the frontmatter of a document: `rdc: {github: {runs-on: ubuntu-24.04}}`
3. in `rdc.toml`: the table `[github]` with `runs-on = "ubuntu-24.04"`

`rdc targets github` prints the same list in your terminal."""


def options() -> str:
    """Return the page: a section for each target, which has the target's name as its heading."""
    parts = [part for name in BACKENDS for part in _section(name)]
    return page("Options of targets", INTRODUCTION, *parts)


def _section(name: str) -> list[str]:
    backend = load(name)
    rows = [
        (f"`{option.name}`", option.type, _default(option), option.description) for option in listed(backend.options)
    ]
    body = table(("option", "type", "default", "meaning"), rows) if rows else "This target has no options."
    return [f"## {name}", f"{backend.summary[:1].upper()}{backend.summary[1:].rstrip('.')}.", body]


def _default(option: Option) -> str:
    words = option.default_words
    return words if words in ("none", "required") else f"`{words}`"
