"""Stages of a step: its inputs, context, guardrails, outputs and validation (B2, B10, B11, B13, B17)."""

import json
import os
from typing import Any

from runtime_shim.contract.contract import Found, Stages, config_of, found_so_far, paths_of, spec_of
from runtime_shim.contract.evidence import evidence_of, json_or_text, whole_evidence
from runtime_shim.contract.guarding import contents, guarded, strings_in
from runtime_shim.contract.safe_paths import UnsafeError, check_there, is_missing, opened
from runtime_shim.contract.validating import checked
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import Session
from runtime_shim.engine.state import State, utc_now
from runtime_shim.engine.texts import one_line
from runtime_shim.tasks.conversing import answer_of


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


def look_up_context(stages: Stages, name: str, node: Table) -> Found:
    """Give the specification and its `telis_*` keys to the command, and keep its answer."""
    session = stages.session
    spec = spec_of(session, node["step"])
    keys = {key: value for key, value in (spec.get("inputs") or {}).items() if key.startswith("telis_")}
    about = {"run_id": session.state.begin["run"], "workflow": session.program["contract"]["workflow"]}
    given = json.dumps({**about, "step": spec, "telis": keys}, sort_keys=True) + "\n"
    answered = stages.said(name, node, config_of(session)["context"], given)
    answer = answer_of(answered)
    if answer is None:
        return Found(f"the context command gave no answer: {answered.trouble}", {})
    return Found("", {"telis_context": json_or_text(answer)})


def look_at_outputs(stages: Stages, _name: str, node: Table) -> Found:
    """Check what the outputs say that are there; the validation finds those that are not."""
    paths, root = spec_of(stages.session, node["step"]).get("outputs") or (), stages.root
    there = (path for path in paths if not is_missing(root, path))
    return guarded(stages, "output", lambda: contents(root, there))


TOLD_CHECKS = 3  # in a message; the journal has all


def validate(stages: Stages, _name: str, node: Table) -> Found:
    """Do all checks of all files; a file that is not there has no others."""
    found: list[Table] = []
    for path in dict.fromkeys(paths_of(stages.session, node)):
        for check in node["checks"]:
            found.append(checked(stages, check, path))
            if check == "exists" and found[-1]["status"] == "failed":
                break
    failed = [one for one in found if one["status"] == "failed"]
    kept = {"validation": {"status": "failed" if failed else "passed", "checks": found}}
    return Found(told_checks(failed), kept)


def told_checks(failed: list[Table]) -> str:
    """Say what is wrong, in a line."""
    if not failed:
        return ""
    lines = [_told_check(one) for one in failed[:TOLD_CHECKS]]
    more = f" and {len(failed) - TOLD_CHECKS} more" if len(failed) > TOLD_CHECKS else ""
    return f"validation: {'; '.join(lines)}{more}"


def _told_check(one: Table) -> str:
    message = one_line(one["message"])[:300]
    return message if one["check"] == "exists" else f"{one['path']}: {one['check']}: {message}"


def validation_previewed(session: Session, node: Table) -> str:
    """Say what would be checked."""
    return f"check {', '.join(node['checks'])}: {', '.join(paths_of(session, node))}"


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
