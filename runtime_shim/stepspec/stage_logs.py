"""Logs of executors, whose output a person judges after the stages that follow."""

from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import Table
from runtime_shim.engine.state import State
from runtime_shim.operator.sized_logs import SizedLogs


def until_executed(nodes: Table, done: list[Record]) -> list[Record]:
    """Return the finished stages up to the last one that ran an executor, or all if the last step has none."""
    stages = [nodes.get(record["node"], {}) for record in done]
    last = [number for number, stage in enumerate(stages, 1) if stage.get("stage") == "execute"][-1:]
    return done[: last[0]] if last and stages[last[0] - 1]["step"] == stages[-1].get("step") else done


class StageLogs(SizedLogs):
    """Logs of the stages of steps."""

    def facts(self, state: State) -> Table:
        """Return the end of the last executor's output."""
        return {"output": self.end_of(until_executed(self.session.program["nodes"], state.finished))}
