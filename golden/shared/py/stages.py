# --- Stages of a step: its inputs, context, guardrails, outputs and validation (B2, B10, B11, B13, B17).
def look_at_inputs(stages, _name, node):
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

def inputs_previewed(session, node):
    return f"check the inputs: {', '.join(paths_of(session, node)) or 'guardrails'}"

def look_up_context(stages, name, node):
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

def look_at_outputs(stages, _name, node):
    paths, root = spec_of(stages.session, node["step"]).get("outputs") or (), stages.root
    there = (path for path in paths if not is_missing(root, path))
    return guarded(stages, "output", lambda: contents(root, there))

TOLD_CHECKS = 3  # in a message; the journal has all

def validate(stages, _name, node):
    found = []
    for path in dict.fromkeys(paths_of(stages.session, node)):
        for check in node["checks"]:
            found.append(checked(stages, check, path))
            if check == "exists" and found[-1]["status"] == "failed":
                break
    failed = [one for one in found if one["status"] == "failed"]
    kept = {"validation": {"status": "failed" if failed else "passed", "checks": found}}
    return Found(told_checks(failed), kept)

def told_checks(failed):
    if not failed:
        return ""
    lines = [_told_check(one) for one in failed[:TOLD_CHECKS]]
    more = f" and {len(failed) - TOLD_CHECKS} more" if len(failed) > TOLD_CHECKS else ""
    return f"validation: {'; '.join(lines)}{more}"

def _told_check(one):
    message = one_line(one["message"])[:300]
    return message if one["check"] == "exists" else f"{one['path']}: {one['check']}: {message}"

def validation_previewed(session, node):
    return f"check {', '.join(node['checks'])}: {', '.join(paths_of(session, node))}"

def index_outputs(stages, _name, node):
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
        for path, sha256 in zip(paths, hashes)  # Python 3.9 has no `strict`
    ]
    return Found("", {"artifacts": artifacts, "evidence": whole})

def sha256_of(root, path):
    import hashlib

    found = hashlib.sha256()
    with opened(root, path) as file:
        while piece := os.read(file, 1 << 20):
            found.update(piece)
    return found.hexdigest()

def evidence_ids(state):
    passed = (record.get("found", {}) for record in state.finished if record["outcome"] == "pass")
    indexed = [found for found in passed if "artifacts" in found]
    return {one["id"] for found in indexed for one in found["evidence"]}

def outputs_previewed(session, node):
    level = f"record evidence {node['subject']}" if node.get("subject") else ""
    paths = ", ".join(paths_of(session, node))
    return " and ".join(filter(None, [f"index {paths}" if paths else "", level]))

