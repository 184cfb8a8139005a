# --- What is done in each stage of a step, in order.
def context_previewed(session, _node):
    return f"look up the context: {config_of(session)['context']}"

def guardrails_previewed(_session, _node):
    return "check the outputs by their guardrails"

def always(_session, _node):
    return True

def never(_session, _node):
    return False

class StepStages(Stages):
    kinds = {
        "inputs": StageKind(look_at_inputs, inputs_previewed, never),
        "context": StageKind(look_up_context, context_previewed, always),
        "tool": StageKind(call_tool, tool_previewed, calls_command),
        "execute": StageKind(execute_step, execution_previewed, always),
        "guardrails": StageKind(look_at_outputs, guardrails_previewed, never),
        "validation": StageKind(validate, validation_previewed, never),
        "outputs": StageKind(index_outputs, outputs_previewed, never),
    }

