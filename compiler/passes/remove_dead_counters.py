"""Remove counters whose value nothing depends on."""

from typing import TypeVar

from msgspec.structs import replace

from compiler.ir.edges import Clear, Edge, Effect, Keep, Reset, feeding
from compiler.ir.graph import reached_from
from compiler.ir.program import Entering, Jump, Program, scope_members, texts_of

WithEffects = TypeVar("WithEffects", Edge, Jump, Entering)


def remove_dead_counters(program: Program) -> Program:
    """Return the program without counters that no guard, text or environment reads, and without their effects."""
    live = _live(program) if program.counters else set()
    if len(live) == len(program.counters):
        return program
    counters = tuple(counter for counter in program.counters if counter.name in live)
    scopes = scope_members(counters)

    def matters(effect: Effect) -> bool:
        if isinstance(effect, Keep | Clear):
            return True
        return effect.scope in scopes if isinstance(effect, Reset) else effect.register in live

    def trimmed(part: WithEffects) -> WithEffects:
        return replace(part, effects=tuple(effect for effect in part.effects if matters(effect)))

    nodes = tuple(replace(node, edges=tuple(trimmed(edge) for edge in node.edges)) for node in program.nodes)
    jumps = tuple(replace(trimmed(jump), entering=tuple(map(trimmed, jump.entering))) for jump in program.jumps)
    return replace(program, nodes=nodes, counters=counters, jumps=jumps)


def _live(program: Program) -> set[str]:
    names = {counter.name for counter in program.counters}
    live = _tested(program)
    if live >= names:  # almost always true
        return names
    edges = (edge.effects for node in program.nodes for edge in node.edges)
    feeds = feeding((*edges, *(jump.all_effects for jump in program.jumps)))
    for node in program.nodes:
        live.update(reference.register for text in texts_of(node) for reference in text.references)
    for group in program.groups:
        live |= {reference.register for text in (group.title, group.prompt) for reference in text.references}
    live |= {reference.register for context in program.contexts for reference in context.text.references}
    live |= {reference.register for reference in program.artifact.type.references} if program.artifact else set()
    return reached_from(live, lambda name: feeds.get(name, ())).keys() & names


def _tested(program: Program) -> set[str]:
    """Return the counters that a transition, an attempt or a variable depends on."""
    found: set[str] = set()
    for node in program.nodes:
        found.update(variable.register for variable in node.variables)
        if node.retries:
            found.add(node.retries)
        for edge in node.edges:
            for test in edge.guard:
                if test.kind == "counter":
                    found.add(test.register)
    return found
