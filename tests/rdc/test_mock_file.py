"""Files of mocks, and the part of YAML that they are written in: what it reads, YAML reads alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from rdc.calls.mock import read_mocks
from runtime_shim.engine.program import UsageError
from runtime_shim.tasks.exchange import Answered


def test_a_file_of_mocks_has_answers_in_order(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text("agents:\n  2/elicit: x\n  1: [{fail: why}, 1.50]\ntools:\n  web/get: []\n", encoding="utf-8")
    mocks = read_mocks(str(path))
    given = [mocks.due("agents", "1", number, "1") for number in range(2)]
    assert given == [Answered(b"", "why"), Answered(b"1.50", "")]
    assert mocks.due("agents", "2/elicit", 0, "2") == Answered(b"x", "")
    assert mocks.replies["tools"] == {"web/get": []}
    with pytest.raises(UsageError, match=r"2: .*m\.yaml has no answer number 1 under tools: web/get"):
        mocks.due("tools", "web/get", 0, "2")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("agent: {}\n", "may only have the keys `agents`, `tools`, `executors`"),
        ("agents: [x]\n", "`agents` needs a list of answers for each name"),
        ("agents: {1: [[x]]}\n", "agents: 1: expected a string, or {fail: why}"),
        ("agents:\n  1: *x\n", "m.yaml:2: not YAML: there is no anchor for `*x`"),
        ("agents:\n  1: [x\n", "m.yaml:2: not YAML: this bracket is not closed"),
        ("agents: {1: 2\n", "not YAML"),
        ("{", "not JSON"),
        ('{"agents": {"1": [null]}}', "expected a string, or {fail: why}"),
    ],
)
def test_what_is_no_file_of_mocks_is_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as refused:
        read_mocks(str(path))
    assert said in str(refused.value)
