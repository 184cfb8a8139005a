"""Playbooks are read as the published cases say, and as the reference parser reads them where both are defined."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from playbook_md import parse_playbook

from compiler.frontends.playbook.check.rules import read
from compiler.frontends.playbook.frontend import report
from compiler.text.source import Source
from tests.conftest import CONFORMANCE, NO_CONFORMANCE
from tests.support.cli import call
from tests.support.random_playbooks import playbook

pytestmark = pytest.mark.process

EXPECTED = (".expected.json", ".errors.json")


def cases() -> list[ParameterSet]:
    """The published playbooks; where there are none, one that is skipped."""
    if not CONFORMANCE.is_dir():
        return [pytest.param(Path(), marks=pytest.mark.skip(NO_CONFORMANCE), id="none")]
    found = sorted((CONFORMANCE / "playbook").glob("*/*.playbook.md"))
    return [pytest.param(path, id=path.name.removesuffix(".playbook.md")) for path in found]


@pytest.mark.parametrize("document", cases())
def test_published_case(document: Path, conformance: Path, tmp_path: Path) -> None:
    assert len(list((conformance / "playbook").glob("*/*.playbook.md"))) >= 15
    base = str(document).removesuffix(".playbook.md")
    expected = json.loads(next(Path(base + end) for end in EXPECTED if Path(base + end).is_file()).read_text())
    result = call("check", "--format", "json", str(document), cwd=tmp_path)
    message = json.loads(result.out)["playbook"]
    assert message["valid"] == expected["valid"]
    assert result.code == (0 if expected["valid"] else 1)
    assert without_nothing(message["definition"]) == without_nothing(expected["definition"])
    assert sorted(item["line"] for item in message["warnings"]) == sorted(item["line"] for item in expected["warnings"])
    assert len(message["errors"]) >= len(expected["errors"])
    for item in expected["errors"]:
        assert any(item.get("line", one.get("line")) == one.get("line") for one in message["errors"])


def without_nothing(value: Any) -> Any:
    """A value without fields that say nothing: absent, empty and zero are the same."""
    if isinstance(value, Mapping):
        stored = {key: without_nothing(inner) for key, inner in value.items()}
        return {key: inner for key, inner in stored.items() if inner not in (None, "", 0, False, [], {})}
    return [without_nothing(item) for item in value] if isinstance(value, list) else value


def test_several_playbooks_are_told_by_their_paths(tmp_path: Path) -> None:
    text = "# A\n\n## STEP 1: One\n\nDo it.\n"
    for name in ("a.playbook.md", "b.playbook.md"):
        (tmp_path / name).write_text(text.replace("A", name[0]), encoding="utf-8")
    (tmp_path / "c.runbook.md").write_text("## 1. One\n\nDo it.\n", encoding="utf-8")
    message = json.loads(call("check", "--format", "json", ".", cwd=tmp_path).out)
    titles = {path: one["definition"]["title"] for path, one in message["playbooks"].items()}
    assert titles == {"a.playbook.md": "a", "b.playbook.md": "b"}
    assert "playbook" not in message
    assert "playbook" not in json.loads(call("check", "--format", "json", "c.runbook.md", cwd=tmp_path).out)


SEEDS = range(400)


@pytest.mark.share(4)
@pytest.mark.parametrize("block", range(4))
def test_the_reference_parser_reads_the_same(block: int) -> None:
    every, branching = "\n".join(map(playbook, SEEDS)), 0
    for part in ("@tool(server, t)", "```else```", "```elif", "extract:", "## Steps: No", "* bad", "@unknown(a)"):
        assert part in every, "the random playbooks have everything"
    for seed in SEEDS[block::4]:
        text = playbook(seed)
        made = read(Source.from_text("main.playbook.md", text))
        ours = report(made.parsed and made.parsed.playbook, made.found)
        theirs = parse_playbook(text)
        assert ours["valid"], text
        definition: Any = ours["definition"]
        assert comparable(definition) == comparable(asdict(theirs.definition)), text
        assert warned(ours["warnings"], definition, text) == warned(map(asdict, theirs.warnings), definition, text)
        branching += any(step["is_branching"] for step in definition["steps"])
    assert branching > 10


def comparable(definition: Any) -> Any:
    """A definition without what the two say in another way: an enum is required (P8), a prompt has its scheme."""
    plain = without_nothing(definition)
    for declared in plain.get("inputs", []):
        declared.pop("required", None)
    for step in plain["steps"]:
        for one in (step, *(inner for branch in step.get("branches", []) for inner in branch.get("steps", []))):
            if "prompt_ref" in one:
                one["prompt_ref"] = one["prompt_ref"]["prompt_id"].removeprefix("library:")
            if "arguments" in one.get("tool_call", {}):
                one["tool_call"]["arguments"] = one["tool_call"]["arguments"].strip()
            if "content" in one:  # blank lines that become neighbors become one (P9), which the reference doesn't do
                one["content"] = re.sub(r"\n{3,}", "\n\n", one["content"])
            for branch in one.get("branches", []):
                branch.get("condition", {}).pop("source", None)
    return plain


def warned(warnings: Any, definition: Any, text: str) -> set[int]:
    """The lines with warnings, except for numbers of steps, of which the reference tells the first alone.

    It warns of conditions on the output of their own step too, which is known to them (P14).
    """
    message = [
        item for item in warnings if "step number" not in item["message"] and "expected step" not in item["message"]
    ]
    return {
        item["line"] for item in message if not is_own(definition, item["line"], text.split("\n")[item["line"] - 1])
    }


def is_own(definition: Any, number: int, marker: str) -> bool:
    """Whether a marker compares the output of the step that it stands in."""
    step = [step for step in definition["steps"] if step["line"] <= number][-1:]
    return "if " in marker and any(one["output_var"] and f"if {one['output_var']}" in marker for one in step)
