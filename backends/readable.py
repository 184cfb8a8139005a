"""References that no author has written, such as the outputs of earlier steps before a prompt, under readable names."""

from __future__ import annotations

from dataclasses import replace

from compiler.ir.program import Program, map_texts, texts_of
from compiler.ir.texts import Reference, Text, joined

OUTPUT = "output "
"""How the slots begin that have whole outputs of steps, by the labels of these."""


OUTPUTS_SHOWN = "Where a prompt says {output 1}, the output of step 1 stands under a heading, if there is one."
"""What a reader has to know of them."""


def shows_outputs(program: Program) -> bool:
    """Whether outputs of steps stand before some prompt."""
    references = (each for node in program.nodes for text in texts_of(node) for each in text.references)
    return any(each.written.startswith(f"{{{OUTPUT}") for each in references)


def readable(program: Program) -> Program:
    """The program with `{output 1}` where the output of a step stands, if its slots are called so."""
    if not any(slot.name.startswith(OUTPUT) for slot in program.slots):
        return program
    slots = {slot.name for slot in program.slots}

    def named(text: Text) -> Text:
        return joined(_named(part, slots) for part in text.parts)

    return replace(program, nodes=tuple(map_texts(node, named) for node in program.nodes))


def _named(part: str | Reference, slots: set[str]) -> str | Reference:
    is_own = isinstance(part, Reference) and not part.written and part.register in slots and (part.before or part.after)
    if isinstance(part, str) or not is_own or not part.register.isprintable():
        return part
    return replace(part, written=f"{{{part.register}}}")
