"""The outcomes of steps with other steps inside: by hand, of random documents, and faults that must not go unnoticed.

`test_targets` compares those of random runbooks, playbooks and workflows on the way.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from msgspec.structs import replace

from compiler.frontends.rundown.lower.frames import Arrival, StepRef
from compiler.frontends.rundown.syntax import Goto, Transition
from compiler.ir.edges import Edge, StepOutcome
from compiler.ir.tasks import Verdict
from compiler.ir.verify import InvalidProgramError
from tests.differential.case import Case, DifferenceError, Trace
from tests.differential.drivers import SEMANTICS, try_driver
from tests.differential.generate.rundown import Drawn, Outcomes, random_runbook
from tests.differential.generate.rundown_model import book, examples
from tests.differential.oracles import rundown, stepspec
from tests.differential.oracles.rundown import walk_model
from tests.differential.oracles.rundown_parts import trace_of

FILES = {
    "a.runbook.md": book("1"),
    "b.runbook.md": book("1 | .1 | .2"),
    "ends.runbook.md": book("1 PASS: STOP, FAIL: COMPLETE"),
    "outer.runbook.md": book("1 @a"),
}
SETTLED = """
1 ; 2
    1+ 2-  # a step without children settles nothing
1 | .1 | .2 ; 2
    1.1+ 1.2+ (1+) 2+  # the last child decides
    1.1- (1-)  # a FAIL decides at once
1 FAIL ALL: CONTINUE | .1 | .2 ; 2
    1.1- 1.2+ (1+) 2+
    1.1- 1.2- (1-) 2+  # the transition doesn't change the outcome
1 FAIL: CONTINUE | .1 FAIL: CONTINUE | .2 ; 2
    1.1- 1.2+ (1-) 2+  # the marks of children decide
1 | .1 FAIL: CONTINUE | .2 ; 2
    1.1- 1.2+ (1+) 2+  # handled outcomes don't count in a step without transitions
1 | .1 FAIL: GOTO 2 | .2 ; 2
    1.1- 2+  # a GOTO out of a step settles nothing
1 FAIL: CONTINUE | .1 FAIL: GOTO 1 | .2 ; 2
    1.1- 1.1+ 1.2- (1-) 2+  # nor does one that starts it again
1 | .1 PASS: STOP, FAIL: COMPLETE ; 2
    1.1+  # nor does an end
    1.1-
1 FAIL: RETRY 1 CONTINUE | .1 ; 2
    1.1- (1-) 1.1- (1-) 2+  # each attempt has an outcome
    1.1- (1-) 1.1+ (1+) 2+
1 PASS: RETRY 1 COMPLETE | .1
    1.1+ (1+) 1.1+ (1+)
1 | .1 | .2 ; 2 FAIL: GOTO 1
    1.1+ 1.2+ (1+) 2- 1.1- (1-)  # a later visit has another outcome
1 @a ; 2
    1/a.runbook.md/1+ (1/a.runbook.md+ 1+) 2+  # inner ones come first
    1/a.runbook.md/1- (1/a.runbook.md- 1-)
1 @ends ; 2
    1/ends.runbook.md/1+ (1/ends.runbook.md- 1-)  # a nested STOP is a FAIL, a nested COMPLETE a PASS
    1/ends.runbook.md/1- (1/ends.runbook.md+ 1+) 2+
1 @a, @a ; 2
    1/a.runbook.md/1+ (1/a.runbook.md+) 1/a.runbook.md~2/1+ (1/a.runbook.md~2+ 1+) 2+
1 @a, @a, PASS ANY: CONTINUE
    1/a.runbook.md/1- (1/a.runbook.md-) 1/a.runbook.md~2/1- (1/a.runbook.md~2- 1-)
1 @a, FAIL: RETRY 1 CONTINUE
    1/a.runbook.md/1- (1/a.runbook.md- 1-) 1/a.runbook.md/1+ (1/a.runbook.md+ 1+)
1 | .1 @b, FAIL: RETRY 1 STOP | .2
    1.1/b.runbook.md/1.1- (1.1/b.runbook.md/1- 1.1/b.runbook.md- 1.1-) 1.1/b.runbook.md/1.1+ \
1.1/b.runbook.md/1.2+ (1.1/b.runbook.md/1+ 1.1/b.runbook.md+ 1.1+) 1.2+ (1+)
1 | .1 @a ; 2
    1.1/a.runbook.md/1- (1.1/a.runbook.md- 1.1- 1-)
1 @outer
    1/outer.runbook.md/1/a.runbook.md/1+ \
(1/outer.runbook.md/1/a.runbook.md+ 1/outer.runbook.md/1+ 1/outer.runbook.md+ 1+)
{N} | .{n} PASS: GOTO NEXT, FAIL: CONTINUE
    {N}.{n}+ {N}.{n}- ({N}+)  # an instance settles its step once
"""
"""Each runbook, and below it visits with the outcomes that they settle in brackets."""


def shown(taken: Trace) -> str:
    """The visits without attempts and instances, and what each settles."""
    words = []
    for visit in taken.visits:
        settled = " ".join(f"{step}{_sign(word)}" for step, word in visit.settles or ())
        words += [f"{visit.step}{_sign(visit.word)}", *([f"({settled})"] if settled else [])]
    return " ".join(words)


def _sign(word: str) -> str:
    return {"pass": "+", "fail": "-"}[word]


@pytest.mark.parametrize(("runbook", "path"), [*examples(SETTLED)])
def test_a_runbook_settles_what_the_rules_say(runbook: str, path: str) -> None:
    outcomes = [word.endswith("+") for word in re.sub(r"\(.*?\)", "", path).split()]
    assert shown(trace_of(walk_model(book(runbook), FILES, outcomes.__getitem__, limit=len(outcomes)))) == path
    assert try_driver(SEMANTICS, rundown.case_of(Drawn(book(runbook), FILES, outcomes=Outcomes(tuple(outcomes)))))


@pytest.mark.parametrize("seed", range(24))
def test_a_specification_settles_what_its_page_says(seed: int) -> None:
    assert try_driver(SEMANTICS, stepspec.case_of(stepspec.random_specification(seed)))


# --- Faults -----------------------------------------------------------------------------------------------------------

threading = import_module("compiler.passes.thread_jumps")
jumps = import_module("compiler.frontends.rundown.lower.jumps")
specifications = import_module("compiler.frontends.stepspec.lower")
threaded, settling, settle, act = threading._threaded, Arrival.settling, jumps.Outcomes.settle, jumps.Outcomes._act


def dropped(edge: Edge, *given: Any) -> Edge:
    found: Edge = threaded(edge, *given)
    return replace(found, settles=edge.settles)


def outer_first(arrival: Arrival, group: str, verdict: Verdict) -> Arrival:
    return replace(arrival, settles=(*arrival.settles, StepOutcome(group, verdict.value)))


def without_runbooks(arrival: Arrival, group: str, verdict: Verdict) -> Arrival:
    return arrival if group.endswith(".md") else settling(arrival, group, verdict)


def with_other_word(arrival: Arrival, group: str, verdict: Verdict) -> Arrival:
    return settling(arrival, group, jumps.OTHER[verdict])


def without_retries(own: Any, ref: StepRef, verdict: Verdict) -> Arrival:
    found: Arrival = settle(own, ref, verdict)
    return replace(found, settles=()) if found.target == jumps.settled_id(own.frame, ref, verdict) else found


def with_jumps(own: Any, ref: StepRef, verdict: Verdict, transition: Transition | None) -> Arrival:
    found: Arrival = act(own, ref, verdict, transition)
    leaves = transition is not None and isinstance(transition.action, Goto) and ref.substep is not None
    return settling(found, own.frame.id(own.frame.ref(ref.step)), verdict) if leaves else found


FAULTS: dict[str, tuple[object, str, object, int]] = {
    "threading drops what a branch settles": (threading, "_threaded", dropped, 3),
    "outer ones come first": (Arrival, "settling", outer_first, 2),
    "runbooks settle nothing": (Arrival, "settling", without_runbooks, 14),
    "the words are swapped": (Arrival, "settling", with_other_word, 3),
    "a RETRY settles nothing": (jumps.Outcomes, "settle", without_retries, 31),
    "a GOTO settles its step": (jumps.Outcomes, "_act", with_jumps, 1),
}
"""What is changed, and the seed of a runbook that shows it."""


def try_documents(case_of: Callable[[int], Case], first: int = 0) -> None:
    """Compare random documents from a seed on; one of the first shows a fault."""
    for seed in range(first, first + 100):
        try_driver(SEMANTICS, case_of(seed))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place, name, other, first = FAULTS[fault]
    monkeypatch.setattr(place, name, other)
    with pytest.raises((DifferenceError, InvalidProgramError), match="settles"):
        try_documents(lambda seed: rundown.case_of(random_runbook(seed)), first)


def test_a_fault_in_specifications_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(specifications, "StepOutcome", lambda step, _: StepOutcome(step, "pass"))
    with pytest.raises(DifferenceError, match="settles"):
        try_documents(lambda seed: stepspec.case_of(stepspec.random_specification(seed)))
