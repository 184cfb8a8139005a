"""Prompts that an agent answers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.github import act
from tests.support.github.compiling import text_of

pytestmark = pytest.mark.share(3)

DOCUMENT = """\
# Deploy

## 1. Build

```bash
echo build >> "$LOG"; echo built > result
```

## 2. Agree

Is it good?

- YES: CONTINUE
- NO: GOTO Withdraw

## 3. Install

```bash
echo "install $(cat result)" >> "$LOG"
```

- PASS: COMPLETE "It is there"

## Withdraw

```bash
echo "withdraw $(cat result)" >> "$LOG"
```

- PASS: STOP "Not wanted"
"""


def done(folder: Path) -> list[str]:
    return (folder / "log").read_text(encoding="utf-8").splitlines()


def heading(ran: act.ActRun) -> list[str]:
    """How a run has ended; that a part waited for an approval is told too."""
    found = re.findall(r"^### (.*)$", ran.summary, re.MULTILINE)
    return [line for line in found if not line.startswith("WAITING ")]


# --- An agent ---------------------------------------------------------------------------------------------------------


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("agent", "end"),
    [
        ("cat > /dev/null; printf 'I looked.\\n\\n**Yes**\\n\\n'", "COMPLETE It is there"),
        ("cat > /dev/null; echo PASS", "COMPLETE It is there"),
        ("cat > /dev/null; echo no.", "STOP Not wanted"),
        ("cat > /dev/null; echo Perhaps", "STOP Not wanted"),
        ("cat > /dev/null; echo PASS; exit 3", "STOP Not wanted"),
        ("grep -q 'Is it good' && echo YES", "COMPLETE It is there"),
    ],
)
def test_the_last_line_of_an_agent_decides(agent: str, end: str, tmp_path: Path) -> None:
    text = text_of(tmp_path, DOCUMENT, {"prompts": "agent", "agent": agent, "checkout": False, "summary": True})
    ran = act.run(tmp_path, text, env={"LOG": str(tmp_path / "log")})
    assert heading(ran) == [end]
    assert done(tmp_path) == ["build", "install built" if end[0] == "C" else "withdraw built"]


def test_what_an_agent_says_is_no_command_to_the_runner(tmp_path: Path) -> None:
    agent = (
        "cat > /dev/null; printf '::set-output name=next::s3\\n::error::no\\nx\\r::error::cr\\n##[error]no\\nYES\\n'"
    )
    text = text_of(tmp_path, DOCUMENT, {"prompts": "agent", "agent": agent, "checkout": False, "summary": True})
    ran = act.run(tmp_path, text, env={"LOG": str(tmp_path / "log")})
    assert heading(ran) == ["COMPLETE It is there"]
    held = re.sub(r"::stop-commands::(rdc-\w+)\n.*?::\1::", "", ran.log, flags=re.DOTALL)
    assert "::error::no" in ran.log
    assert "::error" not in held
    assert "##[" not in held


def test_an_agent_in_a_loop_is_asked_again(tmp_path: Path) -> None:
    document = DOCUMENT.replace("NO: GOTO Withdraw", "NO: RETRY 3 GOTO Withdraw")
    agent = 'cat > /dev/null; echo asked >> "$LOG"; [ "$(grep -c asked "$LOG")" = 3 ] && echo YES || echo NO'
    text = text_of(tmp_path, document, {"prompts": "agent", "agent": agent, "checkout": False, "summary": True})
    ran = act.run(tmp_path, text, env={"LOG": str(tmp_path / "log")})
    assert heading(ran) == ["COMPLETE It is there"]
    assert done(tmp_path) == ["build", "asked", "asked", "asked", "install built"]
    assert re.findall(r"Agree \| (\d) \| (\w+)", ran.summary) == [("1", "NO"), ("2", "NO"), ("3", "YES")]
