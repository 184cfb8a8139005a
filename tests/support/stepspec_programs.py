"""Small specifications with all that a step may have, and their programs, for tests of the targets."""

import json
from typing import Any

from compiler.ir.program import Program
from tests.differential.case import compiled

Table = dict[str, Any]

BRIEF: Table = {
    "id": "step-01",
    "name": "product-brief",
    "description": "Write the brief from the notes",
    "inputs": {"artifacts": ["notes.md"]},
    "outputs": ["{output_folder}/product-brief.md"],
}
DRAFT: Table = {
    "id": "step-02",
    "name": "draft-prd",
    "description": "Generate the PRD using the BMAD template",
    "phase": "Phase 2 Planning",
    "inputs": {"context": "minimal", "artifacts": ["{output_folder}/product-brief.md"]},
    "outputs": ["{output_folder}/prd.md"],
    "templates": ["templates/prd.template.md"],
    "tools": [
        {"name": "getCurrentTime", "args": {"timezone": "UTC"}, "required": False, "risk": "low"},
        {"name": "publish", "args": {}, "required": True, "risk": "high"},
    ],
    "validation": "Template/schema validation",
    "evidence": "L1",
    "human_gate": "required",
    "retries": {"max": 1, "backoff_seconds": 2},
}
CHECK: Table = {"id": "step-03", "name": "check", "validation": "AST + lint", "outputs": ["{output_folder}/check.py"]}
CONFIG: Table = {
    "step_timeout_seconds": 120,
    "tools": {"publish": {"command": "cat", "arguments": {"type": "object"}, "risk": "high"}},
}
GUARDED: Table = CONFIG | {"guardrails": {"output": {"blocklist": ["TODO"]}}, "context": "./context.sh"}


def specification(*specs: Table, config: Table | None = None) -> Program:
    """The program of some StepSpecs, which is valid."""
    whole = {"workflow": {"module": "bmm", "workflow": "prd"}, "config": config or {}, "step_specs": specs}
    return compiled({"prd.stepspec.json": json.dumps(whole)})
