"""What an agent is given: the system text, the outputs of earlier steps, the step's own text (P16)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from compiler.frontends.playbook.placeholders import with_references
from compiler.frontends.playbook.syntax import Output
from compiler.frontends.playbook.units import Unit
from compiler.ir.texts import Part, Reference, Text, joined

PARAGRAPH = "\n\n"


def agent_prompt(unit: Unit, earlier: Sequence[Unit], system: str, names: Collection[str]) -> Text:
    """The prompt of a unit's agent; `earlier` are all units before it, `names` the slots that texts can name."""
    parts: list[Part] = []
    if system:
        parts += [*with_references(system, names).parts, PARAGRAPH]
    parts += _outputs(_visible(unit, earlier))
    own = _own_paragraphs(unit, names)
    parts += [_fetched(unit, is_last=not own)] if unit.gets_prompt else []
    for place, paragraph in enumerate(own):
        parts += [*((PARAGRAPH,) if place else ()), *paragraph]
    return joined(parts)


def _own_paragraphs(unit: Unit, names: Collection[str]) -> list[tuple[Part, ...]]:
    """The paragraphs of a unit: what a variable or a file gave, its content, and what its output is to be."""
    guidance = closing_line(unit.output) if unit.output else ""
    name = unit.prompt_variable
    given: list[tuple[Part, ...]] = [(_of_variable(name),)] if name else []
    written = [with_references(item, names).parts for item in (unit.file_text, unit.step.content) if item]
    return [*given, *written, *(((guidance,),) if guidance else ())]


def _of_variable(name: str) -> Reference:
    """The text of a variable, as a placeholder has it; it is never missing, since the step fails without it (P12)."""
    written = f"{{{{{name}}}}}"
    return Reference(name, written, missing=written)


def _fetched(unit: Unit, *, is_last: bool) -> Reference:
    """What a prompt reference gave when the step ran, nothing where it gave none (P12)."""
    prompt = unit.step.prompt
    written = f"@prompt({prompt.scheme}:{prompt.id})" if prompt else ""
    return Reference(prompt_slot(unit), written, after="" if is_last else PARAGRAPH)


def prompt_slot(unit: Unit) -> str:
    """The slot of what a unit's prompt reference gives."""
    return f"prompt {unit.id}"


def _visible(unit: Unit, earlier: Sequence[Unit]) -> list[Unit]:
    """The earlier units that may have an output when this one runs: none of another branch of the same step."""
    return [
        item
        for item in earlier
        if item.has_output and (item.group != unit.group or not item.group or item.branch in (None, unit.branch))
    ]


def _outputs(units: Sequence[Unit]) -> Iterator[Reference]:
    """The outputs under headings; what was extracted from one follows, once for each name."""
    last = {unit.output.name: unit.id for unit in units if unit.output and unit.output.extract}
    for unit in units:
        name = f" ({unit.output.name})" if unit.output else ""
        heading = f"## Output of step {unit.id}: {unit.title}{name}{PARAGRAPH}"
        yield Reference(unit.slot, before=heading, after=PARAGRAPH)
        if unit.output and last.get(unit.output.name) == unit.id:
            yield Reference(unit.output.name, before=f"## {unit.output.name}{PARAGRAPH}", after=PARAGRAPH)


_KINDS = {
    "string": "one line of text",
    "text": "a text",
    "number": "a number",
    "boolean": "true or false",
    "json": "JSON",
}
_INSIDE = {**_KINDS, "string": "a short text", "boolean": "`true` or `false`", "json": "a JSON value"}


def closing_line(output: Output) -> str:
    """The guidance for an answer whose output has a type or options; nobody checks the answer against it (P10)."""
    if not (output.type or output.options):
        return ""
    if output.extract:
        return f'Answer with a JSON object whose field "{output.extract}" is {_what(output, _INSIDE)}.'
    return f"Answer with {_what(output, _KINDS)} and nothing else."


def _what(output: Output, kinds: dict[str, str]) -> str:
    if output.options:
        return "one of " + ", ".join(f'"{option}"' for option in output.options)
    return kinds.get(output.type.lower(), f"a value of the type {output.type}")
