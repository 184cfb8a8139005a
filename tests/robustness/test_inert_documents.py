"""What a runbook declares and hands on stays text, and a word in a quotation or in prose never decides."""

import os
import re
import sys
from pathlib import Path

import pytest
import yaml

from backends.registry import BACKENDS
from tests.robustness.places import Generated
from tests.support import warm
from tests.support.cli import call
from tests.support.cli import document as write
from tests.support.hostile_texts import EVIL, LINES, NASTY, is_unsafe

pytestmark = pytest.mark.process

LINE = " ".join([*LINES, *EVIL, "{{said}} {{OTHER}} ${{ github.token }} $(shell touch PWNED) end"]).replace("\n", " ")
LINE = "".join(character for character in LINE if character not in "\0\r")
MARKS = "VICTIM".join(chr(code) for code in range(1, 32) if not chr(code).isspace())
FIXED = LINE.replace("{{", "{") + MARKS  # a reference would be an error here
TEXT = "\n".join([*NASTY, *EVIL, "{{LINE}}", "the end"]).replace("\0", "")
WHO = "".join(character for character in LINE if character.isprintable())[:150] + "$(touch PWNED)"
SECRET = "s3cret & \\1 value"
LIMIT = 60.0

COMMANDS = """\
printf '%s\\n' "$LINE" "$PICK" "$FIXED" "$OTHER" > seen # $RDC_TITLE
{ echo 'said<<END OF IT'; cat text; echo; echo 'END OF IT'; } >> "$RDC_OUTPUT"
"""


def document() -> str:
    """A runbook that takes texts in from all sides, and shows them on all sides."""
    declared = {
        "github": {"prompts": "environment"},
        "inputs": {
            "LINE": {"description": LINE, "required": True},
            "PICK": {"type": "choice", "options": [f"{LINE} 1", f"{LINE} 2"], "default": f"{LINE} 2"},
            "OTHER": {"default": LINE},
        },
        "outputs": ["said"],
        "secrets": ["TOKEN"],
        "steps": {"*": {"env": {"FIXED": FIXED}, "timeout": "50s"}},
    }
    return f"""---
rdc: {yaml.safe_dump(declared, default_flow_style=True, width=10**6)}
---
# A title with {{{{LINE}}}} {MARKS}
## 1. Look at {{{{LINE}}}} {MARKS}
It is {{{{LINE}}}}, of {{{{PICK}}}}. {MARKS}
```sh
{COMMANDS}```
## 2. Is {{{{OTHER}}}} right? {MARKS}
{{{{said}}}} {MARKS}
- YES: CONTINUE
- NO: STOP "{{{{said}}}} {MARKS}"
## 3. Hand it on
```sh
printf '%s\\n' "$said" > said && echo "$TOKEN" > token # {MARKS} ${{{{
```
- FAIL: RETRY 1 STOP "{MARKS}"
- PASS: COMPLETE "{{{{LINE}}}} and {{{{said}}}}"
"""


def words_of(target: str, folder: Path, verb: str, *rest: str) -> list[str]:
    if target == "python":
        given = {"run": ["--input", f"LINE={LINE}"], "answer": ["--by", WHO, "--note", WHO]}
        return [sys.executable, str(folder / "main.py"), verb, *rest, *given.get(verb, [])]
    placed = [f"{name}={value}" for name, value in zip(("STEP", "REPLY"), rest, strict=False)]
    given = {"run": [f"LINE={LINE}"], "answer": [f"BY={WHO}", f"NOTE={WHO}"]}
    return ["make", verb, *placed, *given.get(verb, [])]


@pytest.mark.parametrize(("target", "name"), [("python", "main.py"), ("make", "Makefile")])
def test_what_is_handed_on_stays_text(target: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "rdc.toml").touch()
    (tmp_path / "main.runbook.md").write_text(document(), encoding="utf-8")
    (tmp_path / "text").write_bytes(TEXT.encode())
    assert call("compile", "main.runbook.md", "--to", target, "-o", name, cwd=tmp_path).code == 0
    looking = (["trace"], ["graph", "--format", "dot", "-o", "-"], ["test"])
    shown = [call(verb, "main.runbook.md", *options, cwd=tmp_path) for verb, *options in looking]
    output = "".join(result.out + result.err for result in shown)
    for words, code in ((["run"], 75), (["answer", "2", "yes"], 0), (["resume"], 0), (["status"], 0)):
        variables = {**os.environ, "TOKEN": SECRET, "HOME": str(tmp_path)}
        done = warm.run(words_of(target, tmp_path, *words), cwd=tmp_path, env=variables, timeout=LIMIT)
        output += (done.stdout + done.stderr).decode()
        assert (done.returncode == 0) == (code == 0), output[-2000:]
    assert (tmp_path / "seen").read_bytes().decode().split("\n")[:4] == [LINE, f"{LINE} 2", FIXED, LINE]
    assert (tmp_path / "said").read_bytes().decode() == f"{TEXT}\n"
    assert [path.name for path in tmp_path.rglob("*") if path.name in {"x", "PWNED"}] == []
    assert sorted({character for character in output if is_unsafe(character)}) == []
    stored = b"".join(path.read_bytes() for path in (tmp_path / ".rdc").rglob("*") if path.is_file())
    assert SECRET.encode() not in stored


@pytest.mark.parametrize(("pattern", "instead"), [("a^", ""), (r"\{\{\w+\}\}", ""), (r"## 2(.|\n)*## 3", "## 2")])
@pytest.mark.parametrize("target", BACKENDS)
def test_what_looks_marked_is_no_value(target: str, pattern: str, instead: str, tmp_path: Path) -> None:
    write(tmp_path, "main.runbook.md", re.sub(pattern, instead, document()))
    made = call("compile", "main.runbook.md", "--to", target, "-o", "out/main.py", cwd=tmp_path)
    written = "".join(path.read_text() for path in tmp_path.glob("out/**/*.*"))
    assert (made.code, re.findall(r"(?:env\.|\$[{(]?|\{\{)VICTIM", written)) == (0, []), made.err


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
CLEAR = (
    *("REJECTED\\nor it can be APPROVED", "APPROVED\\nVerdict: Rejected", "REJECTED: not APPROVED"),
    "> APPROVED\\n\\nREJECTED",
)


@pytest.mark.parametrize("answer", [*QUOTES.values(), *CLEAR], ids=[*QUOTES, *CLEAR])
def test_a_quoted_verdict_stops_the_run_and_one_that_nothing_contradicts_counts(answer: str, tmp_path: Path) -> None:
    place = Generated(tmp_path, "workflow", REVIEW)
    agent = f"echo $RDC_STEP >> called; [ $RDC_STEP = review ] && printf '{answer}' || echo fine"
    result = place.call("run", "--agent", agent)
    called = (tmp_path / "called").read_text().split()
    expected = (0, ["review", "fix"]) if answer in CLEAR else (1, ["review"])
    assert (result.code, called) == expected, result.err
    assert ("ambiguous" in result.err) is (answer not in CLEAR)
