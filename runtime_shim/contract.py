"""Contracts: the stages of steps, done one by one (I32), all of an attempt within one time limit (B7)."""

import math
import time
from typing import Any, Callable, NamedTuple, Optional

from runtime_shim.display import duration
from runtime_shim.interrupted import Calling
from runtime_shim.program import Table
from runtime_shim.session import PERFORMERS, Done, Session
from runtime_shim.walk import Registers, attempt_of, filled

STEP_SECONDS = 1800  # the time limit of an attempt where the configuration says none (B7)


class Found(NamedTuple):
    """What came of a stage: what is wrong, "" if nothing is, and what is kept of it in the journal (B18)."""

    error: str
    kept: Table


def filled_values(contract: Table, value: Any, registers: Registers) -> Any:  # noqa: ANN401 (any JSON value)
    """Return a JSON value with the placeholders in its strings filled in (B3)."""
    if isinstance(value, str):
        return filled(contract, value, registers)
    if isinstance(value, list):
        return [filled_values(contract, item, registers) for item in value]
    if isinstance(value, dict):
        return {key: filled_values(contract, item, registers) for key, item in value.items()}
    return value


def spec_of(session: Session, step: str) -> Table:
    """Return the specification of a step with its placeholders filled in."""
    contract = session.program["contract"]
    spec: Table = filled_values(contract, contract["steps"][step], session.state.registers)
    return spec


def config_of(session: Session) -> Table:
    """Return the configuration of a contract."""
    config: Table = session.program["contract"].get("config", {})
    return config


class Stages(Calling):
    """Does the stages of steps; STAGES has a function for each kind."""

    keys = ("paths",)
    noun = "executor"
    _attempt: tuple[str, int] = ("", 0)
    _ends = 0.0

    def perform(self, name: str, unit: Table) -> Done:
        """Do a stage, as far as the time limit of its attempt lets it."""
        self._begin(unit)
        self.session.heed()
        if self.seconds_left() <= 0:
            return Done("fail", f"the attempt took longer than {duration(self.limit)}")
        found = STAGES[unit["stage"]](self, name, unit)
        note = {"found": found.kept} if found.kept else None
        return Done("fail" if found.error else "pass", found.error, note)

    @property
    def limit(self) -> int:
        """How many seconds an attempt may take."""
        seconds: int = config_of(self.session).get("step_timeout_seconds", STEP_SECONDS)
        return seconds

    def _begin(self, unit: Table) -> None:
        """Begin to count the seconds of an attempt; a call that resumes one begins anew."""
        attempt = (unit["step"], attempt_of(unit, self.session.state.registers))
        if attempt != self._attempt:
            self._attempt, self._ends = attempt, time.monotonic() + self.limit

    def seconds_left(self, most: float = math.inf) -> int:
        """Return how many seconds the attempt still has, `most` if it has more; 0 for none."""
        return math.ceil(min(self._ends - time.monotonic(), most))

    def recover(self, name: str) -> Optional[Done]:
        """Do a stage again that was interrupted; about a command, somebody decides (R2)."""
        unit = self.session.program["units"][name]
        return super().recover(name) if is_command(self.session, unit) else None


Stage = Callable[[Stages, str, Table], Found]
STAGES: dict[str, Stage] = {}
COMMANDED: list[Callable[[Session, Table], bool]] = []  # what modules know of stages that run a command of somebody


def is_command(session: Session, unit: Table) -> bool:
    """Tell whether a stage runs a command that may have changed something."""
    return any(look(session, unit) for look in COMMANDED)


PERFORMERS["stage"] = Stages
