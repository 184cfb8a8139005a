"""`rdc trace`: the path for given outcomes, all paths, and which transitions none of them takes."""

import json
import shlex
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rdc.trace.text import Turns, folded
from tests.support.cli import UNKNOWN_TARGET, call, document

DEPLOY = """\
# Deploy
## 1. Build
```sh
touch WAS_RUN
```
- FAIL: STOP "Nothing was built"
## 2. Check
### 2.1 Look
Is it good?
- YES: CONTINUE
- NO: RETRY 1 GOTO Back
### 2.2 Listen
- FAIL: CONTINUE
## Back
Put the old one back.
- PASS: STOP "Back to the old one"
"""

ROUNDS = """\
## {N}. Round {N}
```sh
true
```
- PASS: GOTO NEXT {N}
- FAIL: COMPLETE "{N} rounds"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {"deploy": DEPLOY, "rounds": ROUNDS, "broken": UNKNOWN_TARGET}.items():
        document(tmp_path, f"{name}.runbook.md", text)
    return tmp_path


def test_without_outcomes_all_passes_and_outcomes_are_used_up(folder: Path) -> None:
    result = call("trace", "deploy.runbook.md", cwd=folder)
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines() == [
        "1    Build   PASS",
        "2.1  Look    YES   CONTINUE",
        "2.2  Listen  PASS  2 PASS: CONTINUE",
        "=> COMPLETE",
    ]
    assert not (folder / "WAS_RUN").exists()
    for outcomes in ("2.1=no,no Back=pass", "2.1=fail"):  # the last one stays
        assert call("trace", "deploy.runbook.md", "--outcomes", outcomes, cwd=folder).out.splitlines() == [
            "1                Build  PASS",
            "2.1              Look   NO    RETRY 1",
            "2.1 (attempt 2)  Look   NO    GOTO Back",
            "Back                    PASS  STOP",
            "=> STOP Back to the old one",
        ]
    failing = call("trace", "deploy.runbook.md", "--otherwise", "fail", cwd=folder)
    assert failing.out.splitlines() == ["1  Build  FAIL  STOP", "=> STOP Nothing was built"]


def test_instances_have_their_numbers(folder: Path) -> None:
    result = call("trace", "rounds.runbook.md", "--outcomes", "{N}=pass,pass,fail", cwd=folder)
    assert result.out.splitlines() == [
        "{N} (instance 1)  Round 1  PASS  GOTO NEXT {N}",
        "{N} (instance 2)  Round 2  PASS  GOTO NEXT {N}",
        "{N} (instance 3)  Round 3  FAIL  COMPLETE",
        "=> COMPLETE 3 rounds",
    ]
    endless = call("trace", "rounds.runbook.md", "--visits", "7", cwd=folder)
    assert (endless.code, len(endless.out.splitlines())) == (0, 8)
    assert endless.out.splitlines()[-1] == "=> ... at {N} after 7 visits"


def test_wrong_use(folder: Path) -> None:
    for words, complaint in (
        # a step with substeps has no outcome of its own
        (("--outcomes", "2=pass"), "there is no step '2' with outcomes; use one of 1, 2.1, 2.2, Back"),
        (("--outcomes", "1"), "'1' is not STEP=OUTCOME"),
        (("--outcomes", "1=maybe"), "'1=maybe': the outcomes are pass and fail"),
        (("--outcomes", "'1=pass"), "a quote is not closed"),
        (("--all", "--outcomes", "1=pass"), "remove --outcomes"),
        (("--all", "--paths", "0"), "--paths"),
    ):
        result = call("trace", "deploy.runbook.md", *words, cwd=folder)
        assert (result.code, result.out, complaint in result.err) == (2, "", True), result.err
    broken = call("trace", "broken.runbook.md", cwd=folder)
    assert (broken.code, broken.out, "RD201" in broken.err) == (1, "", True)


def test_all_walks_the_shortest_first(folder: Path) -> None:
    result = call("trace", "deploy.runbook.md", "--all", cwd=folder)
    assert result.out.splitlines() == [
        "1 fail => STOP Nothing was built",
        "1 pass, 2.1 yes, 2.2 pass => COMPLETE",
        "1 pass, 2.1 yes, 2.2 fail => COMPLETE",
        "1 pass, 2.1 no, 2.1 (attempt 2) yes, 2.2 pass => COMPLETE",
        "1 pass, 2.1 no, 2.1 (attempt 2) yes, 2.2 fail => COMPLETE",
        "1 pass, 2.1 no ×2, Back pass => STOP Back to the old one",
        "1 pass, 2.1 no ×2, Back fail => STOP",
        "7 paths in total",
        "7 of 7 transitions taken",
    ]


def test_repetitions_are_folded(folder: Path) -> None:
    document(folder, "loop.runbook.md", "## 1. A\n- PASS: CONTINUE\n- FAIL: GOTO 2\n## 2. B\n- FAIL: GOTO 1\n")
    lines = call("trace", "loop.runbook.md", "--all", "--paths", "9", cwd=folder).out.splitlines()
    assert "1 pass, 2 pass => COMPLETE" in lines
    assert "(1 pass, 2 fail) ×2, 1 fail, 2 pass => COMPLETE" in lines
    lines = call("trace", "rounds.runbook.md", "--all", "--paths", "4", cwd=folder).out.splitlines()
    assert lines[:4] == [
        "{N} (instance 1) fail => COMPLETE 1 rounds",
        "{N} (instance 1) pass, {N} (instance 2) fail => COMPLETE 2 rounds",
        "{N} pass ×2, {N} (instance 3) fail => COMPLETE 3 rounds",
        "{N} pass ×3, {N} (instance 4) fail => COMPLETE 4 rounds",
    ]
    found = json.loads(call("trace", "deploy.runbook.md", "--all", "--format", "json", cwd=folder).out)
    visits = [(made["step"], made["outcome"]) for made in found["paths"][-1]["visits"]]
    assert visits == [("1", "pass"), ("2.1", "fail"), ("2.1", "fail"), ("Back", "fail")]


AWAY = "## 1. A\n- FAIL: GOTO 3\n### 1.1 B\n- FAIL: GOTO 2\n### 1.2 C\n## 2. D\n## 3. E\n"
"""1.1 goes away when it fails, so that only the failure of 1.2 leads by the step's transition."""
DEAD = '## 1. Both\n- PASS: GOTO 2\n- FAIL: STOP "x"\n### 1.1 One\n- PASS: GOTO 2\n- FAIL: GOTO 2\n## 2. Two\n'
RETRY = "## 1. A\n\n- PASS: RETRY 3 STOP\n- FAIL: STOP\n\n### 1.1 B\n\n### 1.2 C\n"
LONG = "## 1. A\n\n- FAIL: RETRY 1200 GOTO 2\n\n## 2. B\n"
LARGE = "\n".join(f"## {number}. A\n\n- FAIL: RETRY 3 STOP\n" for number in range(1, 201))

PASSING = "    not on these paths, but taken if all steps pass"
NOWHERE = "    no outcomes lead there"


@pytest.mark.parametrize(
    ("text", "words", "lines"),
    [
        (AWAY, (), ["3 of 3 transitions taken"]),
        (DEAD, (), ["2 of 4 transitions taken", "not taken: 3: 1 FAIL: STOP", NOWHERE]),
        (DEAD, (), ["not taken: 2: 1 PASS: GOTO 2", NOWHERE]),
        (RETRY, ("--visits", "1"), ["1 of 4 transitions taken", "not taken: 3: 1 PASS: RETRY 3", PASSING]),
        (RETRY, ("--visits", "1"), ["not taken: 3: 1 PASS: STOP", PASSING]),
        (LONG, (), ["    not on these paths, but taken with --outcomes 1=fail --visits 1201"]),
        (LARGE, ("--paths", "3"), ["1 fail ×4 => STOP", "3 paths, shortest first; there may be more"]),
    ],
)
def test_what_no_walk_takes_is_told(text: str, words: tuple[str, ...], lines: list[str], tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", text)
    shown = call("trace", "a.runbook.md", "--all", *words, cwd=tmp_path).out.splitlines()
    wanted = [line.replace("not taken: ", "  not taken: a.runbook.md:") for line in lines]
    left = iter(shown)
    assert [line for line in wanted if line not in left] == [], shown
    if text == LONG:
        assert "GOTO 2" in call("trace", "a.runbook.md", *lines[0].split()[-4:], cwd=tmp_path).out


def test_what_the_bound_leaves_out_can_be_asked_for(folder: Path) -> None:
    lines = call("trace", "deploy.runbook.md", "--all", "--paths", "2", cwd=folder).out.splitlines()
    assert "2 paths, shortest first; there may be more" in lines
    place = lines.index("  not taken: deploy.runbook.md:11: 2.1 NO: GOTO Back")
    advice = shlex.split(lines[place + 1])
    given = advice[advice.index("--outcomes") + 1]
    assert given == "2.1=fail"
    assert "GOTO Back" in call("trace", "deploy.runbook.md", "--outcomes", given, cwd=folder).out


def test_for_machines(folder: Path) -> None:
    one = json.loads(call("trace", "rounds.runbook.md", "--outcomes", "{N}=fail", "--format", "json", cwd=folder).out)
    about = {"step": "{N}", "title": "Round 1", "attempt": 1, "instances": {"RDC_STEP_INSTANCE": 1}}
    visit = {**about, "outcome": "fail", "transitions": ["COMPLETE"]}
    ended = {"at": "{N}/COMPLETE", "result": "COMPLETE", "message": "1 rounds"}
    assert one["paths"] == [{"outcomes": "{N}=fail", "jumps": [], "visits": [visit], **ended}]
    document(folder, "dead.runbook.md", DEAD)
    every = json.loads(call("trace", "dead.runbook.md", "--all", "--format", "json", cwd=folder).out)
    assert every["complete"]
    assert [item["places"] for item in every["coverage"]["untaken"]] == [["dead.runbook.md:3"], ["dead.runbook.md:2"]]


DECLARED = """\
---
rdc:
  inputs: {version: {}, region: {type: choice, options: [eu, us], default: us}, count: {type: number}}
  outputs: [id]
  steps: {1: {timeout: 10m, retry-delay: 5s, retry-backoff: 2}}
---
## 1. Ship {{version}}
```sh
echo "id=3" >> "$RDC_OUTPUT"
```
- FAIL: RETRY 1
## 2. Is {{id}} in {{region}}?
X?
- YES: COMPLETE "{{version}} is {{id}}"
- NO: STOP
"""


def test_a_walk_shows_inputs_values_and_times(tmp_path: Path) -> None:
    (tmp_path / "a.runbook.md").write_text(DECLARED, encoding="utf-8")
    result = call("trace", "a.runbook.md", "--input", "version=1.5", "--outcomes", "1=fail,pass;id=7", cwd=tmp_path)
    assert result.out.splitlines() == [
        "version = 1.5",
        "region = us  (default)",
        "count = 1  (example; set it with --input count=VALUE)",
        "id: written by 1, read by 2, 2/COMPLETE",
        "1: at most 10 min, waits 5 s before a retry, ×2 each time",
        "1              Ship 1.5     FAIL  RETRY 1",
        "1 (attempt 2)  Ship 1.5     PASS",
        "  id = 7",
        "2              Is 7 in us?  YES   COMPLETE",
        "=> COMPLETE 1.5 is 7",
    ]


def test_a_walk_shows_limits(tmp_path: Path) -> None:
    settings = '---\nrdc: {steps: {"1": {max-visits: 2, then: STOP "enough", expire: 24h}}}\n---\n\n'
    steps = "## 1. Good?\n\n- YES: COMPLETE\n- NO: GOTO 2\n\n## 2. Fixed?\n\n- PASS: GOTO 1\n"
    (tmp_path / "a.runbook.md").write_text(settings + steps, encoding="utf-8")
    lines = call("trace", "a.runbook.md", "--outcomes", "1=no", cwd=tmp_path).out.splitlines()
    assert lines[0] == "1: at most 2 visits, expires after 24 h"
    assert lines[-2:] == ["2  Fixed?  PASS  GOTO 1, STOP", "=> STOP enough"]


TRIAGE = """# T
## STEP 1: Ask
Say what it is.
@output(kind: enum, "bug", "other", extract:"kind")
## STEP 2: Maybe
```if kind == "bug"```

Fix it.

```endif```
"""


def test_all_paths_of_other_formats_and_names(tmp_path: Path) -> None:
    document(tmp_path, "a.playbook.md", TRIAGE)
    lines = call("trace", "a.playbook.md", "--all", cwd=tmp_path).out.splitlines()
    paths = [line for line in lines if " => " in line]
    assert {"1 fail => STOP", "1 pass => COMPLETE"} < {*paths}
    assert len(set(paths)) == len(paths), "no two lines are the same"
    assert f"{len(paths)} paths in total" in lines
    document(tmp_path, "a.stepspec.yaml", "step_specs:\n  - id: a\n")
    out = call("trace", "a.stepspec.yaml", "--all", cwd=tmp_path).out
    assert ("0 of 0" in out, out.splitlines()[-1]) == (False, "the document has no transitions")
    document(tmp_path, "odd.runbook.md", '## 1. A\u202e\x1b]0;x\x07\n\n- PASS: STOP "b\x1b[2J"\n')
    out = call("trace", "odd.runbook.md", cwd=tmp_path).out
    assert not {"\x1b", "\u202e"} & {*out}, "nothing commands the terminal"


def shown(letters: str) -> str:
    """`2a` for two in a row, `3(ab)` for three turns."""
    return " ".join(_shown(turns) for turns in folded(letters))


def _shown(turns: Turns) -> str:
    inner = "".join(f"{run.times if run.times > 1 else ''}{run.item}" for run in turns.items)
    return f"{turns.times}({inner})" if turns.times > 1 else inner


def unfolded(found: Iterable[Turns]) -> str:
    return "".join("".join(run.item * run.times for run in turns.items) * turns.times for turns in found)


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        *(("", ""), ("abc", "a b c"), ("aaab", "3a b"), ("ababab", "3(ab)"), ("xabababy", "x 3(ab) y")),
        *(("aabaabaabc", "3(2ab) c"), ("abcab", "a b c a b"), ("abacabac", "2(abac)")),
    ],
)
def test_what_is_repeated_is_shown_once(letters: str, expected: str) -> None:
    assert shown(letters) == expected


@given(st.text("abc", max_size=60))
def test_nothing_is_lost(letters: str) -> None:
    found = list(folded(letters))
    assert unfolded(found) == letters
    for turns in found:
        for run in turns.items:
            assert letters[run.place : run.place + run.times] == run.item * run.times


def test_a_long_walk_is_folded_in_little_time() -> None:
    begun = time.process_time()
    assert len(list(folded("abcdefgh" * 5_000))) == 1
    list(folded("".join("ab"[number.bit_count() % 2] for number in range(10_000))))  # repeats nothing three times
    assert time.process_time() - begun < 5
