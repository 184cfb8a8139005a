"""The arrows of a picture: edges with labels, merged if these are the same, and the data that flows between steps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from backends.picture.captions import Lines, wrapped
from backends.picture.conditions import (
    PAST,
    action,
    condition,
    conditions,
    past_of_marks,
    retry_limit,
)
from backends.picture.naming import Naming, Said, Term, between, is_named, one_line, outcome, verdict_of
from compiler.ir.edges import Clear, Edge, Following, Keep, SlotTest, is_plain_for, words_of
from compiler.ir.graph import reached_from
from compiler.ir.program import Node, Program, texts_of
from compiler.ir.tasks import UNREAD, End, Task, Verdict, agents_of, alphabet
from compiler.ir.texts import Text

MOST_LISTED = 2
"""Words that are listed for an edge without a guard."""

Mark = Literal["", "added", "removed", "changed"]
"""How something changed between two versions, in a picture of both; "" if it didn't."""


Leads = Literal["onward", "complete", "stop", "back"]
"""Where a transition leads: to another step, to an end, or back in a loop."""

BACK = "↻"
"""The sign of a transition that leads back."""


class Arrow(Struct, frozen=True):
    """A transition between boxes. `verdict` is its outcome, or None if it is for both or neither.

    With `carries`, it passes the answer to the target.
    """

    source: str
    target: str
    said: Said
    verdict: Verdict | None
    leads: Leads = "onward"
    mark: Mark = ""
    carries: bool = False

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
    """Edges with the same destination and label. `asked` has the result of `_asked` for each."""

    target: str
    said: Said
    edges: list[Edge]
    asked: list[object]


Outcomes = Sequence[tuple[Said, Verdict | None]]
"""The condition of each of a node's transitions, in words, with its outcome."""


def arrows(nodes: Iterable[Node], names: Naming, leads: Directions) -> Iterator[Arrow]:
    """Yield the arrows that leave nodes."""
    known: dict[object, Outcomes] = {}
    for node in nodes:
        transitions = _merged(node, names)
        if not transitions:
            continue
        for transition, (words, verdict) in zip(transitions, _outcomes(node, transitions, names, known), strict=True):
            if not (words or transition.said) and len(words_of(transition.edges)) > 1:
                words = ("then",)  # noqa: PLW2901 (the word for a transition without a label)
            carries = bool(names.carried) and _carries(transition, names)
            said = words
            if transition.said or carries:
                said = between(" · ", (words, transition.said, ("with its answer",) if carries else ()))
            target = transition.target
            yield Arrow(node.id, target, said, verdict, leads(node.id, target), carries=carries)


def _outcomes(node: Node, transitions: Sequence[_Transition], names: Naming, known: dict[object, Outcomes]) -> Outcomes:
    """Return the outcomes of a node's transitions. Most nodes have the same ones, so they are cached."""
    asked = [tuple(transition.asked) for transition in transitions]
    if any([None in each for each in asked]):  # noqa: C419 (twice as fast)
        return _found(node, transitions, names)
    key = (_speech(node.task), *asked)
    found = known.get(key)
    if found is None:
        found = known[key] = _found(node, transitions, names)
    return found


def _speech(task: Task) -> object:
    """Return the part of a task that determines its words and their display."""
    if task.kind == "shell":
        return task.kind
    return (task.kind, task.question, task.options) if task.kind == "ask" else task


def _found(node: Node, transitions: Sequence[_Transition], names: Naming) -> Outcomes:
    found: list[tuple[Said, Verdict | None]] = []
    for transition in transitions:
        is_rest = len(transitions) > 1 and not transition.edges[0].guard
        words = _rest(node, names) if is_rest else _when(node, transition.edges, names)
        if len(transitions) > 1 and transition.edges[0].guard and not all(edge.guard for edge in transition.edges):
            left = _left(node)
            is_known = left and len(left) <= MOST_LISTED and all(map(_is_plain, transition.edges))
            tested = (*words_of(transition.edges), *left)
            words = _listed(node, tested) if is_known else between(" or ", (words, ("otherwise",)))
        found.append((words, _verdict(node, transition, names)))
    return found


def _carries(transition: _Transition, names: Naming) -> bool:
    """Return whether the answer is kept for a single later step."""
    effects = (effect for edge in transition.edges for effect in edge.effects)
    return any(isinstance(effect, Keep) and effect.slot in names.carried for effect in effects)


def _merged(node: Node, names: Naming) -> list[_Transition]:
    """Return the edges, merged if neighbors have the same label. A RETRY between them makes no difference.

    Edges that only test an outcome are merged wherever they are, because the order of such edges has no meaning.
    """
    transitions: list[_Transition] = []
    latest: dict[object, _Transition] = {}
    plain: dict[object, _Transition] = {}
    for edge in node.edges:
        said = action(edge, names, node.group) if edge.effects else ()
        asked = _asked(edge, names)
        key = (said, words_of([edge]) if asked is None else None)
        is_plain = len(edge.guard) == 1 and _is_plain(edge)
        transition = latest.get(key)
        if (is_plain or not edge.guard) and (transition is None or transition.target != edge.target):
            transition = plain.get((key, edge.target))
        if transition is None or transition.target != edge.target:
            transition = latest[key] = _Transition(edge.target, said, [edge], [asked])
            transitions.append(transition)
            if is_plain:
                plain[key, edge.target] = transition
        else:
            transition.edges.append(edge)
            transition.asked.append(asked)
    return transitions


def _is_plain(edge: Edge) -> bool:
    """Return whether an edge tests at most the outcome."""
    return all(test.kind == "outcome" for test in edge.guard)


def _asked(edge: Edge, names: Naming) -> object:
    """Return an edge's conditions if they are only outcomes and the count of a RETRY, or None.

    Edges with the same result have the same words. The words of other conditions name steps.
    """
    guard = edge.guard
    if (len(guard) == 1 and guard[0].kind == "outcome") or all(test.kind == "outcome" for test in guard):
        return guard
    return None if conditions(edge, names) else ("RETRY", *words_of([edge]))


def _when(node: Node, edges: Sequence[Edge], names: Naming) -> Said:
    """Return the outcomes of edges, unless these are all outcomes, with their condition.

    RETRY is nearly always for FAIL, and such a short arrow needs a short label.
    """
    words = words_of(edges)
    is_plain_retry = retry_limit(edges[0], names) is not None and words == (Verdict.FAIL.value,)
    is_all = set(words) == set(alphabet(node.task))
    said = () if is_plain_retry or is_all else _listed(node, words)
    return between(" · ", (said, condition(edges, names, node.group)))


def _listed(node: Node, words: Iterable[str]) -> Said:
    """Return outcomes. If an answer without any decision leads there, no reviewer needs the four reasons for that."""
    found = {word: outcome(node.task, word) for word in words}
    if agents_of(node.task) and found.keys() >= set(UNREAD):
        unread = Term(", ".join(str(found[word]) for word in found if word in UNREAD), "no clear answer")
        found = {word: said for word, said in found.items() if word not in UNREAD} | {UNREAD[0]: unread}
    return between(", ", ((said,) for said in found.values()))


def _rest(node: Node, names: Naming) -> Said:
    """Return the words for the edge that is taken if no other is."""
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


def _verdict(node: Node, transition: _Transition, names: Naming) -> Verdict | None:
    """Return the outcome of a transition: the node's, the decided step's, or the nested runbook's."""
    if words := _words(node, transition):
        verdicts = {verdict_of(node.task, word) for word in words}
        return verdicts.pop() if len(verdicts) == 1 else None
    if isinstance(node.task, End):
        return Verdict.PASS if node.task.result == "complete" else Verdict.FAIL
    pasts = {past for edge in node.edges for past in past_of_marks(edge, names)}
    if len(pasts) != 1 or not pasts <= set(PAST.values()):
        return None
    is_failed = ("failed" in pasts) == bool(transition.edges[0].guard)
    return Verdict.FAIL if is_failed else Verdict.PASS


def _words(node: Node, transition: _Transition) -> tuple[str, ...]:
    """Return the words of a transition, or () if they are not known."""
    if all(words_of([edge]) for edge in transition.edges):
        return words_of(transition.edges)
    return _left(node) if len(transition.edges) == 1 and not transition.edges[0].guard else ()


MOST_LOOKED_AT = 1_000_000
"""In edges. A program too large to draw shows no data flow."""


class Stream(Struct, frozen=True):
    """The slots, by name, that one box writes and another one reads."""

    source: str
    target: str
    names: tuple[str, ...]

    @property
    def lines(self) -> Lines:
        """The label: the names in lines."""
        return wrapped(", ".join(map(one_line, self.names)))


def streams(program: Program) -> Iterator[Stream]:
    """Yield all streams, ordered by the boxes that write, then by those that read. Ends may be drawn twice."""
    if not program.slots:
        return
    kept = {node.id: _kept(node) for node in program.nodes}
    written = sum(map(len, kept.values()))
    if not written or written * sum(len(node.edges) for node in program.nodes) > MOST_LOOKED_AT:
        return
    index = program.index()
    above = _in_contexts(program)
    read = {node.id: _read(node, above) for node in program.nodes if not isinstance(node.task, End)}
    for node in program.nodes:
        found: dict[str, list[str]] = {}
        for slot in kept[node.id]:
            for reader in _readers(index, node, slot):
                if slot in read.get(reader, ()):
                    found.setdefault(reader, []).append(slot)
        yield from (Stream(node.id, other.id, tuple(found[other.id])) for other in program.nodes if other.id in found)


def _kept(node: Node) -> tuple[str, ...]:
    """Return the named slots that an answer is kept in."""
    effects = (effect for edge in node.edges for effect in edge.effects)
    return tuple(
        dict.fromkeys(
            effect.slot
            for effect in effects
            if isinstance(effect, Keep) and effect.of == "answer" and is_named(effect.slot)
        )
    )


def _read(node: Node, above: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Return the slots that an author names in a node's strings, in its context, or in conditions on its edges."""
    named = _named(texts_of(node)).union(*(above[agent.context] for agent in agents_of(node.task)))
    return named | {test.slot for edge in node.edges for test in edge.guard if isinstance(test, SlotTest)}


def _in_contexts(program: Program) -> Mapping[str, frozenset[str]]:
    """Return the slots that an author names in each context (I31)."""
    found: dict[str, frozenset[str]] = {"": frozenset()}
    for context in program.contexts:
        found[context.name] = found[context.after] | _named([context.text])
    return found


def _named(texts: Iterable[Text]) -> frozenset[str]:
    return frozenset(item.register for written in texts for item in written.references if item.written)


def _readers(index: Mapping[str, Node], writer: Node, slot: str) -> Collection[str]:
    """Return the nodes that a run can reach before another value is kept in the slot."""

    def onward(name: str) -> Iterator[str]:
        for edge in index[name].edges:
            if not any(_is_of(effect, slot) or effect == Clear(slot) for effect in edge.effects):
                yield edge.target

    starts = (edge.target for edge in writer.edges if any(_is_of(effect, slot) for effect in edge.effects))
    return reached_from(starts, onward)


def _is_of(effect: object, slot: str) -> bool:
    return isinstance(effect, Keep) and effect.slot == slot
