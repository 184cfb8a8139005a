"""The formats that rdc reads, each with an entry in `FRONT_ENDS`."""

from typing import Any

from compiler.frontends import agent_workflow, json, playbook, rundown, stepspec
from compiler.frontends.common.interface import Format
from compiler.project.options import Option
from compiler.text.source import Source

FRONT_ENDS: dict[str, Format] = {
    form.name: form for form in (rundown.FORMAT, playbook.FORMAT, agent_workflow.FORMAT, json.FORMAT, stepspec.FORMAT)
}


def all_options() -> tuple[Option[Any], ...]:
    """Return the options of all formats, each once."""
    return tuple({option.name: option for form in FRONT_ENDS.values() for option in form.options}.values())


def endings() -> tuple[str, ...]:
    """Return the file extensions of documents."""
    return tuple(ending for form in FRONT_ENDS.values() for ending in form.suffixes)


def recognize(source: Source) -> Format | None:
    """Return the format of a document by its file name, or else by its content; the last format accepts the most."""
    for form in FRONT_ENDS.values():
        if form.has(source.path):
            return form
    return next((form for form in reversed(FRONT_ENDS.values()) if form.load().recognizes(source)), None)
