"""The stage in which the inputs of a step must exist and pass their guardrails (B2, B10)."""

from runtime_shim.contract.contract import Found, Stages, paths_of, spec_of
from runtime_shim.contract.guarding import contents, guarded, strings_in
from runtime_shim.contract.safe_paths import UnsafeError, check_there
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import Session


def look_at_inputs(stages: Stages, _name: str, node: Table) -> Found:
    """Check that the inputs are there, and what they say."""
    paths, troubles = paths_of(stages.session, node), []
    for path in paths:
        try:
            check_there(stages.root, path)
        except UnsafeError as error:
            troubles.append(f"input {error}")
    if troubles:
        return Found("; ".join(troubles), {})
    spec = spec_of(stages.session, node["step"])
    return guarded(stages, "input", lambda: strings_in(spec, "") + contents(stages.root, paths))


def inputs_previewed(session: Session, node: Table) -> str:
    """Say what would be checked."""
    return f"check the inputs: {', '.join(paths_of(session, node)) or 'guardrails'}"
