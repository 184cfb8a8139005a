"""The random cases have everything that a program can have, and each of them ends."""

from __future__ import annotations

from collections import Counter

from tests.programs.features import features
from tests.programs.strategies import random_case

QUESTIONS = ("pass_fail", "yes_no", "confirm", "input", "select")
MUST_OCCUR = {
    *(f"task {kind}" for kind in ("shell", "ask", "agent", "tool", "parallel", "gate", "branch", "end")),
    *(f"question {kind}" for kind in QUESTIONS),
    *(f"input {kind}" for kind in ("string", "text", "number", "boolean", "choice")),
    *(f"test {kind}" for kind in ("outcome", "counter", "slot")),
    *(f"effect {kind}" for kind in ("set", "add", "add a counter", "at_least", "reset", "clear")),
    *(f"effect {kind}" for kind in ("keep answer", "keep output", "extract")),
    *(f"{kind} {whether} keywords" for kind in ("agent", "parallel") for whether in ("with", "without")),
    *(f"reference with {key}" for key in ("before", "after", "missing")),
    *(f"variables of {kind}" for kind in ("shell", "agent", "tool", "parallel")),
    *(f"agent {word}" for word in ("pass", "fail", "a keyword", "none", "invalid", "ambiguous", "failed")),
    *(f"parallel {word}" for word in ("pass", "fail", "a keyword", "none", "invalid", "ambiguous", "failed")),
    *(f"{kind} {word}" for kind in ("shell", "tool") for word in ("pass", "fail")),
    *("ask yes", "ask no", "ask an option", "gate approved", "gate rejected"),
    *(
        "check all",
        "check any",
        "excused",
        "failing",
        "unanimous",
        "nested end",
        "outputs",
        "groups",
        "timeout",
        "delay",
    ),
    *("an agent below a context", "a context below another", "optional tool", "artifact"),
    *("end COMPLETE", "end STOP", "end by the limit", "a step twice", "a long path"),
}
NUMBER = 400


def test_the_cases_have_everything_and_end() -> None:
    found: Counter[str] = Counter()
    for seed in range(NUMBER):
        found.update(features(random_case(seed)))
    assert sorted(MUST_OCCUR - set(found)) == []
    assert found["end none"] == 0
