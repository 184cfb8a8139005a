"""Playbooks are read as the published cases say, and as the reference parser reads them where both are defined."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping
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

EXPECTED = (".expected.json", ".errors.json")


def cases() -> list[ParameterSet]:
    """The published playbooks; where there are none, one that is skipped."""
    if not CONFORMANCE.is_dir():
        return [pytest.param(Path(), marks=pytest.mark.skip(NO_CONFORMANCE), id="none")]
    found = sorted((CONFORMANCE / "playbook").glob("*/*.playbook.md"))
    return [pytest.param(path, id=path.name.removesuffix(".playbook.md")) for path in found]


def test_the_cases_are_there(conformance: Path) -> None:
    assert len(list((conformance / "playbook").glob("*/*.playbook.md"))) >= 15


@pytest.mark.parametrize("document", cases())
def test_published_case(document: Path, tmp_path: Path) -> None:
    base = str(document).removesuffix(".playbook.md")
    expected = json.loads(next(Path(base + end) for end in EXPECTED if Path(base + end).is_file()).read_text())
    result = call("check", "--format", "json", str(document), cwd=tmp_path)
    told = json.loads(result.out)["playbook"]
    assert told["valid"] == expected["valid"]
    assert result.code == (0 if expected["valid"] else 1)
    assert without_nothing(told["definition"]) == without_nothing(expected["definition"])
    assert sorted(item["line"] for item in told["warnings"]) == sorted(item["line"] for item in expected["warnings"])
    assert len(told["errors"]) >= len(expected["errors"])
    for item in expected["errors"]:
        assert any(item.get("line", one.get("line")) == one.get("line") for one in told["errors"])


def without_nothing(value: Any) -> Any:
    """A value without fields that say nothing: absent, empty and zero are the same."""
    if isinstance(value, Mapping):
        kept = {key: without_nothing(inner) for key, inner in value.items()}
        return {key: inner for key, inner in kept.items() if inner not in (None, "", 0, False, [], {})}
    return [without_nothing(item) for item in value] if isinstance(value, list) else value


def test_several_playbooks_are_told_by_their_paths(tmp_path: Path) -> None:
    text = "# A\n\n## STEP 1: One\n\nDo it.\n"
    for name in ("a.playbook.md", "b.playbook.md"):
        (tmp_path / name).write_text(text.replace("A", name[0]), encoding="utf-8")
    (tmp_path / "c.runbook.md").write_text("## 1. One\n\nDo it.\n", encoding="utf-8")
    told = json.loads(call("check", "--format", "json", ".", cwd=tmp_path).out)
    assert {path: one["definition"]["title"] for path, one in told["playbooks"].items()} == {
        "a.playbook.md": "a",
        "b.playbook.md": "b",
    }
    assert "playbook" not in told
    assert "playbook" not in json.loads(call("check", "--format", "json", "c.runbook.md", cwd=tmp_path).out)


# --- The reference parser --------------------------------------------------------------------------------------------

SEEDS = range(400)
NAMES = ("kind", "text_1", "B", "result")
WORDS = (
    "Do it.",
    "  - an item",
    "| a | b |",
    "",
    "",
    "### A part",
    "# Not a title",
    "````",
    "```python",
    "x = {{kind}}",
)
ODD = ("@output", "@unknown(a)", "```if", "``` else ```", "### STEP x: y", "type: json", "- `x` (text)", "@output(a b)")
ARTIFACTS = ("json", "Markdown", "unknown", "html_css")


class Random:
    """A random playbook in which the specification and its reference parser agree on everything."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.number = 0

    def lines(self) -> Iterator[str]:
        """Title, description, sections in any order."""
        yield from self.some(("", "Before"), 2)
        yield from ("#  A title", *self.some((*WORDS[:6], "More."), 4))
        others = [section() for section in (self.system, self.inputs, self.artifacts, self.unknown) if self.chance()]
        steps = [self.step() for _ in range(self.draw.randint(1, 4))]
        sections = [*others, *steps]
        order = sorted(range(len(sections)), key=lambda place: place if self.chance(3) else self.draw.random() * 9)
        yield from (line for place in order for line in ("", *sections[place]))

    def some(self, lines: tuple[str, ...], most: int) -> list[str]:
        return self.draw.choices(lines, k=self.draw.randint(0, most))

    def chance(self, of: int = 2) -> bool:
        return self.draw.randrange(of) == 0

    def system(self) -> list[str]:
        return ["## " + self.draw.choice(("SYSTEM", "system  prompt", "System ")), *self.some(WORDS + ODD, 4)]

    def inputs(self) -> list[str]:
        written = ("text", "Number: 5", "odd: x, y", "enum: a, b,", "CHOICE:a", "bool", "string: a: b")
        names = self.draw.sample(NAMES, self.draw.randint(0, len(NAMES)))
        ends = ("", ": About", ":   it ")
        listed = [f"-  `{name}` ({self.draw.choice(written)}){self.draw.choice(ends)}" for name in names]
        return ["## Inputs", *listed, *self.some(("- bad", "* bad", "text", "", "-`x` (text)"), 3)]

    def artifacts(self) -> list[str]:
        return ["## ARTIFACTS", *self.some(("", "About"), 1), f"type:  {self.draw.choice(ARTIFACTS)}"]

    def unknown(self) -> list[str]:
        return ["## " + self.draw.choice(("Notes", "Steps: No", "STEP: x", "STEPS")), *self.some(WORDS + ODD, 3)]

    def step(self) -> list[str]:
        self.number += self.draw.choice((1, 1, 1, 0, 2))
        body = self.body()
        if self.chance():
            body += self.branches()
        return [
            f"## STEP  {self.number}:  Step {self.number} ",
            *body,
            *(self.some(WORDS, 3) if self.chance(4) else []),
        ]

    def body(self) -> list[str]:
        directives = (
            f"@output({self.draw.choice(('kind', 'result', 'later'))})",
            '  @output(later, extract:"field")',
            '@elicit(confirm, "Really?")',
            '@elicit(Select, "Which?", "a, b", "c")',
            "@prompt(library:some-id-1)",
            '@tool(server, "a tool", {"a": "{{kind}}, {", "b": [1, 2]})',
            "@tool(server, t)",
        )
        given = self.some(directives, 2)
        if sum("@output" in line for line in given) > 1:  # the reference mixes two of them
            given.pop()
        return [*self.some(WORDS, 4), *given, *self.some(WORDS + ODD[:4], 3)]

    def branches(self) -> list[str]:
        found = [f'```if {self.draw.choice(NAMES)} == "a"```', *self.branch()]
        for _ in range(self.draw.randint(0, 2)):
            found += [f'  ```elif {self.draw.choice(NAMES)}!="b c" ```', *self.branch()]
        return [*found, *(["```else```", *self.branch()] if self.chance() else []), "```endif```"]

    def branch(self) -> list[str]:
        if self.chance(3):
            return ["Only text.", ""]
        letters = "abc"[: self.draw.randint(1, 3)]
        return [line for one in letters for line in (f"### STEP {self.number}{one}: Part ", *self.body())]


def playbook(seed: int) -> str:
    return "\n".join(Random(seed).lines())


@pytest.mark.parametrize("block", range(8))
def test_the_reference_parser_reads_the_same(block: int) -> None:
    branching = 0
    for seed in SEEDS[block::8]:
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
    told = [
        item for item in warnings if "step number" not in item["message"] and "expected step" not in item["message"]
    ]
    return {item["line"] for item in told if not is_own(definition, item["line"], text.split("\n")[item["line"] - 1])}


def is_own(definition: Any, number: int, marker: str) -> bool:
    """Whether a marker compares the output of the step that it stands in."""
    step = [step for step in definition["steps"] if step["line"] <= number][-1:]
    return "if " in marker and any(one["output_var"] and f"if {one['output_var']}" in marker for one in step)


def test_the_random_playbooks_have_everything() -> None:
    every = "\n".join(map(playbook, SEEDS))
    for part in ("@tool(server, t)", "```else```", "```elif", "extract:", "## Steps: No", "* bad", "@unknown(a)"):
        assert part in every
