"""Errors of newcomers: the message is at the right line, and its help names what to write."""

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.cli import call

RUNBOOK = """---
name: deploy
rdc:
  inputs:
    VERSION: {description: The version, pattern: '[0-9.]+', default: "1.0"}
  secrets: [TOKEN]
scenarios:
  good:
    commands: [rd run deploy.runbook.md, rd pass]
    result: COMPLETE
---

# Deploy
## 1. Build
```bash
make VERSION="$VERSION"
```
- PASS: CONTINUE
- FAIL: RETRY 2 GOTO Undo

## 2. Check
Is version {{VERSION}} live?
- YES: COMPLETE "Done"
- NO: GOTO Undo
## Undo
```bash
make undo
```
- PASS: STOP "Undone"
- FAIL: STOP
"""
PLAYBOOK = """# Write an article
## SYSTEM
You write plainly.
## INPUTS
- `topic` (string): The topic
- `tone` (enum: formal, plain): The tone
- `words` (number: 500): The length
## STEP 1: Research
Collect facts about {{topic}}.
@output(facts)
## STEP 2: Write
Write {{words}} words in a {{tone}} tone from {{facts}}.
```if tone == "formal"```
Use full sentences.
```else```
Be brief.
```endif```

## STEP 3: Publish

Publish it.

@elicit(confirm, "Publish it?")

## ARTIFACTS

type: markdown
"""
WORKFLOW = """name: review
description: Review a change

steps:
  - name: plan
    agent: planner
    prompt: |
      Plan the change.
    report: {name: plan, format: "## Plan"}
    next: write

  - name: write
    agent: coder
    prompt: |
      Write it. Answer DONE or BLOCKED.
    report:
      name: write
      format: "## Changes"
      validation: "DONE|BLOCKED"
    conditions:
      - {keyword: DONE, goto: check}
      - {keyword: BLOCKED, goto: plan}

  - name: check
    agent: reviewer
    prompt: Check it.
    human: true
    end: true
"""
SPECIFICATION = """workflow: {module: notes, workflow: publish}

config:
  variables: {output_folder: public, topic: bees}
  executor: ./do.sh

step_specs:
  - id: draft
    description: Write about {topic}
    outputs: ["{output_folder}/draft.md"]
    retries: {max: 2, backoff_seconds: 5}
    tools:
      - {name: listFiles, args: {path: public}}
  - id: review
    description: Review it
    human_gate: required
    inputs: {validation_targets: ["{output_folder}/draft.md"]}
    validation: AST
    evidence: L2
    outputs: ["{output_folder}/review.py"]
"""
REVIEWED = '    evidence: L2\n    outputs: ["{output_folder}/review.py"]\n'
BASES = {
    "deploy.runbook.md": RUNBOOK,
    "article.playbook.md": PLAYBOOK,
    "review.workflow.yaml": WORKFLOW,
    "notes.stepspec.yaml": SPECIFICATION,
}
R, P, W, S = BASES
LISTED = "      - {keyword: DONE, goto: check}\n      - {keyword: BLOCKED, goto: plan}"
MAPPED = "      DONE: check\n      BLOCKED: plan"
OUTPUTS = 'outputs: ["{output_folder}/draft.md"]'


class Row(NamedTuple):
    """An error in a document: what stands there, what is written instead, where rdc says so, a part of its remedy.

    `place` is the line and the code; "" where the document is fine anyway.
    """

    document: str
    old: str
    new: str
    place: str
    remedy: str


ROWS = {
    # Runbooks
    "outcome in lower case": Row(R, "- PASS: CONTINUE", "- pass: CONTINUE", "18 RD120", "PASS"),
    "outcome misspelled": Row(R, "- PASS: CONTINUE", "- PAS: CONTINUE", "18 RD120", "PASS"),
    "outcome SUCCESS": Row(R, "- PASS: CONTINUE", "- SUCCESS: CONTINUE", "18 RD120", "PASS"),
    "outcome ERROR": Row(R, "- FAIL: RETRY 2 GOTO Undo", "- ERROR: RETRY 2 GOTO Undo", "19 RD120", "FAIL"),
    "outcome ELSE": Row(R, "- NO: GOTO Undo", "- ELSE: GOTO Undo", "24 RD120", "FAIL"),
    "outcome without a colon": Row(R, "- FAIL: STOP", "- FAIL STOP", "30 RD058", "- FAIL: STOP"),
    "outcome with an arrow": Row(R, "- FAIL: STOP", "- FAIL -> STOP", "30 RD120", "- FAIL: STOP"),
    "outcome in bold": Row(R, "- FAIL: STOP", "- **FAIL**: STOP", "30 RD120", "- FAIL: STOP"),
    "outcome with a star": Row(R, "- FAIL: STOP", "* FAIL: STOP", "", ""),
    "outcome in a numbered list": Row(R, "- FAIL: STOP", "1. FAIL: STOP", "30 RD120", "- FAIL: STOP"),
    "action misspelled": Row(R, "- PASS: CONTINUE", "- PASS: CONTINEU", "18 RD040", "CONTINUE"),
    "action in lower case": Row(R, "- PASS: CONTINUE", "- PASS: continue", "18 RD040", "CONTINUE"),
    "action NEXT STEP": Row(R, "- PASS: CONTINUE", "- PASS: NEXT STEP", "18 RD040", "PASS: CONTINUE"),
    "action EXIT": Row(R, "- FAIL: STOP", "- FAIL: EXIT", "30 RD040", "STOP"),
    "action ABORT": Row(R, "- FAIL: STOP", "- FAIL: ABORT", "30 RD040", "STOP"),
    "RETRY with TIMES": Row(R, "RETRY 2 GOTO Undo", "RETRY 2 TIMES GOTO Undo", "19 RD040", "FAIL: RETRY 2 GOTO Undo"),
    "RETRY with a word": Row(R, "RETRY 2 GOTO Undo", "RETRY two GOTO Undo", "19 RD040", "RETRY 2 GOTO Undo"),
    "RETRY 0": Row(R, "RETRY 2 GOTO Undo", "RETRY 0 GOTO Undo", "19 RD040", "expected a number of at"),
    "RETRY THEN": Row(R, "RETRY 2 GOTO Undo", "RETRY 2 THEN GOTO Undo", "19 RD040", "FAIL: RETRY 2 GOTO Undo"),
    "RETRY in RETRY": Row(R, "RETRY 2 GOTO Undo", "RETRY 2 RETRY 2 STOP", "19 RD041", "RETRY 3 STOP"),
    "GOTO step and number": Row(R, "- NO: GOTO Undo", "- NO: GOTO step 1", "24 RD040", "NO: GOTO 1"),
    "GOTO in lower case": Row(R, "- NO: GOTO Undo", "- NO: GOTO undo", "24 RD201", "GOTO Undo"),
    "GOTO a title": Row(R, "- NO: GOTO Undo", "- NO: GOTO Build", "24 RD201", "GOTO 1"),
    "GOTO nowhere": Row(R, "- NO: GOTO Undo", "- NO: GOTO", "24 RD040", "expected a step's number or name,"),
    "GOTO a step that is not there": Row(R, "- NO: GOTO Undo", "- NO: GOTO 7", "24 RD201", "the steps are 1,"),
    "GO TO": Row(R, "- NO: GOTO Undo", "- NO: GO TO Undo", "24 RD040", "GOTO"),
    "message without quotes": Row(R, 'COMPLETE "Done"', "COMPLETE Done", "", ""),
    "message with one quote": Row(R, 'COMPLETE "Done"', 'COMPLETE "Done', "23 RD040", "at the end of the message"),
    "message in single quotes": Row(R, 'COMPLETE "Done"', "COMPLETE 'Done'", "23 RD040", "expected a one-word"),
    "duplicate outcome": Row(R, "- NO: GOTO Undo", "- YES: GOTO Undo", "24 RD114", "remove one of the"),
    "yes and pass mixed": Row(R, "- NO: GOTO Undo", "- FAIL: GOTO Undo", "", ""),
    "step numbers with a gap": Row(R, "## 2. Check", "## 3. Check", "21 RD102", "rdc fmt"),
    "step number twice": Row(R, "## 2. Check", "## 1. Check", "21 RD108", "rdc fmt"),
    "step with a colon": Row(R, "## 2. Check", "## 2: Check", "", ""),
    "step with a parenthesis": Row(R, "## 2. Check", "## 2) Check", "", ""),
    "step with the word": Row(R, "## 2. Check", "## Step 2. Check", "21 RD401", "## 2. Check"),
    "step without a space": Row(R, "## 2. Check", "##2. Check", "21 RD120", "## 2. Check"),
    "step with one sign": Row(R, "## 2. Check", "# 2. Check", "21 RD021", "##"),
    "step in bold": Row(R, "## 2. Check", "**2. Check**", "21 RD120", "## 2. Check"),
    "unclosed code block": Row(R, "make undo\n```", "make undo", "26 RD045", "close it with ```"),
    "code block of another language": Row(R, "```bash\nmake undo", "```pyhton\nmake undo", "", ""),
    "two code blocks": Row(R, "make undo\n", "make undo\n```\n\n```sh\nls\n", "30 RD110", "join the commands in"),
    "frontmatter not closed": Row(R, "result: COMPLETE\n---\n", "result: COMPLETE\n", "1 RD011", "---"),
    "frontmatter with a tab": Row(R, "  inputs:", "\tinputs:", "4 RD010", "indent with spaces: YAML"),
    "frontmatter key misspelled": Row(R, "  inputs:", "  input:", "4 RD013", "inputs"),
    "secrets as a string": Row(R, "secrets: [TOKEN]", "secrets: TOKEN", "6 RD013", "secrets: [NAME, OTHER_NAME]"),
    "input key misspelled": Row(R, "pattern:", "patern:", "5 RD013", "pattern"),
    "pattern that is none": Row(R, "'[0-9.]+'", "'[0-9.+'", "5 RD013", "fix the regular expression"),
    "default that does not fit": Row(R, 'default: "1.0"', 'default: "one"', "5 RD013", "use a default that"),
    "scenario result misspelled": Row(R, "result: COMPLETE", "result: COMPLET", "10 RD013", "commands"),
    "input in a command in braces": Row(R, 'VERSION="$VERSION"', "VERSION={{VERSION}}", "16 RD134", '"$VERSION"'),
    "input misspelled in a text": Row(R, "{{VERSION}} live", "{{VERSON}} live", "22 RD016", "{{VERSION}}"),
    "name of the step reserved": Row(R, "## Undo", "## CONTINUE", "25 RD035", "Continue"),
    "empty file": Row(R, RUNBOOK, "", "1 RD101", "## 1. Title"),
    "CRLF": Row(R, RUNBOOK, RUNBOOK.replace("\n", "\r\n"), "", ""),
    "BOM": Row(R, RUNBOOK, f"\ufeff{RUNBOOK}", "", ""),
    # Playbooks
    "step without a colon": Row(P, "## STEP 2: Write", "## STEP 2 Write", "11 RD713", "## STEP 2: Write"),
    "step in mixed case": Row(P, "## STEP 2: Write", "## Step 2: Write", "11 RD713", "## STEP 2: Write"),
    "step with a dash": Row(P, "## STEP 2: Write", "## STEP 2 - Write", "11 RD713", "## STEP 2: Write"),
    "step with a word as number": Row(P, "## STEP 2: Write", "## STEP TWO: Write", "11 RD713", "## STEP 2: Write"),
    "playbook step with a gap": Row(P, "## STEP 2: Write", "## STEP 3: Write", "11 RD709", "rdc fmt"),
    "step without a number": Row(P, "## STEP 2: Write", "## STEP: Write", "11 RD737", "## STEP 2: Write"),
    "section misspelled": Row(P, "## INPUTS", "## INPUT", "4 RD734", "INPUTS"),
    "section in lower case": Row(P, "## INPUTS", "## inputs", "", ""),
    "input without ticks": Row(P, "- `topic` (string): The topic", "- topic (string): The topic", "5 RD710", "name"),
    "input without a type": Row(P, "- `topic` (string): The topic", "- `topic`: The topic", "5 RD710", "name"),
    "input without dash": Row(P, "- `topic` (string)", "`topic` (string)", "5 RD736", "- `topic` (string): The topic"),
    "type misspelled": Row(P, "(enum: formal, plain)", "(enumm: formal, plain)", "6 RD732", "enum"),
    "type unknown": Row(P, "(string)", "(url)", "5 RD733", "string"),
    "enum without options": Row(P, "(enum: formal, plain)", "(enum)", "6 RD728", "(enum: one, another)"),
    "enum option twice": Row(P, "(enum: formal, plain)", "(enum: formal, formal)", "6 RD728", "remove one of the"),
    "number default that is none": Row(P, "(number: 500)", "(number: many)", "7 RD725", "fix the default, or"),
    "input twice": Row(P, "- `tone`", "- `topic`", "6 RD705", "remove or rename one"),
    "variable misspelled": Row(P, "about {{topic}}", "about {{topik}}", "9 RD721", "topic"),
    "variable with one brace": Row(P, "about {{topic}}", "about {topic}", "5 RD410", "{{topic}}"),
    "variable not closed": Row(P, "about {{topic}}", "about {{topic", "5 RD410", "{{topic}}"),
    "variable in dollars": Row(P, "about {{topic}}", "about ${topic}", "5 RD410", "{{topic}}"),
    "output misspelled": Row(P, "@output(facts)", "@ouput(facts)", "10 RD715", "@output"),
    "output not closed": Row(P, "@output(facts)", "@output(facts", "10 RD714", "write @output(name)"),
    "output with a space": Row(P, "@output(facts)", "@output (facts)", "10 RD714", "write @output(name)"),
    "output without a name": Row(P, "@output(facts)", "@output()", "10 RD714", "write @output(name)"),
    "output read too early": Row(P, "about {{topic}}", "about {{facts}}", "9 RD721", "move that step further"),
    "elicit of another kind": Row(P, "@elicit(confirm,", "@elicit(comfirm,", "23 RD711", "confirm"),
    "elicit without quotes": Row(P, '"Publish it?"', "Publish it?", "23 RD726", "add the question in"),
    "elicit select without options": Row(P, "@elicit(confirm", "@elicit(select", "23 RD726", "add each option in"),
    "if without quotes": Row(P, 'tone == "formal"', "tone == formal", "13 RD716", 'if name == "text"'),
    "if with one equals sign": Row(P, 'tone == "formal"', 'tone = "formal"', "13 RD716", 'if name == "text"'),
    "if without the end": Row(P, "```endif```\n", "", "13 RD707", "endif"),
    "else without if": Row(P, '```if tone == "formal"```\n', "", "14 RD708", "if"),
    "if with a value that is no option": Row(P, '"formal"', '"forml"', "13 RD404", "fix the condition, or"),
    "if of an unknown name": Row(P, "if tone ==", "if tune ==", "13 RD720", "tone"),
    "if without closing ticks": Row(P, '"formal"```', '"formal"', "13 RD716", 'if name == "text"'),
    "artifact type misspelled": Row(P, "type: markdown", "type: markdwon", "27 RD712", "markdown"),
    "artifact without a type": Row(P, "type: markdown", "markdown", "25 RD735", "type: markdown"),
    "empty step": Row(P, "Collect facts about {{topic}}.\n@output(facts)", "", "5 RD410", "{{topic}}"),
    # Workflows
    "step key misspelled": Row(W, "    next: write", "    nxt: write", "10 RD803", "next"),
    "prompt misspelled": Row(W, "    prompt: Check it.", "    promt: Check it.", "26 RD803", "prompt"),
    "name missing": Row(W, "  - name: check\n    agent", "  - agent", "24 RD804", "name: …"),
    "prompt missing": Row(W, "    prompt: Check it.\n", "", "24 RD809", "prompt: |"),
    "next in another case": Row(W, "next: write", "next: Write", "10 RD817", "write"),
    "next that is not there": Row(W, "next: write", "next: wirte", "10 RD817", "write"),
    "goto that is not there": Row(W, "goto: check", "goto: chekc", "21 RD817", "check"),
    "keyword that nobody says": Row(W, "{keyword: BLOCKED", "{keyword: BLOKED", "22 RD832", "BLOCKED"),
    "keyword in lower case": Row(W, "{keyword: DONE", "{keyword: done", "", ""),
    "keyword twice": Row(W, "{keyword: BLOCKED", "{keyword: DONE", "22 RD816", "remove one of the"),
    "conditions as a mapping": Row(W, LISTED, MAPPED, "20 RD805", "conditions: [{keyword: READY, goto: ship}]"),
    "next instead of goto": Row(W, "DONE, goto: check}", "DONE, next: check}", "21 RD804", "goto: …"),
    "step name twice": Row(W, "  - name: check", "  - name: write", "24 RD807", "rename one of them"),
    "next and end": Row(W, "    end: true", "    end: true\n    next: plan", "29 RD830", "remove one of the"),
    "neither next nor end": Row(W, "    end: true\n", "", "24 RD831", "end: true"),
    "human as a word": Row(W, "human: true", "human: maybe", "27 RD805", "write true or false"),
    "gate instead of human": Row(W, "    human: true", "    gate: required", "27 RD873", "human: true"),
    "tab": Row(W, "    end: true", "\tend: true", "28 RD800", "indent with spaces: YAML"),
    "indentation too deep": Row(W, "    end: true", "      end: true", "28 RD800", "key: value"),
    "indentation too shallow": Row(W, "    end: true", "  end: true", "28 RD800", "indent the key like"),
    "colon in a value": Row(W, ": Check it.", ": Check it: all", "26 RD800", '"Check it: all"'),
    "quote not closed": Row(W, 'format: "## Plan"', 'format: "## Plan', "9 RD800", "}"),
    "list not closed": Row(W, "{keyword: DONE, goto: check}", "{keyword: DONE, goto: check", "21 RD800", "}"),
    "steps as a mapping": Row(W, "  - name: plan", "    name: plan", "12 RD800", "indent this line like"),
    "top key misspelled": Row(W, "steps:", "step:", "4 RD803", "steps"),
    "description twice": Row(W, "description:", "description: a\ndescription:", "3 RD802", "remove one of the"),
    "retries in a step": Row(W, "    end: true", "    end: true\n    retries: 3", "29 RD803", "remove it, or use"),
    "report without a format": Row(W, '{name: plan, format: "## Plan"}', "{name: plan}", "9 RD804", "format: …"),
    "report as a string": Row(W, '{name: plan, format: "## Plan"}', "plan", "9 RD805", "report: {name: review, "),
    "pattern of a report that is none": Row(W, '"DONE|BLOCKED"', '"DONE|(BLOCKED"', "19 RD811", "(a+)+"),
    "workflow without steps": Row(W, WORKFLOW[WORKFLOW.index("steps:") :], "steps: []\n", "4 RD804", "name"),
    # Specifications
    "specification key misspelled": Row(S, "human_gate: required", "human_gat: required", "16 RD873", "human_gate"),
    "gate as a word": Row(S, "human_gate: required", "human_gate: requred", "16 RD855", "write required, "),
    "id missing": Row(S, "  - id: review\n    description", "  - description", "14 RD854", "id: …"),
    "id twice": Row(S, "- id: review", "- id: draft", "14 RD857", "change one of them"),
    "id with a space": Row(S, "- id: review", "- id: re view", "", ""),
    "retries as number": Row(S, "retries: {max: 2, backoff_seconds: 5}", "retries: 3", "11 RD855", "retries: {max: 3}"),
    "retries misspelled": Row(S, "backoff_seconds: 5", "backof_seconds: 5", "11 RD853", "backoff_seconds"),
    "retries negative": Row(S, "max: 2", "max: -2", "11 RD855", "write a whole number"),
    "output as a string": Row(S, OUTPUTS, 'outputs: "{output_folder}/draft.md"', "10 RD855", OUTPUTS),
    "output outside": Row(S, OUTPUTS, 'outputs: ["draft.md"]', "10 RD859", "start it with {output_folder}/"),
    "output above": Row(S, OUTPUTS, 'outputs: ["{output_folder}/../draft.md"]', "10 RD860", "/"),
    "placeholder doubled": Row(S, "about {topic}", "about {{topic}}", "9 RD874", "{topic}"),
    "placeholder misspelled": Row(S, "{output_folder}/d", "{output_folders}/d", "10 RD859", "with {output_folder}/"),
    "tool as a string": Row(S, "{name: listFiles, args: {path: public}}", "listFiles", "13 RD855", "write a mapping"),
    "tool unknown": Row(S, "name: listFiles", "name: listFile", "13 RD865", "listFiles"),
    "evidence unknown": Row(S, "evidence: L2", "evidence: L9", "19 RD855", "write none, L0, L1"),
    "validation as a list": Row(S, "validation: AST", "validation: [AST]", "18 RD855", "write a string"),
    "config key misspelled": Row(S, "executor:", "executer:", "5 RD853", "executor"),
    "top key of a specification misspelled": Row(S, "step_specs:", "steps_specs:", "7 RD853", "step_specs"),
    "module missing": Row(S, "{module: notes, workflow: publish}", "{workflow: publish}", "", ""),
    "duplicate key": Row(S, "    evidence: L2", "    evidence: L2\n    evidence: L1", "20 RD852", "remove one of the"),
    "specification with a tab": Row(S, "    evidence: L2", "\tevidence: L2", "19 RD850", "indent with spaces: YAML"),
    "specification not indented": Row(S, REVIEWED, f"{REVIEWED[17:]}evidence: L2\n", "20 RD853", "remove it, or use"),
    "list item without a space": Row(S, "  - id: review", "  -id: review", "14 RD850", "- id: review"),
}
"""By what is wrong."""


def checked(folder: Path, name: str, text: str) -> list[dict[str, object]]:
    (folder / "rdc.toml").touch()
    (folder / name).write_bytes(text.encode())
    found = call("check", "--format", "json", name, cwd=folder)
    assert "Traceback" not in found.err
    diagnostics: list[dict[str, object]] = json.loads(found.out)["diagnostics"]
    assert found.code == any(item["severity"] == "error" for item in diagnostics)
    return diagnostics


@pytest.mark.parametrize("name", ROWS)
def test_the_message_says_where_it_is_and_what_to_write(name: str, tmp_path: Path) -> None:
    row: Row = ROWS[name]
    assert row.old in BASES[row.document]
    diagnostics = checked(tmp_path, row.document, BASES[row.document].replace(row.old, row.new, 1))
    if not row.place:
        assert diagnostics == []
        return
    at_the_place = [item for item in diagnostics if f"{item['line'] or 0} {item['code']}" == row.place]
    assert at_the_place, diagnostics
    assert any(row.remedy in f"{item['message']} {item['help']}" for item in at_the_place)


EDIT = re.compile(r"(?:write|did you mean|replace `[^`]+` (?:by|with)) `([^`]+)`")
EDITED = {
    "outcome misspelled": "- PASS: CONTINUE",
    "outcome ELSE": "- FAIL: GOTO Undo",
    "outcome in bold": "- FAIL: STOP",
    "step in bold": "## 2. Check",
    "step without a space": "## 2. Check",
    "input in a command in braces": '"$VERSION"',
    "step with a dash": "## STEP 2: Write",
    "step without a number": "## STEP 2: Write",
    "placeholder doubled": "{topic}",
    "list item without a space": "- id: review",
}
"""The edits that messages tell, of which the document is fine again."""


@pytest.mark.parametrize("name", EDITED)
def test_the_edit_that_a_message_tells_is_right(name: str, tmp_path: Path) -> None:
    row = ROWS[name]
    diagnostics = checked(tmp_path, row.document, BASES[row.document].replace(row.old, row.new, 1))
    edits = EDIT.findall(" ".join(f"{item['message']} {item['help']}" for item in diagnostics))
    assert EDITED[name] in edits
    written = {"input in a command in braces": 'VERSION="$VERSION"', "placeholder doubled": "about {topic}"}
    edited = written.get(name, EDITED[name])
    bullet = "  " if name == "list item without a space" else ""
    text = BASES[row.document].replace(row.old, bullet + edited, 1)
    assert all(item["severity"] != "error" for item in checked(tmp_path, row.document, text))


NAMES = {
    "deploy.txt": RUNBOOK,
    "deploy.runbook.markdown": RUNBOOK,
    "article.md": PLAYBOOK,
    "review.yml": WORKFLOW,
    "notes.yaml": SPECIFICATION,
}


@pytest.mark.parametrize("name", [*BASES, *NAMES])
def test_a_document_without_errors_is_fine_and_also_known_by_its_content(name: str, tmp_path: Path) -> None:
    found = checked(tmp_path, name, {**BASES, **NAMES}[name])
    assert [item for item in found if item["severity"] == "error" or name in BASES] == []


WRONG = {
    "notes.runbook.md": (SPECIFICATION, ".stepspec.yaml"),
    "deploy.playbook.md": (RUNBOOK, ".runbook.md"),
    "article.runbook.md": (PLAYBOOK, ".playbook.md"),
    "review.stepspec.yaml": (WORKFLOW, ".workflow.yaml"),
    "notes.workflow.yaml": (SPECIFICATION, ".stepspec.yaml"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_name_that_says_another_format_is_told_first(name: str, tmp_path: Path) -> None:
    text, ending = WRONG[name]
    first = checked(tmp_path, name, text)[0]
    assert (first["code"], ending in str(first["help"])) == ("RD006", True)
