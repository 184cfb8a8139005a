"""Random specifications that tests drive to their end, with an executor that fails now and then."""

from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from compiler.ir.program import Program
from tests.differential.stepspec import document
from tests.support.specifications import program_of, table_of

MOST_CALLS = 40
EXECUTOR = """
echo "$RDC_STEP" >> log; n=$(grep -c . log); mkdir -p out; : > out/first.md; echo done > "out/$RDC_STEP.md"
[ $((n % 4)) != 3 ]
"""


class Drive(NamedTuple):
    """A program, the gates of each step, and how often each step may be tried."""

    program: Program
    gated: dict[str, list[str]]
    most: dict[str, int]


def drive_of(folder: Path, seed: int) -> Drive:
    """Compile a random specification whose steps leave no evidence."""
    spec: dict[str, Any] = document(Random(seed))
    spec["config"] |= {"executor": EXECUTOR}
    spec["config"].pop("guardrails", None)
    for step in spec["step_specs"]:
        step["evidence"] = "none"
    program = program_of(spec, folder)
    nodes = table_of(spec, folder)["nodes"].items()
    gates = [(node["step"], name) for name, node in nodes if node["task"] == "gate"]
    most = {step["id"]: step["retries"]["max"] + 1 for step in spec["step_specs"]}
    return Drive(program, {step: [gate for owner, gate in gates if owner == step] for step in most}, most)
