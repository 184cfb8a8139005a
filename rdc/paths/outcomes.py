r"""Outcomes of steps in words: `1.1=fail,fail,pass 2=pass`.

Each visit to a step uses up one outcome, and the last one stays: `2=fail` fails whenever 2 is run. A text that comes
with it stands behind a colon, values behind semicolons: `ask=pass:eu build=pass;version=1.2`. Where one of these signs
is part of a word or a text, a backslash stands before it; `\n` is a line break.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence

from compiler.ir.answers import usual
from compiler.ir.paths import Visit
from compiler.ir.program import Node, Program
from compiler.ir.semantics import Outcome, State
from compiler.ir.tasks import PASS_OR_FAIL, Ask, Verdict, alphabet
from compiler.regex import Regex

WORDS: Mapping[str, Verdict] = {
    **dict.fromkeys(("pass", "yes", "ok"), Verdict.PASS),
    **dict.fromkeys(("fail", "no"), Verdict.FAIL),
}
"""The words for an outcome."""

_SPECIAL = Regex(r"[\s'\"\\]")
_MOST_SHOWN = 12


class OutcomesError(ValueError):
    """The words are no outcomes, or name a step that is not there."""


def read_outcomes(text: str, program: Program) -> dict[str, tuple[Outcome, ...]]:
    """The outcomes of each step in a text. A name with spaces in it stands in quotes.

    Raises:
        OutcomesError: The text is not understood, or it names a step that is not there.
    """
    try:
        words = shlex.split(text)
    except ValueError:
        raise OutcomesError("a quote is not closed") from None
    known = {node.id: node for node in program.nodes if alphabet(node.task)}
    found: dict[str, tuple[Outcome, ...]] = {}
    for word in words:
        name, given = _split(word, known)
        found[name] = found.get(name, ()) + tuple(_outcome(word, said, known[name]) for said in _parts(given, ","))
    return found


def _split(word: str, known: Mapping[str, Node]) -> tuple[str, str]:
    """The step that a word is about, and what it says of it. Both may have signs of equality in them."""
    places = [found.start() for found in re.finditer("=", word)]
    if not places:
        raise OutcomesError(f"'{word}' is not STEP=OUTCOME,...")
    for place in reversed(places):
        if word[:place] in known:
            return word[:place], word[place + 1 :]
    shown = ", ".join(list(known)[:_MOST_SHOWN]) + (", …" if len(known) > _MOST_SHOWN else "")
    raise OutcomesError(f"no step '{word[: places[0]]}' has outcomes; those that have are {shown}")


def _outcome(word: str, said: str, node: Node) -> Outcome:
    """The outcome that somebody said: a word of the step, or another word for its pass or fail; a text, and outputs."""
    first, *given = _parts(said, ";")
    name, *texts = _parts(first, ":", most=1)
    name, values = _plain(name), tuple(_value(word, item) for item in given)
    known = alphabet(node.task)
    outcome = name if name in known else str(WORDS.get(name, ""))
    if outcome in known:
        return Outcome(outcome, _plain(texts[0]) if texts else usual_text(node, outcome), values)
    if known == PASS_OR_FAIL:
        raise OutcomesError(f"'{word}' is not STEP=OUTCOME,... with outcomes pass and fail, or yes, ok and no")
    raise OutcomesError(f"'{word}': the outcomes are {', '.join(known)}")


def _value(word: str, given: str) -> tuple[str, str]:
    name, *value = _parts(given, "=", most=1)
    if not value:
        raise OutcomesError(f"'{word}': an output is given as ;NAME=VALUE")
    return _plain(name), _plain(value[0])


def usual_text(node: Node, word: str) -> str:
    """The text of an outcome of which only the word is known: the reply, where that is the word (I10)."""
    return word if isinstance(node.task, Ask) and node.task.question in {"confirm", "select"} else ""


def _parts(text: str, sign: str, most: int = 0) -> list[str]:
    """A text parted at a sign, but not where a backslash stands before it."""
    parts = [""]
    for one in re.findall(r"\\.|.", text, re.DOTALL):
        if one == sign and (not most or len(parts) <= most):
            parts.append("")
        else:
            parts[-1] += one
    return parts


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], text, flags=re.DOTALL)


def _escaped(text: str) -> str:
    return re.sub(r"[\\,;:=]", r"\\\g<0>", text).replace("\n", "\\n")


def decided_by(given: Mapping[str, Sequence[Outcome]], otherwise: str) -> Callable[[Node, State], Outcome]:
    """What decides each visit: the step's next outcome, its last one when they are used up, else always the same."""
    used: dict[str, int] = {}

    def decide(node: Node, _: State) -> Outcome:
        if node.id not in given:
            return Outcome(otherwise) if otherwise in alphabet(node.task) else usual(node.task)
        outcomes, number = given[node.id], used.get(node.id, 0)
        used[node.id] = number + 1
        return outcomes[min(number, len(outcomes) - 1)]

    return decide


def write_outcomes(visits: Iterable[Visit], program: Program) -> str:
    """The shortest text that leads to these visits, where what is not named passes."""
    nodes = program.index()
    given: dict[str, list[str]] = {}
    for made in visits:
        given.setdefault(made.step, []).append(_written(nodes[made.step], made.outcome))
    shown = {step: _without_repeats(outcomes) for step, outcomes in given.items()}
    words = (f"{step}={','.join(outcomes)}" for step, outcomes in shown.items() if outcomes != [Verdict.PASS.value])
    return " ".join(shlex.quote(word) if _SPECIAL.search(word) else word for word in words)


def _written(node: Node, outcome: Outcome) -> str:
    text = "" if outcome.text == usual_text(node, outcome.word) else f":{_escaped(outcome.text)}"
    values = "".join(f";{_escaped(name)}={_escaped(value)}" for name, value in outcome.values)
    return f"{_escaped(outcome.word)}{text}{values}"


def _without_repeats(outcomes: list[str]) -> list[str]:
    length = len(outcomes)
    while length > 1 and outcomes[length - 1] == outcomes[length - 2]:
        length -= 1
    return outcomes[:length]
