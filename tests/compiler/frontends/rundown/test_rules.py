"""The rules D, G and V of docs/formats/rundown.md: the diagnostics of each document and their places."""

from pathlib import Path

import pytest

from compiler.driver import Settings, compile_file
from compiler.ir.tasks import End, Shell
from tests.support.documents import compiled, findings

FINE = "## 1. One\n"


def scenario(commands: str) -> str:
    """A document with one scenario, its commands as YAML."""
    return f"---\nscenarios: {{a: {{commands: {commands}, result: STOP}}}}\n---\n{FINE}"


LAST = "## 1. A\n\n### 1.1 B\n```sh\nx\n```\n\n### 1.2 C\n{}\n\n## X\ny\n"
"""A step with two substeps, and the transitions of the last one from line 9 on."""

LATER_LAYOUT = "## 1. A\n- FAIL: STOP x\n\nText.\n\n```sh\ntrue\n```\n"


def fences(*tags: str) -> str:
    """A document with a block below each of these fences; they are in the lines 2, 6, 10 and so on."""
    return "".join(f"## {number}. A\n```{tag}\nx\n```\n" for number, tag in enumerate(tags, 1))


TWO_WORDS = (
    *("bash;prompt", "bash:prompt", "sh+prompt", "shell_prompt", "bash, prompt", "{bash prompt}", "json:prompt"),
    *("bash quiet", "bash{1,3}"),
)

CASES: dict[str, tuple[str, list[str]]] = {
    # D2: only CommonMark's own blocks at the top level count
    "fenced-header": (FINE + "```bash\n## 2. No\n- PASS: NOWHERE\n```\n", ["RD049 2:1"]),
    "quoted-header": (FINE + "> ## 2. No\n> - PASS: NOWHERE\n", []),
    "indented-header": (FINE + "\n    ## 2. No\n", []),
    "html-header": (FINE + "<div>\n## 2. No\n</div>\n", []),
    "closed-header": ("## 1. One ##\n", []),
    "tilde-fence": (FINE + "~~~sh\ntrue\n~~~\n", []),
    "comment-between": (
        FINE + "```sh\ntrue\n```\n<!-- a note -->\n- PASS: STOP x\n---\n## 2. Two\n",
        ["RD401 8:4", "RD403 1:4"],
    ),
    "open-guess": (
        FINE + "\n<!-- rdc: check this: a guess -->\n<!--rdc: check this: b-->\n\ntext\n",
        ["RD059 3:1", "RD059 4:1"],
    ),
    "open-guess-in-text": (FINE + "\ntext\n\n<!-- rdc: check this: a -->\n\nmore\n", ["RD059 5:1"]),
    "open-guess-in-code": (FINE + "```\n<!-- rdc: check this: a -->\n```\n", []),
    "almost-an-open-guess": (FINE + "\n<!-- check this: a -->\n\nsay <!-- rdc: check this: a -->\n", []),
    # D3
    "frontmatter": ("---\nname: x\nmine: [1]\n---\n" + FINE, []),
    "frontmatter-broken": ("---\nname: [\n---\n" + FINE, ["RD010 2:1"]),
    "frontmatter-list": ("---\n- a\n---\n" + FINE, ["RD010 2:1"]),
    "frontmatter-open": ("---\nname: x\n" + FINE, ["RD011 1:1"]),
    "frontmatter-type": ("---\nname: x\ntags: 3\n---\n" + FINE, ["RD012 3:1"]),
    "frontmatter-misplaced-option": ("---\nname: x\ninputs: {A: {}}\n---\n" + FINE, ["RD012 3:1"]),
    "frontmatter-option": ("---\nrdc: {transitions: sideways}\n---\n" + FINE, ["RD013 2:7"]),
    "frontmatter-unknown-option": ("---\nrdc: {transition: after-header}\n---\n" + FINE, ["RD013 2:7"]),
    "frontmatter-scenario": ("---\nscenarios: {a: {commands: [], result: MAYBE}}\n---\n" + FINE, ["RD013 2:31"]),
    "frontmatter-scenarios": ("---\nscenarios: []\n---\n" + FINE, ["RD013 2:1"]),
    "scenario-without-run": (scenario("[]"), ["RD014 2:17"]),
    "scenario-of-comments": (scenario("['# rd run main.runbook.md']"), ["RD014 2:17"]),
    "scenario-of-another": (scenario("[rd run other.runbook.md]"), ["RD014 2:28"]),
    "scenario-with-option": (scenario("[rd run --fast main.runbook.md]"), ["RD014 2:28"]),
    "scenario-goto": (scenario("[rd run main.runbook.md, rd goto 2, rd goto 1]"), ["RD014 2:52"]),
    "scenario-empty": ("---\nscenarios:\n---\n" + FINE, []),
    "scenario-quoted": (scenario("""['rd run "main.runbook.md" #c', "rd 'ok' # it's"]"""), []),
    "scenario-lines": (scenario('[rd run main.runbook.md, "rd pass # a\\nrd fail"]'), ["RD014 2:52"]),
    "scenario-fine": (scenario("[rd run ./main.runbook.md, 'rd ok # it is', '# no more', rd goto 1]"), []),
    "scenario-command": (scenario("[rd run main.runbook.md, rd pass, rd maybe]"), ["RD014 2:61"]),
    "frontmatter-bomb": ("---\na: &a [1]\nb: [*a, *a]\n---\n" + FINE, []),
    "frontmatter-date": ("---\nversion: 2024-13-45\n---\n" + FINE, ["RD010 2:1"]),
    # D4
    "second-title": ("# A\n# B\n" + FINE, ["RD020 2:3"]),
    "title-as-step": ("# 1. Build\n## 2. Test\n", ["RD021 1:3"]),
    "title-with-number": ("# 3 ways to deploy\n" + FINE, []),
    "title-with-version": ("# 2.0 Release\n" + FINE, []),
    "late-title": (FINE + "# A\n", ["RD022 2:3"]),
    "underlined-title": ("A title\n===\n" + FINE, []),
    # D5
    "description": ("# A\n\n- PASS: anything\n\n```bash prompt\nx\n```\n" + FINE, []),
    # D6
    "deep": (FINE + "#### Deep\ntext\n## 2. Two\n", ["RD030 2:6"]),
    "substep-first": ("### 1.1 Sub\n## 1. One\n", ["RD031 1:5"]),
    "no-header": ("## (nothing)\n", ["RD032 1:4"]),
    "half-header": ("## 1st thing\n", ["RD032 1:4"]),
    "empty-header": ("##\n", ["RD032 1:1"]),
    "wrong-dynamic": ("## {n} Items\n", ["RD032 1:4"]),
    "wrong-dynamic-substep": ("## 1. A\n### 1.{N} B\n", ["RD032 2:7"]),
    "umlaut": ("## Änderung prüfen\n", ["RD032 1:4"]),
    "underlined": (FINE + "text\n---\n", ["RD033 2:1"]),
    "substep-as-step": ("## 1. A\n## 2.1 B\n", ["RD034 2:4"]),
    # G1
    "named-step": ("## 1. A\n- PASS: GOTO Cleanup\n## Cleanup old files\n", []),
    "all-separators": ("## 1 A\n## 2: B\n## 3) C\n## 4 - D\n## 5 — E\n## 6 → F\n", []),
    "no-title": ("## 1\n", ["RD036 1:4"]),
    "reserved": ("## 1. A\n## NEXT\n", ["RD035 2:4"]),
    "reserved-exactly": ("## 1. A\n- PASS: GOTO Next\n## Next\n", []),
    "huge-number": ("## 1234567890123. A\n", ["RD037 1:4"]),
    # G2
    "offending-word": (FINE + "- PASS: CONTINUE now\n", ["RD040 2:18"]),
    "unknown-action": (FINE + "- PASS: JUMP 3\n", ["RD040 2:9"]),
    "unknown-action-with-message": (FINE + '- PASS: JUMP "a"\n', ["RD040 2:9"]),
    "stopped": (FINE + "- PASS: STOPPED\n", ["RD040 2:9"]),
    "no-action": (FINE + "- PASS:\n", ["RD040 2:8"]),
    "open-quote": (FINE + '- PASS: STOP "a\n', ["RD040 2:14"]),
    "two-messages": (FINE + '- PASS: STOP "a" "b"\n', ["RD040 2:18"]),
    "goto-nothing": (FINE + "- PASS: GOTO\n", ["RD040 2:13"]),
    "wrong-modifier": (FINE + "- PASS SOME: CONTINUE\n", ["RD120 2:3"]),
    "prompt-item": (FINE + "- NO changes needed\n- FAILURES are listed: see below\n", []),
    "second-line": (FINE + "- PASS: CONTINUE\nand more\n", ["RD040 3:1"]),
    "nested-below": (FINE + "- PASS: CONTINUE\n  - more\n", ["RD040 3:3"]),
    "reserved-message": (FINE + "- PASS: STOP FAIL\n", ["RD035 2:14"]),
    "all-bullets": (FINE + "* FAIL: COMPLETE\n", []),
    "lower-case": (FINE + "- pass: CONTINUE\n", ["RD120 2:3"]),
    "no-colon": (FINE + "- PASS CONTINUE\n", ["RD058 2:3"]),
    "no-colon-modifier": (FINE + "- FAIL ANY STOP\n- YES ALL RETRY 2 STOP\n", ["RD058 2:3", "RD058 3:3"]),
    "no-colon-action": (FINE + "text\n- FAIL GOTO Back\n## Back\ntext\n", ["RD058 3:3"]),
    "no-colon-arrow": (FINE + "- PASS -> CONTINUE\n", ["RD043 2:3"]),
    "later-loop": (FINE + "- FOR host IN 1..3\n- FOR 1 TO 3\n- FOR 3\n", [f"RD058 {line}:3" for line in (2, 3, 4)]),
    "later-words": (
        FINE + "- DELEGATE\n- DEFER\n- BREAK\n- INPUTS\n  - Plan\n- OUTPUTS\n- ARTIFACTS\n- PASS DEFER\n- NO BREAK\n",
        [f"RD058 {line}:3" for line in (2, 3, 4, 5, 7, 8, 9, 10)],
    ),
    "later-colon": (FINE + "- PASS: DEFER\n- FAIL: BREAK\n", ["RD040 2:9", "RD040 3:9"]),
    "prose-in-capitals": (
        FINE + "- FAIL the build if it is red\n- NO changes needed\n- PASS the tests\n- FOR all hosts\n- DELEGATE it\n"
        "- INPUTS are below\n- Delegate\n- For x IN y\n- PASSING STOP\n- NO BREAK between the runs\n",
        [],
    ),
    "later-above-steps": ("# A\n\n- DELEGATE\n- FAIL GOTO 1\n\n" + FINE + "text\n", []),
    "ordered": (FINE + "1. PASS: CONTINUE\n", ["RD120 2:4"]),
    "else": (FINE + "- PASS: CONTINUE\n- ELSE: GOTO 2\n## 2. B\nC?\n", ["RD120 3:3"]),
    "failed": (FINE + "- FAILED: STOP\n", ["RD120 2:3"]),
    "failed-after-the-body": (FINE + "```sh\ntrue\n```\n- FAILED: STOP\n\nMore.\n", ["RD120 5:3", "RD112 7:1"]),
    "on-fail": (FINE + "- PASS: CONTINUE\n- ON FAIL: Undo\n", ["RD120 3:3"]),
    "error-and-go-to": (FINE + "- Error: go to 2\n", ["RD120 2:3"]),
    "another-word": (FINE + "- CRASH: GOTO 1\n", ["RD120 2:3"]),
    "two-of-them": (FINE + "- PASS: CONTINUE\n- ELSE: STOP\n- ERROR: see above\n", ["RD120 3:3", "RD120 4:3"]),
    "words-in-prompt": (FINE + "- Error: see the log\n- Note: STOP the server first\n- Warning: GOTO is harmful\n", []),
    "error-after-the-body": (FINE + "```sh\ntrue\n```\n- Error: see the log\n", ["RD120 5:3"]),
    "nested": (FINE + "- do this\n  - PASS: CONTINUE\n", ["RD043 3:5"]),
    # G3
    "retry-in-retry": (FINE + "- FAIL: RETRY 2 RETRY 1 STOP\n", ["RD041 2:17"]),
    "retry-zero": (FINE + "- FAIL: RETRY 0 STOP\n", ["RD040 2:15"]),
    "retry-forms": (FINE + '- FAIL: RETRY\n- PASS: RETRY 2 "m"\n', ["RD403 1:4"]),
    "retry-huge": (FINE + "- FAIL: RETRY 12345678901 STOP\n", ["RD037 2:15"]),
    # G4
    "bare-next": ("## {N}. A\n- PASS: NEXT\n- FAIL: COMPLETE\n", ["RD042 2:3"]),
    # V1
    "empty": ("", ["RD101 1:1"]),
    "no-steps": ("# Only a title\n", ["RD101 1:1"]),
    # V2
    "gap": ("## 1. A\n## 3. B\n", ["RD102 2:4"]),
    "backwards": ("## 2. A\n## 1. B\n", ["RD102 1:4", "RD102 2:4"]),
    "named-between": ("## 1. A\n- FAIL: GOTO Fix\n## Fix it\n## 2. B\n", []),
    "substep-gap": ("## 1. A\n### 1.1 B\n### 1.3 C\n", ["RD103 3:5"]),
    # V3
    "mixed": ("## 1. A\n## {N}. B\n", ["RD104 2:4"]),
    "two-dynamic": ("## {N}. A\n- PASS: COMPLETE\n## {N}. B\n", ["RD104 3:4"]),
    "named-only": ("## A\n", ["RD105 1:4"]),
    # V4
    "dynamic-beside": ("## 1. A\n### 1.{n} B\n### 1.Check C\n", ["RD106 3:5"]),
    # V5
    "prefix": ("## 1. A\n### 2.1 B\n", ["RD107 2:5"]),
    "twice": ("## 1. A\n- PASS: GOTO X\n## X\n## X\n", ["RD108 4:4"]),
    "substep-twice": ("## 1. A\n### 1.X\n### 1.X\n", ["RD108 3:5"]),
    # V6
    "code-and-substeps": ("## 1. A\n```sh\nx\n```\n### 1.1 B\n", ["RD109 5:5"]),
    "code-and-runbooks": (FINE + "```sh\nx\n```\n- a.runbook.md\n", ["RD109 5:3"]),
    "runbooks-and-code": (FINE + "- a.runbook.md\n```sh\nx\n```\n", ["RD109 3:1"]),
    "two-codes": (FINE + "```sh\nx\n```\n```sh\ny\n```\n", ["RD110 5:1"]),
    "prompt-and-runbooks": ("## 1. A\n### 1.1 B\ntext\n- a.runbook.md\n", ["RD111 4:3"]),
    "step-prompt-and-runbooks": ("## 1. A\ntext\n- a.runbook.md\n", []),
    "info-hyphen": (FINE + "~~~bash-prompt\nx\n~~~\n", ["RD046 2:1"]),
    "info": (fences(*TWO_WORDS), [f"RD046 {4 * number + 2}:1" for number in range(len(TWO_WORDS))]),
    "tag": (fences("{bash}", "{.sh}", "shell-script", "Bash"), [f"RD047 {line}:1" for line in (2, 6, 10, 14)]),
    "other-tags": (fences("bash \t prompt", "command-prompt", "bashrc"), []),
    # V7
    "text-after-code": (FINE + "```sh\nx\n```\ntext\n\nmore\n", ["RD112 5:1"]),
    "text-after-transitions": (FINE + "text\n- PASS: CONTINUE\n\nmore\n", ["RD112 5:1"]),
    "after-header": (FINE + "- PASS: CONTINUE\n\n```sh\nx\n```\n", []),
    "after-header-runbooks": ("## 1. A\n- PASS ALL: CONTINUE\n- a.runbook.md\n- b.runbook.md\n", []),
    "both-layouts": (
        "## 1. A\n- PASS: CONTINUE\n\ntext\n## 2. B\ntext\n- PASS: CONTINUE\n## 3. C\n- FAIL: STOP\n\ntext\n",
        ["RD113 4:1"],
    ),
    "group-without-a-prompt": (
        "## 1. A\n- PASS ALL: CONTINUE\n### 1.1 B\ntext\n- FAIL: STOP\n### 1.2 C\ntext\n- FAIL: STOP\n",
        [],
    ),
    "group-with-a-prompt": ("## 1. A\n- PASS ALL: CONTINUE\n\ntext\n### 1.1 B\ntext\n- FAIL: STOP\n", ["RD113 4:1"]),
    "html-below": (FINE + "<details>\n\n```sh\nx\n```\n\n</details>\n</div>\n\n- FAIL: STOP\n", []),
    "html-below-transitions": (FINE + "<div>\n\ntext\n\n- FAIL: STOP\n\n</div>\n", []),
    "html-opened-below": (FINE + "```sh\nx\n```\n\n<div>\n\n</div>\n", ["RD112 6:1"]),
    "html-with-text": (FINE + "```sh\nx\n```\n</div> text\n", ["RD112 5:1"]),
    "html-with-a-transition": (FINE + "```sh\nx\n```\n</div>\n- FAIL: STOP\n", ["RD120 6:1"]),
    "output-below": (FINE + "```sh\nx\n```\nIt prints:\n```\nx\n```\n**Or:**\n```text\ny\n```\n- FAIL: STOP\n", []),
    "output-without-colon": (FINE + "```sh\nx\n```\nIt prints\n```\nx\n```\n", ["RD112 5:1", "RD110 6:1"]),
    "output-that-runs": (FINE + "```sh\nx\n```\nThen:\n```{bash}\ny\n```\n", ["RD112 5:1", "RD110 6:1"]),
    "output-as-prompt": (FINE + "```sh\nx\n```\nThen:\n```text prompt\ny\n```\n", ["RD112 5:1", "RD110 6:1"]),
    "output-after-two-paragraphs": (FINE + "```sh\nx\n```\nWait.\n\nIt prints:\n```\nx\n```\n", ["RD112 5:1"]),
    # V8
    "step-transitions-first": ("## 1. A\n- FAIL ANY: STOP x\n### 1.1 B\n### 1.2 C\n", []),
    "step-transitions-last": ("## 1. A\n### 1.1 B\n### 1.2 C\n- FAIL: CONTINUE\n- FAIL ANY: STOP x\n", []),
    # V9
    "pass-and-yes": (FINE + "- PASS: CONTINUE\n- YES: CONTINUE\n", ["RD114 3:3"]),
    "both-all": ("## 1. A\n- PASS ALL: CONTINUE\n- FAIL ALL: STOP\n### 1.1 B\n", ["RD115 3:3"]),
    "leaf-modifier": (FINE + "- PASS ALL: CONTINUE\n", ["RD116 2:3"]),
    # V10
    "unknown-step": (FINE + "- PASS: GOTO 10\n", ["RD201 2:14"]),
    "unknown-substep": ("## 1. A\n### 1.1 B\n## 2. C\n- PASS: GOTO 1.2\n", ["RD201 4:14"]),
    "static-into-dynamic": ("## 1. A\n- PASS: GOTO 2.1\n## 2. B\n### 2.{n} C\n", ["RD202 2:14"]),
    "itself": (FINE + "- PASS: GOTO 1\n", ["RD203 2:14"]),
    "itself-dynamic": ("## {N}. A\n- PASS: GOTO {N}\n- FAIL: COMPLETE\n", []),
    "parent": ("## 1. A\n### 1.1 B\n- FAIL: GOTO 1\n", []),
    "no-dynamic": (FINE + "- PASS: GOTO {N}\n", ["RD204 2:14"]),
    "no-dynamic-substep": ("## 1. A\n## 2. B\n- PASS: GOTO 1.{n}\n", ["RD204 3:14"]),
    "into-instance": ("## {N}. A\n### {N}.1 B\n- FAIL: GOTO X\n## X\n- PASS: GOTO {N}.1\n", ["RD205 5:14"]),
    "resume-instance": ("## {N}. A\n- PASS: COMPLETE\n- FAIL: GOTO X\n## X\n- PASS: GOTO {N}\n", []),
    "next-in-static": (FINE + "- PASS: GOTO NEXT\n", ["RD206 2:14"]),
    "next-of-static": (FINE + "- PASS: GOTO NEXT 2\n## 2. B\n", ["RD207 2:14"]),
    # V12
    "unreachable": (FINE + "- PASS: COMPLETE\n## 2. B\n", ["RD401 3:4"]),
    "no-way-out": ("## {N}. A\n- PASS: GOTO NEXT\n- FAIL: GOTO NEXT\n", ["RD402 1:4", "RD403 1:4"]),
    "never-completes": (FINE + "- PASS: STOP done\n", ["RD403 1:4"]),
    "never-fires": (
        "## 1. A\n- PASS: COMPLETE\n### 1.1 B\n- PASS: STOP x\n- FAIL: STOP y\n",
        ["RD404 2:3", "RD403 3:5"],
    ),
    "never-arrives": (
        "## 1. A\n- FAIL: GOTO X\n### 1.1 B\n- FAIL: GOTO 2\n### 1.2 C\n- FAIL: GOTO 2\n## 2. D\n- FAIL: GOTO X\n## X",
        ["RD404 2:3"],
    ),
    "arrives-after-continue": (
        "## 1. A\n- FAIL: GOTO Fix\n### 1.1 B\n- FAIL: GOTO 2\n### 1.2 C\n- FAIL: CONTINUE\n## 2. D\n## Fix\n",
        [],
    ),
    "no-bullet": (FINE + "PASS: CONTINUE\n", ["RD043 2:1"]),
    "bullet-in-code": (FINE + "```text\nPASS: CONTINUE\n```\n", []),
    "bold": (FINE + "- **PASS**: CONTINUE\n", ["RD120 2:3"]),
    "dash-for-colon": (FINE + "- PASS - CONTINUE\n", ["RD043 2:3"]),
    "no-space-in-header": (FINE + "Do.\n\n##2. B\n", ["RD038 4:1"]),
    "no-break-space": ("##\u00a01. A\n", ["RD101 1:1", "RD038 1:1"]),
    "almost-runbook": (
        FINE + "- my own.runbook.md\n- [a](a.runbook.md)\n1. b.runbook.md\n",
        ["RD044 2:3", "RD044 3:3", "RD044 4:4"],
    ),
    "misspelled-runbook": (
        FINE + "- n.runbok.md\n- a/n.Runbook.md\n- n.runbooks.md\n- n.runbook\n- n.runbook.MD\n",
        [f"RD044 {line}:3" for line in range(2, 7)],
    ),
    "other-endings": (
        FINE + "- a.handbook.md\n- n.playbook.md\n- a.rundown.md\n- notes.md\n- run book.md\n- see n.runbok.md now\n",
        [],
    ),
    "runbook-below-bullet": (FINE + "-\n  a.runbook.md\n", []),
    "transition-below-bullet": (FINE + "-\n  FAIL: STOP x\n", []),
    "between-comments": (FINE + "<!-- a --> b <!-- c -->\n- FAIL: STOP x\n", []),
    "open-comment": (FINE + "<!-- a\n\n## 2. B\n", ["RD048 2:1"]),
    "open-fence-above": ("```sh\nx\n\n## 1. A\n", ["RD045 1:1"]),
    "yaml-tag": ("---\nname: x\nflag: !!bool abc\n---\n" + FINE, ["RD010 3:1"]),
    "third-part": ("## 1. A\n### 1.1.Lint\n", ["RD034 2:5"]),
    "third-part-below-a-name": ("## 1. A\n### 1.Foo.Bar\n", ["RD034 2:5"]),
    "third-part-below-an-instance": ("## 1. A\n### 1.{n}.Foo\n- PASS: COMPLETE\n", ["RD034 2:5"]),
    "no-third-part": ("## 1.Lint\n### 1.1. Lint\n### 1.Foo Bar.Baz\n", []),
    "dotted-step": ("## 1. A\n- FAIL: GOTO a\n## a.b\n", ["RD034 3:4"]),
    "hyphen-in-name": ("## 1. A\n- FAIL: GOTO Roll\n## Roll-back it\n", ["RD139 3:4"]),
    "hyphen-in-substep": ("## 1. A\n### 1.Pre-flight\n", ["RD139 2:5"]),
    "hyphen-as-separator": ("## 1. A\n- FAIL: GOTO Roll\n## Roll - back-up\n## 2-way sync\n## 3.Pre-flight\n", []),
    "leading-zero": ("## 01. A\n### 1.02 B\n", ["RD103 2:5", "RD139 1:4", "RD139 2:5"]),
    "leading-zeros": ("## 001 A\n### 01.1 B\n### 1.2 C\n", ["RD139 1:4", "RD139 2:5"]),
    "zeros-elsewhere": ("## 1. 007\n### 1.1 02\n", []),
    "too-deep-number": ("## 1. A\n### 1.1.1 B\n", ["RD034 2:5"]),
    "below-deep-heading": (FINE + "#### Notes\n\n- PASS: GOTO 7\n", ["RD030 2:6", "RD201 4:14"]),
    "title-as-step-once": ("## 1. A\n- FAIL: GOTO 2\n# 2. B\n## 3. C\n", ["RD021 3:3"]),
    "unreadable-header-once": ("## 1. A\n- FAIL: GOTO 2\n## 2\\. B\n", ["RD032 3:5"]),
    "no-break-space-in-transition": (FINE + "- PASS:\u00a0CONTINUE\n", ["RD040 2:8"]),
    "broken-and-duplicate": (FINE + "- FAIL: RETRY 0\n- FAIL: GOTO 9\n", ["RD040 2:15", "RD114 3:3", "RD201 3:14"]),
    # M11
    "continues-to-stop": ("## 1. A\n- PASS: COMPLETE\n### 1.1 B\n- FAIL: CONTINUE\n", ["RD406 4:3"]),
    "lost-transitions": (LAST.format("- PASS: CONTINUE\n- FAIL: GOTO X"), ["RD138 9:3"]),
    "lost-message": (LAST.format('- FAIL: STOP "broken"'), ["RD138 9:3", "RD401 11:4"]),
    "lost-retry": (LAST.format("- FAIL: RETRY 2"), ["RD138 9:3", "RD401 11:4"]),
    "nothing-lost": (LAST.format("- PASS: COMPLETE\n- FAIL: STOP"), ["RD401 12:4"]),
    "of-the-last-substep": (LAST.format("- FAIL: GOTO 1.1"), ["RD401 11:4", "RD405 9:3"]),
    "of-the-step-by-its-modifier": (LAST.format("- FAIL ANY: GOTO X"), []),
    "of-each-substep": ("## 1. A\n### 1.1 B\n- FAIL: GOTO X\n### 1.2 C\n- FAIL: GOTO X\n## X\n", []),
    "of-the-step-and-the-last": ("## 1. A\n- FAIL: GOTO X\n### 1.1 B\n### 1.2 C\n- FAIL: GOTO X\n## X\n", []),
    "of-the-only-substep": ("## 1. A\n### 1.1 B\n- FAIL: GOTO X\n## X\n", []),
    "question-at-the-end": ("## 1. A\n### 1.1 B\n### 1.2 Fine?\n- YES: CONTINUE\n- NO: GOTO X\n## X\n", []),
    "below-the-header": (
        "---\nrdc: {transitions: after-header}\n---\n## 1. A\n### 1.1 B\n### 1.2 C\n- FAIL: GOTO X\n\nx\n## X\n",
        [],
    ),
    "path-among-runbooks": (FINE + "- review.md\n- a.runbook.md\n* more.md\n", ["RD044 2:3", "RD044 4:3", "RD112 4:3"]),
    "path-of-a-text": (FINE + "- review.md\n- see more.md\n", []),
    "path-in-a-text": (FINE + "- read review.md\n- [x](review.md)\n- a.runbook.md\n", []),
    "path-in-another-step": (FINE + "- review.md\n## 2. B\n- a.runbook.md\n", []),
    "tolerated": ("## 1. A\n### 1.1 B\n- FAIL: CONTINUE\n### 1.2 C\n- FAIL: CONTINUE\n", ["RD405 3:3"]),
    "tolerated-jump": ("## 1. A\n### 1.1 B\n- FAIL: GOTO 1.2\n### 1.2 C\n", ["RD405 3:3"]),
    "tolerated-instance": ("## 1. A\n### 1.{n} B\n- FAIL: GOTO NEXT\n", ["RD405 3:3"]),
    "failure-that-leaves": ("## 1. A\n### 1.1 B\n- FAIL: GOTO 2\n## 2. C\n", []),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_findings(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert sorted(findings(compiled(tmp_path, text, link=False))) == sorted(expected)


ASKED = "## 1. A\n\n```{}\ntrue\n```\n\nMore tasks?\n\n- YES: COMPLETE\n- NO: STOP\n"
BOTH = LATER_LAYOUT + "## 2. B\ntext\n- PASS: STOP\n" + "## 3. C\ntext\n- PASS: STOP\n"
WORDS: list[tuple[str, str, str]] = [
    (FINE + '- PASS: STOP "a\n', "RD040", 'no closing quote; add `"` at the end of the message'),
    (FINE + "```sh\ntrue\n```\n- FAILED: STOP\n\nMore.\n", "RD112", "text cannot come after a code block"),
    (
        "## 1. A\n\n```sh\ntrue\n```\n\nExpected output:\n\n```text\nx\n```\n\nIf it fails, call us.\n",
        "RD112",
        "text cannot come after a code block",
    ),
    (BOTH, "RD113", "`1. A` has its transitions directly after the header, but `2. B` has them at its end"),
    (ASKED.format("sh"), "RD112", "asks no one"),
    (ASKED.format("text"), "RD112", ""),
    (ASKED.format("sh prompt"), "RD112", ""),
]


@pytest.mark.parametrize(("text", "code", "words"), WORDS)
def test_what_the_words_of_a_finding_are(tmp_path: Path, text: str, code: str, words: str) -> None:
    (found,) = (item for item in compiled(tmp_path, text).diagnostics if item.code == code)
    assert words in f"{found.message}; {found.help}"
    assert ("asks no one" in found.help) is (words == "asks no one")
    assert [place.span.line for place in found.related if code == "RD113"] == ([11] if text == BOTH else [])


def test_all_errors_of_a_document_are_reported_in_one_run(tmp_path: Path) -> None:
    text = "## 1. A\n- PASS: GOTO 9\n- FAIL: JUMP\n## 3. B\n```sh;x\ntrue\n```\nlate text\n#### deep\n### 3.1 C\n"
    found = {item.split()[0] for item in findings(compiled(tmp_path, f"{text}- PASS: GOTO NEXT\n"))}
    assert found == {"RD201", "RD040", "RD102", "RD046", "RD112", "RD030", "RD109", "RD206"}


def test_the_document_shows_its_layout_and_each_included_one_its_own(tmp_path: Path) -> None:
    (tmp_path / "part.runbook.md").write_text(LATER_LAYOUT)
    text = "## 1. A\n- part.runbook.md\n- FAIL: GOTO B\n## B\ntext\n- PASS: STOP\n"
    made = compiled(tmp_path, text)
    assert findings(made) == []
    assert made.program
    assert [str(node.task.message) for node in made.program.nodes if isinstance(node.task, End)].count("x") == 1


@pytest.mark.parametrize("option", ["after-header", "after-body"])
def test_the_option_demands_a_layout_in_the_project_and_on_the_command_line(tmp_path: Path, option: str) -> None:
    text = {"after-header": "## 1. A\nText.\n- FAIL: STOP x\n", "after-body": LATER_LAYOUT}[option]
    expected = {"after-header": ["RD112 3:3"], "after-body": ["RD113 4:1"]}[option]
    path = str(tmp_path / "main.runbook.md")
    assert findings(compiled(tmp_path, text)) == []
    assert findings(compiled(tmp_path, text, options={"transitions": option})) == expected
    (tmp_path / "rdc.toml").write_text(f'transitions = "{option}"\n')
    assert findings(compile_file(path)) == expected
    (tmp_path / "rdc.toml").write_text('transitions = "after-header"\n')
    compiled(tmp_path, f"---\nrdc: {{transitions: after-body}}\n---\n{LATER_LAYOUT}")
    assert findings(compile_file(path)) == ["RD113 7:1"], "the frontmatter overrides the project"
    settings = Settings(options={"transitions": "after-header"})
    assert findings(compile_file(path, settings)) == [], "the command line overrides both"


@pytest.mark.parametrize("rest", ["", "- PASS: GOTO 7\n"])
def test_formatting_is_offered_only_where_it_accepts_the_document(tmp_path: Path, rest: str) -> None:
    made = compiled(tmp_path, FINE + f"```sh\ntrue\n```\n\nMore.\n\n{rest}\n## 3. B\n\nText.\n")
    offered = {item.code for item in made.diagnostics if "rdc fmt" in item.help}
    assert offered == (set() if rest else {"RD112", "RD102"})


def test_the_missing_colon_is_a_certain_fix_and_the_rest_is_named(tmp_path: Path) -> None:
    lines = ["PASS ALL GOTO 2.1", 'FAIL STOP "no"', "PASS DEFER", "FAIL BREAK", "FAIL GOTO 1 AT 3", "OUTPUTS"]
    made = compiled(tmp_path, FINE + "".join(f"- {line}\n" for line in lines), link=False)
    helps = [item.help for item in made.diagnostics if item.code == "RD058"]
    assert helps[:2] == ["write `- PASS ALL: GOTO 2.1`, with a colon", 'write `- FAIL: STOP "no"`, with a colon']
    named = zip(("remove the line", "GOTO 3", "colon after `FAIL`", "rdc: {outputs"), helps[2:], strict=True)
    assert all(words in text for words, text in named)
    found = [item for item in made.diagnostics if item.code == "RD058"]
    assert [bool(item.fix and item.fix.is_safe) for item in found] == [True] * 2 + [False] * 4
    assert all("version 1.0.0" in item.message for item in found)


RUNS = "## 1. A\n\n```sh\ntrue\n```\n"


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("- ./t.md", "to include the runbook, write `- ./t.runbook.md`"),
        ("-   t.md  ", "to include the runbook, write `- t.runbook.md`"),
        ("- sub/u.md", "to include it, rename the file to `sub/u.runbook.md`, and write `- sub/u.runbook.md`"),
        ("- asks.md", "to include it, rename the file to `asks.runbook.md`, and write `- asks.runbook.md`"),
        *((line, "") for line in ("- guide.md", "- none.md", "- see t.md", "- ../t.md", "- [t](t.md)", "  t.md")),
    ],
)
def test_an_item_that_names_a_runbook_without_its_ending(tmp_path: Path, line: str, remedy: str) -> None:
    files = {"t.runbook.md": RUNS, "t.md": "Text.\n", "sub/u.md": RUNS, "asks.md": "## 1. A\nX?\n- NO: STOP\n"}
    files["guide.md"] = "## 1. Introduction\n\n```yaml\na: 1\n```\n\n## 2. More\n\nText.\n"
    text = f"{FINE}Do:\n\n{line}\n"
    made = compiled(tmp_path, text, files)
    assert [item.help for item in made.diagnostics if item.code == "RD044"] == ([remedy] if remedy else [])
    assert not [item for item in compiled(tmp_path, text, files, link=False).diagnostics if item.code == "RD044"]


def test_text_below_a_body_joins_the_prompt(tmp_path: Path) -> None:
    text = FINE + "<div>\n\n```sh\nx\n```\n</div>\n\nIt prints:\n```\ny\n```\n- FAIL: STOP x\n"
    made = compiled(tmp_path, text)
    assert made.program
    [task] = [node.task for node in made.program.nodes if isinstance(node.task, Shell)]
    assert str(task.prompt) == "<div>\n\n</div>\n\nIt prints:\n```\ny\n```"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\xef\xbb\xbf## 1. A\r\n\r\n- FAIL: STOP x\r\n", []),
        (b"## 1. A\r- FAIL: STOP x\r", []),
        (b"## 1. \xff\n", ["RD002"]),
        (b"## 1. A\0\n", ["RD003"]),
        (b"\n" * (8 * 1024 * 1024 + 1), ["RD004"]),
    ],
    ids=["mark", "line-ends", "utf-8", "nul", "size"],
)
def test_the_bytes_of_a_file(tmp_path: Path, content: bytes, expected: list[str]) -> None:
    path = tmp_path / "a.runbook.md"
    path.write_bytes(content)  # D1
    assert findings(compile_file(str(path))) == expected
