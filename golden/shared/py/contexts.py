# --- What stands above prompts, such as the outputs of earlier steps (I31).
def above(program, name, registers):
    found = []
    while name:
        context = program["contexts"][name]
        parts = (part if isinstance(part, str) else shown(part, registers) for part in context["parts"])
        found.append("".join(parts))
        name = context.get("after", "")
    return "".join(reversed(found))

class Contexts(Extension):
    @staticmethod
    def suits(program):
        return "contexts" in program
    def identify(self, nodes):
        known = {"": ""}
        for name, context in self.session.program["contexts"].items():
            known[name] = digest([context["parts"], known[context.get("after", "")]])
        above = {
            name: [known[one.get("context", "")] for one in (node, *node.get("entries", ()))]
            for name, node in nodes.items()
        }
        return {name: {**node, "above": above[name]} if any(above[name]) else node for name, node in nodes.items()}

