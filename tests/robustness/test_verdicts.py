"""A word in a quotation or in prose never decides: the run stops (W9, I12)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.generated import Generated

pytestmark = pytest.mark.process

REVIEW = """\
name: review
steps:
  - name: review
    agent: critic
    prompt: Look at it.
    report: {name: review, format: text, validation: "APPROVED|REJECTED"}
    conditions:
      - {keyword: APPROVED, goto: release}
      - {keyword: REJECTED, goto: fix}
  - {name: release, agent: builder, prompt: Release it., end: true}
  - {name: fix, agent: builder, prompt: Fix it., end: true}
"""

QUOTES = {
    "a rule": "> Answer with APPROVED when done.\\n\\nMy verdict is rejected.",
    "a condition": "Fix the two tests, then this can be APPROVED.",
    "a negation": "I do not say: APPROVED",
    "a quotation": "They wrote:\\n```\\nAPPROVED",
    "both": "APPROVED\\n\\n**REJECTED**",
    "both with labels": "Verdict: APPROVED\\n\\nverdict: REJECTED",
}


@pytest.mark.parametrize("answer", QUOTES.values(), ids=QUOTES)
def test_a_quoted_verdict_stops_the_run(answer: str, tmp_path: Path) -> None:
    place = Generated(tmp_path, "workflow", REVIEW)
    agent = f"echo $RDC_STEP >> called; [ $RDC_STEP = review ] && printf '{answer}' || echo fine"
    result = place.call("run", "--agent", agent)
    called = (tmp_path / "called").read_text().split()
    assert (result.code, called) == (1, ["review"]), result.err
    assert "ambiguous" in result.err


@pytest.mark.parametrize(
    "answer",
    [
        "REJECTED\\nor it can be APPROVED",
        "APPROVED\\nVerdict: Rejected",
        "REJECTED: not APPROVED",
        "> APPROVED\\n\\nREJECTED",
    ],
)
def test_a_verdict_that_nothing_contradicts_counts(answer: str, tmp_path: Path) -> None:
    place = Generated(tmp_path, "workflow", REVIEW)
    agent = f"echo $RDC_STEP >> called; [ $RDC_STEP = review ] && printf '{answer}' || echo fine"
    assert place.call("run", "--agent", agent).code == 0
    assert (tmp_path / "called").read_text().split() == ["review", "fix"]
