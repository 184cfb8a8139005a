r"""Read and write outcomes of steps, such as `1.1=fail,fail,pass 2=pass`.

Each visit to a step uses one outcome, and the last one repeats: `2=fail` fails every time. A colon precedes an answer,
semicolons precede outputs: `ask=pass:eu build=pass;version=1.2`. A backslash escapes these characters in words and
answers; `
` is a line break.
"""

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence

from compiler.ir.answers import usual
from compiler.ir.paths import Visit
from compiler.ir.program import Node, Program
from compiler.ir.semantics import Outcome, State
from compiler.ir.tasks import PASS_OR_FAIL, Ask, Verdict, alphabet
from compiler.text.regex import Regex

WORDS: Mapping[str, Verdict] = {
    **dict.fromkeys(("pass", "yes", "ok"), Verdict.PASS),
    **dict.fromkeys(("fail", "no"), Verdict.FAIL),
}
"""The words for an outcome."""

_SPECIAL = Regex(r"[\s'\"\\]")
_MOST_SHOWN = 12


class OutcomesError(ValueError):
    """The words are not outcomes, or name an unknown step."""


def read_outcomes(text: str, program: Program) -> dict[str, tuple[Outcome, ...]]:
    """Return the outcomes of each step in a text. Names with spaces are in quotes.

    Raises:
        OutcomesError: The text is invalid, or names an unknown step.
    """
    try:
        words = shlex.split(text)
    except ValueError:
        raise OutcomesError("a quote is not closed") from None
    known = {node.id: node for node in program.nodes if alphabet(node.task)}
    found: dict[str, tuple[Outcome, ...]] = {}
    for word in words:
        name, given = _split(word, known)
        found[name] = found.get(name, ()) + tuple(_outcome(word, part, known[name]) for part in _parts(given, ","))
    return found


def _split(word: str, known: Mapping[str, Node]) -> tuple[str, str]:
    """Return a word's step and its outcomes. Both may contain `=`."""
    places = [found.start() for found in re.finditer("=", word)]
    if not places:
        raise OutcomesError(f"'{word}' is not STEP=OUTCOME,...")
    for place in reversed(places):
        if word[:place] in known:
            return word[:place], word[place + 1 :]
    shown = ", ".join(list(known)[:_MOST_SHOWN]) + (", …" if len(known) > _MOST_SHOWN else "")
    raise OutcomesError(f"there is no step '{word[: places[0]]}' with outcomes; use one of {shown}")


def _outcome(word: str, said: str, node: Node) -> Outcome:
    """Return the outcome in a word: an outcome of the step or a synonym, with an answer and outputs."""
    first, *given = _parts(said, ";")
    name, *texts = _parts(first, ":", most=1)
    name, values = _plain(name), tuple(_value(word, item) for item in given)
    known = alphabet(node.task)
    outcome = name if name in known else str(WORDS.get(name, ""))
    if outcome in known:
        return Outcome(outcome, _plain(texts[0]) if texts else usual_text(node, outcome), values)
    if known == PASS_OR_FAIL:
        raise OutcomesError(f"'{word}': the outcomes are pass and fail, or yes, ok and no")
    raise OutcomesError(f"'{word}': the outcomes are {', '.join(known)}")


def _value(word: str, given: str) -> tuple[str, str]:
    name, *value = _parts(given, "=", most=1)
    if not value:
        raise OutcomesError(f"'{word}': write an output as ;NAME=VALUE")
    return _plain(name), _plain(value[0])


def usual_text(node: Node, word: str) -> str:
    """Return the default answer of an outcome: its word, if that is the reply, or an example of a value (I10)."""
    if isinstance(node.task, Ask) and node.task.value:
        return usual(node.task).text if word == Verdict.PASS else word
    return word if isinstance(node.task, Ask) and node.task.question in {"confirm", "select"} else ""


def _parts(text: str, sign: str, most: int = 0) -> list[str]:
    """Split a text at a character that has no backslash before it."""
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
    """Return a function that decides each visit: the step's next outcome, then its last one, or the default."""
    used: dict[str, int] = {}

    def decide(node: Node, _: State) -> Outcome:
        if node.id not in given:
            word = otherwise if otherwise in alphabet(node.task) else usual(node.task).word
            return Outcome(word, usual_text(node, word))
        outcomes, number = given[node.id], used.get(node.id, 0)
        used[node.id] = number + 1
        return outcomes[min(number, len(outcomes) - 1)]

    return decide


def write_outcomes(visits: Iterable[Visit], program: Program) -> str:
    """Return the shortest text that leads to these visits. Steps that pass are left out."""
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
