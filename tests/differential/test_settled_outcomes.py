"""The outcomes of steps with other steps inside: by hand, of random documents, and wrong ones, which must be noticed.

`test_targets` compares those of random runbooks, playbooks and workflows on the way.
"""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.differential.case import DifferenceError, Trace
from tests.differential.drivers import SEMANTICS, try_driver
from tests.differential.generate.rundown import Drawn, Outcomes, random_runbook
from tests.differential.generate.rundown_model import book, examples
from tests.differential.oracles import rundown, stepspec
from tests.differential.oracles.program import path_of
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


Settled = tuple[tuple[str, str], ...]
WRONG: dict[str, Callable[[Settled], Settled]] = {
    "nothing": lambda _: (),
    "one more": lambda settled: (*settled, ("1", "pass")),
    "one less": lambda settled: settled[1:],
    "other words": lambda settled: tuple((step, {"pass": "fail", "fail": "pass"}[word]) for step, word in settled),
    "outer ones first": lambda settled: settled[::-1],
}
DOCUMENTS = {
    "runbook": lambda: rundown.case_of(random_runbook(2)),
    "specification": lambda: stepspec.case_of(stepspec.random_specification(1)),
}


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_settled_wrongly_is_noticed(wrong: str, document: str) -> None:
    case = DOCUMENTS[document]()
    visits = path_of(case).visits
    most = max(visits, key=lambda visit: len(visit.settles or ()))
    changed = WRONG[wrong](most.settles or ())
    if changed == most.settles:  # a step of a specification has none around it
        return
    other = tuple(replace(visit, settles=changed) if visit is most else visit for visit in visits)
    with pytest.raises(DifferenceError, match=f"what {most.step} settles"):
        try_driver(SEMANTICS, replace(case, trace=replace(path_of(case), visits=other)))
