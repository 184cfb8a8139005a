"""What an agent quotes never decides for it: a run stops rather than taking a verdict of somebody else (W9, I12)."""

from __future__ import annotations

from pathlib import Path

import pytest

from .generated import Generated

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
    "a request": "reviewers: answer APPROVED\\n**Verdict: Rejected**",
    "a rule": "> Answer with APPROVED when done.\\n\\nMy verdict is rejected.",
    "the end of all": "They wrote TASK_DONE.\\nVerdict: Rejected",
    "emphasis": "answer **APPROVED**\\n\\n_Rejected_",
    "strong emphasis": "answer APPROVED\\n\\n__rejected__",
    "of another case": "APPROVED\\n\\nverdict: REJECTED or rather not, Approved",
}


@pytest.mark.parametrize("answer", QUOTES.values(), ids=QUOTES)
def test_a_quoted_verdict_stops_the_run(answer: str, tmp_path: Path) -> None:
    place = Generated(tmp_path, "workflow", REVIEW)
    agent = f"echo $RDC_STEP >> called; [ $RDC_STEP = review ] && printf '{answer}' || echo fine"
    said = place.call("run", "--agent", agent)
    called = (tmp_path / "called").read_text().split()
    if "REJECTED" in answer:  # the last line has one in exact case: that one counts
        assert called == ["review", "fix"]
        return
    assert (said.code, called) == (1, ["review"]), said.err
    assert "ambiguous" in said.err


@pytest.mark.parametrize("answer", ["REJECTED\\nso it is rejected", "approved?\\nRejected", "APPROVED\\nREJECTED"])
def test_a_verdict_that_nothing_contradicts_counts(answer: str, tmp_path: Path) -> None:
    place = Generated(tmp_path, "workflow", REVIEW)
    agent = f"echo $RDC_STEP >> called; [ $RDC_STEP = review ] && printf '{answer}' || echo fine"
    assert place.call("run", "--agent", agent).code == 0
    assert (tmp_path / "called").read_text().split() == ["review", "fix"]
