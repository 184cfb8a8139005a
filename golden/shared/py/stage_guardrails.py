# --- The stage in which the outputs of a step must pass their guardrails (B10).
def look_at_outputs(stages, _name, node):
    paths, root = spec_of(stages.session, node["step"]).get("outputs") or (), stages.root
    there = (path for path in paths if not is_missing(root, path))
    return guarded(stages, "output", lambda: contents(root, there))

