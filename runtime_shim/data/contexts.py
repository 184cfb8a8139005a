"""What stands above prompts, such as the outputs of earlier steps (I31)."""

from runtime_shim.engine.program import Table
from runtime_shim.engine.walk import VALUES, Registers


def above(program: Table, name: str, registers: Registers) -> str:
    """Return the text of a context, below those of the contexts that it stands below."""
    found: list[str] = []
    while name:
        context = program["contexts"][name]
        parts = (part if isinstance(part, str) else VALUES[list](part, registers) for part in context["parts"])
        found.append("".join(parts))
        name = context.get("after", "")
    return "".join(reversed(found))
