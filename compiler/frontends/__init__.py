"""The formats that rdc reads: one entry in `FRONT_ENDS` for each."""

from __future__ import annotations

from typing import Any

from compiler.frontends import agent_workflow, json, playbook, rundown, stepspec
from compiler.frontends.format import Format
from compiler.options import Option
from compiler.source import Source

FRONT_ENDS: dict[str, Format] = {
    form.name: form for form in (rundown.FORMAT, playbook.FORMAT, agent_workflow.FORMAT, json.FORMAT, stepspec.FORMAT)
}


def all_options() -> tuple[Option[Any], ...]:
    """The options of all formats; those that share one have the same."""
    return tuple({option.name: option for form in FRONT_ENDS.values() for option in form.options}.values())


def endings() -> tuple[str, ...]:
    """The endings of the names of documents."""
    return tuple(ending for form in FRONT_ENDS.values() for ending in form.suffixes)


def recognize(source: Source) -> Format | None:
    """The format of a document, by its file name, then by its content. What is asked last takes the most."""
    for form in FRONT_ENDS.values():
        if form.has(source.path):
            return form
    return next((form for form in reversed(FRONT_ENDS.values()) if form.load().recognizes(source)), None)
