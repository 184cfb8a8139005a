"""The stages of a step, from its inputs to its outputs."""

import json
import os
from collections.abc import Mapping
from typing import Any, ClassVar

from runtime_shim.engine.outcomes import Done, Waiting
from runtime_shim.engine.program import Table
from runtime_shim.engine.session import Session
from runtime_shim.engine.state import State, utc_now
from runtime_shim.engine.texts import BINARY, one_line
from runtime_shim.engine.walk import attempt_of
from runtime_shim.io.reading import LARGEST_ANSWER
from runtime_shim.stepspec.attempt import (
    HANDED,
    Found,
    Stage,
    Stages,
    config_of,
    found_so_far,
    paths_of,
    some_of,
    spec_of,
)
from runtime_shim.stepspec.checks import checked, contents, guarded, strings_in
from runtime_shim.stepspec.evidence import (
    checked_evidence,
    evidence_of,
    json_or_text,
    read_strictly,
    records_in,
    unfit_for,
    whole_evidence,
)
from runtime_shim.stepspec.safe_paths import inside, is_missing, sha256_of
from runtime_shim.stepspec.tool_schemas import BUILT_IN
from runtime_shim.stepspec.tools import call_tool, calls_command, command_of_tool
from runtime_shim.tasks.exchange import answer_of
from runtime_shim.tasks.process import in_words
from runtime_shim.values.slots import read_regular


def look_at_inputs(stages: Stages, _name: str, node: Table) -> Found:
    """Check that the inputs exist, and check their content."""
    paths = paths_of(stages.session, node)
    found = [checked(stages, "exists", path) for path in paths]
    if troubles := [f"input {one['message']}" for one in found if "message" in one]:
        return Found("; ".join(troubles), {})
    spec = spec_of(stages.session, node["step"])
    return guarded(stages, "input", lambda: strings_in(spec, "") + contents(stages.root, paths))


def look_up_context(stages: Stages, name: str, node: Table) -> Found:
    """Send the specification and its `telis_*` keys to the context command, and keep its answer."""
    session = stages.session
    spec = spec_of(session, node["step"])
    keys = {key: value for key, value in (spec.get("inputs") or {}).items() if key.startswith("telis_")}
    request = {**run_of(session), "step": spec, "telis": keys}
    answered = stages.said(name, node, config_of(session)["context"], json.dumps(request, sort_keys=True) + "\n")
    if (answer := answer_of(answered)) is None:
        return Found(f"the context command gave no answer: {answered.trouble}", {})
    return Found("", {"telis_context": json_or_text(answer)})


def run_of(session: Session) -> Table:
    """Return the run's description for commands."""
    return {"run_id": session.state.begin["run"], "workflow": session.program["stepspec"]["workflow"]}


def look_at_outputs(stages: Stages, _name: str, node: Table) -> Found:
    """Check the content of existing outputs; the validation finds missing ones."""
    paths, root = spec_of(stages.session, node["step"]).get("outputs") or (), stages.root
    return guarded(stages, "output", lambda: contents(root, (path for path in paths if not is_missing(root, path))))


def validate(stages: Stages, _name: str, node: Table) -> Found:
    """Run all checks on all files; a missing file fails only `exists`."""
    found: list[Table] = []
    steps = stages.session.program["stepspec"]["steps"]
    outputs = {path for step in steps for path in spec_of(stages.session, step).get("outputs") or ()}
    for path in dict.fromkeys(paths_of(stages.session, node)):
        root = stages.root if path in outputs else stages.project  # outputs of all steps are below the run's folder
        for check in node["checks"]:
            found.append(checked(stages, check, path, root))
            if check == "exists" and found[-1]["status"] == "failed":
                break
    failed = [one for one in found if one["status"] == "failed"]
    told = [(one, one_line(one["message"])[:300]) for one in failed]
    lines = [why if one["check"] == "exists" else f"{one['path']}: {one['check']}: {why}" for one, why in told]
    kept = {"validation": {"status": "failed" if failed else "passed", "checks": found}}
    left_out = (one for one in found if one["status"] == "skipped")
    skipped = [f"{one['path']}: {one['check']} was skipped: {one['message']}" for one in left_out]
    return Found(f"validation: {some_of(lines)}" if failed else "", kept, skipped=skipped)


def index_outputs(stages: Stages, _name: str, node: Table) -> Found:
    """Hash the outputs and link them to their evidence, which needs an output."""
    session, paths = stages.session, list(dict.fromkeys(paths_of(stages.session, node)))
    if not paths and node.get("subject"):
        return Found(f"evidence {node['subject']} is about an output, but the step has none", {})
    hashes = {path: sha256_of(stages.root, path) for path in paths}
    given = [one for found in found_so_far(session, "evidence") for one in found]
    spec = spec_of(session, node["step"])
    whole = whole_evidence(given, spec, node.get("subject", ""), utc_now(), evidence_ids(session.state))
    ids = {path: evidence_of(path, given, whole) for path in paths}
    artifacts = [{"path": path, "sha256": hashes[path], "evidence_ids": ids[path]} for path in paths]
    return Found("", {"artifacts": artifacts, "evidence": whole})


def evidence_ids(state: State) -> set[str]:
    """Return the ids of all recorded evidence."""
    passed: list[Any] = [record.get("found", {}) for record in state.finished if record["outcome"] == "pass"]
    return {one["id"] for found in passed if "artifacts" in found for one in found["evidence"]}


def executor_of(session: Session) -> "str | None":
    """Return the executor's command: the operator's, the environment's, the configuration's, or None."""
    return session.options.executor or os.environ.get("RDC_EXECUTOR") or config_of(session).get("executor")


def execute_step(stages: Stages, name: str, node: Table) -> "Found | Done":
    """Call the executor and keep its data, or ask a person."""
    import shutil
    import tempfile

    session, command = stages.session, executor_of(stages.session)
    if command is None:
        return by_person(stages, name, node)
    for path in spec_of(session, node["step"]).get("outputs") or ():
        inside(stages.root, path)  # refuse links out of the project
    request = json.dumps(request_of(session, node), sort_keys=True) + "\n"
    try:
        folder, kept = tempfile.mkdtemp(prefix="rdc-"), {}
    except OSError as error:
        raise stages.not_begun(name, error) from None
    try:
        kept["exit_code"] = code = stages.execute(name, node, command, request, folder)
        if code != 0:
            return Found(f"executor: {in_words(code)}", kept)
        kept.update(handed_over(session, folder, spec_of(session, node["step"])))
        return Found("", kept, unrecorded(session, node, kept))
    except ValueError as error:
        return Found(str(error), kept)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def request_of(session: Session, node: Table) -> Table:
    """Return the request to an executor: the step, and the results of the attempt so far."""
    spec, attempt = spec_of(session, node["step"]), attempt_of(node, session.state.registers)
    tools, contexts = found_so_far(session, "tool"), found_so_far(session, "telis_context")
    found = {"tools": tools, "telis_context": contexts[-1] if contexts else None}
    return {**run_of(session), "step": spec, **found, "attempt": attempt}


def handed_over(session: Session, folder: str, spec: Table) -> Table:
    """Return the data in an executor's files; raise ValueError with the reason if it is invalid."""
    found: Table = {}
    for key, variable in HANDED.items():
        try:
            value = value_in(os.path.join(folder, key))
        except ValueError as error:
            raise ValueError(f"bad {variable}: {error}") from None
        if value is not None:
            found[key] = records_in(value, key)
        if value is not None and key == "evidence":
            found[key] = checked_evidence(value, evidence_ids(session.state))
            for problem in filter(None, (unfit_for(spec, one, utc_now()) for one in found[key])):
                raise ValueError(f"bad {variable}: {problem}")
    return found


def value_in(path: str) -> Any:  # any JSON value
    """Return the JSON value of an executor's file, None if it is empty; raise ValueError if it is invalid."""
    try:
        text = (content := read_regular(path)).decode("utf-8-sig")
    except OSError:
        raise ValueError("it is not a regular file") from None
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    if len(content) > LARGEST_ANSWER:
        raise ValueError(f"it is larger than {LARGEST_ANSWER:,} bytes")
    return read_strictly(text) if text.strip() else None


def unrecorded(session: Session, node: Table, kept: Table) -> str:
    """Return a remark if the given evidence is not recorded: the step has no outputs and no level."""
    nodes = session.program["nodes"].values()
    is_recorded = any(each.get("stage") == "outputs" and each["step"] == node["step"] for each in nodes)
    return "" if is_recorded or not kept.get("evidence") else "its evidence is not recorded: the step has no level"


def by_person(stages: Stages, name: str, node: Table) -> Done:
    """Ask a person for a step's outcome; this time does not count."""
    done, session = stages.from_file(name), stages.session
    if done is not None:
        return done
    session.record({"kind": "wait", "condition": "waiting"})
    for line in session.texts({"description": spec_of(session, node["step"]).get("description") or ""}, "description"):
        session.display.line(line)
    choice = session.ask(f"Did {session.label(name)} pass?", "pass/fail") if session.is_interactive else None
    if choice is None:
        raise Waiting(
            *(f"to answer: {session.call('answer', name, word)}" for word in BINARY),
            f"to continue: {session.call('resume')}",
            f"to call an executor: {session.call('resume', '--executor', 'COMMAND')}",
        )
    stages.begin_again()
    return stages.given(name, choice, "answered here")


def is_command(session: Session, node: Table) -> bool:
    """Return whether a stage calls a command of the operator or the configuration."""
    stage = node.get("stage")
    return stage in ("context", "execute") or (stage == "tool" and calls_command(session, node))


class StepStages(Stages):
    """Runs stages of all kinds."""

    kinds: ClassVar[Mapping[str, Stage]] = {
        "inputs": look_at_inputs,
        "context": look_up_context,
        "tool": call_tool,
        "execute": execute_step,
        "guardrails": look_at_outputs,
        "validation": validate,
        "outputs": index_outputs,
    }

    def recover(self, name: str) -> "Done | None":
        """Repeat an interrupted stage, but ask about one with a command."""
        node = self.session.program["nodes"][name]
        return super().recover(name) if is_command(self.session, node) or self.session.options.assume else None

    def facts(self, _name: str, node: Table) -> Table:
        """Return the step's description, and whether a person answers instead of an executor."""
        is_asked = node["stage"] == "execute" and executor_of(self.session) is None
        text = spec_of(self.session, node["step"]).get("description") or ""
        return {"by": "person" if is_asked else "rdc", "text": text}

    def preview(self, name: str, node: Table) -> Done:
        """Return the outcome in the file of answers, or assume pass and describe the stage's work."""
        session, done = self.session, self.from_file(name) if node["stage"] == "execute" else None
        paths, subject, executor = ", ".join(paths_of(session, node)), node.get("subject", ""), executor_of(session)
        how = "built in" if subject in BUILT_IN else "unknown: skipped"
        indexed = (paths and f"index {paths}", subject and f"record evidence {subject}")
        work = {
            "inputs": f"check the inputs: {paths or 'guardrails'}",
            "context": f"look up the context: {config_of(session).get('context')}",
            "tool": f"call the tool {subject}: {command_of_tool(session, subject) or how}",
            "execute": f"call the executor: {executor}" if executor else "ask a person, as there is no executor",
            "guardrails": "check the outputs against the guardrails",
            "validation": f"check {', '.join(node.get('checks', ()))}: {paths}",
            "outputs": " and ".join(filter(None, indexed)),
        }
        return done or Done("pass", f"would {work[node['stage']]}")
