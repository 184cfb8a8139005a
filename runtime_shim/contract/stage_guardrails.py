"""The stage in which the outputs of a step must pass their guardrails (B10)."""

from runtime_shim.contract.contract import Found, Stages, spec_of
from runtime_shim.contract.guarding import contents, guarded
from runtime_shim.contract.safe_paths import is_missing
from runtime_shim.engine.program import Table


def look_at_outputs(stages: Stages, _name: str, node: Table) -> Found:
    """Check what the outputs say that are there; the validation finds those that are not."""
    paths, root = spec_of(stages.session, node["step"]).get("outputs") or (), stages.root
    there = (path for path in paths if not is_missing(root, path))
    return guarded(stages, "output", lambda: contents(root, there))
