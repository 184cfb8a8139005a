"""Verdicts, against a reference that reads each sentence from the events of all runs; and faults that it must find."""

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

import pytest

from compiler.ir.edges import Edge
from compiler.ir.program import Program
from compiler.ir.rules import Event, Rule
from compiler.rules import prove as tiers
from compiler.rules.forgetting import Forgetting
from compiler.rules.model import Status
from compiler.rules.prove import prove
from compiler.rules.watch import BROKEN, OUTSIDE, Moves, Watch, possible_moves
from tests.differential.soak import FORMATS
from tests.support.rule_meaning import Runs, Sentence, compare, example, examples, mutants, random_program, sentences

EACH = 6
"""Sentences for each program."""


def differences(program: Program, asked: Collection[Sentence], found: Counter[str], most: int = 600) -> list[str]:
    """How the proofs of sentences differ from the runs; the verdicts are counted."""
    runs, proofs = Runs(program, most), prove(program, [sentence.rule for sentence in asked])
    found.update(str(proof.status) for proof in proofs)
    compared = ((sentence, compare(runs, sentence, proof)) for sentence, proof in zip(asked, proofs, strict=True))
    return [f"{sentence}: {problem}" for sentence, problem in compared if problem]


def checked(program: Program, seed: int, found: Counter[str], most: int = 600) -> list[str]:
    return differences(program, [*sentences(program, random.Random(seed), EACH)], found, most)


@pytest.mark.parametrize(
    ("first", "count", "most"),
    [(0, 4, 600), *(pytest.param(100 * part, 100, 8000, marks=pytest.mark.soak) for part in range(1, 11))],
)
@pytest.mark.parametrize("name", FORMATS)
def test_proofs_are_what_all_runs_show(name: str, first: int, count: int, most: int) -> None:
    """No run breaks a rule that holds; a path to a breach is a shortest one, and its event breaks the rule."""
    found: Counter[str] = Counter()
    for seed in range(first, first + count):
        assert checked(random_program(name, seed), seed, found, most) == [], seed
    assert found["holds"] > 2
    assert found["broken"] > 2


@pytest.mark.share(4)
@pytest.mark.parametrize("path", examples(), ids=lambda path: path.name)
def test_proofs_of_examples_are_what_all_runs_show(path: Path) -> None:
    program, found = example(path), Counter[str]()
    for seed in range(4):
        assert checked(program, seed, found) == []


def proven(program: Program, seed: int) -> list[Sentence]:
    """Random sentences that hold."""
    asked = [*sentences(program, random.Random(seed), 2 * EACH)]
    proofs = prove(program, [sentence.rule for sentence in asked])
    return [sentence for sentence, proof in zip(asked, proofs, strict=True) if proof.status is Status.HOLDS]


def mutations(name: str, seeds: Iterable[int], each: int, most: int = 600) -> Counter[str]:
    """Compare mutants of programs, and count the verdicts on sentences that hold without the mutation."""
    found: Counter[str] = Counter()
    for seed in seeds:
        program = random_program(name, seed)
        asked = proven(program, seed)
        for mutant in mutants(program, random.Random(seed), each if asked else 0):
            assert differences(mutant, asked, found, most) == [], seed
    return found


@pytest.mark.parametrize(
    ("first", "count", "each", "most"),
    [(300, 2, 3, 600), *(pytest.param(400 + 25 * part, 25, 10, 8000, marks=pytest.mark.soak) for part in range(4))],
)
@pytest.mark.parametrize("name", FORMATS)
def test_each_mutant_that_breaks_a_rule_is_found(name: str, first: int, count: int, each: int, most: int) -> None:
    found = mutations(name, range(first, first + count), each, most)
    assert found["holds"] > found["broken"]
    assert found["broken"] or count < 10


Fault = Callable[[pytest.MonkeyPatch], None]


def closing_ignored(patch: pytest.MonkeyPatch) -> None:
    after = Rule.after
    patch.setattr(Rule, "after", lambda rule, value, event: max(value, after(rule, value, event)))


def checked_after_closing(patch: pytest.MonkeyPatch) -> None:
    def after(watch: Watch, value: int, event: Event) -> int:
        if value < 0:
            return value
        later = watch.rule.after(value, event)
        if watch.rule.breaks(min(value, later) if watch.rule.most is None else value, event):
            watch.event = event
            return BROKEN
        return OUTSIDE if event.step and event.step == watch.rule.scope else later

    patch.setattr(Watch, "after", after)


def off_by_one(patch: pytest.MonkeyPatch) -> None:
    breaks = Rule.breaks
    patch.setattr(Rule, "breaks", lambda rule, value, event: breaks(rule, value - (rule.most is not None), event))


def first_edge_only(patch: pytest.MonkeyPatch) -> None:
    taken = Watch.taken

    def without_later(watch: Watch, value: int, word: str | None, source: str, edge: Edge) -> int:
        return taken(watch, value, word, source, edge) if word is not None else value

    patch.setattr(Watch, "taken", without_later)


def failures_dropped(patch: pytest.MonkeyPatch) -> None:
    def moves(program: Program) -> Moves:
        known = possible_moves(program)
        return {name: tuple(move for move in found if move[0] != "fail") for name, found in known.items()}

    patch.setattr(tiers, "possible_moves", moves)


def counters_forgotten(patch: pytest.MonkeyPatch) -> None:
    def nowhere(_: Forgetting, __: str) -> set[str]:
        return set()

    patch.setattr(Forgetting, "places", nowhere)


FAULTS: tuple[Fault, ...] = (
    *(closing_ignored, checked_after_closing, off_by_one),
    *(first_edge_only, failures_dropped, counters_forgotten),
)


def cases() -> Iterator[tuple[Program, int]]:
    for name in ("rundown", "program", "playbook"):
        for seed in range(14):
            yield random_program(name, seed), seed


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_the_comparison_finds_a_fault(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    """One problem is enough; most faults show in the first programs."""
    fault(monkeypatch)
    assert any(_problems(program, seed) for program, seed in cases())


def _problems(program: Program, seed: int) -> list[str]:
    try:
        return checked(program, seed, Counter(), 600)
    except (AssertionError, ValueError) as error:  # a path that is no run
        return [str(error)]
