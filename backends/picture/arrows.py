"""The arrows of a picture: edges with labels, merged if these are the same, and the data that flows between steps."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Literal

from msgspec import Struct

from backends.picture.captions import Lines, wrapped
from backends.picture.conditions import action, condition, conditions, past_of_marks, retry_limit
from backends.picture.naming import Naming, Phrase, Term, between, outcome
from compiler.ir.edges import Edge, Following, Keep, is_plain_for, words_of
from compiler.ir.program import Node
from compiler.ir.tasks import UNREAD, Verdict, agents_of, alphabet

MOST_LISTED = 2  # words that are listed for an edge without a guard

Mark = Literal["", "added", "removed", "changed"]
"""How something changed between two versions, in a picture of both; "" if it didn't."""


Leads = Literal["onward", "complete", "stop", "back"]
"""Where a transition leads: to another step, to an end, or back in a loop."""

BACK = "↻"
"""The sign of a transition that leads back."""


class Arrow(Struct, frozen=True):
    """A transition between boxes. With `passes`, it passes the answer to the target.

    Only the outcomes `words` take it; without them, any outcome may.
    """

    source: str
    target: str
    said: Phrase
    leads: Leads = "onward"
    mark: Mark = ""
    passes: bool = False
    words: tuple[str, ...] = ()

    @property
    def says(self) -> str:
        """The label on one line, with the document's words."""
        return "".join(map(str, self.said))

    @property
    def lines(self) -> Lines:
        """The label, with words for people who don't know rdc."""
        words = "".join([part.plain if isinstance(part, Term) else str(part) for part in self.said])
        return wrapped(f"{BACK} {words}" if self.leads == "back" else words)


Directions = Callable[[str, str], Leads]
"""Where each transition leads, by its source and its target."""


class _Transition(Struct):
    """Edges with the same destination and label."""

    target: str
    said: Phrase
    edges: list[Edge]


def arrows(nodes: Iterable[Node], names: Naming, leads: Directions) -> Iterator[Arrow]:
    """Yield the arrows that leave nodes."""
    for node in nodes:
        transitions = _merged(node, names)
        if not transitions:
            continue
        for transition in transitions:
            words = _outcomes(node, transition, names, is_only=len(transitions) == 1)
            if not (words or transition.said) and len(words_of(transition.edges)) > 1:
                words = ("then",)
            effects = (effect for edge in transition.edges for effect in edge.effects)
            stored = (effect.slot for effect in effects if isinstance(effect, Keep))
            passes = not names.carried.isdisjoint(stored)  # the answer is kept for a single later step
            label = words
            if transition.said or passes:
                label = between(" · ", (words, transition.said, ("with its answer",) if passes else ()))
            target, tested = transition.target, [words_of([edge]) for edge in transition.edges]
            taken = tuple(dict.fromkeys(chain(*tested))) if all(tested) else ()
            yield Arrow(node.id, target, label, leads(node.id, target), passes=passes, words=taken)


def _outcomes(node: Node, transition: _Transition, names: Naming, *, is_only: bool) -> Phrase:
    edges = transition.edges
    if is_only or all(edge.guard for edge in edges):
        return _when(node, edges, names)
    if not edges[0].guard:
        return _rest(node, names)
    left = _left(node)
    if left and len(left) <= MOST_LISTED and all(map(_is_plain, edges)):
        return _listed(node, (*words_of(edges), *left))
    return between(" or ", (_when(node, edges, names), ("otherwise",)))


def _merged(node: Node, names: Naming) -> list[_Transition]:
    """Return the edges, merged if neighbors have the same label. A RETRY between them makes no difference."""
    # Edges that only test an outcome are merged wherever they are, because the order of such edges has no meaning.
    transitions: list[_Transition] = []
    latest: dict[object, _Transition] = {}
    plain: dict[object, _Transition] = {}
    for edge in node.edges:
        label = action(edge, names, node.group) if edge.effects else ()
        key = (label, words_of([edge]) if conditions(edge, names) else None)
        is_plain = len(edge.guard) == 1 and _is_plain(edge)
        transition = latest.get(key)
        if (is_plain or not edge.guard) and (transition is None or transition.target != edge.target):
            transition = plain.get((key, edge.target))
        if transition is None or transition.target != edge.target:
            transition = latest[key] = _Transition(edge.target, label, [])
            transitions.append(transition)
            if is_plain:
                plain[key, edge.target] = transition
        transition.edges.append(edge)
    return transitions


def _is_plain(edge: Edge) -> bool:
    return all(test.kind == "outcome" for test in edge.guard)


def _when(node: Node, edges: Sequence[Edge], names: Naming) -> Phrase:
    """Return the outcomes of edges, unless these are all outcomes, with their condition."""
    # RETRY is nearly always for FAIL, and such a short arrow needs a short label.
    words = words_of(edges)
    is_plain_retry = retry_limit(edges[0], names) is not None and words == (Verdict.FAIL.value,)
    is_all = set(words) == set(alphabet(node.task))
    label = () if is_plain_retry or is_all else _listed(node, words)
    return between(" · ", (label, condition(edges, names, node.group)))


def _listed(node: Node, words: Iterable[str]) -> Phrase:
    """Return outcomes. If an answer without any decision leads there, no reviewer needs the four reasons for that."""
    found = {word: outcome(node.task, word) for word in words}
    if agents_of(node.task) and found.keys() >= set(UNREAD):
        unread = Term(", ".join(str(found[word]) for word in found if word in UNREAD), "no clear answer")
        found = {word: label for word, label in found.items() if word not in UNREAD} | {UNREAD[0]: unread}
    return between(", ", ((label,) for label in found.values()))


def _rest(node: Node, names: Naming) -> Phrase:
    marks = [past for edge in node.edges for past in past_of_marks(edge, names)]
    words = _left(node)
    if words and len(words) <= MOST_LISTED:
        return _listed(node, words)
    return (f"none {marks[0]}" if len(marks) > 1 else "otherwise",)


def _left(node: Node) -> tuple[str, ...]:
    """Return the words that only an edge without a guard can follow, or () if this is not certain."""
    tested = set(words_of(node.edges))
    following = Following([edge for edge in node.edges if edge.guard])
    if not all(any(is_plain_for(edge, word) for _, edge in following.after(word)) for word in tested):
        return ()
    return tuple(word for word in alphabet(node.task) if word not in tested)
