"""Outcomes of units in words: `1.1=fail,fail,pass 2=pass`.

Each visit to a unit uses up one outcome, and the last one stays: `2=fail` fails whenever 2 is run.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence

from compiler.ir.answers import usual
from compiler.ir.program import Node, Program
from compiler.ir.semantics import Outcome, State
from compiler.ir.tasks import PASS_OR_FAIL, Verdict, alphabet
from compiler.ir.walks import Visit

WORDS: Mapping[str, Verdict] = {
    **dict.fromkeys(("pass", "yes", "ok"), Verdict.PASS),
    **dict.fromkeys(("fail", "no"), Verdict.FAIL),
}
"""The words for an outcome."""

_SPECIAL = re.compile(r"[\s'\"\\]")
_MOST_SHOWN = 12


class OutcomesError(ValueError):
    """The words are no outcomes, or name a unit that is not there."""


def read_outcomes(text: str, program: Program) -> dict[str, tuple[str, ...]]:
    """The outcomes of each unit in a text. A name with blanks in it stands in quotes.

    Raises:
        OutcomesError: The text is not understood, or it names a unit that is not there.
    """
    try:
        words = shlex.split(text)
    except ValueError:
        raise OutcomesError("a quote is not closed") from None
    known = {node.id: alphabet(node.task) for node in program.nodes if alphabet(node.task)}
    found: dict[str, tuple[str, ...]] = {}
    for word in words:
        name, equals, given = word.rpartition("=")
        if not equals:
            raise OutcomesError(f"'{word}' is not UNIT=OUTCOME,...")
        if name not in known:
            shown = ", ".join(list(known)[:_MOST_SHOWN]) + (", …" if len(known) > _MOST_SHOWN else "")
            raise OutcomesError(f"no unit '{name}' has outcomes; those that have are {shown}")
        found[name] = found.get(name, ()) + tuple(_outcome(word, said, known[name]) for said in given.split(","))
    return found


def _outcome(word: str, said: str, known: tuple[str, ...]) -> str:
    """The outcome that somebody said: a word of the unit, or another word for its pass or fail."""
    outcome = said if said in known else str(WORDS.get(said, ""))
    if outcome in known:
        return outcome
    if known == PASS_OR_FAIL:
        raise OutcomesError(f"'{word}' is not UNIT=OUTCOME,... with outcomes pass and fail, or yes, ok and no")
    raise OutcomesError(f"'{word}': the outcomes are {', '.join(known)}")


def decided_by(given: Mapping[str, Sequence[str]], otherwise: str) -> Callable[[Node, State], Outcome]:
    """What decides each visit: the unit's next outcome, its last one when they are used up, else always the same."""
    used: dict[str, int] = {}

    def decide(node: Node, _: State) -> Outcome:
        if node.id not in given:
            return Outcome(otherwise) if otherwise in alphabet(node.task) else usual(node.task)
        outcomes, number = given[node.id], used.get(node.id, 0)
        used[node.id] = number + 1
        return Outcome(outcomes[min(number, len(outcomes) - 1)])

    return decide


def write_outcomes(visits: Iterable[Visit]) -> str:
    """The shortest text that leads to these visits, where what is not named passes."""
    given: dict[str, list[str]] = {}
    for made in visits:
        given.setdefault(made.unit, []).append(made.outcome.word)
    shown = {unit: _without_repeats(verdicts) for unit, verdicts in given.items()}
    words = (f"{unit}={','.join(verdicts)}" for unit, verdicts in shown.items() if verdicts != [Verdict.PASS.value])
    return " ".join(shlex.quote(word) if _SPECIAL.search(word) else word for word in words)


def _without_repeats(verdicts: list[str]) -> list[str]:
    length = len(verdicts)
    while length > 1 and verdicts[length - 1] == verdicts[length - 2]:
        length -= 1
    return verdicts[:length]
