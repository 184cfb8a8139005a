"""A specification as Python: each step states its facts once, and the builder derives exactly the compiled table."""

from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from backends.python import PythonBackend
from backends.python.step_calls import author_calls
from compiler.ir.program import Program
from compiler.ir.texts import text
from compiler.passes import optimize
from tests.conftest import ROOT
from tests.differential import stepspec
from tests.support.documents import program_at
from tests.support.outputs import check_python, head
from tests.support.specifications import program_of
from tests.support.stepspec_programs import specification

EXAMPLES = sorted(ROOT.glob("examples/specifications/*.stepspec.*"))


def written(made: Program, **options: object) -> str:
    found = PythonBackend().emit(made, options).text
    assert found
    return found


def author_part(made: Program, **options: object) -> str:
    """What stands before the runtime, without the header."""
    found = head(written(made, **options))
    return found[found.index(f"\ndef {made.kind}(") + 1 :]


def derives(made: Program) -> bool:
    """Whether calls of steps build the table of a program; what is written builds it in any case."""
    check_python(made, written(made))
    is_derived = author_calls(optimize(made, jumps=False)).is_specification
    assert is_derived == ("\n    stage(" not in author_part(made))
    return is_derived


PATHS = ("{output_folder}/a.md", "{output_folder}/b.py", "{template_folder}/c.md")
TEXTS = ("", "Do it", "Fill {output_folder}\nand more", "\nframed", "a 'quoted' \"text\" \\ {")
WORDS = ("Format validation", "AST + type + lint", "Template/schema validation", "by hand", "mypy, ruff")
PHASES = ("Plan", "Build", "Release")
TOOLS = ("getCurrentTime", "gitStatus", "validation", "own")


def any_document(chance: Random) -> dict[str, Any]:
    """A document whose steps have all that the format knows, now and then."""
    config: dict[str, Any] = {
        "variables": {"output_folder": "out", "template_folder": "templates"} if chance.random() < 0.8 else {},
        "tools": {name: {"command": "true"} for name in TOOLS[2:]},
        "executor": chance.choice(("true", "cat > /dev/null\necho done\n")),
        "hitl": {"policy": {"required_phases": ["Release"], "recommended_required": True}},
    }
    config |= {"max_retries": 1} if chance.random() < 0.3 else {}
    config |= {"context": "cat"} if chance.random() < 0.3 else {}
    config |= {"step_timeout_seconds": 60} if chance.random() < 0.3 else {}
    sides = [side for side in ("input", "output") if chance.random() < 0.4]
    config |= {"guardrails": {side: {"blocklist": ["no"]} for side in sides}} if sides else {}
    workflow = {"module": "m", "workflow": "w"} | ({"phase": "Plan"} if chance.random() < 0.5 else {})
    steps = [any_step(chance, f"s{number}") for number in range(chance.randint(1, 4))]
    return {"workflow": workflow, "step_specs": steps, "config": config}


def any_step(chance: Random, name: str) -> dict[str, Any]:
    inputs: dict[str, Any] = {
        "artifacts": chance.sample(PATHS, chance.randint(1, 2)),
        "context": "minimal",
        "plan_path": "plan.md",
        "validation_targets": ["{output_folder}/b.py"],
        "nested": {"files": ["x.md", "{output_folder}/a.md"]},
    }
    calls = [
        {"name": chance.choice(TOOLS), "args": {}}
        | chance.choice(({}, {"required": True}, {"risk": "high"}, {"gate": "one"}, {"risk": "high", "gate": "one"}))
        for _ in range(chance.randint(1, 3))
    ]
    facts: dict[str, Any] = {
        "name": chance.choice((name, "a name")),
        "description": chance.choice(TEXTS),
        "phase": chance.choice(PHASES),
        "inputs": {key: inputs[key] for key in chance.sample(sorted(inputs), chance.randint(0, 3))},
        "outputs": chance.sample(PATHS[:2], chance.randint(0, 2)),
        "templates": chance.sample(("template:c.md", "template:{template_folder}/d.md", "e.md"), chance.randint(0, 2)),
        "tools": calls,
        "validation": chance.choice(WORDS),
        "evidence": chance.choice(("none", "L0", "L1", "L2")),
        "human_gate": chance.choice(("required", "optional", "recommended")),
        "retries": chance.choice(({"max": 2}, {"max": 1, "backoff_seconds": 3}, {"max": 0}, {"backoff_seconds": 2})),
    }
    return {"id": name} | {key: value for key, value in facts.items() if chance.random() < 0.5}


@pytest.mark.share(6)
@pytest.mark.parametrize("seed", range(120))
def test_the_calls_of_a_specification_build_its_table(seed: int, tmp_path: Path) -> None:
    assert derives(program_of(any_document(Random(seed)), tmp_path))


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(20))
def test_a_program_that_is_no_specification_states_its_stages(seed: int, tmp_path: Path) -> None:
    """A pass may leave out or change what a specification has; then each stage is a call of its own."""
    chance = Random(seed)
    made = optimize(program_of(stepspec.document(chance), tmp_path))
    place = chance.randrange(len(made.nodes))
    node = made.nodes[place]
    other = replace(node, title=text("other")) if node.retries is None else replace(node, retries=None)
    assert not derives(replace(made, nodes=(*made.nodes[:place], other, *made.nodes[place + 1 :])))


def test_a_title_that_looks_like_a_placeholder_stays_a_title(tmp_path: Path) -> None:
    step = {"id": "a", "name": "{output_folder}", "outputs": ["{output_folder}/a"], "validation": "{output_folder}"}
    derives(program_of({"step_specs": [step], "config": {"variables": {"output_folder": "x"}}}, tmp_path))
    derives(specification({"id": "a", "name": "a", "outputs": ["{output_folder}/a"]}))


def test_a_tool_states_the_name_of_its_stage_only_where_that_is_taken(tmp_path: Path) -> None:
    step = {"id": "a", "tools": [{"name": "gitStatus"}, {"name": "gitStatus"}, {"name": "gitDiff"}]}
    made = program_of({"step_specs": [step]}, tmp_path)
    assert derives(made)
    assert (
        """tools=[{"name": "gitStatus"}, {"name": "gitStatus", "as": "gitStatus~2"}, {"name": "gitDiff"}]"""
        in author_part(made)
    )


def test_the_options_of_operators_change_nothing_of_it() -> None:
    made = program_at(EXAMPLES[0])
    assert author_part(made, operator="basic") == author_part(made, operator="full")
