"""Attempts at a step: its stages run one by one within one time limit."""

import math
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Callable, ClassVar, NamedTuple

from runtime_shim.engine.display import duration
from runtime_shim.engine.journal import Record
from runtime_shim.engine.outcomes import Done
from runtime_shim.engine.private import at_once
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import Session
from runtime_shim.engine.state import State
from runtime_shim.engine.texts import BINARY
from runtime_shim.engine.walk import Registers, attempt_of, filled
from runtime_shim.stepspec.evidence import changed_texts
from runtime_shim.stepspec.safe_paths import LARGEST_FILE, UnsafeError
from runtime_shim.tasks.ask import Prompts
from runtime_shim.tasks.exchange import PROMPTS, SH, Answered, Prompting, file_with
from runtime_shim.values.secrets import in_strings

STEP_SECONDS = 1800  # the default time limit of an attempt
LONGEST_ATTEMPT = 10**8  # seconds; timers take little more
HANDED = {"evidence": "RDC_EVIDENCE_FILE", "drrs": "RDC_DRR_FILE"}  # an executor's data, and where
KINDS_OF_STAGES = ("inputs", "context", "tool", "execute", "guardrails", "validation", "outputs")  # in order
TOLD_ERRORS = 3  # most errors in a message; the journal has all


class Found(NamedTuple):
    """The result of a stage: an error or "", data for the journal, a remark, checks that were skipped."""

    error: str
    kept: Table
    remark: str = ""
    skipped: Sequence[str] = ()


class LateError(Exception):
    """The attempt ran out of time."""


def some_of(errors: Sequence[str]) -> str:
    """Return the first few errors on one line, and the number of others."""
    more = f" and {len(errors) - TOLD_ERRORS} more" if len(errors) > TOLD_ERRORS else ""
    return "; ".join(errors[:TOLD_ERRORS]) + more


def filled_values(stepspec: Table, value: Any, registers: Registers) -> Any:  # any JSON value
    """Return a JSON value with the placeholders in its strings replaced."""
    return in_strings(lambda text: filled(stepspec, text, registers), value)


def spec_of(session: Session, step: str) -> Table:
    """Return the specification of a step with its placeholders replaced."""
    stepspec = session.program["stepspec"]
    return {**filled_values(stepspec, stepspec["steps"][step], session.state.registers)}


def config_of(session: Session) -> Table:
    """Return the configuration of a contract."""
    return {**session.program["stepspec"].get("config", {})}


def paths_of(session: Session, node: Table) -> list[str]:
    """Return the paths of a stage with their placeholders replaced."""
    return [filled(node, path, session.state.registers) for path in node.get("paths", ())]


def is_project(folder: str) -> bool:
    """Return whether a folder is the root of a project, as the compiler decides it."""
    if any(os.path.exists(os.path.join(folder, name)) for name in (".git", "rdc.toml")):
        return True
    with suppress(OSError), open(os.path.join(folder, "pyproject.toml"), "rb", opener=at_once) as file:
        return b"[tool.rdc" in file.read(LARGEST_FILE)
    return False


def _place(node: Table) -> tuple[int, int]:
    return KINDS_OF_STAGES.index(node["stage"]), node.get("place", 0)


def attempt_so_far(nodes: Table, state: State) -> list[Record]:
    """Return the records of the finished stages of the current attempt; their order tells attempts apart."""
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
    """Return the results under a key from the stages of the current attempt."""
    records = attempt_so_far(session.program["nodes"], session.state)
    return [record["found"][key] for record in records if key in record.get("found", {})]


Stage = Callable[["Stages", str, Table], "Found | Done"]


class Stages(Prompts, Prompting):
    """Runs the stages of steps."""

    kinds: ClassVar[Mapping[str, Stage]]
    keys = ()
    recovers = has_log = True
    _attempt: tuple[str, int] = ("", 0)
    _ends = 0.0

    def perform(self, name: str, node: Table) -> Done:
        """Run a stage within the time limit of its attempt."""
        attempt = (node["step"], attempt_of(node, self.session.state.registers))
        if attempt != self._attempt:  # a resumed attempt has its full time again
            self._attempt = attempt
            self.begin_again()
        self.session.check_stop()
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
        note = {"found": changed_texts(self.session.mask, found.kept)} if found.kept else None
        return Done("fail" if found.error else "pass", found.error or found.remark, note, remarks=found.skipped)

    @property
    def root(self) -> str:
        """The directory that the paths of a specification are relative to."""
        return str(self.session.state.begin["cwd"])

    @property
    def project(self) -> str:
        """The root of the project: the nearest folder above the run's that has `.git` or the configuration of rdc."""
        above = self.root
        while not is_project(above) and above != os.path.dirname(above):
            above = os.path.dirname(above)
        return above if is_project(above) else self.root

    @property
    def _limit(self) -> int:
        return min(int(config_of(self.session).get("step_timeout_seconds", STEP_SECONDS)), LONGEST_ATTEMPT)

    def begin_again(self) -> None:
        """Restart the clock of the attempt."""
        self._ends = time.monotonic() + self._limit

    def seconds_left(self) -> int:
        """Return how many seconds the attempt has left, at least 0."""
        return max(math.ceil(self._ends - time.monotonic()), 0)

    def time_limit(self, most: int = LONGEST_ATTEMPT) -> int:
        """Return the seconds for a call; raise LateError if none are left, since 0 means no limit."""
        if (seconds := min(self.seconds_left(), most)) <= 0:
            raise LateError("the attempt ran out of time")
        return seconds

    def said(self, name: str, node: Table, command: str, given: str, most: int = LONGEST_ATTEMPT) -> Answered:
        """Send a text to a command and return its answer; raise LateError if there is no time."""
        return self.converse({**node, "timeout": self.time_limit(most)}, [(name, node, command, given)])[0]

    def execute(self, name: str, node: Table, command: str, request: str, folder: str) -> "int | None":
        """Run an executor, with its output on the screen, and return its exit code."""
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
            raise LateError("the attempt ran out of time")
        return code

    @staticmethod
    def replies(_node: Table) -> list[str]:
        """Return the outcomes of a stage."""
        return list(BINARY)
