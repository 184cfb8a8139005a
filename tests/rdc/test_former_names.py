"""Names of drafts of rdc are unknown, and the finding names today's, with the edit to make."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.rdc.cli_support import call

STEP = "\n# T\n\n## 1. A\n\n```sh\ntrue\n```\n"
ORIGIN = {"path": "p.json", "span": {"line": 1, "column": 1, "end_line": 1, "end_column": 2}}
END = {"id": "end", "title": "", "task": {"kind": "end", "result": "complete"}, "origin": ORIGIN}
START = {"id": "1", "title": "", "task": {"kind": "shell", "interpreter": "sh", "command": "x"}, "origin": ORIGIN}


def program(start: dict[str, object], **more: object) -> str:
    sources = [{"path": "p.json", "sha256": "0" * 64}]
    whole = {"name": "p", "title": "", "sources": sources, "entry": "1", "nodes": [{**START, **start}, END], **more}
    return json.dumps(whole, indent=1)


KEEP = {"kind": "keep", "slot": "v", "of": "value", "name": "v"}
FORMER = {
    "settings": ("a.runbook.md", f'---\nrdc:\n  units:\n    "1": {{timeout: 5s}}\n---\n{STEP}', "units", "steps"),
    "outputs": ("a.runbook.md", f"---\nrdc:\n  values: [id]\n---\n{STEP}", "values", "outputs"),
    "of a target": ("a.runbook.md", f"---\nrdc:\n  github:\n    units: {{}}\n---\n{STEP}", "units", "steps"),
    "a register": ("p.program.json", program({}, registers=[{"name": "r", "scope": "", "unit": "1"}]), "unit", "of"),
    "a jump": ("p.program.json", program({}, jumps=[{"unit": "1", "target": "1"}]), "unit", "id"),
    "written": (
        "p.program.json",
        program({"edges": [{"target": "end", "written": [{"action": "GOTO 1", "unit": "1"}]}]}),
        "unit",
        "step",
    ),
    "kept": ("p.program.json", program({"edges": [{"target": "end", "effects": [KEEP]}]}), "value", "output"),
}


@pytest.mark.parametrize("kind", FORMER)
def test_a_former_name_is_unknown_and_todays_is_named(kind: str, tmp_path: Path) -> None:
    name, text, old, new = FORMER[kind]
    (tmp_path / name).write_text(text, encoding="utf-8")
    result = call("check", name, cwd=tmp_path)
    assert result.code == 1
    assert re.search(rf"(replace `{old}` by `{new}`|did you mean `{new}`\?)", result.err), result.err
    assert old in result.err


def test_todays_names_are_known(tmp_path: Path) -> None:
    text = f'---\nrdc:\n  steps:\n    "1": {{timeout: 5s}}\n  outputs: [id]\n---\n{STEP}'
    (tmp_path / "a.runbook.md").write_text(text, encoding="utf-8")
    assert "error" not in call("check", "a.runbook.md", cwd=tmp_path).err
