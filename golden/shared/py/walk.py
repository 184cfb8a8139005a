# --- The meaning of a program: a pure walk from step to step.
TESTS = {
    "<": operator.lt,
    ">=": operator.ge,
    "=": operator.eq,
    "==": lambda slot, text: (slot or "") == text,
    "!=": lambda slot, text: (slot or "") != text,
}
VERBS = {
    "=": lambda _old, new: new,
    "+": operator.add,
    "at least": max,
    "clear": lambda _old, _what: None,
    "keep": lambda old, what: old if what[0] == "output" else "",  # of an outcome without a text
}

Move = collections.namedtuple("Move", "node registers changed says passed")
def _apply(program, edge, registers, verbs):
    for effect in edge.get("do", ()):
        if len(effect) == 2:  # "reset" and a scope
            registers.update({name: program["registers"][name] for name in program["scopes"][effect[1]]})
            continue
        register, verb, amount = effect
        value = registers[amount] if isinstance(amount, str) else amount
        registers[register] = verbs[verb](registers[register], value)
def choose(program, node, registers, outcome):
    for edge in program["nodes"][node].get("edges", ()):
        tests = edge.get("if", ())
        if edge.get("on", outcome) == outcome and all(TESTS[test](registers[name], by) for name, test, by in tests):
            return edge
    raise RefusedError(f"{node}: no edge can be taken ({outcome or 'passing'}): the program is broken")
def advance(program, node, registers, outcome, verbs=VERBS):
    return follow(program, choose(program, node, registers, outcome), registers, verbs)
def follow(program, edge, before, verbs=VERBS):
    changed = {}
    registers = collections.ChainMap(changed, before)  # a copy at each step takes long
    says, passed = [], []
    while True:
        _apply(program, edge, registers, verbs)
        name, node = edge["go"], program["nodes"][edge["go"]]
        says += filter(None, [edge.get("says")])
        if node["task"] not in ("branch", "end") or not node.get("edges"):
            return Move(name, registers, changed, ", ".join(says), tuple(passed))
        passed.append(name)
        edge = choose(program, name, registers, None)
def filled(node, text, registers, escape=str):
    found = {mark: escape(shown(place, registers)) for mark, place in node.get("placeholders", {}).items()}
    return re.sub("|".join(map(re.escape, found)), lambda match: found[match.group()], text) if found else text
def shown(place, registers):  # a register, or a slot with what stands around it
    if isinstance(place, str):
        return str(registers[place])
    slot, before, after, missing = place
    return str(missing) if registers[slot] is None else f"{before}{registers[slot]}{after}"
def attempt_of(node, registers):
    return registers[node["attempt"]] + 1 if "attempt" in node else 1
def instances_of(node, registers):
    return {variable: registers[register] for variable, register in node.get("variables", {}).items()}
def variables_of(name, node, registers):
    title = filled(node, node.get("title", ""), registers).replace("\0", "\ufffd")
    own = {"RDC_STEP": name, "RDC_TITLE": title[:16_384], "RDC_ATTEMPT": attempt_of(node, registers)}  # not 128 KiB
    return {**own, **instances_of(node, registers)}

