"""What is done in each stage of a step, in order."""

from runtime_shim.contract.contract import StageKind, Stages, config_of
from runtime_shim.contract.stage_context import look_up_context
from runtime_shim.contract.stage_execute import execute_step, execution_previewed
from runtime_shim.contract.stage_guardrails import look_at_outputs
from runtime_shim.contract.stage_inputs import inputs_previewed, look_at_inputs
from runtime_shim.contract.stage_outputs import index_outputs, outputs_previewed
from runtime_shim.contract.stage_tool import call_tool, calls_command, tool_previewed
from runtime_shim.contract.stage_validation import validate, validation_previewed
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import Session


def context_previewed(session: Session, _node: Table) -> str:
    """Say what would be looked up."""
    return f"look up the context: {config_of(session)['context']}"


def guardrails_previewed(_session: Session, _node: Table) -> str:
    """Say what would be checked."""
    return "check the outputs by their guardrails"


def always(_session: Session, _node: Table) -> bool:
    """Tell that a stage runs a command; where the executor is a person, the run waits."""
    return True


def never(_session: Session, _node: Table) -> bool:
    """Tell that a stage only looks at files."""
    return False


class StepStages(Stages):
    """Does the stages of all kinds."""

    kinds = {
        "inputs": StageKind(look_at_inputs, inputs_previewed, never),
        "context": StageKind(look_up_context, context_previewed, always),
        "tool": StageKind(call_tool, tool_previewed, calls_command),
        "execute": StageKind(execute_step, execution_previewed, always),
        "guardrails": StageKind(look_at_outputs, guardrails_previewed, never),
        "validation": StageKind(validate, validation_previewed, never),
        "outputs": StageKind(index_outputs, outputs_previewed, never),
    }
