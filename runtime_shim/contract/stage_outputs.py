"""The stage in which the outputs of a step are hashed and indexed, and its evidence is recorded (B13)."""

import os
from typing import Any

from runtime_shim.contract.contract import Found, Stages, found_so_far, paths_of, spec_of
from runtime_shim.contract.evidence import evidence_of, whole_evidence
from runtime_shim.contract.safe_paths import UnsafeError, opened
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import Session
from runtime_shim.engine.state import State, utc_now


def index_outputs(stages: Stages, _name: str, node: Table) -> Found:
    """Hash the outputs, and say what they are evidence of."""
    session, paths = stages.session, list(dict.fromkeys(paths_of(stages.session, node)))
    try:
        hashes = [sha256_of(stages.root, path) for path in paths]
    except UnsafeError as error:
        return Found(f"output {error}", {})
    given = [one for found in found_so_far(session, "evidence") for one in found]
    spec = spec_of(session, node["step"])
    whole = whole_evidence(given, spec, node.get("subject", ""), utc_now(), evidence_ids(session.state))
    artifacts = [
        {"path": path, "sha256": sha256, "evidence_ids": evidence_of(path, given, whole)}
        for path, sha256 in zip(paths, hashes)  # noqa: B905 - Python 3.9 has no `strict`
    ]
    return Found("", {"artifacts": artifacts, "evidence": whole})


def sha256_of(root: str, path: str) -> str:
    """Return the SHA-256 of a file."""
    import hashlib

    found = hashlib.sha256()
    with opened(root, path) as file:
        while piece := os.read(file, 1 << 20):
            found.update(piece)
    return found.hexdigest()


def evidence_ids(state: State) -> set[str]:
    """Return the ids of all evidence that a run has recorded."""
    passed = (record.get("found", {}) for record in state.finished if record["outcome"] == "pass")
    indexed: list[Any] = [found for found in passed if "artifacts" in found]
    return {one["id"] for found in indexed for one in found["evidence"]}


def outputs_previewed(session: Session, node: Table) -> str:
    """Say what would be indexed."""
    level = f"record evidence {node['subject']}" if node.get("subject") else ""
    paths = ", ".join(paths_of(session, node))
    return " and ".join(filter(None, [f"index {paths}" if paths else "", level]))
