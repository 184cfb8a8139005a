"""Texts that databases and formats find difficult survive both databases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.workers.fleet import Fleet

pytestmark = pytest.mark.process

SHOUTS = """\
# Texts

## 1. Shout

```bash
printf 'a\\0b \\355\\240\\200 \\377 \\342\\200\\250 "q" '\\''s'\\'' \\\\ \\\\u0000 %%s ? :name \\033[0m\\r\\n'
exit 1
```

- PASS: CONTINUE
- FAIL: CONTINUE

## 2. Check

Is it fine?

- YES: CONTINUE
- NO: STOP

## 3. End

```bash
true
```
"""
NOTE = "\\u0000 'q' \"Q\" %s ? :name \\ é ☃ 𝄞; DROP TABLE workflow_status --"


@pytest.mark.soak
def test_outputs_and_notes_survive(fleet: Fleet) -> None:
    fleet.compile(SHOUTS)
    fleet.worker()
    fleet.start("r1")
    fleet.until("r1", "waiting")
    reply = fleet.call("answer", "r1", "2", "yes", "--by", "Ann 'O\" %s", "--note", NOTE)
    assert reply.code == 0, reply.text
    fleet.until("r1", "complete")
    done = json.loads(fleet.call("status", "r1", "--json").out)["finished"]
    output = done[0]["output"]
    assert output.startswith("a\0b ")
    assert "\"q\" 's' \\ \\u0000 %s ? :name \033[0m" in output
    assert done[1]["by"] == "Ann 'O\" %s"
    assert done[1]["note"] == NOTE
    shown = fleet.call("status", "r1")
    assert "\033" not in shown.out
    assert "\0" not in shown.out


ELICITS = """\
# Long

## STEP 1: Text

@elicit(input, "Which text?")
@output(text)

## STEP 2: Again

Say this again: {{text}}
"""


@pytest.mark.soak
def test_a_long_answer_survives(fleet: Fleet, tmp_path: Path) -> None:
    agent = tmp_path / "agent.sh"
    agent.write_text("cat > prompt\nhead -c 700000 prompt | tail -c 600000\n")
    fleet.compile(ELICITS, "job.playbook.md")
    fleet.worker("--agent", f"sh {agent}")
    fleet.start("r1")
    fleet.until("r1", "waiting")
    text = ("'\"\\ ☃ %s \\u0000 " * 80_000).encode()[:1_000_000].decode(errors="ignore").strip()
    reply = fleet.call("answer", "r1", "1", "-", input=text.encode())
    assert reply.code == 0, reply.text[:2000]
    fleet.until("r1", "complete", seconds=30)
    prompt = (tmp_path / "prompt").read_text()
    assert text in prompt
    shown = fleet.call("status", "r1", "--json")
    assert shown.code == 0
