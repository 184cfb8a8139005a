# --- The stage in which the outputs of a step are hashed and indexed, and its evidence is recorded (B13).
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

