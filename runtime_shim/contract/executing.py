"""The stage that does the work of a step: a command, the executor, or a person where there is none (B7)."""

import json
import os
from typing import Any, Optional, Union

from runtime_shim.contract.contract import (
    HANDED,
    Found,
    Stages,
    config_of,
    found_so_far,
    spec_of,
)
from runtime_shim.contract.evidence import checked_evidence, read_strictly, records_in
from runtime_shim.contract.safe_paths import UnsafeError, inside
from runtime_shim.contract.stages import evidence_ids
from runtime_shim.data.values import read_regular
from runtime_shim.engine.lifecycle import Done, Waiting
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import Session
from runtime_shim.engine.texts import BINARY
from runtime_shim.engine.walk import attempt_of
from runtime_shim.tasks.process import in_words
from runtime_shim.tasks.reading import LARGEST_ANSWER


def executor_of(session: Session) -> Optional[str]:
    """Return the command of the executor: that of the operator, the environment, the configuration; None for none."""
    given = session.options.executor or os.environ.get("RDC_EXECUTOR")
    command: Optional[str] = given or config_of(session).get("executor")
    return command


def execute_step(stages: Stages, name: str, node: Table) -> Union[Found, Done]:
    """Call the executor and take what it hands over, or put the step to a person."""
    import shutil
    import tempfile

    request = json.dumps(request_of(stages.session, node), sort_keys=True) + "\n"
    command = executor_of(stages.session)
    if command is None and not stages.is_mocked("executors", name):
        return by_person(stages, name, node)
    try:
        for path in spec_of(stages.session, node["step"]).get("outputs") or ():
            inside(stages.root, path)  # a link may lead out of the project: nothing is written there (B3)
    except UnsafeError as error:
        return Found(f"output {error}", {})
    try:
        folder, kept = tempfile.mkdtemp(prefix="rdc-"), {}
    except OSError as error:
        raise stages.not_begun(name, error) from None
    try:
        code = stages.execute(name, node, command or "", request, folder)
        kept["exit_code"] = code
        if code != 0:
            return Found(f"executor: {in_words(code)}", kept)
        kept.update(handed_over(stages.session, folder))
        return Found("", kept, unrecorded(stages.session, node, kept))
    except ValueError as error:
        return Found(str(error), kept)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def request_of(session: Session, node: Table) -> Table:
    """Return what an executor gets: the step, and what the attempt has found so far."""
    context = found_so_far(session, "telis_context")
    return {
        "run_id": session.state.begin["run"],
        "workflow": session.program["contract"]["workflow"],
        "step": spec_of(session, node["step"]),
        "tools": found_so_far(session, "tool"),
        "telis_context": context[-1] if context else None,
        "attempt": attempt_of(node, session.state.registers),
    }


def handed_over(session: Session, folder: str) -> Table:
    """Return what the executor has written into its files; raises ValueError with what is wrong."""
    found: Table = {}
    for key, variable in HANDED.items():
        try:
            value = value_in(os.path.join(folder, key))
        except (ValueError, OSError) as error:
            reason = why_refused(error)
            raise ValueError(f"the file of {variable} is refused: {reason}") from None
        if value is not None:
            is_evidence = key == "evidence"
            found[key] = checked_evidence(value, evidence_ids(session.state)) if is_evidence else records_in(value, key)
    return found


def why_refused(error: Exception) -> object:
    """Return in plain words why a file was not read."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    if isinstance(error, json.JSONDecodeError):
        return f"it is not JSON: {error}"
    return "it is not a regular file" if isinstance(error, OSError) else error


def unrecorded(session: Session, node: Table, kept: Table) -> str:
    """Say that evidence which was handed over is not recorded: that of a step without outputs and level (B13)."""
    nodes = session.program["nodes"].values()
    is_recorded = any(each.get("stage") == "outputs" and each["step"] == node["step"] for each in nodes)
    return "" if is_recorded or not kept.get("evidence") else "its evidence is not recorded: the step has no level"


def value_in(path: str) -> Any:  # noqa: ANN401 (any JSON value)
    """Return what a file says that an executor may have written; None for nothing. Raises ValueError and OSError."""
    content = read_regular(path)
    if len(content) > LARGEST_ANSWER:
        raise ValueError(f"it is larger than {LARGEST_ANSWER:,} bytes")
    return read_strictly(content.decode("utf-8-sig")) if content.strip() else None


def by_person(stages: Stages, name: str, node: Table) -> Done:
    """Put a step to a person; the time that this takes does not count."""
    done, session = stages.from_file(name), stages.session
    if done is not None:
        return done
    session.record({"kind": "wait", "condition": "waiting"})
    spec = spec_of(session, node["step"])
    for line in session.texts({"description": spec.get("description") or ""}, "description"):
        session.display.line(line)
    choice = session.ask(f"Did {session.label(name)} pass?", "pass/fail") if session.is_interactive else None
    if choice is None:
        again, named = session.call("resume"), session.through("worded", "--executor COMMAND")
        yes, no = (session.call("answer", name, word) for word in BINARY)
        raise Waiting(f"to answer: {yes}   (or {no})", f"to go on:  {again}   (or {again} {named})")
    stages.begin_again(node)
    return stages.given(name, choice, "answered here")


def execution_previewed(session: Session, _node: Table) -> str:
    """Say who would do the work."""
    command = executor_of(session)
    return f"call the executor: {command}" if command else "put the step to a person: no executor is configured"
