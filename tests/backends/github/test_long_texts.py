"""Messages with values: they pass the linters, and no process gets a long text as a variable, which Linux refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.backends.github.walking import Engine
from tests.support.github.act import end_of
from tests.support.github.compiling import text_of
from tests.support.github.lint import findings

pytestmark = pytest.mark.tool

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


@pytest.mark.parametrize(
    ("step", "summary"),
    [(COMMAND, True), (ANOTHER_STOP, False), (QUESTION, True)],
    ids=["native", "several ends", "calling"],
)
def test_a_message_shows_a_long_input_three_times(step: str, summary: bool, tmp_path: Path, walk: Engine) -> None:
    workflow = text_of(tmp_path, DOCUMENT + step, {"checkout": False, "runtime": "inline", "summary": summary})
    note = "%x" * ((LONGEST - 100) // 2)
    run = walk(workflow, inputs={"note": note})
    if step == QUESTION:
        run = walk(workflow, inputs={"answers": "yes", "resume": "1"}, run_id=2)
    reported = [printed for job in run.jobs.values() for _, title, printed in job.annotations if title == "STOP"]
    assert (reported or [end_of(workflow, run).message])[0] == f"100% \\ {note}, {note} and {note} %s"
    assert run.conclusion == "failure"


MESSAGES = (
    "{{HOST}} has {{VERSION}}",
    "{{HOST}}{{VERSION}}{{HOST}}",
    "$(touch x) `id` '{{HOST}}' $VALUE_1 ${{{{ github.token }}}} 100%s \\\\n {{VERSION}}!",
    "Only {{HOST}}",
)
TWO = """\
---
rdc:
  inputs: {{HOST: {{description: A host, default: db1}}, VERSION: {{description: A version, default: '%s\\'}}}}
---
## 1. Ask {{{{HOST}}}} for {{{{VERSION}}}}

```sh
{command}
```

- FAIL: GOTO 2
- PASS: COMPLETE "{first}"

## 2. Again

```bash
false
```

- FAIL: STOP "{first}"
- PASS: STOP "{second}"
"""


@pytest.mark.parametrize("summary", [True, False])
def test_messages_with_several_values_are_clean_and_exact(summary: bool, tmp_path: Path, walk: Engine) -> None:
    """Half of the workflows are looked at by the linters, for each end and each message."""
    paths = []
    for number, first in enumerate(MESSAGES):
        command = "true" if (number % 2 == 0) == summary else "false"
        paths.append(tmp_path / f"{number}.yml")
        check_message(first, command, paths[-1], walk, summary=summary)
    assert findings(paths[summary::2]) == []


def check_message(first: str, command: str, path: Path, walk: Engine, *, summary: bool) -> None:
    message = first.replace("{{{{", "{{").replace("}}}}", "}}")
    document = TWO.format(command=command, first=message, second=f"{message} and {{{{HOST}}}}")
    workflow = text_of(path.parent, document, {"checkout": False, "summary": summary})
    path.write_text(workflow, encoding="utf-8")
    run = walk(workflow)
    expected = message.replace("\\\\", "\\").replace("{{HOST}}", "db1").replace("{{VERSION}}", "%s\\")
    assert end_of(workflow, run).message == expected
    assert run.conclusion == ("success" if command == "true" else "failure")
