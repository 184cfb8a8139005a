# --- The meaning of a program: a pure walk from unit to unit, which never runs anything.
TESTS = {"<": operator.lt, ">=": operator.ge, "=": operator.eq}
VERBS = {"=": lambda _old, new: new, "+": operator.add, "at least": max}
# How the value of a placeholder is found, by the type of what the table says of it.
VALUES = {str: lambda name, registers: str(registers[name])}

class Move(namedtuple("Move", "node registers changed says passed", defaults=('', (),))):
    """Where a walk went from a unit: the next one to do, or a final end. `changed` is what it set on its way."""

def _apply(program, edge, registers, verbs):
    for effect in edge.get("do", ()):
        if effect[0] == "reset" and len(effect) == 2:
            registers.update({name: program["registers"][name] for name in program["scopes"][effect[1]]})
        else:
            register, verb, amount = effect
            value = registers[amount] if isinstance(amount, str) else amount
            registers[register] = verbs[verb](registers[register], value)

def _choose(program, node, registers, outcome):
    """Return the first edge of a unit that may be taken: its outcome fits and all its tests hold."""
    for edge in program["units"][node].get("edges", ()):
        tests = edge.get("if", ())
        if edge.get("on", outcome) == outcome and all(TESTS[test](registers[name], by) for name, test, by in tests):
            chosen = edge
            return chosen
    raise RefusedError(f"{node}: no edge can be taken ({outcome or 'passing'}): the program is broken")

def is_final(unit):  # Tell whether a unit ends the run; the end of a nested runbook has an edge and does not (M8).
    return unit["task"] == "end" and not unit.get("edges")

def enter(program, node, registers):
    """Go to a node and on through branches and nested ends, to a unit to do or a final end."""
    return _follow(program, {"go": node}, registers, VERBS)

def advance(program, node, registers, outcome, verbs=VERBS):
    """Leave a unit with its outcome: choose the edge, apply its effects, go on (M13)."""
    return _follow(program, _choose(program, node, registers, outcome), registers, verbs)

def _follow(program, edge, before, verbs):
    """Take an edge, and those of the branches and nested ends behind it; `before` stays as it is."""
    changed = {}
    registers = ChainMap(changed, before)  # copying all counters at each step would make long programs slow
    says, passed = [edge.get("says", "")], []
    _apply(program, edge, registers, verbs)
    while program["units"][edge["go"]]["task"] in ("branch", "end") and not is_final(program["units"][edge["go"]]):
        passed.append(edge["go"])
        edge = _choose(program, edge["go"], registers, None)
        _apply(program, edge, registers, verbs)
        says.append(edge.get("says", ""))
    return Move(edge["go"], registers, changed, ", ".join(filter(None, says)), tuple(passed))

def filled(unit, text, registers, escape=str):  # Replace the placeholders in a text, in one pass (I6).
    places = unit.get("placeholders")
    if not places:
        return text
    import re

    marks = "|".join(map(re.escape, places))
    return re.sub(marks, lambda match: escape(value_of(places[match.group()], registers)), text)

def value_of(place, registers):  # Return what stands for a placeholder.
    return VALUES[type(place)](place, registers)

def attempt_of(unit, registers):  # Return the number of the attempt at a unit within this visit (M4).
    return registers[unit["attempt"]] + 1 if "attempt" in unit else 1

def instances_of(unit, registers):  # Return the instance variables of a unit with their values (M4).
    return {variable: registers[register] for variable, register in unit.get("variables", {}).items()}

