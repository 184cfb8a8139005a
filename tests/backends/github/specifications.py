"""Workflows of specifications, and their runs by the second engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from backends.base import Emission
from backends.registry import load
from compiler.driver import compile_file
from compiler.ir.program import Program
from tests.support import actions_engine as engine
from tests.support.github.compiling import beside

PUBLISH = """
workflow: {module: notes, workflow: publish, phase: Release}
config:
  variables: {output_folder: public}
  executor: |
    mkdir -p public && echo "$RDC_STEP" >> public/log && echo "$RDC_STEP" > "public/$RDC_STEP.md"
    [ ! -e fail-$RDC_STEP ] && [ "$RDC_STEP" != broken ]
  tools:
    announce: {command: "cat > /dev/null; echo announced", risk: high}
step_specs:
  - id: write
    description: Write the notes
    outputs: ["{output_folder}/write.md"]
  - id: announce
    description: Tell everybody
    inputs: {artifacts: ["{output_folder}/log"]}
    outputs: ["{output_folder}/announce.md"]
    tools: [{name: announce, required: true}]
    human_gate: required
  - id: end
    description: Clean up
"""


def compiled(folder: Path, document: str = PUBLISH, name: str = "notes.stepspec.yaml") -> Program:
    (folder / "rdc.toml").touch()
    (folder / name).write_text(document, encoding="utf-8")
    found = compile_file(str(folder / name))
    assert found.program, found.diagnostics
    return found.program


def emitted(program: Program, **options: Any) -> Emission:
    found = load("github").emit(program, options)
    assert found.text, found.diagnostics
    return found


def written(folder: Path, document: str = PUBLISH, **options: Any) -> str:
    """The workflow of a document, with its companions in a folder that is the repository."""
    return beside(folder, emitted(compiled(folder, document), **options))


class Place:
    """A repository with the workflow of a document, and its runs, whose artifacts stay."""

    def __init__(self, folder: Path, document: str = PUBLISH, **options: Any) -> None:
        self.folder, self.history = folder / "repository", folder / "history"
        self.folder.mkdir()
        self.workflow = written(self.folder, document, **options)

    def run(self, *decisions: str, number: int = 1, **inputs: str) -> engine.EngineRun:
        return engine.run(
            self.folder,
            self.workflow,
            history=self.history,
            environments={"approval": decisions},
            run_id=number,
            inputs=inputs,
        )

    def artifacts(self, number: int = 1) -> Path:
        return self.history / str(number) / "artifacts"

    def records(self, name: str, number: int = 1) -> Any:
        *_, path = sorted(self.artifacts(number).glob(f"rdc-transcript*/run-*/{name}.json"))
        return json.loads(path.read_text(encoding="utf-8"))
