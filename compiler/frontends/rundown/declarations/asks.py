"""Read `asks`: the value that the reply to a question gives, which becomes an output (E14)."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from compiler.diagnostics.model import Issue
from compiler.frontends.common.names import name_issues, text_issue, unknown_key
from compiler.frontends.rundown.syntax import EVERY
from compiler.ir.tasks import Value
from compiler.ir.verify_tasks import Field, value_issues
from compiler.text.source import KeyPath

KEYS = ("output", "type", "options", "pattern")

TYPES: Mapping[str, Literal["string", "number", "choice"]] = {"text": "string", "number": "number", "choice": "choice"}
"""The types in documents, and in programs; a text has one line."""

_REMEDIES: Mapping[Field, str] = {
    "options": "list each option once, without pass, fail, yes and no, which are outcomes, and without `--` in front",
    "pattern": "fix the regular expression",
}


def asks_issues(inside: str, setting: object, path: KeyPath) -> Iterator[Issue]:
    """Yield the problems of `asks` in the settings of a step."""
    if problem := single_step_issue(inside, "asks", path):
        yield problem
    elif not isinstance(setting, str | Mapping):
        yield Issue(path, f"{inside}: `asks` must be the name of an output, or a mapping", "write `asks: TICKET`")
    else:
        yield from _mapping_issues(
            f"{inside}: `asks`", {"output": setting} if isinstance(setting, str) else setting, path
        )


def single_step_issue(inside: str, key: str, path: KeyPath) -> Issue | None:
    """Return the issue of a setting that is for several steps, or for a step of another document."""
    if path[0] != EVERY and "/" not in path[0]:
        return None
    problem = f"{inside}: `{key}` needs a single step of this document"
    return Issue(path, problem, "set it for the step's number or name, in the document that has the step")


def _mapping_issues(prefix: str, setting: Mapping[str, Any], path: KeyPath) -> Iterator[Issue]:
    for key in setting:
        if key not in KEYS:
            yield unknown_key(str(key), KEYS, prefix.replace(": ", ", "), (*path, str(key)))
    name, kind, options = setting.get("output"), setting.get("type", "text"), setting.get("options", [])
    if not isinstance(name, str):
        yield Issue(path, f"{prefix} needs the name of an output", "write `output: TICKET`")
    else:
        yield from name_issues(name, "an output", (*path, "output"))
    if kind not in TYPES:
        problem = f"{prefix}: `type` must be one of {', '.join(TYPES)}"
        yield Issue((*path, "type"), problem, f"write one of {', '.join(TYPES)}")
        return
    if not isinstance(options, list) or any(map(text_issue, options)) or bool(options) != (kind == "choice"):
        problem = f"{prefix}: the type choice needs a list of options, and the other types have none"
        yield Issue((*path, "options"), problem, "write `type: choice` with `options: [one, another]`")
    elif problem := text_issue(setting.get("pattern", "")):
        yield Issue((*path, "pattern"), f"{prefix}: `pattern` is not a valid string: {problem}", "quote it")
    else:
        for field, problem in value_issues(read_asks(setting)):
            yield Issue((*path, field), f"{prefix}: {problem}", _REMEDIES[field])


def read_asks(setting: str | Mapping[str, Any]) -> Value:
    """Return the value that valid settings ask for."""
    if isinstance(setting, str):
        return Value(setting)
    options = tuple(setting.get("options", ()))
    return Value(str(setting.get("output")), TYPES[setting.get("type", "text")], options, setting.get("pattern"))
