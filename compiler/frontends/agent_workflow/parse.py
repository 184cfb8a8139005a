"""From YAML to the models of a workflow, with everything that is wrong in its form, and where (W1, W2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace
from pydantic import BaseModel

from compiler.diagnostic import Diagnostic
from compiler.frontends.agent_workflow.places import called
from compiler.frontends.agent_workflow.syntax import Condition, Entry, Report, Step, Workflow
from compiler.frontends.data_text import unreadable
from compiler.frontends.modelled import MOST_SHOWN, SHAPES, Flaw, texts_in, validated
from compiler.frontends.places import Places, Where
from compiler.frontends.repeated import stand_again
from compiler.safeguards import looks_like_safeguard
from compiler.source import Source
from compiler.suggestions import did_you_mean, nearest_name
from compiler.yaml_nodes import may_repeat
from compiler.yaml_text import Reading, UnreadableError, read_mapping

LARGEST_WORKFLOW = 1_000_000
"""In bytes: more takes longer to read than anybody waits."""

MOST_STEPS = 500
"""Steps and entries of parallel steps together."""

_MODELS: Mapping[str, type[BaseModel]] = {"steps": Step, "parallel": Entry, "conditions": Condition, "report": Report}
_VALUES = {**SHAPES, "string_type": "a string", "bool_type": "true or false", "literal_error": "`all` or `any`"}

_EXAMPLES: Mapping[str, str] = {
    "steps": "`steps: [{name: plan, prompt: …}]`, or one `- name: plan` a step",
    "conditions": "`conditions: [{keyword: READY, goto: ship}]`, or one `- keyword: READY` a condition",
    "parallel": "`parallel: [{agent: reviewer, prompt: …}]`, or one `- agent: reviewer` an entry",
    "report": "`report: {name: review, format: …}`",
    "rdc": "`rdc: {secrets: [TOKEN]}`",
}
"""What a list or a mapping looks like, by its key."""


class Parsed(NamedTuple):
    """A workflow as it was read, None if nothing of it can be used; what was wrong is left out of it, or empty."""

    workflow: Workflow | None
    reading: Reading | None
    places: Places
    diagnostics: list[Diagnostic]


def parse(source: Source) -> Parsed:
    """The workflow in a source."""
    places = Places(source, {})
    if refused := _refused(source):
        return Parsed(None, None, places, [refused])
    try:
        reading = read_mapping("\n".join(source.lines))
    except UnreadableError as error:
        return Parsed(None, None, places, [_broken(source, error)])
    places = Places(source, reading.places)
    repeated = list(stand_again("RD802", source, reading.repeated[:MOST_SHOWN]))
    plain = reading.as_written
    if too_many := _too_many(source, plain):
        return Parsed(None, reading, places, [*repeated, too_many])
    workflow, flaws = validated(Workflow, plain, {"steps": []})
    found = [_finding(Where(places, plain, flaw.path), flaw) for flaw in sorted(flaws, key=_is_warning)[:MOST_SHOWN]]
    return Parsed(workflow, reading, places, [*repeated, *dict.fromkeys(found)])


def _refused(source: Source) -> Diagnostic | None:
    if not source.text.strip():
        return Diagnostic("RD804", source.path, None, "the workflow is empty", "write `name` and `steps`")
    if (size := len(source.data)) > LARGEST_WORKFLOW:
        problem = f"the workflow has {size:,} bytes; the limit is {LARGEST_WORKFLOW:,}"
        remedy = "put long texts into files, and let the prompts name these"
        return Diagnostic("RD801", source.path, None, problem, remedy)
    return None


def _broken(source: Source, error: UnreadableError) -> Diagnostic:
    told = unreadable(source, error)
    problem = f"the workflow {str(told).removeprefix('it ')}"
    return Diagnostic("RD800", source.path, told.span, problem, told.remedy)


def _too_many(source: Source, plain: Mapping[str, Any]) -> Diagnostic | None:
    steps = plain.get("steps")
    listed = steps if isinstance(steps, list) else []
    entries = (step["parallel"] for step in listed if isinstance(step, dict) and isinstance(step.get("parallel"), list))
    count = len(listed) + sum(map(len, entries))
    may_be_longer = count <= MOST_STEPS and may_repeat(source.text)  # without aliases it is no longer than the text
    size = sum(map(len, texts_in(listed))) if may_be_longer else 0
    if count > MOST_STEPS:
        problem = f"the workflow has {count:,} steps and entries; the limit is {MOST_STEPS}"
        return Diagnostic("RD801", source.path, None, problem, "divide it into several workflows")
    if size > LARGEST_WORKFLOW:
        problem = (
            f"with what its aliases repeat, the workflow has {size:,} characters; the limit is {LARGEST_WORKFLOW:,}"
        )
        return Diagnostic("RD801", source.path, None, problem, "repeat less by aliases")
    return None


def _finding(where: Where, flaw: Flaw) -> Diagnostic:
    key, inside = str(flaw.path[-1]), where.around
    if flaw.kind == "extra_forbidden":
        return _unknown_key(where, key)
    if flaw.kind == "missing":
        problem = f"{called(inside)} has no `{key}`"
        return inside.diagnostic("RD804", problem, f"add `{key}: …`")
    if flaw.kind == "too_short":
        return where.diagnostic("RD804", "the workflow has no steps", "add a step with `name` and `prompt`")
    wanted = _VALUES.get(flaw.kind, "what can stand there")
    example = f", such as {_EXAMPLES[key]}" if flaw.kind in SHAPES and key in _EXAMPLES else ""
    if isinstance(flaw.path[-1], int):
        return where.diagnostic("RD805", f"{called(where)} is not {wanted}", f"write {wanted}")
    if where.value is None:
        return where.diagnostic(
            "RD805", f"`{key}` of {called(inside)} has no value", f"write {wanted} after it{example}"
        )
    return where.diagnostic("RD805", f"`{key}` of {called(inside)} is not {wanted}", f"write {wanted}{example}")


def _is_warning(flaw: Flaw) -> bool:
    """Whether a flaw is only a warning, which must not crowd out an error."""
    return flaw.kind == "extra_forbidden" and not _is_safeguard(str(flaw.path[-1]))


def _is_safeguard(key: str) -> bool:
    return looks_like_safeguard(key) or nearest_name(key, Step.model_fields) == "human"


def _unknown_key(where: Where, key: str) -> Diagnostic:
    """A key that there is not; of some it is said what they would mean (W2, W4)."""
    around = where.around
    if key == "human" and around.kind == "parallel":
        problem = "an entry of a parallel step cannot wait for a person"
        return where.diagnostic("RD810", problem, "write `human: true` at the step: it holds for all entries")
    if around.kind in ("", "steps", "parallel") and _is_safeguard(key):
        problem = f"{called(around)} has no key `{key}`, so nobody would be asked"
        return where.diagnostic("RD873", problem, "write `human: true` at the step that has to wait for a person")
    if key == "end" and around.kind == "conditions":
        remedy = "let `goto` name a last step with `end: true`"
        return where.diagnostic("RD812", "a condition cannot end the workflow: `end` belongs to a step", remedy)
    known = tuple(_MODELS.get(around.kind, Workflow).model_fields)
    problem = f"{called(around)} has no key `{key}`, and it is ignored{did_you_mean(key, known)}"
    found = where.diagnostic("RD803", problem, f"remove it, or use one of {', '.join(known)}")
    return replace(found, fix=where.places.respelled(where.path, key, nearest_name(key, known)))
