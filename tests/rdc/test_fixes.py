"""`rdc check --fix`: what each fix writes, whether it is safe, and what happens around it."""

import json
import os
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from compiler.diagnostics.model import Diagnostic, Edit, Fix, edited
from compiler.driver import Opened, Settings, compile_opened, open_file
from compiler.frontends import FRONT_ENDS
from compiler.ir.serialize import to_json
from compiler.text.source import Source, Span
from rdc.rewrite import fixes as fixing
from rdc.rewrite.fixes import fix_opened, proved
from tests.support.cli import ROOT, call, document, spawn
from tools.explanations import BLOCK

# ruff: noqa: E501 (a case is one line)


pytestmark = pytest.mark.process

RUNBOOK = "# T\n\n## 1. A\n\nDo it.\n\n{}\n"
LOOP = "# T\n\n## {{N}}. A\n\nDo it.\n\n{}\n"
PLAYBOOK = "# P\n\n## INPUTS\n\n{}\n\n## STEP 1: Do\n\nText {{{{a}}}} and {{{{b}}}}.\n"
INSIDE = "# P\n\n## INPUTS\n\n- `a` (string): b\n\n## STEP 1: Do\n\nText {{{{a}}}}.\n\n{}\n"
WORKFLOW = "name: w\nsteps:\n  - name: plan\n{}"
SPEC = "step_specs:\n  - id: draft\n{}"
JSON = '{{\n  "name": "p",\n{}  "entry": "1",\n  "nodes": []\n}}\n'

CASES = [
    # code, the file's name, the whole, what is wrong, what it becomes, whether it is safe
    ("RD042", "a.runbook.md", LOOP, "- PASS: NEXT\n- FAIL: COMPLETE", "- PASS: GOTO NEXT\n- FAIL: COMPLETE", True),
    ("RD116", "a.runbook.md", RUNBOOK, "- PASS ALL: COMPLETE", "- PASS: COMPLETE", True),
    ("RD040", "a.runbook.md", RUNBOOK, "- PASS: GOTO step 1.1", "- PASS: GOTO 1.1", None),
    ("RD040", "a.runbook.md", RUNBOOK, "- FAIL: RETRY 3 times, then STOP", "- FAIL: RETRY 3 STOP", True),
    ("RD040", "a.runbook.md", RUNBOOK, "- FAIL: STOP it failed", '- FAIL: STOP "it failed"', True),
    ("RD040", "a.runbook.md", RUNBOOK, "- FAIL: Stop", "- FAIL: STOP", True),
    ("RD040", "a.runbook.md", RUNBOOK, "- FAIL: ABORT", "- FAIL: STOP", False),
    ("RD043", "a.runbook.md", RUNBOOK, "- FAIL: RETRY 3 TIMES", "- FAIL: RETRY 3", False),
    ("RD043", "a.runbook.md", RUNBOOK, "PASS: CONTINUE", "- PASS: CONTINUE", False),
    ("RD058", "a.runbook.md", RUNBOOK, "- FAIL ANY GOTO 1.1\n\n### 1.1 B\n\nx", "- FAIL ANY: GOTO 1.1\n\n### 1.1 B\n\nx", True),
    ("RD114", "a.runbook.md", RUNBOOK, "- FAIL: STOP\n- FAIL: STOP", "- FAIL: STOP", True),
    ("RD120", "a.runbook.md", RUNBOOK, "- fail: stop", "- FAIL: STOP", True),
    ("RD120", "a.runbook.md", RUNBOOK, "- **FAIL**: STOP", "- FAIL: STOP", True),
    ("RD120", "a.runbook.md", RUNBOOK, "- on failure: STOP", "- FAIL: STOP", False),
    ("RD201", "a.runbook.md", RUNBOOK, "- PASS: GOTO clean\n\n## Clean\n\nx", "- PASS: GOTO Clean\n\n## Clean\n\nx", True),
    ("RD201", "a.runbook.md", RUNBOOK, "- PASS: GOTO Claen\n\n## Clean\n\nx", "- PASS: GOTO Clean\n\n## Clean\n\nx", False),
    ("RD207", "a.runbook.md", RUNBOOK, "- FAIL: GOTO NEXT Clean\n\n## Clean\n\nx", "- FAIL: GOTO Clean\n\n## Clean\n\nx", False),
    ("RD047", "a.runbook.md", RUNBOOK, "```Bash\nls\n```", "```bash\nls\n```", False),
    ("RD047", "a.runbook.md", RUNBOOK, "```{bash}\nls\n```", "```bash\nls\n```", False),
    ("RD046", "a.runbook.md", RUNBOOK, "```bash:prompt\nls\n```", "```bash prompt\nls\n```", True),
    ("RD054", "a.runbook.md", RUNBOOK, "  ```bash\n  $ ls\n   $ cd \\\n     x\n  ```", "  ```bash\n  ls\n   cd \\\n     x\n  ```", False),
    ("RD139", "a.runbook.md", RUNBOOK, "## Roll-back\n\nx", "## Roll_back\n\nx", False),
    ("RD139", "a.runbook.md", RUNBOOK, "## 02 B\n\nx", "## 2 B\n\nx", True),
    ("RD045", "a.runbook.md", RUNBOOK, "```bash\nls", "```bash\nls\n```", True),
    ("RD032", "a.runbook.md", RUNBOOK, "### Step 1.1: Sub\n\nx", "### 1.1 Sub\n\nx", True),
    ("RD021", "a.runbook.md", "{}\n", "# 1. Build\n\nx", "## 1. Build\n\nx", False),
    ("RD033", "a.runbook.md", RUNBOOK, "Watch\n---\n", "Watch\n\n---\n", False),
    ("RD038", "a.runbook.md", RUNBOOK, "##2. B\n\nx", "## 2. B\n\nx", False),
    ("RD133", "a.runbook.md", "---\nrdc: {{shell: strict}}\n---\n" + RUNBOOK, "```sh\nls\n```", "```bash\nls\n```", False),
    ("RD016", "a.runbook.md", "---\nrdc: {{inputs: {{ver: {{default: x}}}}}}\n---\n" + RUNBOOK, "{{ ver }}", "{{ver}}", False),
    ("RD013", "a.runbook.md", "---\nrdc: {{{}: strict}}\n---\n# T\n\n## 1. A\n\nx\n", "Shell", "shell", True),
    ("RD013", "a.runbook.md", "---\nrdc: {{{}: strict}}\n---\n# T\n\n## 1. A\n\nx\n", "shel", "shell", False),
    ("RD732", "a.playbook.md", PLAYBOOK, "- `a` (numbr): x\n- `b` (string): x", "- `a` (number): x\n- `b` (string): x", True),
    ("RD733", "a.playbook.md", PLAYBOOK, "- `a` (url): x\n- `b` (string): x", "- `a` (string): x\n- `b` (string): x", True),
    ("RD705", "a.playbook.md", PLAYBOOK, "- `a` (text)\n- `a` (text)\n- `b` (text)", "- `a` (text)\n- `b` (text)", True),
    ("RD736", "a.playbook.md", PLAYBOOK, "`a` (text)\n- `b` (text)", "- `a` (text)\n- `b` (text)", False),
    ("RD710", "a.playbook.md", PLAYBOOK, "* `a` (text)\n- `b` (text)", "- `a` (text)\n- `b` (text)", False),
    ("RD713", "a.playbook.md", INSIDE, "## step 2. More\n\nx", "## STEP 2: More\n\nx", True),
    ("RD713", "a.playbook.md", INSIDE, "### Step 2 More\n\nx", "## STEP 2: More\n\nx", False),
    ("RD737", "a.playbook.md", INSIDE, "## STEP: More\n\nx", "## STEP 2: More\n\nx", False),
    ("RD711", "a.playbook.md", INSIDE, '@elicit(confrm, "Go?")', '@elicit(confirm, "Go?")', False),
    ("RD715", "a.playbook.md", INSIDE, "@outptu(x)", "@output(x)", False),
    ("RD719", "a.playbook.md", INSIDE, "@output(x)\n@output(x)", "@output(x)", True),
    ("RD721", "a.playbook.md", INSIDE, "{{ a }}", "{{a}}", False),
    ("RD707", "a.playbook.md", INSIDE, '```if a == "x"```\ny', '```if a == "x"```\ny\n```endif```', False),
    ("RD716", "a.playbook.md", INSIDE, '```if a == "x"```\ny\n```Else```\nz\n```endif```', '```if a == "x"```\ny\n```else```\nz\n```endif```', False),
    ("RD717", "a.playbook.md", INSIDE, '```if a == "x"```\n### STEP 2a: B\ny\n```endif```', '```if a == "x"```\n### STEP 1a: B\ny\n```endif```', False),
    ("RD731", "a.playbook.md", "# P\n\n## INPUTS\n\n- `a` (boolean)\n\n## STEP 1: D\n\nx {{{{a}}}}\n\n{}\n", "```if a```\nb\n```endif```", '```if a == "true"```\nb\n```endif```', True),
    ("RD712", "a.playbook.md", INSIDE, "## ARTIFACTS\n\ntype: markdwon", "## ARTIFACTS\n\ntype: markdown", False),
    ("RD802", "a.workflow.yaml", WORKFLOW, "    prompt: x\n    end: true\n    end: true\n", "    prompt: x\n    end: true\n", True),
    ("RD803", "a.workflow.yaml", WORKFLOW, "    prompt: x\n    end: true\n    agnet: b\n", "    prompt: x\n    end: true\n    agent: b\n", False),
    ("RD813", "a.workflow.yaml", WORKFLOW, "    prompt: x\n    check: all\n    end: true\n", "    prompt: x\n    end: true\n", False),
    ("RD814", "a.workflow.yaml", WORKFLOW, "    end: true\n    parallel: [{agent: a, prompt: b}]\n", "    end: true\n    check: all\n    parallel: [{agent: a, prompt: b}]\n", True),
    ("RD817", "a.workflow.yaml", WORKFLOW, "    prompt: x\n    next: Plan2\n  - name: plan2\n    prompt: y\n    end: true\n", "    prompt: x\n    next: plan2\n  - name: plan2\n    prompt: y\n    end: true\n", True),
    ("RD836", "a.workflow.yaml", WORKFLOW, "    prompt: x\n    report: {name: r.md, format: y}\n    end: true\n", "    prompt: x\n    report: {name: r, format: y}\n    end: true\n", False),
    ("RD852", "a.stepspec.yaml", SPEC, "    description: x\n    description: x\n", "    description: x\n", True),
    ("RD853", "a.stepspec.yaml", SPEC, "    descripton: x\n", "    description: x\n", False),
    ("RD863", "a.stepspec.yaml", SPEC, "    evidence: L1/L2\n", "    evidence: L1\n", True),
    ("RD873", "a.stepspec.yaml", SPEC, "    humangate: required\n", "    human_gate: required\n", True),
    ("RD874", "a.stepspec.yaml", SPEC, '    outputs: ["{{output_folder}}/a.md"]\n', '    outputs: ["{output_folder}/a.md"]\n', True),
    ("RD862", "a.stepspec.yaml", SPEC, "    inputs: {telis_quer: x}\n", "    inputs: {telis_query: x}\n", False),
    ("RD060", "a.program.json", '{{"entry": "1", "nodes": []{}}}\n', ",", "", None),
    ("RD062", "a.program.json", JSON, '  "title": "x",\n  "title": "x",\n', '  "title": "x",\n', None),
    ("RD063", "a.program.json", JSON, '  "titel": "x",\n', '  "title": "x",\n', False),
]  # fmt: skip


def compiled(path: Path, name: str, text: str) -> Opened:
    return open_file(str(document(path, name, text)))


@pytest.mark.parametrize(("code", "name", "whole", "wrong", "meant", "is_safe"), CASES)
def test_a_fix(tmp_path: Path, code: str, name: str, whole: str, wrong: str, meant: str, is_safe: bool | None) -> None:
    opened = compiled(tmp_path, name, whole.format(wrong))
    now = fix_opened(opened, Settings())
    found = [item for item in now.compilation.diagnostics if item.code == code]
    if is_safe is None:  # the fix is right, but reveals another error, so that `--unsafe-fixes` has to ask for it
        assert any(item.fix and item.fix.is_safe for item in found)
    elif is_safe:
        assert (now.count, found) == (1, [])
    else:
        assert (now.count, [item.code for item in found if item.fix and not item.fix.is_safe][:1]) == (0, [code])
    fixed = fix_opened(opened, Settings(), unsafe=True).opened.source
    assert isinstance(fixed, Source)
    assert fixed.text == whole.format(meant)


MOVED = "## 1. A\n\n{}### 1.1 B\n\nx\n\n### 1.2 C\n\nx\n\n{}## X\n\nx\n"
SHORT = "## 1. A\n\n### 1.1 B\n\nx\n\n- FAIL: GOTO {0}\n- PASS: GOTO 1.{2}\n\n### 1.{3} C\n\nx\n\n## {1} it\n\nx\n"
WRITES = "## 1. A\n\n```sh\necho a=1 >> $RDC_OUTPUT\nprintf 'b<<E\\nx\\nE\\n' >> \"$RDC_OUTPUT\"\n```\n"

MOVES = "- PASS: CONTINUE\n- FAIL: GOTO X\n\n"
NAMED = SHORT.format("Roll_back", "Roll_back", "pre_flight", "pre_flight")


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        (MOVED.format("", MOVES), MOVED.format(MOVES, "")),
        (MOVED.format("", "- FAIL: GOTO X\n"), MOVED.format("- FAIL: GOTO X\n\n", "")),
        (WRITES, f"---\nrdc: {{outputs: [a, b]}}\n---\n\n{WRITES}"),
        (f"---\nname: x\n---\n{WRITES}", f"---\nrdc: {{outputs: [a, b]}}\nname: x\n---\n{WRITES}"),
        (SHORT.format("Roll", "Roll-back", "pre", "pre-flight"), NAMED),
        (SHORT.format("Roll-back", "Roll-back", "pre-flight", "pre-flight"), NAMED),
        (f"---\nrdc: {{shell: plain}}\n---\n{WRITES}", f"---\nrdc: {{shell: plain}}\n---\n{WRITES}"),
    ],
)
def test_a_fix_in_another_place(tmp_path: Path, wrong: str, meant: str) -> None:
    opened = compiled(tmp_path, "a.runbook.md", wrong)
    assert fix_opened(opened, Settings()).count == 0
    fixed = fix_opened(opened, Settings(), unsafe=True).opened.source
    assert isinstance(fixed, Source)
    assert fixed.text == meant


def found_in(opened: Opened, code: str) -> Diagnostic:
    return next(one for one in compile_opened(opened, Settings()).diagnostics if one.code == code)


def test_one_fix_is_proved_without_the_others_and_one_that_does_something_else_is_not(tmp_path: Path) -> None:
    wrong = "# T\n\n## 1. A\n\n```Bash\nls\n```\n\n- FAIL: Stop\n- PASS: ABORT\n"
    opened = compiled(tmp_path, "a.runbook.md", wrong)
    assert proved(opened, Settings(), found_in(opened, "RD040"))
    mistagged = compiled(tmp_path, "a.runbook.md", MISTAGGED)
    assert proved(mistagged, Settings(), found_in(mistagged, "RD047"))
    opened = compiled(tmp_path, "a.runbook.md", BARE)
    found = found_in(opened, "RD042")
    assert found.span
    assert proved(opened, Settings(), found)
    nothing = Fix.by(found.span, "- PASS: NEXT", is_safe=True)
    for fix in (None, nothing, Fix.by(Span(7, 3, 7, 13), "PASS: STOP", is_safe=True)):
        assert not proved(opened, Settings(), replace(found, fix=fix))
    assert not proved(opened, Settings(), replace(found, path="other.runbook.md"))


BARE = "# T\n\n## {N}. A\n\nDo it.\n\n- PASS: NEXT\n- FAIL: COMPLETE\n"
FIXED = BARE.replace("PASS: NEXT", "PASS: GOTO NEXT")
MISTAGGED = "# T\n\n## 1. A\n\n```Bash\nls\n```\n"


def test_a_file_is_fixed_in_place(tmp_path: Path) -> None:
    path = document(tmp_path, "a.runbook.md", BARE)
    path.chmod(0o640)
    result = call("check", "--fix", "a.runbook.md", cwd=tmp_path)
    assert (result.code, result.out, result.err) == (0, "", "no problems in 1 file\nfixed 1 problem in a.runbook.md\n")
    assert (path.read_text(), path.stat().st_mode & 0o777) == (FIXED, 0o640)
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    path = document(tmp_path, "real/a.runbook.md", BARE)
    (tmp_path / "link.runbook.md").symlink_to(path)
    result = call("check", "--fix", "link.runbook.md", cwd=tmp_path)
    assert (result.code, path.read_text()) == (1, BARE)
    assert "cannot write link.runbook.md: it is a link" in result.err
    assert call("check", "--fix", str(path), cwd=tmp_path).code == 0  # the remedy
    assert path.read_text() == FIXED


def test_bytes_beside_the_fix_are_kept(tmp_path: Path) -> None:
    source = Source.from_text("a.runbook.md", "a\rb\r\nc\nd")
    assert (edited(source, []).text, source.line_end) == (source.text, "\r"), "a lone carriage return ends lines too"
    path = tmp_path / "a.runbook.md"
    path.write_bytes(b"\xef\xbb\xbf" + BARE.replace("Do it.", "Do \U0001f600\u00e9.").replace("\n", "\r\n").encode())
    assert call("check", "--fix", "-q", "a.runbook.md", cwd=tmp_path).err == ""
    expected = FIXED.replace("Do it.", "Do \U0001f600\u00e9.").replace("\n", "\r\n").encode()
    assert path.read_bytes() == b"\xef\xbb\xbf" + expected


def test_an_unsafe_fix_needs_its_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = document(tmp_path, "a.runbook.md", MISTAGGED)
    with monkeypatch.context() as patch:
        patch.setattr("compiler.diagnostics.model.Fix.is_safe", True)  # a claim that is wrong is not believed
        result = call("check", "--fix", "a.runbook.md", cwd=tmp_path)
        assert (result.code, path.read_text()) == (0, MISTAGGED)
    result = call("check", "--fix", "a.runbook.md", cwd=tmp_path)
    assert path.read_text() == MISTAGGED
    assert result.err.endswith("1 warning in 1 file\n1 of these can be fixed with rdc check --fix --unsafe-fixes\n")
    assert call("check", "--fix", "--unsafe-fixes", "a.runbook.md", cwd=tmp_path).code == 0
    assert path.read_text() == MISTAGGED.replace("Bash", "bash")


def test_a_difference_is_shown_and_nothing_written(tmp_path: Path) -> None:
    path = document(tmp_path, "a.runbook.md", BARE)
    result = call("check", "--diff", "a.runbook.md", cwd=tmp_path)
    assert "-- PASS: NEXT\n+- PASS: GOTO NEXT\n" in result.out
    assert "1 of these can be fixed with rdc check --fix\n" in result.err
    assert path.read_text() == BARE
    assert "+- PASS: GOTO NEXT" in call("check", "--diff", "--format", "json", "a.runbook.md", cwd=tmp_path).err


def test_standard_input_goes_to_standard_output_and_wrong_use_is_refused(tmp_path: Path) -> None:
    result = spawn("check", "--fix", "-", cwd=tmp_path, given=BARE)
    assert (result.code, result.out, result.err) == (0, FIXED, "no problems in 1 file\nfixed 1 problem in <stdin>\n")
    document(tmp_path, "a.runbook.md", BARE)
    result = call("check", "--unsafe-fixes", "a.runbook.md", cwd=tmp_path)
    assert (result.code, result.err) == (2, "rdc: --unsafe-fixes needs --fix or --diff (see 'rdc check --help')\n")
    assert call("check", "--fix", "-", "a.runbook.md", cwd=tmp_path).code == 2
    assert call("check", "--fix", "--format", "sarif", "-", cwd=tmp_path).code == 2


def test_what_cannot_be_fixed_decides_the_exit_code(tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", f"{BARE}\n## Lost\n\n- PASS: GOTO Nowhere\n")
    result = call("check", "a.runbook.md", cwd=tmp_path)
    assert ("[RD042]" in result.err, "can be fixed" in result.err) == (True, False), "the fix waits for errors"
    document(tmp_path, "a.runbook.md", BARE.replace("FAIL: COMPLETE", "FAIL: GOTO Nowhere"))
    for name, code in (("a.runbook.md", "RD201"), ("missing.runbook.md", "RD001")):
        assert f"error[{code}]" in call("check", "--fix", name, cwd=tmp_path).exits(1).err


@pytest.mark.parametrize("why", ["changed", "read-only"])
def test_a_file_that_cannot_be_written_is_left_alone(tmp_path: Path, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = document(tmp_path, "a.runbook.md", BARE)
    if why == "changed":
        monkeypatch.setattr("rdc.rewrite.files.Rewrite.is_still_there", lambda _: False)
    else:
        deny = SimpleNamespace(access=lambda *_: False, W_OK=os.W_OK)
        monkeypatch.setattr("rdc.rewrite.files.os", deny)  # root may write everything
    result = call("check", "--fix", "a.runbook.md", cwd=tmp_path)
    told = {"changed": "it has changed since rdc read it"}.get(why, "it is read-only, or you have no write permission")
    assert (result.code, path.read_text()) == (1, BARE)
    assert f"error[RD511]: cannot write a.runbook.md: {told}\n" in result.err


def test_an_included_document_is_fixed_where_it_is_named(tmp_path: Path) -> None:
    inner = document(tmp_path, "b.runbook.md", BARE)
    document(tmp_path, "a.runbook.md", "# T\n\n## 1. A\n\n- b.runbook.md\n")
    assert call("check", "--fix", "a.runbook.md", cwd=tmp_path).code == 0
    assert inner.read_text() == BARE
    result = call("check", "--fix", ".", cwd=tmp_path)
    assert (result.code, inner.read_text()) == (0, FIXED)
    assert result.err == "no problems in 2 files\nfixed 1 problem in b.runbook.md\n"


def test_reports_for_machines_have_the_edits(tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", BARE.replace("Do it.", "\U0001f600"))
    [found] = json.loads(call("check", "--format", "json", "a.runbook.md", cwd=tmp_path).out)["diagnostics"]
    edit = {"line": 7, "column": 9, "end_line": 7, "end_column": 9, "text": "GOTO "}
    assert found["fix"] == {"is_safe": True, "edits": [edit]}
    [run] = json.loads(call("check", "--format", "sarif", "a.runbook.md", cwd=tmp_path).out)["runs"]
    region = {"startLine": 7, "startColumn": 9, "endLine": 7, "endColumn": 9}
    change = {
        "artifactLocation": {"uri": "a.runbook.md"},
        "replacements": [{"deletedRegion": region, "insertedContent": {"text": "GOTO "}}],
    }
    assert run["results"][0]["fixes"] == [{"description": {"text": "write GOTO NEXT"}, "artifactChanges": [change]}]


# --- Fixes of random documents: they keep a document that compiles, and safe ones its program and all other lines -----

DOCUMENTS, SHARES = 500, 10
SMALL = 12_000
"""In characters: a document that is longer has nothing more to offer."""

SLIPS = [
    (r"GOTO NEXT\b", "NEXT"), (r"\bPASS:", "pass:"), (r"\bFAIL:", "Fail:"), (r"\bPASS:", "PASS ALL:"),
    (r"CONTINUE", "continue"), (r"```bash", "```Bash"), (r"(RETRY \d)", r"\1 times,"), (r"^- ", "* "), (r"^## ", "##"),
    (r"GOTO (\d)", r"GOTO step \1"), (r"STEP", "Step"), (r"\(string\)", "(sting)"), (r"\(boolean\)", "(bolean)"),
    (r"\{([a-z_]+)\}", r"{{\1}}"), (r"name:", "nmae:"), (r"next:", "nxt:"), (r"`endif`", "`Endif`"), (r"``$", ""),
    (r' == "true"', ""), (r'^(\s*"\w+": [^{\[\n]+,)$', r"\1\n\1"), (r"\]$", ",]"), (r"@", "@@"), (r"L2", "L2/L1"),
]  # fmt: skip


def corpus() -> list[tuple[str, str]]:
    """The names and texts of the examples, and of the documents on the pages of diagnostics."""
    suffixes = tuple(suffix for form in FRONT_ENDS.values() for suffix in form.suffixes)
    paths = sorted(path for path in (ROOT / "examples").rglob("*") if path.name.endswith(suffixes))
    found = [(path.name, path.read_text(encoding="utf-8")) for path in paths]
    pages = sorted((ROOT / "compiler" / "diagnostics" / "explanations").glob("*.md"))
    shown = (match for page in pages for match in BLOCK.finditer(page.read_text(encoding="utf-8")) if match["name"])
    found += [(match["name"], match["text"]) for match in shown if match["name"].endswith(suffixes)]
    return [(name, text) for name, text in found if len(text) < SMALL]


def mutated(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(0, 3)):
        lines = text.split("\n")
        at = chance.randrange(len(lines))
        match chance.randint(0, 7):
            case 0:
                lines.insert(at, lines[at])
            case 1:
                lines[at] = lines[at].swapcase()
            case 2 if len(lines[at]) > 1:
                cut = chance.randrange(len(lines[at]))
                lines[at] = lines[at][:cut] + lines[at][cut + 1 :]
            case 3:
                lines[at] += chance.choice([" ", "\t", "\u00a0", "\U0001f600", "\r"])
            case _:
                slip, wrong = chance.choice([pair for pair in SLIPS if re.search(pair[0], text, re.MULTILINE)] or SLIPS)
                text = re.sub(slip, wrong, text, count=chance.randint(1, 2), flags=re.MULTILINE)
                continue
        text = "\n".join(lines)
    return text.replace("\n", chance.choice(["\n", "\n", "\r\n", "\r"]))


def without_places(value: Any) -> Any:
    """A program as JSON without what says where it was written."""
    if isinstance(value, dict):
        names = value.keys() - {"origin", "origins", "sources", "span"}
        return {name: without_places(value[name]) for name in names}
    return [without_places(item) for item in value] if isinstance(value, list) else value


def documents(share: int, folder: Path) -> Iterator[Opened]:
    chance, known = random.Random(share), corpus()
    for number in range(DOCUMENTS // SHARES):
        name, text = chance.choice(known)
        path = folder / str(number) / name
        path.parent.mkdir(parents=True)
        mark = b"\xef\xbb\xbf" if chance.random() < 0.1 else b""
        path.write_bytes(mark + mutated(text, chance).encode())
        yield open_file(str(path))


def watched(source: Source, edits: Sequence[Edit]) -> Source:
    """The source after edits, which keep every line that they do not touch, in order."""
    result = edited(source, edits)
    touched = {line for edit in edits for line in range(edit.span.line, edit.span.end_line + 1)}
    lines = iter(result.lines)
    untouched = [line for number, line in enumerate(source.lines, 1) if number not in touched]
    assert all(line in lines for line in untouched)
    return result


@pytest.mark.share(SHARES)
@pytest.mark.parametrize("share", range(SHARES))
def test_fixes_of_random_documents(share: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixing, "edited", watched)
    settings, fixed, unsafe = Settings(link=False), 0, 0
    for opened in documents(share, tmp_path):
        before = compile_opened(opened, settings)
        once = fix_opened(opened, settings)
        if before.program:
            assert once.compilation.program
            programs = (json.loads(to_json(one)) for one in (before.program, once.compilation.program))
            assert without_places(next(programs)) == without_places(next(programs)), opened.path
        again = fix_opened(once.opened, settings)
        assert again.count == 0, opened.path
        assert again.opened.source == once.opened.source
        fixed += once.count
        after = fix_opened(opened, settings, unsafe=True)
        assert before.program is None or after.compilation.program
        unsafe += after.count
    assert min(fixed, unsafe) > 2
