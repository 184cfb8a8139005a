"""Long values that a message shows several times: no process gets the whole text as a variable, which Linux refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workflows.compiling import text_of
from tests.workflows.walking import Engine

LONGEST = 65_535
"""The most characters of all inputs of a run on GitHub."""

DOCUMENT = """\
---
rdc:
  inputs: {note: {description: A note}}
---
## 1. Ship

"""
COMMAND = """\
```sh
true
```

- PASS: STOP "100% \\\\ {{note}}, {{note}} and {{note}} %s"
- FAIL: COMPLETE
"""
QUESTION = """\
Is it shipped?

- YES: STOP "100% \\\\ {{note}}, {{note}} and {{note}} %s"
- NO: COMPLETE
"""
ANOTHER_STOP = COMMAND.replace("FAIL: COMPLETE", 'FAIL: STOP "Not shipped: {{note}}"')


@pytest.mark.parametrize("summary", [True, False])
@pytest.mark.parametrize("step", [COMMAND, ANOTHER_STOP, QUESTION], ids=["native", "several ends", "calling"])
def test_a_message_shows_a_long_input_three_times(step: str, summary: bool, tmp_path: Path, walk: Engine) -> None:
    workflow = text_of(tmp_path, DOCUMENT + step, {"checkout": False, "runtime": "inline", "summary": summary})
    answers = {"answers": "yes"} if step == QUESTION else {}
    note = "%x" * ((LONGEST - 100) // 2)
    run = walk(workflow, inputs={"note": note, **answers})
    (message,) = [said for job in run.jobs.values() for _, title, said in job.annotations if title == "STOP"]
    assert message == f"100% \\ {note}, {note} and {note} %s"
    assert run.conclusion == "failure"
