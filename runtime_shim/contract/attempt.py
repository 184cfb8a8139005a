"""Attempts at a step: its stages are done one by one (I32), all of an attempt within one time limit (B7)."""

import math
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any, Callable, NamedTuple, Union

from runtime_shim.contract.evidence import in_strings
from runtime_shim.contract.safe_paths import UnsafeError
from runtime_shim.engine.display import duration
from runtime_shim.engine.journal import Record
from runtime_shim.engine.lifecycle import Done
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import Session
from runtime_shim.engine.state import State
from runtime_shim.engine.texts import BINARY
from runtime_shim.engine.walk import Registers, attempt_of, filled
from runtime_shim.tasks.ask import Prompts
from runtime_shim.tasks.exchange import SH, Answered, file_with
from runtime_shim.tasks.process import Code
from runtime_shim.tasks.prompting import PROMPTS, Prompting

STEP_SECONDS = 1800  # the time limit of an attempt where the configuration says none (B7)
LONGEST_ATTEMPT = 10**8  # seconds: no timer of the system takes much more
HANDED = {"evidence": "RDC_EVIDENCE_FILE", "drrs": "RDC_DRR_FILE"}  # what an executor may hand over, and where
KINDS_OF_STAGES = ("inputs", "context", "tool", "execute", "guardrails", "validation", "outputs")  # in order
TOLD_ERRORS = 3  # errors of a kind that a message has; the journal has all


class Found(NamedTuple):
    """What came of a stage: what is wrong, "" if nothing is, what is kept of it in the journal (B18), a remark."""

    error: str
    kept: Table
    remark: str = ""


class LateError(Exception):
    """The time of an attempt is over."""


def some_of(errors: Sequence[str]) -> str:
    """Return the first few of some errors in a line, and how many more there are."""
    return "; ".join(errors[:TOLD_ERRORS]) + (
        f" and {len(errors) - TOLD_ERRORS} more" if len(errors) > TOLD_ERRORS else ""
    )


def filled_values(contract: Table, value: Any, registers: Registers) -> Any:  # noqa: ANN401 (any JSON value)
    """Return a JSON value with the placeholders in its strings filled in (B3)."""
    return in_strings(lambda text: filled(contract, text, registers), value)


def spec_of(session: Session, step: str) -> Table:
    """Return the specification of a step with its placeholders filled in."""
    contract = session.program["contract"]
    spec: Table = filled_values(contract, contract["steps"][step], session.state.registers)
    return spec


def config_of(session: Session) -> Table:
    """Return the configuration of a contract."""
    config: Table = session.program["contract"].get("config", {})
    return config


def paths_of(session: Session, node: Table) -> list[str]:
    """Return the paths of a stage with their placeholders filled in."""
    return [filled(node, path, session.state.registers) for path in node.get("paths", ())]


def _place(node: Table) -> tuple[int, int]:
    return KINDS_OF_STAGES.index(node["stage"]), node.get("place", 0)


def attempt_so_far(nodes: Table, state: State) -> list[Record]:
    """Return the records of the stages that the attempt under way has done: their places rise (I32)."""
    node = nodes[state.node]
    found: list[Record] = []
    for record in reversed(state.finished):
        earlier = nodes.get(record["node"], {})
        if earlier.get("step") != node["step"] or "stage" not in earlier or _place(earlier) >= _place(node):
            break
        found.insert(0, record)
        node = earlier
    return found


def found_so_far(session: Session, key: str) -> list[Any]:
    """Return what the stages of the attempt under way have found under a key."""
    records = attempt_so_far(session.program["nodes"], session.state)
    return [record["found"][key] for record in records if key in record.get("found", {})]


def masked(session: Session, value: Any) -> Any:  # noqa: ANN401 (any JSON value)
    """Return what a stage found without the values of secrets, in names too."""
    if isinstance(value, list):
        return [masked(session, inner) for inner in value]
    if isinstance(value, dict):
        return {session.mask(name): masked(session, inner) for name, inner in value.items()}
    return session.mask(value) if isinstance(value, str) else value


Stage = Callable[["Stages", str, Table], Union[Found, Done]]


class Stages(Prompts, Prompting):
    """Does the stages of steps."""

    kinds: Mapping[str, Stage]
    keys = ()
    recovers = True
    _attempt: tuple[str, int] = ("", 0)
    _ends = 0.0

    def perform(self, name: str, node: Table) -> Done:
        """Do a stage, as far as the time limit of its attempt lets it."""
        self._begin(node)
        self.session.heed()
        late = Found(f"the attempt took longer than {duration(self._limit)}", {})
        try:
            found = self.kinds[node["stage"]](self, name, node) if self.seconds_left() > 0 else late
        except LateError:
            found = late
        except UnsafeError as error:
            found = Found(f"{'input' if node['stage'] == 'inputs' else 'output'} {error}", {})
        if isinstance(found, Done):
            return found
        if node["stage"] != "outputs" and self.seconds_left() <= 0:
            found = found._replace(error=late.error)
        note = {"found": masked(self.session, found.kept)} if found.kept else None
        return Done("fail" if found.error else "pass", found.error or found.remark, note)

    @property
    def root(self) -> str:
        """The folder that the paths of a specification are in."""
        root: str = self.session.state.begin["cwd"]
        return root

    @property
    def _limit(self) -> int:
        seconds: int = config_of(self.session).get("step_timeout_seconds", STEP_SECONDS)
        return min(seconds, LONGEST_ATTEMPT)

    def _begin(self, node: Table) -> None:
        """Begin to count the seconds of an attempt; a call that resumes one starts over."""
        attempt = (node["step"], attempt_of(node, self.session.state.registers))
        if attempt != self._attempt:
            self._attempt = attempt
            self.begin_again()

    def begin_again(self) -> None:
        """Count the seconds of an attempt from here on."""
        self._ends = time.monotonic() + self._limit

    def seconds_left(self) -> int:
        """Return how many seconds the attempt still has; 0 for none."""
        return max(math.ceil(self._ends - time.monotonic()), 0)

    def time_limit(self, most: int = LONGEST_ATTEMPT) -> int:
        """Return the seconds for what is to be called now; raises LateError, since 0 would be no limit."""
        seconds = min(self.seconds_left(), most)
        if seconds <= 0:
            raise LateError
        return seconds

    def said(self, name: str, node: Table, command: str, given: str, most: int = LONGEST_ATTEMPT) -> Answered:
        """Give a text to a command, and return its answer; raises LateError."""
        (answered,) = self.converse({**node, "timeout": self.time_limit(most)}, [(name, node, command, given)])
        return answered

    def execute(self, name: str, node: Table, command: str, request: str, folder: str) -> Code:
        """Run an executor, whose output is shown."""
        self.keep(PROMPTS, name, request)
        handed = {variable: os.path.join(folder, key) for key, variable in HANDED.items()}
        words, limit = [b"sh", b"-c", os.fsencode(command)], self.time_limit()
        try:
            with file_with(request.encode("utf-8", "replace")) as file:
                given = [(os.POSIX_SPAWN_DUP2, file.fileno(), 0)]
                group = self.processes.spawn(SH, words, self.environment(node, **handed), given)
        except OSError as error:
            raise self.not_begun(name, error) from None
        (code,) = self.processes.watch([group], limit)
        if code is None:
            raise LateError
        return code

    def is_mocked(self, _kind: str, _name: str) -> bool:
        """Tell whether a file answers instead of what would be called."""
        return False

    @staticmethod
    def replies(_node: Table) -> list[str]:
        """Return the words of a stage."""
        return list(BINARY)
