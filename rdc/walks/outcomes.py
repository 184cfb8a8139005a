"""Outcomes of units in words: `1.1=fail,fail,pass 2=pass`.

Each visit to a unit uses up one outcome, and the last one stays: `2=fail` fails whenever 2 is run.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence

from compiler.ir.program import Branch, End, Node, Program, Verdict
from compiler.ir.semantics import Outcome, State
from compiler.ir.walks import Visit
from compiler.scenarios import ANSWERS

_SPECIAL = re.compile(r"[\s'\"\\]")


_MOST_SHOWN = 12


class OutcomesError(ValueError):
    """The words are no outcomes, or name a unit that is not there."""


def read_outcomes(text: str, program: Program) -> dict[str, tuple[Verdict, ...]]:
    """The outcomes of each unit in a text. A name with blanks in it stands in quotes.

    Raises:
        OutcomesError: The text is not understood, or it names a unit that is not there.
    """
    try:
        words = shlex.split(text)
    except ValueError:
        raise OutcomesError("a quote is not closed") from None
    units = [node.id for node in program.nodes if not isinstance(node.task, Branch | End)]
    known = set(units)
    found: dict[str, tuple[Verdict, ...]] = {}
    for word in words:
        name, equals, given = word.rpartition("=")
        if not equals or not all(outcome in ANSWERS for outcome in given.split(",")):
            raise OutcomesError(f"'{word}' is not UNIT=OUTCOME,... with outcomes pass and fail, or yes, ok and no")
        if name not in known:
            shown = ", ".join(units[:_MOST_SHOWN]) + (", …" if len(units) > _MOST_SHOWN else "")
            raise OutcomesError(f"no unit '{name}' has outcomes; those that have are {shown}")
        found[name] = found.get(name, ()) + tuple(ANSWERS[outcome] for outcome in given.split(","))
    return found


def decided_by(given: Mapping[str, Sequence[Verdict]], otherwise: Verdict) -> Callable[[Node, State], Outcome]:
    """What decides each visit: the unit's next outcome, its last one when they are used up, else always the same."""
    used: dict[str, int] = {}

    def decide(node: Node, _: State) -> Outcome:
        if node.id not in given:
            return Outcome(otherwise)
        outcomes, number = given[node.id], used.get(node.id, 0)
        used[node.id] = number + 1
        return Outcome(outcomes[min(number, len(outcomes) - 1)])

    return decide


def write_outcomes(visits: Iterable[Visit]) -> str:
    """The shortest text that leads to these visits, where what is not named passes."""
    given: dict[str, list[Verdict]] = {}
    for made in visits:
        given.setdefault(made.unit, []).append(made.outcome.verdict)
    shown = {unit: _without_repeats(verdicts) for unit, verdicts in given.items()}
    words = (f"{unit}={','.join(verdicts)}" for unit, verdicts in shown.items() if verdicts != [Verdict.PASS])
    return " ".join(shlex.quote(word) if _SPECIAL.search(word) else word for word in words)


def _without_repeats(verdicts: list[Verdict]) -> list[Verdict]:
    length = len(verdicts)
    while length > 1 and verdicts[length - 1] is verdicts[length - 2]:
        length -= 1
    return verdicts[:length]
