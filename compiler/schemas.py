"""The JSON Schemas that rdc publishes, for editors and other tools: one entry in `SCHEMAS` for each.

Each is in `docs/NAME.schema.json` too, which `make golden` writes.
"""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any, NamedTuple


class Schema(NamedTuple):
    """A schema that is published: a line about what it describes, and the module whose function `schema` makes it."""

    summary: str
    module: str

    def text(self) -> str:
        """The schema as it is published."""
        made: dict[str, Any] = import_module(self.module).schema()
        return json.dumps(made, indent=2, sort_keys=True) + "\n"


SCHEMAS: dict[str, Schema] = {
    "agent-workflow": Schema("agent workflows", "compiler.frontends.agent_workflow.syntax"),
    "program": Schema("programs as JSON", "compiler.ir.serialise"),
    "step-specs": Schema("step specifications", "compiler.frontends.stepspec.runtime"),
}
