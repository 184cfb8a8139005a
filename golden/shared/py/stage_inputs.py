# --- The stage in which the inputs of a step must exist and pass their guardrails (B2, B10).
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

