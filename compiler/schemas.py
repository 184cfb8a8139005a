"""The JSON Schemas that rdc publishes for editors and other tools, each with an entry in `SCHEMAS`.

Each is also in `docs/NAME.schema.json`, which `make golden` writes.
"""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

from msgspec import Struct


class Schema(Struct, frozen=True):
    """A published schema: a summary, and the module whose function `schema` creates it.

    If a module creates several schemas, `about` is the argument that selects one.
    """

    summary: str
    module: str
    about: tuple[str, ...] = ()

    def text(self) -> str:
        """Return the schema as published."""
        made: dict[str, Any] = import_module(self.module).schema(*self.about)
        return json.dumps(made, indent=2, sort_keys=True) + "\n"


_RECORDS = "compiler.records"

SCHEMAS: dict[str, Schema] = {
    "agent-workflow": Schema("agent workflows", "compiler.frontends.agent_workflow.syntax"),
    "program": Schema("programs as JSON", "compiler.frontends.json.schema"),
    "project": Schema("rdc.toml", "rdc.building.schema"),
    "run-approvals": Schema("a run's approvals.json", _RECORDS, ("approvals",)),
    "run-artifacts": Schema("a run's artifacts.json", _RECORDS, ("artifacts",)),
    "run-drrs": Schema("a run's drrs.json", _RECORDS, ("drrs",)),
    "run-events": Schema("a run's events.json", _RECORDS, ("events",)),
    "run-evidence": Schema("a run's evidence.json", _RECORDS, ("evidence",)),
    "run-gates": Schema("a run's gates.json", _RECORDS, ("gates",)),
    "run-manifest": Schema("a run's manifest.json", _RECORDS, ("manifest",)),
    "run-timeline": Schema("a run's timeline.json", _RECORDS, ("timeline",)),
    "run-tool-results": Schema("a run's tool_results.json", _RECORDS, ("tool_results",)),
    "step-specs": Schema("step specifications", "compiler.frontends.stepspec.runtime"),
}
