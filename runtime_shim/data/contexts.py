"""What stands above prompts, such as the outputs of earlier steps (I31)."""

from runtime_shim.engine.lifecycle import Extension
from runtime_shim.engine.program import Table, digest
from runtime_shim.engine.walk import Registers, shown


def above(program: Table, name: str, registers: Registers) -> str:
    """Return the text of a context, below those of the contexts that it stands below."""
    found: list[str] = []
    while name:
        context = program["contexts"][name]
        parts = (part if isinstance(part, str) else shown(part, registers) for part in context["parts"])
        found.append("".join(parts))
        name = context.get("after", "")
    return "".join(reversed(found))


class Contexts(Extension):
    """Programs whose steps have something above their prompts."""

    @staticmethod
    def suits(program: Table) -> bool:
        """Tell whether the program has contexts."""
        return "contexts" in program

    def identify(self, nodes: Table) -> Table:
        """Add to steps a digest of what stands above their prompts."""
        known = {"": ""}
        for name, context in self.session.program["contexts"].items():
            known[name] = digest([context["parts"], known[context.get("after", "")]])
        above = {
            name: [known[one.get("context", "")] for one in (node, *node.get("entries", ()))]
            for name, node in nodes.items()
        }
        return {name: {**node, "above": above[name]} if any(above[name]) else node for name, node in nodes.items()}
