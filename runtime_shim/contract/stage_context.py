"""The stage in which the context of a step is looked up by a command of the configuration (B17)."""

import json

from runtime_shim.contract.contract import Found, Stages, config_of, spec_of
from runtime_shim.contract.strict_json import json_or_text
from runtime_shim.engine.program import Table
from runtime_shim.tasks.conversing import answer_of


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
