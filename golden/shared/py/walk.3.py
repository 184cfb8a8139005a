# --- The meaning of a program: a pure walk from step to step, which never runs anything.
TESTS = {"<": int.__lt__, ">=": int.__ge__, "=": int.__eq__}
VERBS = {"=": lambda _old, new: new, "+": int.__add__, "at least": max}
# How the value of a placeholder is found, by the type of what the table says of it.
VALUES = {str: lambda name, registers: str(registers[name])}

Move = collections.namedtuple("Move", "node registers changed says passed")  # Where a run went, and what it set.

def _apply(program, edge, registers, verbs):
    for effect in edge.get("do", ()):
        register, verb, amount = effect
        value = registers[amount] if isinstance(amount, str) else amount
        registers[register] = verbs[verb](registers[register], value)

def _choose(program, node, registers, outcome):  # Return the first edge whose outcome and tests hold.
    for edge in program["nodes"][node].get("edges", ()):
        tests = edge.get("if", ())
        if edge.get("on", outcome) == outcome and all(TESTS[test](registers[name], by) for name, test, by in tests):
            return edge
    raise RefusedError(f"{node}: no edge can be taken ({outcome or 'passing'}): the program is broken")

def advance(program, node, registers, outcome, verbs=VERBS):  # Leave a step with its outcome (M13).
    return follow(program, _choose(program, node, registers, outcome), registers, verbs)

def follow(program, edge, before, verbs=VERBS):  # Go along an edge, and on; `before` stays as it is.
    changed = {}
    registers = collections.ChainMap(changed, before)  # copying all counters at each step would make long programs slow
    says, passed = [edge.get("says", "")], []
    _apply(program, edge, registers, verbs)
    return Move(edge["go"], registers, changed, ", ".join(filter(None, says)), tuple(passed))

def filled(node, text, registers, escape=str):  # Replace the placeholders in a text, in one pass (I6).
    if node.get("placeholders"):
        places = node["placeholders"].items()
        found = {mark: escape(VALUES[type(place)](place, registers)) for mark, place in places}
        text = re.sub("|".join(map(re.escape, found)), lambda match: found[match.group()], text)
    return text

def attempt_of(node, registers):  # Return the number of the attempt at a step within this visit (M4).
    return registers[node["attempt"]] + 1 if "attempt" in node else 1

