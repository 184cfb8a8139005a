# --- The stage in which the context of a step is looked up by a command of the configuration (B17).
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

