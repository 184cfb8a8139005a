# --- What stands above prompts, such as the outputs of earlier steps (I31).
def above(program, name, registers):  # Return the text of a context, below those of the contexts that it stands below.
    found = []
    while name:
        context = program["contexts"][name]
        parts = (part if isinstance(part, str) else VALUES[list](part, registers) for part in context["parts"])
        found.append("".join(parts))
        name = context.get("after", "")
    return "".join(reversed(found))

