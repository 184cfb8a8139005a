"""Remove nodes that no run and no operator's jump can reach, groups that become empty, and rules about them."""

from msgspec.structs import replace

from compiler.ir.graph import led_to
from compiler.ir.program import Program


def remove_unreachable(program: Program) -> Program:
    """Return the program with only the nodes that the entry or a jump leads to."""
    jumps = program.jumps
    named = {jump.id for jump in jumps} | {item.group for jump in jumps for item in jump.entering}
    parents = program.parents
    reached = led_to(program, {program.entry, *(jump.target for jump in jumps), *(named - parents.keys())})
    if len(reached) == len(program.nodes):
        return program
    nodes = tuple(node for node in program.nodes if node.id in reached)
    live: set[str] = set()
    for name in {node.group for node in nodes} | (named & parents.keys()):
        group = name
        while group and group not in live:
            live.add(group)
            group = parents[group]
    groups = tuple(group for group in program.groups if group.id in live)
    names = {"", *(node.id for node in nodes), *live}
    rules = tuple(rule.about(names) for rule in program.rules if rule.scope in names)
    return replace(program, nodes=nodes, groups=groups, rules=rules)
