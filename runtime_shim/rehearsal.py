"""The dry run: the walk as it would be, nothing done and nothing recorded."""

import collections

from runtime_shim.dialog import word_of
from runtime_shim.display import one_line
from runtime_shim.session import Session
from runtime_shim.walk import advance

ROUNDS = 10  # how often a unit is shown


def rehearse(session: Session) -> list[str]:
    """Walk without doing anything and return the lines that tell of it."""
    units, state = session.program["units"], session.state
    visits: collections.Counter[str] = collections.Counter()
    lines: list[str] = []
    while units[state.node]["task"] != "end":
        name, unit, performer = state.node, units[state.node], session.performer(state.node)
        visits[name] += 1
        if visits[name] > ROUNDS:
            return [*lines, f"It would go round from {session.label(name)} again: the walk ends here."]
        done = performer.rehearse(name, unit)
        move = advance(session.program, name, state.registers, done.outcome, done.verbs)
        lines += [session.label(name), *(line for key in performer.keys for line in session.texts(unit, key))]
        lines.append(f"  {word_of(unit, done.outcome)} ({done.how}): {one_line(move.says)}".rstrip())
        state.node, state.registers = move.node, dict(move.registers)
    message = one_line(session.filled(units[state.node], "message"))
    return [*lines, f"The run would end: {units[state.node]['result'].upper()} {message}".rstrip()]
